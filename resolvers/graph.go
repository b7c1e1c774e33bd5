// Package resolvers answers the fields of the graph from the ports of the
// domain. A file holds what one noun of the schema needs.
package resolvers

import (
	"context"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"simgraph/domain"
	"simgraph/domain/bulk"
	"simgraph/domain/carrier"
	"simgraph/domain/condition"
	"simgraph/domain/dashboard"
	"simgraph/domain/document"
	"simgraph/domain/inventory"
	"simgraph/domain/note"
	"simgraph/domain/report"
	"simgraph/domain/signin"
	"simgraph/domain/silence"
	sources "simgraph/domain/source"
	"simgraph/domain/upstream"
	"simgraph/domain/webhook"
	"simgraph/graph/generated"
)

// Ports are what the graph is answered from.
type Ports struct {
	Subscribers  domain.Subscribers
	Groups       domain.Groups
	Tags         domain.Tags
	Catalogue    domain.Catalogue
	Access       domain.Access
	Usage        domain.Usage
	Sessions     domain.Sessions
	Feed         domain.FeedState
	Analytics    domain.Analytics
	Alerts       domain.Alerts
	AlertLog     domain.AlertLog
	VolumeAlerts domain.VolumeAlerts
	VolumeLog    domain.VolumeLog
	Conditions   condition.Alerts
	Silences     silence.Silences
	Deliveries   domain.Deliveries
	Recipients   domain.Recipients
	Webhooks     webhook.Webhooks
	Documents    document.Documents
	FieldUsage   domain.FieldUsages
	Questions    domain.Questions
	Dashboards   dashboard.Dashboards
	Notes        note.Notes
	Reports      report.Reports
	Live         domain.Live
	Audit        domain.AuditLog
	Inventory    inventory.Inventory
	Users        inventory.Users
	Accounts     signin.Accounts
	Operations   bulk.Operations
	Commands     carrier.Commands
	Sources      sources.Sources
	Intake       sources.Intake
	Upstreams    upstream.Upstreams
	// ReportPreviews writes what Reports would send.
	ReportPreviews report.Previewer
	// LiveOperations follows what Operations keeps.
	LiveOperations bulk.Live
}

// Graph is the root of the resolvers.
type Graph struct {
	Ports
	now      func() time.Time
	previews previews
}

var _ generated.ResolverRoot = (*Graph)(nil)

// New returns the resolvers on the ports; now returns the time.
func New(ports Ports, now func() time.Time) *Graph { return &Graph{Ports: ports, now: now} }

// Schema returns the schema that the graph answers.
func (g *Graph) Schema() graphql.ExecutableSchema {
	return schema{generated.NewExecutableSchema(generated.Config{
		Resolvers:  g,
		Directives: generated.DirectiveRoot{Guard: guard},
	})}
}

// guard admits to a field: see @guard in the schema.
func guard(ctx context.Context, _ any, next graphql.Resolver, permissions []domain.Permission) (any, error) {
	if _, err := domain.CallerWith(ctx, permissions...); err != nil {
		return nil, err
	}
	return next(ctx)
}

// scopeOf returns what the caller may see.
func scopeOf(ctx context.Context) (domain.Scope, error) {
	caller, err := domain.CallerOf(ctx)
	if err != nil {
		return domain.Scope{}, err
	}
	return caller.Scope, nil
}

// scopeOfEdit is scopeOf of an edit that was made from a version; null for any.
func scopeOfEdit(ctx context.Context, expectedVersion graphql.Omittable[*string]) (domain.Scope, error) {
	scope, err := scopeOf(ctx)
	scope.ExpectedVersion = expectedVersion.Value()
	return scope, err
}

