package embedded

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"syscall"
	"time"
)

// owner is what the owner of a data directory records for the others.
type owner struct {
	PID     int    `json:"pid"`
	Purpose string `json:"purpose"`
	// Ready: the server takes connections.
	Ready bool `json:"ready"`
	// Yields: Start joins this owner, and takes the database over when it ends.
	Yields bool `json:"yields"`
}

// tryLock takes ownership of the directory; nil when another process has it.
// The kernel drops the lock with its process, however that ends.
func (h home) tryLock() (*os.File, error) { return h.flock(h.lockFile(), syscall.LOCK_EX) }

// tryServe takes the right to serve the directory, which Start has and Attach has
// not; nil when another process has it.
func (h home) tryServe() (*os.File, error) { return h.flock(h.serveFile(), syscall.LOCK_EX) }

// served returns whether a process has the right to serve the directory.
func (h home) served() (bool, error) {
	f, err := h.flock(h.serveFile(), syscall.LOCK_SH)
	if err != nil || f == nil {
		return f == nil, err
	}
	return false, f.Close()
}

// tryShare registers this process as a guest; nil while the owner closes.
func (h home) tryShare() (*os.File, error) { return h.flock(h.guestsFile(), syscall.LOCK_SH) }

// tryAlone succeeds when there are no guests, and then keeps new ones out.
func (h home) tryAlone() (*os.File, error) { return h.flock(h.guestsFile(), syscall.LOCK_EX) }

func (h home) flock(path string, how int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, rights(string(h), err)
	}
	err = syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
	if err == nil {
		err = h.keep(path)
	}
	if err == nil {
		return f, nil
	}
	f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, nil
	}
	return nil, rights(string(h), err)
}

func (h home) announce(path string, o owner) error {
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return h.write(path, text)
}

// owner reads who runs the database.
func (h home) owner() (owner, bool) { return readOwner(h.ownerFile()) }

// server reads who has the right to serve the directory.
func (h home) server() (owner, bool) { return readOwner(h.serverFile()) }

func readOwner(path string) (owner, bool) {
	var o owner
	text, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(text, &o) != nil {
		return owner{}, false
	}
	return o, true
}

// reserve takes the right to serve the directory, or returns an *InUseError. It
// insists for a moment where the process that has the right is not known yet, or
// is dead: a child that a killed process was about to start holds the lock until
// it runs its own program.
func (h home) reserve(ctx context.Context, purpose string) (*os.File, error) {
	for deadline := time.Now().Add(2 * time.Second); ; {
		right, err := h.tryServe()
		if err != nil {
			return nil, err
		}
		if right != nil {
			return h.reserved(right, purpose)
		}
		server, known := h.server()
		if known && alive(server.PID) || time.Now().After(deadline) {
			return nil, h.inUseBy(server)
		}
		if err := pause(ctx); err != nil {
			return nil, err
		}
	}
}

func (h home) reserved(right *os.File, purpose string) (*os.File, error) {
	if err := h.announce(h.serverFile(), owner{PID: os.Getpid(), Purpose: purpose}); err != nil {
		return nil, errors.Join(err, right.Close())
	}
	return right, nil
}

// unreserve gives the right up.
func (h home) unreserve(right *os.File) error {
	_ = os.Remove(h.serverFile())
	return right.Close()
}

func (h home) inUseBy(o owner) *InUseError {
	return &InUseError{Dir: string(h), PID: o.PID, Purpose: o.Purpose}
}

// pause sleeps for pollEvery, unless the context ends first.
func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pollEvery):
		return nil
	}
}

// patience paces a wait of unknown length, and logs a long one.
type patience struct {
	log     *slog.Logger
	message string
	args    []any
	next    time.Time
}

const (
	pollEvery   = 20 * time.Millisecond
	remindEvery = 5 * time.Second
)

func newPatience(log *slog.Logger, message string, args ...any) *patience {
	return &patience{log, message, args, time.Now().Add(remindEvery / 5)}
}

func (p *patience) pause(ctx context.Context) error {
	if time.Now().After(p.next) {
		p.log.Info(p.message, p.args...)
		p.next = time.Now().Add(remindEvery)
	}
	return pause(ctx)
}
