package sqlrole_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db"
	"simgraph/db/audit"
	"simgraph/db/dbtest"
	"simgraph/db/fleettest"
	"simgraph/db/sqlrole"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

func TestMain(m *testing.M) { dbtest.Main(m, db.Migrate) }

// fleet has a row of both companies in each table that a view reads; all texts of the rival's
// say so.
type fleet struct {
	*testing.T
	pool  *sqlx.DB
	store *sqlrole.Store
	// address is that of the pool.
	address *url.URL
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	dbtest.WithoutCitus(t, "SQL roles are refused there")
	pool := fleettest.NewInventory(t)
	pool.MustExec(`
UPDATE companies SET time_zone = 'Europe/London' WHERE company_id = 1;
INSERT INTO tariffs VALUES (2, 'rival', 1, 'GBP');
UPDATE groups SET name = 'rival ' || name WHERE company_id = 2;
UPDATE subscribers SET physical_id = 'rival' || physical_id, subscriber_id = 'rival' || subscriber_id, imsi = 'rival', nickname = 'rival', tariff_name = 'rival' WHERE company_id = 2;
UPDATE subscriber_tags SET tag_name = 'rival ' || tag_name WHERE company_id = 2;
INSERT INTO usage_protocols SELECT company_id, 1, CASE company_id WHEN 1 THEN 'TCP' ELSE 'rival' END FROM companies;
INSERT INTO subscriber_days (company_id, day, subscriber_key, group_id, mobile_originated, mobile_terminated, sessions, last_seen, cells, ip_originated, ip_terminated, ip_differs)
  SELECT company_id, '2026-11-01', key, coalesce(group_id, 0), 10 * company_id, 20, 1, '2026-11-01 01:30Z', ARRAY[0, 0, 0, 0, 1, 24, 4 * company_id, 20, 0, 0, 25, 6 * company_id, 0, 0, 0], 0, 0, false FROM subscribers;
INSERT INTO subscriber_periods (company_id, period_start, subscriber_key, mobile_originated, mobile_terminated, last_seen)
  SELECT company_id, '2026-11-01Z', key, 10 * company_id, 20, '2026-11-01 01:30Z' FROM subscribers;
INSERT INTO group_hours SELECT company_id, group_id, '2026-11-01 00:00Z', 'TCP', 100 * company_id, 7 FROM groups;
INSERT INTO group_sessions SELECT company_id, group_id, '2026-11-01 00:00Z', 3 FROM groups;
INSERT INTO group_periods SELECT company_id, '2026-11-01Z', group_id, 100 * company_id, 7 FROM groups;
INSERT INTO subscriber_seen (company_id, subscriber_key, last_seen_at) SELECT company_id, key, '2026-11-01Z' FROM subscribers;
INSERT INTO sessions (company_id, identity, generation, subscriber_key, source, nas, session_id, physical_id, imsi, msisdn, began_at, as_of, reported_at,
  interval_seconds, cause, mobile_originated, mobile_terminated, reports, booked, is_transferring, decreased, clock_off, apn, imei, rat_type, visited_network)
  SELECT s.company_id, gen_random_uuid(), 0, s.key, CASE s.company_id WHEN 1 THEN 'pgw' ELSE 'rival' END, '', 's', s.physical_id, s.imsi, '', '2026-11-01Z', '2026-11-01Z', '2026-11-01Z',
    300, '', 1, 1, 1, 1, false, false, false, '', '', '', '23410' FROM subscribers s;
INSERT INTO alerts (company_id, rule_type, subscriber_key, date_created, name)
  SELECT s.company_id, 'sim', s.key, '2026-11-01Z', CASE s.company_id WHEN 2 THEN 'rival' END FROM subscribers s;
INSERT INTO alert_thresholds SELECT a.company_id, a.alert_id, b.boundary, 'sim', a.target_id, b.threshold, 1 FROM alerts a, (VALUES ('lower', 1), ('upper', 2)) b(boundary, threshold);
INSERT INTO condition_log (company_id, alert_id, kind, state, rule_type, target, revision, group_id, target_group_id, source, nas, since, bound, value, trait, before, after, is_open, notification_id, date_created)
  SELECT company_id, 1, 'silent', 'fired', 'grouppr', '12', 1, group_id, group_id, '', '', '2026-11-01Z', 1, company_id, '', '', '', false, gen_random_uuid(), '2026-11-01Z' FROM groups`)
	address, err := url.Parse(dbtest.URL(t))
	fatal.If(t, err)
	var name string
	fatal.If(t, pool.Get(&name, "SELECT current_database()"))
	address.Path = "/" + name
	return &fleet{t, pool, sqlrole.New(pool, time.Now), address}
}

