package audit

import (
	"context"

	"github.com/jmoiron/sqlx"

	"simgraph/db/companies"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/retention"
)

const (
	// pruneAlone lets one instance at a time prune: two that grant at once fail.
	pruneAlone = `SELECT pg_try_advisory_xact_lock(hashtext('simgraph audit prune'))`
	// Nobody may delete entries, also not the owner of the table, but for the
	// transaction that prunes.
	allowPrune  = `GRANT DELETE ON audit_log TO CURRENT_USER`
	forbidPrune = `REVOKE DELETE ON audit_log FROM CURRENT_USER`
)

const prunableAudit = `
SELECT h.company_id
FROM audit_heads h
WHERE ($1::bigint[] IS NULL OR h.company_id = ANY($1)) AND (
  SELECT l.at FROM audit_log l
  WHERE l.company_id = h.company_id AND ($1::bigint[] IS NULL OR l.company_id = ANY($1))
  ORDER BY l.sequence
  LIMIT 1) < $2
ORDER BY h.company_id`

// prunedAtOnce is how many entries one transaction removes.
const prunedAtOnce = 10_000

// pruneAudit removes entries from the oldest on, up to the first that is to be
// kept, some thousands at once, and remembers the last of them.
const pruneAudit = `
WITH oldest AS (
  SELECT sequence, at, hash FROM audit_log WHERE company_id = $1 ORDER BY sequence LIMIT $3
), last AS (
  SELECT sequence, hash
  FROM oldest
  WHERE sequence < coalesce((SELECT min(sequence) FROM oldest WHERE at >= $2), 9223372036854775807)
  ORDER BY sequence DESC
  LIMIT 1
), gone AS (
  DELETE FROM audit_log l USING last WHERE l.company_id = $1 AND l.sequence <= last.sequence
), anchor AS (
  INSERT INTO audit_anchors (company_id, sequence, hash)
  SELECT own.company_id, last.sequence, last.hash
  FROM audit_heads own
  CROSS JOIN last
  WHERE own.company_id = $1
  ON CONFLICT (company_id) DO UPDATE SET sequence = excluded.sequence, hash = excluded.hash
  RETURNING sequence, hash
)
SELECT anchor.sequence, encode(anchor.hash, 'hex') AS hash
FROM audit_heads own
CROSS JOIN anchor
WHERE own.company_id = $1`

// Prune removes the entries of all companies that have expired, and returns how many. Each part that it removes has an entry that holds the last
// hash, so that what is left verifies. One that cannot be alone does nothing.
func (a *Log) Prune(ctx context.Context, expired retention.Expired, by *domain.Actor) (int, error) {
	pruned := 0
	err := companies.Try(ctx, a.pool, func(company domain.CompanyID) error {
		for {
			n, err := a.prune(ctx, domain.Whole(company).By(by), expired)
			if err != nil || n == 0 {
				return err
			}
			pruned += n
		}
	}, prunableAudit, expired.Before(retention.Audit))
	return pruned, err
}

func (a *Log) prune(ctx context.Context, scope domain.Scope, expired retention.Expired) (int, error) {
	n := 0
	err := pg.InTx(ctx, a.pool, func(tx *sqlx.Tx) error {
		var alone bool
		if err := tx.GetContext(ctx, &alone, pruneAlone); err != nil || !alone {
			return err
		}
		from, err := auditMark(ctx, tx, auditAnchor, scope)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, allowPrune); err != nil {
			return err
		}
		anchors, err := pg.SelectAll[domain.AuditMark](ctx, tx, pruneAudit, scope.Company, expired.Before(retention.Audit), a.pruned)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, forbidPrune); err != nil || len(anchors) == 0 {
			return err
		}
		n = int(anchors[0].Sequence - from.Sequence)
		return Record(ctx, tx, scope, domain.PruneEntry(*anchors[0], n))
	})
	return n, err
}

const auditAnchor = `SELECT sequence, encode(hash, 'hex') AS hash FROM audit_anchors WHERE company_id = $1`
