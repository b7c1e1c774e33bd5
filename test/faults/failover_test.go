//go:build linux

package faults_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lib/pq"

	"simgraph/db/dbtest"
)

// failing is a server of which the address names a primary and its standby, under load.
type failing struct {
	*node
	pair  *dbtest.Pair
	fleet []string
	ended chan struct{}
	all   sync.WaitGroup
	next  atomic.Int64

	mu sync.Mutex
	// acked are the records that were acknowledged.
	acked []string
	// refused counts the answers by status and code; wrong are those that no failover
	// explains.
	refused map[string]int
	wrong   []string
}

// write sends a record until the load ends.
func (f *failing) write(client *http.Client) {
	for {
		select {
		case <-f.ended:
			return
		default:
		}
		id := int(f.next.Add(1))
		got, err := f.roundTrip(client, f.url(""), http.MethodPost, "/usage/records", usageLine("pgw", id, f.fleet[id%len(f.fleet)]))
		if err != nil {
			continue // the load ends
		}
		// A commit of which the answer was lost is tried again by the server: that finds its record.
		stored := strings.Contains(string(got.body), `"accepted"`) || strings.Contains(string(got.body), `"duplicate"`)
		f.note(got, stored, fmt.Sprint(id))
	}
}

// read asks both endpoints until the load ends.
func (f *failing) read(client *http.Client) {
	for {
		select {
		case <-f.ended:
			return
		default:
		}
		if got, err := f.roundTrip(client, f.url(""), http.MethodGet, "/subscribers?limit=1", ""); err == nil {
			f.note(got, got.status == http.StatusOK, "")
		}
		if got, err := f.roundTrip(client, f.url(""), http.MethodPost, "/graphql", document(`{subscribers(first: 1) {nodes {physicalId}}}`)); err == nil {
			f.note(got, got.status == http.StatusOK && !strings.Contains(string(got.body), `"errors"`), "")
		}
	}
}

// note keeps an answer. What failed has to be UNAVAILABLE, of which 503 says when to try again.
func (f *failing) note(got answer, succeeded bool, record string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch text := string(got.body); {
	case succeeded && record != "":
		f.acked = append(f.acked, record)
	case succeeded:
	case !strings.Contains(text, "UNAVAILABLE"), got.status != http.StatusOK && (got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == ""):
		f.wrong = append(f.wrong, fmt.Sprintf("%d %.300s", got.status, text))
	default:
		f.refused[fmt.Sprint(got.status)]++
		time.Sleep(10 * time.Millisecond) // as those who are told to wait
	}
}

func (f *failing) acknowledged() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.acked)
}

// flows waits until so many more records are acknowledged.
func (f *failing) flows(records int) {
	f.Helper()
	goal := f.acknowledged() + records
	eventually(f.T, fmt.Sprintf("%d more records are acknowledged", records), func() bool { return f.acknowledged() >= goal })
}

// The address names both servers, and a session has to be able to write. The primary dies
// under load: until the standby is promoted requests are refused as UNAVAILABLE, and then
// the same process goes on, with every record that was acknowledged.
func TestWritesGoOnAfterTheStandbyIsPromoted(t *testing.T) {
	t.Parallel()
	pair := dbtest.NewPair(t)
	pair.Synchronize()
	f := &failing{node: startNode(t, pair.Both("read-write")), pair: pair, ended: make(chan struct{}), refused: map[string]int{}}
	f.fleet = f.node.fleet(20)
	events := (&fedNode{node: f.node}).follow(f.fleet[0])
	for range 4 {
		f.all.Go(func() { f.write(client(t)) })
	}
	f.all.Go(func() { f.read(client(t)) })
	f.flows(200)
	pair.KillPrimary()
	killed := time.Now()
	eventually(t, "the server is unready and says why", func() bool {
		status, text := readiness(t, f.url(""))
		return status == http.StatusServiceUnavailable && strings.Contains(text, "no primary")
	})
	before := f.acknowledged()
	pair.Promote()
	promoted := time.Now()
	f.flows(200)
	t.Logf("the primary was away for %v; writes went on %v after the promotion", time.Since(killed), time.Since(promoted))
	if status, text := readiness(t, f.url("")); status != http.StatusOK || !strings.Contains(text, `"ready"`) {
		t.Errorf("%d %s", status, text)
	}
	f.goesOn(events)
	close(f.ended)
	f.all.Wait()
	f.checkFailover(before)
}

// reader returns the node as another user sees it, who writes nothing.
func (f *failing) reader() *node {
	f.Helper()
	other := *f.node
	other.token = strings.TrimSpace(run(f.T, "token", "--user", "analyst@demo.example", "--database-url", f.pair.Primary))
	return &other
}

