package embedded

import (
	"context"
	"errors"
	"os"
	"time"
)

// TakeOver reports that a server which Start shares with its owner need not be kept
// for this process any longer: when the owner has ended, by itself or by a signal,
// the server is started again here, at the same address. Connections break once.
func (s *Server) TakeOver() { s.taking.Do(func() { close(s.takeOver) }) }

// ownerEnds bounds the wait for the lock of an owner that was killed: its server
// breaks connections a moment before it ends, and holds the lock until then.
const ownerEnds = 5 * time.Second

// Abandoned returns whether Start shares a server whose owner has ended before the
// call of TakeOver: Close, and Start again. Call it after an error: it waits for an
// owner that is about to end.
func (s *Server) Abandoned() bool {
	select {
	case <-s.settled:
		return false
	case <-s.takeOver:
		return false
	default:
	}
	ctx, cancel := context.WithTimeout(context.Background(), ownerEnds)
	defer cancel()
	lock, err := s.awaitLock(ctx)
	return err == nil && lock.Close() == nil
}

// awaitTurn makes a guest the owner when its time has come.
func (s *Server) awaitTurn() {
	defer close(s.settled)
	o, _ := s.home.owner()
	s.log.Info("sharing the database of another simgraph until that ends", "command", o.Purpose, "process", o.PID)
	select {
	case <-s.closing:
		close(s.done)
		return
	case <-s.takeOver:
	}
	err := errors.Join(s.unshare(), s.succeed())
	if s.child != nil {
		return
	}
	select {
	case <-s.closing:
	default:
		s.err = err
		s.log.Error("the database cannot be taken over", "error", err)
	}
	close(s.done)
}

// succeed owns the server when its owner has ended. Close ends the wait.
func (s *Server) succeed() error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-s.closing:
			cancel()
		case <-ctx.Done():
		}
	}()
	lock, err := s.awaitLock(ctx)
	if err == nil {
		s.log.Info("the process that ran the database has ended: starting it here")
		err = s.own(ctx, lock)
	}
	return err
}

func (s *Server) awaitLock(ctx context.Context) (*os.File, error) {
	for {
		lock, err := s.home.tryLock()
		if lock != nil || err != nil {
			return lock, err
		}
		if err := pause(ctx); err != nil {
			return nil, err
		}
	}
}
