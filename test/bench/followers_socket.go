package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// followerSocket is a WebSocket with subscriptions. It reads frames by itself, since the
// clients of a hundred thousand messages a second are on the machine that is measured.
type followerSocket struct {
	conn net.Conn
	from *bufio.Reader

	mu sync.Mutex
	// late is how long after it was written each event came.
	late []time.Duration
	// ended is the first message that is no event.
	ended string
}

const handshake = "GET /graphql HTTP/1.1\r\nHost: bench\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
	"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n"

func dialFollowers(ctx context.Context, address, token string, subscriptions int) (*followerSocket, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", strings.TrimPrefix(address, "http://"))
	if err != nil {
		return nil, err
	}
	s := &followerSocket{conn: conn, from: bufio.NewReaderSize(conn, 64<<10)}
	if _, err := io.WriteString(conn, handshake); err != nil {
		return nil, err
	}
	answer, err := http.ReadResponse(s.from, nil) //nolint:bodyclose // a switch of protocols has none
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusSwitchingProtocols {
		return nil, fmt.Errorf("the handshake is answered by %s", answer.Status)
	}
	err = s.send(opText, `{"type":"connection_init","payload":{"Authorization":"Bearer `+token+`"}}`)
	if _, _, failed := s.frame(nil); err == nil {
		err = failed
	}
	for n := 0; n < subscriptions && err == nil; n++ {
		err = s.send(opText, fmt.Sprintf(`{"type":"subscribe","id":"%d","payload":{"query":%q}}`, n, followedEvent))
	}
	return s, err
}

func (s *followerSocket) close() { _ = s.conn.Close() }

func (s *followerSocket) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.late)
}

// end is why a subscription ended; "" where none has.
func (s *followerSocket) end() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

// What a frame holds, by RFC 6455, section 5.2.
const (
	opText = 1
	opPing = 9
	opPong = 10
)

// send writes a frame, masked by zeros.
func (s *followerSocket) send(kind byte, text string) error {
	frame := []byte{0x80 | kind, 0x80 | 126, byte(len(text) >> 8), byte(len(text)), 0, 0, 0, 0}
	if len(text) < 126 {
		frame = []byte{0x80 | kind, 0x80 | byte(len(text)), 0, 0, 0, 0}
	}
	_, err := s.conn.Write(append(frame, text...))
	return err
}

// frame reads one into the buffer, where it has room.
func (s *followerSocket) frame(into []byte) (kind byte, payload []byte, err error) {
	var head [10]byte
	if _, err := io.ReadFull(s.from, head[:2]); err != nil {
		return 0, nil, err
	}
	size := uint64(head[1])
	switch size {
	case 126:
		_, err = io.ReadFull(s.from, head[2:4])
		size = uint64(binary.BigEndian.Uint16(head[2:4]))
	case 127:
		_, err = io.ReadFull(s.from, head[2:10])
		size = binary.BigEndian.Uint64(head[2:10])
	}
	if err != nil || size > 1<<20 {
		return 0, nil, fmt.Errorf("a frame of %d bytes: %w", size, err)
	}
	if uint64(cap(into)) < size {
		into = make([]byte, size)
	}
	_, err = io.ReadFull(s.from, into[:size])
	return head[0] & 15, into[:size], err
}

var (
	eventMark = []byte(`"type":"next"`)
	whoseMark = []byte(`"physicalId":"8944`)
)

// read notes when events come, until the connection is closed.
func (s *followerSocket) read(sent []atomic.Int64) {
	buffer := make([]byte, 64<<10)
	for {
		kind, payload, err := s.frame(buffer)
		if err != nil {
			return
		}
		if kind == opPing {
			if s.send(opPong, string(payload)) != nil {
				return
			}
			continue
		}
		_, after, found := bytes.Cut(payload, whoseMark)
		if !bytes.Contains(payload, eventMark) || !found {
			s.mu.Lock()
			s.ended = string(payload)
			s.mu.Unlock()
			continue
		}
		n, _ := strconv.Atoi(string(after[:15]))
		at := time.Duration(time.Now().UnixNano() - sent[n].Load())
		s.mu.Lock()
		s.late = append(s.late, at)
		s.mu.Unlock()
	}
}
