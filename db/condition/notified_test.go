package condition_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	hooks "simgraph/db/webhook"
	"simgraph/domain"
	"simgraph/domain/condition"
	"simgraph/domain/webhook"
	"simgraph/internal/fatal"
	"simgraph/internal/seal"
)

// Webhooks get what they want of it, those of users of groups what concerns these alone.
func TestWebhooksGetWhatConditionsNotice(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	endpoints := hooks.New(f.pool, hooks.Options{Key: func() (seal.Key, error) { return make([]byte, seal.KeySize), nil }, Now: func() time.Time { return f.now }})
	hook := func(name string, of domain.Scope, filter webhook.Filter) {
		f.Helper()
		_, _, err := endpoints.Create(t.Context(), of, webhook.Spec{Name: name, URL: "https://example.com", Format: webhook.CloudEvents, Filter: filter})
		fatal.If(f, err)
	}
	for n := 1; n <= 8; n++ {
		f.record(n, "gw")
	}
	f.now = f.now.Add(time.Hour)
	f.record(1, "gw")
	of := f.create(domain.RuleGroupMember, "13", silentFor(2))
	f.create(domain.RuleCompany, "", silentFor(3))
	hook("all", scope, webhook.Filter{EventTypes: webhook.Types[:3]})
	hook("one alert", scope, webhook.Filter{EventTypes: webhook.Types[:2], AlertIDs: []int64{of.AlertID}})
	hook("boats", domain.Scope{Company: 1, Groups: []int64{13}}, webhook.Filter{EventTypes: webhook.Types[:3]})
	hook("vans", domain.Scope{Company: 1, Groups: []int64{12}}, webhook.Filter{EventTypes: webhook.Types[:3]})
	hook("resolved", scope, webhook.Filter{EventTypes: []webhook.EventType{webhook.AlertResolved}})
	f.pool.MustExec(`
INSERT INTO users (company_id, user_id, email, permissions) VALUES (1, 7, 'boats@acme.example', '{}');
INSERT INTO user_groups VALUES (1, 7, 13);
UPDATE webhooks SET user_id = 7 WHERE name IN ('boats', 'vans')`)
	f.pass(0)
	f.now = f.now.Add(time.Hour)
	for n := 1; n <= 6; n++ {
		f.record(n, "gw")
	}
	f.pass(0) // 7 and 8 are silent for 2 hours
	f.now = f.now.Add(2 * time.Hour)
	f.pass(time.Minute) // the source is
	for n := 1; n <= 7; n++ {
		f.record(n, "gw")
	}
	f.pass(time.Minute) // 7 is seen, the source too; 8 is silent for 3 hours
	type message struct{ Name, Event string }
	var messages []message
	fatal.If(f, f.pool.Select(&messages, `SELECT w.name, m.event FROM webhook_messages m JOIN webhooks w USING (company_id, webhook_id)`))
	var got []string
	for _, m := range messages {
		var event struct {
			ID, Type, Subject string
			Data              webhook.ConditionEntry
		}
		fatal.If(f, json.Unmarshal([]byte(m.Event), &event))
		if event.ID != fmt.Sprintf("condition-%d", event.Data.EntryID) || event.Data.Text == "" {
			t.Errorf("%+v", event)
		}
		got = append(got, fmt.Sprintf("%s: %s %s %s %d", m.Name, event.Type, event.Data.Kind, event.Subject, event.Data.Bound))
	}
	slices.Sort(got)
	want := []string{}
	for _, name := range []string{"all", "boats", "one alert"} {
		want = append(want, name+": alert.fired silent subscribers/p7 2", name+": alert.fired silent subscribers/p8 2", name+": alert.resolved silent subscribers/p7 2")
	}
	for _, name := range []string{"all", "resolved"} {
		want = append(want, name+": alert.resolved source sources/gw 120")
	}
	want = append(want, "all: source.silent source sources/gw 120", "all: alert.fired silent subscribers/p8 3", "resolved: alert.resolved silent subscribers/p7 2",
		"one alert: alert.resolved source sources/gw 120")
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("sent were\n%s\nwant\n%s", lines(got), lines(want))
	}
}

