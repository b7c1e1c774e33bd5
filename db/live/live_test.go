package live_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"simgraph/db/fleettest"
	"simgraph/db/live"
	"simgraph/db/subscriber"
	"simgraph/db/tag"
	"simgraph/db/usage"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

// follow starts to listen beside the fleet.
func follow(f *fleettest.Fleet) *live.Store {
	f.T.Helper()
	live := live.New(f.Pool, f.URL, slog.New(slog.NewTextHandler(f.T.Output(), nil)))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := live.Run(ctx); err != nil {
			f.T.Error(err)
		}
	}()
	f.T.Cleanup(func() { cancel(); <-done })
	return live
}

// next returns the next event, after do was repeated until there is one: when
// the listener begins to listen is not known.
func next[T any](t *testing.T, stream *domain.Stream[T], do func()) T {
	t.Helper()
	deadline := time.After(time.Minute)
	for {
		if do != nil {
			do()
		}
		select {
		case event, open := <-stream.Events:
			if !open {
				t.Fatalf("the stream ended: %v", stream.Err())
			}
			return event
		case <-time.After(200 * time.Millisecond):
		case <-deadline:
			t.Fatal("no event")
		}
	}
}

func none[T any](t *testing.T, stream *domain.Stream[T]) {
	t.Helper()
	select {
	case event, open := <-stream.Events:
		t.Fatalf("got %v, open %t", event, open)
	case <-time.After(100 * time.Millisecond):
	}
}

func onVolume(entry domain.AlertLogEntry) *domain.VolumeLogEntry {
	return entry.(*domain.VolumeLogEntry)
}

func TestAlertsAreTriggeredLiveForThoseWhoSeeThem(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
	live := follow(f)
	all, err := live.AlertTriggered(t.Context(), f.Whole())
	fatal.If(t, err)
	boatmen, err := live.AlertTriggered(t.Context(), fleettest.Only(fleettest.Boats))
	fatal.If(t, err)
	strangers, err := live.AlertTriggered(t.Context(), domain.Whole(2))
	fatal.If(t, err)
	threshold := int64(0)
	f.Use(1, 1_000_000, f.Now)
	f.Use(5, 1_000_000, f.Now)
	fire := func(target string) func() {
		return func() { threshold++; f.Create(domain.RuleSIM, target, threshold, 1<<40) }
	}
	fleettest.Same(t, onVolume(next(t, all, fire("s1"))).Target, "s1")
	fleettest.Same(t, onVolume(next(t, boatmen, fire("s5"))).Target, "s5")
	none(t, boatmen)
	none(t, strangers)
}

func TestUsageIsToldLiveAndAddedUp(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
	live := follow(f)
	some, err := live.UsageRecorded(t.Context(), f.Whole(), []string{"p2", "p5"})
	fatal.If(t, err)
	vansOnly, err := live.UsageRecorded(t.Context(), fleettest.Only(fleettest.Vans), nil)
	fatal.If(t, err)
	first := next(t, some, func() { f.Use(2, 10, f.Now) })
	fleettest.Same(t, first.Subscriber.PhysicalID, "p2")
	fleettest.Same(t, first.PeriodStart, fleettest.ClockAt("2026-11-01 00:00"))
	f.Use(1, 5, f.Now)
	f.Use(5, 7, f.Now)
	for event := next(t, some, nil); event.Subscriber.PhysicalID != "p5"; event = next(t, some, nil) {
		fleettest.Same(t, event.Subscriber.PhysicalID, "p2")
	}
	// While nobody takes them, events of a subscriber add up.
	for range 20 {
		f.Use(1, 1, f.Now)
	}
	var bytes, usage int64
	for bytes < 25 {
		event := next(t, vansOnly, nil)
		if event.Subscriber.PhysicalID == "p1" {
			bytes, usage = bytes+event.Bytes, event.Usage
		} else {
			fleettest.Same(t, event.Subscriber.PhysicalID, "p2")
		}
	}
	fleettest.Same(t, bytes, 25)
	fleettest.Same(t, usage, 25)
	_, err = live.UsageRecorded(t.Context(), fleettest.Only(fleettest.Vans), []string{"p5"})
	if fault, is := domain.AsError(err); !is || fault.Kind != domain.KindNotFound {
		t.Fatalf("got %v", err)
	}
}

