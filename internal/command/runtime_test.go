package command

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"

	"simgraph/internal/fatal"
)

func TestTheMemoryOfAContainerBoundsGarbage(t *testing.T) {
	for text, want := range map[string]int64{
		"1073741824\n": 512 << 20,
		"max\n":        math.MaxInt64,
		"":             math.MaxInt64,
	} {
		file := filepath.Join(t.TempDir(), "memory.max")
		fatal.If(t, os.WriteFile(file, []byte(text), 0o600))
		if got := memoryLimit([]string{"/does/not/exist", file}); got != want {
			t.Errorf("%q: got %d", text, got)
		}
	}
}

func TestTheEnvironmentDecidesAboutMemory(t *testing.T) {
	percent, limit := debug.SetGCPercent(70), debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetGCPercent(percent); debug.SetMemoryLimit(limit) })
	debug.SetMemoryLimit(3 << 30)
	tuneMemory(func(string) string { return "set" }, nil)
	if debug.SetMemoryLimit(-1) != 3<<30 || debug.SetGCPercent(70) != 70 {
		t.Error("settings of the environment were changed")
	}
	tuneMemory(func(string) string { return "" }, nil)
	if debug.SetMemoryLimit(-1) != math.MaxInt64 || debug.SetGCPercent(70) != ballastPercent {
		t.Error("nothing was set")
	}
}

func TestGarbageIsCollectedSeldomWhereThereIsRoom(t *testing.T) {
	percent, limit := debug.SetGCPercent(-1), debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetGCPercent(percent); debug.SetMemoryLimit(limit); ballast = nil })
	file := filepath.Join(t.TempDir(), "memory.max")
	for memory, seldom := range map[string]bool{"268435456": false, "4294967296": true} {
		fatal.If(t, os.WriteFile(file, []byte(memory), 0o600))
		ballast = nil
		tuneMemory(func(string) string { return "" }, []string{file})
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		if got := stats.NextGC > 2*ballastBytes; got != seldom {
			t.Errorf("with %s bytes of memory the next collection is at %d", memory, stats.NextGC)
		}
	}
}
