package resolvers

import (
	"context"

	"simgraph/domain"
	"simgraph/domain/query"
	"simgraph/graph/model"
	"simgraph/graph/plan"
)

// connectionPage reads the arguments of a connection.
func connectionPage(first *int32, after *string, last *int32, before *string) (domain.Page, error) {
	switch {
	case first != nil && last != nil:
		return domain.Page{}, domain.Invalid("last", "first and last exclude each other")
	case last != nil:
		return edgePage("last", *last, "before", before, "after", after, true)
	case first != nil:
		return edgePage("first", *first, "after", after, "before", before, false)
	}
	return edgePage("first", domain.DefaultLimit, "after", after, "before", before, false)
}

func edgePage(name string, n int32, from string, cursor *string, wrong string, unwanted *string, backward bool) (domain.Page, error) {
	if n < 0 || n > domain.MaxLimit {
		return domain.Page{}, domain.Invalid(name, "%s must be 0 to %d, not %d", name, domain.MaxLimit, n)
	}
	if unwanted != nil {
		return domain.Page{}, domain.Invalid(wrong, "%s goes with %s only", wrong, map[bool]string{true: "first", false: "last"}[backward])
	}
	page := domain.Page{Limit: int(n), Backward: backward}
	if cursor != nil {
		if *cursor == "" {
			return page, domain.Invalid(from, "%s must not be empty", from)
		}
		page.Cursor = *cursor
	}
	return page, nil
}

// offsetPage reads the arguments of a list: missing or 0 is the default limit,
// above the maximum the maximum.
func offsetPage(limit, offset *int32) (domain.Page, error) {
	page := domain.Page{Limit: domain.DefaultLimit}
	if limit != nil && *limit != 0 {
		page.Limit = min(int(*limit), domain.MaxLimit)
	}
	if offset != nil {
		page.Offset = int(*offset)
	}
	if page.Limit < 0 {
		return page, domain.Invalid("limit", "limit must not be negative")
	}
	if page.Offset < 0 {
		return page, domain.Invalid("offset", "offset must not be negative")
	}
	return page, nil
}

// pageArguments reads the arguments limit and offset by their names.
func pageArguments[O any](_ context.Context, _ O, args arguments) (domain.Page, error) {
	return offsetPage(argument[*int32](args, "limit"), argument[*int32](args, "offset"))
}

// listingOf reads the arguments of a connection of what can be filtered and ordered by
// the fields.
func listingOf(
	fields query.Fields, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any,
) (listing domain.Listing, err error) {
	if listing.Page, err = connectionPage(first, after, last, before); err != nil {
		return listing, err
	}
	if listing.Filter, err = filterOf(filter, fields); err != nil {
		return listing, err
	}
	listing.Order, err = ordersOf(orderBy, fields)
	return listing, err
}

// listingArguments reads the same arguments by their names.
func listingArguments[O any](fields query.Fields) func(context.Context, O, arguments) (*domain.Listing, error) {
	return func(ctx context.Context, _ O, args arguments) (*domain.Listing, error) {
		listing, err := listingOf(fields, argument[*int32](args, "first"), argument[*string](args, "after"),
			argument[*int32](args, "last"), argument[*string](args, "before"),
			argument[map[string]any](args, "filter"), argument[[]map[string]any](args, "orderBy"))
		return loadersFrom(ctx).listing(listing), err
	}
}

// lister lists, and counter counts, what a listing selects.
type (
	lister[T any] = func(context.Context, domain.Scope, domain.Listing) (domain.Slice[T], error)
	counter       = func(context.Context, domain.Scope, domain.Listing) (int, error)
)

// sliced reads what a listing selects, and returns how the whole list is counted.
func sliced[T any](
	ctx context.Context, listing domain.Listing, within func(context.Context) (domain.Scope, error), from lister[T], count counter,
) (slice domain.Slice[T], total func(context.Context) (int, error), err error) {
	scope, err := within(ctx)
	if err != nil {
		return slice, nil, err
	}
	slice, err = from(ctx, scope, listing)
	return slice, func(ctx context.Context) (int, error) { return count(ctx, scope, listing) }, err
}

// listed is a page of a connection.
func listed[T any](
	ctx context.Context, listing domain.Listing, within func(context.Context) (domain.Scope, error), from lister[T], count counter,
) (*model.Connection[T], error) {
	slice, total, err := sliced(ctx, listing, within, from, count)
	if err != nil {
		return nil, err
	}
	return connection(slice, total), nil
}

func connection[T any](slice domain.Slice[T], total func(context.Context) (int, error)) *model.Connection[T] {
	return &model.Connection[T]{Slice: slice, Total: model.Count(totalOf(slice, total))}
}

// totalOf is the number of items of a slice that is the whole list, and counts others.
func totalOf[T any](slice domain.Slice[T], count func(context.Context) (int, error)) func(context.Context) (int, error) {
	if !slice.Whole {
		return count
	}
	return func(context.Context) (int, error) { return len(slice.Items), nil }
}

func list[T any](slice domain.Slice[T], total func(context.Context) (int, error)) *model.List[T] {
	return &model.List[T]{Items: slice.Items, Total: totalOf(slice, total)}
}

// listedFrom is a part of a list by offset, for the REST paths.
func listedFrom[T any](ctx context.Context, listing domain.Listing, from lister[T], count counter) (*model.List[T], error) {
	slice, total, err := sliced(ctx, listing, scopeOf, from, count)
	if err != nil {
		return nil, err
	}
	return list(slice, total), nil
}

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
	t.totals.in(ctx).queue(ctx, level, t.part, []P{t.parent})
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
