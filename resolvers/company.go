package resolvers

import (
	"context"
	"time"

	"simgraph/domain"
)

func (q queryRoot) Viewer(ctx context.Context) (*domain.Caller, error) { return domain.CallerOf(ctx) }

func (q queryRoot) Company(ctx context.Context) (*domain.Company, error) {
	caller, err := domain.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	return caller.Company, nil
}

func (v viewerOf) IsRestricted(_ context.Context, of *domain.Caller) (bool, error) {
	return of.Scope.Restricted(), nil
}

func (v viewerOf) Groups(ctx context.Context, of *domain.Caller) ([]*domain.Group, error) {
	return v.groupsNamed(ctx, of.Scope.Groups)
}

// groupsNamed returns the visible ones among the groups, in their order.
func (g *Graph) groupsNamed(ctx context.Context, ids []int64) ([]*domain.Group, error) {
	groups := make([]*domain.Group, 0, len(ids))
	l := loadersFrom(ctx)
	l.aheadOfGroups(ctx, selected(ctx), found(l.group.aheadValues(ctx, ids)))
	for _, id := range ids {
		group, err := l.group.of(ctx, id)
		if err != nil {
			return nil, err
		}
		if group != nil {
			groups = append(groups, group)
		}
	}
	return groups, nil
}

func (c companyOf) CurrentPeriod(_ context.Context, of *domain.Company) (*domain.Period, error) {
	return new(of.Billing().PeriodAt(c.now())), nil
}

// Fleet asks the graph of the response, which may be that of a standby: below
// root fields the plan calls the resolvers of the primary's.
func (c companyOf) Fleet(ctx context.Context, _ *domain.Company) (*domain.FleetCounts, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	counts, err := loadersFrom(ctx).graph.Ports.Subscribers.Fleet(ctx, scope)
	return &counts, err
}

// periodStart returns when the caller's current billing period began.
func (g *Graph) periodStart(ctx context.Context) time.Time {
	caller, err := domain.CallerOf(ctx)
	if err != nil {
		return time.Time{}
	}
	return caller.Company.Billing().PeriodAt(g.now()).Start
}
