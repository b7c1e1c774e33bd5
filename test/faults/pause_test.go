//go:build linux

package faults_test

import (
	"syscall"
	"testing"
	"time"
)

func TestTheDatabaseIsPaused(t *testing.T) {
	t.Parallel()
	x, d := onDatabase(t)
	x.begin()
	for _, pause := range []time.Duration{time.Second, 4 * time.Second} {
		d.signal(syscall.SIGSTOP)
		time.Sleep(pause)
		d.signal(syscall.SIGCONT)
		x.recovers(time.Now())
		x.flow(300)
	}
	x.finish("database stopped by SIGSTOP for 1 s and 4 s", d.url())
}
