// Package resolvers answers the fields of the graph from the ports of the
// domain. A file holds what one noun of the schema needs.
package resolvers

import (
	"context"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"simgraph/domain"
	"simgraph/graph/generated"
)

// Ports are what the graph is answered from.
type Ports struct {
	Subscribers domain.Subscribers
	Groups      domain.Groups
	Tags        domain.Tags
	Catalogue   domain.Catalogue
	Access      domain.Access
	Usage       domain.Usage
	Analytics   domain.Analytics
	Alerts      domain.Alerts
	AlertLog    domain.AlertLog
	Recipients  domain.Recipients
	Live        domain.Live
	Audit       domain.AuditLog
}

// Graph is the root of the resolvers.
type Graph struct {
	Ports
	now func() time.Time
}

var _ generated.ResolverRoot = (*Graph)(nil)

// New returns the resolvers on the ports; now tells the time.
func New(ports Ports, now func() time.Time) *Graph { return &Graph{Ports: ports, now: now} }

// Schema returns the schema that the graph answers.
func (g *Graph) Schema() graphql.ExecutableSchema {
	return generated.NewExecutableSchema(generated.Config{
		Resolvers:  g,
		Directives: generated.DirectiveRoot{Requires: requires},
	})
}

// requires guards a field: see @requires in the schema.
func requires(ctx context.Context, _ any, next graphql.Resolver, permissions []domain.Permission) (any, error) {
	caller, err := domain.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	if err := caller.Need(permissions...); err != nil {
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

type (
	queryRoot    struct{ *Graph }
	mutation     struct{ *Graph }
	companyOf    struct{ *Graph }
	viewerOf     struct{ *Graph }
	userOf       struct{ *Graph }
	subscriberOf struct{ *Graph }
	parentOf     struct{ *Graph }
	groupOf      struct{ *Graph }
	tagOf        struct{ *Graph }

	subscription      struct{ *Graph }
	usageOf           struct{ *Graph }
	subscriberUsageOf struct{ *Graph }
	alertOf           struct{ *Graph }
	alertStateOf      struct{ *Graph }
	alertFiringOf     struct{ *Graph }
	alertLogEntryOf   struct{ *Graph }
	alertDeliveryOf   struct{ *Graph }
	recipientOf       struct{ *Graph }
)

// Query answers the root fields of queries.
func (g *Graph) Query() generated.QueryResolver { return queryRoot{g} }

// Mutation answers the root fields of mutations.
func (g *Graph) Mutation() generated.MutationResolver { return mutation{g} }

// Company answers the fields of the company.
func (g *Graph) Company() generated.CompanyResolver { return companyOf{g} }

// Viewer answers the fields of the caller.
func (g *Graph) Viewer() generated.ViewerResolver { return viewerOf{g} }

// User answers the fields of a user.
func (g *Graph) User() generated.UserResolver { return userOf{g} }

// Subscriber answers the fields of a subscriber.
func (g *Graph) Subscriber() generated.SubscriberResolver { return subscriberOf{g} }

// ParentLink answers the fields of the link from a profile to its eUICC.
func (g *Graph) ParentLink() generated.ParentLinkResolver { return parentOf{g} }

// Group answers the fields of a group.
func (g *Graph) Group() generated.GroupResolver { return groupOf{g} }

// Tag answers the fields of a tag.
func (g *Graph) Tag() generated.TagResolver { return tagOf{g} }

// Subscription answers the root fields of subscriptions.
func (g *Graph) Subscription() generated.SubscriptionResolver { return subscription{g} }

// Alert answers the fields of an alert.
func (g *Graph) Alert() generated.AlertResolver { return alertOf{g} }

// AlertState answers the fields of where a subject stands.
func (g *Graph) AlertState() generated.AlertStateResolver { return alertStateOf{g} }

// AlertFiring answers the fields of a firing in a preview.
func (g *Graph) AlertFiring() generated.AlertFiringResolver { return alertFiringOf{g} }

// AlertLogEntry answers the fields of an entry of the log.
func (g *Graph) AlertLogEntry() generated.AlertLogEntryResolver { return alertLogEntryOf{g} }

// AlertDelivery answers the fields of a delivery.
func (g *Graph) AlertDelivery() generated.AlertDeliveryResolver { return alertDeliveryOf{g} }

// Recipient answers the fields of a recipient.
func (g *Graph) Recipient() generated.RecipientResolver { return recipientOf{g} }

// Usage answers the fields of usage.
func (g *Graph) Usage() generated.UsageResolver { return usageOf{g} }

// SubscriberUsage answers the fields of a subscriber with its usage.
func (g *Graph) SubscriberUsage() generated.SubscriberUsageResolver { return subscriberUsageOf{g} }
