package subscriber_test

import (
	"fmt"
	"testing"

	"github.com/jmoiron/sqlx"

	"simgraph/db/dbtest"
	"simgraph/db/fleettest"
	"simgraph/db/subscriber"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

// searchable is a fleet of 20,000.
const searchable = `
INSERT INTO subscribers (company_id, kind, physical_id, subscriber_id, imsi, nickname, operator_code, tariff_name, connection_date,
  expiry_date, contract_length, is_barred, is_active, subscriber_type, is_transferring, is_online)
SELECT 1, 'cellular', '8944' || lpad(n::text, 15, '0'), '4477' || lpad(n::text, 8, '0'), '23415' || lpad((n * 7)::text, 10, '0'), 'Meter ' || n, '23410', 'IoT 50',
  '2024-01-01Z', '2027-01-01Z', 36, false, true, 'physical', false, false
FROM generate_series(1, 20000) n`

// search is the filter of the page's search box.
func search(t *testing.T, text string) domain.Listing {
	t.Helper()
	return fleettest.Listing(t, fmt.Sprintf("physicalId like %[1]q or subscriberId like %[1]q or nickname like %[1]q or imsi like %[1]q", text), "", 8)
}

func newSearchable(t *testing.T) *sqlx.DB {
	t.Helper()
	dbtest.WithoutCitus(t, "plans of PostgreSQL")
	pool := fleettest.NewInventory(t)
	var indexed bool
	fatal.If(t, pool.Get(&indexed, "SELECT to_regclass('subscribers_texts') IS NOT NULL"))
	if !indexed {
		t.Skip("PostgreSQL has no pg_trgm here")
	}
	pool.MustExec(searchable)
	dbtest.VacuumAnalyze(t, pool, "subscribers")
	return pool
}

// What a search reads that finds few follows the index of texts, not the fleet.
func TestASearchThatFindsFewReadsLittleOfTheFleet(t *testing.T) {
	t.Parallel()
	pool := newSearchable(t)
	recorded := dbtest.NewRecorder(t, pool)
	subscribers := subscriber.New(recorded.Pool)
	var fleet int
	fatal.If(t, pool.Get(&fleet, "SELECT pg_relation_size('subscribers') / 8192"))
	for text, want := range map[string]string{
		"8944000000000012345": "8944000000000012345", "000000000012345": "8944000000000012345", "447700012345": "8944000000000012345",
		"234150000086415": "8944000000000012345", "METER 12345": "8944000000000012345",
	} {
		slice := fleettest.Must[domain.Slice[*domain.Subscriber]](t)(subscribers.List(t.Context(), fleettest.All, search(t, text)))
		fleettest.WantIDs(t, slice.Items, want)
		if read := recorded.Buffers(); read > fleet*2/3 {
			t.Errorf("%s: reads %d pages, the fleet has %d\n%s", text, read, fleet, recorded.Plan())
		}
	}
}

// A list that was run often is still planned for what it looks for: a part of a name, a range that many are in
// one day and few the next, or the groups of a caller.
func TestAListIsPlannedByItsValuesHoweverOftenItRuns(t *testing.T) {
	t.Parallel()
	pool := newSearchable(t)
	pool.SetMaxOpenConns(1)
	pool.MustExec(`UPDATE subscribers SET connection_date = timestamptz '2026-01-01' + key * interval '1 second', group_id = coalesce(group_id, 13) WHERE company_id = 1`)
	dbtest.VacuumAnalyze(t, pool, "subscribers")
	subscribers := subscriber.New(pool)
	for n := range 12 {
		text := fmt.Sprintf("89440000000000%05d", 10_000+n)
		since, rows := "2026-01-01", 8
		if n%2 > 0 {
			since, rows = "2027-01-01", 0
		}
		slice := fleettest.Must[domain.Slice[*domain.Subscriber]](t)(subscribers.List(t.Context(), fleettest.All, search(t, text)))
		fleettest.WantIDs(t, slice.Items, text)
		slice = fleettest.Must[domain.Slice[*domain.Subscriber]](t)(subscribers.List(t.Context(), fleettest.All, fleettest.Listing(t, "connectionDate ge "+since, "", 8)))
		if len(slice.Items) != rows {
			t.Fatalf("%d subscribers are connected since %s", len(slice.Items), since)
		}
		slice = fleettest.Must[domain.Slice[*domain.Subscriber]](t)(subscribers.List(t.Context(), fleettest.VansOnly, fleettest.Listing(t, "", "", 8)))
		if n := fleettest.Must[int](t)(subscribers.Count(t.Context(), fleettest.VansOnly, fleettest.Listing(t, "", "", 8))); n == 0 || len(slice.Items) != min(n, 8) {
			t.Fatalf("%d of %d subscribers of a group are listed", len(slice.Items), n)
		}
		var run, kept int
		fatal.If(t, pool.QueryRow(`SELECT coalesce(sum(custom_plans), 0), coalesce(sum(generic_plans), 0) FROM pg_prepared_statements
WHERE statement LIKE '%FROM subscribers%' AND statement NOT LIKE '%pg_prepared_statements%'`).Scan(&run, &kept))
		if run < 4 || kept > 0 {
			t.Fatalf("%d statements were planned by their values and %d were not, in turn %d", run, kept, n+1)
		}
	}
}

// Those who carry a tag of few are read by the tag, not looked for in the fleet.
func TestSubscribersOfATagOfFewAreReadByTheTag(t *testing.T) {
	t.Parallel()
	pool := newSearchable(t)
	pool.MustExec(`INSERT INTO subscriber_tags SELECT 1, key, 'site ' || key % 75 + n * 75 FROM subscribers, generate_series(0, 1) n WHERE company_id = 1`)
	pool.MustExec(`INSERT INTO subscriber_tags SELECT 1, key, 'rare' FROM subscribers WHERE company_id = 1 AND physical_id = '8944000000000019999'`)
	dbtest.VacuumAnalyze(t, pool, "subscriber_tags")
	recorded := dbtest.NewRecorder(t, pool)
	subscribers := subscriber.New(recorded.Pool)
	for name, list := range map[string]func() []*domain.Subscriber{
		"filter": func() []*domain.Subscriber {
			return fleettest.Must[domain.Slice[*domain.Subscriber]](t)(subscribers.List(t.Context(), fleettest.All, fleettest.Listing(t, "tags eq rare", "", 1))).Items
		},
		"of the tag": func() []*domain.Subscriber {
			of := fleettest.Must[map[domain.TagName]domain.Slice[*domain.Subscriber]](t)(
				subscribers.OfTags(t.Context(), fleettest.All, []domain.TagName{"rare"}, fleettest.Listing(t, "", "", 8)))
			return of["rare"].Items
		},
	} {
		fleettest.WantIDs(t, list(), "8944000000000019999")
		if read := recorded.Buffers(); read > 100 {
			t.Errorf("%s: reads %d pages\n%s", name, read, recorded.Plan())
		}
	}
}
