package scaleout

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/dbtest"
	"simgraph/db/pg"
	"simgraph/db/usage"
	"simgraph/domain"
	"simgraph/internal/command"
	"simgraph/internal/fatal"
)

// aging is a database whose clocks run through a year.
type aging struct {
	*testing.T
	pool   *sqlx.DB
	scope  domain.Scope
	now    time.Time
	usage  *usage.Store
	ledger *usage.Ledger
	fleet  []string
	// did are the steps of the upkeep, by day.
	did []string
	// longest is the time that a day's upkeep took at most.
	longest time.Duration
}

const retained = 3

func newAging(t *testing.T, url string, began time.Time) *aging {
	t.Helper()
	demo := command.Demo{Company: "demo", Subscribers: 10, Seed: 1, Until: began.Format(time.RFC3339)}
	fatal.If(t, demo.Run(t.Context(), environment(t, url, io.Discard)))
	a := &aging{T: t, pool: open(t, url, pg.Options{MaxConns: 4}), now: began}
	clock := func() time.Time { return a.now }
	a.usage = usage.New(a.pool, nil, usage.Options{Now: clock})
	a.ledger = usage.NewLedger(a.pool, usage.LedgerOptions{Now: clock, DatabaseNow: clock})
	var company int64
	fatal.If(t, a.pool.GetContext(t.Context(), &company, `SELECT company_id FROM company_lookup WHERE external_id = 'demo'`))
	a.scope = domain.Whole(domain.CompanyID(company))
	fatal.If(t, a.pool.SelectContext(t.Context(), &a.fleet, `SELECT physical_id FROM subscribers WHERE company_id = $1 ORDER BY 1`, company))
	fatal.If(t, a.ledger.SetRetention(t.Context(), &domain.Actor{Name: "operator"}, retained))
	return a
}

// day books usage, makes months ahead, and runs the upkeep of a day.
func (a *aging) day(n int) {
	a.Helper()
	record := domain.UsageRecord{
		RecordID: fmt.Sprint(n), Source: "pgw", PhysicalID: a.fleet[n%len(a.fleet)], StartedAt: a.now.Add(-2 * time.Minute), EndedAt: a.now.Add(-time.Minute),
		MobileOriginated: int64(1 + n), Protocol: "TCP",
	}
	if booked, err := a.usage.Record(a.Context(), a.scope, []domain.UsageRecord{record}); err != nil || booked[0].Status != domain.UsageAccepted {
		a.Fatalf("day %d: %v, %v", n, booked, err)
	}
	began := time.Now()
	fatal.If(a, a.usage.EnsurePartitions(a.Context()))
	steps, err := a.ledger.Upkeep(a.Context(), &domain.Actor{Name: "operator"})
	if err != nil {
		a.Fatalf("day %d: %v", n, err)
	}
	for _, step := range steps {
		a.did = append(a.did, fmt.Sprintf("day %d: %s, held %t", n, step, step.Held))
	}
	a.longest = max(a.longest, time.Since(began))
	a.now = a.now.AddDate(0, 0, 1)
}

// left is what the database has after it all: the months, the records of each, and totals.
func (a *aging) left() (lines []string) {
	a.Helper()
	status, err := a.ledger.Status(a.Context())
	fatal.If(a, err)
	for _, month := range status.Months {
		lines = append(lines, fmt.Sprintf("%s stored %t detached %t dropped %t", month.Month.Format(domain.MonthLayout), month.Stored(), !month.DetachedAt.IsZero(), !month.DroppedAt.IsZero()))
	}
	for _, sql := range []string{
		`SELECT to_char(started_at AT TIME ZONE 'UTC', 'YYYY-MM') || ' records ' || count(*) FROM usage_records WHERE company_id = $1 GROUP BY to_char(started_at AT TIME ZONE 'UTC', 'YYYY-MM') ORDER BY 1`,
		`SELECT to_char(period_start AT TIME ZONE 'UTC', 'YYYY-MM') || ' sent ' || sum(mobile_originated) FROM subscriber_periods WHERE company_id = $1 GROUP BY period_start ORDER BY 1`,
		`SELECT to_char(day, 'YYYY-MM') || ' by days ' || sum(mobile_originated) FROM subscriber_days WHERE company_id = $1 GROUP BY to_char(day, 'YYYY-MM') ORDER BY 1`,
	} {
		var rows []string
		fatal.If(a, a.pool.SelectContext(a.Context(), &rows, sql, a.scope.Company))
		lines = append(lines, rows...)
	}
	return lines
}

// A year of days leaves the same on a plain database and on Citus: months are made ahead,
// announced, detached and dropped, and totals outlast them.
func TestAYearOfHousekeepingIsTheSameOnCitus(t *testing.T) {
	dbtest.WithoutCitus(t, "it compares with a plain database")
	if testing.Short() {
		t.Skip("it is a test of statements: the race detector finds nothing in it")
	}
	t.Parallel()
	nodes := dbtest.NewCluster(t, 2, nil)
	began := time.Now().UTC().Truncate(24 * time.Hour)
	plain, distributed := newAging(t, dbtest.URL(t), began), newAging(t, nodes.URL, began)
	for n := range 366 + 31*retained {
		plain.day(n)
		distributed.day(n)
	}
	if one, other := strings.Join(plain.did, "\n"), strings.Join(distributed.did, "\n"); one != other || strings.Count(one, ": drop ") < 11 {
		t.Errorf("plain did\n%s\nand Citus\n%s", one, other)
	}
	if one, other := strings.Join(plain.left(), "\n"), strings.Join(distributed.left(), "\n"); one != other {
		t.Errorf("plain has\n%s\nand Citus\n%s", one, other)
	}
	t.Logf("%d steps; a day took at most %v on plain, %v on Citus", len(plain.did), plain.longest, distributed.longest)
}
