package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
)

// tryOwn runs the server unless another process owns the directory. Attach leaves
// that to a process that serves the directory, where there is one.
func (s *Server) tryOwn(ctx context.Context) (bool, error) {
	if s.right == nil {
		if served, err := s.home.served(); served || err != nil {
			return false, err
		}
	}
	lock, err := s.home.tryLock()
	if lock == nil || err != nil {
		return false, err
	}
	if err := s.own(ctx, lock); err != nil {
		return false, err
	}
	close(s.settled)
	return true, nil
}

// own runs the server under a lock that this process holds. It keeps the lock
// only on success.
func (s *Server) own(ctx context.Context, lock *os.File) error {
	s.lock = lock
	if err := s.begin(ctx, s.cfg); err != nil {
		if ctx.Err() != nil { // programs that end with the start do not report why
			err = ctx.Err()
		}
		if s.child != nil {
			err = errors.Join(err, s.child.shutdown())
			s.output.close()
			s.child = nil
		}
		return errors.Join(err, s.release())
	}
	go s.supervise()
	return nil
}

func (s *Server) begin(ctx context.Context, cfg Config) error {
	h := s.home
	self := owner{PID: os.Getpid(), Purpose: cfg.Purpose, Yields: s.right == nil}
	if err := h.announce(h.ownerFile(), self); err != nil {
		return err
	}
	as, err := h.account()
	if err != nil {
		return err
	}
	major, err := h.clusterMajor()
	if err != nil {
		return err
	}
	bin, err := findBinaries(ctx, major)
	if err != nil {
		return err
	}
	if err := as.mustReach(ctx, bin, string(h)); err != nil {
		return err
	}
	if err := h.clear(ctx, s.log); err != nil {
		return err
	}
	secret, err := h.makeReady(ctx, bin, as, major, cfg.Settings)
	if err != nil {
		return err
	}
	if err := s.setURL(h.url(secret)); err != nil {
		return err
	}
	if err := s.launch(ctx, bin, as, secret, cfg.Settings); err != nil {
		return err
	}
	self.Ready = true
	return h.announce(h.ownerFile(), self)
}

// setURL keeps the address that a server had which was taken over: connections
// are opened by it.
func (s *Server) setURL(url string) error {
	if s.url == "" {
		s.url = url
	}
	if s.url != url {
		return fmt.Errorf("the password in %s is not that of the database before", s.home.passwordFile())
	}
	return nil
}

// launch starts the server's process and returns when it takes connections.
// Recovery after a crash takes as long as it takes: only ctx bounds it.
func (s *Server) launch(ctx context.Context, bin binaries, as *account, secret string, extra map[string]string) error {
	h := s.home
	if err := h.writeDefaults(as); err != nil {
		return err
	}
	sockets := h.socketDir(secret)
	if err := makeSocketDir(sockets, as); err != nil {
		return err
	}
	log, err := openLog(h)
	if err != nil {
		return err
	}
	cmd := exec.Command(bin.path("postgres"), arguments(h, sockets, extra)...)
	cmd.Stdout, cmd.Stderr = log, log
	s.child, err = spawn(cmd, as, syscall.SIGINT)
	if err != nil {
		log.close()
		return err
	}
	s.output = log
	if err := s.awaitReady(ctx); err != nil {
		return err
	}
	return createDatabase(ctx, h, secret)
}

func (s *Server) awaitReady(ctx context.Context) error {
	wait := newPatience(s.log, "the database is still starting, perhaps recovering from a crash", "log", s.home.logFile())
	for !s.home.serverReady(s.child.process.Pid) {
		select {
		case <-s.child.exited:
			return fmt.Errorf("PostgreSQL did not start on %s: %s", s.home, s.output.tail.complaint(s.child.err))
		default:
		}
		if err := wait.pause(ctx); err != nil {
			return fmt.Errorf("starting PostgreSQL on %s: %w", s.home, err)
		}
	}
	return nil
}

// supervise notices the end of the server. One that ended by itself may be
// started by another process at once.
func (s *Server) supervise() {
	<-s.child.exited
	s.output.close()
	select {
	case <-s.closing:
	default:
		s.err = fmt.Errorf("%w: %s", errServerGone, s.output.tail.complaint(s.child.err))
		s.log.Error("the database server has ended by itself", "error", s.err, "log", s.home.logFile())
		s.err = errors.Join(s.err, s.release())
	}
	close(s.done)
}

func (s *Server) stop() error {
	var alone *os.File
	if s.right == nil {
		alone = s.awaitGuests()
		s.checkpoint()
	}
	err := s.child.shutdown()
	if err == nil {
		<-s.done
	}
	err = errors.Join(err, s.release())
	if alone != nil {
		alone.Close()
	}
	return err
}

// checkpoint writes what the server has in memory while it still answers, so that
// its stop takes little time from a process that takes it over. The stop does the
// same where this fails.
func (s *Server) checkpoint() {
	ctx, cancel := context.WithTimeout(context.Background(), checkpointTime)
	defer cancel()
	secret, err := s.home.password()
	if err == nil {
		err = execute(ctx, s.home, secret, "CHECKPOINT")
	}
	if err != nil {
		s.log.Debug("no checkpoint before the stop of the database", "error", err)
	}
}

const checkpointTime = time.Minute

// release gives the directory up, once. The files of the locks stay, since removing
// one would let two processes lock two files of the same name.
func (s *Server) release() (err error) {
	s.freeing.Do(func() {
		_ = os.Remove(s.home.ownerFile())
		if secret, failed := s.home.password(); failed == nil && secret != "" {
			_ = os.RemoveAll(s.home.socketDir(secret))
		}
		err = s.lock.Close()
	})
	return err
}

func makeSocketDir(dir string, as *account) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	return as.give(dir)
}

// connect takes nothing from the environment: PGHOST and its like mean other
// servers.
func connect(h home, secret, database string) (*sql.DB, error) {
	c, err := pq.NewConnectorConfig(pq.Config{
		Host: h.socketDir(secret), Port: socketPort, User: roleName, Password: secret, Database: database,
		SSLMode: pq.SSLModeDisable, ApplicationName: "simgraph start",
	})
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(c), nil
}

// ping runs a statement, since PingContext of lib/pq drops the reason of a failure.
func ping(ctx context.Context, h home, secret string) error {
	return execute(ctx, h, secret, "SELECT 1")
}

func execute(ctx context.Context, h home, secret, statement string) error {
	db, err := connect(h, secret, databaseName)
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.ExecContext(ctx, statement)
	return err
}

// createDatabase also serves those who dropped it.
func createDatabase(ctx context.Context, h home, secret string) error {
	err := ping(ctx, h, secret)
	if pq.As(err, pqerror.InvalidCatalogName) != nil {
		err = create(ctx, h, secret)
	}
	if pq.As(err, pqerror.InvalidPassword) != nil {
		return fmt.Errorf("the password in %s is not that of the database: remove the file, and simgraph sets a new one", h.passwordFile())
	}
	if err != nil {
		return fmt.Errorf("the database server on %s does not answer: %w", h, err)
	}
	return nil
}

func create(ctx context.Context, h home, secret string) error {
	db, err := connect(h, secret, "postgres")
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.ExecContext(ctx, "CREATE DATABASE "+databaseName)
	return err
}
