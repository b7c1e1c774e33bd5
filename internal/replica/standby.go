package replica

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/singleflight"

	"simgraph/domain"
	"simgraph/graph/engine/transport"
)

// probeEvery is how often standbys and the primary are looked at.
const probeEvery = time.Second

// standby is a standby with its last known state.
type standby struct {
	Database
	set     *Set
	answers *transport.Alternate
	polling singleflight.Group

	used     atomic.Bool
	replayed atomic.Uint64
	lag      atomic.Int64 // in nanoseconds

	mu sync.Mutex
	// logged is the last reason that was logged for leaving it out.
	logged string
}

// has reports whether the standby is in use and has replayed up to the LSN.
func (s *standby) has(ctx context.Context, after LSN) bool {
	if !s.used.Load() {
		return false
	}
	if LSN(s.replayed.Load()) >= after {
		return true
	}
	// All callers meanwhile share it, so it must not be cancelled with a request.
	_, err, _ := s.polling.Do("", func() (any, error) { return nil, s.poll(context.WithoutCancel(ctx)) })
	return err == nil && LSN(s.replayed.Load()) >= after
}

// poll reads how far the standby is.
func (s *standby) poll(ctx context.Context) error {
	text, err := s.Replayed(ctx)
	if err != nil {
		return err
	}
	replayed, err := ParseLSN(text)
	if err == nil {
		s.replayed.Store(uint64(replayed))
	}
	return err
}

// probe decides whether the standby is in use.
func (s *standby) probe(ctx context.Context) {
	if _, err, _ := s.polling.Do("", func() (any, error) { return nil, s.poll(ctx) }); err != nil {
		if ctx.Err() == nil {
			s.leaveOut("it cannot take reads", err)
		}
		return
	}
	lag := s.set.primary.lag(LSN(s.replayed.Load()), s.set.primary.clock())
	s.lag.Store(int64(lag))
	if lag > s.set.cfg.MaxLag {
		// What runs on it may go on: it is late, not broken.
		s.used.Store(false)
		s.logUse("it lags behind", nil)
		return
	}
	s.Reopen()
	s.used.Store(true)
	s.logUse("", nil)
}

// leaveOut ends the reads that wait for the standby: they go to the primary.
func (s *standby) leaveOut(why string, err error) {
	s.used.Store(false)
	s.CloseAll()
	s.logUse(why, err)
}

// logUse logs a change; no reason means that the standby is in use.
func (s *standby) logUse(why string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.logged == why {
		return
	}
	s.logged = why
	if why == "" {
		s.set.cfg.Log.Info("a standby takes reads", "standby", s.Place())
		return
	}
	attrs := []any{"standby", s.Place(), "reason", why, "lag", time.Duration(s.lag.Load())}
	if err != nil {
		attrs = append(attrs, slog.String("error", err.Error()))
	}
	s.set.cfg.Log.Warn("a standby is left out", attrs...)
}

// shouldFallBack reports whether the query is to be run on the primary.
func (s *standby) shouldFallBack(err error) bool {
	retry, down := s.ShouldFallBack(err)
	if down {
		s.leaveOut("it is down", err)
	}
	return retry
}

// Run looks after the standbys until ctx ends.
func (s *Set) Run(ctx context.Context) error {
	var running errgroup.Group
	running.Go(func() error { repeat(ctx, s.look); return nil })
	for _, standby := range s.standbys {
		running.Go(func() error { repeat(ctx, standby.probe); return nil })
	}
	return running.Wait()
}

func repeat(ctx context.Context, work func(context.Context)) {
	tick := time.NewTicker(probeEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		work(ctx)
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// look records the LSN of the primary. When the primary does not answer, standbys
// go on as they are: with what they have, those who wrote nothing else are answered.
func (s *Set) look(ctx context.Context) {
	bounded, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	done := s.primary.begin(time.Now())
	if written, err := s.written(bounded); err == nil {
		done(written)
	} else if ctx.Err() == nil {
		s.primary.lose()
	}
}

// probeTime bounds a look at the primary.
const probeTime = 5 * time.Second

// States returns the state of each standby.
func (s *Set) States() []domain.Replica {
	states := make([]domain.Replica, len(s.standbys))
	for i, standby := range s.standbys {
		states[i] = domain.Replica{Place: standby.Place(), Used: standby.used.Load(), Lag: time.Duration(standby.lag.Load())}
	}
	return states
}
