//go:build linux

package faults_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"simgraph/db/dbtest"
	"simgraph/internal/fatal"
)

// bystander sends small queries all the time, and notes how long they take.
type bystander struct {
	mu     sync.Mutex
	took   []time.Duration
	failed []string
	// usual is how long an answer takes at most without other load.
	usual time.Duration
}

// watching runs a bystander until stop, which returns the figures.
func (n *node) watching() (stop func() *bystander) {
	ctx, cancel := context.WithCancel(n.Context())
	done, own := make(chan struct{}), client(n.T)
	subscriber := n.fleet(1)[0]
	b := &bystander{usual: slowest(func() { n.fleet(1) })}
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			began := time.Now()
			got, err := n.roundTrip(own, n.url(""), "POST", "/graphql", document(`{subscriber(by: {physicalId: "`+subscriber+`"}) {nickname}}`))
			b.note(time.Since(began), got, err)
			time.Sleep(5 * time.Millisecond)
		}
	}()
	return func() *bystander { cancel(); <-done; return b }
}

func (b *bystander) note(took time.Duration, got answer, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err != nil || got.status != http.StatusOK {
		b.failed = append(b.failed, fmt.Sprintf("%d %.100s %v", got.status, got.body, err))
		return
	}
	b.took = append(b.took, took)
}

// quantile is how long the fastest share of answers took at most.
func (b *bystander) quantile(share float64) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.took) == 0 {
		return 0
	}
	slices.Sort(b.took)
	return b.took[int(share*float64(len(b.took)-1))]
}

func (b *bystander) String() string {
	return fmt.Sprintf("others had %d answers, p50 %v, p99 %v", len(b.took), b.quantile(0.5).Round(100*time.Microsecond), b.quantile(0.99).Round(100*time.Microsecond))
}

// heldUp is shorter than the deadlines that an answer would wait for that is
// held up.
const heldUp = 4 * time.Second

// fine demands that nobody else was harmed.
func (b *bystander) fine(t *testing.T) {
	t.Helper()
	if len(b.failed) > 0 || len(b.took) == 0 {
		t.Errorf("others failed: %d, %.3q", len(b.failed), b.failed)
	}
	if p99 := b.quantile(0.99); p99 > heldUp+baselines*b.usual {
		t.Errorf("others waited %v; without other load it takes %v", p99, b.usual)
	}
}

// cutOff waits until the server has closed a connection.
func cutOff(conn net.Conn, patience time.Duration) bool {
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	_, err := io.Copy(io.Discard, conn)
	timeout, is := err.(net.Error) //nolint:errorlint // as it comes from the connection
	return !is || !timeout.Timeout()
}

func TestReadersThatTakeNoAnswersAreCutOff(t *testing.T) {
	t.Parallel()
	n := startNode(t, dbtest.URL(t), "--request-timeout", "4s", "--statement-timeout", "3s")
	heap, goroutines := n.heap(), n.goroutines()
	stop := n.watching()
	const readers = 40
	var conns []*net.TCPConn
	list := n.request("GET", "/subscribers?limit=500", "")
	began := time.Now()
	for range readers {
		conn := n.dial()
		conns = append(conns, conn)
		go func() { _, _ = io.WriteString(conn, strings.Repeat(list, 200)) }()
	}
	var peak float64
	var ended atomic.Int64
	for _, conn := range conns {
		go func() {
			one := make([]byte, 1)
			for {
				if _, err := conn.Read(one); err != nil {
					ended.Add(1)
					return
				}
				time.Sleep(time.Second)
			}
		}()
	}
	eventually(t, "readers stall", func() bool {
		peak = max(peak, n.metric("go_memstats_heap_inuse_bytes"))
		return n.metric("simgraph_requests_in_flight", `door="rest"`) >= readers*3/4
	})
	eventually(t, "their connections are given up", func() bool {
		peak = max(peak, n.metric("go_memstats_heap_inuse_bytes"))
		return n.goroutines() < goroutines+10
	})
	took := time.Since(began)
	others := stop()
	for _, conn := range conns {
		_ = conn.Close()
	}
	eventually(t, "memory is back", func() bool { return n.heap() < heap+16<<20 })
	t.Logf("slow readers: %d clients requested %d lists of 500 and read 1 byte/s; all cut after %v; heap in use at most %.0f MB, %.0f MB live before, %.0f MB after; %v",
		readers, readers*200, took.Round(100*time.Millisecond), peak/(1<<20), heap/(1<<20), n.heap()/(1<<20), others)
	others.fine(t)
	if peak > 400<<20 {
		t.Errorf("the heap grew to %.0f MB", peak/(1<<20))
	}
}

