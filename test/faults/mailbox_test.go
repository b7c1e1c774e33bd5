//go:build linux

package faults_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	netmail "net/mail"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"simgraph/internal/fatal"
)

// mailbox is a mail server that keeps what it takes.
type mailbox struct {
	address string

	mu sync.Mutex
	// taken counts, for each recipient, how often a Message-ID came.
	taken map[string]map[string]int
}

func newMailbox(t *testing.T) *mailbox {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	fatal.If(t, err)
	m := &mailbox{taken: map[string]map[string]int{}}
	m.serve(t, listener)
	return m
}

// serve takes mails on the listener until the test ends.
func (m *mailbox) serve(t *testing.T, listener net.Listener) *smtp.Server {
	m.address = listener.Addr().String()
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &delivery{box: m}, nil }))
	server.Domain = "mx.test"
	server.ReadTimeout, server.WriteTimeout = 10*time.Second, 10*time.Second
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return server
}

// count is how often a mail came to a recipient.
func (m *mailbox) count(recipient, messageID string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.taken[recipient][messageID]
}

// mails is how many different mails came, and copies how many came again.
func (m *mailbox) mails() (different, copies int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, of := range m.taken {
		for _, n := range of {
			different++
			copies += n - 1
		}
	}
	return different, copies
}

// delivery is one SMTP session.
type delivery struct {
	box *mailbox
	to  string
}

func (d *delivery) Mail(string, *smtp.MailOptions) error      { return nil }
func (d *delivery) Rcpt(to string, _ *smtp.RcptOptions) error { d.to = to; return nil }
func (d *delivery) Reset()                                    {}
func (d *delivery) Logout() error                             { return nil }

func (d *delivery) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	message, err := netmail.ReadMessage(bytes.NewReader(text))
	if err != nil {
		return err
	}
	id := message.Header.Get("Message-ID")
	if id == "" {
		return errors.New("a mail without a Message-ID")
	}
	d.box.mu.Lock()
	defer d.box.mu.Unlock()
	if d.box.taken[d.to] == nil {
		d.box.taken[d.to] = map[string]int{}
	}
	d.box.taken[d.to][id]++
	return nil
}
