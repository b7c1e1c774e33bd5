package db_test

import (
	"testing"

	"simgraph/db"
	"simgraph/db/dbtest"
)

// seeds returns how many of so many random cases are tried: with -short, as under
// the race detector, a third.
func seeds(all uint64) uint64 {
	if testing.Short() {
		return (all + 2) / 3
	}
	return all
}

func TestMain(m *testing.M) { dbtest.Main(m, db.Migrate) }
