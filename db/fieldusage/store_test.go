package fieldusage_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db"
	"simgraph/db/dbtest"
	"simgraph/db/fieldusage"
	"simgraph/db/fleettest"
	"simgraph/domain"
	"simgraph/domain/retention"
	"simgraph/internal/fatal"
)

func TestMain(m *testing.M) { dbtest.Main(m, db.Migrate) }

const company = domain.CompanyID(1)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// fixture has a company and stores of two instances on it, whose clock a test sets.
type fixture struct {
	*testing.T
	pool *sqlx.DB
	now  time.Time
	a, b *fieldusage.Store
}

func newFixture(t *testing.T, o fieldusage.Options) *fixture {
	f := &fixture{T: t, pool: fleettest.NewInventory(t), now: noon}
	o.Now = func() time.Time { return f.now }
	f.a, f.b = fieldusage.New(f.pool, o), fieldusage.New(f.pool, o)
	return f
}

func fields(operation string, coordinates ...string) *domain.UsedFields {
	return &domain.UsedFields{Operation: operation, Coordinates: slices.Sorted(slices.Values(coordinates))}
}

func (f *fixture) flush(stores ...*fieldusage.Store) {
	f.Helper()
	for _, s := range stores {
		fatal.If(f.T, s.Flush(f.Context()))
	}
}

// uses are all that are stored of the company, by coordinate, client, version and operation.
func (f *fixture) uses() map[string]int64 {
	f.Helper()
	all := map[string]int64{}
	fatal.If(f.T, f.a.Each(f.Context(), company, time.Time{}.AddDate(2000, 0, 0), "", func(u domain.FieldUse) error {
		all[strings.Join([]string{u.Coordinate, u.Client, u.Version, u.Operation}, " ")] = u.Uses
		return nil
	}))
	return all
}

func (f *fixture) check(want map[string]int64) {
	f.Helper()
	if got := f.uses(); !maps.Equal(got, want) {
		f.Errorf("got %v, want %v", got, want)
	}
}

func TestCountsOfTwoInstancesAddUp(t *testing.T) {
	t.Parallel()
	f := newFixture(t, fieldusage.Options{})
	q, again := fields("Q", "Query.a", "Query.b"), fields("Q", "Query.a", "Query.b") // as two instances read it
	for range 3 {
		f.a.Note(company, "app", "1", q, []string{"In.x"})
		f.b.Note(company, "app", "1", again, nil)
		f.flush(f.a, f.b)
	}
	f.a.Note(company, "app", "2", fields("Q", "Query.a"), []string{"In.x", "In.y"})
	f.a.Note(2, "app", "1", q, nil)
	f.a.Note(company, "app", "1", fields("Introspection"), nil)
	f.flush(f.a, f.a)
	f.check(map[string]int64{"Query.a app 1 Q": 6, "Query.b app 1 Q": 6, "In.x app 1 Q": 3, "Query.a app 2 Q": 1, "In.x app 2 Q": 1, "In.y app 2 Q": 1})
}

func TestADayOfItsOwn(t *testing.T) {
	t.Parallel()
	f := newFixture(t, fieldusage.Options{})
	q := fields("Q", "Query.a")
	f.now = noon.Truncate(24 * time.Hour).Add(-time.Second)
	f.a.Note(company, "app", "", q, nil)
	f.now = f.now.Add(time.Second)
	f.a.Note(company, "app", "", q, nil)
	f.flush(f.a)
	f.a.Note(company, "app", "", q, nil)
	f.flush(f.a)
	var read []domain.FieldUse
	since := func(at time.Time) {
		read = nil
		fatal.If(t, f.a.Each(t.Context(), company, at, "app", func(u domain.FieldUse) error { read = append(read, u); return nil }))
	}
	since(noon.AddDate(0, 0, -1))
	day := noon.Truncate(24 * time.Hour)
	if want := (domain.FieldUse{Coordinate: "Query.a", Client: "app", Operation: "Q", Uses: 3, FirstDay: day.AddDate(0, 0, -1), LastDay: day}); len(read) != 1 || read[0] != want {
		t.Errorf("%+v", read)
	}
	if since(noon); len(read) != 1 || read[0].Uses != 2 {
		t.Errorf("%+v", read)
	}
	if since(noon.AddDate(0, 0, 1)); len(read) != 0 {
		t.Errorf("%+v", read)
	}
}

// What a database refuses is counted on, and what other instances wrote meanwhile stays.
func TestWhatCannotBeStoredIsCountedOn(t *testing.T) {
	t.Parallel()
	f := newFixture(t, fieldusage.Options{})
	q := fields("Q", "Query.a")
	f.a.Note(company, "app", "", q, []string{"In.x"})
	ended, end := context.WithCancel(t.Context())
	end()
	if err := f.a.Flush(ended); err == nil {
		t.Fatal("stored by a context that has ended")
	}
	f.a.Note(company, "app", "", q, []string{"In.x"})
	f.b.Note(company, "app", "", q, nil)
	f.flush(f.b, f.a)
	want := map[string]int64{"Query.a app  Q": 3, "In.x app  Q": 2}
	f.check(want)
	// Its rows are lost, as when a standby takes over that has not got them.
	f.pool.MustExec(`DELETE FROM field_uses`)
	f.pool.MustExec(`DELETE FROM field_sets`)
	f.a.Note(company, "app", "", q, nil)
	if err := f.a.Flush(t.Context()); err == nil {
		t.Error("uses are stored without their coordinates")
	}
	f.flush(f.a)
	f.check(map[string]int64{"Query.a app  Q": 1})
}

