package webhook_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"simgraph/db"
	"simgraph/db/dbtest"
	hooks "simgraph/db/webhook"
	"simgraph/domain"
	"simgraph/domain/retention"
	"simgraph/domain/webhook"
	"simgraph/internal/fatal"
	"simgraph/internal/seal"
	sending "simgraph/internal/webhook"
)

func TestMain(m *testing.M) { dbtest.Main(m, db.Migrate) }

var scope = domain.Whole(1)

// fixture is a company with a webhook to a receiver.
type fixture struct {
	*testing.T
	store  *hooks.Store
	hook   *webhook.Endpoint
	secret webhook.Secret
	rules  webhook.Rules

	mu       sync.Mutex
	now      time.Time
	received []*http.Request
	bodies   []string
}

// newFixture answers by answer, which gets the number of the request from 1 on.
func newFixture(t *testing.T, format webhook.Format, answer func(n int, w http.ResponseWriter, r *http.Request)) *fixture {
	t.Helper()
	pool := dbtest.New(t)
	pool.MustExec(`
INSERT INTO company_lookup (external_id, company_id) OVERRIDING SYSTEM VALUE VALUES ('acme', 1);
INSERT INTO companies VALUES (1, 'acme', 'Acme', 1, 'UTC')`)
	f := &fixture{T: t, rules: webhook.Rules{AllowPrivate: true}, now: time.Now()}
	f.store = hooks.New(pool, hooks.Options{Key: func() (seal.Key, error) { return make([]byte, seal.KeySize), nil }, Rules: f.rules, Now: f.clock})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		f.mu.Lock()
		f.received, f.bodies = append(f.received, r), append(f.bodies, string(body))
		n := len(f.received)
		f.mu.Unlock()
		answer(n, w, r)
	}))
	t.Cleanup(server.Close)
	var err error
	f.hook, f.secret, err = f.store.Create(t.Context(), scope, webhook.Spec{
		Name: "hook", URL: server.URL + "/hook", Format: format, Filter: webhook.Filter{EventTypes: webhook.Types},
	})
	fatal.If(f, err)
	return f
}

func (f *fixture) clock() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

func (f *fixture) pass(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = f.now.Add(d)
}

// start runs a worker until the test ends.
func (f *fixture) start(timeout time.Duration) {
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	worker := sending.New(sending.Config{
		Outbox: f.store, Rules: f.rules, Now: f.clock, Every: 10 * time.Millisecond, Timeout: timeout, Log: slog.New(slog.NewTextHandler(f.Output(), nil)),
	})
	done.Go(func() { _ = worker.Run(ctx) })
	f.Cleanup(func() { cancel(); done.Wait() })
}

func (f *fixture) send() *webhook.Delivery {
	f.Helper()
	sent, err := f.store.SendTest(f.Context(), scope, f.hook.WebhookID)
	fatal.If(f, err)
	return sent
}

// until waits for the message to be as wanted.
func (f *fixture) until(id string, wanted func(*webhook.Delivery) bool) *webhook.Delivery {
	f.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		found, err := f.store.FindDeliveries(f.Context(), scope, []string{id})
		fatal.If(f, err)
		if of := found[id]; of != nil && wanted(of) {
			return of
		} else if time.Now().After(deadline) {
			f.Fatalf("the message stays %+v", of)
		}
	}
}

func delivered(of *webhook.Delivery) bool { return of.State == domain.Delivered }

func failedOnce(of *webhook.Delivery) bool { return of.LastError != "" && of.NextAttemptAt != nil }

func TestAMessageIsASignedCloudEvent(t *testing.T) {
	t.Parallel()
	f := newFixture(t, webhook.CloudEvents, func(_ int, w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(strings.Repeat("ok\x00", 1000)))
	})
	f.start(20 * time.Second)
	sent := f.send()
	got := f.until(sent.DeliveryID, delivered)
	r, body := f.received[0], f.bodies[0]
	mac := hmac.New(sha256.New, f.secret)
	mac.Write([]byte(sent.DeliveryID + "." + r.Header.Get("webhook-timestamp") + "." + body))
	if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); r.Header.Get("webhook-signature") != want || r.Header.Get("webhook-id") != sent.DeliveryID {
		t.Errorf("%v", r.Header)
	}
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "application/cloudevents+json") || body != got.Payload || !strings.Contains(body, `"type":"webhook.test"`) {
		t.Errorf("%s %s", r.Header.Get("Content-Type"), body)
	}
	if len(got.LastAnswer) != 1024 || strings.Contains(got.LastAnswer, "\x00") || *got.LastStatus != 200 || len(f.received) != 1 {
		t.Errorf("%d %+v", len(f.received), got)
	}
}

