package main

import (
	"strings"
	"testing"

	"simgraph/db/dbtest"
)

func TestServeTunesTheRuntimeUnlessSwitchedOff(t *testing.T) {
	for setting, want := range map[string]string{"false": "400", "true": "100"} {
		t.Run("no tuning: "+setting, func(t *testing.T) {
			admin := freeAddress(t)
			t.Setenv("GOGC", "")
			t.Setenv("SIMGRAPH_NO_RUNTIME_TUNING", setting)
			t.Setenv("SIMGRAPH_ADMIN_ADDR", admin)
			t.Setenv("SIMGRAPH_DATABASE_URL", dbtest.URL(t))
			s := start(t, dataDir(t), nil)
			if metrics := s.fetch("http://"+admin+"/metrics", nil); !strings.Contains(metrics, "\ngo_gc_gogc_percent "+want+"\n") {
				t.Errorf("the garbage collector does not run at %s %%", want)
			}
		})
	}
}