type (
	queryResolver       struct{ *Graph }
	mutationResolver    struct{ *Graph }
	companyResolver     struct{ *Graph }
	viewerResolver      struct{ *Graph }
	userResolver        struct{ *Graph }
	userSessionResolver struct{ *Graph }
	subscriberResolver  struct{ *Graph }
	sessionResolver     struct{ *Graph }

	operationResolver        struct{ *Graph }
	operationEffectsResolver struct{ *Graph }
	operationResultResolver  struct{ *Graph }

	feedElementResolver  struct{ *Graph }
	feedRejectResolver   struct{ *Graph }
	usageSourceResolver  struct{ *Graph }
	waitingUsageResolver struct{ *Graph }

	parentResolver struct{ *Graph }
	groupResolver  struct{ *Graph }
	tagResolver    struct{ *Graph }

	accessKeyResolver  struct{ *Graph }
	documentResolver   struct{ *Graph }
	fieldUsageResolver struct{ *Graph }
	auditEntryResolver struct{ *Graph }
	operatorResolver   struct{ *Graph }
	tariffResolver     struct{ *Graph }

	subscriptionResolver     struct{ *Graph }
	usageResolver            struct{ *Graph }
	subscriberUsageResolver  struct{ *Graph }
	volumeAlertResolver      struct{ *Graph }
	volumeAlertStateResolver struct{ *Graph }
	alertFiringResolver      struct{ *Graph }
	volumeLogEntryResolver   struct{ *Graph }
	alertDeliveryResolver    struct{ *Graph }

	conditionAlertResolver      struct{ *Graph }
	conditionAlertStateResolver struct{ *Graph }
	conditionLogEntryResolver   struct{ *Graph }
	conditionFiringResolver     struct{ *Graph }

	questionResolver        struct{ *Graph }
	dashboardResolver       struct{ *Graph }
	noteResolver            struct{ *Graph }
	dashboardTileResolver   struct{ *Graph }
	reportResolver          struct{ *Graph }
	recipientResolver       struct{ *Graph }
	silenceResolver         struct{ *Graph }
	mailDeliveryResolver    struct{ *Graph }
	webhookResolver         struct{ *Graph }
	webhookDeliveryResolver struct{ *Graph }
	commandResolver         struct{ *Graph }

	sourceResolver       struct{ *Graph }
	sourceRejectResolver struct{ *Graph }
	upstreamResolver     struct{ *Graph }
)

// Query answers the root fields of queries.
func (g *Graph) Query() generated.QueryResolver { return queryResolver{g} }

// Mutation answers the root fields of mutations.
func (g *Graph) Mutation() generated.MutationResolver { return mutationResolver{g} }

// Company answers the fields of the company.
func (g *Graph) Company() generated.CompanyResolver { return companyResolver{g} }

// Viewer answers the fields of the caller.
func (g *Graph) Viewer() generated.ViewerResolver { return viewerResolver{g} }

// User answers the fields of a user.
func (g *Graph) User() generated.UserResolver { return userResolver{g} }

// UserSession answers the fields of a session of a user.
func (g *Graph) UserSession() generated.UserSessionResolver { return userSessionResolver{g} }

// AccessKey answers the fields of an access key.
func (g *Graph) AccessKey() generated.AccessKeyResolver { return accessKeyResolver{g} }

// TrustedDocument answers the fields of a trusted document.
func (g *Graph) TrustedDocument() generated.TrustedDocumentResolver { return documentResolver{g} }

// FieldUsage answers the fields of a count of field usage.
func (g *Graph) FieldUsage() generated.FieldUsageResolver { return fieldUsageResolver{g} }

// AuditEntry answers the fields of an entry of the audit log.
func (g *Graph) AuditEntry() generated.AuditEntryResolver { return auditEntryResolver{g} }

// Operator answers the fields of an operator.
func (g *Graph) Operator() generated.OperatorResolver { return operatorResolver{g} }

// Tariff answers the fields of a tariff.
func (g *Graph) Tariff() generated.TariffResolver { return tariffResolver{g} }

// Subscriber answers the fields of a subscriber.
func (g *Graph) Subscriber() generated.SubscriberResolver { return subscriberResolver{g} }

// Session answers the fields of a session.
func (g *Graph) Session() generated.SessionResolver { return sessionResolver{g} }

// Operation answers the fields of an operation.
func (g *Graph) Operation() generated.OperationResolver { return operationResolver{g} }

// OperationEffects answers the fields of what an operation sets off.
func (g *Graph) OperationEffects() generated.OperationEffectsResolver {
	return operationEffectsResolver{g}
}

// OperationResult answers the fields of a row of an operation.
func (g *Graph) OperationResult() generated.OperationResultResolver {
	return operationResultResolver{g}
}

// FeedElement answers the fields of a source or network element.
func (g *Graph) FeedElement() generated.FeedElementResolver { return feedElementResolver{g} }

// UsageSource answers the fields of what reports usage.
func (g *Graph) UsageSource() generated.UsageSourceResolver { return usageSourceResolver{g} }

// FeedReject answers the fields of a reason for which requests are rejected.
func (g *Graph) FeedReject() generated.FeedRejectResolver { return feedRejectResolver{g} }

// WaitingUsage answers the fields of usage that waits.
func (g *Graph) WaitingUsage() generated.WaitingUsageResolver { return waitingUsageResolver{g} }

