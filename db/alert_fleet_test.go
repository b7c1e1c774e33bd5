package db_test

import (
	"fmt"
	"simgraph/db/mail"
	"simgraph/db/usage"
	"simgraph/db/volume"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/dbtest"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

// fleet is a company with a clock, two groups and some subscribers. Subscriber
// n has the key n, the physicalId "p<n>" and the subscriberId "s<n>".
type fleet struct {
	t          testing.TB
	pool       *sqlx.DB
	url        string
	company    *domain.Company
	now        time.Time
	alerts     *volume.Alerts
	recipients *mail.Recipients
	log        *volume.Log
	outbox     *mail.Outbox
}

const (
	vans  = int64(12)
	boats = int64(13)
)

// newFleet puts subscribers 1 to 4 into vans, 5 to 8 into boats, 9 and 10 into
// no group.
func newFleet(t testing.TB, billingDay int, zone string, now time.Time) *fleet {
	t.Helper()
	url := dbtest.URL(t)
	pool, err := pg.Open(t.Context(), url, pg.Options{})
	fatal.If(t, err)
	t.Cleanup(func() { _ = pool.Close() })
	f := &fleet{
		t: t, pool: pool, url: url, now: now,
		company: &domain.Company{CompanyID: 1, ExternalID: "acme", Name: "Acme", BillingDay: billingDay, TimeZone: zone},
		log:     volume.NewLog(pool),
	}
	clock := func() time.Time { return f.now }
	f.alerts, f.recipients, f.outbox = volume.NewAlerts(pool, clock), mail.NewRecipients(pool, clock), mail.NewOutbox(pool, clock)
	pool.MustExec(`INSERT INTO company_lookup (external_id, company_id) OVERRIDING SYSTEM VALUE VALUES ('acme', 1)`)
	pool.MustExec(`INSERT INTO companies VALUES (1, 'acme', 'Acme', $1, $2)`, billingDay, zone)
	pool.MustExec(`INSERT INTO operators VALUES ('23415', 'Vodafone UK')`)
	pool.MustExec(`INSERT INTO tariffs VALUES (1, 'IoT 50', 150, 'GBP')`)
	pool.MustExec(`INSERT INTO groups VALUES (1, 12, 'Vans', false), (1, 13, 'Boats', false)`)
	f.addSubscribers(1, 4, vans)
	f.addSubscribers(5, 8, boats)
	f.addSubscribers(9, 10, 0)
	return f
}

func (f *fleet) addSubscribers(from, to int, group int64) {
	f.pool.MustExec(`
INSERT INTO subscribers (company_id, key, kind, physical_id, subscriber_id, imsi, nickname, operator_code, tariff_name, connection_date,
  expiry_date, contract_length, is_barred, is_active, group_id, subscriber_type, is_transferring, is_online)
SELECT 1, n, 'cellular', 'p' || n, 's' || n, '', 'van ' || n, '23415', 'IoT 50', '2024-01-01Z', '2027-01-01Z', 36, false, true,
  nullif($3, 0), 'physical', false, false
FROM generate_series($1::bigint, $2) AS n`, from, to, group)
	f.pool.MustExec(`
INSERT INTO group_memberships (company_id, subscriber_key, since, group_id)
SELECT 1, n, '2024-01-01Z', nullif($3, 0) FROM generate_series($1::bigint, $2) AS n`, from, to, group)
}

func (f *fleet) whole() domain.Scope { return domain.Whole(1) }

// only is the scope of a user of groups.
func only(groups ...int64) domain.Scope { return domain.Scope{Company: 1, Groups: groups} }

// use books bytes of a subscriber at a time, as the ledger does: the group is
// the one that the subscriber is in now.
func (f *fleet) use(key, bytes int64, at time.Time) {
	f.t.Helper()
	ctx := f.t.Context()
	tx := f.pool.MustBeginTx(ctx, nil)
	defer tx.Rollback()
	start := f.company.Billing().PeriodAt(at).Start
	add := func(table, column, lastSeen string, id int64) usage.TotalChange {
		var after int64
		seen, now := "", ""
		if lastSeen != "" {
			seen, now = ", "+lastSeen, ", now()"
		}
		fatal.If(f.t, tx.GetContext(ctx, &after, fmt.Sprintf(`
INSERT INTO %[1]s AS t (company_id, period_start, %[2]s, mobile_originated, mobile_terminated%[3]s) VALUES (1, $1, $2, $3, 0%[4]s)
ON CONFLICT (company_id, period_start, %[2]s) DO UPDATE SET mobile_originated = t.mobile_originated + excluded.mobile_originated
RETURNING mobile_originated`, table, column, seen, now), start, id, bytes))
		return usage.TotalChange{ID: id, PeriodStart: start, Before: after - bytes, After: after}
	}
	subscribers := []usage.TotalChange{add("subscriber_periods", "subscriber_key", "last_seen", key)}
	var groups []usage.TotalChange
	var group *int64
	fatal.If(f.t, tx.GetContext(ctx, &group, `SELECT group_id FROM subscribers WHERE key = $1`, key))
	if group != nil {
		groups = append(groups, add("group_periods", "group_id", "", *group))
	}
	f.book(tx, subscribers, groups)
	fatal.If(f.t, tx.Commit())
}

// book evaluates alerts as the booking of usage does.
func (f *fleet) book(tx *sqlx.Tx, subscribers, groups []usage.TotalChange) {
	f.t.Helper()
	evaluator := volume.NewEvaluator(func() time.Time { return f.now })
	fatal.If(f.t, evaluator.UsageBooked(f.t.Context(), tx, f.company, subscribers, groups))
}

func (f *fleet) create(rule domain.RuleType, target string, lower, upper int64) *domain.VolumeAlert {
	f.t.Helper()
	alert, err := f.alerts.Create(f.t.Context(), f.whole(), domain.AlertSpec{RuleType: rule, Target: target, LowerThreshold: lower, UpperThreshold: upper})
	fatal.If(f.t, err)
	return alert
}

// fired lists the log, oldest first: alert, boundary, whose usage, and what is
// particular.
func (f *fleet) fired() []string {
	f.t.Helper()
	slice, err := f.log.List(f.t.Context(), f.whole(), domain.Listing{Page: domain.Page{Limit: domain.MaxLogList}})
	fatal.If(f.t, err)
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

func same[T comparable](t testing.TB, got, want T) {
	t.Helper()
	if got != want {
		t.Fatalf("got %v, want %v", got, want)
	}
}

func sameLines(t testing.TB, got []string, want ...string) {
	t.Helper()
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Fatalf("got\n%q\nwant\n%q", got, want)
	}
}

func clockAt(text string) time.Time {
	at, err := time.Parse("2006-01-02 15:04", text)
	if err != nil {
		panic(err)
	}
	return at
}
