package db_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"simgraph/db"
	"simgraph/db/audit"
	"simgraph/domain"
)

// auditor is who acts in these tests.
var auditor = &domain.Actor{UserID: 1, Name: "ops@acme.example", AccessKeyID: "sgk_1_x", Origin: domain.Origin{Door: "rest", Address: "192.0.2.1", RequestID: "r-1"}}

func auditOf(t *testing.T, log *audit.Log, company domain.CompanyID) []*domain.AuditEntry {
	t.Helper()
	var entries []*domain.AuditEntry
	for entry, err := range log.All(t.Context(), domain.Whole(company), 0) {
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, entry)
	}
	return entries
}

func verified(ctx context.Context, log *audit.Log, company domain.CompanyID) (domain.AuditMark, error) {
	return log.Verify(ctx, domain.Whole(company))
}

func text(p *string) string {
	if p == nil {
		return "nothing"
	}
	return *p
}

func TestWritesTellTheAuditLogWhatTheyChanged(t *testing.T) {
	t.Parallel()
	pool := newInventory(t)
	log, by := audit.NewLog(pool), all.By(auditor)
	ctx := t.Context()
	start := len(auditOf(t, log, acme))
	subscribers, groups, tags := db.NewSubscribers(pool), db.NewGroups(pool), db.NewTags(pool)
	alerts, recipients := db.NewAlerts(pool, time.Now), db.NewRecipients(pool, time.Now)
	ids := must[domain.Slice[*domain.Subscriber]](t)(subscribers.List(ctx, all, domain.Listing{Page: domain.Page{Limit: 2}, Projection: everyField})).Items
	one, two := ids[0].PhysicalID, ids[1].PhysicalID

	for range 2 { // the second time nothing changes
		must[*domain.Subscriber](t)(subscribers.EditNickname(ctx, by, one, "lorry"))
		must[*domain.Group](t)(groups.Rename(ctx, by, 12, "Lorries"))
		must[int](t)(tags.Attach(ctx, by, "mine", []string{one, two}))
		must[*domain.Recipient](t)(recipients.Create(ctx, by, "alice@acme.example"))
	}
	if err := tags.Detach(ctx, by, "mine", []string{two}); err != nil {
		t.Fatal(err)
	}
	alert := must[*domain.Alert](t)(alerts.Create(ctx, by, domain.AlertSpec{RuleType: domain.RuleCompany, LowerThreshold: 1, UpperThreshold: 2}))
	must[*domain.Alert](t)(alerts.Edit(ctx, by, alert.AlertID, domain.AlertEdit{UpperThreshold: new(int64(3))}))
	must[*domain.Alert](t)(alerts.Remove(ctx, by, alert.AlertID))

	var got []string
	for _, e := range auditOf(t, log, acme)[start:] {
		if e.Actor != *auditor || e.At.IsZero() {
			t.Errorf("%+v", e)
		}
		line := fmt.Sprintf("%s %s", e.Action, e.SubjectType)
		for _, c := range e.Changes {
			line += fmt.Sprintf(" %s: %s → %s", c.Field, text(c.Before), text(c.After))
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
	if _, err := verified(ctx, log, acme); err != nil {
		t.Error(err)
	}
}

func TestWhatFailsLeavesNoEntry(t *testing.T) {
	t.Parallel()
	pool := newInventory(t)
	log, by := audit.NewLog(pool), all.By(auditor)
	before := must[domain.AuditMark](t)(log.Head(t.Context(), all))
	_, err := db.NewGroups(pool).Rename(t.Context(), by, 99, "x")
	wantKind(t, err, domain.KindNotFound)
	_, err = db.NewSubscribers(pool).EditNickname(t.Context(), by, "unknown", "x")
	wantKind(t, err, domain.KindNotFound)
	_, err = db.NewTags(pool).Attach(t.Context(), by, "x", []string{"unknown"})
	wantKind(t, err, domain.KindNotFound)
	if after := must[domain.AuditMark](t)(log.Head(t.Context(), all)); after != before {
		t.Errorf("%v became %v", before, after)
	}
}

func TestEveryUseOfAKeyIsAudited(t *testing.T) {
	t.Parallel()
	pool := newInventory(t)
	log, store := audit.NewLog(pool), db.NewAccess(pool)
	start := len(auditOf(t, log, acme))
	key := newKey(t, store)
	from := domain.Origin{Door: "oauth", Address: "198.51.100.7", RequestID: "r-2"}
	grant := must[*domain.Grant](t)(store.Exchange(t.Context(), from, key.AccessKeyID, key.secret, nil))
	if err := store.RevokeToken(t.Context(), from, key.AccessKeyID, key.secret, grant.Token); err != nil {
		t.Fatal(err)
	}
	must[*domain.AccessKey](t)(store.RevokeKey(t.Context(), all, key.AccessKeyID))
	if _, err := store.Exchange(t.Context(), from, key.AccessKeyID, key.secret, nil); err == nil {
		t.Fatal("a revoked key works")
	}
	var got []string
	for _, e := range auditOf(t, log, acme)[start:] {
		got = append(got, e.Action+" "+e.Address)
		if e.Action == domain.AuditKeyExchange && (e.Name != "ops@acme.example" || e.AccessKeyID != key.AccessKeyID) {
			t.Errorf("%+v", e)
		}
		for _, c := range e.Changes {
			if strings.Contains(text(c.After), string(key.secret)) || strings.Contains(text(c.After), string(grant.Token)) {
				t.Error("the log holds a secret")
			}
		}
	}
	want := "accessKey.create , accessKey.exchange 198.51.100.7, token.revoke 198.51.100.7, accessKey.revoke "
	if strings.Join(got, ", ") != want {
		t.Errorf("got %s", got)
	}
}

// Writers of one company queue up for its log only at their ends: the chain has
// neither gaps nor forks, and nobody waits for long.
func TestWritersOfACompanyMakeOneChain(t *testing.T) {
	t.Parallel()
	pool := newInventory(t)
	log, subscribers := audit.NewLog(pool), db.NewSubscribers(pool)
	ids := must[domain.Slice[*domain.Subscriber]](t)(subscribers.List(t.Context(), all, domain.Listing{Page: domain.Page{Limit: 8}, Projection: everyField})).Items
	start := must[domain.AuditMark](t)(log.Head(t.Context(), all))
	const each = 25
	began := time.Now()
	var writers sync.WaitGroup
	for _, s := range ids {
		writers.Go(func() {
			for n := range each {
				if _, err := subscribers.EditNickname(t.Context(), all.By(auditor), s.PhysicalID, fmt.Sprintf("name %d", n)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	took := time.Since(began)
	end, err := verified(t.Context(), log, acme)
	if want := start.Sequence + int64(each*len(ids)); err != nil || end.Sequence != want {
		t.Errorf("the log ends at %d, not %d: %v", end.Sequence, want, err)
	}
	t.Logf("%d writes by %d writers: %.0f a second", each*len(ids), len(ids), float64(each*len(ids))/took.Seconds())
}

func TestATamperedLogInTheDatabaseShows(t *testing.T) {
	t.Parallel()
	pool := newInventory(t)
	log, groups := audit.NewLog(pool), db.NewGroups(pool)
	for _, name := range []string{"a", "b", "c"} {
		must[*domain.Group](t)(groups.Rename(t.Context(), all.By(auditor), 12, name))
	}
	end, err := verified(t.Context(), log, acme)
	if err != nil || end.Sequence < 3 {
		t.Fatal(end, err)
	}
	for _, tamper := range []string{
		`UPDATE audit_log SET actor = 'mallory' WHERE company_id = $1 AND sequence = $2`,
		`UPDATE audit_log SET changes = '[]' WHERE company_id = $1 AND sequence = $2`,
		`DELETE FROM audit_log WHERE company_id = $1 AND sequence = $2`,
		`DELETE FROM audit_log WHERE company_id = $1 AND sequence = $2 - 1`,
	} {
		tx := pool.MustBegin()
		tx.MustExec(tamper, acme, end.Sequence)
		_, err := audit.VerifyIn(t.Context(), tx, all, end)
		if err == nil {
			t.Errorf("%s does not show", tamper)
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
	}
}

// Not even the owner of the table may change what is there, short of granting
// itself the right.
func TestTheAuditLogIsAppendOnly(t *testing.T) {
	t.Parallel()
	pool := newInventory(t)
	var granted []string
	err := pool.SelectContext(t.Context(), &granted, `
SELECT a.privilege_type FROM pg_class c, aclexplode(c.relacl) AS a
WHERE c.oid = 'audit_log'::regclass AND a.privilege_type IN ('UPDATE', 'DELETE', 'TRUNCATE')`)
	if err != nil || len(granted) > 0 {
		t.Errorf("%v %v", granted, err)
	}
	for name, sql := range constantStatements(t) {
		if strings.Contains(sql, "UPDATE audit_log") || strings.Contains(sql, "DELETE FROM audit_log") && name != "pruneAudit" {
			t.Errorf("%s changes entries", name)
		}
	}
}

func TestTheAuditLogIsTheWholeCompanys(t *testing.T) {
	t.Parallel()
	log := audit.NewLog(newInventory(t))
	_, err := log.List(t.Context(), vansOnly, domain.Listing{Page: domain.Page{Limit: 1}})
	wantKind(t, err, domain.KindForbidden)
	_, err = log.Count(t.Context(), vansOnly, domain.Listing{})
	wantKind(t, err, domain.KindForbidden)
	_, err = log.Head(t.Context(), vansOnly)
	wantKind(t, err, domain.KindForbidden)
	for _, err = range log.All(t.Context(), vansOnly, 0) {
		wantKind(t, err, domain.KindForbidden)
	}
}

func TestThePagesOfTheAuditLogGoBackInTime(t *testing.T) {
	t.Parallel()
	pool := newInventory(t)
	log, groups := audit.NewLog(pool), db.NewGroups(pool)
	for n := range 5 {
		must[*domain.Group](t)(groups.Rename(t.Context(), all.By(auditor), 12, fmt.Sprint("n", n)))
	}
	page := domain.Page{Limit: 2}
	var names []string
	for {
		slice := must[domain.Slice[*domain.AuditEntry]](t)(log.List(t.Context(), all, domain.Listing{Page: page}))
		for _, e := range slice.Items {
			if e.Action == domain.AuditGroupEdit {
				names = append(names, text(e.Changes[0].After))
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
