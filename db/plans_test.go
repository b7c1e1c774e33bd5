package db_test

import (
	"context"
	"fmt"
	"strings"
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

// The ledger and its totals have many more rows, and are read by spans of time.
const readByTime = `('usage_records', 'usage_ids', 'usage_sessions', 'subscriber_days', 'group_hours', 'group_sessions', 'company_hours', 'company_sessions', 'ip_days', 'ip_months')`

const expectsFew = `
SELECT a.attrelid::regclass::text FROM pg_attribute a
JOIN pg_class c ON c.oid = a.attrelid
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND a.attname = 'company_id'
  AND c.relname NOT IN ` + sharedTables + ` AND c.relname NOT IN ` + readByTime + `
  AND COALESCE(a.attoptions, '{}') @> '{n_distinct=-0.0001}' IS FALSE`

func TestThePlannerExpectsManyRowsOfACompany(t *testing.T) {
	dbtest.WithoutCitus(t, "Citus has it in the parts of each table")
	t.Parallel()
	var few []string
	fatal.If(t, dbtest.New(t).Select(&few, expectsFew))
	if len(few) > 0 {
		t.Errorf("expected to have few rows of each company: %s; call simgraph_expect_rows", strings.Join(few, ", "))
	}
}

// A company of many subscribers, and many companies of one.
const (
	largeCompany = `
INSERT INTO subscribers (company_id, kind, physical_id, subscriber_id, imsi, nickname, operator_code, tariff_name, connection_date,
  expiry_date, contract_length, is_barred, is_active, group_id, subscriber_type, is_transferring, is_online)
SELECT $1, 'cellular', 'many' || n, 'm' || n, '', '', '23415', 'IoT', '2026-01-01', '2030-01-01', 12, false, true, 1, 'physical', false, false
FROM generate_series(1, 20000) AS n`
	smallCompanies = `
WITH looked AS (
  INSERT INTO company_lookup (external_id) SELECT 'small' || n FROM generate_series(1, 4000) AS n RETURNING company_id, external_id
), companies AS (
  INSERT INTO companies (company_id, external_id, name) SELECT company_id, external_id, external_id FROM looked
), tariffs AS (
  INSERT INTO tariffs SELECT company_id, 'IoT', 100, 'GBP' FROM looked
)
INSERT INTO subscribers (company_id, kind, physical_id, subscriber_id, imsi, nickname, operator_code, tariff_name, connection_date,
  expiry_date, contract_length, is_barred, is_active, subscriber_type, is_transferring, is_online)
SELECT company_id, 'cellular', 'only', 'o', '', '', '23415', 'IoT', '2026-01-01', '2030-01-01', 12, false, true, 'physical', false, false FROM looked`
	memberships = `INSERT INTO group_memberships SELECT company_id, key, '2026-01-01', group_id FROM subscribers`
	tagged      = `INSERT INTO subscriber_tags SELECT company_id, key, 'tag ' || key % 10 FROM subscribers`
)

// A kept plan serves all companies. Beside many small ones it must not expect so few rows of
// a large one that it reads all of them instead of the few that are asked for.
func TestPlansForManySmallCompaniesDoNotReadALargeOne(t *testing.T) {
	dbtest.WithoutCitus(t, "plans of PostgreSQL")
	t.Parallel()
	f := fleettest.NewUsageFleet(t, 3)
	f.Pool.SetMaxOpenConns(1)
	f.Pool.MustExec(largeCompany, f.Scope.Company)
	for _, sql := range []string{smallCompanies, memberships + ` WHERE physical_id LIKE 'many%'`, tagged, `ANALYZE`, `SET plan_cache_mode = force_generic_plan`} {
		f.Pool.MustExec(sql)
	}
	var ids []string
	var keys []int64
	fatal.If(t, f.Pool.Select(&ids, `SELECT physical_id FROM subscribers WHERE company_id = $1 ORDER BY key DESC LIMIT 4`, f.Scope.Company))
	fatal.If(t, f.Pool.Select(&keys, `SELECT key FROM subscribers WHERE company_id = $1 ORDER BY key DESC LIMIT 4`, f.Scope.Company))
	subscribers, tags := subscriber.New(f.Pool), tag.New(f.Pool)
	everything := domain.Projection{Fields: ^domain.FieldSet(0), PeriodStart: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)}
	for what, do := range map[string]func() error{
		"records of usage": func() error {
			var records []domain.UsageRecord
			for _, id := range ids {
				records = append(records, fleettest.UsageOf(id, "r-"+id, fleettest.UsageNow.Add(-time.Hour)))
			}
			f.Record(records...)
			return nil
		},
		"a tag on some": func() error {
			_, err := tags.Attach(t.Context(), f.Scope, "new", ids)
			return err
		},
		"a tag of one": func() error {
			return tags.Detach(t.Context(), f.Scope, domain.TagName(fmt.Sprintf("tag %d", keys[0]%10)), ids[:1])
		},
		"subscribers by their keys": func() error {
			_, err := subscribers.OfKeys(t.Context(), f.Scope, keys, everything)
			return err
		},
		"subscribers by their names": func() error {
			_, err := subscribers.FindMany(t.Context(), f.Scope, ids, everything)
			return err
		},
		"their tags": func() error {
			_, err := tags.OfMany(t.Context(), f.Scope, keys, domain.Page{Limit: 10})
			return err
		},
		"a page of subscribers": func() error {
			_, err := subscribers.List(t.Context(), f.Scope, fleettest.Listing(t, "", "", 50))
			return err
		},
	} {
		before := dbtest.PagesRead(t, f.Pool, "")
		fatal.If(t, do())
		// A look-up takes some pages, all subscribers of the company take 400 and their index 150.
		if pages := dbtest.PagesRead(t, f.Pool, "") - before; pages > 100*len(ids) {
			t.Errorf("%s: %d pages are read", what, pages)
		}
	}
}
