// Package kept stores what users keep under ids of their own: questions, dashboards, notes and
// reports.
package kept

import (
	"cmp"
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"simgraph/db/audit"
	"simgraph/db/keyset"
	"simgraph/db/pg"
	"simgraph/domain"
)

// Kind is what differs between the kinds of things T, which are read from rows R.
type Kind[R, T any] struct {
	// Type names the things in the audit log, and Name in errors and actions: Note, note.
	Type, Name string
	// Table is their list. Its key is their id, its parameters are the company and Shown.
	Table keyset.Table
	Shown func(scope domain.Scope) []any
	// FindSQL and LockSQL have the parameters of Table, and then ids and an id; RemoveSQL has
	// the company and the id.
	FindSQL, LockSQL, RemoveSQL string
	Read                        func(row *R) (*T, error)
	Made                        func(of *T) Made
	Version                     func(of *T) string
	Audited                     []domain.AuditField[T]
	// About are the subscribers that a thing is about, for the audit log; nil for none.
	About func(of *T) []string
	// None is what the audit log compares a thing with that is new or gone; nil for nothing.
	None *T
	// MayChange refuses to remove what the scope shows and may not change. Remove needs it.
	MayChange func(scope domain.Scope, of T) error
	// Hide takes away what the scope does not show of things that it shows; nil for nothing.
	Hide func(ctx context.Context, scope domain.Scope, of ...*T) error
}

// Made points to what a store sets in a thing.
type Made struct {
	ID                   *string
	OwnerID              *int64
	Owner                *string
	CreatedAt, ChangedAt *time.Time
}

// Store keeps things of one kind.
type Store[R, T any, P keyset.Row[R]] struct {
	Pool *sqlx.DB
	// Now is the clock.
	Now func() time.Time
	Kind[R, T]
}

// Moment is now as the database keeps it.
func (s *Store[R, T, P]) Moment() time.Time { return pg.Moment(s.Now()) }

func (s *Store[R, T, P]) args(scope domain.Scope, last any) []any {
	return append(append([]any{scope.Company}, s.Shown(scope)...), last)
}

func (s *Store[R, T, P]) hidden(ctx context.Context, scope domain.Scope, err error, of ...*T) error {
	if err != nil || s.Hide == nil {
		return err
	}
	return s.Hide(ctx, scope, of...)
}

// List returns a part of the things that the scope shows.
func (s *Store[R, T, P]) List(ctx context.Context, scope domain.Scope, listing domain.Listing) (domain.Slice[*T], error) {
	var unread error
	slice, err := keyset.Page[R, P](ctx, s.Pool, s.Table, scope, listing, func(row *R) *T {
		of, err := s.Read(row)
		unread = cmp.Or(unread, err)
		return of
	}, s.Shown(scope)...)
	return slice, s.hidden(ctx, scope, cmp.Or(err, unread), slice.Items...)
}

// Count counts the things of a listing.
func (s *Store[R, T, P]) Count(ctx context.Context, scope domain.Scope, listing domain.Listing) (int, error) {
	return s.Table.Count(ctx, s.Pool, scope, listing, s.Shown(scope)...)
}

// FindMany returns those that the scope shows, by their ids. What is no UUID names none.
func (s *Store[R, T, P]) FindMany(ctx context.Context, scope domain.Scope, ids []string) (map[string]*T, error) {
	known := pg.UUIDs(ids)
	found := make(map[string]*T, len(known))
	var all []*T
	err := pg.EachRow(ctx, s.Pool, s.FindSQL, s.args(scope, known), func(row R) error {
		of, err := s.Read(&row)
		if err == nil {
			found[*s.Made(of).ID] = of
			all = append(all, of)
		}
		return err
	})
	return found, s.hidden(ctx, scope, err, all...)
}

// Entry is that of an action on a thing; before or after is nil for what there is not.
func (s *Store[R, T, P]) Entry(action string, before, after *T) *domain.AuditEntry {
	of := cmp.Or(after, before)
	entry := &domain.AuditEntry{
		Action: s.Name + "." + action, SubjectType: s.Type, SubjectID: *s.Made(of).ID,
		Changes: domain.Differences(cmp.Or(before, s.None), cmp.Or(after, s.None), s.Audited),
	}
	if s.About != nil {
		entry.PhysicalIDs = audit.About(s.About(cmp.Or(before, of)), s.About(of))
	}
	return entry
}

// Create gives the thing its id, owner and times, and inserts it under the lock of the company.
func (s *Store[R, T, P]) Create(ctx context.Context, scope domain.Scope, of *T, insert func(tx *sqlx.Tx) error) (*T, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return nil, err
	}
	made, at := s.Made(of), s.Moment()
	*made.ID, *made.CreatedAt, *made.ChangedAt = id.String(), at, at
	if scope.Actor != nil {
		*made.OwnerID, *made.Owner = scope.Actor.UserID, scope.Actor.Name
	}
	return of, audit.ChangeLocked(ctx, s.Pool, scope, func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
		err := insert(tx)
		return s.Entry("create", nil, of), err
	})
}

// Change runs do on a thing that the scope shows, which is locked until the end.
func (s *Store[R, T, P]) Change(ctx context.Context, scope domain.Scope, id string, do func(tx *sqlx.Tx, of *T) (*domain.AuditEntry, error)) error {
	absent := domain.NotFound(s.Table.Key.Name, s.Name, id)
	if !pg.IsUUID(id) {
		return absent
	}
	return audit.Change(ctx, s.Pool, scope, func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
		row, err := pg.GetOne[R](ctx, tx, absent, s.LockSQL, s.args(scope, id)...)
		if err != nil {
			return nil, err
		}
		of, err := s.Read(row)
		if err != nil {
			return nil, err
		}
		return do(tx, of)
	})
}

// Edit writes what apply makes of a thing, unless that is the same to the audit log.
func (s *Store[R, T, P]) Edit(
	ctx context.Context, scope domain.Scope, id string, apply func(before T) (T, error), write func(tx *sqlx.Tx, before, after *T) error,
) (edited *T, err error) {
	err = s.Change(ctx, scope, id, func(tx *sqlx.Tx, before *T) (*domain.AuditEntry, error) {
		if err := scope.CheckVersion(s.Version(before)); err != nil {
			return nil, err
		}
		after, err := apply(*before)
		if err != nil {
			return nil, err
		}
		entry := s.Entry("edit", before, &after)
		if edited = before; len(entry.Changes) == 0 {
			return nil, nil
		}
		*s.Made(&after).ChangedAt = s.Moment()
		edited = &after
		return entry, write(tx, before, edited)
	})
	return edited, s.hidden(ctx, scope, err, edited)
}

// Remove returns the thing as it was.
func (s *Store[R, T, P]) Remove(ctx context.Context, scope domain.Scope, id string) (removed *T, err error) {
	err = s.Change(ctx, scope, id, func(tx *sqlx.Tx, of *T) (*domain.AuditEntry, error) {
		if err := s.MayChange(scope, *of); err != nil {
			return nil, err
		}
		removed = of
		_, err := pg.Affected(ctx, tx, s.RemoveSQL, scope.Company, *s.Made(of).ID)
		return s.Entry("delete", of, nil), err
	})
	return removed, s.hidden(ctx, scope, err, removed)
}