func TestWhatFailsComesAgainUnderTheSameID(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(w http.ResponseWriter, r *http.Request){
		"an error": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"a redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		},
		"a hang": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"a drop": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, webhook.Slack, func(n int, w http.ResponseWriter, r *http.Request) {
				if n == 1 {
					fail(w, r)
				}
			})
			f.start(5 * time.Second)
			sent := f.send()
			f.until(sent.DeliveryID, failedOnce)
			f.pass(10 * time.Second)
			got := f.until(sent.DeliveryID, delivered)
			first, second := f.received[0], f.received[len(f.received)-1]
			if got.Attempts != 2 || len(f.received) != 2 || first.Header.Get("webhook-id") != second.Header.Get("webhook-id") || second.URL.Path != "/hook" {
				t.Errorf("%d requests, the last to %s, %+v", len(f.received), second.URL, got)
			}
		})
	}
}

// Every message arrives, and none twice, whatever workers share the outbox.
func TestSeveralWorkersSendEachMessageOnce(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	busy, most := 0, 0
	f := newFixture(t, webhook.Teams, func(_ int, _ http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		busy++
		most = max(most, busy)
		mu.Unlock()
		time.Sleep(2 * time.Millisecond) // so that requests overlap
		mu.Lock()
		busy--
		mu.Unlock()
	})
	var sent []*webhook.Delivery
	for range webhook.TestsPerHour {
		sent = append(sent, f.send())
	}
	for range 3 {
		f.start(20 * time.Second)
	}
	for _, of := range sent {
		f.until(of.DeliveryID, delivered)
	}
	ids := map[string]int{}
	for _, r := range f.received {
		ids[r.Header.Get("webhook-id")]++
	}
	if len(ids) != len(sent) || len(f.received) != len(sent) || most > webhook.AtOnce {
		t.Errorf("%d messages in %d requests, %d at once", len(ids), len(f.received), most)
	}
}

// tenants is an outbox in which messages of each company are always due.
type tenants struct {
	url     string
	mu      sync.Mutex
	claimed map[domain.CompanyID]int
	rounds  int
	enough  chan struct{}
}

func (o *tenants) Pending(context.Context) ([]domain.CompanyID, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.rounds++; o.rounds == 5 {
		close(o.enough)
	}
	return []domain.CompanyID{1, 2, 3}, nil
}

func (o *tenants) Claim(_ context.Context, company domain.CompanyID, limit int, _ time.Duration) (attempts []*webhook.Attempt, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.claimed[company] += limit
	for range limit {
		attempts = append(attempts, &webhook.Attempt{CompanyID: company, DeliveryID: "1", Event: []byte(`{}`), Format: webhook.CloudEvents, URL: o.url})
	}
	return attempts, nil
}

func (o *tenants) Finish(context.Context, *webhook.Attempt, webhook.Answer) (webhook.Result, webhook.DisabledReason, error) {
	return webhook.ResultDelivered, "", nil
}

func (o *tenants) Prune(context.Context, retention.Expired) (int, error) { return 0, nil }

