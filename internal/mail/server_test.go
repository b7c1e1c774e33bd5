package mail_test

import (
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"simgraph/internal/fatal"
)

// mailServer is a real SMTP server that behaves as a test wants.
type mailServer struct {
	address string

	mu       sync.Mutex
	received []received
	attempts int
	// fail answers the n-th attempt, from 1, at a stage; nil takes the mail.
	fail func(stage string, attempt int) error
	// refuse answers RCPT of an address; nil takes it.
	refuse func(to string) error
}

type received struct{ From, To, Data string }

// errDrop closes the connection instead of answering.
var errDrop = errors.New("drop")

func newMailServer(t *testing.T, fail func(stage string, attempt int) error) *mailServer {
	t.Helper()
	s := &mailServer{fail: fail}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	fatal.If(t, err)
	server := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.attempts++
		return &session{server: s, conn: c, attempt: s.attempts}, s.decide("connect", s.attempts)
	}))
	server.Domain = "mx.test"
	server.ReadTimeout, server.WriteTimeout = 10*time.Second, 10*time.Second
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	s.address = listener.Addr().String()
	return s
}

func (s *mailServer) decide(stage string, attempt int) error {
	if s.fail == nil {
		return nil
	}
	return s.fail(stage, attempt)
}

func (s *mailServer) mails() []received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]received(nil), s.received...)
}

type session struct {
	server  *mailServer
	conn    *smtp.Conn
	attempt int
	mail    received
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	s.mail.From = from
	return s.server.decide("from", s.attempt)
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.mail.To = to
	if s.server.refuse != nil {
		if err := s.server.refuse(to); err != nil {
			return err
		}
	}
	return s.server.decide("to", s.attempt)
}

func (s *session) Data(r io.Reader) error {
	if err := s.server.decide("begin", s.attempt); errors.Is(err, errDrop) {
		_, _ = io.CopyN(io.Discard, r, 100)
		return s.conn.Conn().Close()
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if err := s.server.decide("data", s.attempt); err != nil {
		return err
	}
	s.mail.Data = string(text)
	s.server.mu.Lock()
	s.server.received = append(s.server.received, s.mail)
	s.server.mu.Unlock()
	if err := s.server.decide("taken", s.attempt); errors.Is(err, errDrop) {
		return s.conn.Conn().Close()
	}
	return nil
}

func (s *session) Reset()        {}
func (s *session) Logout() error { return nil }
