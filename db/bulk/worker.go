package bulk

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"simgraph/db/companies"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/internal/pace"
)

const (
	// lease is for how long no other worker takes an operation that one has taken.
	lease = 10 * time.Second
	// chunkTime bounds the work on a chunk.
	chunkTime = time.Minute
	// maxAttempts is after how many failures the rows of a chunk fail. Those of the
	// next chunk fail at once, until one succeeds.
	maxAttempts = 8
)

// pendingOperations are the companies with operations that are due. Of one company
// the oldest runs alone: what was started first happens first. What is due later
// than any failure puts off comes of a clock that was set back: it is due now.
const (
	isDue             = `(o.due_at <= now() OR o.due_at > now() + interval '10 minutes')`
	pendingOperations = `
SELECT DISTINCT o.company_id FROM operations o
WHERE ($1::bigint[] IS NULL OR o.company_id = ANY($1)) AND o.ended_at IS NULL AND ` + isDue
	claimOperation = `
UPDATE operations o SET attempts = o.attempts + 1, due_at = now() + make_interval(secs => $2)
WHERE o.company_id = $1 AND o.ended_at IS NULL AND ` + isDue + ` AND o.operation_id = (
  SELECT a.operation_id FROM operations a
  WHERE a.company_id = $1 AND a.ended_at IS NULL
  ORDER BY a.operation_id
  LIMIT 1)
RETURNING o.operation_id, o.attempts`
	postponeOperation = `
UPDATE operations SET due_at = now() + make_interval(secs => $3)
WHERE company_id = $1 AND operation_id = $2 AND ended_at IS NULL`
	putOffOperation = `
UPDATE operations SET attempts = greatest(attempts - 1, 0), due_at = now() + make_interval(secs => $3)
WHERE company_id = $1 AND operation_id = $2 AND ended_at IS NULL`
	keepAttempts = `UPDATE operations SET attempts = $3 WHERE company_id = $1 AND operation_id = $2 AND ended_at IS NULL`
)

// Run works on operations until ctx ends; a chunk that it has begun then is finished.
// Failures are logged, and tried again.
func (s *Store) Run(ctx context.Context) error {
	return pace.Rounds(ctx, s.Log, "operations: a chunk could not be worked on", s.Round, func() <-chan time.Time { return s.After(s.Every) })
}

// Round works on one chunk of each company that has operations, and reports whether
// there was one.
func (s *Store) Round(ctx context.Context) (more bool, err error) {
	err = companies.Try(ctx, s.pool, func(company domain.CompanyID) error {
		worked, err := s.step(ctx, company)
		more = more || worked
		return err
	}, pendingOperations)
	return more, err
}

// step works on the next chunk of a company.
func (s *Store) step(ctx context.Context, company domain.CompanyID) (bool, error) {
	type claim struct {
		OperationID uuid.UUID
		Attempts    int
	}
	claimed, err := pg.GetOne[claim](ctx, s.pool, nil, claimOperation, company, lease.Seconds())
	if err != nil || claimed == nil {
		return false, err
	}
	ctx = context.WithoutCancel(ctx)
	worked, cancel := context.WithTimeout(ctx, chunkTime)
	defer cancel()
	_, err = s.chunk(worked, company, claimed.OperationID, nil)
	if err == nil {
		return true, nil
	}
	// The time of the chunk may be over.
	ctx, noted := context.WithTimeout(ctx, chunkTime)
	defer noted()
	if errors.Is(err, errBusy) {
		return false, s.putOff(ctx, company, claimed.OperationID)
	}
	if claimed.Attempts >= maxAttempts {
		_, unnoted := s.chunk(ctx, company, claimed.OperationID, &domain.Error{Kind: domain.KindUnavailable,
			Message: "these rows could not be changed in several attempts, and stay as they were"})
		if errors.Is(unnoted, errBusy) {
			return false, s.putOff(ctx, company, claimed.OperationID)
		}
		if unnoted == nil {
			_, unnoted = pg.Affected(ctx, s.pool, keepAttempts, company, claimed.OperationID, maxAttempts-1)
		}
		return unnoted == nil, errors.Join(err, unnoted)
	}
	wait := s.Backoff << max(claimed.Attempts-1, 0)
	_, unnoted := pg.Affected(ctx, s.pool, postponeOperation, company, claimed.OperationID, wait.Seconds())
	return false, errors.Join(err, unnoted)
}

// putOff leaves the operation to the next round: that others changed the company
// meanwhile is no failure of its rows.
func (s *Store) putOff(ctx context.Context, company domain.CompanyID, id uuid.UUID) error {
	_, err := pg.Affected(ctx, s.pool, putOffOperation, company, id, s.Backoff.Seconds())
	return err
}
