//go:build linux

package faults_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/jmoiron/sqlx"

	"simgraph/db/dbtest"
	"simgraph/db/pg"
	"simgraph/internal/fatal"
)

// traffic is constant load through a balancer, with a book of what was answered.
type traffic struct {
	*node
	base   string
	client *http.Client
	fleet  []string

	queries, mutations, records, lists atomic.Int64

	mu sync.Mutex
	// nicknames are the last that was acknowledged, by subscriber.
	nicknames map[string]string
	// recorded are the acknowledged records.
	recorded map[string]bool
	failures []string
}

func newTraffic(n *node, base string) *traffic {
	return &traffic{
		node: n, base: base, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}, fleet: n.fleet(40),
		nicknames: map[string]string{}, recorded: map[string]bool{},
	}
}

// run sends until ctx ends; requests that were sent are waited for.
func (f *traffic) run(ctx context.Context) {
	var senders sync.WaitGroup
	for worker, send := range []func(worker, i int){f.query, f.query, f.mutate, f.mutate, f.record, f.record, f.list} {
		senders.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				send(worker, i)
				time.Sleep(2 * time.Millisecond) // constant, not saturating
			}
		})
	}
	senders.Wait()
}

func (f *traffic) send(method, path, body string) []byte {
	got, err := f.roundTrip(f.client, f.base, method, path, body)
	if err == nil && got.status == http.StatusOK && !bytes.HasPrefix(got.body, []byte(`{"errors"`)) {
		return got.body
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failures = append(f.failures, fmt.Sprintf("%s %s: %d %.200s %v", method, path, got.status, got.body, err))
	return nil
}

func (f *traffic) query(_, i int) {
	if f.send("POST", "/graphql", document(fmt.Sprintf(`{subscriber(by: {physicalId: "%s"}) {nickname group {name} tags {name}}}`, f.fleet[i%len(f.fleet)]))) != nil {
		f.queries.Add(1)
	}
}

func (f *traffic) list(_, _ int) {
	if f.send("GET", "/subscribers?limit=20", "") != nil {
		f.lists.Add(1)
	}
}

// mutate renames subscribers that are the worker's own.
func (f *traffic) mutate(worker, i int) {
	subscriber, name := f.fleet[worker*5+i%5], fmt.Sprintf("name %d of %d", i, worker)
	if f.send("POST", "/graphql", document(fmt.Sprintf(
		`mutation {editSubscriber(input: {physicalId: "%s", nickname: "%s"}) {subscriber {nickname}}}`, subscriber, name))) == nil {
		return
	}
	f.mutations.Add(1)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.nicknames[subscriber] = name
}

// record sends a short stream of usage, and notes what each line reports.
func (f *traffic) record(worker, i int) {
	source := fmt.Sprintf("worker %d", worker)
	var stream strings.Builder
	for n := range 5 {
		stream.WriteString(usageLine(source, i*5+n, f.fleet[(i+n)%len(f.fleet)]))
	}
	body := f.send("POST", "/usage/records", stream.String())
	f.mu.Lock()
	defer f.mu.Unlock()
	for line := range bytes.Lines(body) {
		var result struct {
			Line   int
			Status string
		}
		if err := json.Unmarshal(line, &result); err != nil || result.Status != "accepted" {
			f.failures = append(f.failures, string(line))
			continue
		}
		f.records.Add(1)
		f.recorded[fmt.Sprintf("%s/%d", source, i*5+result.Line-1)] = true
	}
}

// lost lists what was acknowledged and is not in the database.
func (f *traffic) lost(pool *sqlx.DB) (lost []string) {
	f.Helper()
	var names []struct{ PhysicalID, Nickname string }
	fatal.If(f, pool.Select(&names, `SELECT physical_id, nickname FROM subscribers`))
	for _, row := range names {
		if want := f.nicknames[row.PhysicalID]; want != "" && row.Nickname != want {
			lost = append(lost, fmt.Sprintf("%s is named %q, not %q", row.PhysicalID, row.Nickname, want))
		}
	}
	var recorded []string
	fatal.If(f, pool.Select(&recorded, `SELECT DISTINCT source || '/' || substr(session_id, length(source) + 2) FROM usage_records WHERE source LIKE 'worker %'`))
	missing := maps.Clone(f.recorded)
	for _, key := range recorded {
		delete(missing, key)
	}
	for key := range missing {
		lost = append(lost, "the record "+key)
	}
	return lost
}

// follower is a client that follows changes, and comes back when the server demands it.
type follower struct {
	events, ends atomic.Int64
	failures     []string
}

func (f *follower) run(ctx context.Context, n *node, base string) {
	for ctx.Err() == nil {
		var closed websocket.CloseError
		err := f.follow(ctx, n, base)
		if ctx.Err() != nil {
			return
		}
		if errors.As(err, &closed) && closed.Code == websocket.StatusGoingAway && closed.Reason == "The server is shutting down" {
			f.ends.Add(1)
			continue
		}
		f.failures = append(f.failures, err.Error())
		return
	}
}

func (f *follower) follow(ctx context.Context, n *node, base string) error {
	conn, _, err := websocket.Dial(ctx, base+"/graphql", &websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}})
	if err != nil {
		return err
	}
	defer conn.CloseNow()
	conn.SetReadLimit(1 << 20)
	for _, message := range []string{
		`{"type":"connection_init","payload":{"Authorization":"Bearer ` + n.token + `"}}`,
		`{"type":"subscribe","id":"1","payload":{"query":"subscription {subscriberChanged {physicalId nickname}}"}}`,
	} {
		if err := conn.Write(ctx, websocket.MessageText, []byte(message)); err != nil {
			return err
		}
	}
	for {
		_, message, err := conn.Read(ctx)
		switch {
		case err != nil:
			return err
		case bytes.HasPrefix(message, []byte(`{"type":"next"`)):
			f.events.Add(1)
		case bytes.HasPrefix(message, []byte(`{"type":"connection_ack"`)):
		default:
			return fmt.Errorf("got %s", message)
		}
	}
}

