package embedded

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
)

// watchEvery is how soon a guest learns that the server has ended.
const watchEvery = 250 * time.Millisecond

// tryJoin becomes a guest of the directory's owner; false when that cannot be yet.
// The share is taken before the look at the owner's state, so that an owner who
// waits for its guests cannot miss this one.
func (s *Server) tryJoin(ctx context.Context) (bool, error) {
	guest, err := s.home.tryShare()
	if err != nil || guest == nil {
		return false, err
	}
	secret, err := s.home.answering(ctx)
	if err != nil || secret == "" {
		guest.Close()
		return false, err
	}
	s.guest, s.url = guest, s.home.url(secret)
	if s.right != nil {
		go s.awaitTurn()
		return true, nil
	}
	close(s.settled)
	go s.watch(s.home.serverPID())
	return true, nil
}

// answering returns the password once the owner's server takes connections with
// it, and "" before.
func (h home) answering(ctx context.Context) (string, error) {
	if o, ok := h.owner(); !ok || !o.Ready {
		return "", nil
	}
	secret, err := h.password()
	if err != nil {
		return "", err
	}
	err = ping(ctx, h, secret)
	if pq.As(err, pqerror.InvalidPassword) != nil {
		return "", fmt.Errorf("the password in %s is not that of the running database", h.passwordFile())
	}
	if err != nil {
		return "", nil
	}
	return secret, nil
}

// watch closes done when the owner's server is gone.
func (s *Server) watch(pid int) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	defer close(s.done)
	for {
		select {
		case <-s.closing:
			return
		case <-tick.C:
		}
		if pid != s.home.serverPID() || !alive(pid) {
			s.err = errServerGone
			return
		}
	}
}

func (s *Server) leave() error {
	<-s.done
	return s.unshare()
}

// unshare lets the owner end.
func (s *Server) unshare() error {
	if s.guest == nil {
		return nil
	}
	guest := s.guest
	s.guest = nil
	return guest.Close()
}

// awaitGuests returns once nobody else uses the server, with the lock that
// keeps it so; nil when the server ended meanwhile.
func (s *Server) awaitGuests() *os.File {
	wait := newPatience(s.log, "the database stays up while other simgraph commands use it", "dir", string(s.home))
	for {
		alone, err := s.home.tryAlone()
		if err != nil {
			s.log.Warn("cannot find out whether others use the database", "error", err)
			return nil
		}
		if alone != nil {
			return alone
		}
		select {
		case <-s.child.exited:
			return nil
		default:
			_ = wait.pause(context.Background())
		}
	}
}
