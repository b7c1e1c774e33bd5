// Package embedded runs a private PostgreSQL server for simgraph: a child
// process on a data directory of its own, reached through a unix socket only.
//
// One process owns the server of a directory, and the lock on that directory
// with it. The commands beside it attach to the running server. An owner that
// dies, even by SIGKILL, takes the server with it; whatever may be left of it is
// cleared away by the next start.
package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
)

// Config says where the server keeps its data and how it runs.
type Config struct {
	// Dir is the data directory; it is created when missing. A relative path
	// counts from the working directory. Default: DefaultDir().
	Dir string
	// Log receives what an operator should know: waiting, recovery, crashes.
	// Default: nothing is logged.
	Log *slog.Logger
	// Settings are PostgreSQL parameters that win over every other source,
	// e.g. fsync=off in tests.
	Settings map[string]string
	// Purpose is shown to others who want the directory, e.g. "serve".
	// Default: "simgraph".
	Purpose string
}

// InUseError says that another process owns the data directory.
type InUseError struct {
	Dir string
	// PID is 0 when the owner has not yet said who it is.
	PID     int
	Purpose string
}

func (e *InUseError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("the data directory %s is in use by another simgraph", e.Dir)
	}
	return fmt.Sprintf("the data directory %s is in use by simgraph %s (process %d)", e.Dir, e.Purpose, e.PID)
}

// Server is a running PostgreSQL server, owned or attached to. Close it.
type Server struct {
	log  *slog.Logger
	home home
	url  string

	child   *child   // the server's process; nil when attached
	lock    *os.File // ownership of the directory; nil when attached
	guest   *os.File // a share in the use of the server; nil when owned
	patient bool     // Close waits for the guests to leave
	output  *logFile // of the child

	done    chan struct{}
	err     error // valid once done is closed
	closing chan struct{}
	once    sync.Once
	closed  error
}

// Start begins a private server on cfg.Dir, or fails with an *InUseError when
// another process owns the directory. The context governs the start only.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	h, log, err := prepare(&cfg)
	if err != nil {
		return nil, err
	}
	lock, err := h.lock(ctx)
	if err != nil {
		return nil, err
	}
	return own(ctx, h, lock, log, cfg)
}

// Attach joins the server that another process runs on cfg.Dir, waiting while
// it starts. Where none runs, Attach starts one; its Close then waits until
// everyone who attached to it has closed.
func Attach(ctx context.Context, cfg Config) (*Server, error) {
	h, log, err := prepare(&cfg)
	if err != nil {
		return nil, err
	}
	wait := newPatience(log, "waiting for the database of another simgraph", "dir", string(h))
	for {
		lock, err := h.tryLock()
		if err != nil {
			return nil, err
		}
		if lock != nil {
			s, err := own(ctx, h, lock, log, cfg)
			if err == nil {
				s.patient = true
			}
			return s, err
		}
		if s, err := join(ctx, h, log); s != nil || err != nil {
			return s, err
		}
		if err := wait.pause(ctx); err != nil {
			return nil, fmt.Errorf("%w: %w", h.inUse(), err)
		}
	}
}

// DefaultDir is where the data lie unless the operator says otherwise:
// ".simgraph" in the working directory; as root, a folder of the system.
func DefaultDir() string {
	if os.Geteuid() == 0 {
		return "/var/lib/simgraph"
	}
	return ".simgraph"
}

// URL is the address of the database "simgraph" for lib/pq and libpq, with its
// password.
func (s *Server) URL() string { return s.url }

// Done is closed when the server has ended, by Close or by itself.
func (s *Server) Done() <-chan struct{} { return s.done }

// Err says, once Done is closed, why the server ended; nil after Close.
func (s *Server) Err() error {
	select {
	case <-s.done:
		return s.err
	default:
		return nil
	}
}

// Close stops an owned server and leaves an attached one. It is safe to call
// more than once.
func (s *Server) Close() error {
	s.once.Do(func() {
		close(s.closing)
		if s.child == nil {
			s.closed = s.leave()
		} else {
			s.closed = s.stop()
		}
	})
	return s.closed
}

func prepare(cfg *Config) (home, *slog.Logger, error) {
	if cfg.Dir == "" {
		cfg.Dir = DefaultDir()
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Purpose == "" {
		cfg.Purpose = "simgraph"
	}
	h, err := openHome(cfg.Dir)
	return h, cfg.Log, err
}

var errServerGone = errors.New("the database server has ended")
