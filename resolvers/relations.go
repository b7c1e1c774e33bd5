package resolvers

import (
	"simgraph/domain"
	"simgraph/domain/bulk"
	"simgraph/domain/carrier"
	"simgraph/domain/condition"
	"simgraph/domain/dashboard"
	"simgraph/domain/report"
	"simgraph/domain/webhook"
	"simgraph/graph/model"
)

// The fields of subscribers.
var (
	tariffOfSubscriber = relate(field{"Subscriber", "tariff", rides, "tariffName tariff"}, tariffsByName,
		func(s *domain.Subscriber) (string, bool) { return optional(s.TariffName) }).heldBy(
		func(s *domain.Subscriber, _ none) (*domain.Tariff, bool) {
			return s.Relations.Tariff, s.Relations.Loaded.Has(domain.FieldTariff)
		})
	groupOfSubscriber = relate(field{"Subscriber", "group", rides, "groupId group"}, groupsByID,
		func(s *domain.Subscriber) (int64, bool) { return optional(s.GroupID) }).heldBy(
		func(s *domain.Subscriber, _ none) (*domain.Group, bool) {
			return s.Relations.Group, s.Relations.Loaded.Has(domain.FieldGroup)
		})
	profilesOfSubscriber = relate(field{"Subscriber", "profiles", apart, "withoutProfiles"}, profilesByParent, parentKey)
	relatedOfSubscriber  = relate(field{"Subscriber", "related", apart, "parentKey parentPhysicalId isEnabledOnParent withoutProfiles"}, profilesByParent, parentKey)
	tagsOfSubscriber     = relateBy(field{"Subscriber", "tags", rides, "tags"}, tagsBySubscriber, subscriberKey, pageArguments).heldBy(
		func(s *domain.Subscriber, page domain.Page) ([]domain.TagName, bool) { return s.Relations.TagsOn(page) })
	commandsOfSubscriber = relateBy(field{"Subscriber", "commands", apart, ""}, commandsBySubscriber, subscriberKey, listingArguments[*domain.Subscriber](carrier.Fields))
	subscriberOfCommand  = relate(field{"Command", "subscriber", rides, ""}, subscribersByKey,
		func(c *carrier.Command) (int64, bool) { return c.SubscriberKey, true })
	operationOfCommand = relate(field{"Command", "operation", apart, ""}, operationsByID,
		func(c *carrier.Command) (string, bool) { return optional(c.OperationID) })
	sessionsOfSubscriber = relateBy(field{"Subscriber", "sessions", apart, ""}, sessionsBySubscriber, subscriberKey, listingArguments[*domain.Subscriber](domain.SessionFields))
	subscriberOfSession  = relate(field{"Session", "subscriber", rides, ""}, subscribersByKey,
		func(s *model.Session) (int64, bool) { return optional(s.SubscriberKey) })
	lastSeenOfSubscriber  = relate(field{"Subscriber", "lastSeen", apart, ""}, lastSeenBySubscriber, subscriberKey)
	tagNumberOfSubscriber = relate(field{"Subscriber", "numberOfTags", apart, ""}, tagNumbers, subscriberKey)
	dataUsageOfSubscriber = relate(field{"Subscriber", "dataUsage", rides, "dataUsage"}, usageBySubscriber, subscriberKey).heldBy(
		func(s *domain.Subscriber, _ none) (int64, bool) {
			return s.Relations.DataUsage, s.Relations.Loaded.Has(domain.FieldDataUsage)
		})
	alertsOfSubscriber = relate(field{"Subscriber", "alerts", apart, ""}, statesBySubscriber, subscriberKey)
	subscriberOfParent = relate(field{"ParentLink", "subscriber", rides, ""}, subscribersByKey,
		func(p *model.ParentLink) (int64, bool) { return p.Key, true })
)

