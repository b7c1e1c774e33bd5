package subscriber_test

import (
	"testing"

	"simgraph/db/dbtest"
	"simgraph/db/fleettest"
	"simgraph/db/pg"
	"simgraph/db/subscriber"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

// A page at an offset is that part of the whole list, in every order, filter and scope.
func TestAPageAtAnOffsetIsThatPartOfTheList(t *testing.T) {
	t.Parallel()
	subscribers := subscriber.New(fleettest.NewInventory(t))
	idsOf := func(scope domain.Scope, listing domain.Listing) ([]string, domain.Slice[*domain.Subscriber]) {
		slice := fleettest.Must[domain.Slice[*domain.Subscriber]](t)(subscribers.List(t.Context(), scope, listing))
		return pg.Pluck(slice.Items, func(s *domain.Subscriber) string { return s.PhysicalID }), slice
	}
	for scopeName, scope := range map[string]domain.Scope{"all": fleettest.All, "vans": fleettest.VansOnly} {
		for _, filter := range []string{"", "isActive eq true"} {
			for _, order := range []string{"", "physicalId", "physicalId DESC", "nickname DESC", "physicalId, nickname"} {
				listing := fleettest.Listing(t, filter, order, 100)
				whole, _ := idsOf(scope, listing)
				for offset := 1; offset <= len(whole)+1; offset++ {
					listing.Page = domain.Page{Limit: 2, Offset: offset}
					want := whole[min(offset, len(whole)):min(offset+2, len(whole))]
					got, slice := idsOf(scope, listing)
					if len(got) != len(want) || len(got) > 0 && (got[0] != want[0] || got[len(got)-1] != want[len(want)-1]) {
						t.Errorf("%s, %q by %q: got %v at %d, want %v", scopeName, filter, order, got, offset, want)
					}
					if !slice.HasPrevious || slice.HasNext != (offset+2 < len(whole)) {
						t.Errorf("%s, %q by %q at %d: previous %t, next %t", scopeName, filter, order, offset, slice.HasPrevious, slice.HasNext)
					}
				}
			}
		}
	}
}

// What an offset skips of a list in the order of its key is counted in the index.
func TestADeepOffsetReadsTheIndexAlone(t *testing.T) {
	dbtest.WithoutCitus(t, "plans of PostgreSQL")
	t.Parallel()
	pool := fleettest.NewInventory(t)
	fleettest.ExecEach(pool, lotsOfUsage)
	dbtest.VacuumAnalyze(t, pool, "subscribers")
	recorded := dbtest.NewRecorder(t, pool)
	subscribers := subscriber.New(recorded.Pool)
	var fleet int
	fatal.If(t, pool.Get(&fleet, "SELECT pg_relation_size('subscribers') / 8192"))
	for _, order := range []string{"", "physicalId", "physicalId DESC"} {
		listing := fleettest.Listing(t, "", order, 5)
		listing.Page.Offset = 15_000
		slice := fleettest.Must[domain.Slice[*domain.Subscriber]](t)(subscribers.List(t.Context(), fleettest.All, listing))
		if read := recorded.Buffers(); len(slice.Items) != 5 || read > fleet*2/3 {
			t.Errorf("by %q: %d items from %d pages, the fleet has %d\n%s", order, len(slice.Items), read, fleet, recorded.Plan())
		}
	}
}

// The overview counts those that are barred each minute, which are few.
func TestToCountTheBarredReadsAnIndexOfThem(t *testing.T) {
	dbtest.WithoutCitus(t, "plans of PostgreSQL")
	t.Parallel()
	pool := fleettest.NewInventory(t)
	fleettest.ExecEach(pool, lotsOfUsage)
	pool.MustExec("UPDATE subscribers SET is_barred = key % 200 = 0 WHERE is_barred <> (key % 200 = 0)")
	dbtest.VacuumAnalyze(t, pool, "subscribers")
	recorded := dbtest.NewRecorder(t, pool)
	n := fleettest.Must[int](t)(subscriber.New(recorded.Pool).Count(t.Context(), fleettest.All, fleettest.Listing(t, "isBarred eq true", "", 5)))
	if read := recorded.Buffers(); n < 90 || read > 20 {
		t.Errorf("counts %d from %d pages\n%s", n, read, recorded.Plan())
	}
}
