package usage

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/pg"
	"simgraph/domain"
)

const droppedMonths = `SELECT month FROM usage_ledger_months WHERE dropped_at IS NOT NULL ORDER BY month`

// leftMonth finds the records of a dropped month that are still there.
const leftMonth = `
SELECT count(*) FROM pg_class c
WHERE c.oid = to_regclass($1) AND NOT EXISTS (SELECT FROM pg_inherits i WHERE i.inhrelid = c.oid)`

// finishDrops deletes what is left of the months that are noted as dropped: also
// where a process ended half way. Two that do so at once do no harm.
func (l *Ledger) finishDrops(ctx context.Context) error {
	dropped, err := pg.SelectAll[domain.LedgerMonth](ctx, l.pool, droppedMonths)
	if err != nil {
		return err
	}
	for _, m := range dropped {
		n, err := pg.Count(ctx, l.pool, leftMonth, partitionName(m.Month.UTC()))
		if err == nil && n > 0 {
			err = l.finishDrop(ctx, m.Month.UTC())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

const allCompanies = `SELECT company_id FROM company_lookup ORDER BY company_id`

// finishDrop deletes a month, with what only its records needed, before them.
func (l *Ledger) finishDrop(ctx context.Context, month time.Time) error {
	companies, err := pg.SelectValues[domain.CompanyID](ctx, l.pool, allCompanies)
	if err != nil {
		return err
	}
	ledger, err := ReadLedger(ctx, l.pool)
	if err != nil {
		return err
	}
	err = domain.TryCompanies(ctx, companies, func(company domain.CompanyID) error {
		if err := l.dropIdentities(ctx, company, month); err != nil {
			return err
		}
		return l.forgetOld(ctx, company, month.AddDate(0, 1, 0), ledger.Retention)
	})
	if err != nil {
		return err
	}
	return l.dropMonth(ctx, month)
}

// usagePlace is a place in a month of a company.
type usagePlace struct {
	StartedAt time.Time
	Identity  string
}

// dropIdentities deletes identities in the order of the ledger's key, from one
// record on to the next thousands.
const dropIdentities = `
WITH part AS (
  SELECT r.started_at, r.identity
  FROM {table} r
  WHERE r.company_id = $1 AND (r.started_at, r.identity) > ($2, $3)
  ORDER BY r.started_at, r.identity
  LIMIT 10000
), gone AS (
  DELETE FROM usage_ids i USING part p WHERE i.company_id = $1 AND i.identity = p.identity
)
SELECT started_at, identity FROM part ORDER BY started_at DESC, identity DESC LIMIT 1`

func (l *Ledger) dropIdentities(ctx context.Context, company domain.CompanyID, month time.Time) error {
	sql := pg.Fill(dropIdentities, "table", partitionName(month))
	at := &usagePlace{StartedAt: month.Add(-time.Microsecond), Identity: "00000000-0000-0000-0000-000000000000"}
	for at != nil {
		var err error
		if at, err = pg.GetOne[usagePlace](ctx, l.pool, nil, sql, company, at.StartedAt, at.Identity); err != nil {
			return err
		}
	}
	return nil
}

const (
	forgetQuarantine = `
WITH gone AS (
  DELETE FROM usage_quarantine WHERE company_id = $1 AND started_at < $2 RETURNING identity
)
DELETE FROM usage_ids i USING gone g WHERE i.company_id = $1 AND i.identity = g.identity`
	forgetSessions = `DELETE FROM usage_sessions WHERE company_id = $1 AND began_at < $2`
	// The names of a session go with its last generation.
	forgetReported = `
WITH gone AS (
  DELETE FROM sessions WHERE company_id = $1 AND coalesce(ended_at, as_of) < $2 RETURNING identity
)
DELETE FROM session_names k
USING gone g
WHERE k.company_id = $1 AND k.identity = g.identity AND NOT EXISTS (
  SELECT FROM sessions n WHERE n.company_id = $1 AND n.identity = g.identity AND coalesce(n.ended_at, n.as_of) >= $2)`
	forgetValues = `DELETE FROM session_values WHERE company_id = $1 AND as_of < $2`
)

// forgetOld ends the quarantine of records from before a time, removes the sessions that
// ended before it and what was stated of sessions, and forgets when sessions began that
// ended long before it.
func (l *Ledger) forgetOld(ctx context.Context, company domain.CompanyID, before time.Time, retention int) error {
	for _, forget := range []string{forgetQuarantine, forgetReported, forgetValues} {
		if _, err := pg.Affected(ctx, l.pool, forget, company, before); err != nil {
			return err
		}
	}
	_, err := pg.Affected(ctx, l.pool, forgetSessions, company, before.AddDate(0, -retention, 0))
	return err
}

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
