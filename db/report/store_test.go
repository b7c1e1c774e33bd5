package report_test

import (
	"testing"
	"time"

	"simgraph/db/fleettest"
	"simgraph/domain"
	rules "simgraph/domain/report"
	"simgraph/internal/fatal"
)

// Users of groups see their own reports, others pause and delete those of all, and nobody
// changes what another's eyes see.
func TestReportsAreTheirOwners(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	pool, store, owner, other := f.pool, f.store, f.owner, f.other
	ofGroups := domain.Scope{Company: 1, Groups: []int64{1}, Actor: other.Actor}
	spec := daily(f.question(false), "A@acme.example")
	if _, err := store.Create(t.Context(), other, spec); fleettest.KindOf(err) != domain.KindNotFound {
		t.Errorf("a report of a question that its owner does not see: %v", err)
	}
	made, err := store.Create(t.Context(), owner, spec)
	fatal.If(t, err)
	store.Most = 1
	if _, err := store.Create(t.Context(), owner, spec); fleettest.KindOf(err) != domain.KindInvalid {
		t.Errorf("a user has a report too many: %v", err)
	}
	for name, want := range map[string]struct {
		scope domain.Scope
		n     int
	}{"owner": {owner, 1}, "user of the company": {other, 1}, "user of groups": {ofGroups, 0}, "another company": {domain.Whole(2), 0}} {
		n, err := store.Count(t.Context(), want.scope, domain.Listing{})
		fatal.If(t, err)
		if n != want.n {
			t.Errorf("%s sees %d", name, n)
		}
	}
	// A report that nobody owns is not that of callers who are no user.
	pool.MustExec(`UPDATE reports SET owner_id = 0`)
	nobody := domain.Scope{Company: 1, Groups: []int64{1}}
	if n, err := store.Count(t.Context(), nobody, domain.Listing{}); n != 0 || err != nil {
		t.Errorf("a caller who is no user sees %d reports of nobody: %v", n, err)
	}
	pool.MustExec(`UPDATE reports SET owner_id = 7`)
	for name, do := range map[string]func() error{
		"edit": func() error {
			_, err := store.Edit(t.Context(), ofGroups, made.ReportID, rules.Edit{Hour: new(8)})
			return err
		},
		"send":   func() error { _, err := store.Send(t.Context(), ofGroups, made.ReportID); return err },
		"remove": func() error { _, err := store.Remove(t.Context(), ofGroups, made.ReportID); return err },
	} {
		if err := do(); fleettest.KindOf(err) != domain.KindNotFound {
			t.Errorf("%s by a user of groups: %v", name, err)
		}
	}
	if _, err := store.Edit(t.Context(), other, made.ReportID, rules.Edit{Recipients: &[]string{"b@acme.example"}}); fleettest.KindOf(err) != domain.KindForbidden {
		t.Errorf("another changed the recipients: %v", err)
	}
	if _, err := store.Send(t.Context(), other, made.ReportID); fleettest.KindOf(err) != domain.KindForbidden {
		t.Errorf("another sent it: %v", err)
	}
	paused, err := store.Edit(t.Context(), other, made.ReportID, rules.Edit{IsPaused: new(true)})
	fatal.If(t, err)
	if paused.NextDueAt != nil {
		t.Error("a paused report is due")
	}
	if _, err := store.Send(t.Context(), owner, made.ReportID); fleettest.KindOf(err) != domain.KindInvalid {
		t.Errorf("a paused report was sent: %v", err)
	}
	again, err := store.Edit(t.Context(), owner, made.ReportID, rules.Edit{IsPaused: new(false), Hour: new(12)})
	fatal.If(t, err)
	if want := time.Date(2026, 11, 5, 12, 0, 0, 0, time.UTC); again.NextDueAt == nil || !again.NextDueAt.Equal(want) {
		t.Errorf("due at %v, not %v", again.NextDueAt, want)
	}
	sent, err := store.Send(t.Context(), owner, made.ReportID)
	fatal.If(t, err)
	if !sent.NextDueAt.Equal(f.now) {
		t.Errorf("sent now, and due at %v", sent.NextDueAt)
	}
	pool.MustExec(`INSERT INTO mails (company_id, mail_id, recipient_id, email, kind, due_at, created_at, report_id, report_due_at)
SELECT 1, gen_random_uuid(), 0, 'a@acme.example', 'report', now(), now(), report_id, now() FROM reports`)
	_, err = store.Remove(t.Context(), other, made.ReportID)
	fatal.If(t, err)
	var waiting int
	fatal.If(t, pool.Get(&waiting, `SELECT count(*) FROM mails WHERE state = 'queued'`))
	if waiting != 0 {
		t.Error("a mail of a deleted report waits")
	}
}

// What a bundle brings is paused, leaves alone what is as it was, and takes back no wish to
// get no more mail.
func TestImportedReportsArePaused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	store, owner := f.store, f.owner
	const id = "01900000-0000-7000-8000-000000000003"
	bundled := rules.Report{
		ReportID: id, Topic: rules.Topic{DashboardID: new("01900000-0000-7000-8000-000000000002")}, Schedule: rules.Schedule{Frequency: rules.Daily, Hour: 7},
		Recipients: []string{"a@acme.example", "b@acme.example"}, Unsubscribed: []string{"b@acme.example"}, Owner: "a@acme.example", IsPaused: true,
	}
	keep := func(of rules.Report, want domain.Outcome, isPaused bool, unsubscribed int) {
		t.Helper()
		kept, err := store.Keep(t.Context(), owner, []*rules.Report{&of})
		fatal.If(t, err)
		found, err := store.FindMany(t.Context(), owner, []string{id})
		fatal.If(t, err)
		if is := found[id]; kept[0].Outcome != want || is.IsPaused != isPaused || (is.NextDueAt == nil) != isPaused || is.OwnerID != 7 || len(is.Unsubscribed) != unsubscribed {
			t.Errorf("%v: %+v", kept, is)
		}
	}
	keep(bundled, domain.Created, true, 1)
	_, err := store.Edit(t.Context(), owner, id, rules.Edit{IsPaused: new(false)})
	fatal.If(t, err)
	keep(bundled, domain.Unchanged, false, 1)
	bundled.Unsubscribed = nil
	keep(bundled, domain.Unchanged, false, 1)
	bundled.Unsubscribed, bundled.Hour = []string{"a@acme.example"}, 8
	keep(bundled, domain.Updated, true, 2)
}
