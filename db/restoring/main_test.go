package restoring_test

import (
	"testing"

	"simgraph/db"
	"simgraph/db/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m, db.Migrate) }
