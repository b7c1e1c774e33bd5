package fleettest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/dbtest"
	"simgraph/db/mail"
	"simgraph/db/pg"
	"simgraph/db/usage"
	"simgraph/db/volume"
	"simgraph/domain"
	"simgraph/domain/query"
	"simgraph/domain/retention"
	"simgraph/internal/fatal"
)

// Fleet is a company with a clock, two groups and some subscribers. Subscriber
// n has the key n, the physicalId "p<n>" and the subscriberId "s<n>".
type Fleet struct {
	T          testing.TB
	Pool       *sqlx.DB
	URL        string
	Company    *domain.Company
	Now        time.Time
	Alerts     *volume.Alerts
	Recipients *mail.Recipients
	Log        *volume.Log
	Outbox     *mail.Outbox
}

// The groups of the fleet.
const (
	Vans  = int64(12)
	Boats = int64(13)
)

// NewFleet puts subscribers 1 to 4 into vans, 5 to 8 into boats, 9 and 10 into
// no group.
func NewFleet(t testing.TB, billingDay int, zone string, now time.Time) *Fleet {
	t.Helper()
	url := dbtest.URL(t)
	pool, err := pg.Open(t.Context(), url, pg.Options{})
	fatal.If(t, err)
	t.Cleanup(func() { _ = pool.Close() })
	f := &Fleet{
		T: t, Pool: pool, URL: url, Now: now,
		Company: &domain.Company{CompanyID: 1, ExternalID: "acme", Name: "Acme", BillingDay: billingDay, TimeZone: zone},
		Log:     volume.NewLog(pool),
	}
	clock := func() time.Time { return f.Now }
	f.Alerts, f.Recipients, f.Outbox = volume.NewAlerts(pool, clock), mail.NewRecipients(pool, clock), mail.NewOutbox(pool, clock)
	pool.MustExec(`INSERT INTO company_lookup (external_id, company_id) OVERRIDING SYSTEM VALUE VALUES ('acme', 1)`)
	pool.MustExec(`INSERT INTO companies VALUES (1, 'acme', 'Acme', $1, $2)`, billingDay, zone)
	pool.MustExec(`INSERT INTO operators VALUES ('23415', 'Vodafone UK')`)
	pool.MustExec(`INSERT INTO tariffs VALUES (1, 'IoT 50', 150, 'GBP')`)
	pool.MustExec(`INSERT INTO groups VALUES (1, 12, 'Vans', false), (1, 13, 'Boats', false)`)
	f.AddSubscribers(1, 4, Vans)
	f.AddSubscribers(5, 8, Boats)
	f.AddSubscribers(9, 10, 0)
	return f
}

// AddSubscribers makes the subscribers from to to, in a group or, for 0, in none.
func (f *Fleet) AddSubscribers(from, to int, group int64) {
	f.Pool.MustExec(`
INSERT INTO subscribers (company_id, key, kind, physical_id, subscriber_id, imsi, nickname, operator_code, tariff_name, connection_date,
  expiry_date, contract_length, is_barred, is_active, group_id, subscriber_type, is_transferring, is_online)
SELECT 1, n, 'cellular', 'p' || n, 's' || n, '', 'van ' || n, '23415', 'IoT 50', '2024-01-01Z', '2027-01-01Z', 36, false, true,
  nullif($3, 0), 'physical', false, false
FROM generate_series($1::bigint, $2) AS n`, from, to, group)
	f.Pool.MustExec(`
INSERT INTO group_memberships (company_id, subscriber_key, since, group_id)
SELECT 1, n, '2024-01-01Z', nullif($3, 0) FROM generate_series($1::bigint, $2) AS n`, from, to, group)
}

// Whole is the scope that shows all of the company.
func (f *Fleet) Whole() domain.Scope { return domain.Whole(1) }

// Only is the scope of a user of groups.
func Only(groups ...int64) domain.Scope { return domain.Scope{Company: 1, Groups: groups} }

// Use books bytes of a subscriber at a time, as the ledger does: the group is
// the one that the subscriber is in now.
func (f *Fleet) Use(key, bytes int64, at time.Time) {
	f.T.Helper()
	ctx := f.T.Context()
	tx := f.Pool.MustBeginTx(ctx, nil)
	defer func() { _ = tx.Rollback() }()
	start := f.Company.Billing().PeriodAt(at).Start
	add := func(table, column, lastSeen string, id int64) usage.TotalChange {
		var after int64
		seen, now := "", ""
		if lastSeen != "" {
			seen, now = ", "+lastSeen, ", now()"
		}
		fatal.If(f.T, tx.GetContext(ctx, &after, fmt.Sprintf(`
INSERT INTO %[1]s AS t (company_id, period_start, %[2]s, mobile_originated, mobile_terminated%[3]s) VALUES (1, $1, $2, $3, 0%[4]s)
ON CONFLICT (company_id, period_start, %[2]s) DO UPDATE SET mobile_originated = t.mobile_originated + excluded.mobile_originated
RETURNING mobile_originated`, table, column, seen, now), start, id, bytes))
		return usage.TotalChange{ID: id, PeriodStart: start, Before: after - bytes, After: after}
	}
	subscribers := []usage.TotalChange{add("subscriber_periods", "subscriber_key", "last_seen", key)}
	var groups []usage.TotalChange
	var group *int64
	fatal.If(f.T, tx.GetContext(ctx, &group, `SELECT group_id FROM subscribers WHERE key = $1`, key))
	if group != nil {
		groups = append(groups, add("group_periods", "group_id", "", *group))
	}
	f.Book(tx, subscribers, groups)
	fatal.If(f.T, tx.Commit())
}

