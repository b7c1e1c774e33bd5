package bundle

import (
	"context"
	"maps"
	"time"

	"github.com/jmoiron/sqlx"
	"golang.org/x/sync/errgroup"

	"simgraph/db/audit"
	"simgraph/db/imported"
	"simgraph/db/pg"
	"simgraph/db/subscriber"
	"simgraph/domain"
)

// Subscribers implements domain.Importer.
func (i *Importer) Subscribers(ctx context.Context, scope domain.Scope, items []*domain.Subscriber) ([]domain.Imported, error) {
	verdicts := make(map[string]string, len(items))
	tops, profiles := byParent(items, verdicts)
	for _, batch := range [][]*domain.Subscriber{tops, profiles} {
		if err := i.subscribers(ctx, scope, batch, verdicts); err != nil {
			return nil, err
		}
	}
	answers := imported.Answer(items, verdicts, func(s *domain.Subscriber) string { return s.PhysicalID }, subscriber.Refuse)
	i.grown(ctx, "subscribers", answers)
	i.grown(ctx, "group_memberships", answers)
	return answers, nil
}

// worthSharing is how many subscribers make a second connection pay: the ten
// indexes and five foreign keys of a row keep one core busy.
const worthSharing = 1000

// subscribers stores items that are no parents of each other, half of them over
// a second connection while the first keeps other imports of the company out.
func (i *Importer) subscribers(ctx context.Context, scope domain.Scope, items []*domain.Subscriber, verdicts map[string]string) error {
	if len(items) == 0 {
		return nil
	}
	half := len(items)
	if limit := i.pool.Stats().MaxOpenConnections; half >= worthSharing && (limit == 0 || limit >= 4) {
		half /= 2
	}
	return i.inCompany(ctx, scope, "subscribers", func(tx *sqlx.Tx) (map[domain.Outcome]int, error) {
		// Later than all moves that committed before the lock.
		now := pg.Moment(i.now())
		found, others := map[string]string{}, map[string]string{}
		both, together := errgroup.WithContext(ctx)
		both.Go(func() error {
			return subscriber.Write(together, tx, scope, now, items[:half], true, found)
		})
		if half < len(items) {
			both.Go(func() error {
				return audit.Change(together, i.pool, scope, func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
					err := subscriber.Write(together, tx, scope, now, items[half:], false, others)
					return audit.Import("subscribers", imported.Tally(others, nil)), err
				})
			})
		}
		if err := both.Wait(); err != nil {
			return nil, err
		}
		maps.Copy(found, others)
		if err := i.postponed(ctx, tx, scope, now, items[half:], found); err != nil {
			return nil, err
		}
		maps.Copy(verdicts, found)
		return imported.Tally(found, others), subscriber.Written(ctx, tx, scope, now, found)
	})
}

// postponed stores what the second connection left: moves stand and fall with
// the note of them.
func (i *Importer) postponed(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, now time.Time, items []*domain.Subscriber, found map[string]string) error {
	var left []*domain.Subscriber
	for _, s := range items {
		if found[s.PhysicalID] == "postponed" {
			left = append(left, s)
		}
	}
	if len(left) == 0 {
		return nil
	}
	return subscriber.Write(ctx, tx, scope, now, left, true, found)
}

// byParent splits the items, so that parents are there before their profiles.
// A profile of a profile among the items gets its verdict here.
func byParent(items []*domain.Subscriber, verdicts map[string]string) (tops, profiles []*domain.Subscriber) {
	nested := map[string]bool{}
	for _, s := range items {
		if s.ParentPhysicalID != nil {
			nested[s.PhysicalID] = true
		}
	}
	for _, s := range items {
		switch {
		case s.ParentPhysicalID == nil:
			tops = append(tops, s)
		case nested[*s.ParentPhysicalID]:
			verdicts[s.PhysicalID] = "parent is a profile"
		default:
			profiles = append(profiles, s)
		}
	}
	return tops, profiles
}