func TestARollingRestartFailsNoRequest(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	flags := []string{"--drain-delay", "2s", "--max-conns", "4"}
	nodes := []*node{startNode(t, url, flags...), startNode(t, url, flags...)}
	b := newBalancer(t, nodes[0].addr, nodes[1].addr)
	load := newTraffic(nodes[0], b.URL)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { load.run(ctx) })
	followers := make([]follower, 4)
	for i := range followers {
		running.Go(func() { followers[i].run(ctx, nodes[0], b.URL) })
	}
	eventually(t, "events come", func() bool { return followers[0].events.Load() > 0 })
	var slowest time.Duration
	for turn := range 4 {
		i := turn % 2
		before := b.sent[1-i].Load()
		began := time.Now()
		nodes[i].signal(syscall.SIGTERM)
		if status := nodes[i].awaitExit(patience); status != 0 {
			t.Errorf("exit status %d: %s", status, nodes[i].stderr)
		}
		slowest = max(slowest, time.Since(began))
		eventually(t, "the other instance serves", func() bool { return b.sent[1-i].Load() > before+50 })
		seen := followers[0].events.Load()
		eventually(t, "subscriptions go on", func() bool { return followers[0].events.Load() > seen+10 })
		nodes[i].start()
		back := b.sent[i].Load()
		eventually(t, "the instance serves again", func() bool { return b.sent[i].Load() > back+50 })
	}
	stop()
	running.Wait()
	pool, err := pg.Open(t.Context(), url, pg.Options{})
	fatal.If(t, err)
	defer pool.Close()
	lost := load.lost(pool)
	var events, ends int64
	for i := range followers {
		events, ends = events+followers[i].events.Load(), ends+followers[i].ends.Load()
		for _, failure := range followers[i].failures {
			t.Errorf("a subscription: %s", failure)
		}
	}
	t.Logf("rolling restart: 4 restarts, slowest stop %v; acknowledged %d queries, %d mutations, %d records, %d lists; failed %d; lost %d; %d events, %d streams ended with 1001 and went on",
		slowest.Round(time.Millisecond), load.queries.Load(), load.mutations.Load(), load.records.Load(), load.lists.Load(), len(load.failures), len(lost), events, ends)
	if len(load.failures) > 0 || len(lost) > 0 || b.failed.Load() > 0 {
		t.Errorf("failed: %.400q, lost: %.400q, let go: %d", strings.Join(load.failures, "\n"), strings.Join(lost, "\n"), b.failed.Load())
	}
	if ends < 4 {
		t.Errorf("only %d streams ended", ends)
	}
}
