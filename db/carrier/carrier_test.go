package carrier_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db"
	"simgraph/db/audit"
	store "simgraph/db/carrier"
	"simgraph/db/dbtest"
	"simgraph/db/inventory"
	"simgraph/db/subscriber"
	hooks "simgraph/db/webhook"
	"simgraph/domain"
	"simgraph/domain/carrier"
	"simgraph/domain/query"
	"simgraph/domain/retention"
	"simgraph/domain/webhook"
	"simgraph/internal/fatal"
	"simgraph/internal/seal"
	sending "simgraph/internal/webhook"
)

func TestMain(m *testing.M) { dbtest.Main(m, db.Migrate) }

var scope = domain.Whole(1)

// request is what the carrier's system got.
type request struct {
	header http.Header
	body   string
	carrier.Data
}

// fixture is a company with the subscribers p1 to p5 and a provider.
type fixture struct {
	*testing.T
	pool      *sqlx.DB
	endpoints *hooks.Store
	store     *store.Store
	inventory *inventory.Store
	secret    webhook.Secret
	url       string

	mu       sync.Mutex
	now      time.Time
	received []*request
}

// newFixture answers by answer, which gets the number of the request from 1 on.
func newFixture(t *testing.T, answer func(n int, of *request, w http.ResponseWriter)) *fixture {
	t.Helper()
	f := &fixture{T: t, pool: dbtest.New(t), now: time.Date(2026, time.November, 10, 12, 0, 0, 0, time.UTC)}
	f.pool.MustExec(`
INSERT INTO operators VALUES ('23415', 'Vodafone UK');
INSERT INTO company_lookup (external_id, company_id) OVERRIDING SYSTEM VALUE VALUES ('acme', 1), ('rival', 2);
INSERT INTO companies VALUES (1, 'acme', 'Acme', 1, 'UTC'), (2, 'rival', 'Rival', 1, 'UTC');
INSERT INTO tariffs VALUES (1, 'IoT', 50, 'GBP');
INSERT INTO groups VALUES (1, 12, 'vans', false), (1, 13, 'boats', false);
INSERT INTO subscribers (company_id, kind, physical_id, subscriber_id, imsi, nickname, operator_code, tariff_name, connection_date, expiry_date,
  contract_length, is_barred, is_active, subscriber_type, is_transferring, is_online, group_id)
SELECT 1, 'cellular', 'p' || n, 's' || n, '', '', '23415', 'IoT', '2025-01-01Z', '2028-01-01Z', 12, false, true, 'physical', false, false, CASE WHEN n < 3 THEN 12 ELSE 13 END
FROM generate_series(1, 5) AS n`)
	f.endpoints = hooks.New(f.pool, hooks.Options{
		Key: func() (seal.Key, error) { return make([]byte, seal.KeySize), nil }, Rules: webhook.Rules{AllowPrivate: true}, Settle: store.Settle(f.clock), Now: f.clock,
	})
	f.store, f.inventory = store.New(f.pool, f.endpoints, f.clock), inventory.New(f.pool, f.clock)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var event struct{ Data carrier.Data }
		_ = json.Unmarshal(body, &event)
		got := &request{r.Header, string(body), event.Data}
		f.mu.Lock()
		f.received = append(f.received, got)
		n := len(f.received)
		f.mu.Unlock()
		answer(n, got, w)
	}))
	t.Cleanup(server.Close)
	f.url = server.URL + "/commands"
	var err error
	_, f.secret, err = f.store.SetProvider(t.Context(), scope, carrier.Settings{URL: &f.url})
	fatal.If(f, err)
	return f
}

func ok(int, *request, http.ResponseWriter) {}

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
func (f *fixture) start() {
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	worker := sending.New(sending.Config{
		Outbox: f.endpoints, Rules: webhook.Rules{AllowPrivate: true}, Now: f.clock, Every: 10 * time.Millisecond, Timeout: time.Minute,
		Log: slog.New(slog.NewTextHandler(f.Output(), nil)),
	})
	done.Go(func() { _ = worker.Run(ctx) })
	f.Cleanup(func() { cancel(); done.Wait() })
}

