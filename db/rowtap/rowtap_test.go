package rowtap_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"simgraph/db/rowtap"
)

const (
	startup      = "\x00\x00\x00\x08\x00\x03\x00\x00"
	encryption   = "\x00\x00\x00\x08\x04\xd2\x16\x2f"
	bindComplete = "2\x00\x00\x00\x04"
	ready        = "Z\x00\x00\x00\x05I"
)

// network is the other end: what it sends comes in pieces of any size.
type network struct {
	net.Conn
	sends  []byte
	pieces *rand.Rand
}

func (n *network) Write(b []byte) (int, error) { return len(b), nil }

func (n *network) Read(b []byte) (int, error) {
	if len(n.sends) == 0 {
		return 0, io.EOF
	}
	size := min(len(b), len(n.sends), 1+n.pieces.IntN(20_000))
	if n.pieces.IntN(3) == 0 {
		size = min(size, 1+n.pieces.IntN(8))
	}
	copy(b, n.sends[:size])
	n.sends = n.sends[size:]
	return size, nil
}

// connected returns a connection over which a server sends, after what it says
// when it is ready for the first time.
func connected(t *testing.T, seed uint64, sends string) (*rowtap.Conn, *network) {
	t.Helper()
	server := &network{sends: []byte(ready), pieces: rand.New(rand.NewPCG(seed, 0))}
	ctx, made := rowtap.Last(t.Context())
	_, err := (&rowtap.Dialer{Inner: dialing{server}}).DialContext(ctx, "", "")
	must(t, err)
	_, err = (*made).Write([]byte(startup))
	must(t, err)
	_, err = io.ReadFull(*made, make([]byte, len(ready)))
	must(t, err)
	server.sends = append(server.sends, sends...)
	return *made, server
}

type dialing struct{ to net.Conn }

func (d dialing) DialContext(context.Context, string, string) (net.Conn, error) { return d.to, nil }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func message(letter byte, body string) string {
	return string(binary.BigEndian.AppendUint32([]byte{letter}, uint32(len(body)+4))) + body
}

// row is a message of columns; nil is NULL.
func row(columns ...[]byte) string {
	b := binary.BigEndian.AppendUint16(nil, uint16(len(columns)))
	for _, c := range columns {
		if c == nil {
			b = append(b, 0xff, 0xff, 0xff, 0xff)
			continue
		}
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(c))), c...)
	}
	return message('D', string(b))
}

// columns reads the row and keeps what is in it.
func columns(r rowtap.Row, n int) [][]byte {
	values := make([][]byte, n)
	for i := range values {
		if value := r.Next(); value != nil {
			values[i] = append([]byte{}, value...)
		}
	}
	return values
}

func TestOnlyRowsAreTakenOutHoweverTheAnswerComes(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		random := rand.New(rand.NewPCG(seed, 1))
		var sent, others strings.Builder
		var rows [][][]byte
		other := func(text string) {
			sent.WriteString(text)
			others.WriteString(text)
		}
		other(bindComplete)
		for range random.IntN(400) {
			switch random.IntN(20) {
			case 0:
				other(message('N', strings.Repeat("notice\x00", random.IntN(2000)))) // may be larger than what lib/pq reads at once
			case 1:
				other(message('S', "application_name\x00test\x00"))
			default:
				values := [][]byte{[]byte(ready), nil, {}}
				values[random.IntN(3)] = bytes.Repeat([]byte("D"), random.IntN(5)*random.IntN(300))
				if random.IntN(100) == 0 {
					values[0] = bytes.Repeat([]byte("large"), 50_000)
				}
				rows = append(rows, values)
				sent.WriteString(row(values...))
			}
		}
		other(message('C', "SELECT 1\x00"))
		other(ready)
		conn, _ := connected(t, seed, sent.String())
		var got [][][]byte
		if !conn.Tap(3, func(r rowtap.Row) error {
			got = append(got, columns(r, 3))
			return nil
		}) {
			t.Fatal("cannot be tapped")
		}
		passed := make([]byte, others.Len())
		for read := 0; read < len(passed); {
			n, err := conn.Read(passed[read:min(len(passed), read+1+random.IntN(5000))])
			must(t, err)
			read += n
		}
		conn.Untap()
		if string(passed) != others.String() {
			t.Fatalf("seed %d: what is left differs", seed)
		}
		if len(got) != len(rows) {
			t.Fatalf("seed %d: %d rows of %d", seed, len(got), len(rows))
		}
		for i := range rows {
			for j, want := range rows[i] {
				if (got[i][j] == nil) != (want == nil) || !bytes.Equal(got[i][j], want) {
					t.Fatalf("seed %d: row %d, column %d: got %.20q, want %.20q", seed, i, j, got[i][j], want)
				}
			}
		}
		if !conn.Tap(3, nil) {
			t.Fatalf("seed %d: cannot be tapped again", seed)
		}
	}
}

func TestWhatIsNotTappedIsLeftAlone(t *testing.T) {
	t.Parallel()
	const answer = "rows of any kind: " + ready + "D\x00\x00\x00\xff"
	for seed := range uint64(20) {
		conn, _ := connected(t, seed, answer)
		got, err := io.ReadAll(conn)
		must(t, err)
		if string(got) != answer {
			t.Fatalf("got %q", got)
		}
	}
}