// An endpoint that hangs takes no more than the part of its company.
func TestACompanyTakesAPartOfTheSlots(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(server.Close)
	outbox := &tenants{url: server.URL, claimed: map[domain.CompanyID]int{}, enough: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	worker := sending.New(sending.Config{Outbox: outbox, Rules: webhook.Rules{AllowPrivate: true}, Every: time.Millisecond, Timeout: time.Minute})
	var done sync.WaitGroup
	done.Go(func() { _ = worker.Run(ctx) })
	<-outbox.enough
	outbox.mu.Lock()
	for company := domain.CompanyID(1); company <= 3; company++ {
		if n := outbox.claimed[company]; n != 32 {
			t.Errorf("company %d has %d requests", company, n)
		}
	}
	outbox.mu.Unlock()
	cancel()
	close(release)
	done.Wait()
}

// The check is at the socket, after names were resolved.
func TestNoRequestGoesToAForbiddenAddress(t *testing.T) {
	t.Parallel()
	f := newFixture(t, webhook.CloudEvents, func(int, http.ResponseWriter, *http.Request) {})
	sender := sending.NewSender(webhook.Rules{}, 5*time.Second, time.Now)
	of := webhook.Attempt{DeliveryID: "1", Event: []byte(`{}`), Format: webhook.CloudEvents, Secrets: []webhook.Secret{f.secret}}
	_, port, err := net.SplitHostPort(strings.TrimSuffix(strings.TrimPrefix(f.hook.URL, "http://"), "/hook"))
	fatal.If(f, err)
	for _, host := range []string{"localhost", "127.0.0.1", "[::ffff:127.0.0.1]", "0.0.0.0", "[::]", "169.254.169.254", "[64:ff9b::7f00:1]", "2130706433", "127.1", "0x7f000001"} {
		of.URL = "http://" + host + ":" + port + "/hook"
		answer := sender.Send(t.Context(), &of)
		if answer.Status != 0 || answer.Error == "" {
			t.Errorf("%s: %+v", host, answer)
		}
	}
	if len(f.received) > 0 {
		t.Errorf("%d requests arrived", len(f.received))
	}
	of.URL = "http://localhost:" + port + "/hook"
	if answer := sender.Send(t.Context(), &of); !strings.Contains(answer.Error, "not of the public internet") {
		t.Errorf("%+v", answer)
	}
	toAny := sending.NewSender(f.rules, 5*time.Second, time.Now)
	if answer := toAny.Send(t.Context(), &of); answer.Status != http.StatusOK {
		t.Errorf("%+v", answer)
	}
	for url, want := range map[string]string{"http://127.0.0.1:1/": "dial: connect: connection refused", "http://simgraph.invalid/": "the name could not be looked up"} {
		of.URL = url
		if answer := toAny.Send(t.Context(), &of); !strings.HasSuffix(answer.Error, want) {
			t.Errorf("%q is shown for %s", answer.Error, url)
		}
	}
}

// Whatever a name holds, a request has the headers of every other, and one JSON value.
func TestNamesOfSubscribersDoNotReachHeaders(t *testing.T) {
	t.Parallel()
	evil := "van\r\nwebhook-id: evil\r\nX-Evil: yes\r\n\r\n<!channel> @here <b>x</b>\u2028\x00"
	event := webhook.NewAlertFired("acme", time.Now(), &webhook.Firing{EntryID: 7, Nickname: &evil, PhysicalID: &evil, SubscriberID: &evil, GroupName: &evil, LimitBoundary: "lower"})
	for _, format := range []webhook.Format{webhook.CloudEvents, webhook.Slack, webhook.Teams} {
		t.Run(string(format), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, format, func(int, http.ResponseWriter, *http.Request) {})
			of := webhook.Attempt{DeliveryID: "1", Event: event.JSON(), Format: format, URL: f.hook.URL, Secrets: []webhook.Secret{f.secret}}
			if answer := sending.NewSender(f.rules, 20*time.Second, time.Now).Send(t.Context(), &of); answer.Status != http.StatusOK || len(f.received) != 1 {
				t.Fatalf("%d requests, %+v", len(f.received), answer)
			}
			header := slices.Sorted(maps.Keys(f.received[0].Header))
			want := []string{"Accept-Encoding", "Content-Length", "Content-Type", "User-Agent", "Webhook-Id", "Webhook-Signature", "Webhook-Timestamp"}
			if !slices.Equal(header, want) || f.received[0].Header.Get("webhook-id") != "1" || !json.Valid([]byte(f.bodies[0])) {
				t.Errorf("%v %s", f.received[0].Header, f.bodies[0])
			}
		})
	}
}

func TestProxiesOfTheEnvironmentAreNotUsed(t *testing.T) {
	f := newFixture(t, webhook.CloudEvents, func(int, http.ResponseWriter, *http.Request) {})
	t.Setenv("HTTP_PROXY", f.hook.URL)
	t.Setenv("HTTPS_PROXY", f.hook.URL)
	of := webhook.Attempt{DeliveryID: "1", Event: []byte(`{}`), Format: webhook.CloudEvents, URL: "http://simgraph.invalid/"}
	if answer := sending.NewSender(f.rules, 5*time.Second, time.Now).Send(t.Context(), &of); answer.Status != 0 || len(f.received) > 0 {
		t.Errorf("%+v", answer)
	}
}