func TestSubscribersAreToldWhenTheyChange(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
	live := follow(f)
	stream, err := live.SubscriberChanged(t.Context(), fleettest.Only(fleettest.Vans), nil)
	fatal.If(t, err)
	subscribers, tags := subscriber.New(f.Pool), tag.New(f.Pool)
	n := 0
	rename := func() {
		n++
		for _, id := range []string{"p1", "p5"} {
			_, err := subscribers.EditNickname(t.Context(), f.Whole(), id, fmt.Sprint("name ", n))
			fatal.If(t, err)
		}
	}
	changed := next(t, stream, rename)
	fleettest.Same(t, changed.PhysicalID, "p1")
	if !strings.HasPrefix(changed.Nickname, "name ") {
		t.Fatalf("got %s", changed.Nickname)
	}
	_, err = tags.Attach(t.Context(), f.Whole(), "red", []string{"p2"})
	fatal.If(t, err)
	for changed.PhysicalID != "p2" {
		changed = next(t, stream, nil)
	}
}

func TestASlowReaderLosesItsStreamWithAnError(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
	f.AddSubscribers(100_001, 102_000, fleettest.Vans)
	live := follow(f)
	live.MaxWaiting = 1_000 // its loads are of 500
	stream, err := live.UsageRecorded(t.Context(), f.Whole(), nil)
	fatal.If(t, err)
	next(t, stream, func() { f.Use(1, 10, f.Now) })
	changes := make([]usage.TotalChange, 2_000)
	for i := range changes {
		changes[i] = usage.TotalChange{ID: int64(100_001 + i), PeriodStart: fleettest.ClockAt("2026-11-01 00:00"), After: 5}
	}
	tx := f.Pool.MustBegin()
	f.Book(tx, changes, nil)
	fatal.If(t, tx.Commit())
	for deadline := time.Now().Add(time.Minute); stream.Err() == nil && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	n := 0
	for range stream.Events {
		n++
	}
	if fault, is := domain.AsError(stream.Err()); !is || fault.Kind != domain.KindRateLimited || n > live.MaxWaiting {
		t.Fatalf("got %v after %d events", stream.Err(), n)
	}
}

func TestALostConnectionLosesNoAlert(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", time.Now().UTC())
	live := follow(f)
	alerts, err := live.AlertTriggered(t.Context(), f.Whole())
	fatal.If(t, err)
	changes, err := live.SubscriberChanged(t.Context(), f.Whole(), nil)
	fatal.If(t, err)
	f.Use(1, 1_000_000, f.Now)
	threshold := int64(0)
	next(t, alerts, func() { threshold++; f.Create(domain.RuleSIM, "s1", threshold, 1<<40) })
	f.Pool.MustExec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = current_database()`)
	missed := f.Create(domain.RuleSIM, "s1", 500_000, 1<<40)
	for {
		if entry := onVolume(next(t, alerts, nil)); entry.AlertID == missed.AlertID {
			break
		}
	}
	for range changes.Events {
	}
	if fault, is := domain.AsError(changes.Err()); !is || fault.Kind != domain.KindUnavailable {
		t.Fatalf("got %v", changes.Err())
	}
}

// A transaction that began before the last notice may commit after it: what it
// fired is read after a reconnect.
func TestALostConnectionLosesNoAlertOfALongTransaction(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", time.Now().UTC())
	alerts, err := follow(f).AlertTriggered(t.Context(), f.Whole())
	fatal.If(t, err)
	f.Use(1, 1_000_000, f.Now)
	threshold := int64(0)
	next(t, alerts, func() { threshold++; f.Create(domain.RuleSIM, "s1", threshold, 1<<40) })
	f.Pool.MustExec(`
INSERT INTO alert_log (company_id, alert_id, rule_type, target, limit_boundary, revision, subscriber_key, period_start, period_end,
  threshold, usage, late, notification_id, date_created)
SELECT company_id, alert_id, rule_type, 'missed', limit_boundary, revision + 100, subscriber_key, period_start, period_end,
  threshold, usage, late, gen_random_uuid(), clock_timestamp() - interval '10 seconds' FROM alert_log LIMIT 1`)
	f.Pool.MustExec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = current_database()`)
	for {
		if onVolume(next(t, alerts, nil)).Target == "missed" {
			break
		}
	}
}