func barred(is bool) func(*domain.Subscriber) error {
	return func(s *domain.Subscriber) error {
		s.IsBarred = is
		return nil
	}
}

func (f *fixture) terminated(s *domain.Subscriber) error {
	s.TerminateDate, s.IsActive = new(f.clock()), false
	return nil
}

// edit changes a subscriber, and returns the id of its only command.
func (f *fixture) edit(id string, change func(*domain.Subscriber) error) string {
	f.Helper()
	edited, err := f.inventory.EditSubscriber(f.Context(), scope, id, change)
	fatal.If(f, err)
	if len(edited.Commands) != 1 || edited.InventoryOnly {
		f.Fatalf("%d commands", len(edited.Commands))
	}
	return edited.Commands[0].CommandID
}

func (f *fixture) command(id string) *carrier.Command {
	f.Helper()
	found, err := f.store.FindMany(f.Context(), scope, []string{id})
	fatal.If(f, err)
	if found[id] == nil {
		f.Fatalf("there is no command %s", id)
	}
	return found[id]
}

// until waits for the command to be as wanted.
func (f *fixture) until(id string, wanted func(*carrier.Command) bool) *carrier.Command {
	f.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		of := f.command(id)
		if wanted(of) {
			return of
		} else if time.Now().After(deadline) {
			f.Fatalf("the command stays %+v", of)
		}
	}
}

func in(state carrier.State) func(*carrier.Command) bool {
	return func(of *carrier.Command) bool { return of.State == state }
}

func failedOnce(of *carrier.Command) bool { return of.LastError != "" && of.NextAttemptAt != nil }

// kinds are what the carrier's system got, in order.
func (f *fixture) kinds() (all []carrier.Kind) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, of := range f.received {
		all = append(all, of.Kind)
	}
	return all
}

func (f *fixture) same(want ...carrier.Kind) {
	f.Helper()
	if got := f.kinds(); !slices.Equal(got, want) {
		f.Errorf("the carrier got %v, want %v", got, want)
	}
}

func TestACommandIsASignedCloudEvent(t *testing.T) {
	t.Parallel()
	f := newFixture(t, ok)
	f.start()
	id := f.edit("p1", f.terminated)
	of := f.until(id, in(carrier.Accepted))
	got := f.received[0]
	mac := hmac.New(sha256.New, f.secret)
	mac.Write([]byte(id + "." + got.header.Get("webhook-timestamp") + "." + got.body))
	if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); got.header.Get("webhook-signature") != want || got.header.Get("webhook-id") != id {
		t.Errorf("%v", got.header)
	}
	if got.body != of.Payload || !strings.Contains(got.body, `"type":"command.requested"`) || !strings.Contains(got.body, `"subject":"subscribers/p1"`) ||
		got.CommandID != id || got.Kind != carrier.Terminate || got.SubscriberID != "s1" || !got.TerminateDate.Equal(f.clock()) || got.Sequence != of.Sequence {
		t.Errorf("%s\n%+v", got.body, of)
	}
	reported, err := f.store.Report(t.Context(), scope, carrier.Report{CommandID: id, State: carrier.Failed, Reason: "unknown"})
	fatal.If(f, err)
	if reported.State != carrier.Failed || reported.Reason != "unknown" {
		t.Errorf("%+v", reported)
	}
	for range 2 { // a report can be repeated
		_, err = f.store.Report(t.Context(), scope, carrier.Report{CommandID: id, State: carrier.Done})
		fatal.If(f, err)
	}
	if _, err := f.store.Report(t.Context(), scope, carrier.Report{CommandID: id, State: carrier.Failed}); err == nil {
		t.Error("what is done fails")
	}
	var entries int
	fatal.If(f, f.pool.Get(&entries, `SELECT count(*) FROM audit_log WHERE company_id = 1 AND action = 'command.report'`))
	if entries != 2 {
		t.Errorf("two reports that changed something have %d entries", entries)
	}
	_, err = audit.NewLog(f.pool).Verify(t.Context(), scope)
	fatal.If(f, err)
}

