package bulk_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	store "simgraph/db/bulk"
	"simgraph/db/inventory"
	"simgraph/db/usage"
	"simgraph/db/volume"
	"simgraph/domain"
	"simgraph/domain/bulk"
	"simgraph/internal/fatal"
)

// newRow is a row that creates a subscriber.
func newRow(physicalID string) bulk.Row {
	return bulk.Row{
		PhysicalID: physicalID,
		Change:     bulk.Change{TariffName: new("IoT")},
		Stated: bulk.Stated{SubscriberID: new("s" + physicalID), OperatorCode: new("23415"), ContractLength: new(12),
			ConnectionDate: new(clock().AddDate(0, -1, 0)), ExpiryDate: new(clock().AddDate(2, 0, 0))},
	}
}

// newRows are rows that create n subscribers.
func newRows(n int) (rows []bulk.Row) {
	for i := range n {
		rows = append(rows, newRow(fmt.Sprintf("n%05d", i)))
	}
	return rows
}

func (f *fleet) wantCreated(o *bulk.Operation, created, changed, removed, failed, skipped int) {
	f.Helper()
	if o.Created != created || o.Changed != changed || o.Removed != removed || o.Failed != failed || o.Skipped != skipped {
		f.Errorf("got %+v, want %d created, %d changed, %d removed, %d failed, %d skipped", o, created, changed, removed, failed, skipped)
	}
}

func (f *fleet) undone(id string) *bulk.Operation {
	f.Helper()
	undo, err := f.store.Undo(f.Context(), f.boss, id)
	f.try(err)
	return f.run(undo.OperationID)
}

// failures are the messages of the rows with the outcome, by subscriber.
func (f *fleet) failures(id string, outcome bulk.Outcome) map[string]string {
	f.Helper()
	all := map[string]string{}
	for _, r := range f.results(id, outcome) {
		all[r.PhysicalID] = *r.Message
	}
	return all
}

// inserted counts what belongs to subscribers, also what they had and lost.
func (f *fleet) inserted() string {
	return fmt.Sprint(f.int(`SELECT count(*) FROM subscribers`), f.int(`SELECT count(*) FROM group_memberships`), f.int(`SELECT count(*) FROM subscriber_tags`))
}

// large is a store with the bounds of a server.
func (f *fleet) large() *store.Store { return store.New(f.pool, store.Options{Now: clock}) }

// queueCommand bars and unbars the subscriber where the company has a provider of commands.
func (f *fleet) queueCommand(physicalID string) {
	f.Helper()
	f.pool.MustExec(`
INSERT INTO webhooks (company_id, name, url, format, event_types, alert_ids, group_ids, tag_names, secret, created_at, is_provider)
VALUES (1, 'commands', 'https://carrier.example', 'cloudevents', '{command.requested}', '{}', '{}', '{}', '', now(), true)`)
	for _, barred := range []bool{true, false} {
		f.run(f.start(f.boss, bulk.Start{PhysicalIDs: []string{physicalID}, Change: bulk.Change{IsBarred: &barred}}).OperationID)
	}
}

// removal is the code that removes subscribers.
func removal(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("remove.go")
	fatal.If(t, err)
	return string(text)
}

