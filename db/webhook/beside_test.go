package webhook_test

import (
	"testing"
	"time"

	"simgraph/db/fleettest"
	hooks "simgraph/db/webhook"
	"simgraph/domain"
	"simgraph/domain/retention"
	"simgraph/domain/webhook"
	"simgraph/internal/fatal"
)

// beside are two endpoints of a company, each with a message that it has.
type beside struct {
	*fleettest.Fleet
	store          *hooks.Store
	one, other     *webhook.Endpoint
	ofOne, ofOther *webhook.Delivery
	began          time.Time
}

func newBeside(t *testing.T) *beside {
	t.Helper()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
	b := &beside{Fleet: f, store: hooksOf(f, "k"), began: f.Now}
	b.one, b.other = addHook(t, b.store, f.Whole(), webhook.Filter{}), addHook(t, b.store, f.Whole(), webhook.Filter{})
	b.ofOne, b.ofOther = b.send(b.one), b.send(b.other)
	f.Now = f.Now.Add(time.Minute)
	for range 2 {
		b.finish(200)
	}
	return b
}

func (b *beside) send(of *webhook.Endpoint) *webhook.Delivery {
	b.T.Helper()
	return fleettest.Must[*webhook.Delivery](b.T)(b.store.SendTest(b.T.Context(), b.Whole(), of.WebhookID))
}

// claim begins the requests that are due of one endpoint.
func (b *beside) claim() []*webhook.Attempt {
	b.T.Helper()
	return fleettest.Must[[]*webhook.Attempt](b.T)(b.store.Claim(b.T.Context(), 1, 1, time.Minute))
}

// finish answers the next request with the status.
func (b *beside) finish(status int) {
	b.T.Helper()
	claimed := b.claim()
	if len(claimed) != 1 {
		b.T.Fatalf("claimed %d", len(claimed))
	}
	_, _, err := b.store.Finish(b.T.Context(), claimed[0], webhook.Answer{Status: status})
	fatal.If(b.T, err)
}

func (b *beside) find(of *webhook.Delivery) *webhook.Delivery {
	b.T.Helper()
	return fleettest.Must[map[string]*webhook.Delivery](b.T)(b.store.FindDeliveries(b.T.Context(), b.Whole(), []string{of.DeliveryID}))[of.DeliveryID]
}

func TestAReplayIsOfOneWebhookAndFromATimeOn(t *testing.T) {
	t.Parallel()
	b := newBeside(t)
	for since, want := range map[time.Duration]int{time.Microsecond: 0, 0: 1} {
		if n, err := b.store.ReplaySince(t.Context(), b.Whole(), b.one.WebhookID, b.began.Add(since)); err != nil || n != want {
			t.Errorf("replayed %d from %s after its beginning, want %d: %v", n, since, want, err)
		}
	}
	if of := b.find(b.ofOther); of.State != domain.Delivered {
		t.Errorf("the message to another webhook is %s", of.State)
	}
}

// What waits for its next attempt is sent at once, and what is being sent is left alone.
func TestAReplayOfWhatIsQueuedSparesARequestThatRuns(t *testing.T) {
	t.Parallel()
	b := newBeside(t)
	message := b.send(b.one)
	b.finish(500)
	if n := len(b.claim()); n != 0 {
		t.Fatalf("claimed %d right after a failure", n)
	}
	for round, want := range []int{0, 1} { // the second one finds the request of the first
		replayed, err := b.store.Replay(t.Context(), b.Whole(), message.DeliveryID)
		if err != nil || replayed.Attempts != want {
			t.Errorf("round %d: %+v, %v", round, replayed, err)
		}
		if n := len(b.claim()); n != 1-round {
			t.Errorf("round %d: claimed %d", round, n)
		}
	}
}

func TestTestEventsAreCountedForEachWebhook(t *testing.T) {
	t.Parallel()
	b := newBeside(t)
	for range webhook.TestsPerHour - 1 {
		b.send(b.other)
	}
	_, err := b.store.SendTest(t.Context(), b.Whole(), b.other.WebhookID)
	fleettest.WantKind(t, err, domain.KindRateLimited)
	b.send(b.one)
	b.Now = b.began.Add(time.Hour) // those sent at the beginning are an hour ago
	b.send(b.other)
}

