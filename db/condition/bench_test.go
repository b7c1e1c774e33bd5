package condition_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	store "simgraph/db/condition"
	"simgraph/db/dbtest"
	"simgraph/db/fleettest"
	"simgraph/db/subscriber"
	"simgraph/domain"
	"simgraph/domain/condition"
	"simgraph/internal/fatal"
)

// subjects are the subscribers of the benchmark: each has four weeks of usage and reports
// by a session within the hour, but for one in a hundred; every other one had no usage lately.
const subjects = 100_000

// BenchmarkConditions evaluates one alert of each kind on a fleet, once an operation: what
// a minute costs. The time is nearly all that of one session of PostgreSQL.
func BenchmarkConditions(b *testing.B) {
	pool := dbtest.New(b)
	fillFleet(b, pool)
	now := monday
	conditions := store.New(pool, func() time.Time { return now })
	for _, of := range []condition.Condition{
		{Kind: condition.Silent, Bound: 6}, {Kind: condition.Storm, Bound: 100}, {Kind: condition.Forecast, Bound: 1 << 50},
		{Kind: condition.Change, Traits: condition.Traits},
	} {
		b.Run(string(of.Kind), func(b *testing.B) {
			pool.MustExec(`DELETE FROM condition_alerts`)
			if _, err := conditions.Create(b.Context(), scope, condition.Spec{RuleType: domain.RuleCompany, Condition: of}); err != nil {
				b.Fatal(err)
			}
			settle(b, conditions, &now)
			for b.Loop() {
				pass(b, conditions, &now)
			}
		})
	}
}

// pass evaluates after another minute.
func pass(b *testing.B, conditions *store.Store, now *time.Time) {
	b.Helper()
	*now = now.Add(store.Every)
	fatal.If(b, conditions.Round(b.Context()))
}

// settle evaluates until what the first minutes find and learn is known.
func settle(b *testing.B, conditions *store.Store, now *time.Time) {
	b.Helper()
	for range 25 {
		pass(b, conditions, now)
	}
}

// BenchmarkASilentFleet evaluates an alert on silence where half of the fleet is silent, and
// half of that cannot be confirmed, since its source does not report either: what a minute
// costs, in time and in pages that PostgreSQL looks at.
func BenchmarkASilentFleet(b *testing.B) {
	pool := dbtest.New(b)
	fillFleet(b, pool)
	silenceHalf(b, pool)
	now := monday
	conditions := store.New(pool, func() time.Time { return now })
	if _, err := conditions.Create(b.Context(), scope, condition.Spec{RuleType: domain.RuleCompany, Condition: condition.Condition{Kind: condition.Silent, Bound: 6}}); err != nil {
		b.Fatal(err)
	}
	settle(b, conditions, &now)
	pool.MustExec(`VACUUM ANALYZE`)
	pages := func() (n float64) {
		fatal.If(b, pool.Get(&n, `SELECT blks_hit + blks_read FROM pg_stat_database WHERE datname = current_database()`))
		return n
	}
	before := pages()
	for b.Loop() {
		pass(b, conditions, &now)
	}
	b.ReportMetric((pages()-before)/float64(b.N), "pages/op")
}

// silenceHalf gives every other subscriber of the fleet two years of usage, which ended two
// days ago with its session. Every second of these was last at a source that is silent itself.
func silenceHalf(b *testing.B, pool *sqlx.DB) {
	b.Helper()
	for _, sql := range []string{`
INSERT INTO feed_watermarks (company_id, source, nas, complete_until, reported_at) VALUES (1, 'gw', 'g', '{now}'::timestamptz + interval '1 day', '{now}'), (1, 'gw', 'off', '{now}'::timestamptz - interval '2 days', '{now}'::timestamptz - interval '2 days')`, `
INSERT INTO subscriber_periods
SELECT 1, p, n, 100, 100, p + interval '20 days'
FROM generate_series(2, {subjects}, 2) AS n CROSS JOIN generate_series('2024-11-01Z'::timestamptz, '2026-09-01Z', '1 month') AS p`, `
UPDATE subscriber_periods SET last_seen = '{now}'::timestamptz - interval '2 days' WHERE subscriber_key % 2 = 0 AND period_start = '2026-11-01Z'`, `
UPDATE sessions SET ended_at = '{now}'::timestamptz - interval '2 days', as_of = '{now}'::timestamptz - interval '2 days', nas = CASE WHEN subscriber_key % 4 = 0 THEN 'off' ELSE nas END
WHERE subscriber_key % 2 = 0`, `
INSERT INTO sessions (company_id, identity, generation, subscriber_key, source, nas, session_id, physical_id, imsi, msisdn, began_at, as_of, reported_at, ended_at,
  interval_seconds, cause, mobile_originated, mobile_terminated, reports, booked, is_transferring, decreased, clock_off, apn, ip_address, imei, rat_type, visited_network)
SELECT company_id, gen_random_uuid(), 1, subscriber_key, source, nas, session_id, physical_id, imsi, msisdn, began_at - n * interval '1 day', as_of - n * interval '1 day', reported_at - n * interval '1 day',
  ended_at - n * interval '1 day', 600, '', 1, 1, 100, 100, false, false, false, '', ip_address, imei, rat_type, visited_network
FROM sessions CROSS JOIN generate_series(1, 9) AS n
WHERE subscriber_key % 2 = 0`, `VACUUM ANALYZE`} {
		fill(pool, sql)
	}
}

