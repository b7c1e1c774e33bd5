// Package sqlrole keeps the SQL roles of companies: logins of PostgreSQL that read the views
// of the schema analyst, and nothing else.
package sqlrole

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"

	"simgraph/db/audit"
	"simgraph/db/companies"
	"simgraph/db/pg"
	"simgraph/domain"
)

// Schema has the views.
const Schema = "analyst"

const subject = "SQLRole"

// Store keeps SQL roles in PostgreSQL.
type Store struct {
	pool *sqlx.DB
	now  func() time.Time
}

// New returns the store on the pool.
func New(pool *sqlx.DB, now func() time.Time) *Store { return &Store{pool, now} }

func wholeOnly(scope domain.Scope) error { return pg.WholeCompanyOnly(scope, "SQL roles") }

const (
	// distributed is whether companies are spread over nodes of Citus.
	distributed = `SELECT EXISTS (SELECT FROM simgraph_nodes() WHERE companies IS NOT NULL)`
	mayCreate   = `SELECT a.rolsuper AS super, a.rolsuper OR a.rolcreaterole AS may, current_user AS name, current_database() AS database FROM pg_roles a WHERE a.rolname = current_user`
	knownGroups = `SELECT g.group_id FROM groups g WHERE g.company_id = $1 AND g.group_id = ANY($2)`
	insertRole  = `
INSERT INTO sql_roles (company_id, name, role_oid, group_ids, sees_tariffs, statement_seconds, connections, created_at)
SELECT own.company_id, $2, a.oid, $3::bigint[], $4, $5, $6, $7
FROM companies own
JOIN pg_roles a ON a.rolname = $2
WHERE own.company_id = $1 AND (SELECT count(*) FROM sql_roles r WHERE r.company_id = $1 AND r.name <> $2) < $8
ON CONFLICT (company_id, name) DO UPDATE
SET role_oid = excluded.role_oid, group_ids = excluded.group_ids, sees_tariffs = excluded.sees_tariffs,
  statement_seconds = excluded.statement_seconds, connections = excluded.connections, created_at = excluded.created_at
RETURNING 1`
	// beyond are what the role $1 may do that views of the schema do not give: its own grants, and
	// what PUBLIC has. What extensions give to PUBLIC is not simgraph's.
	beyond = `
WITH own AS (
  SELECT c.oid, c.relkind FROM pg_class c
  WHERE c.relnamespace = 'public'::regnamespace AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.classid = 'pg_class'::regclass AND d.deptype = 'e')
)
SELECT 'read or write ' || o.oid::regclass AS may FROM own o
WHERE o.relkind IN ('r', 'p', 'v', 'm', 'f') AND (has_table_privilege($1, o.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
  OR has_any_column_privilege($1, o.oid, 'SELECT, INSERT, UPDATE, REFERENCES'))
UNION ALL
SELECT 'use ' || o.oid::regclass FROM own o WHERE CASE o.relkind WHEN 'S' THEN has_sequence_privilege($1, o.oid, 'USAGE, SELECT, UPDATE') ELSE false END
UNION ALL
SELECT 'call ' || p.oid::regprocedure FROM pg_proc p
WHERE p.pronamespace = 'public'::regnamespace AND has_function_privilege($1, p.oid, 'EXECUTE')
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e')
UNION ALL
SELECT 'create objects in the schema ' || n.nspname FROM pg_namespace n
WHERE n.nspname IN ('public', '` + Schema + `', 'analyst_login') AND has_schema_privilege($1, n.oid, 'CREATE')
UNION ALL
SELECT 'create temporary tables or schemas in the database' WHERE has_database_privilege($1, current_database(), 'TEMPORARY, CREATE')
LIMIT 5`
)