func TestAnAnswerMaySayWhatBecameOfACommand(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(_ int, of *request, w http.ResponseWriter) {
		_, _ = w.Write([]byte(map[string]string{
			"p1": `{"state": "done"}`, "p2": `{"state": "failed", "reason": "no such SIM"}`, "p3": `{"state": "superseded"}`, "p4": `thanks`,
		}[of.PhysicalID]))
	})
	f.start()
	for id, want := range map[string]carrier.State{"p1": carrier.Done, "p2": carrier.Failed, "p3": carrier.Accepted, "p4": carrier.Accepted} {
		of := f.until(f.edit(id, barred(true)), in(want))
		if (of.Reason == "no such SIM") != (id == "p2") {
			t.Errorf("%s: %q", id, of.Reason)
		}
	}
}

// What was not sent yet is replaced: the carrier gets what is wanted last.
func TestANewerCommandReplacesOneThatWaits(t *testing.T) {
	t.Parallel()
	f := newFixture(t, ok)
	first := f.edit("p1", barred(true))
	second := f.edit("p1", barred(false))
	third := f.edit("p1", barred(true))
	f.start()
	f.until(third, in(carrier.Accepted))
	f.same(carrier.Bar)
	for _, id := range []string{first, second} {
		if of := f.command(id); of.State != carrier.Superseded || of.Attempts != 0 {
			t.Errorf("%+v", of)
		}
	}
}

// A request that runs is waited for, whatever it gives.
func TestACommandWaitsForTheOneThatIsBeingSent(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]carrier.State{http.StatusOK: carrier.Accepted, http.StatusInternalServerError: carrier.Superseded} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			began, release := make(chan struct{}), make(chan struct{})
			f := newFixture(t, func(n int, _ *request, w http.ResponseWriter) {
				if n == 1 {
					close(began)
					<-release
					w.WriteHeader(status)
				}
			})
			f.start()
			f.start()
			first := f.edit("p1", barred(true))
			<-began
			second := f.edit("p1", barred(false))
			third := f.edit("p1", f.terminated)
			f.until(f.edit("p2", barred(true)), in(carrier.Accepted)) // others do not wait
			if got := f.kinds(); len(got) != 2 {
				t.Errorf("the carrier got %v", got)
			}
			close(release)
			f.until(third, in(carrier.Accepted))
			f.same(carrier.Bar, carrier.Bar, carrier.Unbar, carrier.Terminate)
			if of := f.command(first); of.State != want {
				t.Errorf("%+v", of)
			}
			if of := f.command(second); of.State != carrier.Accepted {
				t.Errorf("%+v", of)
			}
		})
	}
}

