package usage_test

import (
	"testing"
	"time"

	"simgraph/db/dbtest"
	"simgraph/db/fleettest"
	"simgraph/db/pg"
	"simgraph/db/usage"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

// Usage by source is read from the ledger, of which a month is read once, however many
// members a group has.
func TestTheLedgerIsReadOnceForTheSourcesOfAGroup(t *testing.T) {
	dbtest.WithoutCitus(t, "counters of PostgreSQL")
	t.Parallel()
	pool, err := pg.Open(t.Context(), dbtest.URL(t), pg.Options{MaxConns: 1})
	fatal.If(t, err)
	t.Cleanup(func() { _ = pool.Close() })
	f := newUsageFleetOn(t, pool, "acme", 600)
	from := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	var records []domain.UsageRecord
	for name := range f.Keys {
		for n := range 5 {
			records = append(records, fleettest.UsageOf(name, name+string(rune('a'+n)), from.Add(time.Duration(n+len(records))*time.Minute)))
		}
	}
	f.Record(records...)
	// Thirty groups of twenty.
	pool.MustExec(`UPDATE group_memberships SET group_id = 1 + (subscriber_key % 30) WHERE company_id = $1`, f.Scope.Company)
	pool.MustExec(`ANALYZE`)
	reads := func() (n int) {
		pool.MustExec(`SELECT pg_stat_force_next_flush()`)
		fatal.If(t, pool.Get(&n, `SELECT sum(seq_scan + coalesce(idx_scan, 0)) FROM pg_stat_user_tables WHERE relname ~ '^usage_records_'`))
		return n
	}
	before := reads()
	group := domain.Subject{Kind: domain.GroupSubject, ID: 7}
	span := domain.Range{Start: from, End: from.AddDate(0, 0, 20)}
	shares, err := usage.NewAnalytics(f.Usage).Breakdown(t.Context(), f.Scope, []domain.Subject{group}, span, domain.BySource, 10)
	if err != nil || len(shares[group]) != 1 || shares[group][0].Volume.Total() != 20*5*110 {
		t.Fatalf("%+v, %v", shares[group], err)
	}
	if n := reads() - before; n < 1 || n > 2 {
		t.Errorf("the ledger is read %d times", n)
	}
}
