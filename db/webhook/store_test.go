package webhook_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"simgraph/db/fleettest"
	"simgraph/db/subscriber"
	"simgraph/db/tag"
	"simgraph/db/volume"
	hooks "simgraph/db/webhook"
	"simgraph/domain"
	"simgraph/domain/retention"
	"simgraph/domain/webhook"
	"simgraph/internal/fatal"
	"simgraph/internal/seal"
)

func hooksOf(f *fleettest.Fleet, key string) *hooks.Store {
	return hooks.New(f.Pool, hooks.Options{Now: func() time.Time { return f.Now }, Key: func() (seal.Key, error) { return []byte(strings.Repeat(key, 32)), nil }})
}

func addHook(t *testing.T, store *hooks.Store, scope domain.Scope, filter webhook.Filter) *webhook.Endpoint {
	t.Helper()
	if filter.EventTypes == nil {
		filter.EventTypes = []webhook.EventType{webhook.AlertFired, webhook.SubscriberChanged}
	}
	created, _, err := store.Create(t.Context(), scope, webhook.Spec{Name: "hook", URL: "https://example.com/hook", Format: webhook.CloudEvents, Filter: filter})
	fatal.If(t, err)
	return created
}

// sent are the messages of an endpoint in words, the oldest first.
func sent(t *testing.T, store *hooks.Store, id int64) (lines []string) {
	t.Helper()
	slice, err := store.Deliveries(t.Context(), domain.Whole(1), domain.Listing{Filter: fleettest.Equal(t, webhook.DeliveryFields, "webhookId", id), Page: domain.Page{Limit: 100}})
	fatal.If(t, err)
	for _, of := range slices.Backward(slice.Items) {
		event, err := webhook.ParseEvent([]byte(of.Payload))
		fatal.If(t, err)
		var data struct {
			AlertID     int64
			PhysicalID  string
			PhysicalIDs []string
			GroupID     int64
			Usage       int64
		}
		fatal.If(t, json.Unmarshal(event.Data, &data))
		if event.Type == webhook.AlertFired {
			lines = append(lines, fmt.Sprintf("fired %s in %d at %d", data.PhysicalID, data.GroupID, data.Usage))
		} else {
			lines = append(lines, "changed "+strings.Join(data.PhysicalIDs, " "))
		}
	}
	return lines
}

func TestEventsAreQueuedForTheWebhooksThatWantThem(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
	store, tags := hooksOf(f, "k"), tag.New(f.Pool)
	_, err := tags.Attach(t.Context(), f.Whole(), "fleet", []string{"p5"})
	fatal.If(t, err)
	all := addHook(t, store, f.Whole(), webhook.Filter{})
	boats := addHook(t, store, f.Whole(), webhook.Filter{GroupIDs: []int64{fleettest.Boats}})
	tagged := addHook(t, store, f.Whole(), webhook.Filter{TagNames: []string{"fleet"}})
	alerts := addHook(t, store, f.Whole(), webhook.Filter{EventTypes: []webhook.EventType{webhook.AlertFired}})
	off := addHook(t, store, f.Whole(), webhook.Filter{})
	_, err = store.Switch(t.Context(), f.Whole(), off.WebhookID, false)
	fatal.If(t, err)
	f.Create(domain.RuleCompany, "", 100, 1000)
	f.Use(1, 101, f.Now)
	f.Use(5, 102, f.Now)
	_, err = subscriber.New(f.Pool).EditNickname(t.Context(), f.Whole(), "p1", "van one")
	fatal.If(t, err)
	_, err = tags.Attach(t.Context(), f.Whole(), "fleet", []string{"p6", "p1"})
	fatal.If(t, err)
	fleettest.SameLines(t, sent(t, store, all.WebhookID), "fired p1 in 12 at 101", "fired p5 in 13 at 102", "changed p1", "changed p1 p6")
	fleettest.SameLines(t, sent(t, store, boats.WebhookID), "fired p5 in 13 at 102", "changed p6")
	fleettest.SameLines(t, sent(t, store, tagged.WebhookID), "fired p5 in 13 at 102", "changed p1 p6")
	fleettest.SameLines(t, sent(t, store, alerts.WebhookID), "fired p1 in 12 at 101", "fired p5 in 13 at 102")
	fleettest.SameLines(t, sent(t, store, off.WebhookID))
}

