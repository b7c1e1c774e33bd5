package resolvers

import (
	"context"
	"time"

	"simgraph/domain"
)

func (q queryResolver) Viewer(ctx context.Context) (*domain.Caller, error) {
	return domain.CallerOf(ctx)
}

func (q queryResolver) Company(ctx context.Context) (*domain.Company, error) {
	caller, err := domain.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	return caller.Company, nil
}

func (v viewerResolver) ID(_ context.Context, of *domain.Caller) (string, error) {
	return globalID("Viewer", of.Email), nil
}

func (c companyResolver) ID(_ context.Context, of *domain.Company) (string, error) {
	return globalID("Company", of.ExternalID), nil
}

func (v viewerResolver) IsRestricted(_ context.Context, of *domain.Caller) (bool, error) {
	return of.Scope.Restricted(), nil
}

func (v viewerResolver) Groups(ctx context.Context, of *domain.Caller) ([]*domain.Group, error) {
	return groupsOfViewer.of(ctx, of)
}

func (c companyResolver) CurrentPeriod(_ context.Context, of *domain.Company) (*domain.Period, error) {
	return new(of.Billing().PeriodAt(c.now())), nil
}

func (c companyResolver) Fleet(ctx context.Context, of *domain.Company) (*domain.FleetCounts, error) {
	counts, err := fleetOfCompany.of(ctx, of)
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