func TestOnlyTestEventsCountAsSuch(t *testing.T) {
	t.Parallel()
	b := newBeside(t)
	for range webhook.TestsPerHour {
		tx := b.Pool.MustBeginTx(t.Context(), nil)
		fatal.If(t, hooks.NamedChanged(t.Context(), tx, 1, []string{"p1"}))
		fatal.If(t, tx.Commit())
	}
	b.send(b.one)
}

func TestADisabledWebhookIsNotCalled(t *testing.T) {
	t.Parallel()
	b := newBeside(t)
	b.send(b.one)
	for _, enabled := range []bool{false, true} {
		_, err := b.store.Switch(t.Context(), b.Whole(), b.one.WebhookID, enabled)
		fatal.If(t, err)
		pending := fleettest.Must[[]domain.CompanyID](t)(b.store.Pending(t.Context()))
		if claimed := b.claim(); (len(pending) == 1) != enabled || (len(claimed) == 1) != enabled {
			t.Errorf("enabled %t: pending %v, claimed %d", enabled, pending, len(claimed))
		}
	}
}

func TestTheProviderIsNoneOfTheWebhooksOfACompany(t *testing.T) {
	t.Parallel()
	b := newBeside(t)
	_, _, err := b.store.SetProvider(t.Context(), b.Whole(), new("https://example.com/carrier"), false)
	fatal.If(t, err)
	for range webhook.MaxEndpoints - 2 {
		addHook(t, b.store, b.Whole(), webhook.Filter{})
	}
	if n, err := b.store.Count(t.Context(), b.Whole(), domain.Listing{}); err != nil || n != webhook.MaxEndpoints {
		t.Errorf("%d webhooks, %v", n, err)
	}
}

func TestUsersOfGroupsSeeTheDeliveriesOfTheirWebhooksAlone(t *testing.T) {
	t.Parallel()
	b := newBeside(t)
	vans := addHook(t, b.store, fleettest.Only(fleettest.Vans), webhook.Filter{})
	own := b.send(vans)
	for name, c := range map[string]struct {
		scope domain.Scope
		want  int
	}{"whole": {b.Whole(), 3}, "vans": {fleettest.Only(fleettest.Vans), 1}, "boats": {fleettest.Only(fleettest.Boats), 0}} {
		listed, err := b.store.Deliveries(t.Context(), c.scope, domain.Listing{Page: domain.Page{Limit: 10}})
		fatal.If(t, err)
		n, err := b.store.CountDeliveries(t.Context(), c.scope, domain.Listing{})
		fatal.If(t, err)
		found, err := b.store.FindDeliveries(t.Context(), c.scope, []string{b.ofOne.DeliveryID, b.ofOther.DeliveryID, own.DeliveryID})
		fatal.If(t, err)
		if len(listed.Items) != c.want || n != c.want || len(found) != c.want {
			t.Errorf("%s: %d are listed, %d counted and %d found, want %d", name, len(listed.Items), n, len(found), c.want)
		}
	}
}

// What came at the time of the retention is not older.
func TestMessagesOfTheBoundAreKept(t *testing.T) {
	t.Parallel()
	b := newBeside(t)
	prune := func(at time.Time) int {
		t.Helper()
		return fleettest.Must[int](t)(b.store.Prune(t.Context(), fleettest.Expired(t, retention.Messages, 30, at.AddDate(0, 0, 30))))
	}
	if n, more := prune(b.began), prune(b.began.Add(time.Microsecond)); n != 0 || more != 2 {
		t.Errorf("pruned %d of the bound, and %d after it", n, more)
	}
}

// A message names the subscribers in the order of their physicalIds, in whatever order they
// changed or are stored.
func TestChangedSubscribersAreNamedInOrder(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
	store := hooksOf(f, "k")
	hook := addHook(t, store, f.Whole(), webhook.Filter{})
	tx := f.Pool.MustBeginTx(t.Context(), nil)
	// Rows are read as they are stored, and not by an index that has the order.
	tx.MustExec(`SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off; SET LOCAL enable_bitmapscan = off`)
	fatal.If(t, hooks.KeysChanged(t.Context(), tx, 1, []int64{9, 2, 10}))
	fatal.If(t, hooks.NamedChanged(t.Context(), tx, 1, []string{"p9", "p2", "p10"}))
	fatal.If(t, tx.Commit())
	fleettest.SameLines(t, sent(t, store, hook.WebhookID), "changed p10 p2 p9", "changed p10 p2 p9")
}
