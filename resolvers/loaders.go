package resolvers

import (
	"context"
	"sync"
	"time"

	"simgraph/domain"
)

// loaders are the relations of one response.
type loaders struct {
	graph *Graph

	subscriber relation[int64, *domain.Subscriber]
	profiles   relation[int64, []*domain.Subscriber]
	operator   relation[string, *domain.Operator]
	tariff     relation[string, *domain.Tariff]
	tags       relationBy[domain.Page, int64, []domain.TagName]
	tagNumber  relation[int64, int]
	dataUsage  relation[int64, int64]

	group            relation[int64, *domain.Group]
	groupCounts      relation[int64, domain.GroupCounts]
	groupSubscribers partOf[int64, domain.Slice[*domain.Subscriber]]
	groupTotals      partOf[int64, int]

	tagCounts      relation[domain.TagName, int]
	tagSubscribers partOf[domain.TagName, domain.Slice[*domain.Subscriber]]
	tagTotals      partOf[domain.TagName, int]

	alert       relation[int64, *domain.Alert]
	exceeded    relation[int64, int]
	subjects    relationBy[domain.Page, int64, []*domain.AlertState]
	watching    relation[int64, []*domain.AlertState]
	groupAlerts relation[int64, []*domain.Alert]
	deliveries  relation[string, []*domain.AlertDelivery]
	recipient   relation[int64, *domain.Recipient]
	mails       relationBy[domain.Page, int64, []*domain.Mail]

	usageRelations

	listings listings
}

// partOf is a part of a list that belongs to a parent, or something about it.
// Equal listings of a response are one pointer, so that the same is asked.
type partOf[P comparable, V any] = relationBy[*domain.Listing, P, V]

type loadersKey struct{}

// WithLoaders puts fresh loaders into the context of a response.
func (g *Graph) WithLoaders(ctx context.Context) context.Context {
	caller, err := domain.CallerOf(ctx)
	if err != nil {
		return ctx
	}
	return context.WithValue(ctx, loadersKey{}, g.newLoaders(caller.Scope, g.periodStart(ctx)))
}

// ForgetLoaded clears the loaders of a response, after a write.
func ForgetLoaded(ctx context.Context) {
	if l, ok := ctx.Value(loadersKey{}).(*loaders); ok {
		l.clear()
	}
}

func loadersFrom(ctx context.Context) *loaders {
	l, _ := ctx.Value(loadersKey{}).(*loaders)
	return l
}

func (g *Graph) newLoaders(scope domain.Scope, periodStart time.Time) *loaders {
	return &loaders{
		graph: g,

		subscriber: newRelation(wanting(scope, g.Subscribers.OfKeys)),
		profiles:   newRelation(wanting(scope, g.Subscribers.ProfilesOf)),
		operator:   newRelation(in(scope, g.Catalogue.OperatorsOf)),
		tariff:     newRelation(in(scope, g.Catalogue.TariffsOf)),
		tags:       paged(scope, g.Tags.OfMany),
		tagNumber:  newRelation(in(scope, g.Tags.NumberOf)),
		dataUsage:  newRelation(g.currentUsage(scope, periodStart)),

		group:            newRelation(in(scope, g.Groups.FindMany)),
		groupCounts:      newRelation(in(scope, g.Groups.CountsOf)),
		groupSubscribers: parts(scope, g.Subscribers.OfGroups),
		groupTotals:      parts(scope, g.Subscribers.CountOfGroups),

		tagCounts:      newRelation(in(scope, g.Tags.CountsOf)),
		tagSubscribers: parts(scope, g.Subscribers.OfTags),
		tagTotals:      parts(scope, g.Subscribers.CountOfTags),

		alert:       newRelation(in(scope, g.Alerts.FindMany)),
		exceeded:    newRelation(in(scope, g.Alerts.Exceeded)),
		subjects:    paged(scope, g.Alerts.SubjectsOf),
		watching:    newRelation(in(scope, g.Alerts.WatchingSubscribers)),
		groupAlerts: newRelation(in(scope, g.Alerts.OfGroups)),
		deliveries:  newRelation(in(scope, g.AlertLog.Deliveries)),
		recipient:   newRelation(in(scope, g.Recipients.FindMany)),
		mails:       paged(scope, g.Recipients.Mails),

		usageRelations: newUsageRelations(g, scope),
	}
}

func (l *loaders) clear() {
	for _, r := range []interface{ clear() }{
		&l.subscriber, &l.profiles, &l.operator, &l.tariff, &l.tags, &l.tagNumber, &l.dataUsage,
		&l.group, &l.groupCounts, &l.groupSubscribers, &l.groupTotals,
		&l.tagCounts, &l.tagSubscribers, &l.tagTotals,
		&l.alert, &l.exceeded, &l.subjects, &l.watching, &l.groupAlerts, &l.deliveries, &l.recipient, &l.mails, &l.usageRelations,
	} {
		r.clear()
	}
}

// loadMany loads the values of keys, such as a method of a port.
type loadMany[K comparable, V any] func(context.Context, domain.Scope, []K) (map[K]V, error)

// in binds a port's method to the scope of the response.
func in[K comparable, V any](scope domain.Scope, load loadMany[K, V]) loadOf[K, V] {
	return func(ctx context.Context, keys []K) (map[K]V, error) { return load(ctx, scope, keys) }
}

// wanting is in for subscribers: it loads the fields that the operation wants.
func wanting[V any](scope domain.Scope, load func(context.Context, domain.Scope, []int64, domain.Wanted) (map[int64]V, error)) loadOf[int64, V] {
	return func(ctx context.Context, keys []int64) (map[int64]V, error) {
		return load(ctx, scope, keys, wanted(ctx))
	}
}

// currentUsage loads the usage of the billing period that began then.
func (g *Graph) currentUsage(scope domain.Scope, periodStart time.Time) loadOf[int64, int64] {
	return func(ctx context.Context, subscribers []int64) (map[int64]int64, error) {
		return g.Ports.Usage.CurrentOf(ctx, scope, periodStart, subscribers)
	}
}

func parts[P comparable, V any](scope domain.Scope, load func(context.Context, domain.Scope, []P, domain.Listing) (map[P]V, error)) partOf[P, V] {
	return partOf[P, V]{load: func(ctx context.Context, of []P, listing *domain.Listing) (map[P]V, error) {
		return load(ctx, scope, of, *listing)
	}}
}

// paged is for a part, by limit and offset, of what belongs to a parent.
func paged[V any](scope domain.Scope, load func(context.Context, domain.Scope, []int64, domain.Page) (map[int64]V, error)) relationBy[domain.Page, int64, V] {
	return relationBy[domain.Page, int64, V]{load: func(ctx context.Context, of []int64, page domain.Page) (map[int64]V, error) {
		return load(ctx, scope, of, page)
	}}
}

// listings are the listings of a response, each once.
type listings struct {
	mu   sync.Mutex
	seen []*domain.Listing
}

func (l *listings) once(listing domain.Listing) *domain.Listing {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, known := range l.seen {
		if known.Equal(listing) {
			return known
		}
	}
	l.seen = append(l.seen, &listing)
	return &listing
}
