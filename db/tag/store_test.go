package tag_test

import (
	"fmt"
	"sync"
	"testing"

	"simgraph/db/fleettest"
	"simgraph/db/tag"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

func TestTagsAreCountedOverTheVisibleSubscribers(t *testing.T) {
	t.Parallel()
	tags := tag.New(fleettest.NewInventory(t))
	for _, c := range []struct {
		scope domain.Scope
		names string
		want  string
	}{
		{fleettest.All, "[fleet z]", "map[fleet:4 z:1]"},
		{fleettest.VansOnly, "[fleet]", "map[fleet:4]"},
		{domain.Scope{Company: fleettest.Acme, Groups: []int64{13}}, "[z]", "map[z:1]"},
		{domain.Whole(99), "[]", "map[]"},
	} {
		slice := fleettest.Must[domain.Slice[domain.TagName]](t)(tags.List(t.Context(), c.scope, domain.Listing{Page: domain.Page{Limit: 25}}))
		n := fleettest.Must[int](t)(tags.Count(t.Context(), c.scope, domain.Listing{}))
		if got := fmt.Sprint(slice.Items); got != c.names || n != len(slice.Items) {
			t.Errorf("got %s and %d, want %s", got, n, c.names)
		}
		counts := fleettest.Must[map[domain.TagName]int](t)(tags.CountsOf(t.Context(), c.scope, []domain.TagName{"fleet", "z", "none"}))
		if got := fmt.Sprint(counts); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

func TestATagIsAttachedToAllOrToNone(t *testing.T) {
	t.Parallel()
	pool := fleettest.NewInventory(t)
	tags := tag.New(pool)
	ctx := t.Context()
	_, err := tags.Attach(ctx, fleettest.All, "new", []string{"p01", "p99"})
	fleettest.WantKind(t, err, domain.KindNotFound)
	_, err = tags.Attach(ctx, fleettest.VansOnly, "new", []string{"p01", "p07"})
	fleettest.WantKind(t, err, domain.KindNotFound)
	if n := fleettest.Must[int](t)(tags.Count(ctx, fleettest.All, domain.Listing{})); n != 2 {
		t.Fatalf("a refused attach left %d tags", n)
	}
	if n := fleettest.Must[int](t)(tags.Attach(ctx, fleettest.All, "fleet", []string{"p01", "p05", "p05"})); n != 1 {
		t.Fatalf("attached to %d", n)
	}
	fleettest.WantKind(t, tags.Detach(ctx, fleettest.All, "fleet", []string{"p01", "p06"}), domain.KindNotFound)
	if counts := fleettest.Must[map[domain.TagName]int](t)(tags.CountsOf(ctx, fleettest.All, []domain.TagName{"fleet", "none"})); counts["fleet"] != 5 || len(counts) != 1 {
		t.Fatalf("got %v", counts)
	}
	fatal.If(t, tags.Detach(ctx, fleettest.All, "fleet", []string{"p01", "p05"}))
	rivals := fleettest.Must[map[domain.TagName]int](t)(tags.CountsOf(ctx, domain.Whole(fleettest.Rival), []domain.TagName{"fleet"}))
	if rivals["fleet"] != 4 {
		t.Fatalf("the other company's tags changed: %v", rivals)
	}
}

// Citus reports rows that conflict as affected: they are neither counted nor audited.
func TestATagThatIsAttachedAgainIsNotCounted(t *testing.T) {
	t.Parallel()
	pool := fleettest.NewInventory(t)
	tags := tag.New(pool)
	for attempt, want := range []int{2, 0} {
		if n := fleettest.Must[int](t)(tags.Attach(t.Context(), fleettest.All, "new", []string{"p01", "p02"})); n != want {
			t.Errorf("attempt %d: attached to %d, want %d", attempt, n, want)
		}
	}
	var entries int
	if err := pool.Get(&entries, `SELECT count(*) FROM audit_log WHERE company_id = $1 AND action = $2`, fleettest.Acme, domain.AuditTagAttach); err != nil || entries != 1 {
		t.Errorf("%d entries of the audit log, want 1: %v", entries, err)
	}
}

func TestConcurrentAttachesOfManyDoNotDeadlock(t *testing.T) {
	t.Parallel()
	tags := tag.New(fleettest.NewInventory(t))
	orders := [][]string{{"p01", "p02", "p03", "p04"}, {"p04", "p03", "p02", "p01"}}
	var writers sync.WaitGroup
	for i := range 8 {
		writers.Go(func() {
			for n := range 10 {
				tag := domain.TagName(fmt.Sprint("t", n%2))
				if _, err := tags.Attach(t.Context(), fleettest.All, tag, orders[i%2]); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
}

func TestPartsOfTheTagsOfManySubscribers(t *testing.T) {
	t.Parallel()
	pool := fleettest.NewInventory(t)
	pool.MustExec(`INSERT INTO subscriber_tags SELECT 1, 1, 'a' || n FROM generate_series(1, 5) n`)
	tags := tag.New(pool)
	got := fleettest.Must[map[int64][]domain.TagName](t)(tags.OfMany(t.Context(), fleettest.All, []int64{1, 2, 9}, domain.Page{Limit: 2, Offset: 1}))
	if fmt.Sprint(got) != "map[1:[a2 a3]]" {
		t.Fatalf("got %v", got)
	}
	if n := fleettest.Must[map[int64]int](t)(tags.NumberOf(t.Context(), fleettest.All, []int64{1, 2, 9})); fmt.Sprint(n) != "map[1:6 2:1]" {
		t.Fatalf("got %v", n)
	}
}
