package resolvers

import (
	"context"
	"time"

	"simgraph/domain"
	"simgraph/domain/bulk"
	"simgraph/domain/carrier"
	"simgraph/domain/condition"
	"simgraph/domain/dashboard"
	"simgraph/domain/report"
	"simgraph/domain/signin"
	"simgraph/domain/silence"
	"simgraph/domain/webhook"
	"simgraph/graph/model"
)

// What relations load.
var (
	subscribersByKey  = projected(func(g *Graph) manyOf[int64, *domain.Subscriber, domain.Projection] { return g.Subscribers.OfKeys })
	profilesByParent  = projected(func(g *Graph) manyOf[int64, []*domain.Subscriber, domain.Projection] { return g.Subscribers.ProfilesOf })
	tariffsByName     = loading(func(g *Graph) many[string, *domain.Tariff] { return g.Catalogue.TariffsOf })
	usageBySubscriber = loadingBy(func(ctx context.Context, l *loaders, subscribers []int64, _ none) (map[int64]int64, error) {
		return l.graph.Ports.Usage.CurrentOf(ctx, l.scope, l.periodStart, subscribers)
	})

	sessionsBySubscriber      = loadingBy(sessionsOfEach)
	sessionTotalsBySubscriber = loadingPart(func(g *Graph) manyOf[int64, int, domain.Listing] { return g.Ports.Sessions.CountOfSubscribers })

	sessionsByListing = listingPages(func(g *Graph) lister[*domain.Session] { return g.Sessions.List }, model.NewSession,
		func(g *Graph) counter { return g.Sessions.Count })
	feedElements = listingPages(func(g *Graph) lister[*domain.FeedElement] { return g.Feed.Elements }, model.NewFeedElement,
		func(g *Graph) counter { return g.Feed.CountElements })
	feedRejects = listingPages(func(g *Graph) lister[*domain.FeedReject] { return g.Feed.Rejects }, itself,
		func(g *Graph) counter { return g.Feed.CountRejects })
	waitingUsage = listingPages(func(g *Graph) lister[*domain.WaitingUsage] { return g.Feed.Waiting }, itself,
		func(g *Graph) counter { return g.Feed.CountWaiting })
	sourcesByListing = listingPages(func(g *Graph) lister[*domain.UsageSource] { return g.Ports.Usage.ListSources }, itself,
		func(g *Graph) counter { return g.Ports.Usage.CountSources })
	questionsByListing = listingPages(func(g *Graph) lister[*domain.Question] { return g.Ports.Questions.List }, itself,
		func(g *Graph) counter { return g.Ports.Questions.Count })
	questionsByID       = loading(func(g *Graph) many[string, *domain.Question] { return g.Ports.Questions.FindMany })
	dashboardsByID      = loading(func(g *Graph) many[string, *dashboard.Dashboard] { return g.Ports.Dashboards.FindMany })
	dashboardsByListing = listingPages(func(g *Graph) lister[*dashboard.Dashboard] { return g.Ports.Dashboards.List }, itself,
		func(g *Graph) counter { return g.Ports.Dashboards.Count })
	reportsByListing = listingPages(func(g *Graph) lister[*report.Report] { return g.Ports.Reports.List }, itself,
		func(g *Graph) counter { return g.Ports.Reports.Count })
	openSessions         = loading(func(g *Graph) many[domain.FeedKey, int] { return g.Feed.OpenSessions })
	incompleteSessions   = loading(func(g *Graph) many[domain.FeedKey, int] { return g.Feed.IncompleteSessions })
	lastSeenBySubscriber = loading(func(g *Graph) many[int64, time.Time] { return g.Sessions.LastSeen })

	groupsByListing = listingPages(func(g *Graph) lister[*domain.Group] { return g.Ports.Groups.List }, itself,
		func(g *Graph) counter { return g.Ports.Groups.Count })
	groupsByUser = loadingPart(func(g *Graph) manyOf[int64, domain.Slice[*domain.Group], domain.Listing] {
		return g.Ports.Groups.OfUsers
	})
	sessionsByUser     = loading(func(g *Graph) many[int64, []*signin.Session] { return g.Accounts.SessionsOf })
	groupTotalsByUser  = loadingPart(func(g *Graph) manyOf[int64, int, domain.Listing] { return g.Ports.Groups.CountOfUsers })
	groupsByID         = loading(func(g *Graph) many[int64, *domain.Group] { return g.Groups.FindMany })
	countsByGroup      = loading(func(g *Graph) many[int64, domain.GroupCounts] { return g.Groups.CountsOf })
	subscribersByGroup = loadingPart(func(g *Graph) manyOf[int64, domain.Slice[*domain.Subscriber], domain.Listing] {
		return g.Subscribers.OfGroups
	})
	totalsByGroup = loadingPart(func(g *Graph) manyOf[int64, int, domain.Listing] { return g.Subscribers.CountOfGroups })

	tagsBySubscriber = loadingPage(func(g *Graph) manyOf[int64, []domain.TagName, domain.Page] { return g.Tags.OfMany })
	tagNumbers       = loading(func(g *Graph) many[int64, int] { return g.Tags.NumberOf })
	countsByTag      = loading(func(g *Graph) many[domain.TagName, int] { return g.Tags.CountsOf })
	subscribersByTag = loadingPart(func(g *Graph) manyOf[domain.TagName, domain.Slice[*domain.Subscriber], domain.Listing] {
		return g.Subscribers.OfTags
	})
	totalsByTag = loadingPart(func(g *Graph) manyOf[domain.TagName, int, domain.Listing] { return g.Subscribers.CountOfTags })

	alertsByID    = loading(func(g *Graph) many[int64, *domain.VolumeAlert] { return g.VolumeAlerts.FindMany })
	firedByAlert  = loading(func(g *Graph) many[int64, int] { return g.VolumeAlerts.Fired })
	statesByAlert = loadingPage(func(g *Graph) manyOf[int64, []*domain.VolumeAlertState, domain.Page] {
		return g.VolumeAlerts.SubjectsOf
	})
	statesBySubscriber = loadingBy(func(ctx context.Context, l *loaders, keys []int64, _ none) (map[int64][]domain.AlertState, error) {
		return statesOfSubscribers(ctx, l, keys)
	})
	alertsByGroup      = loadingPart(func(g *Graph) manyOf[int64, domain.Slice[domain.Alert], domain.Listing] { return g.Alerts.OfGroups })
	alertTotalsByGroup = loadingPart(func(g *Graph) manyOf[int64, int, domain.Listing] { return g.Alerts.CountOfGroups })
	firedByCondition   = loading(func(g *Graph) many[int64, int] { return g.Conditions.Fired })
	conditionsByID     = loading(func(g *Graph) many[int64, *condition.Alert] { return g.Conditions.FindMany })
	deliveries         = loading(func(g *Graph) many[domain.Notified, []*domain.AlertDelivery] { return g.VolumeLog.Deliveries })
	silencesByID       = loading(func(g *Graph) many[int64, *silence.Silence] { return g.Silences.FindMany })
	recipientsByID     = loading(func(g *Graph) many[int64, *domain.Recipient] { return g.Recipients.FindMany })
	webhooksByID       = loading(func(g *Graph) many[int64, *webhook.Endpoint] { return g.Webhooks.FindMany })
	mailsByRecipient   = loadingPage(func(g *Graph) manyOf[int64, []*domain.Mail, domain.Page] { return g.Recipients.Mails })

	commandsBySubscriber = loadingPart(func(g *Graph) manyOf[int64, domain.Slice[*carrier.Command], domain.Listing] {
		return g.Commands.OfSubscribers
	})
	commandTotalsBySubscriber = loadingPart(func(g *Graph) manyOf[int64, int, domain.Listing] { return g.Commands.CountOfSubscribers })

	changesBySubscriber = loadingPart(func(g *Graph) manyOf[int64, domain.Slice[*bulk.Result], domain.Listing] {
		return g.Ports.Operations.ChangesOf
	})
	changeTotalsBySubscriber = loadingPart(func(g *Graph) manyOf[int64, int, domain.Listing] { return g.Ports.Operations.CountChangesOf })

	operationsByID     = loading(func(g *Graph) many[string, *bulk.Operation] { return g.Ports.Operations.FindMany })
	resultsByOperation = loadingPart(func(g *Graph) manyOf[string, domain.Slice[*bulk.Result], domain.Listing] {
		return g.Ports.Operations.ResultsOf
	})
	resultTotalsByOperation = loadingPart(func(g *Graph) manyOf[string, int, domain.Listing] { return g.Ports.Operations.CountResultsOf })

	fleets = loadingBy(func(ctx context.Context, l *loaders, _ []none, _ none) (map[none]domain.FleetCounts, error) {
		fleet, err := l.graph.Subscribers.Fleet(ctx, l.scope)
		return map[none]domain.FleetCounts{{}: fleet}, err
	})
)

