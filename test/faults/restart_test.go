//go:build linux

package faults_test

import (
	"syscall"
	"testing"
	"time"
)

func TestTheDatabaseIsRestarted(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*database){
		"fast":      (*database).stop,
		"immediate": func(d *database) { d.crash(syscall.SIGQUIT) },
		"killed":    func(d *database) { d.crash(syscall.SIGKILL) },
	} {
		t.Run(name, func(t *testing.T) {
			x, d := onDatabase(t)
			x.begin()
			for range 2 {
				end(d)
				time.Sleep(time.Second) // the fault lasts
				d.start()
				x.recovers(time.Now())
				x.flow(500)
			}
			x.finish("database restarted, "+name, d.url())
		})
	}
}
