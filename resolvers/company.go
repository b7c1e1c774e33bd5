package resolvers

import (
	"context"
	"time"

	"simgraph/domain"
	"simgraph/graph/generated/input"
	"simgraph/graph/model"
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

func (v viewerResolver) Groups(ctx context.Context, of *domain.Caller, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.GroupConnection, error) {
	listing, err := listingOf(domain.GroupFields, first, after, last, before, filter, orderBy)
	if err != nil {
		return nil, err
	}
	if !of.Scope.Restricted() {
		return connection(domain.Slice[*domain.Group]{Whole: true}, nil), nil
	}
	return groupsOfViewer.with(ctx, of, loadersFrom(ctx).listing(listing))
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

func (q queryResolver) AuditEntry(ctx context.Context, by input.AuditEntryKey) (*domain.AuditEntry, error) {
	return lookUp[domain.AuditEntry](ctx, q, "AuditEntry", by.ID, by.Sequence)
}

func (q queryResolver) AuditLog(ctx context.Context, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.AuditConnection, error) {
	listing, err := listingOf(domain.AuditFields, first, after, last, before, filter, orderBy)
	if err != nil {
		return nil, err
	}
	return listed(ctx, listing, wholeCompany("the entries of the audit log"), q.Audit.List, q.Audit.Count)
}

func (a auditEntryResolver) ID(_ context.Context, of *domain.AuditEntry) (string, error) {
	return globalID("AuditEntry", formatID(of.Sequence)), nil
}
