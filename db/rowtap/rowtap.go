// Package rowtap takes the rows of an answer off the network before lib/pq reads
// them: lib/pq puts each value into a box of its own, which costs more than all
// else that is done with a row. It goes on to speak the protocol. It sends
// statements and reads answers as ever, which only lack their rows while they
// are tapped.
//
// See https://www.postgresql.org/docs/current/protocol-message-formats.html.
package rowtap

import (
	"encoding/binary"
	"errors"
	"net"
	"slices"
)

// Conn is a connection to PostgreSQL whose rows can be tapped. It is used by one
// goroutine at a time, but for Close.
type Conn struct {
	net.Conn
	protocol protocol
	// unsent is why something could not be sent.
	unsent error
	// last is the end of what lib/pq has read.
	last [len(readyForQuery) + 1]byte
	// to takes rows, of so many columns; nil while they are lib/pq's.
	to      func(Row) error
	columns int
	// unread is read ahead, within buffer.
	unread, buffer []byte
	// passing is how much of the message that unread begins with is lib/pq's.
	passing int
}

// protocol is what is spoken, which what is sent first tells.
type protocol int

const (
	unknown protocol = iota
	// plain is PostgreSQL's, and not TLS around it.
	plain
	other
)

const (
	// minorVersion are the bits of the number of a version of the protocol that
	// tell 3.0 from 3.2.
	minorVersion = 16
	version3     = 3

	headerSize = 5 // a letter for the type of the message, and its size
	dataRow    = 'D'
	// readyForQuery is that message without the state of the transaction.
	readyForQuery = "Z\x00\x00\x00\x05"

	// readAhead holds what a server sends in one go several times over.
	readAhead = 32 << 10
	// largestKept bounds what a connection keeps after a large row.
	largestKept = 128 << 10
)

var errMalformed = errors.New("the server sent a malformed message")

// Write implements net.Conn.
func (c *Conn) Write(b []byte) (int, error) {
	if c.protocol == unknown {
		c.protocol = other
		if len(b) >= 8 && binary.BigEndian.Uint32(b[4:])>>minorVersion == version3 {
			c.protocol = plain
		}
	}
	n, err := c.Conn.Write(b)
	if err != nil {
		c.unsent = err
	}
	return n, err
}

// Unsent returns why something could not be sent, nil where all could be.
func (c *Conn) Unsent() error { return c.unsent }

// Tap has the rows that come from now on go to a function, until Untap; they
// have so many columns, and are only valid until it returns. Its error ends the
// connection. Rows are not tapped, and the result is false, when the connection
// does not speak plainly, or is not between two answers.
func (c *Conn) Tap(columns int, to func(Row) error) bool {
	if c.protocol != plain || len(c.unread) > 0 || string(c.last[:len(readyForQuery)]) != readyForQuery {
		return false
	}
	c.to, c.columns = to, columns
	return true
}

// Untap leaves rows to lib/pq again.
func (c *Conn) Untap() {
	c.to, c.passing = nil, 0
	if len(c.unread) == 0 && cap(c.buffer) > largestKept {
		c.buffer, c.unread = nil, nil
	}
}

// Read implements net.Conn. Of an answer that is tapped it returns what is left
// without the rows.
func (c *Conn) Read(b []byte) (n int, err error) {
	switch {
	case c.to == nil && len(c.unread) > 0:
		n = copy(b, c.unread)
		c.unread = c.unread[n:]
	case c.to == nil:
		n, err = c.Conn.Read(b)
	default:
		n, err = c.readTapped(b)
	}
	c.remember(b[:n])
	return n, err
}

// remember keeps the end of what was read.
func (c *Conn) remember(read []byte) {
	read = read[max(0, len(read)-len(c.last)):]
	kept := copy(c.last[:], c.last[len(read):])
	copy(c.last[kept:], read)
}

func (c *Conn) readTapped(b []byte) (int, error) {
	for c.passing == 0 {
		message, err := c.message()
		if err != nil {
			return 0, err
		}
		if message[0] != dataRow {
			c.passing = len(message)
			break
		}
		row, err := rowOf(message[headerSize:], c.columns)
		if err == nil {
			err = c.to(row)
		}
		if err != nil {
			return 0, &net.OpError{Op: "read", Net: "postgres", Err: err}
		}
		c.unread = c.unread[len(message):]
	}
	n := copy(b, c.unread[:c.passing])
	c.unread, c.passing = c.unread[n:], c.passing-n
	return n, nil
}

// message waits for the next message and returns it, which is only read then.
func (c *Conn) message() ([]byte, error) {
	if err := c.fill(headerSize); err != nil {
		return nil, err
	}
	size := int(binary.BigEndian.Uint32(c.unread[1:])) + 1 // of all but the letter
	if size < headerSize {
		return nil, &net.OpError{Op: "read", Net: "postgres", Err: errMalformed}
	}
	err := c.fill(size)
	return c.unread[:min(size, len(c.unread))], err
}

// fill reads until unread has that many bytes.
func (c *Conn) fill(size int) error {
	for len(c.unread) < size {
		if len(c.unread) == 0 || cap(c.unread) < max(size, readAhead/4) {
			c.buffer = slices.Grow(c.buffer[:0], max(size, readAhead))
			c.unread = append(c.buffer, c.unread...)
		}
		n, err := c.Conn.Read(c.unread[len(c.unread):cap(c.unread)])
		c.unread = c.unread[:len(c.unread)+n]
		if err != nil {
			return err
		}
	}
	return nil
}
