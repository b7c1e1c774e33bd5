package fleettest

import (
	"context"
	"testing"

	"simgraph/db/audit"
	"simgraph/domain"
)

// AuditOf returns the audit log of a company, oldest entry first.
func AuditOf(t *testing.T, log *audit.Log, company domain.CompanyID) []*domain.AuditEntry {
	t.Helper()
	var entries []*domain.AuditEntry
	for entry, err := range log.All(t.Context(), domain.Whole(company), 0) {
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, entry)
	}
	return entries
}

// Verified checks the chain of a company's audit log.
func Verified(ctx context.Context, log *audit.Log, company domain.CompanyID) (domain.AuditMark, error) {
	return log.Verify(ctx, domain.Whole(company))
}

// Text returns the text, and "nothing" for nil.
func Text(p *string) string {
	if p == nil {
		return "nothing"
	}
	return *p
}
