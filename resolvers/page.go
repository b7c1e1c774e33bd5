package resolvers

import (
	"context"

	"simgraph/domain"
	"simgraph/graph/model"
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

// paged lists a page of what a port lists and counts within the scope alone.
func paged[T any](
	ctx context.Context, page domain.Page, within func(context.Context) (domain.Scope, error),
	from func(context.Context, domain.Scope, domain.Page) (domain.Slice[T], error), count func(context.Context, domain.Scope) (int, error),
) (*model.Connection[T], error) {
	scope, err := within(ctx)
	if err != nil {
		return nil, err
	}
	slice, err := from(ctx, scope, page)
	if err != nil {
		return nil, err
	}
	return connection(slice, func(ctx context.Context) (int, error) { return count(ctx, scope) }), nil
}

func connection[T any](slice domain.Slice[T], total func(context.Context) (int, error)) *model.Connection[T] {
	return &model.Connection[T]{Slice: slice, Total: model.Count(total)}
}

func list[T any](slice domain.Slice[T], total func(context.Context) (int, error)) *model.List[T] {
	return &model.List[T]{Items: slice.Items, Total: total}
}
