package command

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
)

// Responses are short-lived garbage, so it is collected less often than by Go's
// default. In a container the memory for it is bounded: the database needs memory
// too.
const (
	garbagePercent = 400
	// ballastPercent is that with ballast: garbage is as much as ballast and what the
	// server holds, not four times that, whatever strangers make it hold.
	ballastPercent = 100
	containerShare = 0.5
	// profiledBytes are between two allocations that profiles record. Go's half a
	// megabyte, which a page of 100 allocates, takes 3 % of the server's time.
	profiledBytes   = 8 << 20
	profiledBytesGo = 512 << 10
	// ballastBytes are worth it from this much memory on.
	ballastBytes = 32 << 20
	ballastFrom  = 512 << 20
)

// ballast is counted as in use, so that some 32 MB of garbage come together
// between two collections however little the server holds: each collection slows
// down the requests of its time. It is never touched and takes no memory itself.
var ballast []byte

// memoryFiles have the memory that a container may use, by version 2 and 1 of
// control groups.
var memoryFiles = []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}

// tuneRuntime sets Go's runtime up for a server, once: servers of one process, as
// in tests, may begin at the same moment. It changes the process for good, so only
// serve calls it, and before anything else.
var tuneRuntime = sync.OnceFunc(func() {
	if runtime.MemProfileRate == profiledBytesGo { // GODEBUG may set another
		runtime.MemProfileRate = profiledBytes
	}
	tuneMemory(os.Getenv, memoryFiles)
})

// tuneMemory changes nothing that GOGC or GOMEMLIMIT sets.
func tuneMemory(getenv func(string) string, files []string) {
	if getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit(files))
	}
	if getenv("GOGC") != "" {
		return
	}
	if debug.SetMemoryLimit(-1) < ballastFrom {
		debug.SetGCPercent(garbagePercent)
		return
	}
	debug.SetGCPercent(ballastPercent)
	if ballast == nil {
		ballast = make([]byte, ballastBytes)
	}
}

// memoryLimit returns the memory from which on garbage is collected as often as it
// takes; the largest number stands for none.
func memoryLimit(files []string) int64 {
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		if limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && limit > 0 {
			return int64(float64(limit) * containerShare)
		}
	}
	return math.MaxInt64
}
