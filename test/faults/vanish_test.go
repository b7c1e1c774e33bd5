//go:build linux

package faults_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/jmoiron/sqlx"

	"simgraph/db/dbtest"
	"simgraph/internal/fatal"
)

// working counts the statements of the server that PostgreSQL runs at this
// moment, or that wait there.
func working(t *testing.T, pool *sqlx.DB) int {
	t.Helper()
	return workingOn(t, pool, "")
}

// workingOn counts those that contain a text: workers may have others, which wait as well.
func workingOn(t *testing.T, pool *sqlx.DB, text string) (n int) {
	t.Helper()
	const query = `
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'simgraph' AND state <> 'idle' AND query NOT LIKE 'LOCK%'
  AND strpos(query, $1) > 0`
	fatal.If(t, pool.Get(&n, query, text))
	return n
}

// hold keeps every statement on subscribers waiting until release.
func hold(t *testing.T, pool *sqlx.DB) (release func()) {
	t.Helper()
	tx, err := pool.Beginx()
	fatal.If(t, err)
	tx.MustExec(`LOCK TABLE subscribers IN ACCESS EXCLUSIVE MODE`)
	return func() { _ = tx.Rollback() }
}

// dial opens a connection whose receive buffer is as small as can be.
func (n *node) dial() *net.TCPConn {
	n.Helper()
	conn, err := net.Dial("tcp", n.addr)
	fatal.If(n, err)
	n.Cleanup(func() { _ = conn.Close() })
	tcp := conn.(*net.TCPConn)
	_ = tcp.SetReadBuffer(4096)
	return tcp
}

// request is the bytes of a request.
func (n *node) request(method, path, body string) string {
	return fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		method, path, n.addr, n.token, len(body), body)
}

// socket opens a WebSocket and waits until it may be used.
func (n *node) socket(ctx context.Context, options *websocket.DialOptions) (*websocket.Conn, error) {
	options.Subprotocols = []string{"graphql-transport-ws"}
	conn, _, err := websocket.Dial(ctx, n.url("/graphql"), options)
	if err != nil {
		return nil, err
	}
	conn.SetReadLimit(1 << 20)
	if err := conn.Write(ctx, websocket.MessageText, []byte(`{"type":"connection_init","payload":{"Authorization":"Bearer `+n.token+`"}}`)); err != nil {
		return conn, err
	}
	_, text, err := conn.Read(ctx)
	if err == nil && !bytes.Contains(text, []byte("connection_ack")) {
		err = fmt.Errorf("got %s", text)
	}
	return conn, err
}

// subscribe begins an operation on a WebSocket.
func subscribe(ctx context.Context, conn *websocket.Conn, query string) error {
	return conn.Write(ctx, websocket.MessageText, []byte(`{"type":"subscribe","id":"1","payload":`+document(query)+`}`))
}

func TestStatementsOfClientsThatVanishAreCancelled(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	n := startNode(t, url, "--max-conns", "16", "--mail-wait", "1h") // mail reads of subscribers too
	pool := open(t, url)
	subscriber := n.fleet(1)[0]
	stream := usageLine("vanished", 1, subscriber)
	requests := []string{
		n.request("POST", "/graphql", document(`{subscribers(first: 100) {nodes {physicalId tags {name}}}}`)),
		n.request("POST", "/graphql", document(`mutation {editSubscriber(input: {physicalId: "`+subscriber+`", nickname: "vanished"}) {subscriber {nickname}}}`)),
		n.request("GET", "/subscribers?limit=100", ""),
		strings.Replace(n.request("POST", "/usage/records", stream), fmt.Sprint("Content-Length: ", len(stream)), fmt.Sprint("Content-Length: ", len(stream)+1000), 1),
	}
	release := hold(t, pool)
	defer release()
	var conns []*net.TCPConn
	const each = 3
	for range each {
		for _, request := range requests {
			conn := n.dial()
			if _, err := io.WriteString(conn, request); err != nil {
				t.Fatal(err)
			}
			conns = append(conns, conn)
		}
	}
	socket, err := n.socket(t.Context(), &websocket.DialOptions{})
	fatal.If(t, err)
	fatal.If(t, subscribe(t.Context(), socket, `{subscribers(first: 10) {nodes {physicalId}}}`))
	eventually(t, "statements wait", func() bool { return working(t, pool) >= 2*each+1 })
	most := working(t, pool)
	for i, conn := range conns {
		if i%2 == 0 {
			_ = conn.SetLinger(0) // with a reset rather than a farewell
		}
		_ = conn.Close()
	}
	_ = socket.CloseNow()
	eventually(t, "no statement is left, while what they wait for is still held", func() bool { return working(t, pool) == 0 })
	eventually(t, "connections are back in the pool", func() bool { return n.metric("go_sql_in_use_connections", `"requests"`) == 0 })
	release()
	var changed int
	fatal.If(t, pool.Get(&changed, `SELECT (SELECT count(*) FROM subscribers WHERE nickname = 'vanished') + (SELECT count(*) FROM usage_records WHERE source = 'vanished')`))
	n.fleet(10)
	t.Logf("clients that vanish: %d requests sent, %d statements waited, 0 left while the lock was held; %d of their writes in the database; answers go on", len(conns)+1, most, changed)
	if changed > 0 {
		t.Errorf("%d writes of cancelled statements are there", changed)
	}
}

func TestWhatAClientWasAnsweredIsBookedWhenItIsCutOffInItsStream(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	n := startNode(t, url)
	pool := open(t, url)
	fleet := n.fleet(50)
	answered := 0
	for cut := range 8 {
		body, feed := io.Pipe()
		ctx, vanish := context.WithCancel(t.Context())
		r, _ := http.NewRequestWithContext(ctx, http.MethodPost, n.url("/usage/records"), body)
		r.Header.Set("Authorization", "Bearer "+n.token)
		go func() {
			for i := 0; ; i++ {
				if _, err := io.WriteString(feed, usageLine(fmt.Sprint("cut ", cut), i, fleet[i%len(fleet)])); err != nil {
					return
				}
			}
		}()
		response, err := client(t).Do(r)
		fatal.If(t, err)
		lines := bufio.NewScanner(response.Body)
		for got := 0; got < 100*(cut+1) && lines.Scan(); got++ {
			answered++
		}
		vanish()
		_ = body.Close()
		_ = response.Body.Close()
	}
	eventually(t, "streams end", func() bool { return working(t, pool) == 0 && n.metric("go_sql_in_use_connections", `"requests"`) == 0 })
	var booked, total int
	fatal.If(t, pool.Get(&booked, `SELECT count(*) FROM usage_records WHERE source LIKE 'cut %'`))
	fatal.If(t, pool.Get(&total, `SELECT count(DISTINCT (source, session_id)) FROM usage_records WHERE source LIKE 'cut %'`))
	t.Logf("streams cut in the middle: 8 cut, %d records answered, %d booked, each once", answered, booked)
	if booked < answered || booked != total {
		t.Errorf("%d answered, %d booked, %d different", answered, booked, total)
	}
}
