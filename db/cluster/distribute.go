package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/pressly/goose/v3/lock"

	"simgraph/db/audit"
	"simgraph/db/pg"
	"simgraph/domain"
)

// Step is what Distribute has done with a table.
type Step struct {
	Table Table
	Rows  int64
	Took  time.Duration
	// Number of Of steps.
	Number, Of int
}

// settings let foreign keys refer to reference tables, and several tables be
// distributed in one session. A table in use is waited for, but not for ever.
const settings = `
SELECT set_config('citus.enable_local_reference_table_foreign_keys', 'off', false),
  set_config('citus.multi_shard_modify_mode', 'sequential', false), set_config('lock_timeout', '60s', false)`

// turns is for how many seconds the migrations of another instance are waited for.
const turns = 60

// Distribute distributes the tables of a database that has data, one after the
// other, each in a transaction; progress is called after each. It goes on where an
// attempt before it ended. Meanwhile the database must have no other work: foreign
// keys are put back at the end.
func Distribute(ctx context.Context, pool *sqlx.DB, by *domain.Actor, progress func(Step)) error {
	status, err := Read(ctx, pool)
	if err != nil {
		return err
	}
	if err := status.distributable(); err != nil {
		return err
	}
	left := status.Left()
	if len(left) == 0 && status.Keys == 0 {
		return nil
	}
	err = alone(ctx, pool, func(conn *sqlx.Conn) error {
		return distribute(ctx, conn, left, progress)
	})
	if err != nil {
		return err
	}
	return audit.NewLog(pool).Note(ctx, domain.Whole(domain.Installation).By(by), domain.AuditEntry{
		Action: domain.AuditMigrate, SubjectType: "Schema", Changes: []domain.AuditChange{domain.Became("distributed tables", pg.FormatInt(int64(len(left))))},
	})
}

// distributable returns why the database cannot be distributed.
func (s *Status) distributable() error {
	if !s.Citus {
		return errors.New("the database has no extension citus: install Citus on every node, then CREATE EXTENSION citus in the database of each")
	}
	for _, node := range s.Nodes {
		if node.Role == "coordinator" {
			return nil
		}
	}
	return errors.New("the coordinator does not know itself: call citus_set_coordinator_host('HOST', PORT) with the address that its workers reach it by, then citus_add_node for each of them")
}

// alone does something in one session, in which no migration runs elsewhere.
func alone(ctx context.Context, pool *sqlx.DB, do func(*sqlx.Conn) error) error {
	conn, err := pool.Connx(ctx)
	if err != nil {
		return pg.Translate(err)
	}
	defer func() { _ = conn.Close() }()
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, turns))
	if err != nil {
		return err
	}
	if err := locker.SessionLock(ctx, conn.Conn); err != nil {
		return fmt.Errorf("another migration runs: %w", err)
	}
	if _, err := conn.ExecContext(ctx, settings); err != nil {
		return errors.Join(pg.Translate(err), locker.SessionUnlock(context.WithoutCancel(ctx), conn.Conn))
	}
	err = do(conn)
	_, reset := conn.ExecContext(context.WithoutCancel(ctx), `RESET ALL`)
	return errors.Join(err, reset, locker.SessionUnlock(context.WithoutCancel(ctx), conn.Conn))
}

func distribute(ctx context.Context, conn *sqlx.Conn, left []Table, progress func(Step)) error {
	if err := takeKeys(ctx, conn); err != nil {
		return err
	}
	for i, table := range left {
		began := time.Now()
		rows, err := hand(ctx, conn, table)
		if err != nil {
			return fmt.Errorf("distribute %s: %w", table.Name, err)
		}
		progress(Step{Table: table, Rows: rows, Took: time.Since(began), Number: i + 1, Of: len(left)})
	}
	if err := handFunctions(ctx, conn); err != nil {
		return err
	}
	return returnKeys(ctx, conn)
}

const (
	byCompany = `SELECT create_distributed_table($1::text::regclass, 'company_id', colocate_with => CASE WHEN $1::text = 'companies' THEN 'none' ELSE 'companies' END)`
	// expectRows has the planner expect as many rows in the parts of the table as in the
	// whole: Citus does not copy that. Citus sets it by other connections, which must see them.
	expectRows = `
SELECT simgraph_expect_rows(a.attrelid) FROM pg_attribute a
WHERE a.attrelid = $1::text::regclass AND a.attname = 'company_id' AND EXISTS (SELECT FROM unnest(a.attoptions) AS o(option) WHERE o.option LIKE 'n_distinct=%')`
	toAll = `SELECT create_reference_table($1::text::regclass)`
	// dropLocal removes the rows that the coordinator had before.
	dropLocal = `SELECT truncate_local_data_after_distributing_table($1::text::regclass)`
)

// hand gives a table to Citus and returns how many rows it has. Citus copies them
// while the table is locked.
func hand(ctx context.Context, conn *sqlx.Conn, table Table) (rows int64, err error) {
	tx, err := conn.BeginTxx(ctx, nil)
	if err != nil {
		return 0, pg.Translate(err)
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	if err := tx.GetContext(ctx, &rows, pg.Fill(`SELECT count(*) FROM {table}`, "table", table.Name)); err != nil {
		return 0, pg.Translate(err)
	}
	statement := toAll
	if table.ByCompany {
		statement = byCompany
	}
	for _, statement := range []string{statement, dropLocal} {
		if _, err := tx.ExecContext(ctx, statement, table.Name); err != nil {
			return 0, pg.Translate(err)
		}
	}
	if err := tx.Commit(); err != nil || !table.ByCompany {
		return rows, pg.Translate(err)
	}
	_, err = conn.ExecContext(ctx, expectRows, table.Name)
	return rows, pg.Translate(err)
}

// functions are those of the schema that only the coordinator has.
const functions = `
SELECT create_distributed_function(f.oid::regprocedure)
FROM pg_proc f
WHERE f.pronamespace = 'public'::regnamespace
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = f.oid AND d.deptype = 'e')
  AND NOT EXISTS (SELECT FROM pg_dist_object o WHERE o.classid = 'pg_proc'::regclass AND o.objid = f.oid)`

// handFunctions makes the functions of the schema on every node.
func handFunctions(ctx context.Context, conn *sqlx.Conn) error {
	_, err := conn.ExecContext(ctx, functions)
	return pg.Translate(err)
}