func TestCommandsOfASubscriberKeepTheirOrderWhenOneFails(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(n int, _ *request, w http.ResponseWriter) {
		if n == 1 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	f.start()
	first := f.edit("p1", barred(true))
	f.until(first, failedOnce)
	second := f.edit("p1", f.terminated)
	f.until(f.edit("p2", barred(true)), in(carrier.Accepted))
	if of := f.command(second); of.State != carrier.Requested || of.Attempts != 0 {
		t.Errorf("the second of a subscriber does not wait: %+v", of)
	}
	f.pass(10 * time.Second)
	f.until(second, in(carrier.Accepted))
	f.same(carrier.Bar, carrier.Bar, carrier.Bar, carrier.Terminate)
	if f.received[0].header.Get("webhook-id") != first || f.received[2].header.Get("webhook-id") != first {
		t.Error("the id of an attempt changed")
	}
}

// The command of a worker that died is sent again, and before what came after it.
func TestTheCommandOfAWorkerThatDiedComesBackInOrder(t *testing.T) {
	t.Parallel()
	f := newFixture(t, ok)
	first := f.edit("p1", barred(true))
	claimed, err := f.endpoints.Claim(t.Context(), 1, 10, time.Minute)
	fatal.If(f, err)
	second := f.edit("p1", barred(false))
	if len(claimed) != 1 || claimed[0].DeliveryID != first || f.command(first).State != carrier.Requested {
		t.Fatalf("%+v", claimed)
	}
	f.pass(2 * time.Minute)
	f.start()
	f.until(second, in(carrier.Accepted))
	f.same(carrier.Bar, carrier.Unbar)
	// The worker was only slow: what it notes late changes nothing.
	result, _, err := f.endpoints.Finish(t.Context(), claimed[0], webhook.Answer{Status: 500, Error: "late"})
	fatal.If(f, err)
	if of := f.command(first); of.State != carrier.Accepted || of.Attempts != 2 {
		t.Errorf("%s: %+v", result, of)
	}
}

// Whatever fails, each subscriber's commands arrive in the order of its changes, the
// last one asks for what the inventory has, and each arrives at least once or was replaced.
func TestCommandsArriveInOrderUnderLoad(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(n int, _ *request, w http.ResponseWriter) {
		if n%3 == 0 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	for range 2 {
		f.start()
	}
	var changing sync.WaitGroup
	for _, id := range []string{"p1", "p2", "p3", "p4", "p5"} {
		random := rand.New(rand.NewPCG(1, uint64(id[1])))
		changing.Go(func() {
			for range 12 {
				edit := barred(random.IntN(2) == 0)
				if random.IntN(3) == 0 {
					edit = func(s *domain.Subscriber) error { s.IsActive = !s.IsActive; return nil }
				}
				if _, err := f.inventory.EditSubscriber(t.Context(), scope, id, edit); err != nil {
					t.Error(err)
				}
			}
		})
	}
	changing.Wait()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		waiting, err := f.store.Count(t.Context(), scope, f.listing(carrier.Requested))
		fatal.If(f, err)
		if waiting == 0 {
			break
		} else if time.Now().After(deadline) {
			t.Fatalf("%d commands wait", waiting)
		}
		// Within the lease of a request that runs, the clock passes once at most.
		var sending int
		fatal.If(f, f.pool.Get(&sending, `SELECT count(*) FROM webhook_messages WHERE state = 'queued' AND claimed_until IS NOT NULL`))
		if sending == 0 {
			f.pass(time.Minute)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	last, arrived := map[string]int64{}, map[string]bool{}
	ends := map[string]carrier.Kind{}
	for _, of := range f.received {
		if of.Sequence < last[of.PhysicalID] {
			t.Errorf("%s of %s came after a newer one", of.Kind, of.PhysicalID)
		}
		last[of.PhysicalID], arrived[of.CommandID] = of.Sequence, true
		ends[of.PhysicalID+" "+string(of.Kind.Opposing()[0])] = of.Kind
	}
	var lost []string
	fatal.If(f, f.pool.Select(&lost, `SELECT command_id::text FROM commands WHERE state <> 'superseded'`))
	if lost = slices.DeleteFunc(lost, func(id string) bool { return arrived[id] }); len(lost) > 0 {
		t.Errorf("the commands %v never arrived", lost)
	}
	for _, id := range []string{"p1", "p2", "p3", "p4", "p5"} {
		s, err := subscriber.New(f.pool).Find(t.Context(), scope, id, domain.Projection{Fields: domain.AllFields})
		fatal.If(f, err)
		if end, sent := ends[id+" bar"]; sent && (end == carrier.Bar) != s.IsBarred {
			t.Errorf("the carrier was last asked for %s of %s", end, id)
		}
		if end, sent := ends[id+" activate"]; sent && (end == carrier.Activate) != s.IsActive {
			t.Errorf("the carrier was last asked for %s of %s", end, id)
		}
	}
}

func (f *fixture) listing(state carrier.State) domain.Listing {
	f.Helper()
	filter, err := query.Compare(carrier.Fields, "state", query.Eq, string(state))
	fatal.If(f, err)
	return domain.Listing{Filter: filter}
}

func TestWhatIsRolledBackAsksForNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t, ok)
	tx := f.pool.MustBeginTx(t.Context(), nil)
	before, err := subscriber.Lock(t.Context(), tx, scope, "p1")
	fatal.If(f, err)
	after := *before
	after.IsBarred = true
	queued, err := store.Queue(t.Context(), tx, 1, []store.Change{{Before: before, After: &after}}, nil, f.clock())
	fatal.If(f, err)
	fatal.If(f, tx.Rollback())
	if found, err := f.store.FindMany(t.Context(), scope, queued.CommandIDs); err != nil || len(queued.CommandIDs) != 1 || len(found) > 0 {
		t.Errorf("%+v %v %v", queued, found, err)
	}
}

func TestCommandsAreCancelledAndRetried(t *testing.T) {
	t.Parallel()
	f := newFixture(t, ok)
	cancelled := f.edit("p1", barred(true))
	next := f.edit("p1", f.terminated)
	of, err := f.store.Cancel(t.Context(), scope, cancelled)
	fatal.If(f, err)
	if of.State != carrier.Cancelled {
		t.Errorf("%+v", of)
	}
	f.start()
	f.until(next, in(carrier.Accepted))
	f.same(carrier.Terminate)
	for name, refused := range map[string]func() (*carrier.Command, error){
		"cancelling what was sent":    func() (*carrier.Command, error) { return f.store.Cancel(t.Context(), scope, next) },
		"retrying what was cancelled": func() (*carrier.Command, error) { return f.store.Retry(t.Context(), scope, cancelled) },
		"what is none":                func() (*carrier.Command, error) { return f.store.Retry(t.Context(), scope, "none") },
		"what is another company's":   func() (*carrier.Command, error) { return f.store.Retry(t.Context(), domain.Whole(2), next) },
		"what is another group's": func() (*carrier.Command, error) {
			return f.store.Cancel(t.Context(), domain.Scope{Company: 1, Groups: []int64{13}}, next)
		},
		"reporting what is no end state": func() (*carrier.Command, error) {
			return f.store.Report(t.Context(), scope, carrier.Report{CommandID: next, State: carrier.Accepted})
		},
	} {
		if _, err := refused(); err == nil {
			t.Errorf("%s is not refused", name)
		}
	}
	_, err = f.store.Report(t.Context(), scope, carrier.Report{CommandID: next, State: carrier.Failed, Reason: "busy"})
	fatal.If(f, err)
	if of, err = f.store.Retry(t.Context(), scope, next); err != nil || of.State != carrier.Requested || of.Reason != "" {
		t.Errorf("%+v %v", of, err)
	}
	f.until(next, in(carrier.Accepted))
	f.same(carrier.Terminate, carrier.Terminate)
	newer := f.edit("p1", func(s *domain.Subscriber) error { s.IsActive, s.TerminateDate = true, nil; return nil })
	f.until(newer, in(carrier.Accepted))
	if _, err := f.store.Retry(t.Context(), scope, next); err == nil || !strings.Contains(err.Error(), newer) {
		t.Errorf("an older command is sent again: %v", err)
	}
}

func TestTheProviderIsTheWholeCompanys(t *testing.T) {
	t.Parallel()
	f := newFixture(t, ok)
	vans := domain.Scope{Company: 1, Groups: []int64{12}}
	_, err := f.store.Provider(t.Context(), vans)
	_, _, other := f.store.SetProvider(t.Context(), vans, carrier.Settings{URL: &f.url})
	_, third := f.store.RemoveProvider(t.Context(), vans, f.url)
	for _, err := range []error{err, other, third} {
		if fault, is := domain.AsError(err); !is || fault.Kind != domain.KindForbidden {
			t.Errorf("%v", err)
		}
	}
	if has, err := f.store.HasProvider(t.Context(), domain.Whole(2)); err != nil || has {
		t.Errorf("another company has it: %v", err)
	}
	if n, err := f.endpoints.Count(t.Context(), scope, domain.Listing{}); err != nil || n != 0 {
		t.Errorf("%d webhooks are listed, %v", n, err)
	}
	_, rotated, err := f.store.SetProvider(t.Context(), scope, carrier.Settings{RotateSecret: true})
	fatal.If(f, err)
	if rotated == nil || rotated.String() == f.secret.String() {
		t.Error("the secret is the same")
	}
	id := f.edit("p1", barred(true))
	claimed, err := f.endpoints.Claim(t.Context(), 1, 10, time.Minute)
	fatal.If(f, err)
	if len(claimed) != 1 || len(claimed[0].Secrets) != 2 || claimed[0].Secrets[0].String() != rotated.String() || claimed[0].Secrets[1].String() != f.secret.String() {
		t.Errorf("%+v", claimed)
	}
	if _, err := f.store.RemoveProvider(t.Context(), scope, f.url+"/other"); err == nil {
		t.Error("another provider is removed")
	}
	_, err = f.store.RemoveProvider(t.Context(), scope, f.url)
	fatal.If(f, err)
	if of := f.command(id); of.State != carrier.Cancelled || !strings.Contains(of.Reason, "removed") {
		t.Errorf("%+v", of)
	}
	edited, err := f.inventory.EditSubscriber(t.Context(), scope, "p1", barred(false))
	fatal.If(f, err)
	if !edited.InventoryOnly || len(edited.Commands) > 0 {
		t.Errorf("%+v", edited)
	}
}

// Commands that no provider took are given up, and all are removed in time.
func TestOldCommandsAreRemoved(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(_ int, _ *request, w http.ResponseWriter) { w.WriteHeader(http.StatusGone) })
	gone := f.edit("p1", barred(true))
	f.start()
	of := f.until(gone, in(carrier.Failed))
	if of.Reason != "not delivered: the answer was 410, not 2xx" {
		t.Errorf("%+v", of)
	}
	waits := f.edit("p2", barred(true))
	provider, err := f.store.Provider(t.Context(), scope)
	fatal.If(f, err)
	if provider.DisabledReason == nil || *provider.DisabledReason != webhook.Gone {
		t.Errorf("%+v", provider)
	}
	f.pass(40 * 24 * time.Hour)
	newer := f.edit("p2", f.terminated)
	expired, _ := retention.InForce{Kind: retention.Of(retention.Messages), Kept: 30}.Expired(f.clock())
	n, err := f.store.Prune(t.Context(), expired)
	fatal.If(f, err)
	if of := f.command(waits); n != 1 || of.State != carrier.Failed || of.Reason != "not delivered in time" {
		t.Errorf("%d %+v", n, of)
	}
	if found, err := f.store.FindMany(t.Context(), scope, []string{gone}); err != nil || len(found) > 0 {
		t.Errorf("%v %v", found, err)
	}
	var queued string
	fatal.If(f, f.pool.Get(&queued, `SELECT message_id::text FROM webhook_messages WHERE state = 'queued'`))
	if queued != newer {
		t.Errorf("the next is %s, want %s", queued, newer)
	}
}

