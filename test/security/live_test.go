package security

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"simgraph/domain"
	"simgraph/domain/bulk"
)

// follow subscribes over server-sent events; what comes is written to the
// channel, event by event.
func (w *world) follow(t *testing.T, token, subscription string) <-chan string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	events := make(chan string, 1000)
	body, _ := json.Marshal(map[string]string{"query": "subscription {" + subscription + "}"})
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "/graphql", strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.handler.ServeHTTP(&eventWriter{header: http.Header{}, events: events}, r)
	}()
	t.Cleanup(func() { cancel(); <-done })
	return events
}

// eventWriter hands on what a stream writes.
type eventWriter struct {
	header http.Header
	events chan<- string
}

func (e *eventWriter) Header() http.Header              { return e.header }
func (e *eventWriter) WriteHeader(int)                  {}
func (e *eventWriter) Flush()                           {}
func (e *eventWriter) SetWriteDeadline(time.Time) error { return nil }
func (e *eventWriter) Write(text []byte) (int, error) {
	e.events <- string(text)
	return len(text), nil
}

// await waits for an event with the text and returns all that came until then.
func await(t *testing.T, events <-chan string, text string, again func()) string {
	t.Helper()
	var all strings.Builder
	deadline := time.After(time.Minute)
	for {
		again()
		select {
		case event := <-events:
			all.WriteString(event)
		case <-time.After(200 * time.Millisecond):
		case <-deadline:
			t.Fatalf("%q never came: %s", text, all.String())
		}
		if strings.Contains(all.String(), text) {
			return all.String()
		}
	}
}

// happen has the part use data, get a nickname, and exceed an alert.
func (w *world) happen(t *testing.T, p part, n int) {
	t.Helper()
	scope := domain.Whole(w.company(t, p.company))
	at := clock().Add(-time.Minute)
	_, err := w.usage.Record(t.Context(), scope, []domain.UsageRecord{{
		RecordID: fmt.Sprintf("%s-live-%d", p.mark, n), Source: p.source(), PhysicalID: p.physicalID(1), StartedAt: at, EndedAt: at, MobileOriginated: 1, Protocol: "TCP",
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.ports.Subscribers.EditNickname(t.Context(), scope, p.physicalID(1), fmt.Sprintf("%s-live-%d", p.mark, n)); err != nil {
		t.Fatal(err)
	}
	w.operate(t, p, p.operates(), bulk.Start{Change: bulk.Change{IsBarred: new(false)}, ValidateOnly: true})
	if _, err := w.ports.VolumeAlerts.Create(t.Context(), scope, domain.AlertSpec{
		RuleType: domain.RuleSIM, Target: p.subscriberID(1), LowerThreshold: int64(n), UpperThreshold: 1 << 60,
	}); err != nil {
		t.Fatal(err)
	}
}

// Whatever happens to others, a subscription sends the caller's own only.
func TestNothingOfOthersIsSentLive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	listening := make(chan error, 1)
	go func() { listening <- w.live.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-listening })
	v := walker{schema: w.schema, depth: 3, skip: companyOnly}
	for name, a := range attacks {
		for _, field := range visibleFields(w.schema.Subscription) {
			t.Run(name+" "+field.Name, func(t *testing.T) {
				events := w.follow(t, w.tokens[a.caller], field.Name+v.of(field.Type.Name(), nil))
				n := 0
				event := await(t, events, own.physicalID(1), func() {
					n++
					w.happen(t, a.hidden, n)
					w.happen(t, own, n)
				})
				got := answer{body: []byte(event)}
				if shown := got.shows(a.hidden, ""); len(shown) > 0 {
					t.Errorf("shows %q: %s", shown, event)
				}
			})
		}
	}
}

// To follow what another owns is refused like following what does not exist.
func TestForeignSubscribersCannotBeFollowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, a := range attacks {
		for _, field := range visibleFields(w.schema.Subscription) {
			for _, l := range w.leavesOf(t, field) {
				if l.rule != physicalID && l.rule != operationID {
					t.Errorf("%s takes %s: declare here how it is followed", field.Name, l.name())
				}
				refusal := func(p part) string {
					value := w.victim(t, p)[l.rule]
					given := asJSON(value)
					if l.isList {
						given = "[" + given + "]"
					}
					events := w.follow(t, w.tokens[a.caller], fmt.Sprintf(`%s(%s: %s) {__typename}`, field.Name, l.name(), given))
					return answer{body: []byte(await(t, events, "INVALID_PROPERTY", func() {}))}.comparable(fmt.Sprint(value))
				}
				if got, want := refusal(a.hidden), refusal(nobody); got != want {
					t.Errorf("%s %s: %s, not %s", name, field.Name, got, want)
				}
			}
		}
	}
}

// An event names a field that may not be seen with its whole path.
func TestWhatIsForbiddenWithinAnEventIsNamedFromItsRoot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	listening := make(chan error, 1)
	go func() { listening <- w.live.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-listening })
	events := w.follow(t, w.tokenWithout(t, domain.ViewStatisticsOverview), "changed: subscriberChanged { physicalId usage { totals { total } } }")
	n := 0
	event := await(t, events, "FORBIDDEN", func() { n++; w.happen(t, own, n) })
	if !strings.Contains(event, `"path":["changed","usage"`) {
		t.Error(event)
	}
}