// Create makes a role and returns its password, which is stored nowhere.
func (s *Store) Create(ctx context.Context, scope domain.Scope, role domain.SQLRole) (password string, err error) {
	if err := wholeOnly(scope); err != nil {
		return "", err
	}
	if err := role.Check(); err != nil {
		return "", err
	}
	role.Groups = slices.Compact(slices.Sorted(slices.Values(role.Groups)))
	password = rand.Text()
	err = audit.ChangeLocked(ctx, s.pool, scope, func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
		if err := s.create(ctx, tx, scope, &role, password); err != nil {
			return nil, err
		}
		return &domain.AuditEntry{Action: domain.AuditSQLRoleCreate, SubjectType: subject, SubjectID: role.Name, Changes: changesOf(&role)}, nil
	})
	if err != nil {
		return "", err
	}
	return password, nil
}

func changesOf(role *domain.SQLRole) []domain.AuditChange {
	groups := "all"
	if len(role.Groups) > 0 {
		groups = strings.Join(pg.Pluck(role.Groups, func(id int64) string { return strconv.FormatInt(id, 10) }), " ")
	}
	return []domain.AuditChange{
		domain.Became("groups", groups), domain.Became("seesTariffs", strconv.FormatBool(role.SeesTariffs)),
		domain.Became("statement", role.Statement.String()), domain.Became("connections", strconv.Itoa(role.Connections)),
	}
}

func (s *Store) create(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, role *domain.SQLRole, password string) error {
	var isDistributed bool
	if err := tx.GetContext(ctx, &isDistributed, distributed); err != nil {
		return err
	}
	if isDistributed {
		return domain.Invalid("database", "SQL roles need a database that Citus has not distributed: its workers ask for privileges on the tables, which a role must not have")
	}
	var us creator
	if err := tx.GetContext(ctx, &us, mayCreate); err != nil {
		return err
	}
	if !us.May {
		return domain.Forbidden("the user %q of the database may not create roles: a superuser allows it by ALTER ROLE %s CREATEROLE", us.Name, pq.QuoteIdentifier(us.Name))
	}
	if err := checkGroups(ctx, tx, scope, role.Groups); err != nil {
		return err
	}
	if err := us.makeRole(ctx, tx, role, password); err != nil {
		return err
	}
	var groups any
	if len(role.Groups) > 0 {
		groups = pq.Int64Array(role.Groups)
	}
	n, err := pg.Returned(ctx, tx, insertRole, scope.Company, role.Name, groups, role.SeesTariffs, int(role.Statement/time.Second), role.Connections, s.now(), domain.MaxSQLRoles)
	if err == nil && n == 0 {
		err = domain.Invalid("name", "the company has %d SQL roles already", domain.MaxSQLRoles)
	}
	return err
}

func checkGroups(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, groups []int64) error {
	var known []int64
	if err := tx.SelectContext(ctx, &known, knownGroups, scope.Company, pq.Int64Array(groups)); err != nil {
		return err
	}
	for _, id := range groups {
		if !slices.Contains(known, id) {
			return domain.NotFound("groups", "group", strconv.FormatInt(id, 10))
		}
	}
	return nil
}

// creator is the user of the service.
type creator struct {
	Super, May     bool
	Name, Database string
}

