// Package kept lists, counts, finds and changes the things of a table as a scope shows them, with
// an entry of the audit log for each change.
package kept

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/audit"
	"simgraph/db/keyset"
	"simgraph/db/pg"
	"simgraph/domain"
)

// ID is what a thing is found by.
type ID interface{ int64 | string }

// Kind is what differs between the kinds of things T, whose ids are K, and which are read from
// rows R.
type Kind[K ID, R, T any] struct {
	// Type names the things in the audit log, Name in errors: Note, note.
	Type, Name string
	// Field names the id in errors; "" for the key of Table.
	Field string
	// Table is their list. Its key is their id, and its parameters are the company and Shown.
	Table keyset.Table
	// Shown is nil for none.
	Shown func(scope domain.Scope) []any
	// Lock is how one that is changed is locked, such as FOR UPDATE OF n; "" for the lock of
	// the company.
	Lock string
	Read func(row *R) (*T, error)
	ID   func(of *T) *K
	// Version is what Edit compares.
	Version func(of *T) string
	// Audited are the fields that Entry compares; About are the subscribers that a thing is
	// about, nil for none.
	Audited []domain.AuditField[T]
	About   func(of *T) []string
	// None is what Entry compares a thing with that is new or gone; nil for nothing.
	None *T
	// Complete adds to the things that are returned what stands elsewhere, or takes away what the
	// scope does not show of them; nil for nothing.
	Complete func(ctx context.Context, scope domain.Scope, of ...*T) error
}

// Store keeps things of one kind.
type Store[K ID, R, T any, P keyset.Row[R]] struct {
	Pool *sqlx.DB
	// Now is the clock.
	Now func() time.Time
	Kind[K, R, T]
}

// New returns the store of a kind on the pool; now is the clock.
func New[K ID, R, T any, P keyset.Row[R]](pool *sqlx.DB, now func() time.Time, kind Kind[K, R, T]) Store[K, R, T, P] {
	return Store[K, R, T, P]{pool, now, kind}
}

// Moment is now as the database keeps it.
func (s *Store[K, R, T, P]) Moment() time.Time { return pg.Moment(s.Now()) }

// NotFound is the error on a thing that the scope does not show.
func (k *Kind[K, R, T]) NotFound(id K) error {
	return domain.NotFound(cmp.Or(k.Field, k.Table.Key.Name), k.Name, fmt.Sprint(id))
}

func (k *Kind[K, R, T]) shown(scope domain.Scope) []any {
	if k.Shown == nil {
		return nil
	}
	return k.Shown(scope)
}

func (k *Kind[K, R, T]) complete(ctx context.Context, scope domain.Scope, err error, of ...*T) error {
	if err != nil || k.Complete == nil {
		return err
	}
	return k.Complete(ctx, scope, of...)
}

// List returns a part of the things that the scope shows.
func (s *Store[K, R, T, P]) List(ctx context.Context, scope domain.Scope, listing domain.Listing) (domain.Slice[*T], error) {
	var unread error
	slice, err := keyset.Page[R, P](ctx, s.Pool, s.Table, scope, listing, func(row *R) *T {
		of, err := s.Read(row)
		unread = cmp.Or(unread, err)
		return of
	}, s.shown(scope)...)
	return slice, s.complete(ctx, scope, cmp.Or(err, unread), slice.Items...)
}

// Count counts the things of a listing.
func (s *Store[K, R, T, P]) Count(ctx context.Context, scope domain.Scope, listing domain.Listing) (int, error) {
	return s.Table.Count(ctx, s.Pool, scope, listing, s.shown(scope)...)
}

// FindMany returns those that the scope shows, by their ids.
func (s *Store[K, R, T, P]) FindMany(ctx context.Context, scope domain.Scope, ids []K) (map[K]*T, error) {
	all, err := s.find(ctx, s.Pool, scope, "", ids...)
	return pg.Keyed(all, func(of *T) K { return *s.ID(of) }), s.complete(ctx, scope, err, all...)
}

// Find returns one that the scope shows.
func (s *Store[K, R, T, P]) Find(ctx context.Context, scope domain.Scope, id K) (*T, error) {
	of, err := s.FindIn(ctx, s.Pool, scope, id)
	return of, s.complete(ctx, scope, err, of)
}

// FindIn is Find in a transaction, without Complete.
func (k *Kind[K, R, T]) FindIn(ctx context.Context, in sqlx.QueryerContext, scope domain.Scope, id K) (*T, error) {
	return k.one(ctx, in, scope, "", id)
}

func (k *Kind[K, R, T]) one(ctx context.Context, in sqlx.QueryerContext, scope domain.Scope, lock string, id K) (*T, error) {
	found, err := k.find(ctx, in, scope, lock, id)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, k.NotFound(id)
	}
	return found[0], nil
}

