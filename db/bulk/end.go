package bulk

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/announce"
	"simgraph/db/audit"
	"simgraph/db/companies"
	"simgraph/db/pg"
	"simgraph/db/silence"
	"simgraph/db/volume"
	"simgraph/db/webhook"
	"simgraph/domain"
	"simgraph/domain/bulk"
	"simgraph/domain/retention"
)

// locked is an operation of which no chunk runs and that nobody else changes.
type locked struct {
	bulk.Operation
	id       uuid.UUID
	Change   string
	Position int
	// Permissions are what its user needs, Groups those that its user saw: nil for the
	// whole company.
	Permissions                                  pg.TextList[domain.Permission]
	Creates                                      bool
	Groups                                       pq.Int64Array
	UserID                                       int64
	Fired, Messages, Commands                    int
	Mailed                                       pq.Int64Array
	Actor, AccessKeyID, Door, Address, RequestID string
}

const lockOperation = `
SELECT o.operation_id::text AS operation_id, o.state, o.is_dry_run, o.error_policy, o.undo_of::text AS undo_of, o.change::text AS change, o.position,
  o.total, o.done, o.created, o.changed, o.removed, o.failed, o.skipped, o.started_at, o.ended_at, o.creates,
  COALESCE(o.fired, 0) AS fired, COALESCE(o.mailed, '{}') AS mailed, COALESCE(o.messages, 0) AS messages, COALESCE(o.commands, 0) AS commands,
  o.silence_id, o.permissions, o.groups, o.user_id, o.actor, o.access_key_id, o.door, o.address, o.request_id, o.reason
FROM operations o
WHERE o.company_id = $1 AND o.operation_id = $2::uuid
FOR UPDATE`

func lock(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, id uuid.UUID) (*locked, error) {
	o, err := pg.GetOne[locked](ctx, tx, bulk.NotFound(id.String()), lockOperation, company, id)
	if err == nil {
		o.id = id
	}
	return o, err
}

// by is who started it and why, as the scope of the whole company.
func (o *locked) by(company domain.CompanyID) domain.Scope {
	scope := domain.Whole(company).By(&domain.Actor{UserID: o.UserID, Name: o.Actor, AccessKeyID: o.AccessKeyID,
		Origin: domain.Origin{Door: o.Door, Address: o.Address, RequestID: o.RequestID}})
	scope.Reason = o.Reason
	return scope
}

// endOperation forgets what a check before a run has found when the run is cancelled or
// rejected: nothing changed, and only what failed was decided.
const endOperation = `
UPDATE operations SET state = $3::text, ended_at = $4,
  created = CASE WHEN state = 'CHECKING' AND NOT is_dry_run THEN 0 ELSE created END,
  changed = CASE WHEN state = 'CHECKING' AND NOT is_dry_run THEN 0 ELSE changed END,
  skipped = CASE WHEN state = 'CHECKING' AND NOT is_dry_run THEN 0 ELSE skipped END,
  done = CASE WHEN state = 'CHECKING' AND NOT is_dry_run THEN failed ELSE done END
WHERE company_id = $1 AND operation_id = $2`

// end ends an operation: nothing of it happens any more.
func (s *Store) end(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, o *locked, state bulk.State) error {
	at := s.moment()
	if _, err := pg.Affected(ctx, tx, endOperation, company, o.id, string(state), at); err != nil {
		return err
	}
	o.State = state
	if err := webhook.OperationFinished(ctx, tx, company, o.id, description(o)); err != nil {
		return err
	}
	notified, err := volume.NotifyFired(ctx, tx, company, o.id, at)
	if err != nil {
		return err
	}
	if notified.Alerts > 0 {
		if err := o.sets(ctx, tx, company, notified, 0); err != nil {
			return err
		}
	}
	if o.SilenceID == nil {
		return nil
	}
	entry, err := silence.End(ctx, tx, company, *o.SilenceID, at)
	if err != nil || entry == nil {
		return err
	}
	return audit.Record(ctx, tx, o.by(company), *entry)
}

// seen locks the operation where the caller sees it and may do what it does, and returns
// NotFound or Forbidden elsewhere.
func seen(ctx context.Context, tx *sqlx.Tx, caller *domain.Caller, operationID string) (*bulk.Operation, *locked, error) {
	scope := caller.Scope
	if _, err := find(ctx, tx, scope, operationID); err != nil {
		return nil, nil, err
	}
	o, err := lock(ctx, tx, scope.Company, uuid.MustParse(operationID))
	if err != nil {
		return nil, nil, err
	}
	of, err := find(ctx, tx, scope, operationID) // as it is under the lock
	if err != nil {
		return nil, nil, err
	}
	return of, o, caller.Need(o.Permissions...)
}