func TestChangesOfNetworkStateAndImportsReachWebhooks(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
	f.AddSubscribers(1000, 1149, fleettest.Vans)
	store := hooksOf(f, "k")
	all := addHook(t, store, f.Whole(), webhook.Filter{})
	var keys []int64
	for key := int64(1000); key < 1150; key++ {
		keys = append(keys, key)
	}
	tx := f.Pool.MustBeginTx(t.Context(), nil)
	defer tx.Rollback()
	fatal.If(t, volume.NewEvaluator(time.Now).StateChanged(t.Context(), tx, 1, keys))
	fatal.If(t, tx.Commit())
	n, err := store.CountDeliveries(t.Context(), f.Whole(), domain.Listing{Filter: fleettest.Equal(t, webhook.DeliveryFields, "webhookId", all.WebhookID)})
	fatal.If(t, err)
	if n != 2 {
		t.Errorf("150 subscribers are %d messages, want 2", n)
	}
}

// What a transaction rolls back is not sent.
func TestMessagesStandAndFallWithWhatTheyReport(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
	store := hooksOf(f, "k")
	all := addHook(t, store, f.Whole(), webhook.Filter{})
	tx := f.Pool.MustBeginTx(t.Context(), nil)
	fatal.If(t, hooks.NamedChanged(t.Context(), tx, 1, []string{"p1"}))
	fatal.If(t, tx.Rollback())
	fleettest.SameLines(t, sent(t, store, all.WebhookID))
}

func TestWebhooksOfUsersOfGroupsAreTheirs(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
	f.Pool.MustExec(`INSERT INTO users (company_id, user_id, email, permissions) VALUES (1, 7, 'vans@acme.example', '{}')`)
	f.Pool.MustExec(`INSERT INTO user_groups VALUES (1, 7, 12)`)
	store := hooksOf(f, "k")
	whole := addHook(t, store, f.Whole(), webhook.Filter{})
	mine := addHook(t, store, fleettest.Only(fleettest.Vans).By(&domain.Actor{UserID: 7}), webhook.Filter{})
	f.Create(domain.RuleCompany, "", 100, 1000)
	f.Create(domain.RuleGroupMember, "12", 100, 1000)
	f.Use(1, 101, f.Now)
	f.Use(5, 101, f.Now)
	changed := func() {
		tx := f.Pool.MustBeginTx(t.Context(), nil)
		fatal.If(t, hooks.NamedChanged(t.Context(), tx, 1, []string{"p1", "p5", "p9"}))
		fatal.If(t, tx.Commit())
	}
	changed()
	fleettest.SameLines(t, sent(t, store, mine.WebhookID), "fired p1 in 12 at 101", "changed p1")
	f.Pool.MustExec(`UPDATE users SET disabled = true WHERE user_id = 7`)
	attempts, err := store.Claim(t.Context(), 1, 100, time.Minute)
	fatal.If(t, err)
	if len(attempts) == 0 || slices.ContainsFunc(attempts, func(of *webhook.Attempt) bool { return of.WebhookID == mine.WebhookID }) {
		t.Errorf("claimed %d messages, maybe of a user who is disabled", len(attempts))
	}
	changed()
	fleettest.SameLines(t, sent(t, store, mine.WebhookID), "fired p1 in 12 at 101", "changed p1")
	for scope, want := range map[string]int{"vans": 1, "boats": 0, "both": 1, "whole": 2} {
		of := map[string]domain.Scope{"vans": fleettest.Only(fleettest.Vans), "boats": fleettest.Only(fleettest.Boats), "both": fleettest.Only(fleettest.Vans, fleettest.Boats), "whole": f.Whole()}[scope]
		n, err := store.Count(t.Context(), of, domain.Listing{})
		fatal.If(t, err)
		if n != want {
			t.Errorf("%s see %d webhooks, want %d", scope, n, want)
		}
	}
	if _, err := store.Remove(t.Context(), fleettest.Only(fleettest.Vans), whole.WebhookID); err == nil {
		t.Error("a user of groups removes a webhook of the company")
	}
}