// A database of Citus gets no role, and says so in a line.
func TestSQLRolesAreRefusedOnCitus(t *testing.T) {
	if !dbtest.OnCitus() {
		t.Skip("needs Citus")
	}
	t.Parallel()
	pool := fleettest.NewInventory(t)
	role := domain.SQLRole{Name: fmt.Sprintf("bi_%d_refused", os.Getpid()), Statement: time.Minute, Connections: 4}
	_, err := sqlrole.New(pool, time.Now).Create(t.Context(), domain.Whole(1), role)
	if err == nil || !strings.Contains(err.Error(), "need a database that Citus has not distributed") {
		t.Errorf("%v", err)
	}
	var made int
	fatal.If(t, pool.Get(&made, "SELECT (SELECT count(*) FROM pg_roles WHERE rolname = $1) + (SELECT count(*) FROM sql_roles)", role.Name))
	if made > 0 {
		t.Errorf("%d roles", made)
	}
}

var roles atomic.Int64

// role returns one with a name that no test on the server has.
func (f *fleet) role() domain.SQLRole {
	return domain.SQLRole{Name: fmt.Sprintf("bi_%d_%d", os.Getpid(), roles.Add(1)), Statement: time.Minute, Connections: 4}
}

// create makes a role, drops it after the test, and returns connections of it.
func (f *fleet) create(company domain.CompanyID, role domain.SQLRole) *sqlx.DB {
	f.Helper()
	scope := domain.Whole(company)
	password, err := f.store.Create(f.Context(), scope, role)
	fatal.If(f.T, err)
	f.Cleanup(func() {
		if err := f.store.Drop(context.Background(), scope, role.Name); err != nil && !strings.Contains(err.Error(), "no SQL role") {
			f.Error(err)
		}
	})
	return f.open(role.Name, password)
}

func (f *fleet) open(name, password string) *sqlx.DB {
	f.Helper()
	address := *f.address
	address.User = url.UserPassword(name, password)
	own, err := sqlx.Open("postgres", address.String())
	fatal.If(f.T, err)
	own.Mapper = f.pool.Mapper
	f.Cleanup(func() { own.Close() })
	return own
}

// views are those of the catalogue.
func (f *fleet) views() (names []string) {
	f.Helper()
	fatal.If(f.T, f.pool.Select(&names, `SELECT relname FROM pg_class WHERE relnamespace = 'analyst'::regnamespace ORDER BY oid`))
	if len(names) < 10 {
		f.Fatal(names)
	}
	return names
}

func (f *fleet) rows(of *sqlx.DB, view string) (rows []string) {
	f.Helper()
	fatal.If(f.T, of.Select(&rows, `SELECT to_jsonb(v)::text FROM analyst.`+view+` v`))
	return rows
}

func number(t *testing.T, of *sqlx.DB, query string) (n int64) {
	t.Helper()
	fatal.If(t, of.Get(&n, query))
	return n
}