// Cancel implements bulk.Operations.
func (s *Store) Cancel(ctx context.Context, caller *domain.Caller, operationID string) (*bulk.Operation, error) {
	err := pg.InTx(ctx, s.pool, func(tx *sqlx.Tx) error {
		of, o, err := seen(ctx, tx, caller, operationID)
		if err != nil {
			return err
		}
		if of.EndedAt != nil {
			return domain.Invalid("operationId", "the operation has ended, and is %s", of.State)
		}
		if err := s.end(ctx, tx, caller.Scope.Company, o, bulk.Cancelled); err != nil {
			return err
		}
		if err := announce.Operation(ctx, tx, caller.Scope.Company, o.id); err != nil {
			return err
		}
		return audit.Record(ctx, tx, caller.Scope, operationEntry(domain.AuditOperationCancel, o.id, domain.Became("done", pg.FormatInt(int64(o.Done)))))
	})
	if err != nil {
		return nil, err
	}
	return s.Find(ctx, caller.Scope, operationID)
}

// copyChanged makes the rows of an operation that undoes: those that changed or were created,
// in the opposite order.
const copyChanged = `
INSERT INTO operation_rows (company_id, operation_id, position, physical_id, wanted)
SELECT r.company_id, $2::uuid, row_number() OVER (ORDER BY r.position DESC), r.physical_id,
  CASE WHEN r.outcome = 'CREATED' THEN ('{"Created":' || r.changes::text || '}')::json ELSE r.changes END
FROM operation_rows r
WHERE r.company_id = $1 AND r.operation_id = $3 AND r.outcome IN ('CREATED', 'CHANGED')`

// Undo implements bulk.Operations.
func (s *Store) Undo(ctx context.Context, caller *domain.Caller, operationID string) (*bulk.Operation, error) {
	id := newID()
	err := pg.InTx(ctx, s.pool, func(tx *sqlx.Tx) error {
		of, o, err := seen(ctx, tx, caller, operationID)
		if err != nil {
			return err
		}
		switch {
		case of.UndoableUntil == nil:
			return domain.Invalid("operationId", "there is nothing to undo: the operation has not ended, changed nothing, undoes another, or was undone")
		case s.Now().After(*of.UndoableUntil):
			return domain.Invalid("operationId", "an operation can be undone within %d days", int(bulk.Undoable/(24*time.Hour)))
		}
		if err := checkRoom(ctx, tx, caller.Scope); err != nil {
			return err
		}
		rows, err := pg.Affected(ctx, tx, copyChanged, caller.Scope.Company, id, o.id)
		if err != nil {
			return err
		}
		undo := newOperation{id: id, state: bulk.Running, policy: bulk.RejectFailedRows, undoOf: &o.id, permissions: o.Permissions, total: rows}
		if undo.digest, err = digest(ctx, tx, caller.Scope, undo); err != nil {
			return err
		}
		return s.add(ctx, tx, caller.Scope, undo, domain.AuditOperationUndo, domain.Became("undoOf", operationID))
	})
	if err != nil {
		return nil, err
	}
	return s.Find(ctx, caller.Scope, id.String())
}

const (
	prunableOperations = `
SELECT DISTINCT o.company_id FROM operations o
WHERE ($1::bigint[] IS NULL OR o.company_id = ANY($1)) AND o.ended_at < $2`
	// oldestEnded is one that no other waits for: one that undoes it goes before it.
	oldestEnded = `
SELECT o.operation_id FROM operations o
WHERE o.company_id = $1 AND o.ended_at < $2
ORDER BY o.operation_id
LIMIT 1`
	pruneRows = `
DELETE FROM operation_rows
WHERE company_id = $1 AND operation_id = $2
  AND position <= (SELECT min(f.position) FROM operation_rows f WHERE f.company_id = $1 AND f.operation_id = $2) + $3`
	pruneOperation = `DELETE FROM operations WHERE company_id = $1 AND operation_id = $2`
)

// Prune removes the operations of all companies that have expired, with their results,
// and returns how many.
func (s *Store) Prune(ctx context.Context, expired retention.Expired) (int, error) {
	pruned, before := 0, expired.Before(retention.Operations)
	err := companies.Try(ctx, s.pool, func(company domain.CompanyID) error {
		for {
			old, err := pg.SelectValues[uuid.UUID](ctx, s.pool, oldestEnded, company, before)
			if err != nil || len(old) == 0 {
				return err
			}
			if err := s.prune(ctx, company, old[0]); err != nil {
				return err
			}
			pruned++
		}
	}, prunableOperations, before)
	return pruned, err
}

// prune removes the results first, so that an operation is there as long as they are.
func (s *Store) prune(ctx context.Context, company domain.CompanyID, id uuid.UUID) error {
	if _, err := pg.DeleteAll(ctx, s.pool, s.RowsAtOnce, pruneRows, company, id); err != nil {
		return err
	}
	_, err := pg.Affected(ctx, s.pool, pruneOperation, company, id)
	return err
}
