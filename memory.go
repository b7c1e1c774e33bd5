package main

import (
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// Answers are short-lived garbage, so it is collected less often than Go would.
// What that may cost is bounded in a container: the database needs memory too.
const (
	garbagePercent = 400
	containerShare = 0.5
)

// The memory that a container may use, by version 2 and 1 of control groups.
var memoryFiles = []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}

func init() { tuneMemory(os.Getenv, memoryFiles) }

// tuneMemory leaves alone what GOGC and GOMEMLIMIT set.
func tuneMemory(getenv func(string) string, files []string) {
	if getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
	if getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit(files))
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
