package kept

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"simgraph/db/audit"
	"simgraph/db/keyset"
	"simgraph/db/pg"
	"simgraph/domain"
)

// Owned keeps things that have an owner and an id that Create makes up: questions, dashboards,
// notes and reports.
type Owned[R, T any, P keyset.Row[R]] struct {
	Store[string, R, T, P]
	Made func(of *T) Made
	// RemoveSQL has the company and the id. MayChange refuses to remove what the scope shows and
	// may not change. Remove needs both.
	RemoveSQL string
	MayChange func(scope domain.Scope, of T) error
}

// Made points to what a store sets in a thing.
type Made struct {
	OwnerID              *int64
	Owner                *string
	CreatedAt, ChangedAt *time.Time
}

// Create gives the thing its id, owner and times, and inserts it under the lock of the company.
func (s *Owned[R, T, P]) Create(ctx context.Context, scope domain.Scope, of *T, insert func(tx *sqlx.Tx) error) (*T, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return nil, err
	}
	made, at := s.Made(of), s.Moment()
	*s.ID(of), *made.CreatedAt, *made.ChangedAt = id.String(), at, at
	if scope.Actor != nil {
		*made.OwnerID, *made.Owner = scope.Actor.UserID, scope.Actor.Name
	}
	return of, audit.ChangeLocked(ctx, s.Pool, scope, func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
		err := insert(tx)
		return s.Entry(s.Name+".create", nil, of), err
	})
}

// Edit writes what apply makes of a thing, unless that is the same to the audit log.
func (s *Owned[R, T, P]) Edit(
	ctx context.Context, scope domain.Scope, id string, apply func(before T) (T, error), write func(tx *sqlx.Tx, before, after *T) error,
) (*T, error) {
	return s.Locked(ctx, scope, id, func(tx *sqlx.Tx, of *T) (*domain.AuditEntry, error) {
		if err := scope.CheckVersion(s.Version(of)); err != nil {
			return nil, err
		}
		before := *of
		after, err := apply(before)
		if err != nil {
			return nil, err
		}
		entry := s.Entry(s.Name+".edit", &before, &after)
		if len(entry.Changes) == 0 {
			return nil, nil
		}
		*of = after
		*s.Made(of).ChangedAt = s.Moment()
		return entry, write(tx, &before, of)
	})
}

// Remove returns the thing as it was.
func (s *Owned[R, T, P]) Remove(ctx context.Context, scope domain.Scope, id string) (*T, error) {
	return s.Locked(ctx, scope, id, func(tx *sqlx.Tx, of *T) (*domain.AuditEntry, error) {
		if err := s.MayChange(scope, *of); err != nil {
			return nil, err
		}
		_, err := pg.Affected(ctx, tx, s.RemoveSQL, scope.Company, id)
		return s.Entry(s.Name+".delete", of, nil), err
	})
}
