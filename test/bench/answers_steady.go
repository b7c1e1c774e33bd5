package main

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// keepOn runs the workloads in turn for the time of the flag, and returns
// the server's resident memory in MB at the beginning and after each turn.
func (a *answers) keepOn(ctx context.Context, server *program) (residentMB []int) {
	for begun := time.Now(); ; {
		residentMB = append(residentMB, resident(server.pid))
		if ctx.Err() != nil || time.Since(begun) >= a.steady {
			return residentMB
		}
		for _, w := range a.workloads {
			a.loadFor(ctx, a.steady/time.Duration(10*len(a.workloads)), server, w.request, 0)
		}
	}
}

// memory describes the use of memory in a sentence.
func (r *report) memory() string {
	if len(r.SteadyMB) < 2 {
		return ""
	}
	samples := strings.Trim(fmt.Sprint(r.SteadyMB), "[]")
	return fmt.Sprintf("Resident memory under all workloads in turn for %d s, in MB: %s.\n", r.SteadySeconds, strings.ReplaceAll(samples, " ", ", "))
}
