package usage_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	"simgraph/db/dbtest"
	"simgraph/db/fleettest"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

// usageGen draws records of the fleet with few ids, sessions and hours, so that
// duplicates, conflicts and sessions of many records are common.
func usageGen(f *usageFleet) *rapid.Generator[domain.UsageRecord] {
	ids := append(slices.Sorted(maps.Keys(f.Keys)), "unknown")
	addresses := []netip.Addr{{}, netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("2001:db8::7")}
	return rapid.Custom(func(t *rapid.T) domain.UsageRecord {
		id := rapid.IntRange(0, 400).Draw(t, "id")
		// Most of a record follows from its id; sometimes it is another.
		r := rand.New(rand.NewPCG(uint64(id), uint64(rapid.SampledFrom([]int{0, 0, 0, 0, 0, 0, 0, 0, 1}).Draw(t, "version"))))
		started := fleettest.UsageNow.Add(-time.Duration(r.IntN(70*24*60)) * time.Minute)
		return domain.UsageRecord{
			RecordID: fmt.Sprint(id), Source: "pgw", PhysicalID: ids[r.IntN(len(ids))],
			SessionID: []string{"", "a", "b", "c"}[r.IntN(4)], Sequence: r.IntN(3),
			StartedAt: started, EndedAt: started.Add(time.Duration(r.IntN(int(fleettest.UsageNow.Sub(started)/time.Second)+1)) * time.Second),
			MobileOriginated: int64(r.IntN(3)) * 100, MobileTerminated: r.Int64N(1 << 40),
			Protocol: []string{"TCP", "UDP", "ICMP"}[r.IntN(3)], IPAddress: addresses[r.IntN(3)],
		}
	})
}

// ledgerModel is what the totals must be, from the records that were accepted.
type ledgerModel struct {
	mu      sync.Mutex
	records map[string]domain.UsageRecord
}

func (m *ledgerModel) add(records []domain.UsageRecord, results []domain.Recorded) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, r := range results {
		if r.Status == domain.UsageAccepted || r.Status == domain.UsageDuplicate {
			m.records[records[i].RecordID] = records[i]
		}
	}
}

func (m *ledgerModel) check(t interface{ Fatalf(string, ...any) }, f *usageFleet) {
	var bytes, zoned int64
	sessions := map[string]bool{}
	for _, r := range m.records {
		bytes += r.MobileOriginated + r.MobileTerminated
		if r.IPAddress.IsValid() {
			zoned += r.MobileOriginated + r.MobileTerminated
		}
		if r.SessionID != "" {
			sessions[r.PhysicalID+" "+r.SessionID] = true
		}
	}
	for sql, want := range map[string]int64{
		`SELECT count(*) FROM usage_records WHERE company_id = $1`:                                                                                    int64(len(m.records)),
		`SELECT count(*) - (SELECT count(*) FROM usage_quarantine WHERE company_id = $1) FROM usage_ids WHERE company_id = $1`:                        int64(len(m.records)),
		`SELECT coalesce(sum(mobile_originated + mobile_terminated), 0)::bigint FROM company_hours WHERE company_id = $1`:                             bytes,
		`SELECT coalesce(sum(mobile_originated + mobile_terminated), 0)::bigint FROM subscriber_days WHERE company_id = $1`:                           bytes,
		`SELECT coalesce(sum(c.mobile_originated + c.mobile_terminated), 0)::bigint FROM subscriber_days, usage_cells(cells) c WHERE company_id = $1`: bytes,
		`SELECT coalesce(sum(mobile_originated + mobile_terminated), 0)::bigint FROM subscriber_periods WHERE company_id = $1`:                        bytes,
		addressedBytes: zoned,
		`SELECT coalesce(sum(sessions), 0)::bigint FROM company_sessions WHERE company_id = $1`: int64(len(sessions)),
		`SELECT coalesce(sum(sessions), 0)::bigint FROM subscriber_days WHERE company_id = $1`:  int64(len(sessions)),
	} {
		if got := f.Int(sql); got != want {
			t.Fatalf("%s: %d, want %d", sql, got, want)
		}
	}
}

const addressedBytes = `
SELECT (SELECT coalesce(sum(ip_originated + ip_terminated), 0) FROM subscriber_days WHERE company_id = $1)::bigint +
  (SELECT coalesce(sum(mobile_originated + mobile_terminated), 0) FROM ip_days WHERE company_id = $1)::bigint`

const clearUsage = `
DELETE FROM usage_ids; DELETE FROM usage_records; DELETE FROM usage_quarantine; DELETE FROM usage_sources; DELETE FROM usage_sessions;
DELETE FROM company_hours; DELETE FROM company_sessions; DELETE FROM group_hours; DELETE FROM group_sessions;
DELETE FROM subscriber_days; DELETE FROM ip_days; DELETE FROM subscriber_periods; DELETE FROM subscriber_seen; DELETE FROM group_periods; DELETE FROM ip_months; DELETE FROM usage_months`