// Whatever the carrier's system answers can be kept.
func TestAReasonOfAnyCharactersIsKept(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(_ int, _ *request, w http.ResponseWriter) {
		_, _ = w.Write([]byte(`{"state": "failed", "reason": "no\u0000such` + "\xff" + `\n` + strings.Repeat("SIM", 200) + `"}`))
	})
	f.start()
	of := f.until(f.edit("p1", barred(true)), in(carrier.Failed))
	if !strings.HasPrefix(of.Reason, "no such\uFFFD SIMSIM") || len([]rune(of.Reason)) != carrier.MaxReason {
		t.Errorf("%q", of.Reason)
	}
	_, err := f.store.Report(t.Context(), scope, carrier.Report{CommandID: of.CommandID, State: carrier.Failed, Reason: "a\x00b"})
	if fault, is := domain.AsError(err); !is || fault.Field != "reason" {
		t.Errorf("%v", err)
	}
}

// What may have arrived is not withdrawn, also where it was requested again.
func TestWhatWasSentOnceIsNotCancelled(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(_ int, _ *request, w http.ResponseWriter) { w.WriteHeader(http.StatusInternalServerError) })
	f.start()
	id := f.edit("p1", barred(true))
	f.until(id, failedOnce)
	f.pool.MustExec(`UPDATE webhooks SET disabled_at = now(), disabled_reason = 'user'`) // nothing is sent from here on
	retried, err := f.store.Retry(t.Context(), scope, id)
	fatal.If(f, err)
	if retried.Attempts != 0 || !retried.WasSent {
		t.Errorf("%+v", retried)
	}
	if _, err := f.store.Cancel(t.Context(), scope, id); err == nil {
		t.Error("a command that was sent is cancelled")
	}
}