// BenchmarkLastSeen lists and counts the subscribers of that fleet by when they were seen
// last, and fills in the table as its migration does.
func BenchmarkLastSeen(b *testing.B) {
	pool := dbtest.New(b)
	fillFleet(b, pool)
	silenceHalf(b, pool)
	const inUse = "isActive eq true and isBarred eq false and terminateDate eq null and not related.parent.isEnabledOnParent eq false and connectionDate lt 2026-11-08 and "
	migration, err := os.ReadFile("../migrations/00170_subscriber_seen.sql")
	fatal.If(b, err)
	_, insert, _ := strings.Cut(string(migration), "INSERT INTO")
	insert, _, _ = strings.Cut(insert, "-- +goose Down")
	b.Run("fill", func(b *testing.B) {
		for b.Loop() {
			pool.MustExec("DELETE FROM subscriber_seen")
			pool.MustExec("INSERT INTO" + insert)
		}
	})
	pool.MustExec(`VACUUM ANALYZE`)
	for name, filter := range map[string]string{"order": "", "silent": inUse + "(lastSeenAt lt 2026-11-08 or lastSeenAt eq null)"} {
		b.Run(name, func(b *testing.B) {
			listing := fleettest.Listing(b, filter, "lastSeenAt", 100)
			for b.Loop() {
				if _, err := subscriber.New(pool).List(b.Context(), scope, listing); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+" counted", func(b *testing.B) {
			listing := fleettest.Listing(b, filter, "", 100)
			for b.Loop() {
				if _, err := subscriber.New(pool).Count(b.Context(), scope, listing); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// fill runs a statement with the number of subjects and the time filled in.
func fill(pool *sqlx.DB, sql string) {
	pool.MustExec(strings.NewReplacer("{subjects}", strconv.Itoa(subjects), "{now}", monday.Format(time.RFC3339)).Replace(sql))
}

// BenchmarkPreview looks at four weeks of a fleet, of which it takes a sample.
func BenchmarkPreview(b *testing.B) {
	pool := dbtest.New(b)
	fillFleet(b, pool)
	conditions := store.New(pool, func() time.Time { return monday })
	for _, of := range []condition.Condition{
		{Kind: condition.Silent, Bound: 6}, {Kind: condition.Storm, Bound: 100}, {Kind: condition.Forecast, Bound: 1 << 50},
		{Kind: condition.Change, Traits: condition.Traits},
	} {
		b.Run(string(of.Kind), func(b *testing.B) {
			for b.Loop() {
				if _, err := conditions.Preview(b.Context(), scope, condition.Spec{RuleType: domain.RuleCompany, Condition: of}, 28); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func fillFleet(b *testing.B, pool *sqlx.DB) {
	b.Helper()
	for _, sql := range []string{`
INSERT INTO operators VALUES ('23415', 'Vodafone UK')`, `
INSERT INTO companies VALUES (1, 'acme', 'Acme', 1, 'UTC')`, `
INSERT INTO tariffs VALUES (1, 'IoT', 50, 'GBP')`, `
INSERT INTO subscribers (company_id, key, kind, physical_id, subscriber_id, imsi, nickname, operator_code, tariff_name, connection_date, expiry_date,
  contract_length, is_barred, is_active, subscriber_type, is_transferring, is_online, has_feed)
SELECT 1, n, 'cellular', 'p' || n, 's' || n, '', '', '23415', 'IoT', '2026-01-01Z', '2028-01-01Z', 12, false, true, 'physical', false, true, true
FROM generate_series(1, {subjects}) AS n`, `
INSERT INTO usage_sources VALUES (1, 'gw', '{now}'::timestamptz + interval '1 day')`, `
INSERT INTO subscriber_periods
SELECT 1, p, n, 100, 100, '{now}'::timestamptz - CASE WHEN n % 2 = 0 THEN interval '9 hours' ELSE interval '10 minutes' END
FROM generate_series(1, {subjects}) AS n CROSS JOIN (VALUES ('2026-10-01Z'::timestamptz), ('2026-11-01Z')) AS v(p)`, `
INSERT INTO subscriber_days (company_id, day, subscriber_key, group_id, mobile_originated, mobile_terminated, sessions, last_seen, cells,
  ip_originated, ip_terminated)
SELECT 1, d, n, 0, 100, 100, 24, now(), '{}', 0, 0
FROM generate_series('2026-10-11'::date, '2026-11-09', '1 day') AS d CROSS JOIN generate_series(1, {subjects}) AS n`, `
INSERT INTO sessions (company_id, identity, generation, subscriber_key, source, nas, session_id, physical_id, imsi, msisdn, began_at, as_of, reported_at,
  interval_seconds, cause, mobile_originated, mobile_terminated, reports, booked, is_transferring, decreased, clock_off, apn, ip_address, imei, rat_type, visited_network)
SELECT 1, gen_random_uuid(), 1, n, 'gw', 'g', 'x' || n, 'p' || n, '', '', '{now}'::timestamptz - interval '1 day', '{now}'::timestamptz - interval '10 minutes',
  '{now}'::timestamptz - CASE WHEN n % 100 = 0 THEN interval '9 hours' ELSE interval '10 minutes' END,
  600, '', 1, 1, 100, 100, false, false, false, '', '10.0.0.1', '35123456' || lpad(n::text, 8, '0'), 'EUTRAN', '23415'
FROM generate_series(1, {subjects}) AS n`, `VACUUM ANALYZE`} {
		fill(pool, sql)
	}
}
