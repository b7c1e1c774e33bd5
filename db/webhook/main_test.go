package webhook_test

import (
	"testing"
	"time"

	"simgraph/db"
	"simgraph/db/dbtest"
	"simgraph/db/fleettest"
)

func TestMain(m *testing.M) { dbtest.Main(m, db.Migrate) }

// fleet is one of fleettest, with what these tests do with it.
type fleet struct{ *fleettest.Fleet }

func newFleet(t testing.TB, billingDay int, zone string, now time.Time) *fleet {
	t.Helper()
	return &fleet{fleettest.NewFleet(t, billingDay, zone, now)}
}
