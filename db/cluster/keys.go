package cluster

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"

	"simgraph/db/pg"
)

// Citus refuses foreign keys between tables that are distributed and those that
// are not yet. While tables are distributed, the keys stand in a table of their
// own, from which a later attempt puts them back too.
const (
	keysTable = "simgraph_distribution_keys"
	makeKeys  = `CREATE TABLE IF NOT EXISTS ` + keysTable + ` (of_table text NOT NULL, name text NOT NULL, definition text NOT NULL, PRIMARY KEY (of_table, name))`
	noteKeys  = `
INSERT INTO ` + keysTable + ` (of_table, name, definition)
SELECT k.conrelid::regclass::text, k.conname, pg_get_constraintdef(k.oid)
FROM pg_constraint k
JOIN pg_class c ON c.oid = k.conrelid
WHERE k.contype = 'f' AND k.conparentid = 0 AND c.relnamespace = 'public'::regnamespace AND NOT EXISTS (SELECT FROM pg_dist_partition p WHERE p.logicalrelid = c.oid)
ON CONFLICT DO NOTHING`
	hasKeys   = `SELECT to_regclass('` + keysTable + `') IS NOT NULL`
	countKeys = `SELECT count(*) FROM ` + keysTable
	listKeys  = `SELECT of_table, name, definition FROM ` + keysTable + ` ORDER BY of_table, name`
	hasKey    = `SELECT EXISTS (SELECT FROM pg_constraint WHERE conrelid = $1::text::regclass AND conname = $2)`
	forgetKey = `DELETE FROM ` + keysTable + ` WHERE of_table = $1 AND name = $2`
	dropKeys  = `DROP TABLE ` + keysTable
)

// key is a foreign key.
type key struct{ OfTable, Name, Definition string }

func waitingKeys(ctx context.Context, pool *sqlx.DB) (n int, err error) {
	var has bool
	if err := pool.GetContext(ctx, &has, hasKeys); err != nil || !has {
		return 0, pg.Translate(err)
	}
	err = pool.GetContext(ctx, &n, countKeys)
	return n, pg.Translate(err)
}

// takeKeys notes the foreign keys of tables that are not distributed, and drops
// them.
func takeKeys(ctx context.Context, conn *sqlx.Conn) error {
	tx, err := conn.BeginTxx(ctx, nil)
	if err != nil {
		return pg.Translate(err)
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	for _, statement := range []string{makeKeys, noteKeys} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return pg.Translate(err)
		}
	}
	err = eachKey(ctx, tx, func(k key) error {
		_, err := tx.ExecContext(ctx, "ALTER TABLE "+k.OfTable+" DROP CONSTRAINT IF EXISTS "+k.Name)
		return err
	})
	if err != nil {
		return err
	}
	return pg.Translate(tx.Commit())
}

// returnKeys puts the keys back, each in a transaction, which checks all rows.
func returnKeys(ctx context.Context, conn *sqlx.Conn) error {
	err := eachKey(ctx, conn, func(k key) error {
		var has bool
		if err := conn.GetContext(ctx, &has, hasKey, k.OfTable, k.Name); err != nil {
			return err
		}
		if !has {
			if _, err := conn.ExecContext(ctx, "ALTER TABLE "+k.OfTable+" ADD CONSTRAINT "+k.Name+" "+k.Definition); err != nil {
				return err
			}
		}
		_, err := conn.ExecContext(ctx, forgetKey, k.OfTable, k.Name)
		return err
	})
	if err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, dropKeys)
	return pg.Translate(err)
}

func eachKey(ctx context.Context, in sqlx.QueryerContext, do func(key) error) error {
	keys, err := pg.SelectAll[key](ctx, in, listKeys)
	if err != nil {
		return err
	}
	for _, k := range keys {
		if err := do(*k); err != nil {
			return fmt.Errorf("the foreign key %s of %s: %w", k.Name, k.OfTable, pg.Translate(err))
		}
	}
	return nil
}
