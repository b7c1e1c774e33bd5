// Package inventory changes the records and the users of a company one by one, each
// in a transaction under the lock of the company.
package inventory

import (
	"cmp"
	"context"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/access"
	"simgraph/db/audit"
	"simgraph/db/carrier"
	"simgraph/db/catalogue"
	"simgraph/db/pg"
	"simgraph/db/subscriber"
	"simgraph/domain"
	"simgraph/domain/inventory"
)

// Store changes the inventory in PostgreSQL.
type Store struct {
	pool        *sqlx.DB
	now         func() time.Time
	subscribers *subscriber.Store
	access      *access.Store
}

var (
	_ inventory.Inventory = (*Store)(nil)
	_ inventory.Users     = (*Store)(nil)
)

// New returns the store on the pool; now is the clock.
func New(pool *sqlx.DB, now func() time.Time) *Store {
	return &Store{pool, now, subscriber.New(pool), access.New(pool)}
}

// write runs do in a transaction that no other change of the company's inventory and
// no import runs beside, and notes its entry. No entry means that nothing changed.
func (s *Store) write(ctx context.Context, scope domain.Scope, do func(tx *sqlx.Tx) (*domain.AuditEntry, error)) error {
	return pg.Retry(ctx, func() error { return audit.ChangeLocked(ctx, s.pool, scope, do) })
}

// moment is the time of a change; the database keeps microseconds.
func (s *Store) moment() time.Time { return pg.Moment(s.now()) }

const isSubscriber = `SELECT s.key FROM subscribers s WHERE s.company_id = $1 AND s.physical_id = $2`

// CreateSubscriber implements inventory.Inventory.
func (s *Store) CreateSubscriber(ctx context.Context, scope domain.Scope, of *domain.Subscriber) (*domain.Subscriber, error) {
	if err := inventory.WholeCompany(scope, "new subscribers"); err != nil {
		return nil, err
	}
	if err := of.Check(); err != nil {
		return nil, err
	}
	err := s.write(ctx, scope, func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
		taken, err := pg.Returned(ctx, tx, isSubscriber, scope.Company, of.PhysicalID)
		if err != nil {
			return nil, err
		}
		if taken > 0 {
			return nil, domain.Invalid("physicalId", "the company has a subscriber %q already", of.PhysicalID)
		}
		return &domain.AuditEntry{
			Action: domain.AuditSubscriberCreate, SubjectType: "Subscriber", SubjectID: of.PhysicalID, Changes: inventory.Changes(nil, of),
		}, subscriber.Save(ctx, tx, scope, of, s.moment())
	})
	if err != nil {
		return nil, err
	}
	return s.subscribers.Find(ctx, scope, of.PhysicalID, domain.Projection{Fields: domain.AllFields})
}

// EditSubscriber implements inventory.Inventory.
func (s *Store) EditSubscriber(ctx context.Context, scope domain.Scope, physicalID string, edit func(*domain.Subscriber) error) (*inventory.Edited, error) {
	var queued carrier.Queued
	err := s.write(ctx, scope, func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
		before, err := subscriber.Lock(ctx, tx, scope, physicalID)
		if err != nil {
			return nil, err
		}
		after := *before
		if err := cmp.Or(scope.CheckVersion(before.VersionFor(scope)), edit(&after)); err != nil {
			return nil, err
		}
		if err := inventory.CheckEdit(scope, before, &after); err != nil {
			return nil, err
		}
		changes := inventory.Changes(before, &after)
		if len(changes) > 0 {
			if err := s.checkTariff(ctx, tx, scope, before, &after); err != nil {
				return nil, err
			}
			if err := subscriber.Save(ctx, tx, scope, &after, s.moment()); err != nil {
				return nil, err
			}
		}
		queued, err = carrier.Queue(ctx, tx, scope.Company, []carrier.Change{{Before: before, After: &after}}, nil, s.moment())
		if err != nil || len(changes) == 0 {
			return nil, err
		}
		return &domain.AuditEntry{Action: domain.AuditSubscriberEdit, SubjectType: "Subscriber", SubjectID: physicalID, Changes: changes}, nil
	})
	if err != nil {
		return nil, err
	}
	edited := &inventory.Edited{InventoryOnly: !queued.HasProvider}
	if edited.Commands, err = carrier.Find(ctx, s.pool, scope, queued.CommandIDs); err != nil {
		return nil, err
	}
	edited.Subscriber, err = s.subscribers.Find(ctx, scope, physicalID, domain.Projection{Fields: domain.AllFields})
	return edited, err
}

// checkTariff returns NotFound for a new tariff that the scope does not show.
func (s *Store) checkTariff(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, before, after *domain.Subscriber) error {
	if !scope.Restricted() || *before.TariffName == *after.TariffName {
		return nil
	}
	shown, err := catalogue.TariffShown(ctx, tx, scope, *after.TariffName)
	if err == nil && !shown {
		err = domain.NotFound("tariffName", "tariff", *after.TariffName)
	}
	return err
}
