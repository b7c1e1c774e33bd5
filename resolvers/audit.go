package resolvers

import (
	"context"

	"simgraph/domain"
	"simgraph/graph/generated/input"
	"simgraph/graph/model"
)

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
