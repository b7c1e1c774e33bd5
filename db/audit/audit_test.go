package audit_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"simgraph/db/audit"
	"simgraph/db/fleettest"
	"simgraph/db/group"
	"simgraph/db/mail"
	"simgraph/db/subscriber"
	"simgraph/db/tag"
	"simgraph/db/volume"
	"simgraph/domain"
	"simgraph/domain/query"
	"simgraph/internal/fatal"
)

// auditor is who acts in these tests.
var auditor = &domain.Actor{UserID: 1, Name: "ops@acme.example", AccessKeyID: "sgk_1_x", Origin: domain.Origin{Door: "rest", Address: "192.0.2.1", RequestID: "r-1"}}

func TestWritesTellTheAuditLogWhatTheyChanged(t *testing.T) {
	t.Parallel()
	pool := fleettest.NewInventory(t)
	log, by := audit.NewLog(pool), fleettest.All.By(auditor)
	ctx := t.Context()
	start := len(fleettest.AuditOf(t, log, fleettest.Acme))
	subscribers, groups, tags := subscriber.New(pool), group.New(pool), tag.New(pool)
	alerts, recipients := volume.NewAlerts(pool, time.Now), mail.NewRecipients(pool, time.Now)
	ids := fleettest.Must[domain.Slice[*domain.Subscriber]](t)(subscribers.List(ctx, fleettest.All, domain.Listing{Page: domain.Page{Limit: 2}, Projection: fleettest.EveryField})).Items
	one, two := ids[0].PhysicalID, ids[1].PhysicalID

	for range 2 { // the second time nothing changes
		fleettest.Must[*domain.Subscriber](t)(subscribers.EditNickname(ctx, by, one, "lorry"))
		fleettest.Must[*domain.Group](t)(groups.Rename(ctx, by, 12, "Lorries"))
		fleettest.Must[int](t)(tags.Attach(ctx, by, "mine", []string{one, two}))
		fleettest.Must[*domain.Recipient](t)(recipients.Create(ctx, by, "alice@acme.example", domain.Choice{}))
	}
	fatal.If(t, tags.Detach(ctx, by, "mine", []string{two}))
	alert := fleettest.Must[*domain.VolumeAlert](t)(alerts.Create(ctx, by, domain.AlertSpec{RuleType: domain.RuleCompany, LowerThreshold: 1, UpperThreshold: 2}))
	fleettest.Must[*domain.VolumeAlert](t)(alerts.Edit(ctx, by, alert.AlertID, domain.AlertEdit{UpperThreshold: new(int64(3))}))
	fleettest.Must[*domain.VolumeAlert](t)(alerts.Remove(ctx, by, alert.AlertID))

	var got []string
	for _, e := range fleettest.AuditOf(t, log, fleettest.Acme)[start:] {
		if e.Actor != *auditor || e.At.IsZero() {
			t.Errorf("%+v", e)
		}
		line := fmt.Sprintf("%s %s", e.Action, e.SubjectType)
		for _, c := range e.Changes {
			line += fmt.Sprintf(" %s: %s → %s", c.Field, fleettest.Text(c.Before), fleettest.Text(c.After))
		}
		got = append(got, line)
	}
	want := []string{
		"subscriber.edit Subscriber nickname: " + ids[0].Nickname + " → lorry",
		"group.edit Group name: Vans → Lorries",
		"tag.attach Tag physicalIds: nothing → " + one + " " + two,
		"recipient.create Recipient email: nothing → alice@acme.example",
		"tag.detach Tag physicalIds: nothing → " + two,
		"alert.create Alert ruleType: nothing → company target: nothing →  lowerThreshold: nothing → 1 upperThreshold: nothing → 2",
		"alert.edit Alert upperThreshold: 2 → 3",
		"alert.delete Alert ruleType: company → nothing target:  → nothing lowerThreshold: 1 → nothing upperThreshold: 3 → nothing",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if _, err := fleettest.Verified(ctx, log, fleettest.Acme); err != nil {
		t.Error(err)
	}
}

// Each change that the store makes for a reason has it in its entry, whatever it changes.
func TestAnEntryHasTheReasonOfItsChange(t *testing.T) {
	t.Parallel()
	pool := fleettest.NewInventory(t)
	log, by, ctx := audit.NewLog(pool), fleettest.All.By(auditor), t.Context()
	id := fleettest.Must[domain.Slice[*domain.Subscriber]](t)(subscriber.New(pool).List(ctx, by, domain.Listing{Page: domain.Page{Limit: 1}, Projection: fleettest.EveryField})).Items[0].PhysicalID
	start := len(fleettest.AuditOf(t, log, fleettest.Acme))
	fleettest.Must[*domain.Subscriber](t)(subscriber.New(pool).EditNickname(ctx, by, id, "lorry"))
	by.Reason = "Ticket 4711"
	fleettest.Must[*domain.Subscriber](t)(subscriber.New(pool).EditNickname(ctx, by, id, "van"))
	fleettest.Must[*domain.Subscriber](t)(subscriber.New(pool).EditNickname(ctx, by, id, "van")) // nothing changes
	fleettest.Must[int](t)(tag.New(pool).Attach(ctx, by, "sold", []string{id}))
	var got []string
	for _, e := range fleettest.AuditOf(t, log, fleettest.Acme)[start:] {
		got = append(got, e.Action+": "+e.Reason)
	}
	if strings.Join(got, "\n") != "subscriber.edit: \nsubscriber.edit: Ticket 4711\ntag.attach: Ticket 4711" {
		t.Errorf("%q", got)
	}
	if _, err := fleettest.Verified(ctx, log, fleettest.Acme); err != nil {
		t.Error(err)
	}
	filter := fleettest.Must[query.Expr](t)(query.Compare(domain.AuditFields, "reason", query.Like, "4711"))
	if n := fleettest.Must[int](t)(log.Count(ctx, fleettest.All, domain.Listing{Filter: filter})); n != 2 {
		t.Errorf("%d entries are found", n)
	}
}

func TestWhatFailsLeavesNoEntry(t *testing.T) {
	t.Parallel()
	pool := fleettest.NewInventory(t)
	log, by := audit.NewLog(pool), fleettest.All.By(auditor)
	before := fleettest.Must[domain.AuditMark](t)(log.Head(t.Context(), fleettest.All))
	_, err := group.New(pool).Rename(t.Context(), by, 99, "x")
	fleettest.WantKind(t, err, domain.KindNotFound)
	_, err = subscriber.New(pool).EditNickname(t.Context(), by, "unknown", "x")
	fleettest.WantKind(t, err, domain.KindNotFound)
	_, err = tag.New(pool).Attach(t.Context(), by, "x", []string{"unknown"})
	fleettest.WantKind(t, err, domain.KindNotFound)
	if after := fleettest.Must[domain.AuditMark](t)(log.Head(t.Context(), fleettest.All)); after != before {
		t.Errorf("%v became %v", before, after)
	}
}

// Writers of one company queue up for its log only at their ends: the chain has
// neither gaps nor forks, and nobody waits for long.
func TestWritersOfACompanyMakeOneChain(t *testing.T) {
	t.Parallel()
	pool := fleettest.NewInventory(t)
	log, subscribers := audit.NewLog(pool), subscriber.New(pool)
	ids := fleettest.Must[domain.Slice[*domain.Subscriber]](t)(subscribers.List(t.Context(), fleettest.All, domain.Listing{Page: domain.Page{Limit: 8}, Projection: fleettest.EveryField})).Items
	start := fleettest.Must[domain.AuditMark](t)(log.Head(t.Context(), fleettest.All))
	const each = 25
	began := time.Now()
	var writers sync.WaitGroup
	for _, s := range ids {
		writers.Go(func() {
			for n := range each {
				if _, err := subscribers.EditNickname(t.Context(), fleettest.All.By(auditor), s.PhysicalID, fmt.Sprintf("name %d", n)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	took := time.Since(began)
	end, err := fleettest.Verified(t.Context(), log, fleettest.Acme)
	if want := start.Sequence + int64(each*len(ids)); err != nil || end.Sequence != want {
		t.Errorf("the log ends at %d, not %d: %v", end.Sequence, want, err)
	}
	t.Logf("%d writes by %d writers: %.0f a second", each*len(ids), len(ids), float64(each*len(ids))/took.Seconds())
}

func TestATamperedLogInTheDatabaseShows(t *testing.T) {
	t.Parallel()
	pool := fleettest.NewInventory(t)
	log, groups := audit.NewLog(pool), group.New(pool)
	for _, name := range []string{"a", "b", "c"} {
		fleettest.Must[*domain.Group](t)(groups.Rename(t.Context(), fleettest.All.By(auditor), 12, name))
	}
	end, err := fleettest.Verified(t.Context(), log, fleettest.Acme)
	if err != nil || end.Sequence < 3 {
		t.Fatal(end, err)
	}
	for _, tamper := range []string{
		`UPDATE audit_log SET actor = 'mallory' WHERE company_id = $1 AND sequence = $2`,
		`UPDATE audit_log SET reason = 'forged' WHERE company_id = $1 AND sequence = $2`,
		`UPDATE audit_log SET changes = '[]' WHERE company_id = $1 AND sequence = $2`,
		`DELETE FROM audit_log WHERE company_id = $1 AND sequence = $2`,
		`DELETE FROM audit_log WHERE company_id = $1 AND sequence = $2 - 1`,
	} {
		tx := pool.MustBegin()
		tx.MustExec(tamper, fleettest.Acme, end.Sequence)
		_, err := audit.VerifyIn(t.Context(), tx, fleettest.All, end)
		if err == nil {
			t.Errorf("%s does not show", tamper)
		}
		fatal.If(t, tx.Rollback())
	}
}

// Not even the owner of the table may change what is there, short of granting
// itself the right.
func TestTheAuditLogIsAppendOnly(t *testing.T) {
	t.Parallel()
	pool := fleettest.NewInventory(t)
	var granted []string
	err := pool.SelectContext(t.Context(), &granted, `
SELECT a.privilege_type FROM pg_class c, aclexplode(c.relacl) AS a
WHERE c.oid = 'audit_log'::regclass AND a.privilege_type IN ('UPDATE', 'DELETE', 'TRUNCATE')`)
	if err != nil || len(granted) > 0 {
		t.Errorf("%v %v", granted, err)
	}
}

func TestTheAuditLogIsTheWholeCompanys(t *testing.T) {
	t.Parallel()
	log := audit.NewLog(fleettest.NewInventory(t))
	_, err := log.List(t.Context(), fleettest.VansOnly, domain.Listing{Page: domain.Page{Limit: 1}})
	fleettest.WantKind(t, err, domain.KindForbidden)
	_, err = log.Count(t.Context(), fleettest.VansOnly, domain.Listing{})
	fleettest.WantKind(t, err, domain.KindForbidden)
	_, err = log.Head(t.Context(), fleettest.VansOnly)
	fleettest.WantKind(t, err, domain.KindForbidden)
	for _, err = range log.All(t.Context(), fleettest.VansOnly, 0) {
		fleettest.WantKind(t, err, domain.KindForbidden)
	}
}

func TestThePagesOfTheAuditLogGoBackInTime(t *testing.T) {
	t.Parallel()
	pool := fleettest.NewInventory(t)
	log, groups := audit.NewLog(pool), group.New(pool)
	for n := range 5 {
		fleettest.Must[*domain.Group](t)(groups.Rename(t.Context(), fleettest.All.By(auditor), 12, fmt.Sprint("n", n)))
	}
	page := domain.Page{Limit: 2}
	var names []string
	for {
		slice := fleettest.Must[domain.Slice[*domain.AuditEntry]](t)(log.List(t.Context(), fleettest.All, domain.Listing{Page: page}))
		for _, e := range slice.Items {
			if e.Action == domain.AuditGroupEdit {
				names = append(names, fleettest.Text(e.Changes[0].After))
			}
		}
		if !slice.HasNext {
			break
		}
		page.Cursor = slice.Cursor(len(slice.Items) - 1)
	}
	if fmt.Sprint(names) != "[n4 n3 n2 n1 n0]" {
		t.Error(names)
	}
}
