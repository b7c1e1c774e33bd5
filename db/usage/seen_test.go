package usage_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"simgraph/db/fleettest"
	"simgraph/db/subscriber"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

// lastSeenOf reads when subscribers were seen last; "never" for one that never was.
func (f *usageFleet) lastSeenOf(physicalIDs ...string) (seen []string) {
	f.Helper()
	read := domain.Projection{Fields: fleettest.Must[domain.FieldSet](f)(fieldNamed("LastSeenAt"))}
	found := fleettest.Must[map[string]*domain.Subscriber](f)(subscriber.New(f.Pool).FindMany(f.Context(), f.Scope, physicalIDs, read))
	for _, id := range physicalIDs {
		if at := found[id].LastSeenAt; at != nil {
			seen = append(seen, at.UTC().Format("02 15:04"))
		} else {
			seen = append(seen, "never")
		}
	}
	return seen
}

func fieldNamed(name string) (domain.FieldSet, error) {
	field, is := domain.FieldNamed(name)
	if !is {
		return 0, fmt.Errorf("no field is named %s", name)
	}
	return field, nil
}

func (f *usageFleet) mustBeSeen(physicalID, want string) {
	f.Helper()
	if got := f.lastSeenOf(physicalID)[0]; got != want {
		f.Errorf("%s was seen last at %s, not %s", physicalID, got, want)
	}
}

func TestASubscriberIsSeenWhenItsLastUsageEnds(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 3)
	f.mustBeSeen("s0", "never")
	hours := func(physicalID string, n int) domain.UsageRecord {
		return fleettest.UsageOf(physicalID, fmt.Sprint(physicalID, n), fleettest.UsageNow.Add(-time.Duration(n)*time.Hour))
	}
	f.Record(hours("s0", 5), hours("s1", 30))
	f.mustBeSeen("s0", "20 07:35")
	f.Record(hours("s0", 9), hours("s0", 2), hours("s0", 4), hours("s1", 900)) // unsorted, of several billing periods
	f.mustBeSeen("s0", "20 10:35")
	f.mustBeSeen("s1", "19 06:35")
	f.Record(hours("s0", 3)) // late
	f.mustBeSeen("s0", "20 10:35")
	f.mustBeSeen("s2", "never")
	f.MustAgree()
}

func TestASubscriberIsSeenWhenASessionIsReported(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 2)
	began := fleettest.UsageNow.Add(-2 * time.Hour)
	f.Record(fleettest.ReadingOf("s1", "a", began, 0, 0, 0))
	f.mustBeSeen("s1", "20 10:30")
	f.Record(fleettest.ReadingOf("s1", "a", began, 20, 5, 7), fleettest.ReadingOf("s1", "b", began, 10, 5, 7))
	f.mustBeSeen("s1", "20 10:50")
	f.Record(fleettest.ReadingOf("s1", "a", began, 60, 5, 7)) // without new bytes
	f.mustBeSeen("s1", "20 11:30")
	f.Record(fleettest.ReadingOf("s1", "a", began, 40, 5, 7)) // late
	f.mustBeSeen("s1", "20 11:30")

	f.Record(fleettest.ReadingOf("late", "c", began, 0, 0, 0), fleettest.ReadingOf("late", "c", began, 30, 0, 0))
	f.Add("late", 1)
	fatal.If(t, f.Usage.ReconcileAll(t.Context()))
	f.mustBeSeen("late", "20 11:00")
	f.MustAgree()
}

func TestWaitingUsageIsSeenWhenItsSubscriberAppears(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 1)
	f.Record(fleettest.UsageOf("late", "l", fleettest.UsageNow.Add(-50*time.Hour)))
	f.Add("late", 1)
	fatal.If(t, f.Usage.ReconcileAll(t.Context()))
	f.mustBeSeen("late", "18 10:35")
	f.MustAgree()
}

func TestARebuildKeepsWhatIsOlderThanTheLedger(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 3)
	f.Record(fleettest.UsageOf("s0", "l", fleettest.UsageNow.Add(-50*time.Hour)))
	f.Pool.MustExec(`INSERT INTO subscriber_seen VALUES ($1, $2, '2020-01-02Z')`, f.Scope.Company, f.Keys["s1"])
	f.MustAgree()
	f.mustBeSeen("s1", "02 00:00")
}

// The migration fills in what bookings have left.
func TestWhatWasSeenBeforeTheMigrationIsFilledIn(t *testing.T) {
	t.Parallel()
	f := newUsageFleet(t, 6)
	for n := range 200 {
		id := fmt.Sprintf("s%d", rand.IntN(4))
		f.Record(fleettest.UsageOf(id, fmt.Sprint("r", n), fleettest.UsageNow.Add(-time.Duration(rand.IntN(60*24))*time.Hour)))
	}
	f.Record(fleettest.ReadingOf("s4", "a", fleettest.UsageNow.Add(-2*time.Hour), 30, 0, 0), fleettest.ReadingOf("s1", "b", fleettest.UsageNow.Add(-100*time.Minute), 90, 0, 0))
	ids := []string{"s0", "s1", "s2", "s3", "s4", "s5"}
	want := f.lastSeenOf(ids...)
	migration := string(fleettest.Must[[]byte](t)(os.ReadFile("../migrations/00170_subscriber_seen.sql")))
	_, fill, _ := strings.Cut(migration, "INSERT INTO")
	fill, _, _ = strings.Cut(fill, "-- +goose Down")
	f.Pool.MustExec(`DELETE FROM subscriber_seen`)
	f.Pool.MustExec("INSERT INTO" + fill)
	if got := f.lastSeenOf(ids...); !slices.Equal(got, want) {
		t.Errorf("filled in %v, want %v", got, want)
	}
}

func TestSubscribersAreFilteredAndOrderedByWhenTheyWereSeen(t *testing.T) {
	t.Parallel()
	pool := fleettest.NewInventory(t)
	pool.MustExec(`INSERT INTO subscriber_seen SELECT company_id, key, timestamptz '2026-11-01Z' + (10 - right(physical_id, 1)::int) * interval '1 day'
FROM subscribers WHERE physical_id IN ('p02', 'p04', 'p07')`)
	store := subscriber.New(pool)
	for _, c := range []struct {
		scope         domain.Scope
		filter, order string
		want          []string
	}{
		{fleettest.All, `lastSeenAt lt 2026-11-08`, "", []string{"p04", "p07"}},
		{fleettest.All, `lastSeenAt ge 2026-11-07`, "", []string{"p02", "p04"}},
		{fleettest.All, `lastSeenAt eq null and groupId eq 12`, "", []string{"p01", "p03", "p05", "p06"}},
		{fleettest.VansOnly, `lastSeenAt ne null`, "lastSeenAt", []string{"p04", "p02"}},
		{fleettest.All, `lastSeenAt ne null`, "lastSeenAt DESC", []string{"p02", "p04", "p07"}},
	} {
		listing := fleettest.Listing(t, c.filter, c.order, 100)
		fleettest.WantIDs(t, fleettest.Must[domain.Slice[*domain.Subscriber]](t)(store.List(t.Context(), c.scope, listing)).Items, c.want...)
		if n := fleettest.Must[int](t)(store.Count(t.Context(), c.scope, listing)); n != len(c.want) {
			t.Errorf("%s: counted %d, want %d", c.filter, n, len(c.want))
		}
	}
}