// The fields of groups and tags.
var (
	countsOfGroup      = relate(field{"Group", "numberOfUsers numberOfSubscribers", apart, ""}, countsByGroup, groupID)
	subscribersOfGroup = relateBy(field{"Group", "subscribers", apart, ""}, subscribersByGroup, groupID, subscriberArguments)
	alertsOfGroup      = relateBy(field{"Group", "alerts", apart, ""}, alertsByGroup, groupID, listingArguments[*domain.Group](domain.AlertFields))
	groupsOfViewer     = relateBy(field{"Viewer", "groups", apart, ""}, groupsByListing,
		func(c *domain.Caller) (none, bool) { return none{}, c.Scope.Restricted() }, listingArguments[*domain.Caller](domain.GroupFields))
	sessionsOfUser = relate(field{"User", "sessions", apart, ""}, sessionsByUser,
		func(u *domain.User) (int64, bool) { return u.UserID, true })
	groupsOfUser = relateBy(field{"User", "groups", apart, ""}, groupsByUser,
		func(u *domain.User) (int64, bool) { return u.UserID, true }, listingArguments[*domain.User](domain.GroupFields))

	_ = relateTotals[domain.Alert](field{"AlertConnection", "totalCount", apart, ""})
	_ = relateTotals[*domain.Subscriber](field{"SubscriberConnection", "totalCount", apart, ""})
	_ = relateTotals[*domain.Group](field{"GroupConnection", "totalCount", apart, ""})
	_ = relateTotals[*model.Session](field{"SessionConnection", "totalCount", apart, ""})
	_ = relateTotals[*carrier.Command](field{"CommandConnection", "totalCount", apart, ""})

	countOfTag       = relate(field{"Tag", "numberOfSubscribers", apart, ""}, countsByTag, tagName)
	subscribersOfTag = relateBy(field{"Tag", "subscribers", apart, ""}, subscribersByTag, tagName, subscriberArguments)
)

// The fields of alerts, their log and their recipients.
var (
	subscriberOfAlert = relate(field{"VolumeAlert", "subscriber", rides, ""}, subscribersByKey,
		func(a *domain.VolumeAlert) (int64, bool) { return optional(a.SubscriberKey) })
	groupOfAlert = relate(field{"VolumeAlert", "group", rides, ""}, groupsByID,
		func(a *domain.VolumeAlert) (int64, bool) { return optional(a.GroupID) })
	firedOfAlert    = relate(field{"VolumeAlert", "status numberFired", apart, ""}, firedByAlert, alertID)
	subjectsOfAlert = relateBy(field{"VolumeAlert", "subjects", apart, ""}, statesByAlert, alertID, pageArguments)

	subscriberOfState = relate(field{"VolumeAlertState", "subscriber", rides, ""}, subscribersByKey,
		func(s *domain.VolumeAlertState) (int64, bool) { return optional(s.SubscriberKey) })
	groupOfState = relate(field{"VolumeAlertState", "group", rides, ""}, groupsByID,
		func(s *domain.VolumeAlertState) (int64, bool) { return optional(s.GroupID) })
	subscriberOfFiring = relate(field{"AlertFiring", "subscriber", apart, ""}, subscribersByKey,
		func(f *domain.AlertFiring) (int64, bool) { return optional(f.SubscriberKey) })
	groupOfFiring = relate(field{"AlertFiring", "group", apart, ""}, groupsByID,
		func(f *domain.AlertFiring) (int64, bool) { return optional(f.GroupID) })

	alertOfEntry = relate(field{"VolumeLogEntry", "alert", rides, ""}, alertsByID,
		func(e *domain.VolumeLogEntry) (int64, bool) { return e.AlertID, true })
	subscriberOfEntry = relate(field{"VolumeLogEntry", "subscriber", rides, ""}, subscribersByKey,
		func(e *domain.VolumeLogEntry) (int64, bool) { return optional(e.SubscriberKey) })
	groupOfEntry = relate(field{"VolumeLogEntry", "group", rides, ""}, groupsByID,
		func(e *domain.VolumeLogEntry) (int64, bool) { return optional(e.TargetGroupID) })
	silenceOfEntry = relate(field{"VolumeLogEntry", "silence", rides, ""}, silencesByID,
		func(e *domain.VolumeLogEntry) (int64, bool) { return optional(e.SilenceID) })
	silenceOfOperation = relate(field{"Operation", "silence", rides, ""}, silencesByID,
		func(o *bulk.Operation) (int64, bool) { return optional(o.SilenceID) })
	deliveriesOfEntry = relate(field{"VolumeLogEntry", "deliveries", apart, ""}, deliveries, (*domain.VolumeLogEntry).Notified)

	subscriberOfCondition = relate(field{"ConditionAlert", "subscriber", rides, ""}, subscribersByKey,
		func(a *condition.Alert) (int64, bool) { return optional(a.SubscriberKey) })
	groupOfCondition = relate(field{"ConditionAlert", "group", rides, ""}, groupsByID,
		func(a *condition.Alert) (int64, bool) { return optional(a.GroupID) })
	firedOfCondition = relate(field{"ConditionAlert", "status numberFired", apart, ""}, firedByCondition,
		func(a *condition.Alert) (int64, bool) { return a.AlertID, true })
	subscriberOfConditionState = relate(field{"ConditionAlertState", "subscriber", rides, ""}, subscribersByKey,
		func(s *condition.AlertState) (int64, bool) { return s.SubscriberKey, true })
	subscriberOfConditionFiring = relate(field{"ConditionFiring", "subscriber", apart, ""}, subscribersByKey,
		func(f *condition.Firing) (int64, bool) { return optional(f.SubscriberKey) })
	groupOfConditionFiring = relate(field{"ConditionFiring", "group", apart, ""}, groupsByID,
		func(f *condition.Firing) (int64, bool) { return optional(f.GroupID) })
	alertOfConditionEntry = relate(field{"ConditionLogEntry", "alert", rides, ""}, conditionsByID,
		func(e *condition.Entry) (int64, bool) { return e.AlertID, e.AlertID != 0 })
	subscriberOfConditionEntry = relate(field{"ConditionLogEntry", "subscriber", rides, ""}, subscribersByKey,
		func(e *condition.Entry) (int64, bool) { return optional(e.SubscriberKey) })
	groupOfConditionEntry = relate(field{"ConditionLogEntry", "group", rides, ""}, groupsByID,
		func(e *condition.Entry) (int64, bool) { return optional(e.TargetGroupID) })
	silenceOfConditionEntry = relate(field{"ConditionLogEntry", "silence", rides, ""}, silencesByID,
		func(e *condition.Entry) (int64, bool) { return optional(e.SilenceID) })
	deliveriesOfConditionEntry = relate(field{"ConditionLogEntry", "deliveries", apart, ""}, deliveries, (*condition.Entry).Notified)

	recipientOfDelivery = relate(field{"AlertDelivery", "recipient", rides, ""}, recipientsByID,
		func(d *domain.AlertDelivery) (int64, bool) { return d.RecipientID, true })
	recipientOfMail = relate(field{"MailDelivery", "recipient", rides, ""}, recipientsByID,
		func(m *domain.Mail) (int64, bool) { return m.RecipientID, true })
	webhookOfDelivery = relate(field{"WebhookDelivery", "webhook", rides, ""}, webhooksByID,
		func(d *webhook.Delivery) (int64, bool) { return d.WebhookID, true })
	mailsOfRecipient = relateBy(field{"Recipient", "mails", apart, ""}, mailsByRecipient,
		func(r *domain.Recipient) (int64, bool) { return r.RecipientID, true }, pageArguments)
)