func TestAReplayKeepsTheID(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
	store := hooksOf(f, "k")
	hook := addHook(t, store, f.Whole(), webhook.Filter{})
	test, err := store.SendTest(t.Context(), f.Whole(), hook.WebhookID)
	fatal.If(t, err)
	claim := func(want int) []*webhook.Attempt {
		t.Helper()
		attempts, err := store.Claim(t.Context(), 1, 10, time.Minute)
		fatal.If(t, err)
		if len(attempts) != want {
			t.Fatalf("claimed %d, want %d", len(attempts), want)
		}
		return attempts
	}
	claim(1)
	claim(0)
	f.Now = f.Now.Add(2 * time.Minute) // its worker died
	attempts := claim(1)
	if attempts[0].DeliveryID != test.DeliveryID || attempts[0].Attempts != 2 || len(attempts[0].Secrets) != 1 {
		t.Errorf("%+v", attempts[0])
	}
	result, _, err := store.Finish(t.Context(), attempts[0], webhook.Answer{Status: 200, Body: "ok"})
	fatal.If(t, err)
	if result != webhook.ResultDelivered {
		t.Error(result)
	}
	claim(0)
	_, _, err = store.Rotate(t.Context(), f.Whole(), hook.WebhookID)
	fatal.If(t, err)
	replayed, err := store.Replay(t.Context(), f.Whole(), test.DeliveryID)
	fatal.If(t, err)
	if replayed.State != domain.DeliveryQueued || replayed.Attempts != 0 {
		t.Errorf("%+v", replayed)
	}
	attempts = claim(1)
	if attempts[0].DeliveryID != test.DeliveryID || len(attempts[0].Secrets) != 2 {
		t.Errorf("%+v", attempts[0])
	}
	_, _, err = store.Finish(t.Context(), attempts[0], webhook.Answer{Status: 204})
	fatal.If(t, err)
	n, err := store.ReplaySince(t.Context(), f.Whole(), hook.WebhookID, f.Now.Add(-time.Hour))
	fatal.If(t, err)
	if n != 1 {
		t.Errorf("replayed %d", n)
	}
	if n, err = store.ReplaySince(t.Context(), f.Whole(), hook.WebhookID, f.Now.Add(-time.Hour)); err != nil || n != 0 {
		t.Errorf("replayed %d that are queued already, %v", n, err)
	}
	f.Now = f.Now.Add(25 * time.Hour)
	if attempts = claim(1); len(attempts[0].Secrets) != 1 {
		t.Error("the secret before the rotation signs after a day")
	}
	if _, err := hooksOf(f, "x").Claim(t.Context(), 1, 10, time.Minute); err != nil {
		t.Errorf("nothing to claim: %v", err)
	}
}

func TestAtMostFourRequestsRunAtOnceAndOneWhereItFails(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
	store := hooksOf(f, "k")
	hook := addHook(t, store, f.Whole(), webhook.Filter{})
	for range 10 {
		_, err := store.SendTest(t.Context(), f.Whole(), hook.WebhookID)
		fatal.If(t, err)
	}
	claimed, err := store.Claim(t.Context(), 1, 100, time.Minute)
	fatal.If(t, err)
	more, err := store.Claim(t.Context(), 1, 100, time.Minute)
	fatal.If(t, err)
	if len(claimed) != 4 || len(more) != 0 {
		t.Errorf("claimed %d and %d", len(claimed), len(more))
	}
	for _, of := range claimed {
		_, _, err := store.Finish(t.Context(), of, webhook.Answer{Status: 500})
		fatal.If(t, err)
	}
	if claimed, err = store.Claim(t.Context(), 1, 100, time.Minute); err != nil || len(claimed) != 1 {
		t.Fatalf("claimed %d of an endpoint that fails, %v", len(claimed), err)
	}
	_, _, err = store.Finish(t.Context(), claimed[0], webhook.Answer{Status: 429, RetryAfter: "3600"})
	fatal.If(t, err)
	if pending, err := store.Pending(t.Context()); err != nil || len(pending) != 0 {
		t.Errorf("an endpoint that wants no requests is due: %v, %v", pending, err)
	}
	for _, status := range []int{502, 200} { // of requests that ran meanwhile
		_, _, err = store.Finish(t.Context(), claimed[0], webhook.Answer{Status: status})
		fatal.If(t, err)
	}
	found, err := store.FindMany(t.Context(), f.Whole(), []int64{hook.WebhookID})
	fatal.If(t, err)
	if of := found[hook.WebhookID]; of.FailingSince != nil || of.PausedUntil == nil || of.PausedUntil.Sub(f.Now) != time.Hour {
		t.Errorf("%+v", of)
	}
}

