package dbtest

import (
	"fmt"
	"iter"
	"os"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// budgetVariable has the time that each random test of a nightly run may take, as 2m.
const budgetVariable = "SIMGRAPH_TEST_BUDGET"

// usualBudget bounds a random test of every other run.
const usualBudget = 4 * time.Second

// moreSeeds is how many seeds a nightly run adds to those of Seeds.
const moreSeeds = 20

// Nightly reports whether the run is one that takes all random cases, and more.
func Nightly() bool { return os.Getenv(budgetVariable) != "" }

// Seeds returns the seeds of random cases: one that no run has had before, and others
// unless only a short run is wanted. A seed that failed is repeated by adding it here.
func Seeds() (seeds []uint64, unseen uint64) {
	unseen = uint64(time.Now().UnixNano())
	switch {
	case Nightly():
		for n := range uint64(moreSeeds) {
			seeds = append(seeds, unseen+1+n)
		}
	case testing.Short():
		return []uint64{unseen}, unseen
	}
	return append(seeds, 1, unseen), unseen
}

// Budget is how long a random test goes on.
type Budget struct {
	until   time.Time
	nightly bool
}

// NewBudget returns a budget that begins now.
func NewBudget(t testing.TB) *Budget {
	t.Helper()
	b := &Budget{nightly: Nightly()}
	long := usualBudget
	if b.nightly {
		var err error
		if long, err = time.ParseDuration(os.Getenv(budgetVariable)); err != nil {
			t.Fatal(fmt.Errorf("%s: %w", budgetVariable, err))
		}
	}
	b.until = time.Now().Add(long)
	return b
}

// Seeds returns the first least seeds from 0, always, and those up to usual while the
// budget lasts. A short run has the least alone; a nightly one has all the usual, and then
// goes on with such as no run has had before for as long as the budget lasts.
func (b *Budget) Seeds(least, usual uint64) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		unseen := uint64(time.Now().UnixNano())
		for n := uint64(0); b.allows(n, least, usual); n++ {
			seed := n
			if n >= max(least, usual) {
				seed = unseen + n
			}
			if !yield(seed) {
				return
			}
		}
	}
}

func (b *Budget) allows(n, least, usual uint64) bool {
	isLeft := time.Now().Before(b.until)
	switch {
	case n < least:
		return true
	case testing.Short():
		return false
	case n < usual:
		return isLeft || b.nightly
	}
	return isLeft && b.nightly
}

// checkedFor is how long Check goes on, and checkedShortly how long with -short.
const checkedFor, checkedShortly = 10 * time.Second, 3 * time.Second

// Check is rapid.Check for a property whose cases take long: after some seconds the cases that
// are left pass without being tried. A nightly run tries all.
func Check(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	long := checkedFor
	if testing.Short() {
		long = checkedShortly
	}
	until, hasFailed := time.Now().Add(long), false
	rapid.Check(t, func(rt *rapid.T) {
		if !hasFailed && !Nightly() && time.Now().After(until) {
			return
		}
		hasFailed = true // also when the property panics; then smaller cases are tried
		property(rt)
		hasFailed = rt.Failed()
	})
}

// Cases returns how many random cases are tried of a number that usually is: with -short, as
// under the race detector, a third, and in a nightly run ten times as many.
func Cases(usual uint64) uint64 {
	switch {
	case testing.Short():
		return (usual + 2) / 3
	case Nightly():
		return 10 * usual
	}
	return usual
}