type (
	// many is a method of a port that loads the values of keys.
	many[K comparable, V any] = func(context.Context, domain.Scope, []K) (map[K]V, error)
	// manyOf is one with an argument.
	manyOf[K comparable, V, A any] = func(context.Context, domain.Scope, []K, A) (map[K]V, error)
)

// loading returns a source without arguments.
func loading[K comparable, V any](method func(*Graph) many[K, V]) *source[none, K, V] {
	return loadingBy(func(ctx context.Context, l *loaders, keys []K, _ none) (map[K]V, error) {
		return method(l.graph)(ctx, l.scope, keys)
	})
}

// loadingPage returns a source of parts, by limit and offset.
func loadingPage[K comparable, V any](method func(*Graph) manyOf[K, V, domain.Page]) *source[domain.Page, K, V] {
	return loadingBy(func(ctx context.Context, l *loaders, keys []K, page domain.Page) (map[K]V, error) {
		return method(l.graph)(ctx, l.scope, keys, page)
	})
}

// loadingPart returns a source of parts of lists, or of something about them.
func loadingPart[K comparable, V any](method func(*Graph) manyOf[K, V, domain.Listing]) *source[*domain.Listing, K, V] {
	return loadingBy(func(ctx context.Context, l *loaders, keys []K, part *domain.Listing) (map[K]V, error) {
		return method(l.graph)(ctx, l.scope, keys, *part)
	})
}

// projected returns a source of subscribers with what the operation reads of them.
func projected[K comparable, V any](method func(*Graph) manyOf[K, V, domain.Projection]) *source[none, K, V] {
	return loadingBy(func(ctx context.Context, l *loaders, keys []K, _ none) (map[K]V, error) {
		return method(l.graph)(ctx, l.scope, keys, l.graph.projection(ctx))
	})
}
