//go:build linux

package faults_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/dbtest"
	"simgraph/internal/fatal"
)

const (
	// hookKills is how often the process that sends messages is killed.
	hookKills = 10
	// hookEdits is how many subscribers are edited around each kill.
	hookEdits = 3
)

// failures are what endpoints do with the first request of each message; all answer the
// later ones, except the one that is gone.
var failures = map[string]func(http.ResponseWriter, *http.Request){
	"well":  func(http.ResponseWriter, *http.Request) {},
	"error": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
	"hang":  func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	"redirect": func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	},
	"drop": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	"throttle": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusTooManyRequests)
	},
	goneForGood: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) },
}

const goneForGood = "gone"

// hooked are the messages that endpoints got.
type hooked struct {
	url string

	mu sync.Mutex
	// bodies are those of messages, by endpoint and id.
	bodies map[string]map[string]string
	// requests counts them, by endpoint.
	requests map[string]int
	// wrong are requests that break what is promised.
	wrong []string
}

func newHooked(t *testing.T) *hooked {
	t.Helper()
	h := &hooked{bodies: map[string]map[string]string{}, requests: map[string]int{}}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	h.url = server.URL
	return h
}

// ServeHTTP implements http.Handler.
func (h *hooked) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Path[1:]
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the sender was killed
	}
	if h.note(name, r.Header.Get("Webhook-Id"), string(body)) || name == goneForGood {
		failures[name](w, r)
	}
}

// note reports whether it is the first request of the message.
func (h *hooked) note(name, id, body string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.requests[name]++
	var event struct{ ID string }
	switch before, known := h.bodies[name][id]; {
	case failures[name] == nil:
		h.wrong = append(h.wrong, "a request to "+name)
	case json.Unmarshal([]byte(body), &event) != nil || id == "" || event.ID != id:
		h.wrong = append(h.wrong, fmt.Sprintf("%s: the id %q with %s", name, id, body))
	case known && before != body:
		h.wrong = append(h.wrong, fmt.Sprintf("%s: the id %s with %s, and with %s", name, id, before, body))
	case known:
		return false
	case h.bodies[name] == nil:
		h.bodies[name] = map[string]string{id: body}
		return true
	default:
		h.bodies[name][id] = body
		return true
	}
	return false
}

// count is how many requests an endpoint got.
func (h *hooked) count(name string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.requests[name]
}

// hooking are a server of the demo company, which can be killed, and endpoints of webhooks.
type hooking struct {
	*node
	*hooked
	pool *sqlx.DB

	mu sync.Mutex
	// edited are the subscribers whose edit was answered.
	edited map[string]bool
}

func newHooking(t *testing.T) *hooking {
	t.Helper()
	url := dbtest.URL(t)
	x := &hooking{node: startNode(t, url, "--webhook-allow-private", "--webhook-timeout", "1s", "--mail-wait", "1h"), hooked: newHooked(t), edited: map[string]bool{}}
	x.pool = open(t, url)
	for name := range failures {
		var made any
		x.graph(fmt.Sprintf(`mutation {createWebhook(input: {name: %q, url: %q, eventTypes: [SUBSCRIBER_CHANGED], scope: {all: true}}) {webhook {webhookId}}}`, name, x.hooked.url+"/"+name), &made)
	}
	return x
}

