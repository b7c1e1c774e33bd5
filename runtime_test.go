package main

import (
	"strconv"
	"strings"
	"testing"

	"simgraph/db/dbtest"
	"simgraph/internal/fatal"
)

func TestServeTunesTheRuntimeUnlessSwitchedOff(t *testing.T) {
	for setting, tuned := range map[string]bool{"false": true, "true": false} {
		t.Run("no tuning: "+setting, func(t *testing.T) {
			admin := freeAddress(t)
			t.Setenv("GOGC", "")
			t.Setenv("SIMGRAPH_NO_RUNTIME_TUNING", setting)
			t.Setenv("SIMGRAPH_ADMIN_ADDR", admin)
			t.Setenv("SIMGRAPH_DATABASE_URL", dbtest.URL(t))
			s := start(t, dataDir(t), nil)
			goal := nextCollection(t, s.fetch("http://"+admin+"/metrics", nil))
			if got := goal > 90<<20; got != tuned {
				t.Errorf("garbage is collected at %.0f MB", goal/(1<<20))
			}
		})
	}
}

// nextCollection returns the size of the heap in bytes at which garbage is collected next.
func nextCollection(t *testing.T, metrics string) float64 {
	t.Helper()
	_, after, _ := strings.Cut(metrics, "\ngo_memstats_next_gc_bytes ")
	text, _, _ := strings.Cut(after, "\n")
	goal, err := strconv.ParseFloat(text, 64)
	fatal.If(t, err)
	return goal
}