func TestViewsShowTheCompanyOfTheRoleAlone(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	acme, rival := f.create(fleettest.Acme, f.role()), f.create(fleettest.Rival, f.role())
	for _, view := range f.views() {
		own, others := f.rows(acme, view), f.rows(rival, view)
		if len(own) == 0 || len(others) != len(own) && view != "tariffs" {
			t.Errorf("%s has %d rows of acme, and %d of its rival", view, len(own), len(others))
		}
		if strings.Contains(strings.Join(own, " "), "rival") {
			t.Errorf("%s shows the rival: %s", view, own)
		}
		if rows := f.rows(f.pool, view); len(rows) > 0 {
			t.Errorf("%s shows rows to a role of no company: %s", view, rows)
		}
	}
	for query, want := range map[string]int64{
		`SELECT sum(mobile_originated) FROM usage_by_hour`:                                          90,
		`SELECT sum(mobile_originated) FROM usage_by_day`:                                           90,
		`SELECT sum(mobile_originated) FROM usage_by_month`:                                         90,
		`SELECT sum(sessions) FROM usage_by_hour`:                                                   9,
		`SELECT sum(mobile_originated) FROM group_usage_by_hour`:                                    200,
		`SELECT sum(mobile_originated) FROM group_usage_by_day WHERE day = '2026-11-01'`:            200,
		`SELECT sum(sessions) FROM group_usage_by_day`:                                              6,
		`SELECT sum(mobile_originated) FROM group_usage_by_month`:                                   200,
		`SELECT count(*) FROM usage_by_hour WHERE protocol = 'TCP' AND hour = '2026-11-01 01:00Z'`:  9,
		`SELECT sum(lower_threshold + upper_threshold) FROM alerts`:                                 27,
		`SELECT sum(value) FROM alert_log`:                                                          2,
		`SELECT count(*) FROM subscribers WHERE tariff_name IS NULL`:                                6,
		`SELECT count(*) FROM subscribers WHERE line_rental > 0 AND operator_name LIKE 'Vodafone%'`: 2,
	} {
		if got := number(t, acme, query); got != want {
			t.Errorf("%s: %d, want %d", query, got, want)
		}
	}
}

func TestARoleOfGroupsSeesTheseAlone(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	role := f.role()
	role.Groups = []int64{13, 13}
	boats := f.create(fleettest.Acme, role)
	for query, want := range map[string]int64{
		`SELECT count(*) FROM subscribers`:                           2,
		`SELECT count(*) FROM subscribers WHERE tariff_name IS NULL`: 0,
		`SELECT count(*) FROM groups`:                                1,
		`SELECT count(*) FROM tags`:                                  1,
		`SELECT count(*) FROM subscriber_tags`:                       1,
		`SELECT sum(mobile_originated) FROM usage_by_hour`:           20,
		`SELECT sum(mobile_originated) FROM usage_by_day`:            20,
		`SELECT sum(mobile_originated) FROM usage_by_month`:          20,
		`SELECT sum(mobile_originated) FROM group_usage_by_hour`:     100,
		`SELECT sum(mobile_originated) FROM group_usage_by_day`:      100,
		`SELECT sum(mobile_originated) FROM group_usage_by_month`:    100,
		`SELECT count(*) FROM sessions`:                              2,
		`SELECT count(*) FROM alerts`:                                2,
		`SELECT count(*) FROM alert_log`:                             1,
	} {
		if got := number(t, boats, query); got != want {
			t.Errorf("%s: %d, want %d", query, got, want)
		}
	}
	role = f.role()
	role.Groups, role.SeesTariffs = []int64{12}, true
	if got := number(t, f.create(fleettest.Acme, role), `SELECT count(*) FROM subscribers WHERE tariff_name IS NOT NULL`); got != 6 {
		t.Errorf("%d tariffs are seen, want 6", got)
	}
	role = f.role()
	role.Groups = []int64{14}
	_, err := f.store.Create(t.Context(), fleettest.All, role)
	fleettest.WantKind(t, err, domain.KindNotFound)
	_, err = f.store.Create(t.Context(), fleettest.VansOnly, f.role())
	fleettest.WantKind(t, err, domain.KindForbidden)
}