// The fields of usage and of the company.
var (
	totalsOfUsage       = relateBy(field{"Usage", "totals", apart, ""}, usageTotals, subjectOf, spanArguments)
	hoursOfUsage        = relateBy(field{"Usage", "dataUsage sessionCount", apart, ""}, usageSeries, subjectOf, hoursArguments)
	seriesOfUsage       = relateSeries(field{"Usage", "series", apart, ""}, usageSeries, seriesArguments)
	partsOfUsage        = relateSeries(field{"Usage", "seriesBy", apart, ""}, usageParts, partsArguments)
	statisticsOfUsage   = relateBy(field{"Usage", "perSubscriber", apart, ""}, usageStatistics, subjectOf, statisticsArguments)
	sharesOfUsage       = relateBy(field{"Usage", "breakdown", apart, ""}, usageShares, subjectOf, sharesArguments)
	topOfUsage          = relateBy(field{"Usage", "topSubscribers", apart, ""}, usageTop, subjectOf, topArguments)
	changesOfUsage      = relateBy(field{"Usage", "topChanges", apart, ""}, usageChanges, subjectOf, changeArguments)
	protocolsOfUsage    = relateBy(field{"Usage", "dataUsageByNetworkProtocol", apart, ""}, usageProtocols, subjectOf, spanArguments)
	subscribersOfUsage  = relateBy(field{"Usage", "dataUsageBySubscriber", apart, ""}, usageSubscribers, subjectOf, spanArguments)
	addressesOfUsage    = relateBy(field{"Usage", "dataUsageByIpAddress", apart, ""}, usageAddresses, subjectOf, spanArguments)
	sourcesOfUsage      = relate(field{"Usage", "dataCompleteUntil", apart, ""}, usageSources, single[*model.Usage])
	sourcesOfCompany    = relateBy(field{"Company", "usageSources", apart, ""}, sourcesByListing, single[*domain.Company], listingArguments[*domain.Company](domain.UsageSourceFields))
	fleetOfCompany      = relate(field{"Company", "fleet", apart, ""}, fleets, single[*domain.Company])
	sessionsOfCompany   = relateBy(field{"Company", "sessions", apart, ""}, sessionsByListing, single[*domain.Company], listingArguments[*domain.Company](domain.SessionFields))
	elementsOfCompany   = relateBy(field{"Company", "feedElements", apart, ""}, feedElements, single[*domain.Company], listingArguments[*domain.Company](domain.FeedElementFields))
	rejectsOfCompany    = relateBy(field{"Company", "feedRejects", apart, ""}, feedRejects, single[*domain.Company], listingArguments[*domain.Company](domain.FeedRejectFields))
	waitingOfCompany    = relateBy(field{"Company", "waitingUsage", apart, ""}, waitingUsage, single[*domain.Company], listingArguments[*domain.Company](domain.WaitingFields))
	questionsOfCompany  = relateBy(field{"Company", "questions", apart, ""}, questionsByListing, single[*domain.Company], listingArguments[*domain.Company](domain.QuestionFields))
	dashboardsOfCompany = relateBy(field{"Company", "dashboards", apart, ""}, dashboardsByListing, single[*domain.Company], listingArguments[*domain.Company](dashboard.Fields))
	questionOfTile      = relate(field{"DashboardTile", "question", apart, ""}, questionsByID, func(t *dashboard.Tile) (string, bool) { return optional(t.QuestionID) })
	reportsOfCompany    = relateBy(field{"Company", "reports", apart, ""}, reportsByListing, single[*domain.Company], listingArguments[*domain.Company](report.Fields))
	questionOfReport    = relate(field{"Report", "question", rides, ""}, questionsByID,
		func(r *report.Report) (string, bool) { return optional(r.QuestionID) })
	dashboardOfReport = relate(field{"Report", "dashboard", rides, ""}, dashboardsByID,
		func(r *report.Report) (string, bool) { return optional(r.DashboardID) })
	subscriberOfTop = relate(field{"SubscriberUsage", "subscriber", rides, ""}, subscribersByKey,
		func(u *domain.SubscriberUsage) (int64, bool) { return u.SubscriberKey, true })
	subscriberOfChange = relate(field{"SubscriberUsageChange", "subscriber", rides, ""}, subscribersByKey,
		func(c *domain.UsageChange) (int64, bool) { return c.SubscriberKey, true })
)

