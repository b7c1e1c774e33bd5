package domain_test

import (
	"context"
	"errors"
	"testing"

	"simgraph/domain"
)

func TestCompaniesAreTriedUntilTheContextEnds(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	ctx, cancel := context.WithCancel(t.Context())
	var tried []domain.CompanyID
	err := domain.TryCompanies(ctx, []domain.CompanyID{1, 2, 3, 4}, func(company domain.CompanyID) error {
		tried = append(tried, company)
		if company == 3 {
			cancel()
		}
		if company == 1 {
			return failed
		}
		return nil
	})
	if len(tried) != 3 || !errors.Is(err, failed) {
		t.Errorf("tried %v: %v", tried, err)
	}
}
