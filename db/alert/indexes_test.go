package alert_test

import (
	"testing"

	"simgraph/db/alert"
	"simgraph/db/dbtest"
	"simgraph/db/fleettest"
	"simgraph/domain"
	"simgraph/domain/query"
	"simgraph/internal/fatal"
)

// A page of the log by usage, and that of one subscriber, read little of a long log.
func TestThePageOfALongLogReadsLittleOfIt(t *testing.T) {
	dbtest.WithoutCitus(t, "plans of PostgreSQL")
	t.Parallel()
	f := newFixture(t)
	f.pool.MustExec(`
INSERT INTO subscribers (company_id, key, kind, physical_id, subscriber_id, imsi, nickname, operator_code, tariff_name, connection_date, expiry_date,
  contract_length, is_barred, is_active, subscriber_type, is_transferring, is_online)
SELECT 1, n, 'cellular', 'p' || n, 's' || n, '', '', '23415', 'IoT', '2026-01-01Z', '2028-01-01Z', 12, false, true, 'physical', false, false
FROM generate_series(5, 2000) n`)
	f.pool.MustExec(`
INSERT INTO alert_log (company_id, alert_id, rule_type, target, limit_boundary, revision, subscriber_key, period_start, period_end, threshold, usage, late, date_created)
SELECT 1, 1, 'company', 'acme', 'lower', n, 1 + n % 2000, '2026-11-01Z', '2026-12-01Z', 5, n * 7919 % 20011, false, '2026-11-01Z'::timestamptz + n * interval '1 second'
FROM generate_series(1, 20000) n`)
	dbtest.VacuumAnalyze(t, f.pool, "alert_log", "subscribers")
	var pages int
	fatal.If(t, f.pool.Get(&pages, "SELECT pg_relation_size('alert_log') / 8192"))
	recorded := dbtest.NewRecorder(t, f.pool)
	log := alert.NewLog(recorded.Pool)
	for _, c := range []struct{ filter, order string }{{"", "usage DESC"}, {"", "usage"}, {`physicalId eq "p1"`, ""}} {
		filter, err := query.ParseFilter(c.filter, domain.AlertLogFields)
		fatal.If(t, err)
		order, err := query.ParseOrder(c.order, domain.AlertLogFields)
		fatal.If(t, err)
		slice, err := log.List(t.Context(), scope, domain.Listing{Filter: filter, Order: order, Page: domain.Page{Limit: 5}})
		fatal.If(t, err)
		if read := recorded.Buffers(); len(slice.Items) != 5 || read > pages/3 {
			t.Errorf("%q by %q: %d entries from %d pages, the log has %d\n%s", c.filter, c.order, len(slice.Items), read, pages, recorded.Plan())
		}
	}
}

// The number of all entries joins no subscribers, in plans that are kept, too.
func TestTheLogOfACompanyIsCountedWithoutItsSubscribers(t *testing.T) {
	dbtest.WithoutCitus(t, "plans of PostgreSQL")
	t.Parallel()
	f := newFixture(t)
	f.pool.SetMaxOpenConns(1)
	f.pool.MustExec(`
INSERT INTO alert_log (company_id, alert_id, rule_type, target, limit_boundary, revision, subscriber_key, target_group_id, period_start, period_end, threshold, usage, late, date_created)
SELECT 1, 1, 'groupfptp', '1', 'lower', n, 1 + n % 4, 1, '2026-11-01Z', '2026-12-01Z', 5, n, false, '2026-11-01Z'
FROM generate_series(1, 100) n`)
	f.pool.MustExec(`SET plan_cache_mode = force_generic_plan`)
	log := alert.NewLog(f.pool)
	for _, c := range []struct {
		scope domain.Scope
		joins bool
	}{{scope, false}, {fleettest.Only(1), true}} {
		_, err := log.Count(t.Context(), c.scope, domain.Listing{}) // making the plan reads pages, too
		fatal.If(t, err)
		before := dbtest.PagesRead(t, f.pool, "subscribers")
		_, err = log.Count(t.Context(), c.scope, domain.Listing{})
		fatal.If(t, err)
		after := dbtest.PagesRead(t, f.pool, "subscribers")
		if joins := after > before; joins != c.joins {
			t.Errorf("%d pages of subscribers are read for groups %v", after-before, c.scope.Groups)
		}
	}
}
