package db_test

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"simgraph/db"
	"simgraph/db/dbtest"
	"simgraph/db/pg"
	"simgraph/internal/fatal"
)

// madeAs returns a new database of those options.
func madeAs(t *testing.T, options string) *sqlx.DB {
	t.Helper()
	admin := dbtest.New(t)
	name := "fit_" + strings.ToLower(rand.Text())
	admin.MustExec(`CREATE DATABASE ` + name + ` TEMPLATE template0 ` + options)
	at, err := url.Parse(dbtest.URL(t))
	fatal.If(t, err)
	at.Path = "/" + name
	pool, err := pg.Open(t.Context(), at.String(), pg.Options{MaxConns: 2})
	fatal.If(t, err)
	t.Cleanup(func() {
		_ = pool.Close()
		_, _ = admin.Exec(`DROP DATABASE ` + name + ` WITH (FORCE)`)
	})
	return pool
}

const everything = `SELECT count(*) FROM pg_class WHERE relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace, 'pg_toast'::regnamespace)`

func TestADatabaseOfSomethingElseIsRefusedBeforeItIsWrittenTo(t *testing.T) {
	dbtest.WithoutCitus(t, "new databases")
	t.Parallel()
	utf8 := `ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'`
	for what, of := range map[string]struct{ options, sql, reason string }{
		"tables":                   {utf8, `CREATE TABLE orders (id int); CREATE VIEW totals AS SELECT 1 AS n`, "holds tables of something else (orders, totals)"},
		"a table of our names":     {utf8, `CREATE TABLE companies (id int)`, "(companies)"},
		"migrations of another":    {utf8, `CREATE TABLE goose_db_version (id int, version_id bigint, is_applied bool); INSERT INTO goose_db_version VALUES (1, 0, true), (2, 7, true); CREATE TABLE orders (id int)`, "that of another program"},
		"what failed half way":     {utf8, `CREATE TABLE goose_db_version (id int, version_id bigint, is_applied bool); INSERT INTO goose_db_version VALUES (1, 0, true); CREATE TABLE orders (id int)`, "something else (orders)"},
		"no encoding":              {`ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C'`, ``, "is SQL_ASCII, and simgraph needs UTF8"},
		"an encoding of one byte":  {`ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'`, ``, "is LATIN1, and simgraph needs UTF8"},
		"a schema of our names":    {utf8, `CREATE SCHEMA analyst; CREATE VIEW analyst.totals AS SELECT 1 AS n`, "has a schema of something else that simgraph makes (analyst)"},
		"no schema to make tables": {utf8, `DROP SCHEMA public`, "has no schema to make tables in"},
	} {
		t.Run(what, func(t *testing.T) {
			pool := madeAs(t, of.options)
			if of.sql != "" {
				pool.MustExec(of.sql)
			}
			var before, after int
			_ = pool.Get(&before, everything)
			migrations := db.NewMigrations(pool, nil, slog.New(slog.DiscardHandler))
			for name, attempt := range map[string]func() error{
				"up":      func() error { _, err := migrations.Up(t.Context()); return err },
				"down":    func() error { _, err := migrations.DownTo(t.Context(), 0); return err },
				"losses":  func() error { _, _, err := migrations.Undoing(t.Context(), nil); return err },
				"status":  func() error { _, _, err := db.MigrationStatus(t.Context(), pool); return err },
				"current": func() error { return db.Current(t.Context(), pool) },
			} {
				if err := attempt(); err == nil || !strings.Contains(err.Error(), of.reason) || strings.Contains(err.Error(), "\n") {
					t.Errorf("%s: %v", name, err)
				}
			}
			if _ = pool.Get(&after, everything); after != before {
				t.Errorf("%d relations were made", after-before)
			}
		})
	}
	pool := madeAs(t, utf8)
	pool.MustExec(`CREATE SCHEMA other; CREATE TABLE other.orders (id int)`)
	if err := db.Migrate(t.Context(), pool); err != nil {
		t.Errorf("tables in another schema: %v", err)
	}
	pool.MustExec(`DROP SCHEMA public CASCADE; CREATE SCHEMA public`)
	if err := db.Migrate(t.Context(), pool); err != nil {
		t.Errorf("emptied, but for schemas of SQL roles: %v", err)
	}
}

func TestARoleMigratesThatMayMakeSchemasAndIsNoSuperuser(t *testing.T) {
	dbtest.WithoutCitus(t, "new databases")
	t.Parallel()
	admin, role := dbtest.New(t), "fit_"+strings.ToLower(rand.Text())
	admin.MustExec(`CREATE ROLE ` + role + ` LOGIN PASSWORD 'secret'`)
	t.Cleanup(func() { admin.MustExec(`DROP ROLE ` + role) })
	pool := madeAs(t, `ENCODING 'UTF8'`)
	pool.MustExec(`GRANT CREATE ON SCHEMA public TO ` + role)
	var name string
	fatal.If(t, pool.Get(&name, `SELECT current_database()`))
	at, err := url.Parse(dbtest.URL(t))
	fatal.If(t, err)
	at.Path, at.User = "/"+name, url.UserPassword(role, "secret")
	own, err := pg.Open(t.Context(), at.String(), pg.Options{MaxConns: 2})
	fatal.If(t, err)
	defer own.Close()
	if err := db.Migrate(t.Context(), own); !db.IsUnfit(err) || !strings.Contains(err.Error(), "GRANT CREATE ON DATABASE") {
		t.Errorf("without the right to make schemas: %v", err)
	}
	pool.MustExec(`GRANT CREATE ON DATABASE ` + name + ` TO ` + role)
	if err := db.Migrate(t.Context(), own); err != nil {
		t.Error(err)
	}
}

func TestMigrationsOfANewerVersionAreNamed(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	pool.MustExec(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, true), (99998, true)`)
	all, unknown, err := db.MigrationStatus(t.Context(), pool)
	if err != nil || len(all) == 0 || fmt.Sprint(unknown) != "[99998 99999]" {
		t.Errorf("%d, %v, %v", len(all), unknown, err)
	}
	migrations := db.NewMigrations(pool, nil, slog.New(slog.DiscardHandler))
	if _, _, err := migrations.Undoing(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "of a newer version") {
		t.Errorf("undoing: %v", err)
	}
	for _, to := range []int64{11, -1, 123456} {
		if _, _, err := migrations.Undoing(t.Context(), &to); err == nil || !strings.Contains(err.Error(), "there is no migration") {
			t.Errorf("undoing all after %d: %v", to, err)
		}
	}
}