func (k *Kind[K, R, T]) find(ctx context.Context, in sqlx.QueryerContext, scope domain.Scope, lock string, ids ...K) ([]*T, error) {
	if err := k.Table.Check(scope); err != nil {
		return nil, err
	}
	sql, args := keyset.ByKeys(k.Table, scope, ids, k.shown(scope)...)
	return k.Select(ctx, in, sql+lock, args...)
}

// Select returns the things of a statement that selects the columns of Table.
func (k *Kind[K, R, T]) Select(ctx context.Context, in sqlx.QueryerContext, sql string, args ...any) ([]*T, error) {
	rows, err := pg.SelectAll[R](ctx, in, sql, args...)
	if err != nil {
		return nil, err
	}
	all := make([]*T, len(rows))
	for i, row := range rows {
		if all[i], err = k.Read(row); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Note is the entry of an action on a thing.
func (k *Kind[K, R, T]) Note(action string, id K, changes ...domain.AuditChange) *domain.AuditEntry {
	return &domain.AuditEntry{Action: action, SubjectType: k.Type, SubjectID: fmt.Sprint(id), Changes: changes}
}

// Entry is Note with what differs; before or after is nil for what there is not.
func (k *Kind[K, R, T]) Entry(action string, before, after *T) *domain.AuditEntry {
	of := cmp.Or(after, before)
	entry := k.Note(action, *k.ID(of), domain.Differences(cmp.Or(before, k.None), cmp.Or(after, k.None), k.Audited)...)
	if k.About != nil {
		entry.PhysicalIDs = audit.About(k.About(cmp.Or(before, of)), k.About(of))
	}
	return entry
}

// Transact runs do under the lock of the company, and notes its entry unless that is nil.
func (s *Store[K, R, T, P]) Transact(ctx context.Context, scope domain.Scope, do func(tx *sqlx.Tx) (*domain.AuditEntry, error)) error {
	if err := s.Table.Check(scope); err != nil {
		return err
	}
	return audit.ChangeLocked(ctx, s.Pool, scope, do)
}

// Create is Transact of an insert, which returns the id of the new thing.
func (s *Store[K, R, T, P]) Create(
	ctx context.Context, scope domain.Scope, insert func(tx *sqlx.Tx) (K, error), entry func(created *T) *domain.AuditEntry,
) (created *T, err error) {
	err = s.Transact(ctx, scope, func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
		id, err := insert(tx)
		if err != nil {
			return nil, err
		}
		if created, err = s.FindIn(ctx, tx, scope, id); err != nil {
			return nil, err
		}
		return entry(created), nil
	})
	return created, s.complete(ctx, scope, err, created)
}

// Locked runs do with a thing that the scope shows and that nobody else changes meanwhile, and
// returns it as do leaves it. No entry means that nothing changed.
func (s *Store[K, R, T, P]) Locked(ctx context.Context, scope domain.Scope, id K, do func(tx *sqlx.Tx, of *T) (*domain.AuditEntry, error)) (of *T, err error) {
	if err := s.Table.Check(scope); err != nil {
		return nil, err
	}
	change := audit.Change
	if s.Lock == "" {
		change = audit.ChangeLocked
	}
	err = change(ctx, s.Pool, scope, func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
		if of, err = s.one(ctx, tx, scope, s.Lock, id); err != nil {
			return nil, err
		}
		return do(tx, of)
	})
	return of, s.complete(ctx, scope, err, of)
}

// Change is Locked for a do that changes the database alone: the thing is read again.
func (s *Store[K, R, T, P]) Change(ctx context.Context, scope domain.Scope, id K, do func(tx *sqlx.Tx, of *T) (*domain.AuditEntry, error)) (*T, error) {
	return s.Locked(ctx, scope, id, func(tx *sqlx.Tx, of *T) (*domain.AuditEntry, error) {
		entry, err := do(tx, of)
		if err != nil || entry == nil {
			return nil, err
		}
		changed, err := s.FindIn(ctx, tx, scope, id)
		if err == nil {
			*of = *changed
		}
		return entry, err
	})
}

// Edit is Change of a thing that still has the version which the caller expects.
func (s *Store[K, R, T, P]) Edit(ctx context.Context, scope domain.Scope, id K, do func(tx *sqlx.Tx, of *T) (*domain.AuditEntry, error)) (*T, error) {
	return s.Change(ctx, scope, id, func(tx *sqlx.Tx, of *T) (*domain.AuditEntry, error) {
		if err := scope.CheckVersion(s.Version(of)); err != nil {
			return nil, err
		}
		return do(tx, of)
	})
}
