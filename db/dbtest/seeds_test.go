package dbtest_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"simgraph/db/dbtest"
)

// A random test has the least cases when its time is over, and a nightly run all the
// usual ones and others.
func TestABudgetBoundsRandomCases(t *testing.T) {
	if testing.Short() {
		t.Skip("a short run has the least cases alone")
	}
	for _, c := range []struct {
		budget      string
		usual, took int
		unseen      bool
	}{
		{"", 1, 3, false},
		{"1ns", 20, 20, false},
		{"200ms", 20, 20, true},
	} {
		t.Setenv("SIMGRAPH_TEST_BUDGET", c.budget)
		took, unseen := 0, false
		for seed := range dbtest.NewBudget(t).Seeds(3, uint64(c.usual)) {
			if seed < 100 && seed != uint64(took) {
				t.Errorf("%q: case %d has the seed %d", c.budget, took, seed)
			}
			took++
			if unseen = unseen || seed >= 100; unseen {
				break
			}
		}
		if took < c.took || unseen != c.unseen {
			t.Errorf("%q: %d cases, unseen %v", c.budget, took, unseen)
		}
	}
}

// A property of slow cases has some of them, and no more than its time allows.
func TestAPropertyIsCheckedForSomeSeconds(t *testing.T) {
	t.Setenv("SIMGRAPH_TEST_BUDGET", "")
	cases := 0
	dbtest.Check(t, func(*rapid.T) {
		cases++
		time.Sleep(2 * time.Second)
	})
	if cases < 1 || cases > 6 {
		t.Errorf("%d cases", cases)
	}
}

func TestANightlyRunHasMoreSeeds(t *testing.T) {
	t.Setenv("SIMGRAPH_TEST_BUDGET", "")
	usual, _ := dbtest.Seeds()
	t.Setenv("SIMGRAPH_TEST_BUDGET", time.Minute.String())
	if nightly, unseen := dbtest.Seeds(); len(nightly) < len(usual)+20 || nightly[len(nightly)-1] != unseen {
		t.Errorf("%v", nightly)
	}
}
