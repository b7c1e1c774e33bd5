//go:build linux

package faults_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// record is a usage record as both endpoints take it.
type record struct {
	Source           string    `json:"source"`
	RecordID         string    `json:"recordId"`
	PhysicalID       string    `json:"physicalId"`
	SessionID        string    `json:"sessionId"`
	StartedAt        time.Time `json:"startedAt"`
	EndedAt          time.Time `json:"endedAt"`
	MobileOriginated int64     `json:"mobileOriginated"`
	MobileTerminated int64     `json:"mobileTerminated"`
	Protocol         string    `json:"protocol"`
	IPAddress        string    `json:"ipAddress"`
}

// load is what applications do all the time: send usage, change subscribers,
// and read. It remembers all that was sent, and what was acknowledged.
type load struct {
	*caller
	// age is how long ago the usage was: 0 for just now.
	age time.Duration

	mu      sync.Mutex
	records map[string]record
	acked   map[string]bool
	// bytes are those of the acknowledged records.
	bytes int64
	// tags and nicknames are those acknowledged, by subscriber.
	tags      map[string]string
	nicknames map[string]string

	number  atomic.Int64
	reads   atomic.Int64
	stop    context.CancelFunc
	running sync.WaitGroup
}

// newLoad makes a load on a simgraph that does nothing yet.
func newLoad(c *caller) *load {
	return &load{
		caller: c, records: map[string]record{}, acked: map[string]bool{},
		tags: map[string]string{}, nicknames: map[string]string{},
	}
}

// begin starts writers and readers.
func (l *load) begin(t *testing.T) {
	l.beginWith(t, l.stream, l.stream, l.mutate, l.mutate, l.tag, l.rename, l.readList, l.readUsage)
}

// beginWith starts a worker for each kind of work.
func (l *load) beginWith(t *testing.T, works ...func(context.Context, string) outcome) {
	ctx, cancel := context.WithCancel(t.Context())
	l.stop = cancel
	t.Cleanup(l.end)
	for worker, work := range works {
		l.running.Go(func() { l.repeat(ctx, fmt.Sprintf("w%d", worker), work) })
	}
}

// end stops them; what was sent and not acknowledged has been sent again until
// it was, unless the service did not answer any more.
func (l *load) end() {
	if l.stop != nil {
		l.stop()
	}
	l.running.Wait()
}

// include adds what another load has sent, which must have ended.
func (l *load) include(other *load) {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.Copy(l.records, other.records)
	maps.Copy(l.acked, other.acked)
	maps.Copy(l.tags, other.tags)
}

// pauseBetween keeps the load well below what the machine can do.
const pauseBetween = 15 * time.Millisecond

