package main

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
)

// Answers are short-lived garbage, so it is collected less often than Go would.
// What that may cost is bounded in a container: the database needs memory too.
const (
	garbagePercent = 400
	containerShare = 0.5
	// profiledBytes are between two allocations that profiles see. Go's half a
	// megabyte, which a page of 100 allocates, takes 3 % of the server's time.
	profiledBytes   = 8 << 20
	profiledBytesGo = 512 << 10
	// ballastBytes are worth it from this much memory on.
	ballastBytes = 32 << 20
	ballastFrom  = 512 << 20
)

// ballast is counted as in use, so that some 160 MB of garbage come together
// between two collections however little the server holds: each slows down what
// is answered meanwhile. It is never touched and takes no memory itself.
var ballast []byte

// The memory that a container may use, by version 2 and 1 of control groups.
var memoryFiles = []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}

func init() {
	if runtime.MemProfileRate == profiledBytesGo { // GODEBUG may set another
		runtime.MemProfileRate = profiledBytes
	}
	tuneMemory(os.Getenv, memoryFiles)
}

// tuneMemory leaves alone what GOGC and GOMEMLIMIT set.
func tuneMemory(getenv func(string) string, files []string) {
	if getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit(files))
	}
	if getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(garbagePercent)
	if ballast == nil && debug.SetMemoryLimit(-1) >= ballastFrom {
		ballast = make([]byte, ballastBytes)
	}
}

// memoryLimit is from where on garbage is collected as often as it takes; the
// largest number stands for none.
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