// makeRole creates the role with what it may, and checks that it may nothing else.
func (c *creator) makeRole(ctx context.Context, tx *sqlx.Tx, role *domain.SQLRole, password string) error {
	verifier, err := scramVerifier(password)
	if err != nil {
		return err
	}
	name := pq.QuoteIdentifier(role.Name)
	_, err = tx.ExecContext(ctx, fmt.Sprintf(`CREATE ROLE %s LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS CONNECTION LIMIT %d PASSWORD %s`,
		name, role.Connections, pq.QuoteLiteral(verifier)))
	if pq.As(err, pqerror.DuplicateObject) != nil {
		return domain.Invalid("name", "the server of the database has a role %q already", role.Name)
	}
	if err != nil {
		return err
	}
	for _, statement := range c.rights(role) {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	var may []string
	if err := tx.SelectContext(ctx, &may, beyond, role.Name); err != nil {
		return err
	}
	if len(may) > 0 {
		return domain.Forbidden("the role would be able to %s: take that from PUBLIC by REVOKE, as the owner of what it is about", strings.Join(may, ", "))
	}
	return nil
}

// rights are statements. What is given to PUBLIC shows nothing to who has no row in sql_roles,
// and is given again, since a restore leaves privileges out.
func (c *creator) rights(role *domain.SQLRole) []string {
	name, database, millis := pq.QuoteIdentifier(role.Name), pq.QuoteIdentifier(c.Database), role.Statement.Milliseconds()
	statements := []string{
		fmt.Sprintf("ALTER ROLE %s SET default_transaction_read_only = on", name),
		fmt.Sprintf("ALTER ROLE %s SET statement_timeout = %d", name, millis),
		fmt.Sprintf("ALTER ROLE %s SET idle_in_transaction_session_timeout = %d", name, millis),
		fmt.Sprintf("ALTER ROLE %s SET lock_timeout = %d", name, min(millis, 5_000)),
		fmt.Sprintf("ALTER ROLE %s SET search_path = %s", name, Schema),
		fmt.Sprintf("ALTER ROLE %s SET timezone = 'UTC'", name),
		fmt.Sprintf("GRANT CONNECT ON DATABASE %s TO %s", database, name),
		fmt.Sprintf("REVOKE TEMPORARY ON DATABASE %s FROM PUBLIC", database),
		"REVOKE CREATE ON SCHEMA public FROM PUBLIC",
		"GRANT USAGE ON SCHEMA " + Schema + " TO PUBLIC",
		"GRANT SELECT ON ALL TABLES IN SCHEMA " + Schema + " TO PUBLIC",
		`DO $$ DECLARE f regprocedure; BEGIN
  FOR f IN SELECT p.oid FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace AND p.proname ~ '^(simgraph|usage)_' LOOP
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', f);
  END LOOP;
END $$`,
	}
	if c.Super { // others may not limit this, and need to be members to end sessions of the role
		return append(statements, fmt.Sprintf("ALTER ROLE %s SET temp_file_limit = '1GB'", name))
	}
	return append(statements, fmt.Sprintf("GRANT %s TO CURRENT_USER", name))
}

const listRoles = `
SELECT r.name, r.role_oid, r.group_ids, r.sees_tariffs, r.statement_seconds, r.connections, r.created_at
FROM sql_roles r
WHERE r.company_id = $1
ORDER BY r.name`

const rolesOfServer = `SELECT a.rolname AS name, a.oid AS role_oid FROM pg_roles a WHERE a.rolname = ANY($1)`

type row struct {
	Name             string
	RoleOID          int64
	GroupIDs         pq.Int64Array
	SeesTariffs      bool
	StatementSeconds int
	Connections      int
	CreatedAt        time.Time
	IsEnded          bool
}

func (r *row) role(oids map[string]int64) *domain.SQLRole {
	return &domain.SQLRole{
		Name: r.Name, Groups: r.GroupIDs, SeesTariffs: r.SeesTariffs, Statement: time.Duration(r.StatementSeconds) * time.Second,
		Connections: r.Connections, CreatedAt: r.CreatedAt, IsMissing: oids[r.Name] != r.RoleOID,
	}
}

// List returns the roles of a company by name.
func (s *Store) List(ctx context.Context, scope domain.Scope) ([]*domain.SQLRole, error) {
	if err := wholeOnly(scope); err != nil {
		return nil, err
	}
	rows, err := pg.SelectAll[row](ctx, s.pool, listRoles, scope.Company)
	if err != nil {
		return nil, err
	}
	oids, err := oidsOf(ctx, s.pool, pg.Pluck(rows, func(r *row) string { return r.Name }))
	return pg.Pluck(rows, func(r *row) *domain.SQLRole { return r.role(oids) }), err
}

// oidsOf returns the numbers of the roles that the server has of those names.
func oidsOf(ctx context.Context, in sqlx.QueryerContext, names []string) (map[string]int64, error) {
	rows, err := pg.SelectAll[row](ctx, in, rolesOfServer, pq.StringArray(names))
	oids := map[string]int64{}
	for _, r := range rows {
		oids[r.Name] = r.RoleOID
	}
	return oids, err
}

const (
	removeRole  = `DELETE FROM sql_roles WHERE company_id = $1 AND name = $2 RETURNING role_oid`
	endSessions = `SELECT count(pg_terminate_backend(a.pid)) FROM pg_stat_activity a WHERE a.usesysid = $1::oid`
)

// Drop removes a role, and ends its sessions.
func (s *Store) Drop(ctx context.Context, scope domain.Scope, name string) error {
	if err := wholeOnly(scope); err != nil {
		return err
	}
	return audit.ChangeLocked(ctx, s.pool, scope, func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
		removed, err := pg.GetOne[row](ctx, tx, domain.NotFound("name", "SQL role", name), removeRole, scope.Company, name)
		if err != nil {
			return nil, err
		}
		oids, err := oidsOf(ctx, tx, []string{name})
		if err != nil {
			return nil, err
		}
		if oids[name] == removed.RoleOID {
			if _, err := tx.ExecContext(ctx, endSessions, removed.RoleOID); err != nil {
				return nil, err
			}
			if err := dropRole(ctx, tx, name); err != nil {
				return nil, err
			}
		}
		return &domain.AuditEntry{Action: domain.AuditSQLRoleDrop, SubjectType: subject, SubjectID: name}, nil
	})
}