// Book evaluates alerts as the booking of usage does.
func (f *Fleet) Book(tx *sqlx.Tx, subscribers, groups []usage.TotalChange) {
	f.T.Helper()
	evaluator := volume.NewEvaluator(func() time.Time { return f.Now })
	fatal.If(f.T, evaluator.UsageBooked(f.T.Context(), tx, f.Company, subscribers, groups))
}

// Create makes an alert.
func (f *Fleet) Create(rule domain.RuleType, target string, lower, upper int64) *domain.VolumeAlert {
	f.T.Helper()
	alert, err := f.Alerts.Create(f.T.Context(), f.Whole(), domain.AlertSpec{RuleType: rule, Target: target, LowerThreshold: lower, UpperThreshold: upper})
	fatal.If(f.T, err)
	return alert
}

// Fired lists the log, oldest first: alert, boundary, whose usage, and what is
// particular.
func (f *Fleet) Fired() []string {
	f.T.Helper()
	slice, err := f.Log.List(f.T.Context(), f.Whole(), domain.Listing{Page: domain.Page{Limit: domain.MaxLogList}})
	fatal.If(f.T, err)
	var lines []string
	for i := len(slice.Items) - 1; i >= 0; i-- {
		e := slice.Items[i]
		line := fmt.Sprintf("%s %s %s", e.RuleType, e.Target, e.LimitBoundary)
		if e.SubscriberKey != nil {
			line += fmt.Sprintf(" of p%d", *e.SubscriberKey)
		}
		line += fmt.Sprintf(" at %d", e.Usage)
		if e.IsLate {
			line += " late"
		}
		if e.NotificationID == nil {
			line += " unmailed"
		}
		lines = append(lines, line)
	}
	return lines
}

// Same fails the test when two values differ.
func Same[T comparable](t testing.TB, got, want T) {
	t.Helper()
	if got != want {
		t.Fatalf("got %v, want %v", got, want)
	}
}

// SameLines fails the test when the lines differ.
func SameLines(t testing.TB, got []string, want ...string) {
	t.Helper()
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Fatalf("got\n%q\nwant\n%q", got, want)
	}
}

// ClockAt is a moment in UTC, such as 2026-11-01 00:00.
func ClockAt(text string) time.Time {
	at, err := time.Parse("2006-01-02 15:04", text)
	if err != nil {
		panic(err)
	}
	return at
}

// KindOf is the kind of an error of the domain, the text of another one, "" for none.
func KindOf(err error) domain.ErrorKind {
	if fault, is := domain.AsError(err); is {
		return fault.Kind
	}
	if err != nil {
		return domain.ErrorKind(err.Error())
	}
	return ""
}

// Equal is the condition that a field has a value.
func Equal(t *testing.T, fields query.Fields, name string, value any) query.Expr {
	t.Helper()
	expr, err := query.Compare(fields, name, query.Eq, value)
	fatal.If(t, err)
	return expr
}

// Expired is the moment before which a kind of data is deleted by a retention.
func Expired(t *testing.T, name retention.Name, kept int, now time.Time) retention.Expired {
	t.Helper()
	moment, expires := retention.InForce{Kind: retention.Of(name), Kept: kept}.Expired(now)
	if !expires {
		t.Fatalf("%s are kept for ever", name)
	}
	return moment
}

// Mailed gathers the mails and returns what each recipient gets.
func (f *Fleet) Mailed() map[string]string {
	f.T.Helper()
	digest := domain.Digest{HourlyCap: 9, MaxEntries: 99}
	f.Now = f.Now.Add(time.Second)
	fatal.If(f.T, f.Outbox.Gather(f.T.Context(), 1, digest))
	mails, err := f.Outbox.Claim(f.T.Context(), 1, digest, 99, time.Minute)
	fatal.If(f.T, err)
	got := map[string]string{}
	for _, mail := range mails {
		var entries []string
		for _, e := range mail.Entries {
			who := e.SubscriberID
			if e.GroupID != nil {
				who = fmt.Sprint(*e.GroupID)
			}
			entries = append(entries, fmt.Sprintf("%s %s", e.RuleType, who))
		}
		slices.Sort(entries)
		for _, entry := range mail.ConditionEntries {
			entries = append(entries, "silent "+entry.Target)
		}
		if mail.Total != len(entries) {
			f.T.Errorf("%s: %d of %d", mail.Email, len(entries), mail.Total)
		}
		text := ""
		for i, entry := range entries {
			if i > 0 {
				text += ", "
			}
			text += entry
		}
		got[mail.Email] = text
	}
	return got
}