func lines(of []string) (text string) {
	for _, line := range of {
		text += line + "\n"
	}
	return text
}

// An alert that is edited is armed again, and one that is deleted reports nothing more.
func TestAnEditedAlertIsArmedAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.record(1, "gw")
	of := f.create(domain.RuleSIM, "s1", silentFor(2))
	f.now = f.now.Add(3 * time.Hour)
	f.record(2, "gw")
	f.round()
	f.logs("fired silent p1 9 12:00")
	same, err := f.conditions.Edit(t.Context(), scope, of.AlertID, toBe(silentFor(2)))
	fatal.If(f, err)
	if same.Revision != 1 {
		t.Errorf("an edit that changes nothing made the revision %d", same.Revision)
	}
	_, err = f.conditions.Edit(t.Context(), scope, of.AlertID, toBe(condition.Condition{Kind: condition.Storm, Bound: 2}))
	if fault, is := domain.AsError(err); !is || fault.Field != "condition" {
		t.Errorf("another kind: %v", err)
	}
	_, err = f.conditions.Edit(t.Context(), scope, of.AlertID, toBe(silentFor(1)))
	fatal.If(f, err)
	f.round()
	f.logs("fired silent p1 9 12:00", "fired silent p1 9 12:00")
	_, err = f.conditions.Remove(t.Context(), scope, of.AlertID)
	fatal.If(f, err)
	f.record(1, "gw")
	f.pass(time.Hour)
	f.logs("fired silent p1 9 12:00", "fired silent p1 9 12:00")
	if left, all := f.opened(), len(f.entries()); all != 2 || left != 0 {
		t.Errorf("%d entries, %d of them open", all, left)
	}
}

// An alert that is edited while another instance writes what it noticed has no entry of
// what it was before.
func TestWhatAnAlertWasBeforeAnEditIsNotLogged(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.record(1, "gw")
	f.create(domain.RuleSIM, "s1", silentFor(2))
	f.now = f.now.Add(3 * time.Hour)
	f.record(2, "gw")
	edit := f.pool.MustBegin()
	defer func() { _ = edit.Rollback() }()
	edit.MustExec(`UPDATE condition_alerts SET bound = 24, revision = revision + 1 WHERE company_id = 1`)
	evaluated := make(chan error, 1)
	go func() { evaluated <- f.conditions.Round(t.Context()) }()
	for waiting := 0; waiting == 0 && len(evaluated) == 0; time.Sleep(5 * time.Millisecond) {
		fatal.If(f, f.pool.Get(&waiting, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`))
	}
	fatal.If(f, edit.Commit())
	fatal.If(f, <-evaluated)
	f.logs()
}

// What is not in use is not missed: it was barred, terminated or deactivated, or is a
// profile that is not enabled.
func TestWhatIsNotInUseIsNotMissed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for n := 1; n <= 8; n++ {
		f.record(n, "gw")
	}
	f.pool.MustExec(`UPDATE subscribers SET is_barred = key = 2, is_active = key <> 3, terminate_date = CASE WHEN key = 4 THEN $1::timestamptz END,
  connection_date = CASE WHEN key = 5 THEN $1::timestamptz ELSE connection_date END, parent_key = CASE WHEN key IN (6, 7) THEN 1 END,
  is_enabled_on_parent = CASE WHEN key IN (6, 7) THEN key = 7 END`, monday.Add(2*time.Hour))
	f.create(domain.RuleCompany, "", silentFor(2))
	f.now = f.now.Add(3 * time.Hour)
	f.record(8, "gw")
	f.round()
	f.logs("fired silent p1 9 12:00", "fired silent p7 9 12:00")
	f.pool.MustExec(`UPDATE subscribers SET is_barred = true WHERE key = 1`)
	f.pass(time.Minute)
	if open := f.opened(); open != 1 {
		t.Errorf("%d silences are open, not 1", open)
	}
}

// opened counts the silences that last.
func (f *fixture) opened() (n int) {
	f.Helper()
	fatal.If(f, f.pool.Get(&n, `SELECT count(*) FROM condition_log WHERE is_open`))
	return n
}
