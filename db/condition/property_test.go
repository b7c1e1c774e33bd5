package condition_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	store "simgraph/db/condition"
	"simgraph/domain"
	"simgraph/domain/condition"
)

// reference is a slow reference of what an alert on silence is to log: it remembers every
// report, and looks at all of them each minute.
type reference struct {
	hours   time.Duration
	last    map[int]time.Time
	source  map[int]string
	reports map[string]time.Time
	open    map[int]time.Time
	log     []string
}

func (r *reference) report(n int, source string, at time.Time) {
	r.last[n], r.source[n], r.reports[source] = at, source, at
}

func (r *reference) minute(now time.Time) {
	for n, since := range r.open {
		if r.last[n].After(since) && r.last[n].After(now.Add(-r.hours)) {
			r.log = append(r.log, fmt.Sprintf("resolved silent p%d %s", n, since.Format("2 15:04")))
			delete(r.open, n)
		}
	}
	for n, since := range r.last {
		due := since.Add(r.hours)
		if _, open := r.open[n]; !open && !due.After(now) && !due.After(r.reports[r.source[n]]) {
			r.log = append(r.log, fmt.Sprintf("fired silent p%d %s", n, since.Format("2 15:04")))
			r.open[n] = since
		}
	}
}

// Whichever subscribers report when, through which of two sources that fail at times, and whatever
// number of instances evaluates at once: the log is that of a slow reference.
func TestSilencesAgreeWithASlowReference(t *testing.T) {
	t.Parallel()
	rounds := uint64(6)
	if testing.Short() {
		rounds = 2
	}
	for seed := range rounds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 7))
			f := newFixture(t)
			want := &reference{hours: 2 * time.Hour, last: map[int]time.Time{}, source: map[int]string{}, reports: map[string]time.Time{}, open: map[int]time.Time{}}
			for n := 1; n <= 8; n++ {
				source := []string{"gw", "radius"}[n%2]
				f.record(n, source)
				want.report(n, source, f.now)
			}
			f.create(domain.RuleCompany, "", silentFor(2))
			dead := map[string]bool{}
			for range 60 {
				f.now = f.now.Add(time.Duration(5+random.IntN(20)) * time.Minute)
				if random.IntN(8) == 0 {
					source := []string{"gw", "radius"}[random.IntN(2)]
					dead[source] = !dead[source]
				}
				for n := 1; n <= 8; n++ {
					source := []string{"gw", "radius"}[n%2]
					if !dead[source] && random.IntN(2+2*n) == 0 {
						f.record(n, source)
						want.report(n, source, f.now)
					}
				}
				f.evaluateTwice()
				want.minute(f.now)
			}
			got := slices.DeleteFunc(f.log(), isSource)
			slices.Sort(got)
			if len(want.log) < 10 {
				t.Fatalf("only %d entries are expected", len(want.log))
			}
			slices.Sort(want.log)
			if !slices.Equal(got, want.log) {
				t.Errorf("the log has\n%q\nwant\n%q", got, want.log)
			}
		})
	}
}

func isSource(line string) bool {
	var state, kind string
	_, _ = fmt.Sscan(line, &state, &kind)
	return kind == string(condition.SourceSilent)
}

// evaluateTwice evaluates by two instances at once.
func (f *fixture) evaluateTwice() {
	f.Helper()
	now := f.now
	other := store.New(f.pool, func() time.Time { return now })
	f.pool.MustExec(`UPDATE condition_turns SET due_at = '-infinity'`)
	var both sync.WaitGroup
	for _, instance := range []*store.Store{f.conditions, other} {
		both.Go(func() {
			if err := instance.Round(f.Context()); err != nil {
				f.Error(err)
			}
		})
	}
	both.Wait()
}