// edit changes a subscriber while the server may be killed.
func (x *hooking) edit(physicalID, nickname string) {
	query := fmt.Sprintf(`mutation {editSubscriber(input: {physicalId: %q, nickname: %q}) {subscriber {physicalId}}}`, physicalID, nickname)
	got, err := x.roundTrip(http.DefaultClient, x.node.url(""), http.MethodPost, "/graphql", document(query))
	if err != nil {
		return // there was no answer
	}
	var answer struct{ Errors []any }
	if err := json.Unmarshal(got.body, &answer); err != nil || got.status != http.StatusOK || len(answer.Errors) > 0 {
		x.Errorf("an edit: %d %.300s", got.status, got.body)
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.edited[physicalID] = true
}

// waiting is a message that is to be sent.
type waiting struct {
	MessageID string
	// IsFar is true when it is sent minutes from now.
	IsFar bool
}

// finish waits until all messages have come to their end, except those to the endpoint
// that is gone. What failed twice is due in minutes: it is replayed.
func (x *hooking) finish() {
	x.Helper()
	eventually(x.T, "all messages are delivered", func() bool {
		var queued []waiting
		const query = `
SELECT m.message_id, m.due_at > now() + make_interval(mins => 1) AS is_far
FROM webhook_messages m JOIN webhooks w USING (company_id, webhook_id)
WHERE m.state = 'queued' AND w.name <> $1`
		fatal.If(x, x.pool.SelectContext(x.Context(), &queued, query, goneForGood))
		for _, message := range queued {
			if message.IsFar {
				var replayed any
				x.graph(fmt.Sprintf(`mutation {replayWebhookDelivery(input: {deliveryId: %q}) {delivery {state}}}`, message.MessageID), &replayed)
			}
		}
		return len(queued) == 0
	})
}

// disabled are the endpoints that are disabled, with the reason.
func (x *hooking) disabled() map[string]string {
	x.Helper()
	var data struct {
		Webhooks struct {
			Nodes []struct{ Name, DisabledReason string }
		}
	}
	x.graph(`{webhooks(first: 100) {nodes {name disabledReason}}}`, &data)
	reasons := map[string]string{}
	for _, of := range data.Webhooks.Nodes {
		if of.DisabledReason != "" {
			reasons[of.Name] = of.DisabledReason
		}
	}
	return reasons
}

// made is how many messages to an endpoint the database has.
func (x *hooking) made(name string) (n int) {
	x.Helper()
	const query = `SELECT count(*) FROM webhook_messages m JOIN webhooks w USING (company_id, webhook_id) WHERE w.name = $1`
	fatal.If(x, x.pool.GetContext(x.Context(), &n, query, name))
	return n
}

// check compares what the database has with what an endpoint got.
func (x *hooking) check(name string) {
	x.Helper()
	var sent []struct{ MessageID, State string }
	const query = `
SELECT m.message_id, m.state FROM webhook_messages m JOIN webhooks w USING (company_id, webhook_id)
WHERE w.name = $1`
	fatal.If(x, x.pool.SelectContext(x.Context(), &sent, query, name))
	got, changed := x.bodies[name], map[string]bool{}
	for id, body := range got {
		var event struct {
			Data struct{ PhysicalIDs []string }
		}
		if err := json.Unmarshal([]byte(body), &event); err != nil {
			x.Errorf("%s: %s: %v", name, id, err)
		}
		for _, physicalID := range event.Data.PhysicalIDs {
			changed[physicalID] = true
		}
	}
	arrived := 0
	for _, message := range sent {
		if _, known := got[message.MessageID]; known {
			arrived++
		}
		if name != goneForGood && message.State != "delivered" {
			x.Errorf("%s: the message %s is %s", name, message.MessageID, message.State)
		}
	}
	if arrived != len(got) || arrived == 0 {
		x.Errorf("%s: %d messages arrived, of which the database has %d", name, len(got), arrived)
	}
	if name == goneForGood {
		return
	}
	if arrived != len(sent) {
		x.Errorf("%s: %d of %d messages arrived", name, arrived, len(sent))
	}
	for physicalID := range x.edited {
		if !changed[physicalID] {
			x.Errorf("%s: no message about %s", name, physicalID)
		}
	}
	if name != "well" && x.requests[name] < 2*arrived {
		x.Errorf("%s: %d requests for %d messages, each of which failed once", name, x.requests[name], arrived)
	}
}

// Each event reaches each endpoint at least once, under one id, whatever the endpoint
// answers at first, while the process that sends is killed again and again.
func TestMessagesOfWebhooksOutliveKills(t *testing.T) {
	t.Parallel()
	x := newHooking(t)
	fleet := x.fleet(hookKills*hookEdits + 1)
	if len(fleet) != hookKills*hookEdits+1 {
		t.Fatalf("%d subscribers", len(fleet))
	}
	last := fleet[hookKills*hookEdits]
	for kill := range hookKills {
		hung := x.count("hang")
		var editing sync.WaitGroup
		for _, physicalID := range fleet[kill*hookEdits:][:hookEdits] {
			editing.Go(func() { x.edit(physicalID, fmt.Sprintf("edited %d", kill)) })
		}
		if kill%2 == 0 { // amid the edits, or after them
			time.Sleep(time.Duration(rand.IntN(100)) * time.Millisecond)
		} else {
			editing.Wait()
			eventually(t, "a request hangs", func() bool { return x.count("hang") > hung })
		}
		x.kill()
		editing.Wait()
		x.start()
	}
	eventually(t, "the endpoint that is gone, and no other, is disabled", func() bool {
		return maps.Equal(x.disabled(), map[string]string{goneForGood: "GONE"})
	})
	made := x.made(goneForGood)
	x.edit(last, "edited at last")
	x.finish()
	if now := x.made(goneForGood); now != made || !x.edited[last] {
		t.Errorf("the endpoint that is disabled had %d messages, and has %d", made, now)
	}
	x.hooked.mu.Lock()
	defer x.hooked.mu.Unlock()
	for _, wrong := range x.wrong {
		t.Error(wrong)
	}
	for name := range failures {
		x.check(name)
		t.Logf("%s: %d messages in %d requests", name, len(x.bodies[name]), x.requests[name])
	}
	t.Logf("%d of %d edits were answered", len(x.edited), len(fleet))
}