func TestTotalsEqualTheLedgerUnderConcurrentWriters(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 7)
	f.Join("s1", fleettest.UsageNow.AddDate(0, 0, -30).Add(17*time.Minute), 2)
	f.Join("s3", fleettest.UsageNow.AddDate(0, 0, -10).Add(time.Second), 1)
	dbtest.Check(t, func(rt *rapid.T) {
		f.Pool.MustExec(clearUsage)
		batches := rapid.SliceOfN(rapid.SliceOfN(usageGen(f), 1, 150), 1, 6).Draw(rt, "batches")
		model := &ledgerModel{records: map[string]domain.UsageRecord{}}
		var writers errgroup.Group
		for w := range 3 {
			writers.Go(func() error {
				for i := range batches {
					batch := batches[(i+w)%len(batches)]
					results, err := f.Usage.Record(t.Context(), f.Scope, batch)
					if err != nil {
						return err
					}
					model.add(batch, results)
				}
				return nil
			})
		}
		writers.Go(func() error { return f.Usage.SumMonths(t.Context()) })
		fatal.If(rt, writers.Wait())
		model.check(rt, f)
		f.MustAgree()
	})
}

// recordUntilAnswered does what a client does that lost its answer: it sends
// the same batch again.
func (f *usageFleet) recordUntilAnswered(ctx context.Context, batch []domain.UsageRecord) ([]domain.Recorded, error) {
	for {
		results, err := f.Usage.Record(ctx, f.Scope, batch)
		if e, ok := domain.AsError(err); !ok || e.Kind != domain.KindUnavailable || ctx.Err() != nil {
			return results, err
		}
	}
}

func TestTotalsEqualTheLedgerWhenBackendsAreKilled(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 5)
	gen := rapid.SliceOfN(usageGen(f), 200, 400)
	batches := 8
	if dbtest.Nightly() {
		batches = 25
	}
	model := &ledgerModel{records: map[string]domain.UsageRecord{}}
	ctx, stop := context.WithCancel(t.Context())
	var killer sync.WaitGroup
	var answered atomic.Int64
	kills := 0
	killer.Go(func() {
		for ctx.Err() == nil {
			time.Sleep(3 * time.Millisecond)
			if int64(kills) >= 5*(1+answered.Load()) { // where connections take longer than the pause
				continue
			}
			result, err := f.Pool.ExecContext(ctx, `
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle' ORDER BY random() LIMIT 1`)
			if err == nil {
				n, _ := result.RowsAffected()
				kills += int(n)
			}
		}
	})
	var writers errgroup.Group
	for w := range 3 {
		writers.Go(func() error {
			for i := range batches {
				batch := gen.Example(w*100 + i)
				results, err := f.recordUntilAnswered(t.Context(), batch)
				if err != nil {
					return err
				}
				model.add(batch, results)
				answered.Add(1)
			}
			return nil
		})
	}
	err := writers.Wait()
	stop()
	killer.Wait()
	dbtest.CloseIdle(f.Pool)
	if err != nil || kills == 0 {
		t.Fatalf("%d backends killed: %v", kills, err)
	}
	model.check(t, f)
	f.MustAgree()
}

func TestSinglesShareTransactions(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 5)
	var writers errgroup.Group
	for w := range 50 {
		writers.Go(func() error {
			for i := range 10 {
				r := fleettest.UsageOf(fmt.Sprintf("s%d", i%5), fmt.Sprintf("%d-%d", w%25, i), fleettest.UsageNow.Add(-time.Duration(i)*time.Hour))
				results, err := f.Usage.Record(t.Context(), f.Scope, []domain.UsageRecord{r})
				if err != nil {
					return err
				}
				if s := results[0].Status; s != domain.UsageAccepted && s != domain.UsageDuplicate {
					return fmt.Errorf("%s", s)
				}
				if f.Int(`SELECT count(*) FROM usage_records WHERE company_id = $1 AND record_id = $2`, r.RecordID) != 1 {
					return fmt.Errorf("%s was answered before it was committed", r.RecordID)
				}
			}
			return nil
		})
	}
	fatal.If(t, writers.Wait())
	if n := f.Int(`SELECT count(*) FROM usage_records WHERE company_id = $1`); n != 250 {
		t.Errorf("%d records", n)
	}
	if n := f.Int(`SELECT count(DISTINCT xmin::text) FROM usage_records WHERE company_id = $1`); n > 125 {
		t.Errorf("%d transactions for 250 records", n)
	}
	f.MustAgree()
}

func TestManySmallBatchesOfADayStayCompact(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 2)
	at := fleettest.UsageNow.Truncate(24 * time.Hour).Add(-24 * time.Hour)
	for n := range 300 {
		f.Record(fleettest.UsageOf("s1", fmt.Sprint(n), at.Add(time.Duration(n)*4*time.Minute)))
	}
	if n := f.Int(`SELECT cardinality(cells) FROM subscriber_days WHERE company_id = $1`); n > 64*5 {
		t.Errorf("the day has %d numbers", n)
	}
	f.MustAgree()
}

func TestACompanyNumbersProtocolsOnlySoFar(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 2)
	var records []domain.UsageRecord
	for n := range domain.MaxProtocols + 3 {
		r := fleettest.UsageOf("s1", fmt.Sprint(n), fleettest.UsageNow.Add(-time.Hour))
		r.Protocol = fmt.Sprint("P", n)
		records = append(records, r)
	}
	rejected := 0
	for _, r := range f.Record(records...) {
		if r.Status == domain.UsageRejected {
			rejected++
		}
	}
	if rejected != 3 {
		t.Errorf("%d records were rejected", rejected)
	}
	f.MustAgree()
}
