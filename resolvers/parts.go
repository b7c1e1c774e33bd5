package resolvers

import (
	"context"

	"simgraph/domain"
	"simgraph/graph/model"
	"simgraph/graph/plan"
)

// partConnection is the connection of the items of one parent, loaded with those of
// all others.
func partConnection[O any, P comparable, T any](
	ctx context.Context, of O, listing domain.Listing,
	parts *relation[O, *domain.Listing, P, domain.Slice[T]], totals *source[*domain.Listing, P, int],
) (*model.Connection[T], error) {
	part := loadersFrom(ctx).listing(listing)
	slice, err := parts.with(ctx, of, part)
	if err != nil {
		return nil, err
	}
	if slice.Whole {
		return connection(slice, nil), nil
	}
	parent, _ := parts.key(of)
	return &model.Connection[T]{Slice: slice, Total: partTotal[P]{totals, parent, part}}, nil
}

// partTotal counts the items of one parent together with those of others.
type partTotal[P comparable] struct {
	totals *source[*domain.Listing, P, int]
	parent P
	part   *domain.Listing
}

// Count implements model.Counter.
func (t partTotal[P]) Count(ctx context.Context) (int, error) {
	return t.totals.in(ctx).value(ctx, t.part, t.parent)
}

func (t partTotal[P]) queue(ctx context.Context, level *plan.Level) {
	t.totals.in(ctx).queue(level, t.part, []P{t.parent})
}

// totalsRelation is the relation of what counts itself together with others. The
// total of a root field is not among that.
type totalsRelation[T any] struct{}

func relateTotals[T any](f field) plan.Relation {
	r := totalsRelation[T]{}
	relations = append(relations, related{f, r})
	return r
}

// Queue implements plan.Relation.
func (totalsRelation[T]) Queue(ctx context.Context, level *plan.Level, objects []any, _ map[string]any) {
	for _, object := range objects {
		if total, ok := object.(*model.Connection[T]).Total.(interface {
			queue(context.Context, *plan.Level)
		}); ok {
			total.queue(ctx, level)
		}
	}
}