// A client that calls itself otherwise with each request, or sends other operations with
// each, does not fill the table, and no use of a coordinate gets lost.
func TestAHostileClientCannotFillTheTable(t *testing.T) {
	t.Parallel()
	f := newFixture(t, fieldusage.Options{Clients: 3, Rows: 5})
	for i := range 10 {
		f.a.Note(company, fmt.Sprint("name ", i), "", fields("Q", "Query.a", "Query.b"), nil)
		f.flush(f.a)
	}
	for i := range 10 {
		f.b.Note(company, "name 1", "", fields(fmt.Sprint("Q", i), "Query.a"), []string{"In.x"})
	}
	f.flush(f.b)
	rows := f.count(`SELECT count(*) FROM field_uses WHERE client <> 'others'`)
	if clients := f.count(`SELECT count(DISTINCT client) FROM field_uses`); rows != 5 || clients != 4 {
		t.Errorf("%d rows of %d clients", rows, clients)
	}
	if others := f.count(`SELECT count(*) FROM field_uses WHERE client = 'others'`); others != 3 {
		t.Errorf("%d rows of others", others)
	}
	sums := map[string]int64{}
	for of, n := range f.uses() {
		coordinate, _, _ := strings.Cut(of, " ")
		sums[coordinate] += n
	}
	if want := (map[string]int64{"Query.a": 20, "Query.b": 10, "In.x": 10}); !maps.Equal(sums, want) {
		t.Error(sums)
	}
	// Who was there keeps its name, and tomorrow everyone begins anew.
	f.a.Note(company, "name 0", "", fields("Q", "Query.a", "Query.b"), nil)
	f.now = f.now.AddDate(0, 0, 1)
	f.a.Note(company, "name 9", "", fields("Q", "Query.a", "Query.b"), nil)
	f.flush(f.a)
	if uses := f.uses(); uses["Query.a name 0  Q"] != 2 || uses["Query.a name 9  Q"] != 1 {
		t.Error(uses)
	}
}

func (f *fixture) count(sql string) (n int) {
	f.Helper()
	fatal.If(f.T, f.pool.GetContext(f.Context(), &n, sql))
	return n
}

func TestWhatIsHeldBetweenFlushesIsBounded(t *testing.T) {
	t.Parallel()
	f := newFixture(t, fieldusage.Options{Held: 4})
	for i := range 10 {
		f.a.Note(company, "app", "", fields(fmt.Sprint("Q", i), "Query.a", "Query.b"), []string{"In.x"})
	}
	f.flush(f.a)
	f.check(map[string]int64{
		"Query.a app  Q0": 1, "Query.b app  Q0": 1, "In.x app  Q0": 1, "Query.a app  Q1": 1, "Query.b app  Q1": 1, "In.x app  Q1": 1,
		"Query.a others  ": 8, "Query.b others  ": 8, "In.x others  ": 8,
	})
}

func TestInstancesStoreAtOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t, fieldusage.Options{Clients: 5, Rows: 8})
	const rounds, each = 10, 6
	var running sync.WaitGroup
	for _, s := range []*fieldusage.Store{f.a, f.b, fieldusage.New(f.pool, f.a.Options)} {
		running.Go(func() {
			for round := range rounds {
				for i := range each {
					s.Note(company, fmt.Sprint("app ", i), "", fields(fmt.Sprint("Q", round%2), "Query.a", "Query.b"), nil)
				}
				if err := s.Flush(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	running.Wait()
	sum := int64(0)
	for of, n := range f.uses() {
		if strings.HasPrefix(of, "Query.a ") {
			sum += n
		}
	}
	if rows := f.count(`SELECT count(*) FROM field_uses WHERE client <> 'others'`); sum != 3*rounds*each || rows != 8 {
		t.Errorf("%d uses in %d rows", sum, rows)
	}
}

func TestOldCountsAreRemovedWithTheirSets(t *testing.T) {
	t.Parallel()
	f := newFixture(t, fieldusage.Options{})
	old, still := fields("Old", "Query.gone", "Query.a"), fields("Q", "Query.a")
	f.now = noon.AddDate(0, 0, -10)
	for range 5 {
		f.a.Note(company, "app", "", old, nil)
		f.a.Note(company, "app", "", still, nil)
		f.now = f.now.AddDate(0, 0, 1)
	}
	f.now = noon
	f.a.Note(company, "app", "", still, nil)
	f.a.Note(2, "app", "", still, nil)
	f.flush(f.a)
	expired, _ := retention.InForce{Kind: retention.Of(retention.Fields), Kept: 8}.Expired(noon)
	if n, err := f.a.Prune(t.Context(), expired); n != 4 || err != nil {
		t.Fatal(n, err)
	}
	f.check(map[string]int64{"Query.gone app  Old": 3, "Query.a app  Old": 3, "Query.a app  Q": 4})
	expired, _ = retention.InForce{Kind: retention.Of(retention.Fields), Kept: 2}.Expired(noon)
	if n, err := f.a.Prune(t.Context(), expired); n != 6 || err != nil {
		t.Fatal(n, err)
	}
	f.check(map[string]int64{"Query.a app  Q": 1})
	if sets := f.count(`SELECT count(*) FROM field_sets WHERE company_id = 1`); sets != 1 {
		t.Errorf("%d sets are left", sets)
	}
}

func BenchmarkNote(b *testing.B) {
	s := fieldusage.New(nil, fieldusage.Options{})
	of := fields("Q", "Query.a", "Query.b", "Query.c")
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			s.Note(company, "app", "1.2", of, nil)
		}
	})
}