func TestEveryFieldOfAWebhookCanBeEditedByItself(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
	store := hooksOf(f, "k")
	hook := addHook(t, store, f.Whole(), webhook.Filter{})
	edit := func(of webhook.Edit) *webhook.Endpoint {
		t.Helper()
		edited, err := store.Edit(t.Context(), f.Whole(), hook.WebhookID, of)
		fatal.If(t, err)
		return edited
	}
	edit(webhook.Edit{Name: new("other")})
	edit(webhook.Edit{URL: new("https://example.com/other")})
	edit(webhook.Edit{Format: new(webhook.Slack)})
	edit(webhook.Edit{EventTypes: &[]webhook.EventType{webhook.AlertFired}})
	edit(webhook.Edit{AlertIDs: &[]int64{1}})
	edit(webhook.Edit{GroupIDs: &[]int64{2, 3}})
	edit(webhook.Edit{TagNames: &[]string{"a, b"}})
	got := edit(webhook.Edit{TagNames: &[]string{"a", "b"}}) // whose text is the same
	fleettest.Same(t, fmt.Sprintf("%s %s %s %v %v %v %q", got.Name, got.URL, got.Format, got.EventTypes, got.AlertIDs, got.GroupIDs, got.TagNames),
		`other https://example.com/other slack [alert.fired] [1] [2 3] ["a" "b"]`)
	edit(webhook.Edit{Name: new("other"), TagNames: &[]string{"a", "b"}})
	var edits int
	fatal.If(t, f.Pool.Get(&edits, `SELECT count(*) FROM audit_log WHERE action = 'webhook.edit'`))
	fleettest.Same(t, edits, 8)
}

func TestWorkersThatClaimTogetherKeepTheBoundOfAnEndpoint(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
	store := hooksOf(f, "k")
	hook := addHook(t, store, f.Whole(), webhook.Filter{})
	for range webhook.TestsPerHour {
		_, err := store.SendTest(t.Context(), f.Whole(), hook.WebhookID)
		fatal.If(t, err)
	}
	for round := range 30 {
		var claiming sync.WaitGroup
		var claimed [6][]*webhook.Attempt
		for i := range claimed {
			claiming.Go(func() {
				var err error
				if claimed[i], err = store.Claim(t.Context(), 1, 100, time.Minute); err != nil {
					t.Error(err)
				}
			})
		}
		claiming.Wait()
		if all := slices.Concat(claimed[:]...); len(all) != webhook.AtOnce {
			t.Fatalf("claimed %d in round %d", len(all), round)
		}
		f.Now = f.Now.Add(2 * time.Minute) // the leases end
	}
}

