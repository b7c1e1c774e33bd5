package usage

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/pg"
)

// A fence is a view that depends on a month: DROP TABLE of the month fails, by a
// version that drops months at once as well as by hand.
const (
	fenceMonth = `CREATE OR REPLACE VIEW {table}_fence AS SELECT true AS is_kept FROM {table}`
	openFence  = `DROP VIEW IF EXISTS {table}_fence`
	unfenced   = `
SELECT c.relname
FROM pg_inherits i
JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = 'usage_records'::regclass AND to_regclass(quote_ident(c.relname || '_fence')) IS NULL
ORDER BY c.relname`
)

// fenceMonths fences the months that have no fence: those that a version without
// fences has created.
func (l *Ledger) fenceMonths(ctx context.Context) error {
	names, err := pg.SelectValues[string](ctx, l.pool, unfenced)
	if err != nil || len(names) == 0 {
		return err
	}
	return l.alone(ctx, func(tx *sqlx.Tx) error {
		names, err := pg.SelectValues[string](ctx, tx, unfenced)
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := execute(ctx, tx, pg.Fill(fenceMonth, "table", name)); err != nil {
				return err
			}
		}
		return nil
	})
}

// dropMonth deletes the records of a month together with its fence.
func (l *Ledger) dropMonth(ctx context.Context, month time.Time) error {
	name := partitionName(month)
	return pg.InTx(ctx, l.pool, func(tx *sqlx.Tx) error {
		if err := execute(ctx, tx, pg.Fill(openFence, "table", name)); err != nil {
			return err
		}
		return execute(ctx, tx, "DROP TABLE IF EXISTS "+name)
	})
}