// One operation creates, edits and moves; a dry run shows it and changes nothing, and undoing
// it brings the fleet back as it was.
func TestAnOperationCreatesEditsAndMoves(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	rows := newRows(10)
	for i := range rows {
		rows[i].Nickname, rows[i].Move, rows[i].AddTags = new(fmt.Sprint("new ", i)), &bulk.Move{GroupID: new(int64(boats))}, []domain.TagName{"fresh"}
	}
	rows[3].Kind, rows[3].IMSI, rows[3].FixedIPAddress, rows[3].IsBarred = new(domain.Satellite), new("234150000000003"), new("10.0.0.3"), new(true)
	rows = append(rows, bulk.Row{PhysicalID: "p0001", Change: bulk.Change{Nickname: new("edited")}}, bulk.Row{PhysicalID: "p0002", Change: moveTo(boats)})
	before, had := f.rows(), f.inserted()
	start := bulk.Start{Rows: rows, Create: true, ErrorPolicy: bulk.RejectEverything, ValidateOnly: true}
	dry := f.start(f.boss, start)
	f.wantCreated(dry, 10, 2, 0, 0, 0)
	if dry.State != bulk.Checked || f.inserted() != had {
		t.Errorf("%s, %s", dry.State, f.inserted())
	}
	start.ValidateOnly, start.Digest = false, dry.Digest
	plain := start
	plain.Create = false
	_, err := f.store.Start(t.Context(), f.boss, plain)
	f.wants(err, domain.KindInvalid, "the digest of what creates")
	run := f.run(f.start(f.boss, start).OperationID)
	f.wantCreated(run, 10, 2, 0, 0, 0)
	if run.State != bulk.Done || run.Done != 12 || run.UndoableUntil == nil {
		t.Errorf("%+v", run)
	}
	now := f.rows()
	if now["n00003"] != "new 3|13|t|t|IoT|-|{fresh}" || now["n00004"] != "new 4|13|f|t|IoT|-|{fresh}" || !strings.HasPrefix(now["p0001"], "edited|12") || !strings.HasPrefix(now["p0002"], "|13|") {
		t.Errorf("%q %q %q %q", now["n00003"], now["n00004"], now["p0001"], now["p0002"])
	}
	shown, made := f.results(dry.OperationID, ""), f.results(run.OperationID, "")
	for i, r := range made {
		if r.Outcome != shown[i].Outcome || fmt.Sprint(len(r.Changes)) != fmt.Sprint(len(shown[i].Changes)) {
			t.Errorf("%+v, the dry run showed %+v", r, shown[i])
		}
	}
	if of := f.changesOf(domain.Whole(1), "n00003"); !slices.Equal(of, []string{run.OperationID}) {
		t.Errorf("%v", of)
	}
	// What was created agrees with its file, and another run of it does nothing.
	start.Digest = ""
	if again := f.run(f.start(f.boss, start).OperationID); again.Created+again.Changed+again.Failed != 0 {
		t.Errorf("%+v", again)
	}
	undo := f.undone(run.OperationID)
	f.wantCreated(undo, 0, 2, 10, 0, 0)
	after := f.rows()
	for id, row := range after {
		if row != before[id] {
			t.Errorf("%s is %q, was %q", id, row, before[id])
		}
	}
	if len(after) != len(before) {
		t.Errorf("%d subscribers, had %d", len(after), len(before))
	}
	if n := f.int(`SELECT count(*) FROM subscriber_tags`); n != 0 {
		t.Errorf("%d tags are left", n)
	}
}

// 5,000 are created by the same way as 50.
func TestThousandsAreCreated(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	all := newRows(5_000)
	at := time.Now()
	f.store = f.large()
	dry, err := f.store.Start(t.Context(), f.boss, bulk.Start{Rows: all, Create: true, ErrorPolicy: bulk.RejectEverything, ValidateOnly: true})
	f.try(err)
	f.wantCreated(dry, 5_000, 0, 0, 0, 0)
	run, err := f.store.Start(t.Context(), f.boss, bulk.Start{Rows: all, Create: true, ErrorPolicy: bulk.RejectEverything, Expect: new(5_000), Digest: dry.Digest})
	f.try(err)
	f.wantCreated(f.run(run.OperationID), 5_000, 0, 0, 0, 0)
	if n := f.int(`SELECT count(*) FROM subscribers`); n != size+5_000 {
		t.Errorf("%d subscribers", n)
	}
	f.wantCreated(f.undone(run.OperationID), 0, 0, 5_000, 0, 0)
	if n := f.int(`SELECT count(*) FROM subscribers`); n != size {
		t.Errorf("%d subscribers", n)
	}
	t.Logf("tried, created and undone in %v", time.Since(at))
}