// The numbers of sessions of sources and network elements.
var (
	openSessionsOfElement = relate(field{"FeedElement", "openSessions", apart, ""}, openSessions,
		func(e *model.FeedElement) (domain.FeedKey, bool) { return e.Key, true })
	incompleteSessionsOfElement = relate(field{"FeedElement", "incompleteSessions", apart, ""}, incompleteSessions,
		func(e *model.FeedElement) (domain.FeedKey, bool) { return e.Key, true })
)

// The fields of operations.
var (
	resultsOfOperation = relateBy(field{"Operation", "results", apart, ""}, resultsByOperation,
		func(o *bulk.Operation) (string, bool) { return o.OperationID, true }, listingArguments[*bulk.Operation](bulk.ResultFields))
	subscriberOfResult = relate(field{"OperationResult", "subscriber", rides, ""}, subscribersByKey,
		func(r *bulk.Result) (int64, bool) { return optional(r.SubscriberKey) })

	dryRunOfOperation = relate(field{"Operation", "dryRunOf", apart, ""}, operationsByID,
		func(o *bulk.Operation) (string, bool) { return optional(o.DryRunID) })
	startedOfDryRun = relate(field{"Operation", "startedAs", apart, ""}, operationsByID,
		func(o *bulk.Operation) (string, bool) { return optional(o.StartedID) })
	operationOfResult = relate(field{"OperationResult", "operation", apart, ""}, operationsByID,
		func(r *bulk.Result) (string, bool) { return r.OperationID, true })
	changesOfSubscriber = relateBy(field{"Subscriber", "operationResults", apart, ""}, changesBySubscriber, subscriberKey, listingArguments[*domain.Subscriber](bulk.ResultFields))

	_ = relateTotals[*bulk.Result](field{"OperationResultConnection", "totalCount", apart, ""})
)

// computed are the fields of subscribers whose resolvers need no load.
var computed = []related{
	{field: field{"Subscriber", "operator", apart, "operatorCode operatorName"}},
	{field: field{"Subscriber", "id usage", apart, ""}},
	{field: field{"Subscriber", "networkState", apart, "isTransferring isOnline"}},
	{field: field{"Subscriber", "parent", apart, "parentKey parentPhysicalId isEnabledOnParent"}},
}

func subscriberKey(s *domain.Subscriber) (int64, bool) { return s.Key, true }

func parentKey(s *domain.Subscriber) (int64, bool) { return s.Key, !s.Relations.WithoutProfiles }

func groupID(g *domain.Group) (int64, bool) { return g.GroupID, true }

func tagName(t *domain.TagName) (domain.TagName, bool) { return *t, true }

func alertID(a *domain.VolumeAlert) (int64, bool) { return a.AlertID, true }

func subjectOf(u *model.Usage) (domain.Subject, bool) { return u.Of, true }

// single is the key of what there is once in a response.
func single[O any](O) (none, bool) { return none{}, true }

// optional returns false for nil.
func optional[K any](key *K) (of K, ok bool) {
	if key == nil {
		return of, false
	}
	return *key, true
}
