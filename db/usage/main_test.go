package usage_test

import (
	"testing"

	"github.com/jmoiron/sqlx"

	"simgraph/db"
	"simgraph/db/dbtest"
	"simgraph/db/fleettest"
)

func TestMain(m *testing.M) { dbtest.Main(m, db.Migrate) }

// usageFleet is one of fleettest, with what these tests do with it.
type usageFleet struct{ *fleettest.UsageFleet }

func newUsageFleet(t *testing.T, subscribers int) *usageFleet {
	t.Helper()
	return &usageFleet{fleettest.NewUsageFleet(t, subscribers)}
}

func newUsageFleetOn(t *testing.T, pool *sqlx.DB, company string, subscribers int) *usageFleet {
	t.Helper()
	return &usageFleet{fleettest.NewUsageFleetOn(t, pool, company, subscribers)}
}