// asks sends a read by both endpoints, and returns what was answered otherwise than in full.
func (n *node) asks(client *http.Client) (failures []string) {
	n.Helper()
	for _, one := range []struct{ method, path, body string }{
		{http.MethodGet, "/subscribers?limit=1", ""}, {http.MethodPost, "/graphql", document(`{subscribers(first: 1) {nodes {physicalId}} sources {totalCount}}`)},
	} {
		got, err := n.roundTrip(client, n.url(""), one.method, one.path, one.body)
		if err != nil || got.status != http.StatusOK || strings.Contains(string(got.body), `"errors"`) {
			failures = append(failures, fmt.Sprintf("%s %s: %d %.200s %v", one.method, one.path, got.status, got.body, err))
		}
	}
	return failures
}

// The address names both servers, and the standby takes reads too. While it is alone, those who wrote nothing read on, for longer than a caller is believed, and writes
// are refused; after the promotion both go on.
func TestReadsGoOnWhileThereIsNoPrimary(t *testing.T) {
	t.Parallel()
	pair := dbtest.NewPair(t)
	pair.Synchronize()
	f := &failing{node: startNode(t, pair.Both("read-write"), "--database-replica-url", pair.Standby, "--replica-max-lag", "2s"), pair: pair}
	f.fleet = f.node.fleet(2)
	known, unseen, own := f.reader(), f.reader(), client(t)
	f.rename()
	eventually(t, "the standby takes reads", func() bool { return len(known.asks(own)) == 0 && f.metric("simgraph_replica_used") == 1 })
	pair.KillPrimary()
	eventually(t, "the server is ready for reads and says so", func() bool {
		status, text := readiness(t, f.url(""))
		return status == http.StatusOK && strings.Contains(text, "ready for reads, which a standby answers; the database has no primary")
	})
	reads := 0
	for began := time.Now(); time.Since(began) < 10*time.Second; time.Sleep(20 * time.Millisecond) {
		for _, one := range []*node{known, unseen} {
			if failures := one.asks(own); len(failures) > 0 {
				t.Fatalf("%v after the primary: %s", time.Since(began), failures)
			}
			reads++
		}
	}
	f.refuses(own)
	pair.Promote()
	eventually(t, "writes go on", func() bool {
		got, err := f.roundTrip(own, f.url(""), http.MethodPost, "/usage/records", usageLine("pgw", 1, f.fleet[0]))
		return err == nil && strings.Contains(string(got.body), `"accepted"`)
	})
	if failures := known.asks(own); len(failures) > 0 {
		t.Errorf("after the promotion: %s", failures)
	}
	if status, text := readiness(t, f.url("")); status != http.StatusOK || !strings.Contains(text, `"ready"`) {
		t.Errorf("%d %s", status, text)
	}
	t.Logf("%d reads were answered without a primary", reads)
}

// refuses sends what needs the primary: a write, and a token that the standby may not have yet.
func (f *failing) refuses(own *http.Client) {
	f.Helper()
	stranger := *f.node
	stranger.token = f.token[:len(f.token)-4] + "AAAA"
	for who, by := range map[string]*node{"a write": f.node, "a token that the standby does not know": &stranger} {
		got, err := by.roundTrip(own, f.url(""), http.MethodPost, "/usage/records", usageLine("pgw", 1, f.fleet[0]))
		if err != nil || got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" {
			f.Errorf("%s: %d %s, %v", who, got.status, got.body, err)
		}
	}
}

// goesOn changes a subscriber until those who follow it see that, also after events were
// missed: their stream ends with the old primary, and they subscribe again.
func (f *failing) goesOn(events <-chan networkState) {
	f.Helper()
	eventually(f.T, "the events of before have ended or go on", func() bool {
		f.rename()
		select {
		case <-events:
			return true
		default:
			return false
		}
	})
	again := (&fedNode{node: f.node}).follow(f.fleet[0])
	eventually(f.T, "events come from the new primary", func() bool {
		f.rename()
		select {
		case _, open := <-again:
			return open
		case <-time.After(time.Second):
			return false
		}
	})
}

func (f *failing) rename() {
	f.Helper()
	var data any
	f.graph(fmt.Sprintf(`mutation {editSubscriber(input: {physicalId: %q, nickname: %q}) {subscriber {physicalId}}}`, f.fleet[0], time.Now().Format(time.RFC3339Nano)), &data)
}

func (f *failing) checkFailover(before int) {
	f.Helper()
	select {
	case <-f.exited:
		f.Error("the process has ended")
	default:
	}
	if len(f.wrong) > 0 {
		f.Errorf("%d answers that no failover explains: %s", len(f.wrong), f.wrong[:min(3, len(f.wrong))])
	}
	if f.refused["503"] == 0 || len(f.acked) <= before {
		f.Errorf("refused: %v; %d records acknowledged, %d before the promotion", f.refused, len(f.acked), before)
	}
	var stored int
	if err := open(f.T, f.pair.Standby).Get(&stored, `SELECT count(DISTINCT record_id) FROM usage_records WHERE source = 'pgw' AND record_id = ANY($1)`, pq.StringArray(f.acked)); err != nil || stored != len(f.acked) {
		f.Errorf("%d of %d acknowledged records are in the ledger, %v", stored, len(f.acked), err)
	}
	f.Logf("%d records acknowledged, refused by status: %v", len(f.acked), f.refused)
}