// claim takes the message of the only command that is due, as a worker does that dies or is slow.
func (f *fixture) claim() *webhook.Attempt {
	f.Helper()
	claimed, err := f.endpoints.Claim(f.Context(), 1, 10, time.Minute)
	fatal.If(f, err)
	if len(claimed) != 1 {
		f.Fatalf("%d messages are due", len(claimed))
	}
	return claimed[0]
}

// A worker that failed late does not replace what another one is sending.
func TestALateFailureReplacesNothingThatIsBeingSent(t *testing.T) {
	t.Parallel()
	f := newFixture(t, ok)
	first := f.edit("p1", barred(true))
	slow := f.claim()
	second := f.edit("p1", barred(false))
	f.pass(2 * time.Minute)
	other := f.claim()
	for _, c := range []struct {
		of     *webhook.Attempt
		status int
		want   carrier.State
	}{{slow, http.StatusInternalServerError, carrier.Requested}, {other, http.StatusOK, carrier.Accepted}} {
		_, _, err := f.endpoints.Finish(t.Context(), c.of, webhook.Answer{Status: c.status})
		fatal.If(f, err)
		if of := f.command(first); of.State != c.want {
			t.Errorf("after %d: %+v", c.status, of)
		}
	}
	f.start()
	f.until(second, in(carrier.Accepted))
}