// dropRole drops a role with its right to connect.
func dropRole(ctx context.Context, tx *sqlx.Tx, name string) error {
	var us creator
	if err := tx.GetContext(ctx, &us, mayCreate); err != nil {
		return err
	}
	role := pq.QuoteIdentifier(name)
	_, err := tx.ExecContext(ctx, fmt.Sprintf("REVOKE ALL ON DATABASE %s FROM %s; DROP ROLE %s", pq.QuoteIdentifier(us.Database), role, role))
	if pq.As(err, pqerror.DependentObjectsStillExist) != nil {
		return domain.Invalid("name", "rights were given to the role %q beside those of simgraph: take them away by DROP OWNED BY %s, as a superuser", name, role)
	}
	return err
}

const (
	allRoles = `
SELECT r.name, r.role_oid, r.statement_seconds
FROM sql_roles r
WHERE $1::bigint[] IS NULL OR r.company_id = ANY($1)`
	// endOverdue ends sessions in transactions that take twice as long as a statement may, and
	// those with locks that simgraph takes, too: a session can unset its own timeouts.
	// The sessions are found before one is ended: conditions have no order.
	endOverdue = `
WITH overdue AS MATERIALIZED (
  SELECT a.pid, a.usename::text AS name
  FROM unnest($1::oid[], $2::integer[]) AS r(role_oid, statement_seconds)
  JOIN pg_stat_activity a ON a.usesysid = r.role_oid
  WHERE a.datname = current_database()
    AND (a.xact_start < clock_timestamp() - make_interval(secs => 2 * r.statement_seconds)
      OR EXISTS (SELECT FROM pg_locks l WHERE l.pid = a.pid AND l.locktype = 'advisory'))
)
SELECT o.name, pg_terminate_backend(o.pid) AS is_ended FROM overdue o`
)

// EndOverdue ends sessions of SQL roles that have taken more than they may, and returns the
// names of their roles.
func (s *Store) EndOverdue(ctx context.Context) ([]string, error) {
	var roles []*row
	err := companies.EachNode(ctx, s.pool, func(of pq.Int64Array) error {
		here, err := pg.SelectAll[row](ctx, s.pool, allRoles, of)
		roles = append(roles, here...)
		return err
	})
	if err != nil || len(roles) == 0 {
		return nil, err
	}
	ended, err := pg.SelectAll[row](ctx, s.pool, endOverdue,
		pq.Int64Array(pg.Pluck(roles, func(r *row) int64 { return r.RoleOID })), pq.Int64Array(pg.Pluck(roles, func(r *row) int64 { return int64(r.StatementSeconds) })))
	return pg.Pluck(ended, func(r *row) string { return r.Name }), err
}