func (l *load) repeat(ctx context.Context, worker string, work func(context.Context, string) outcome) {
	for ctx.Err() == nil {
		pause := pauseBetween
		if work(context.WithoutCancel(ctx), worker) != done {
			pause = 100 * time.Millisecond
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// usage makes records up and notes them as sent.
func (l *load) usage(worker string, n int) []record {
	records := make([]record, n)
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range records {
		number := l.number.Add(1)
		ended := time.Now().Add(-l.age - time.Duration(rand.IntN(600))*time.Second).UTC().Truncate(time.Second)
		r := record{
			Source: "gateway-" + worker, RecordID: fmt.Sprintf("r-%d", number), PhysicalID: physicalID(rand.IntN(fleet)),
			SessionID: fmt.Sprintf("s-%d", number/7), StartedAt: ended.Add(-time.Minute), EndedAt: ended,
			MobileOriginated: rand.Int64N(1000), MobileTerminated: rand.Int64N(1000), Protocol: "TCP", IPAddress: "10.0.0.7",
		}
		records[i], l.records[r.RecordID] = r, r
	}
	return records
}

// ack notes that the service answered for a record.
func (l *load) ack(r record, status, reason string) {
	switch status {
	case "accepted", "duplicate", "ACCEPTED", "DUPLICATE":
	default:
		l.breaks("record %s of %v is %s: %s", r.RecordID, r.EndedAt, status, reason)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.acked[r.RecordID] {
		l.acked[r.RecordID] = true
		l.bytes += r.MobileOriginated + r.MobileTerminated
	}
}

// insist sends records until each is acknowledged, as a source does.
func (l *load) insist(ctx context.Context, records []record, send func(context.Context, []record) outcome) outcome {
	result := send(ctx, records)
	for deadline := time.Now().Add(2 * patience); result != done && time.Now().Before(deadline); {
		time.Sleep(100 * time.Millisecond)
		result = send(ctx, records)
	}
	return result
}

// stream sends records as NDJSON.
func (l *load) stream(ctx context.Context, worker string) outcome {
	return l.insist(ctx, l.usage(worker, 40), l.sendStream)
}

func (l *load) sendStream(ctx context.Context, records []record) outcome {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	for i := range records {
		_ = encoder.Encode(records[i]) // into memory: it cannot fail
	}
	answered := 0
	result := l.lines(ctx, body.Bytes(), func(line int, status, reason string) {
		l.ack(records[line-1], status, reason)
		answered++
	})
	if result == done && answered != len(records) {
		return l.breaks("%d records, %d answers", len(records), answered)
	}
	return result
}

// mutate sends records by the graph.
func (l *load) mutate(ctx context.Context, worker string) outcome {
	return l.insist(ctx, l.usage(worker, 3), l.sendMutation)
}

func (l *load) sendMutation(ctx context.Context, records []record) outcome {
	var answer struct {
		RecordUsage struct {
			Results []struct{ Status, Reason string }
		}
	}
	const mutation = `mutation ($records: [UsageRecordInput!]!) {recordUsage(input: {records: $records}) {results {status reason}}}`
	result := l.graph(ctx, mutation, map[string]any{"records": records}, &answer)
	for i, r := range answer.RecordUsage.Results {
		l.ack(records[i], r.Status, r.Reason)
	}
	return result
}

// tag puts a tag of its own on a subscriber.
func (l *load) tag(ctx context.Context, worker string) outcome {
	number := l.number.Add(1)
	name, id := fmt.Sprintf("%s-%d", worker, number), physicalID(int(number%fleet))
	var answer any
	const mutation = `mutation ($tag: String!, $ids: [String!]!) {attachTag(input: {tagName: $tag, physicalIds: $ids}) {__typename}}`
	result := l.graph(ctx, mutation, map[string]any{"tag": name, "ids": []string{id}}, &answer)
	if result == done {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.tags[name] = id
	}
	return result
}

// rename gives a subscriber another nickname, again until that is acknowledged.
func (l *load) rename(ctx context.Context, worker string) outcome {
	number := l.number.Add(1)
	name, id := fmt.Sprintf("%s-%d", worker, number), physicalID(int(number%fleet))
	return l.insist(ctx, nil, func(ctx context.Context, _ []record) outcome {
		var answer any
		const mutation = `mutation ($input: EditSubscriberInput!) {editSubscriber(input: $input) {__typename}}`
		result := l.graph(ctx, mutation, map[string]any{"input": map[string]any{"physicalId": id, "nickname": name}}, &answer)
		if result == done {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.nicknames[id] = name
		}
		return result
	})
}

// readList reads from a REST path a page of subscribers.
func (l *load) readList(ctx context.Context, _ string) outcome {
	var page struct {
		Content []struct{ PhysicalID string }
	}
	result := l.get(ctx, "/subscribers?limit=20", &page)
	if result == done && len(page.Content) != 20 {
		return l.breaks("20 subscribers were requested, %d came", len(page.Content))
	}
	l.reads.Add(1)
	return result
}

// readUsage requests the company's usage, which holds all that was acknowledged.
func (l *load) readUsage(ctx context.Context, _ string) outcome {
	l.mu.Lock()
	known := l.bytes
	l.mu.Unlock()
	var answer struct {
		Company struct {
			Usage struct {
				Totals struct{ Total json.Number }
			}
		}
	}
	now := time.Now().UTC()
	const query = `query ($start: DateTime, $end: DateTime) {company {usage(start: $start, end: $end) {totals {total}}}}`
	result := l.graph(ctx, query, map[string]any{"start": now.AddDate(0, 0, -7), "end": now.AddDate(0, 0, 2)}, &answer)
	l.reads.Add(1)
	if result != done {
		return result
	}
	if total, err := answer.Company.Usage.Totals.Total.Int64(); err != nil || total < known {
		return l.breaks("%d bytes were acknowledged, %v are reported", known, answer.Company.Usage.Totals.Total)
	}
	return done
}

// answers reports whether the service takes usage by both endpoints, and logs the result.
func (l *load) answers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return l.sendStream(ctx, l.usage("probe", 1)) == done && l.sendMutation(ctx, l.usage("probe", 1)) == done &&
		l.readList(ctx, "") == done && l.readUsage(ctx, "") == done
}
