package bundle_test

import (
	"fmt"
	"sync"
	"testing"

	"simgraph/db/bundle"
	"simgraph/db/fleettest"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

// Imports that meet on new companies make each of them once, and none fails.
func TestImportsAtOnceMakeACompanyOnce(t *testing.T) {
	t.Parallel()
	pool := fleettest.NewInventory(t)
	for round := range 20 {
		var items []*domain.Company
		for n := range 20 {
			items = append(items, &domain.Company{ExternalID: fmt.Sprintf("new-%d-%d", round, n), Name: "New", BillingDay: 1, TimeZone: "UTC"})
		}
		var imports sync.WaitGroup
		for range 4 {
			imports.Go(func() {
				if _, err := bundle.NewImporter(pool).Companies(t.Context(), nil, items); err != nil {
					t.Error(err)
				}
			})
		}
		imports.Wait()
	}
	var made int
	fatal.If(t, pool.Get(&made, `SELECT count(*) FROM companies WHERE external_id LIKE 'new-%'`))
	if made != 400 {
		t.Errorf("%d companies were made", made)
	}
}