// Whatever the catalogue has: nothing but the views can be used.
func TestARoleReachesNothingElse(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	rival := f.role()
	f.create(fleettest.Rival, rival)
	own := f.role()
	acme := f.create(fleettest.Acme, own)
	hostile := []string{
		`SET ROLE ` + rival.Name, `SET ROLE simgraph`, `SET SESSION AUTHORIZATION ` + rival.Name, `SELECT set_config('session_authorization', '` + rival.Name + `', false)`,
		`SELECT set_config('role', '` + rival.Name + `', false)`, `ALTER ROLE ` + own.Name + ` RENAME TO other`, `ALTER ROLE ` + own.Name + ` CONNECTION LIMIT 100`, `ALTER ROLE ` + own.Name + ` SUPERUSER`,
		`CREATE TEMP TABLE fill AS SELECT 1`, `CREATE TABLE public.mine (i int)`, `CREATE TABLE analyst.mine (i int)`, `CREATE SCHEMA mine`, `CREATE ROLE mine`,
		`CREATE FUNCTION public.leak(text) RETURNS boolean LANGUAGE sql AS 'SELECT true'`, `CREATE FUNCTION pg_temp.leak(text) RETURNS boolean COST 0.0001 LANGUAGE sql AS 'SELECT true'`,
		`CREATE OR REPLACE VIEW analyst.groups AS SELECT 1`, `DROP VIEW analyst.groups`, `ALTER VIEW analyst.groups RESET (security_barrier)`,
		`UPDATE analyst.subscribers SET nickname = ''`, `DELETE FROM analyst.groups`, `INSERT INTO analyst.company (company) VALUES ('x')`, `UPDATE public.sql_roles SET company_id = 2`, `SELECT * FROM analyst_login.session`,
		`COPY analyst.groups TO '/tmp/stolen'`, `COPY (SELECT 1) TO PROGRAM 'true'`, `COPY public.subscribers TO STDOUT`, `SELECT pg_read_file('/etc/passwd')`, `SELECT pg_ls_dir('.')`, `SELECT lo_import('/etc/passwd')`,
		`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename <> session_user`, `CREATE EXTENSION dblink`, `SET temp_file_limit = -1`, `SELECT rolpassword FROM pg_authid`,
	}
	for query, form := range map[string]string{
		`SELECT oid::regclass::text FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm')`:                                                                                                          `SELECT count(*) FROM public.%s`,
		`SELECT oid::regclass::text FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'S'`:                                                                                                                            `SELECT nextval('public.%s')`,
		`SELECT oid::regproc || '(' || array_to_string(ARRAY(SELECT 'NULL::' || format_type(a, NULL) FROM unnest(proargtypes) a), ', ') || ')' FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND proname ~ '^(simgraph|usage)_'`: `SELECT public.%s`,
	} {
		var names []string
		fatal.If(t, f.pool.Select(&names, query))
		if len(names) == 0 {
			t.Errorf("nothing is found by %s", query)
		}
		for _, name := range names {
			hostile = append(hostile, fmt.Sprintf(form, strings.TrimPrefix(name, "public.")))
		}
	}
	for _, statement := range hostile {
		conn, err := acme.Connx(t.Context())
		fatal.If(t, err)
		_, err = conn.ExecContext(t.Context(), `SET default_transaction_read_only = off`)
		fatal.If(t, err)
		if _, err := conn.ExecContext(t.Context(), statement); err == nil || strings.Contains(err.Error(), "does not exist") || strings.Contains(err.Error(), "syntax") {
			t.Errorf("%s: %v", statement, err)
		}
		conn.Close()
	}
	var leaked []string
	fatal.If(t, acme.Select(&leaked, `SELECT query FROM pg_stat_activity WHERE usename <> session_user AND query <> '<insufficient privilege>'
UNION ALL SELECT tablename FROM pg_stats WHERE schemaname = 'public'`))
	if len(leaked) > 0 {
		t.Errorf("statements and statistics of others are seen: %s", leaked)
	}
	// An error of a condition would name values of other companies if it ran below the barrier.
	if got := number(t, acme, `SELECT count(*) FROM groups WHERE 1 / (CASE WHEN name LIKE 'rival%' THEN 0 ELSE 1 END) = 1`); got != 2 {
		t.Errorf("%d groups", got)
	}
	if _, err := acme.Exec(`UPDATE groups SET name = ''`); err == nil {
		t.Error("a write has no error")
	}
}