func TestBetweenTwoAnswersOnly(t *testing.T) {
	t.Parallel()
	// A message came after the answer that lib/pq has not read yet.
	conn, server := connected(t, 1, bindComplete+ready+message('N', "shutting down\x00"))
	server.pieces = rand.New(rand.NewPCG(1, 1))
	if !conn.Tap(1, nil) {
		t.Fatal("cannot be tapped")
	}
	_, err := io.ReadFull(conn, make([]byte, len(bindComplete+ready)))
	must(t, err)
	conn.Untap()
	part := make([]byte, 7)
	_, err = io.ReadFull(conn, part)
	must(t, err)
	if conn.Tap(1, nil) {
		t.Error("tapped within a message")
	}
	rest, err := io.ReadAll(conn)
	must(t, err)
	if got := string(part) + string(rest); got != message('N', "shutting down\x00") {
		t.Errorf("got %q", got)
	}
}

func TestWhatIsEncryptedIsNotTapped(t *testing.T) {
	t.Parallel()
	server := &network{sends: []byte(ready), pieces: rand.New(rand.NewPCG(1, 1))}
	conn := &rowtap.Conn{Conn: server}
	if conn.Tap(1, nil) {
		t.Error("tapped before anything was sent")
	}
	_, err := conn.Write([]byte(encryption))
	must(t, err)
	_, err = conn.Write([]byte(startup)) // as TLS might happen to look
	must(t, err)
	_, err = io.ReadFull(conn, make([]byte, len(ready)))
	must(t, err)
	if conn.Tap(1, nil) {
		t.Error("tapped")
	}
}

func TestAMalformedRowEndsTheConnection(t *testing.T) {
	t.Parallel()
	for name, sent := range map[string]string{
		"too few columns":    row([]byte("one")),
		"too many columns":   row(nil, nil, nil),
		"cut short":          message('D', "\x00\x02\x00\x00\x00\x01x\x00\x00\x00\x05y"),
		"without its size":   message('D', "\x00\x02\x00\x00\x00\x01x\x00"),
		"more than columns":  message('D', "\x00\x02\xff\xff\xff\xff\xff\xff\xff\xffmore"),
		"empty":              message('D', ""),
		"of a negative size": "D\x00\x00\x00\x03",
	} {
		conn, _ := connected(t, 1, sent)
		if !conn.Tap(2, func(rowtap.Row) error { t.Error(name, "is a row"); return nil }) {
			t.Fatal("cannot be tapped")
		}
		_, err := conn.Read(make([]byte, 100))
		var gone *net.OpError // for which lib/pq gives up a connection
		if !errors.As(err, &gone) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestAnAnswerThatIsCutShortIsNoEnd(t *testing.T) {
	t.Parallel()
	whole := row([]byte("one"), []byte("two"))
	for size := range len(whole) {
		conn, _ := connected(t, uint64(size), whole[:size])
		conn.Tap(2, func(rowtap.Row) error { t.Errorf("a row of %d bytes", size); return nil })
		if n, err := conn.Read(make([]byte, 100)); n != 0 || !errors.Is(err, io.EOF) {
			t.Errorf("got %d bytes and %v", n, err)
		}
	}
}

func TestTheErrorOfWhoTakesRowsEndsTheConnection(t *testing.T) {
	t.Parallel()
	refused := errors.New("refused")
	conn, _ := connected(t, 1, row(nil)+ready)
	conn.Tap(1, func(rowtap.Row) error { return refused })
	if _, err := conn.Read(make([]byte, 100)); !errors.Is(err, refused) {
		t.Errorf("got %v", err)
	}
}

func TestAConnectionThatCannotBeMadeIsAnError(t *testing.T) {
	t.Parallel()
	dialer := &rowtap.Dialer{Inner: new(net.Dialer)}
	missing := t.TempDir() + "/socket"
	if _, err := dialer.Dial("unix", missing); err == nil {
		t.Error("connected")
	}
	if _, err := dialer.DialTimeout("unix", missing, time.Second); err == nil {
		t.Error("connected")
	}
}

func TestNothingIsKeptOfALargeRow(t *testing.T) {
	t.Parallel()
	large := row(bytes.Repeat([]byte("x"), 1<<20)) + ready
	conn, _ := connected(t, 1, large)
	freed := make(chan struct{})
	if !conn.Tap(1, func(r rowtap.Row) error {
		runtime.AddCleanup(&r.Next()[0], func(struct{}) { close(freed) }, struct{}{})
		return nil
	}) {
		t.Fatal("cannot be tapped")
	}
	_, err := io.ReadFull(conn, make([]byte, len(ready)))
	must(t, err)
	conn.Untap()
	for {
		runtime.GC()
		select {
		case <-freed:
			runtime.KeepAlive(conn)
			return
		case <-t.Context().Done():
			t.Fatal("the memory is kept")
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func TestTheConnectionThatWasMadeBeforeIsClosed(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	ctx, last := rowtap.Last(t.Context())
	dialer := &rowtap.Dialer{Inner: new(net.Dialer)}
	for range 2 {
		_, err := dialer.DialContext(ctx, "tcp", listener.Addr().String())
		must(t, err)
	}
	defer (*last).Close()
	first, err := listener.Accept()
	must(t, err)
	defer first.Close()
	if _, err := first.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("got %v", err)
	}
}
