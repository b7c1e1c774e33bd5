package resolvers

import (
	"context"

	"simgraph/domain"
	"simgraph/graph/model"
)

func (q queryResolver) AuditLog(ctx context.Context, first *int32, after *string, last *int32, before *string, filter map[string]any) (*model.AuditConnection, error) {
	page, err := connectionPage(first, after, last, before)
	if err != nil {
		return nil, err
	}
	expr, err := filterOf(filter, domain.AuditFields)
	if err != nil {
		return nil, err
	}
	scope, err := wholeCompany("the entries of the audit log")(ctx)
	if err != nil {
		return nil, err
	}
	listing := domain.Listing{Filter: expr, Page: page}
	slice, err := q.Audit.List(ctx, scope, listing)
	total := func(ctx context.Context) (int, error) { return q.Audit.Count(ctx, scope, listing) }
	return connection(slice, total), err
}

func (a auditEntryResolver) ID(_ context.Context, of *domain.AuditEntry) (string, error) {
	return globalID("AuditEntry", formatID(of.Sequence)), nil
}