// A row that cannot create says why, and a typing error in an identifier creates nothing
// unless the operation says so.
func TestRowsThatCannotCreateSayWhy(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	rows := newRows(12)
	change := func(i int, do func(*bulk.Row)) { do(&rows[i]) }
	change(0, func(r *bulk.Row) { r.TariffName, r.OperatorCode = nil, nil })
	change(1, func(r *bulk.Row) { r.TariffName = new("None") })
	change(2, func(r *bulk.Row) { r.OperatorCode = new("99999") })
	change(3, func(r *bulk.Row) { r.Move = &bulk.Move{GroupID: new(int64(99))} })
	change(4, func(r *bulk.Row) { r.ExpiryDate = new(clock().AddDate(-1, 0, 0)) })
	change(5, func(r *bulk.Row) { r.ParentPhysicalID, r.IsEnabledOnParent = new("nobody"), new(true) })
	change(6, func(r *bulk.Row) { r.ParentPhysicalID, r.IsEnabledOnParent = new("n00009"), new(true) })
	change(7, func(r *bulk.Row) { r.FixedIPAddress = new("10.0.0.1") })
	change(8, func(r *bulk.Row) { r.TerminateDate = new(clock().AddDate(-1, 0, 0)) })
	change(10, func(r *bulk.Row) { r.PhysicalID = "p0001" })
	f.pool.MustExec(`UPDATE subscribers SET fixed_ip_address = '10.0.0.1' WHERE physical_id = 'p0002'`)
	want := map[string]string{
		"n00000": `there is no subscriber "n00000", and to create it the row lacks operatorCode, tariffName`,
		"n00001": `no tariff "None" on this account`,
		"n00002": `no operator "99999" on this account`,
		"n00003": `no group "99" on this account`,
		"n00004": "expiryDate must not be before connectionDate",
		"n00005": `no subscriber "nobody" on this account`,
		"n00006": `no subscriber "n00009" on this account`,
		"n00007": "another subscriber of the company has the fixed address 10.0.0.1",
		"n00008": "terminateDate must not be before connectionDate",
		"p0001":  `subscriberId of the subscriber is "s1", not "sn00010": an operation does not change it`,
	}
	check := func(what string, o *bulk.Operation, outcome bulk.Outcome) {
		t.Helper()
		got := f.failures(o.OperationID, outcome)
		for id, message := range want {
			if got[id] != message {
				t.Errorf("%s: %s: %q, want %q", what, id, got[id], message)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: %v", what, got)
		}
	}
	// A date before another is refused for the whole request by the graph, and a row alone of
	// a file.
	bad := bulk.Start{Rows: rows, Create: true, ErrorPolicy: bulk.RejectEverything}
	_, err := f.store.Start(t.Context(), f.boss, bad)
	f.wants(err, domain.KindInvalid, "a contract that ends before it begins")
	rows[4].ExpiryDate, want["n00004"] = new(clock()), `a row of a file`
	rows[4].Fault = domain.Invalid("expiryDate", "a row of a file")
	rejected := f.start(f.boss, bad)
	if rejected.State != bulk.Rejected {
		t.Errorf("%+v", rejected)
	}
	check("a check", rejected, bulk.Failed)
	for _, policy := range []bulk.Policy{bulk.RejectFailedRows, bulk.IgnoreFailed} {
		dry := f.start(f.boss, bulk.Start{Rows: rows, Create: true, ErrorPolicy: policy, ValidateOnly: true})
		f.wantCreated(dry, 2, 0, 0, 10, 0)
		check(string(policy), dry, bulk.Failed)
	}
	run := f.run(f.start(f.boss, bulk.Start{Rows: rows, Create: true, ErrorPolicy: bulk.IgnoreFailed}).OperationID)
	f.wantCreated(run, 2, 0, 0, 10, 0)
	check("a run", run, bulk.Failed)
	without := f.start(f.boss, bulk.Start{Rows: newRows(3)[2:], ErrorPolicy: bulk.RejectEverything})
	if got := f.failures(without.OperationID, bulk.Failed)["n00002"]; got != `no subscriber "n00002" on this account: it is created only where the operation says create` {
		t.Errorf("%q", got)
	}
	_, err = f.store.Start(t.Context(), f.boss, bulk.Start{ByFilter: true, Change: tag("a"), Create: true, ErrorPolicy: bulk.RejectEverything})
	f.wants(err, domain.KindInvalid, "a filter that creates")
	two := newRows(2)
	two[0].FixedIPAddress, two[1].FixedIPAddress = new("10.9.9.9"), new("10.9.9.9")
	_, err = f.store.Start(t.Context(), f.boss, bulk.Start{Rows: two, Create: true, ErrorPolicy: bulk.RejectEverything})
	f.wants(err, domain.KindInvalid, "an address twice")
}

// Who may create one by one may create by an operation, and nobody else: not users of groups,
// nor who lost the permission meanwhile. Who may create and not edit texts edits none.
func TestCreatingNeedsWhatItNeedsOneByOne(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	start := bulk.Start{Rows: newRows(1), Create: true}
	start.ErrorPolicy = bulk.RejectFailedRows
	_, err := f.store.Start(t.Context(), f.caller(clerk), start)
	f.wants(err, domain.KindForbidden, "a user of groups")
	f.setPermissions(boss, "VIEW_SUBSCRIBER", "UPDATE_THE_DETAILS_OF_A_SUBSCRIBER")
	_, err = f.store.Start(t.Context(), f.caller(boss), start)
	f.wants(err, domain.KindForbidden, "who may edit alone")
	f.setPermissions(boss, "VIEW_SUBSCRIBER", "MANAGE_INVENTORY")
	rows := newRows(2)
	rows[0].Nickname, rows[1].AddTags = new("named"), []domain.TagName{"a"}
	rows = append(rows, bulk.Row{PhysicalID: "p0001", Change: bulk.Change{Nickname: new("x")}}, bulk.Row{PhysicalID: "p0002", Change: bulk.Change{IsBarred: new(true)}})
	run := f.run(f.start(f.caller(boss), bulk.Start{Rows: rows, Create: true}).OperationID)
	f.wantCreated(run, 1, 1, 0, 2, 0)
	if f.rows()["n00000"] != "named|-|f|t|IoT|-|{}" {
		t.Errorf("%q", f.rows()["n00000"])
	}
	waiting := f.start(f.caller(boss), bulk.Start{Rows: newRows(3)[2:], Create: true})
	f.setPermissions(boss, "VIEW_SUBSCRIBER")
	f.wantCreated(f.run(waiting.OperationID), 0, 0, 0, 1, 0)
	f.setPermissions(boss, "VIEW_SUBSCRIBER", "MANAGE_INVENTORY")
	waiting = f.start(f.caller(boss), bulk.Start{Rows: newRows(3)[2:], Create: true})
	f.pool.MustExec(`INSERT INTO user_groups SELECT 1, user_id, 12 FROM users WHERE email = $1`, boss)
	f.wantCreated(f.run(waiting.OperationID), 0, 0, 0, 1, 0)
}

// A user of groups learns nothing of a contract that the group hides by what a row says of it.
func TestStatedValuesRevealNothing(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.pool.MustExec(`UPDATE groups SET hide_tariff_details = true WHERE group_id = 12`)
	for length, stated := range map[int]bulk.Stated{12: {ContractLength: new(12)}, 24: {ContractLength: new(24)}} {
		run := f.run(f.start(f.caller(clerk), bulk.Start{Rows: []bulk.Row{{PhysicalID: "p0001", Change: bulk.Change{IsBarred: new(false)}, Stated: stated}}}).OperationID)
		if got := f.failures(run.OperationID, bulk.Failed)["p0001"]; got != "the group of the subscriber hides tariff details from this user" {
			t.Errorf("%d: %q", length, got)
		}
	}
}

// Undoing leaves what has got something since, and says what; the rest goes.
func TestUndoingKeepsWhatIsUsed(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.watch()
	uses := []struct{ id, why, sql string }{
		{"n00000", "", ""},
		{"n00001", "the subscriber has usage since it was created, and stays", `INSERT INTO subscriber_periods (company_id, period_start, subscriber_key, mobile_originated, mobile_terminated) SELECT 1, '2026-11-01Z', key, 0, 1 FROM subscribers WHERE physical_id = $1`},
		{"n00002", "the subscriber has usage since it was created, and stays", `INSERT INTO subscriber_seen SELECT 1, key, now() FROM subscribers WHERE physical_id = $1`},
		{"n00003", `nickname was changed since: it is "x", not ""`, `UPDATE subscribers SET nickname = 'x' WHERE physical_id = $1`},
		{"n00004", `the tag "y" was added or removed since`, `INSERT INTO subscriber_tags SELECT 1, key, 'y' FROM subscribers WHERE physical_id = $1`},
		{"n00005", `groupId was changed since: it is "12", not nothing`, `UPDATE subscribers SET group_id = 12 WHERE physical_id = $1`},
		{"n00006", "the subscriber has commands to its carrier since it was created, and stays", ""},
		{"n00007", "the subscriber has alerts since it was created, and stays", ""},
		{"n00008", "the subscriber has profiles since it was created, and stays", ""},
		{"n00009", `isBarred was changed since: it is "true", not "false"`, `UPDATE subscribers SET is_barred = true WHERE physical_id = $1`},
	}
	run := f.run(f.start(f.boss, bulk.Start{Rows: newRows(len(uses)), Create: true}).OperationID)
	f.wantCreated(run, len(uses), 0, 0, 0, 0)
	for _, use := range uses {
		if use.sql != "" {
			f.pool.MustExec(use.sql, use.id)
		}
	}
	f.queueCommand("n00006")
	_, err := volume.NewAlerts(f.pool, func() time.Time { return f.now }).Create(t.Context(), domain.Whole(1), domain.AlertSpec{RuleType: domain.RuleSIM, Target: "sn00007", LowerThreshold: 100, UpperThreshold: 1_000})
	f.try(err)
	profile := domain.Subscriber{PhysicalID: "profile", Kind: domain.Cellular, SubscriberType: domain.Virtual, SubscriberID: "1", OperatorCode: "23415", TariffName: new("IoT"),
		ContractLength: new(1), ConnectionDate: clock(), ExpiryDate: clock(), ParentPhysicalID: new("n00008"), IsEnabledOnParent: new(true)}
	_, err = inventory.New(f.pool, clock).CreateSubscriber(t.Context(), domain.Whole(1), &profile)
	f.try(err)
	undo := f.undone(run.OperationID)
	f.wantCreated(undo, 0, 0, 1, 0, len(uses)-1)
	got := f.failures(undo.OperationID, bulk.Skipped)
	for _, use := range uses {
		if got[use.id] != use.why {
			t.Errorf("%s: %q, want %q", use.id, got[use.id], use.why)
		}
	}
	if n := f.int(`SELECT count(*) FROM subscribers WHERE physical_id LIKE 'n%'`); n != len(uses)-1 {
		t.Errorf("%d are left", n)
	}
	// What was moved and moved back is as it was created.
	again := f.run(f.start(f.boss, bulk.Start{Rows: newRows(1), Create: true}).OperationID)
	moved := f.run(f.start(f.boss, bulk.Start{PhysicalIDs: []string{"n00000"}, Change: moveTo(boats)}).OperationID)
	f.now = f.now.Add(time.Minute)
	f.wantCreated(f.undone(moved.OperationID), 0, 1, 0, 0, 0)
	f.wantCreated(f.undone(again.OperationID), 0, 0, 1, 0, 0)
}

// Usage that comes while its subscriber is removed is lost to nobody: it waits for one, as if it
// had come later.
func TestUsageOfASubscriberThatIsRemovedMeanwhileWaits(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.run(f.start(f.boss, bulk.Start{Rows: newRows(1), Create: true}).OperationID)
	tx := f.pool.MustBegin()
	tx.MustExec(`SELECT FROM companies WHERE company_id = 1 FOR NO KEY UPDATE`)
	type answer struct {
		results []domain.Recorded
		err     error
	}
	answers := make(chan answer, 1)
	go func() {
		results, err := usage.New(f.pool, nil, usage.Options{}).Record(t.Context(), domain.Whole(1), []domain.UsageRecord{{
			RecordID: "r", Source: "s", PhysicalID: "n00000", StartedAt: time.Now().Add(-time.Minute), EndedAt: time.Now(), MobileOriginated: 1, Protocol: "4G"}})
		answers <- answer{results, err}
	}()
	for f.int(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) == 0 {
		select {
		case a := <-answers:
			t.Fatalf("it waited for nobody: %v, %v", a.results[0].Err, a.err)
		case <-time.After(time.Millisecond):
		}
	}
	tx.MustExec(`DELETE FROM group_memberships WHERE subscriber_key = (SELECT key FROM subscribers WHERE physical_id = 'n00000')`)
	tx.MustExec(`DELETE FROM subscribers WHERE physical_id = 'n00000'`)
	f.try(tx.Commit())
	a := <-answers
	f.try(a.err)
	if a.results[0].Status != domain.UsageQuarantined || f.int(`SELECT count(*) FROM usage_records`) != 0 || f.int(`SELECT count(*) FROM usage_quarantine`) != 1 {
		t.Errorf("%+v", a.results)
	}
}

// A profile is created on an eUICC that is there, and both go when the profile goes first.
func TestProfilesAreCreatedOnTheirEUICC(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	first := f.run(f.start(f.boss, bulk.Start{Rows: newRows(1), Create: true}).OperationID)
	row := newRow("profile")
	row.ParentPhysicalID, row.IsEnabledOnParent, row.SubscriberType, row.SMDPProvider = new("n00000"), new(true), new(domain.Virtual), new("Truphone")
	second := f.run(f.start(f.boss, bulk.Start{Rows: []bulk.Row{row}, Create: true}).OperationID)
	f.wantCreated(second, 1, 0, 0, 0, 0)
	if n := f.int(`SELECT count(*) FROM subscribers s JOIN subscribers p ON p.company_id = s.company_id AND p.key = s.parent_key WHERE s.physical_id = 'profile' AND p.physical_id = 'n00000' AND s.is_enabled_on_parent`); n != 1 {
		t.Error("the profile is on no eUICC")
	}
	f.wantCreated(f.undone(second.OperationID), 0, 0, 1, 0, 0)
	f.wantCreated(f.undone(first.OperationID), 0, 0, 1, 0, 0)
	// One that the same operation creates is none, in a later chunk neither: so a dry run says.
	rows := append(newRows(10), row)
	for _, tried := range []bool{true, false} {
		of := f.run(f.start(f.boss, bulk.Start{Rows: rows, Create: true, ValidateOnly: tried}).OperationID)
		f.wantCreated(of, 10, 0, 0, 1, 0)
		if got := f.failures(of.OperationID, bulk.Failed)["profile"]; got != `no subscriber "n00000" on this account` {
			t.Errorf("%q", got)
		}
	}
}

// What belongs to a subscriber is looked at before it is removed, whichever table it is in.
func TestRemovalLooksAtEveryTableOfSubscribers(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	// What is booked in these is in subscriber_periods too.
	implied := []string{"usage_records", "subscriber_days", "ip_days"}
	var tables []string
	f.try(f.pool.Select(&tables, `
SELECT DISTINCT c.relname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
WHERE a.attname = 'subscriber_key' AND NOT a.attisdropped AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = current_schema()::regnamespace`))
	if len(tables) < 14 {
		t.Errorf("%v", tables)
	}
	text := removal(t)
	for _, table := range tables {
		if !slices.Contains(implied, table) && !strings.Contains(text, "FROM "+table+" ") {
			t.Errorf("nothing looks at %s", table)
		}
	}
}
