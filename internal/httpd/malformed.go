package httpd

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"net"
	"strings"

	"simgraph/domain"
	"simgraph/internal/problem"
)

// malformedListener answers in JSON what package net/http refuses before any
// handler sees it, such as a malformed percent-encoding in a path: net/http writes
// a plain text to the connection, which is replaced there. Connections of TLS are
// not covered, since net/http needs them as they are.
type malformedListener struct{ net.Listener }

// Accept implements net.Listener.
func (l malformedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if tcp, ok := conn.(*net.TCPConn); ok {
		return malformedConn{tcp}, err
	}
	return conn, err
}

type malformedConn struct{ *net.TCPConn }

// Write replaces an answer of net/http itself.
func (c malformedConn) Write(b []byte) (int, error) {
	answer := inJSON(b)
	if answer == nil {
		return c.TCPConn.Write(b)
	}
	if _, err := c.TCPConn.Write(answer); err != nil {
		return 0, err
	}
	return len(b), nil
}

const (
	// plainHeader follows the status line of the answers of net/http itself. Those
	// of handlers have other headers first.
	plainHeader = "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"
	// plainLength is more than such an answer has.
	plainLength = 512
)

// inJSON returns an answer of net/http itself in the documented shape of errors,
// and nil for any other.
func inJSON(b []byte) []byte {
	if len(b) > plainLength || !bytes.HasPrefix(b, []byte("HTTP/1.1 ")) {
		return nil
	}
	line, text, found := bytes.Cut(b, []byte(plainHeader))
	if !found || bytes.Contains(line, []byte("\r\n")) {
		return nil
	}
	id := rand.Text()
	body := refusedRequest(string(text)).Body(id)
	return fmt.Appendf(nil, "%s\r\nCache-Control: no-store\r\nConnection: close\r\nContent-Length: %d\r\nContent-Type: application/json\r\n"+
		"X-Content-Type-Options: nosniff\r\n%s: %s\r\n\r\n%s", line, len(body), requestIDHeader, id, body)
}

// refusedRequest is the problem of a request that net/http refuses with the text,
// which begins with the status.
func refusedRequest(text string) *problem.Problem {
	_, reason, has := strings.Cut(text, ": ")
	switch {
	case strings.HasPrefix(text, "431"):
		return problem.New(problem.TooLarge, "", fmt.Sprintf("the header of a request may have at most %d bytes", headerBytes))
	case text == "Unsupported transfer encoding":
		return problem.New(problem.MediaType, "", "the transfer encoding is not supported")
	case !has:
		reason = "a percent-encoding, its first line or a header is wrong"
	}
	return problem.New(string(domain.KindInvalid), "", "the request is malformed: "+reason)
}
