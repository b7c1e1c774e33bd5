package db_test

import (
	"testing"

	"simgraph/db"
	"simgraph/db/dbtest"
)

// seeds returns how many random cases are tried of a number that usually is: with -short,
// as under the race detector, a third, and in a nightly run ten times as many.
func seeds(usual uint64) uint64 {
	switch {
	case testing.Short():
		return (usual + 2) / 3
	case dbtest.Nightly():
		return 10 * usual
	}
	return usual
}

func TestMain(m *testing.M) { dbtest.Main(m, db.Migrate) }
