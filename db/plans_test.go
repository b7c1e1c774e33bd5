package db_test

import (
	"context"
	"testing"
	"time"

	"simgraph/db/dbtest"
	"simgraph/db/fleettest"
	"simgraph/db/group"
	"simgraph/db/pg"
	"simgraph/db/subscriber"
	"simgraph/db/tag"
	"simgraph/db/usage"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

// PostgreSQL keeps the plan of a look-up by one key from its sixth execution on, and
// makes a new one each time for what depends on its values.
func TestLookUpsByOneKeyKeepTheirPlan(t *testing.T) {
	dbtest.WithoutCitus(t, "plans of PostgreSQL")
	t.Parallel()
	pool := fleettest.NewInventory(t)
	pool.SetMaxOpenConns(1)
	pool.MustExecContext(t.Context(), "ANALYZE")
	subscribers, groups, tags, records := subscriber.New(pool), group.New(pool), tag.New(pool), usage.New(pool, nil, usage.Options{})
	everything := domain.Projection{Fields: ^domain.FieldSet(0), PeriodStart: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)}
	lookUps := []func(context.Context, int64) error{
		func(ctx context.Context, _ int64) error {
			_, err := subscribers.Find(ctx, fleettest.All, "p01", everything)
			return err
		},
		func(ctx context.Context, key int64) error {
			_, err := subscribers.OfKeys(ctx, fleettest.All, []int64{key}, everything)
			return err
		},
		func(ctx context.Context, id int64) error {
			_, err := groups.FindMany(ctx, fleettest.All, []int64{id})
			return err
		},
		func(ctx context.Context, key int64) error {
			_, err := tags.OfMany(ctx, fleettest.All, []int64{key}, domain.Page{Limit: 10})
			return err
		},
		func(ctx context.Context, key int64) error {
			_, err := tags.NumberOf(ctx, fleettest.All, []int64{key})
			return err
		},
		func(ctx context.Context, key int64) error {
			_, err := records.CurrentOf(ctx, fleettest.All, everything.PeriodStart, []int64{key})
			return err
		},
	}
	for _, lookUp := range lookUps {
		for key := range int64(8) {
			fatal.If(t, lookUp(t.Context(), key+1))
		}
	}
	type plans struct {
		Statement     string
		Generic, Made int
	}
	kept := fleettest.Must[[]*plans](t)(pg.SelectAll[plans](t.Context(), pool, `SELECT statement, generic_plans AS generic, custom_plans AS made
FROM pg_prepared_statements WHERE generic_plans + custom_plans >= 8`))
	if len(kept) != len(lookUps) {
		t.Errorf("%d statements ran often, want %d", len(kept), len(lookUps))
	}
	for _, p := range kept {
		if p.Generic == 0 {
			t.Errorf("planned %d times: %s", p.Made, p.Statement)
		}
	}
}
