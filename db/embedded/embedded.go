// Package embedded runs a private PostgreSQL server for simgraph: a child
// process on a data directory of its own, reached through a unix socket only.
//
// One process owns the server of a directory, and the lock on that directory
// with it; others share the running server. A process that only attaches owns the
// server where none runs; one that serves the directory shares it until then, and
// starts it again, at the same address, as soon as that owner has ended. An owner
// that dies, even by SIGKILL, takes the server with it; whatever may be left of it
// is cleared away by the next start.
package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
)

// Config describes where the server keeps its data and how it runs.
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

// InUseError reports that another process serves the data directory.
type InUseError struct {
	Dir string
	// PID is 0 when it is not known yet.
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
	cfg  Config
	url  string

	child  *child   // the server's process; nil when attached
	lock   *os.File // ownership of the directory; nil when attached
	guest  *os.File // a share in the use of the server; nil when owned
	right  *os.File // to serve the directory; nil after Attach
	output *logFile // of the child

	// takeOver is closed by TakeOver, settled when the server is no guest that may
	// become the owner.
	takeOver chan struct{}
	settled  chan struct{}
	taking   sync.Once
	freeing  sync.Once

	done    chan struct{}
	err     error // valid once done is closed
	closing chan struct{}
	once    sync.Once
	closed  error
}

// Start begins a private server on cfg.Dir, or fails with an *InUseError when
// another process that called Start serves the directory. Where a process that
// called Attach runs the server, Start shares it: call TakeOver when all is set
// up. The context governs the start only.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	h, log, err := prepare(&cfg)
	if err != nil {
		return nil, err
	}
	right, err := h.reserve(ctx, cfg.Purpose)
	if err != nil {
		return nil, err
	}
	s, err := newServer(h, log, cfg, right).enter(ctx)
	if err != nil {
		return nil, errors.Join(err, h.unreserve(right))
	}
	return s, nil
}

// Attach joins the server that another process runs on cfg.Dir, waiting while
// it starts. Where none runs, Attach starts one; its Close then waits until
// everyone who attached to it has closed, and for Start's TakeOver.
func Attach(ctx context.Context, cfg Config) (*Server, error) {
	h, log, err := prepare(&cfg)
	if err != nil {
		return nil, err
	}
	return newServer(h, log, cfg, nil).enter(ctx)
}

func newServer(h home, log *slog.Logger, cfg Config, right *os.File) *Server {
	return &Server{
		log: log, home: h, cfg: cfg, right: right,
		takeOver: make(chan struct{}), settled: make(chan struct{}), done: make(chan struct{}), closing: make(chan struct{}),
	}
}

// enter owns the directory's server, or shares it.
func (s *Server) enter(ctx context.Context) (*Server, error) {
	wait := newPatience(s.log, "waiting for the database of another simgraph", "dir", string(s.home))
	for {
		if entered, err := s.tryEnter(ctx); err != nil {
			return nil, err
		} else if entered {
			return s, nil
		}
		if err := wait.pause(ctx); err != nil {
			o, _ := s.home.owner()
			return nil, fmt.Errorf("%w: %w", s.home.inUseBy(o), err)
		}
	}
}

func (s *Server) tryEnter(ctx context.Context) (bool, error) {
	if owned, err := s.tryOwn(ctx); owned || err != nil {
		return owned, err
	}
	if o, known := s.home.owner(); s.right != nil && known && !o.Yields && alive(o.PID) {
		return false, s.home.inUseBy(o)
	}
	return s.tryJoin(ctx)
}

// DefaultDir is where the data lie unless the operator says otherwise:
// ".simgraph" in the working directory; as root, a folder of the system.
func DefaultDir() string {
	if os.Geteuid() == 0 {
		return "/var/lib/simgraph"
	}
	return ".simgraph"
}

// Exists reports whether there is a database in the data directory.
func Exists(dir string) (bool, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return false, err
	}
	major, err := home(abs).clusterMajor()
	return major != 0, err
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
		<-s.settled
		if s.child == nil {
			s.closed = s.leave()
		} else {
			s.closed = s.stop()
		}
		if s.right != nil {
			s.closed = errors.Join(s.closed, s.home.unreserve(s.right))
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