func TestARoleIsHeldToItsLimits(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	role := f.role()
	role.Statement, role.Connections = time.Second, 2
	own := f.create(fleettest.Acme, role)
	own.SetMaxIdleConns(0)
	if _, err := own.Exec(`SELECT count(*) FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b`); err == nil || !strings.Contains(err.Error(), "statement timeout") {
		t.Errorf("a large join: %v", err)
	}
	// The session that was closed ends on the server a moment later.
	for left := 1; left > 0; {
		fatal.If(t, f.pool.GetContext(t.Context(), &left, `SELECT count(*) FROM pg_stat_activity WHERE usename = $1`, role.Name))
	}
	first, err := own.Connx(t.Context())
	fatal.If(t, err)
	second, err := own.Connx(t.Context())
	fatal.If(t, err)
	if _, err := own.Connx(t.Context()); err == nil || !strings.Contains(err.Error(), "too many connections") {
		t.Errorf("a third connection: %v", err)
	}
	// What a session unsets by itself is ended by the service: a transaction, and a lock that simgraph takes.
	_, err = first.ExecContext(t.Context(), `SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0; BEGIN`)
	fatal.If(t, err)
	_, err = second.ExecContext(t.Context(), `SELECT pg_advisory_lock(1)`)
	fatal.If(t, err)
	end := func(want int) {
		t.Helper()
		if ended, err := f.store.EndOverdue(t.Context()); err != nil || len(ended) != want {
			t.Errorf("ended %s, %v", ended, err)
		}
	}
	end(1)
	if err := second.PingContext(t.Context()); err == nil {
		t.Error("the session with the lock goes on")
	}
	time.Sleep(2 * time.Second)
	end(1)
	if err := first.PingContext(t.Context()); err == nil {
		t.Error("the transaction goes on")
	}
	_, err = first.ExecContext(t.Context(), `SELECT 1`)
	if err == nil {
		t.Error("the transaction goes on")
	}
	end(0)
}

func TestARoleIsOfOneServer(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	role := f.role()
	own := f.create(fleettest.Acme, role)
	if _, err := f.store.Create(t.Context(), domain.Whole(fleettest.Rival), role); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("the name of another company's role: %v", err)
	}
	f.pool.MustExec(`UPDATE sql_roles SET role_oid = 1`) // as after a restore on another server
	if got := number(t, own, `SELECT count(*) FROM subscribers`); got != 0 {
		t.Errorf("a role of another number sees %d subscribers", got)
	}
	list, err := f.store.List(t.Context(), fleettest.All)
	if err != nil || len(list) != 1 || !list[0].IsMissing {
		t.Errorf("%v, %v", list, err)
	}
	own.Close()
	f.pool.MustExec(`DROP OWNED BY ` + role.Name + `; DROP ROLE ` + role.Name)
	if got := number(t, f.create(fleettest.Acme, role), `SELECT count(*) FROM subscribers`); got != 9 {
		t.Errorf("a role that was made again sees %d subscribers", got)
	}
}

