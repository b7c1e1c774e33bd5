package feed_test

import (
	"testing"

	"simgraph/db/dbtest"
	"simgraph/db/feed"
	"simgraph/db/fleettest"
	"simgraph/domain"
	"simgraph/domain/query"
	"simgraph/internal/fatal"
)

// The sessions of a device are found in their index.
func TestTheSessionsOfADeviceReadLittleOfAll(t *testing.T) {
	dbtest.WithoutCitus(t, "plans of PostgreSQL")
	t.Parallel()
	pool := fleettest.NewInventory(t)
	pool.MustExec(`
INSERT INTO sessions (company_id, identity, generation, subscriber_key, source, nas, session_id, physical_id, imsi, msisdn, began_at, as_of, reported_at, interval_seconds,
  cause, mobile_originated, mobile_terminated, reports, booked, is_transferring, decreased, clock_off, apn, imei, rat_type, visited_network)
SELECT 1, md5(n::text)::uuid, 0, NULL, 'pgw', '', 's' || n, 'p', '', '', '2026-11-01Z'::timestamptz + n * interval '1 second', '2026-11-02Z', '2026-11-02Z', 0,
  '', 0, 0, 1, 1, false, false, false, '', CASE WHEN n % 2 = 0 THEN lpad((n / 4)::text, 15, '0') ELSE '' END, '', ''
FROM generate_series(1, 20000) n`)
	dbtest.VacuumAnalyze(t, pool, "sessions")
	recorded := dbtest.NewRecorder(t, pool)
	filter, err := query.ParseFilter(`imei eq "000000000000100"`, domain.SessionFields)
	fatal.If(t, err)
	slice, err := feed.NewSessions(recorded.Pool).List(t.Context(), fleettest.All, domain.Listing{Filter: filter, Page: domain.Page{Limit: 5}})
	fatal.If(t, err)
	if read := recorded.Buffers(); len(slice.Items) != 2 || read > 40 {
		t.Errorf("%d sessions from %d pages\n%s", len(slice.Items), read, recorded.Plan())
	}
}

// Sessions are listed and counted for the whole company without their subscribers, in plans
// that are kept, too.
func TestTheSessionsOfACompanyAreReadWithoutItsSubscribers(t *testing.T) {
	dbtest.WithoutCitus(t, "plans of PostgreSQL")
	t.Parallel()
	pool := fleettest.NewInventory(t)
	pool.SetMaxOpenConns(1)
	pool.MustExec(`
INSERT INTO sessions (company_id, identity, generation, subscriber_key, source, nas, session_id, physical_id, imsi, msisdn, began_at, as_of, reported_at, interval_seconds,
  cause, mobile_originated, mobile_terminated, reports, booked, is_transferring, decreased, clock_off, apn, imei, rat_type, visited_network)
SELECT 1, md5(key::text)::uuid, 0, key, 'pgw', '', 's', physical_id, '', '', '2026-11-01Z', '2026-11-02Z', '2026-11-02Z', 0,
  '', 0, 0, 1, 1, false, false, false, '', '', '', ''
FROM subscribers WHERE company_id = 1`)
	pool.MustExec(`SET plan_cache_mode = force_generic_plan`)
	sessions := feed.NewSessions(pool)
	read := func(scope domain.Scope) (listed, counted int) {
		slice, err := sessions.List(t.Context(), scope, domain.Listing{Page: domain.Page{Limit: 50}})
		fatal.If(t, err)
		counted, err = sessions.Count(t.Context(), scope, domain.Listing{})
		fatal.If(t, err)
		return len(slice.Items), counted
	}
	for _, c := range []struct {
		scope    domain.Scope
		sessions int
		joins    bool
	}{{fleettest.All, 9, false}, {fleettest.Only(12), 6, true}} {
		read(c.scope) // making the plans reads pages, too
		before := dbtest.PagesRead(t, pool, "subscribers")
		listed, counted := read(c.scope)
		if listed != c.sessions || counted != c.sessions {
			t.Errorf("%d and %d sessions for groups %v, want %d", listed, counted, c.scope.Groups, c.sessions)
		}
		if pages := dbtest.PagesRead(t, pool, "subscribers") - before; pages > 0 != c.joins {
			t.Errorf("%d pages of subscribers are read for groups %v", pages, c.scope.Groups)
		}
	}
}
