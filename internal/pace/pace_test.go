package pace_test

import (
	"testing"
	"testing/synctest"
	"time"

	"simgraph/internal/pace"
)

func TestWorkersOfAServiceAtRestWaitLonger(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var p pace.Pace
		took := func(pause time.Duration) time.Duration {
			began := time.Now()
			<-p.After(pause)
			return time.Since(began)
		}
		if got := took(time.Second); got != pace.Rest {
			t.Errorf("before its first use a service waits %v", got)
		}
		p.Use()
		if got := took(time.Second); got != time.Second {
			t.Errorf("in use it waits %v", got)
		}
		time.Sleep(pace.Quiet - 2*time.Second)
		if got := took(time.Second); got != time.Second {
			t.Errorf("a second before its rest it waits %v", got)
		}
		time.Sleep(time.Second)
		if got := took(time.Second); got != pace.Rest {
			t.Errorf("at rest it waits %v", got)
		}
		if got := took(time.Minute); got != time.Minute {
			t.Errorf("at rest a pause of a minute lasts %v", got)
		}
	})
}

func TestUseEndsTheRestOfEachWorker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var p pace.Pace
		began := time.Now()
		workers := []<-chan time.Time{p.After(time.Second), p.After(5 * time.Second)}
		time.Sleep(100 * time.Millisecond)
		p.Use()
		p.Use()
		for _, ended := range workers {
			<-ended
		}
		if got := time.Since(began); got != 100*time.Millisecond {
			t.Errorf("they went on after %v", got)
		}
	})
}
