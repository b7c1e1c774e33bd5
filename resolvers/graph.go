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
		Directives: generated.DirectiveRoot{Guard: admit},
	})}
}

// admit admits to a field: see @guard in the schema.
func admit(ctx context.Context, _ any, next graphql.Resolver, permissions []domain.Permission) (any, error) {
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

// within calls a port with what the caller may see.
func within[A, T any](ctx context.Context, port func(context.Context, domain.Scope, A) (T, error), of A) (T, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		var none T
		return none, err
	}
	return port(ctx, scope, of)
}

// scopeOfEdit is scopeOf of an edit that was made from a version; null for any.
func scopeOfEdit(ctx context.Context, expectedVersion graphql.Omittable[*string]) (domain.Scope, error) {
	scope, err := scopeOf(ctx)
	scope.ExpectedVersion = expectedVersion.Value()
	return scope, err
}

// callerOfChange is the caller of a change that is made for a reason; null for none.
func callerOfChange(ctx context.Context, reason graphql.Omittable[*string]) (*domain.Caller, error) {
	caller, err := domain.CallerOf(ctx)
	given := reason.Value()
	if err != nil || given == nil {
		return caller, err
	}
	text, err := domain.NewReason(*given)
	return caller.WithReason(text), err
}

// scopeOfChange is the scope of callerOfChange.
func scopeOfChange(ctx context.Context, reason graphql.Omittable[*string]) (domain.Scope, error) {
	caller, err := callerOfChange(ctx, reason)
	if err != nil {
		return domain.Scope{}, err
	}
	return caller.Scope, nil
}
