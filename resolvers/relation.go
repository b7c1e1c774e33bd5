package resolvers

import (
	"context"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"simgraph/domain"
	"simgraph/domain/query"
	"simgraph/graph/plan"
)

// field is what the plan and the stores need of fields of the schema.
type field struct {
	// object is their type; names are the fields that one value answers.
	object, names string
	riding
	// reads are the fields of domain.Subscriber that the resolvers read, beyond the
	// key and the physical id.
	reads string
}

// riding reports whether a store can select the value together with the object.
type riding bool

const (
	// rides is for what an object has one of, and for the names of its tags.
	rides riding = true
	// apart is for all else.
	apart riding = false
)

// related is a field with its relation.
type related struct {
	field
	plan.Relation
}

// relations are the fields that need a load.
var relations []related

// relation is a field of objects O that a source answers.
type relation[O any, A, K comparable, V any] struct {
	source *source[A, K, V]
	// key returns false for an object without a value.
	key func(O) (K, bool)
	// args returns the arguments of the source; nil where it takes none.
	args func(ctx context.Context, object O, given arguments) (A, error)
	// held returns the value that was read with the object, false where it was not;
	// nil for what never is.
	held func(O, A) (V, bool)
}

// heldBy sets held.
func (r *relation[O, A, K, V]) heldBy(held func(O, A) (V, bool)) *relation[O, A, K, V] {
	r.held = held
	return r
}

// holds returns the value that was read with the object, false where none was.
func (r *relation[O, A, K, V]) holds(object O, args A) (value V, ok bool) {
	if r.held == nil {
		return value, false
	}
	return r.held(object, args)
}

// relate adds the relation of a field to the table.
func relate[O any, A, K comparable, V any](f field, from *source[A, K, V], key func(O) (K, bool)) *relation[O, A, K, V] {
	return relateBy(f, from, key, nil)
}

// relateBy is relate for a source with arguments.
func relateBy[O any, A, K comparable, V any](
	f field, from *source[A, K, V], key func(O) (K, bool), args func(context.Context, O, arguments) (A, error),
) *relation[O, A, K, V] {
	r := &relation[O, A, K, V]{source: from, key: key, args: args}
	relations = append(relations, related{f, r})
	return r
}

// of returns the value of a field without arguments.
func (r *relation[O, A, K, V]) of(ctx context.Context, object O) (value V, err error) {
	var args A
	if r.args != nil {
		if args, err = r.args(ctx, object, nil); err != nil {
			return value, err
		}
	}
	return r.with(ctx, object, args)
}

// with returns the value of a field for the arguments of its source.
func (r *relation[O, A, K, V]) with(ctx context.Context, object O, args A) (value V, err error) {
	if value, ok := r.holds(object, args); ok {
		return value, nil
	}
	of, ok := r.key(object)
	if !ok {
		return value, nil
	}
	return r.source.in(ctx).value(ctx, args, of)
}

// Queue implements plan.Relation.
func (r *relation[O, A, K, V]) Queue(ctx context.Context, level *plan.Level, objects []any, given map[string]any) {
	var args A
	if r.args != nil {
		var err error
		if args, err = r.args(ctx, objects[0].(O), given); err != nil {
			return
		}
	}
	keys := make([]K, 0, len(objects))
	for _, object := range objects {
		if _, ok := r.holds(object.(O), args); ok {
			continue
		}
		if of, ok := r.key(object.(O)); ok {
			keys = append(keys, of)
		}
	}
	r.source.in(ctx).queue(ctx, level, args, keys)
}

// arguments are those of a field.
type arguments map[string]any

// argument returns the value of an argument; the zero value when it is not given.
func argument[T any](given arguments, name string) T {
	value, _ := given[name].(T)
	return value
}

// schema is the schema with the relations in its plan.
type schema struct{ graphql.ExecutableSchema }

// Plan implements plan.Executable.
func (s schema) Plan() *plan.Schema {
	planned := s.ExecutableSchema.(plan.Executable).Plan()
	subscriber := planned.Objects["Subscriber"].Fields
	for name, f := range subscriber {
		f.Needs = needs(name)
	}
	for name, bit := range otherNeeds {
		object, field, _ := strings.Cut(name, ".")
		planned.Objects[object].Fields[field].Needs = bit
	}
	for _, r := range slices.Concat(relations, computed) {
		for _, name := range strings.Fields(r.names) {
			f := planned.Objects[r.object].Fields[name]
			f.Relation = r.Relation
			if r.object == "Subscriber" {
				f.Needs = needs(strings.Fields(r.reads)...)
			}
		}
	}
	return planned
}

// needs returns the set of the fields of domain.Subscriber; all for a name that
// it does not have.
func needs(names ...string) uint64 {
	var set domain.FieldSet
	for _, name := range names {
		one, known := domain.FieldNamed(name)
		if !known {
			return uint64(domain.AllFields)
		}
		set |= one
	}
	return uint64(set)
}

// What operations read of pages and series, beside the fields of subscribers.
const (
	needCursors uint64 = 1 << (55 + iota)
	needLookahead
	needSessions
	needTotalSessions
)

var otherNeeds = map[string]uint64{
	"SubscriberEdge.cursor": needCursors, "PageInfo.startCursor": needCursors, "PageInfo.endCursor": needCursors,
	"PageInfo.hasNextPage": needLookahead, "PageInfo.hasPreviousPage": needLookahead,
	"UsagePoint.sessions": needSessions, "Usage.sessionCount": needSessions, "UsageTotals.sessions": needTotalSessions,
}

// projection returns what the operation reads of subscribers, wherever it meets
// them, since one that is loaded for one place is handed to all.
func (g *Graph) projection(ctx context.Context) domain.Projection {
	return domain.Projection{Fields: domain.FieldSet(plan.Needs(ctx)), PeriodStart: g.periodStart(ctx)}
}

// subscriberPage returns a listing of what the operation reads.
func (g *Graph) subscriberPage(ctx context.Context, filter query.Expr, order []query.Order, page domain.Page) domain.Listing {
	needs := plan.Needs(ctx)
	return domain.Listing{
		Filter: filter, Order: order, Page: page, Projection: g.projection(ctx),
		NoCursors: needs&needCursors == 0, NoLookahead: needs&needLookahead == 0,
	}
}
