package resolvers_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"simgraph/db/dbtest"
	"simgraph/domain"
	"simgraph/graph/engine/transport"
)

// generous selects all fields of subscribers.
type generous struct{ domain.Subscribers }

func (g generous) Find(ctx context.Context, scope domain.Scope, id string, read domain.Projection) (*domain.Subscriber, error) {
	return g.Subscribers.Find(ctx, scope, id, all(read))
}

func (g generous) FindMany(ctx context.Context, scope domain.Scope, ids []string, read domain.Projection) (map[string]*domain.Subscriber, error) {
	return g.Subscribers.FindMany(ctx, scope, ids, all(read))
}

func (g generous) OfKeys(ctx context.Context, scope domain.Scope, keys []int64, read domain.Projection) (map[int64]*domain.Subscriber, error) {
	return g.Subscribers.OfKeys(ctx, scope, keys, all(read))
}

func (g generous) ProfilesOf(ctx context.Context, scope domain.Scope, parents []int64, read domain.Projection) (map[int64][]*domain.Subscriber, error) {
	return g.Subscribers.ProfilesOf(ctx, scope, parents, all(read))
}

func (g generous) List(ctx context.Context, scope domain.Scope, listing domain.Listing) (domain.Slice[*domain.Subscriber], error) {
	listing.Projection = all(listing.Projection)
	return g.Subscribers.List(ctx, scope, listing)
}

func (g generous) OfGroups(ctx context.Context, scope domain.Scope, groups []int64, listing domain.Listing) (map[int64]domain.Slice[*domain.Subscriber], error) {
	listing.Projection = all(listing.Projection)
	return g.Subscribers.OfGroups(ctx, scope, groups, listing)
}

func (g generous) OfTags(ctx context.Context, scope domain.Scope, tags []domain.TagName, listing domain.Listing) (map[domain.TagName]domain.Slice[*domain.Subscriber], error) {
	listing.Projection = all(listing.Projection)
	return g.Subscribers.OfTags(ctx, scope, tags, listing)
}

// all reads the fields of subscribers and leaves the relations to their loaders.
func all(read domain.Projection) domain.Projection {
	read.Fields = domain.AllFields
	return read
}

// newNarrowPair answers from the fields that operations read, and from all.
func newNarrowPair(t *testing.T) *pair {
	t.Helper()
	p := newPair(t)
	ports := p.ports
	ports.Subscribers = generous{ports.Subscribers}
	p.plain = engineOn(ports, transport.Config{Log: slog.New(slog.DiscardHandler), Unplanned: true})
	return p
}

// TestOtherFieldsAreNotRead selects each field of subscribers alone, on each
// way to subscribers.
func TestOtherFieldsAreNotRead(t *testing.T) {
	t.Parallel()
	p := newNarrowPair(t)
	for name, caller := range p.callers() {
		ctx := domain.WithCaller(t.Context(), caller)
		for _, field := range p.schema.Types["Subscriber"].Fields {
			for _, way := range waysToSubscribers {
				query := strings.ReplaceAll(way, "FIELD", field.Name+p.leaves(field.Type, 2))
				if difference := p.differ(ctx, query, nil); difference != "" {
					t.Errorf("%s: %s", name, difference)
				}
			}
		}
	}
}

var waysToSubscribers = []string{
	`{subscribers(first: 50) {nodes {FIELD}}}`,
	`{subscribers(first: 50, orderBy: [{field: TARIFF_NAME}]) {edges {cursor node {FIELD}}}}`,
	`{subscriberList(limit: 50, filter: "isActive eq true", orderBy: "operatorName") {items {...f}}} fragment f on Subscriber {FIELD}`,
	`{groups(first: 3) {nodes {subscribers(first: 5) {nodes {FIELD}}}}}`,
	`{tags(first: 3) {nodes {subscribers(first: 5) {nodes {... on Subscriber {FIELD}}}}}}`,
	`{subscribers(first: 50) {nodes {profiles {FIELD} parent {subscriber {FIELD}}}}}`,
}

// leaves selects the fields without further ones down to that depth.
func (p *pair) leaves(of *ast.Type, depth int) string {
	def := p.schema.Types[of.Name()]
	if def.IsLeafType() {
		return ""
	}
	fields := []string{"__typename"}
	for _, field := range def.Fields {
		leaf := p.schema.Types[field.Type.Name()].IsLeafType()
		if required := slices.ContainsFunc(field.Arguments, func(a *ast.ArgumentDefinition) bool {
			return a.Type.NonNull && a.DefaultValue == nil
		}); !required && (leaf || depth > 1) {
			fields = append(fields, field.Name+p.leaves(field.Type, depth-1))
		}
	}
	return "{" + strings.Join(fields, " ") + "}"
}

// TestAnswersFromTheFieldsReadAreThoseFromAllFields compares over random
// operations on the whole schema. What fails prints its seed.
func TestAnswersFromTheFieldsReadAreThoseFromAllFields(t *testing.T) {
	t.Parallel()
	p := newNarrowPair(t)
	p.compare(t, p.callers(), p.harvest(t), dbtest.NewBudget(t).Seeds(40, 400))
}
