package report_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"simgraph/db/fleettest"
	"simgraph/db/pg"
	"simgraph/db/report"
	"simgraph/domain"
	rules "simgraph/domain/report"
	"simgraph/internal/fatal"
)

const lease = time.Minute

func (f *fixture) claim() *rules.Due {
	f.t.Helper()
	due, err := f.store.Claim(f.t.Context(), 1, lease)
	fatal.If(f.t, err)
	return due
}

func (f *fixture) issue(due *rules.Due) bool {
	f.t.Helper()
	isOurs, err := f.store.Issue(f.t.Context(), due, &rules.Issue{DueAt: *due.NextDueAt}, f.now.Add(24*time.Hour))
	fatal.If(f.t, err)
	return isOurs
}

func (f *fixture) mails(state string) (of []string) {
	f.t.Helper()
	fatal.If(f.t, f.pool.Select(&of, `SELECT email FROM mails WHERE state = $1 ORDER BY email`, state))
	return of
}

// One worker has a report until its lease ends. What a slower one does with it then, or with
// one that was changed meanwhile, is not done, and no other report is touched.
func TestASlowWorkerChangesNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	topic := f.question(true)
	first, second := f.create(topic, "a@acme.example"), f.create(topic, "b@acme.example")
	f.now = *first.NextDueAt
	slow, beside := f.claim(), f.claim()
	if f.claim() != nil || slow.ReportID == beside.ReportID {
		t.Fatal("two workers have a report")
	}
	f.now = f.now.Add(lease)
	again := f.claim()
	if again == nil || again.ReportID != slow.ReportID || again.Claim == slow.Claim {
		t.Fatalf("after the lease there is %+v", again)
	}
	before := []*rules.Report{f.find(first.ReportID), f.find(second.ReportID)}
	if f.issue(slow) {
		t.Error("the slow worker issues the report")
	}
	fatal.If(t, f.store.End(t.Context(), 1, slow, rules.PermissionLost))
	fatal.If(t, f.store.Fail(t.Context(), 1, slow, rules.Failure{Reason: "slow", Failures: 1, NextDueAt: f.now}))
	if _, err := f.store.Edit(t.Context(), f.owner, beside.ReportID, rules.Edit{Hour: new(9)}); err != nil {
		t.Fatal(err)
	}
	before[slices.IndexFunc(before, func(r *rules.Report) bool { return r.ReportID == beside.ReportID })] = f.find(beside.ReportID)
	if f.issue(beside) {
		t.Error("a report is issued that was changed meanwhile")
	}
	for _, was := range before {
		if is := f.find(was.ReportID); len(domain.Differences(was, is, rules.Audited)) > 0 || !is.NextDueAt.Equal(*was.NextDueAt) || is.LastSentAt != nil || is.LastFailure != nil || is.EndedAt != nil {
			t.Errorf("%+v became %+v", was, is)
		}
	}
	if got := f.mails("queued"); len(got) > 0 {
		t.Errorf("mails wait: %v", got)
	}
	if !f.issue(again) {
		t.Error("the report of the second worker is not issued")
	}
	if got := f.mails("queued"); !slices.Equal(got, again.Recipients) || len(got) != 1 {
		t.Errorf("mails wait for %v", got)
	}
	if sent := f.find(again.ReportID); sent.LastSentAt == nil || !sent.NextDueAt.Equal(f.now.Add(24*time.Hour)) {
		t.Errorf("issued, and then %+v", sent)
	}
	if other := f.find(beside.ReportID); other.LastSentAt != nil {
		t.Error("another report is sent, too")
	}
}

// An answer that failed is tried again after its pause, and one whose owner may not ask ends
// its report alone.
func TestAFailureAndAnEndAreOfOneReport(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	topic := f.question(true)
	f.now = *f.create(topic, "a@acme.example").NextDueAt
	f.create(topic, "b@acme.example")
	failed := f.claim()
	fatal.If(t, f.store.Fail(t.Context(), 1, failed, rules.Failure{Reason: "down", Failures: 1, NextDueAt: *failed.NextDueAt, Again: new(f.now.Add(time.Minute))}))
	if f.claim() != nil {
		t.Error("an answer that failed is tried again at once")
	}
	f.now = f.now.Add(time.Minute)
	again := f.claim()
	if again == nil || again.Failures != 1 || *again.LastFailure != "down" {
		t.Fatalf("after the pause there is %+v", again)
	}
	fatal.If(t, f.store.End(t.Context(), 1, again, rules.PermissionLost))
	if is := f.find(again.ReportID); is.EndedReason == nil || *is.EndedReason != rules.PermissionLost || is.NextDueAt != nil {
		t.Errorf("ended, and then %+v", is)
	}
	var running int
	fatal.If(t, f.pool.Get(&running, `SELECT count(*) FROM reports WHERE ended_at IS NULL AND next_due_at IS NOT NULL`))
	if running != 1 {
		t.Errorf("%d reports go on", running)
	}
}

