package resolvers

import (
	"context"

	"simgraph/domain"
	"simgraph/domain/query"
	"simgraph/graph/model"
)

func (c companyResolver) FeedElements(ctx context.Context, of *domain.Company, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.FeedElementConnection, error) {
	return companyPage(ctx, of, elementsOfCompany, domain.FeedElementFields, first, after, last, before, filter, orderBy)
}

func (c companyResolver) FeedRejects(ctx context.Context, of *domain.Company, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.FeedRejectConnection, error) {
	return companyPage(ctx, of, rejectsOfCompany, domain.FeedRejectFields, first, after, last, before, filter, orderBy)
}

func (c companyResolver) WaitingUsage(ctx context.Context, of *domain.Company, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.WaitingUsageConnection, error) {
	return companyPage(ctx, of, waitingOfCompany, domain.WaitingFields, first, after, last, before, filter, orderBy)
}

func (e feedElementResolver) ID(_ context.Context, of *model.FeedElement) (string, error) {
	return globalID("FeedElement", of.Identity), nil
}

func (r feedRejectResolver) ID(_ context.Context, of *domain.FeedReject) (string, error) {
	return globalID("FeedReject", of.ID()), nil
}

func (w waitingUsageResolver) ID(_ context.Context, of *domain.WaitingUsage) (string, error) {
	return globalID("WaitingUsage", of.ID()), nil
}

func (e feedElementResolver) OpenSessions(ctx context.Context, of *model.FeedElement) (*int32, error) {
	return number(openSessionsOfElement.of(ctx, of))
}

func (e feedElementResolver) IncompleteSessions(ctx context.Context, of *model.FeedElement) (*int32, error) {
	return number(incompleteSessionsOfElement.of(ctx, of))
}

// companyPage is a page of a list of the company: one for all places of a response.
func companyPage[T any](
	ctx context.Context, of *domain.Company, pages *relation[*domain.Company, *domain.Listing, none, *model.Connection[T]], fields query.Fields,
	first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any,
) (*model.Connection[T], error) {
	listing, err := listingOf(fields, first, after, last, before, filter, orderBy)
	if err != nil {
		return nil, err
	}
	return pages.with(ctx, of, loadersFrom(ctx).listing(listing))
}

// listingPages returns a source of the pages of a list, with its count.
func listingPages[T, S any](
	list func(*Graph) lister[T], show func(T) S, count func(*Graph) counter,
) *source[*domain.Listing, none, *model.Connection[S]] {
	totals := loadingBy(func(ctx context.Context, l *loaders, _ []none, listing *domain.Listing) (map[none]int, error) {
		n, err := count(l.graph)(ctx, l.scope, *listing)
		return map[none]int{{}: n}, err
	})
	return loadingBy(func(ctx context.Context, l *loaders, _ []none, listing *domain.Listing) (map[none]*model.Connection[S], error) {
		slice, err := list(l.graph)(ctx, l.scope, *listing)
		if err != nil {
			return nil, err
		}
		total := func(ctx context.Context) (int, error) { return totals.in(ctx).value(ctx, listing, none{}) }
		return map[none]*model.Connection[S]{{}: connection(shownSlice(slice, show), total)}, nil
	})
}

// shownSlice is a part of a list as the graph shows its items.
func shownSlice[T, S any](slice domain.Slice[T], show func(T) S) domain.Slice[S] {
	return domain.Slice[S]{
		Items: each(slice.Items, show), Cursor: slice.Cursor, HasNext: slice.HasNext, HasPrevious: slice.HasPrevious, Whole: slice.Whole,
	}
}

var _ = nodes("FeedElement", (*Graph).elementNodes)

func (g *Graph) elementNodes(ctx context.Context, scope domain.Scope, ids []string) (map[string]model.Node, error) {
	found, err := g.Feed.FindElements(ctx, scope, ids)
	return asNodes(found, itself, model.NewFeedElement), err
}

var _ = nodesByText("FeedReject", func(g *Graph) finding[string, *domain.FeedReject] { return g.Feed.FindRejects })

var _ = nodesByText("WaitingUsage", func(g *Graph) finding[string, *domain.WaitingUsage] { return g.Feed.FindWaiting })
