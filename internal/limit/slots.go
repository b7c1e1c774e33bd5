package limit

import (
	"context"
	"sync/atomic"
	"time"
)

// Slots bound how much runs at a time. Some more may wait for a short while;
// the rest is shed at once, so that what is admitted stays fast. A nil *Slots
// admits all.
type Slots struct {
	running  chan struct{}
	queue    int64
	patience time.Duration
	waiting  atomic.Int64
}

// NewSlots returns slots for that many at a time, with a queue of those that
// wait up to patience; nil for 0 at a time, which stands for no limit.
func NewSlots(running, queue int, patience time.Duration) *Slots {
	if running <= 0 {
		return nil
	}
	return &Slots{running: make(chan struct{}, running), queue: int64(queue), patience: patience}
}

// Enter takes a slot, in the order of arrival. It reports false when there is
// none in time or ctx ended; otherwise Leave must be called.
func (s *Slots) Enter(ctx context.Context) bool {
	if s == nil {
		return true
	}
	select {
	case s.running <- struct{}{}:
		return true
	default:
		return s.wait(ctx)
	}
}

func (s *Slots) wait(ctx context.Context) bool {
	defer s.waiting.Add(-1)
	if s.waiting.Add(1) > s.queue {
		return false
	}
	enough := time.NewTimer(s.patience)
	defer enough.Stop()
	select {
	case s.running <- struct{}{}:
		return true
	case <-enough.C:
	case <-ctx.Done():
	}
	return false
}

// Leave gives a slot back.
func (s *Slots) Leave() {
	if s != nil {
		<-s.running
	}
}