func TestADroppedRoleIsGone(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	role := f.role()
	own := f.create(fleettest.Acme, role)
	conn, err := own.Connx(t.Context())
	fatal.If(t, err)
	_, err = conn.ExecContext(t.Context(), `BEGIN; SELECT * FROM groups`)
	fatal.If(t, err)
	fleettest.WantKind(t, f.store.Drop(t.Context(), domain.Whole(fleettest.Rival), role.Name), domain.KindNotFound)
	fatal.If(t, f.store.Drop(t.Context(), fleettest.All, role.Name))
	if _, err := conn.ExecContext(t.Context(), `SELECT * FROM groups`); err == nil {
		t.Error("its session goes on")
	}
	fleettest.WantKind(t, f.store.Drop(t.Context(), fleettest.All, role.Name), domain.KindNotFound)
	if got := number(t, f.pool, fmt.Sprintf(`SELECT count(*) FROM pg_roles WHERE rolname = '%s'`, role.Name)); got != 0 {
		t.Error("the role is left")
	}
	var actions []string
	for entry, err := range audit.NewLog(f.pool).All(t.Context(), fleettest.All, 0) {
		fatal.If(t, err)
		actions = append(actions, entry.Action)
	}
	if got := strings.Join(actions, " "); got != "sqlRole.create sqlRole.drop" {
		t.Errorf("the audit log has %s", got)
	}
}

// A service that owns its database and may create roles needs no superuser.
func TestAServiceOfFewRightsMakesRoles(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	service, super := f.role().Name, f.pool
	super.MustExec(`CREATE ROLE ` + service + ` LOGIN CREATEROLE PASSWORD 'service'`)
	super.MustExec(`CREATE DATABASE ` + service + ` OWNER ` + service + ` TEMPLATE template0`)
	f.address.Path = "/" + service
	pool := f.open(service, "service")
	t.Cleanup(func() {
		pool.Close()
		super.MustExec(`DROP DATABASE ` + service + ` WITH (FORCE)`)
		super.MustExec(`DROP ROLE ` + service)
	})
	fatal.If(t, db.Migrate(t.Context(), pool))
	pool.MustExec(`WITH l AS (INSERT INTO company_lookup (external_id) VALUES ('acme') RETURNING company_id) INSERT INTO companies SELECT company_id, 'acme', 'acme' FROM l`)
	f.pool, f.store = pool, sqlrole.New(pool, time.Now)
	role := f.role()
	role.Statement = time.Second
	own := f.create(fleettest.Acme, role)
	if got := number(t, own, `SELECT count(*) FROM company`); got != 1 {
		t.Errorf("%d companies", got)
	}
	_, err := own.Exec(`SET idle_in_transaction_session_timeout = 0; BEGIN`)
	fatal.If(t, err)
	time.Sleep(3 * time.Second)
	if ended, err := f.store.EndOverdue(t.Context()); err != nil || len(ended) != 1 {
		t.Errorf("ended %s, %v", ended, err)
	}
}

// The error of a service that may not create roles says what to do.
func TestAServiceWithoutRightsIsRefused(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	service := f.role().Name
	f.pool.MustExec(`CREATE ROLE ` + service + ` LOGIN PASSWORD 'service'; GRANT ALL ON ALL TABLES IN SCHEMA public TO ` + service)
	t.Cleanup(func() { f.pool.MustExec(`DROP OWNED BY ` + service + `; DROP ROLE ` + service) })
	limited := sqlrole.New(f.open(service, "service"), time.Now)
	_, err := limited.Create(t.Context(), fleettest.All, f.role())
	if fleettest.WantKind(t, err, domain.KindForbidden); !strings.Contains(err.Error(), "CREATEROLE") {
		t.Error(err)
	}
	f.pool.MustExec(`GRANT SELECT ON subscribers TO PUBLIC`)
	_, err = f.store.Create(t.Context(), fleettest.All, f.role())
	if fleettest.WantKind(t, err, domain.KindForbidden); !strings.Contains(err.Error(), "read or write subscribers") {
		t.Error(err)
	}
}