func TestAnEndpointThatFailsForFiveDaysIsDisabled(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
	_, err := f.Recipients.Create(t.Context(), f.Whole(), "ops@acme.example", domain.Choice{})
	fatal.If(t, err)
	store := hooksOf(f, "k")
	hook := addHook(t, store, f.Whole(), webhook.Filter{})
	fail := func() (webhook.Result, webhook.DisabledReason) {
		t.Helper()
		attempts, err := store.Claim(t.Context(), 1, 1, time.Minute)
		fatal.If(t, err)
		if len(attempts) != 1 {
			t.Fatalf("claimed %d", len(attempts))
		}
		result, disabled, err := store.Finish(t.Context(), attempts[0], webhook.Answer{Status: 500, Error: "the answer was 500"})
		fatal.If(t, err)
		return result, disabled
	}
	_, err = store.SendTest(t.Context(), f.Whole(), hook.WebhookID)
	fatal.If(t, err)
	for attempt := 1; attempt <= 10; attempt++ {
		result, disabled := fail()
		if disabled != "" || (result == webhook.ResultFailed) != (attempt == 10) {
			t.Fatalf("attempt %d: %s %s", attempt, result, disabled)
		}
		f.Now = f.Now.Add([]time.Duration{time.Minute, 10 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 17 * time.Hour, 24 * time.Hour, 29 * time.Hour, 0}[attempt-1])
	}
	dead, err := store.CountDeliveries(t.Context(), f.Whole(), domain.Listing{Filter: fleettest.Equal(t, webhook.DeliveryFields, "state", string(domain.DeliveryFailed))})
	fatal.If(t, err)
	fleettest.Same(t, dead, 1)
	f.Now = f.Now.Add(webhook.FailingSpan)
	_, err = store.SendTest(t.Context(), f.Whole(), hook.WebhookID)
	fatal.If(t, err)
	if _, disabled := fail(); disabled != webhook.Failing {
		t.Errorf("disabled %q", disabled)
	}
	found, err := store.FindMany(t.Context(), f.Whole(), []int64{hook.WebhookID})
	fatal.If(t, err)
	if of := found[hook.WebhookID]; of.DisabledAt == nil || *of.DisabledReason != webhook.Failing {
		t.Errorf("%+v", of)
	}
	mails, err := f.Outbox.Claim(t.Context(), 1, domain.Digest{Wait: time.Second, HourlyCap: 1, MaxEntries: 1}, 10, time.Minute)
	fatal.If(t, err)
	if len(mails) != 1 || mails[0].Kind != domain.MailWebhook || !strings.Contains(mails[0].Note, "was disabled") {
		t.Errorf("%+v", mails)
	}
}

func TestGoneDisablesAtOnceAndACompanyHas20Webhooks(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
	store := hooksOf(f, "k")
	hook := addHook(t, store, f.Whole(), webhook.Filter{})
	_, err := store.SendTest(t.Context(), f.Whole(), hook.WebhookID)
	fatal.If(t, err)
	attempts, err := store.Claim(t.Context(), 1, 1, time.Minute)
	fatal.If(t, err)
	result, disabled, err := store.Finish(t.Context(), attempts[0], webhook.Answer{Status: 410})
	fatal.If(t, err)
	if result != webhook.ResultFailed || disabled != webhook.Gone {
		t.Errorf("%s %s", result, disabled)
	}
	if _, err := store.SendTest(t.Context(), f.Whole(), hook.WebhookID); err == nil {
		t.Error("a disabled webhook is tested")
	}
	for range webhook.MaxEndpoints - 1 {
		addHook(t, store, f.Whole(), webhook.Filter{})
	}
	if _, _, err := store.Create(t.Context(), f.Whole(), webhook.Spec{
		Name: "one more", URL: "https://example.com", Format: webhook.Slack, Filter: webhook.Filter{EventTypes: webhook.Types},
	}); err == nil {
		t.Error("there is one webhook more")
	}
}

func TestOldMessagesArePruned(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
	store := hooksOf(f, "k")
	hook := addHook(t, store, f.Whole(), webhook.Filter{})
	for range 2 {
		_, err := store.SendTest(t.Context(), f.Whole(), hook.WebhookID)
		fatal.If(t, err)
		f.Now = f.Now.Add(24 * time.Hour)
	}
	n, err := store.Prune(t.Context(), fleettest.Expired(t, retention.Messages, 30, f.Now.Add(-36*time.Hour).AddDate(0, 0, 30)))
	fatal.If(t, err)
	fleettest.Same(t, n, 1)
}

// A secret that was sealed with another key signs nothing, and its messages wait.
func TestAnotherKeyOpensNoSecret(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
	hook := addHook(t, hooksOf(f, "k"), f.Whole(), webhook.Filter{})
	_, err := hooksOf(f, "k").SendTest(t.Context(), f.Whole(), hook.WebhookID)
	fatal.If(t, err)
	if attempts, err := hooksOf(f, "x").Claim(t.Context(), 1, 10, time.Minute); err == nil || len(attempts) > 0 {
		t.Errorf("%v %v", attempts, err)
	}
	if attempts, err := hooksOf(f, "k").Claim(t.Context(), 1, 10, time.Minute); err != nil || len(attempts) != 1 {
		t.Errorf("%v %v", attempts, err)
	}
}