// The lease of a worker that died holds up nothing for ever.
func TestACommandOfADeadWorkerIsReplaced(t *testing.T) {
	t.Parallel()
	f := newFixture(t, ok)
	first := f.edit("p1", barred(true))
	f.claim()
	f.pass(2 * time.Minute)
	second := f.edit("p1", barred(false))
	if of := f.command(first); of.State != carrier.Superseded {
		t.Errorf("%+v", of)
	}
	f.start()
	f.until(second, in(carrier.Accepted))
	f.same(carrier.Unbar)
}

// What was given up has arrived all the same where an attempt is answered later.
func TestALateAnswerOfAGivenUpCommandCounts(t *testing.T) {
	t.Parallel()
	f := newFixture(t, ok)
	id := f.edit("p1", barred(true))
	slow := f.claim()
	f.pool.MustExec(`UPDATE commands SET state = 'failed', reason = 'not delivered: timeout'; UPDATE webhook_messages SET state = 'failed', finished_at = now()`)
	_, _, err := f.endpoints.Finish(t.Context(), slow, webhook.Answer{Status: http.StatusOK})
	fatal.If(f, err)
	if of := f.command(id); of.State != carrier.Accepted || of.Reason != "" {
		t.Errorf("%+v", of)
	}
	_, err = f.store.Report(t.Context(), scope, carrier.Report{CommandID: id, State: carrier.Failed, Reason: "no such SIM"})
	fatal.If(f, err)
	_, _, err = f.endpoints.Finish(t.Context(), slow, webhook.Answer{Status: http.StatusOK})
	fatal.If(f, err)
	if of := f.command(id); of.State != carrier.Failed {
		t.Errorf("a report is overwritten: %+v", of)
	}
}