// ParentLink answers the fields of the link from a profile to its eUICC.
func (g *Graph) ParentLink() generated.ParentLinkResolver { return parentResolver{g} }

// Group answers the fields of a group.
func (g *Graph) Group() generated.GroupResolver { return groupResolver{g} }

// Tag answers the fields of a tag.
func (g *Graph) Tag() generated.TagResolver { return tagResolver{g} }

// Subscription answers the root fields of subscriptions.
func (g *Graph) Subscription() generated.SubscriptionResolver { return subscriptionResolver{g} }

// VolumeAlert answers the fields of an alert on volume.
func (g *Graph) VolumeAlert() generated.VolumeAlertResolver { return volumeAlertResolver{g} }

// VolumeAlertState answers the fields of where a subject stands against an alert on volume.
func (g *Graph) VolumeAlertState() generated.VolumeAlertStateResolver {
	return volumeAlertStateResolver{g}
}

// AlertFiring answers the fields of a firing in a preview.
func (g *Graph) AlertFiring() generated.AlertFiringResolver { return alertFiringResolver{g} }

// VolumeLogEntry answers the fields of an entry of the log of an alert on volume.
func (g *Graph) VolumeLogEntry() generated.VolumeLogEntryResolver { return volumeLogEntryResolver{g} }

// AlertDelivery answers the fields of a notification at a recipient.
func (g *Graph) AlertDelivery() generated.AlertDeliveryResolver { return alertDeliveryResolver{g} }

// Recipient answers the fields of a recipient.
func (g *Graph) Recipient() generated.RecipientResolver { return recipientResolver{g} }

// ConditionAlert answers the fields of an alert on a condition.
func (g *Graph) ConditionAlert() generated.ConditionAlertResolver { return conditionAlertResolver{g} }

// ConditionAlertState answers the fields of where a subscriber stands against an alert on a
// condition.
func (g *Graph) ConditionAlertState() generated.ConditionAlertStateResolver {
	return conditionAlertStateResolver{g}
}

// ConditionFiring answers the fields of a firing in a preview of an alert on a condition.
func (g *Graph) ConditionFiring() generated.ConditionFiringResolver {
	return conditionFiringResolver{g}
}

// ConditionLogEntry answers the fields of an entry of the log of conditions.
func (g *Graph) ConditionLogEntry() generated.ConditionLogEntryResolver {
	return conditionLogEntryResolver{g}
}

// Report answers the fields of a report.
func (g *Graph) Report() generated.ReportResolver { return reportResolver{g} }

// Question answers the fields of a question.
func (g *Graph) Question() generated.QuestionResolver { return questionResolver{g} }

// Dashboard answers the fields of a dashboard.
func (g *Graph) Dashboard() generated.DashboardResolver { return dashboardResolver{g} }

// Note answers the fields of a note.
func (g *Graph) Note() generated.NoteResolver { return noteResolver{g} }

// DashboardTile answers the fields of a tile.
func (g *Graph) DashboardTile() generated.DashboardTileResolver { return dashboardTileResolver{g} }

// Silence answers the fields of a silence.
func (g *Graph) Silence() generated.SilenceResolver { return silenceResolver{g} }

// MailDelivery answers the fields of a mail.
func (g *Graph) MailDelivery() generated.MailDeliveryResolver { return mailDeliveryResolver{g} }

// Webhook answers the fields of a webhook.
func (g *Graph) Webhook() generated.WebhookResolver { return webhookResolver{g} }

// WebhookDelivery answers the fields of a message to a webhook.
func (g *Graph) WebhookDelivery() generated.WebhookDeliveryResolver {
	return webhookDeliveryResolver{g}
}

// Command answers the fields of a command.
func (g *Graph) Command() generated.CommandResolver { return commandResolver{g} }

// Source answers the fields of a source.
func (g *Graph) Source() generated.SourceResolver { return sourceResolver{g} }

// Upstream answers the fields of an upstream.
func (g *Graph) Upstream() generated.UpstreamResolver { return upstreamResolver{g} }

// SourceReject answers the fields of a reject of a source.
func (g *Graph) SourceReject() generated.SourceRejectResolver { return sourceRejectResolver{g} }

// Usage answers the fields of usage.
func (g *Graph) Usage() generated.UsageResolver { return usageResolver{g} }

// SubscriberUsage answers the fields of a subscriber with its usage.
func (g *Graph) SubscriberUsage() generated.SubscriberUsageResolver {
	return subscriberUsageResolver{g}
}