// Who unsubscribes gets no mail of that report, also none that waits; others do.
func TestUnsubscribingIsOfOneRecipientOfOneReport(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	topic := f.question(true)
	f.now = *f.create(topic, "a@acme.example", "b@acme.example").NextDueAt
	left := f.claim()
	f.issue(left)
	f.now = f.now.Add(-time.Hour)
	f.create(topic, "a@acme.example")
	f.now = f.now.Add(time.Hour)
	f.issue(f.claim())
	asks := func(email string) error {
		return f.store.Unsubscribe(t.Context(), 1, left.ReportID, func(address string, secret []byte) bool { return address == email && string(secret) == "secret" })
	}
	if err := asks("a@acme.example"); fleettest.KindOf(err) != domain.KindNotFound {
		t.Errorf("without a secret of the company: %v", err)
	}
	f.pool.MustExec(`INSERT INTO mail_keys (company_id, secret) VALUES (1, 'secret')`)
	if err := asks("c@acme.example"); fleettest.KindOf(err) != domain.KindNotFound {
		t.Errorf("an address that is no recipient: %v", err)
	}
	if got := f.mails("queued"); len(got) != 3 {
		t.Fatalf("mails wait for %v", got)
	}
	for range 2 {
		fatal.If(t, asks("a@acme.example"))
		if is := f.find(left.ReportID); !slices.Equal(is.Unsubscribed, []string{"a@acme.example"}) {
			t.Errorf("unsubscribed are %v", is.Unsubscribed)
		}
	}
	if got := f.mails("queued"); !slices.Equal(got, []string{"a@acme.example", "b@acme.example"}) {
		t.Errorf("mails wait for %v", got)
	}
}

// A report goes to enabled users and to recipients of alerts that take mail; that of a user of
// groups to its owner. Who is no such any more stays until the recipients are edited.
func TestReportsGoToTheCompanyAlone(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.pool.MustExec(`INSERT INTO alert_recipients (company_id, recipient_id, email, email_key, suppressed_reason, suppressed_since)
VALUES (1, 1, 'r@acme.example', 'r@acme.example', NULL, NULL), (1, 2, 'x@acme.example', 'x@acme.example', 'refused', now())`)
	topic := f.question(true)
	ofGroups := domain.Scope{Company: 1, Groups: []int64{1}, Actor: f.owner.Actor}
	for _, c := range []struct {
		scope   domain.Scope
		address string
		refusal string
	}{
		{f.owner, "b@acme.example", ""},
		{f.owner, "r@acme.example", ""},
		{f.owner, "x@acme.example", "no enabled user of the company and no recipient"},
		{f.owner, "else@where.example", "no enabled user of the company and no recipient"},
		{ofGroups, "a@acme.example", ""},
		{ofGroups, "b@acme.example", "is not your address"},
		{ofGroups, "r@acme.example", "is not your address"},
	} {
		_, err := f.store.Create(t.Context(), c.scope, daily(topic, c.address))
		if (err == nil) != (c.refusal == "") || err != nil && (fleettest.KindOf(err) != domain.KindInvalid || !strings.Contains(err.Error(), c.refusal)) {
			t.Errorf("%s, restricted %t: %v", c.address, c.scope.Restricted(), err)
		}
	}
	made := f.create(topic, "b@acme.example")
	f.pool.MustExec(`UPDATE users SET disabled = true WHERE user_id = 8`)
	if _, err := f.store.Edit(t.Context(), f.owner, made.ReportID, rules.Edit{Hour: new(9)}); err != nil {
		t.Errorf("a recipient of before is refused: %v", err)
	}
	f.now = *f.find(made.ReportID).NextDueAt
	for due := f.claim(); due != nil; due = f.claim() {
		if slices.Contains(due.Recipients, "b@acme.example") {
			t.Error("a disabled user gets a report")
		}
	}
}

// A bundle has the reports of what the company shares, and none of what a user keeps.
func TestReportsOfPrivateTopicsAreNotExported(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.create(f.question(false), "a@acme.example")
	f.create(f.dashboard(false), "a@acme.example")
	shared := []string{f.create(f.question(true), "a@acme.example").ReportID, f.create(f.dashboard(true), "a@acme.example").ReportID}
	rows, err := pg.SelectAll[report.Row](t.Context(), f.pool, report.ExportReports, 1)
	fatal.If(t, err)
	var exported []string
	for _, row := range rows {
		exported = append(exported, row.Exported().ReportID)
	}
	slices.Sort(shared)
	if !slices.Equal(exported, shared) {
		t.Errorf("exported are %v, and shared %v", exported, shared)
	}
}