func TestASubscriberThatReadsNothingIsCutOff(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	n := startNode(t, url)
	fleet := n.fleet(100)
	heap := n.heap()
	small := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return n.dial(), nil }}}
	var sockets []*websocket.Conn
	for range 5 {
		socket, err := n.socket(t.Context(), &websocket.DialOptions{HTTPClient: small})
		fatal.If(t, err)
		// Each event is some 10 kB.
		var fields strings.Builder
		for i := range 49 {
			fmt.Fprintf(&fields, " %s%d: nickname", strings.Repeat("long", 50), i)
		}
		fatal.If(t, subscribe(t.Context(), socket, "subscription {usageRecorded {bytes subscriber {physicalId "+fields.String()+"}}}"))
		sockets = append(sockets, socket)
	}
	stop := n.watching()
	sent := 0
	eventually(t, "the server has given up on them", func() bool {
		var lines strings.Builder
		for i := range 1000 {
			lines.WriteString(usageLine("flood", sent+i, fleet[i%len(fleet)]))
		}
		n.must("POST", "/usage/records", lines.String())
		sent += 1000
		return strings.Count(n.stderr.String(), "its client takes no messages") == len(sockets)
	})
	others := stop()
	eventually(t, "memory is back", func() bool { return n.heap() < heap+16<<20 })
	var booked int
	fatal.If(t, open(t, url).Get(&booked, `SELECT count(*) FROM usage_records WHERE source = 'flood'`))
	t.Logf("subscribers that read nothing: 5 sockets, %d records sent, %d booked, sockets cut with a line in the log; %.0f MB live before, %.0f MB after; %v",
		sent, booked, heap/(1<<20), n.heap()/(1<<20), others)
	others.fine(t)
	if booked != sent {
		t.Errorf("%d of %d records are booked", booked, sent)
	}
	for _, socket := range sockets {
		_ = socket.CloseNow()
	}
}

func TestRequestsThatComeByteByByteAreCutOff(t *testing.T) {
	t.Parallel()
	needFiles(t, 1000)
	n := startNode(t, dbtest.URL(t))
	goroutines := n.goroutines()
	stop := n.watching()
	const each = 150
	header := n.request("POST", "/graphql", strings.Repeat(" ", 500))
	body := header[:strings.Index(header, "\r\n\r\n")+4]
	var cut atomic.Int64
	var all sync.WaitGroup
	began := time.Now()
	for range each {
		all.Go(func() { // never through with the header
			if drip(n.dial(), header[:20], header[20:]) {
				cut.Add(1)
			}
		})
		all.Go(func() { // never through with the body
			if drip(n.dial(), body, strings.Repeat(" ", 500)) {
				cut.Add(1)
			}
		})
	}
	all.Wait()
	took := time.Since(began)
	others := stop()
	eventually(t, "their goroutines are gone", func() bool { return n.goroutines() < goroutines+10 })
	t.Logf("slow-loris: %d connections sent 4 bytes/s of a header or body; %d cut by the server, the last after %v; %v", 2*each, cut.Load(), took.Round(100*time.Millisecond), others)
	others.fine(t)
	if cut.Load() != 2*each {
		t.Errorf("%d of %d were cut", cut.Load(), 2*each)
	}
}

// drip sends the beginning at once and the rest byte by byte, until the server
// closes; false if it takes all.
func drip(conn *net.TCPConn, beginning, rest string) bool {
	if _, err := io.WriteString(conn, beginning); err != nil {
		return true
	}
	closed := make(chan bool, 1)
	go func() { closed <- cutOff(conn, patience) }()
	for i := range len(rest) {
		select {
		case cut := <-closed:
			return cut
		case <-time.After(250 * time.Millisecond):
		}
		if _, err := conn.Write([]byte{rest[i]}); err != nil {
			return true
		}
	}
	return false
}

// needFiles raises how many files the test may have open; the server that it
// starts inherits that.
func needFiles(t *testing.T, n uint64) {
	t.Helper()
	var limit syscall.Rlimit
	fatal.If(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	if limit.Cur >= n {
		return
	}
	limit.Cur = n
	limit.Max = max(limit.Max, n)
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Skipf("%d open files are not permitted here: %v", n, err)
	}
}
