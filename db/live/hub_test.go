package live

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"simgraph/domain"
)

const (
	acme  = domain.CompanyID(1)
	rival = domain.CompanyID(2)
)

// waiting takes all that waits, in words.
func waiting[K comparable, V any](b *backlog[K, V]) string {
	var words []string
	for {
		keys, values := b.cut(2) // in parts
		if len(keys) == 0 {
			return strings.Join(words, " ")
		}
		for i, key := range keys {
			words = append(words, fmt.Sprintf("%v%v", key, values[i]))
		}
	}
}

// What is announced reaches the streams of its company and kind; what cannot be read, as
// from a newer version, reaches none.
func TestAnnouncementsReachTheStreamsOfTheirKind(t *testing.T) {
	t.Parallel()
	id := uuid.MustParse("0197d3f0-0000-7000-8000-000000000001")
	for payload, want := range map[string]string{
		"changed 1 7,8,7":                    "changes 7{} 8{}",
		"changed 1 7,x,,9":                   "changes 7{} 9{}",
		"changed 2 7":                        "",
		"usage 1 1000 7:5:50,8:1:10,7:2:52":  "usage {7 1000}{7 52} {8 1000}{1 10}",
		"usage 1 1000 7:2:52,7:5:50":         "usage {7 1000}{7 52}", // out of order
		"usage 1 1000 7:2,x:1:1,8:1:10":      "usage {8 1000}{1 10}",
		"usage 1 x 7:2:52":                   "",
		"usage 2 1000 7:5:50":                "",
		"alert 1 " + id.String():             "alerts " + id.String() + "{}",
		"alert 1 none":                       "",
		"alert 2 " + id.String():             "",
		"operation 1 " + id.String():         "operations " + id.String() + "{}",
		"operation 1":                        "",
		"other 1 7":                          "",
		"changed x 7":                        "",
		"changed":                            "",
		"":                                   "",
		"changed 1 99999999999999999999,7  ": "",
	} {
		h := newHub()
		alerts, operations := newBacklog[uuid.UUID, struct{}](9, nil), newBacklog[uuid.UUID, struct{}](9, nil)
		changes, usage := newBacklog[int64, struct{}](9, nil), newBacklog[usageKey](9, usageSum.plus)
		h.alerts.join(acme, alerts)
		h.operations.join(acme, operations)
		h.changes.join(acme, changes)
		h.usage.join(acme, usage)
		h.dispatch(payload)
		got := ""
		for _, of := range [][2]string{{"alerts", waiting(alerts)}, {"operations", waiting(operations)}, {"changes", waiting(changes)}, {"usage", waiting(usage)}} {
			if of[1] != "" {
				got += strings.Join(of[:], " ")
			}
		}
		if got != want {
			t.Errorf("%q: %q, want %q", payload, got, want)
		}
	}
}

// A stream that left gets no more, and its company is not followed once all left.
func TestAStreamThatLeftGetsNothing(t *testing.T) {
	t.Parallel()
	crowd := newCrowd[int64, struct{}]()
	one, two := newBacklog[int64, struct{}](9, nil), newBacklog[int64, struct{}](9, nil)
	leave, leaveToo := crowd.join(acme, one), crowd.join(acme, two)
	crowd.put(acme, 7, struct{}{})
	leave()
	leave() // once more changes nothing
	crowd.put(acme, 8, struct{}{})
	if got := waiting(one) + ", " + waiting(two); got != "7{}, 7{} 8{}" {
		t.Error(got)
	}
	if !crowd.follows(acme) || crowd.follows(rival) || len(crowd.companies()) != 1 {
		t.Errorf("followed are %v", crowd.companies())
	}
	if leaveToo(); crowd.follows(acme) || len(crowd.companies()) != 0 {
		t.Errorf("followed are %v", crowd.companies())
	}
}

// However many events there are of a few keys, they wait as one each; a reader that falls
// behind by more keys than its bound loses the stream, and gets nothing that came later.
func TestABacklogIsBoundedByItsKeys(t *testing.T) {
	t.Parallel()
	b := newBacklog[usageKey](3, usageSum.plus)
	b.wanted = func(k usageKey) bool { return k.subscriber < 10 }
	for n := range int64(1000) {
		b.put(usageKey{n % 3, 0}, usageSum{1, n})
		b.put(usageKey{10 + n, 0}, usageSum{1, n}) // not wanted
	}
	if b.failure() != nil {
		t.Fatal(b.failure())
	}
	if got := waiting(b); got != "{0 0}{334 999} {1 0}{333 997} {2 0}{333 998}" {
		t.Error(got)
	}
	for n := range int64(4) {
		b.put(usageKey{n, 0}, usageSum{1, 1})
	}
	if fault, is := domain.AsError(b.failure()); !is || fault.Kind != domain.KindRateLimited {
		t.Fatalf("%v", b.failure())
	}
	b.put(usageKey{0, 0}, usageSum{1, 1})
	if got := waiting(b); got != "{0 0}{1 1} {1 0}{1 1} {2 0}{1 1}" {
		t.Errorf("after the stream was lost, %s wait", got)
	}
	b.fail(errors.New("later"))
	if fault, is := domain.AsError(b.failure()); !is || fault.Kind != domain.KindRateLimited {
		t.Errorf("the first failure became %v", b.failure())
	}
}

// A lost connection ends the streams that cannot be made up for, and leaves those of alerts.
func TestALostConnectionEndsWhatCannotBeReadAgain(t *testing.T) {
	t.Parallel()
	h := newHub()
	alerts, operations := newBacklog[uuid.UUID, struct{}](9, nil), newBacklog[uuid.UUID, struct{}](9, nil)
	changes, usage := newBacklog[int64, struct{}](9, nil), newBacklog[usageKey](9, usageSum.plus)
	h.alerts.join(acme, alerts)
	h.operations.join(rival, operations)
	h.changes.join(acme, changes)
	h.usage.join(rival, usage)
	h.fail(errMissed)
	if alerts.failure() != nil {
		t.Errorf("the stream of alerts ends: %v", alerts.failure())
	}
	for name, err := range map[string]error{"operations": operations.failure(), "changes": changes.failure(), "usage": usage.failure()} {
		if !errors.Is(err, errMissed) {
			t.Errorf("the stream of %s: %v", name, err)
		}
	}
}

// A stream ends with its context, with a load that fails, and leaves either way.
func TestAStreamEndsByItsContextAndByFailures(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, fails := range map[string]error{"context": nil, "load": broken} {
		ctx, cancel := context.WithCancel(t.Context())
		b, left := newBacklog[int64, struct{}](9, nil), make(chan struct{})
		stream := follow(ctx, b, func() { close(left) }, func(_ context.Context, keys []int64, _ []struct{}) ([]int64, error) { return keys, fails })
		b.put(7, struct{}{})
		if fails == nil {
			if got := <-stream.Events; got != 7 {
				t.Error(got)
			}
			cancel()
		}
		for event := range stream.Events {
			t.Errorf("%s: %d", name, event)
		}
		<-left
		if !errors.Is(stream.Err(), fails) {
			t.Errorf("%s: %v", name, stream.Err())
		}
		cancel()
	}
}

// The listener prefers TLS where the address leaves it open, and takes both ways to write one.
func TestTheListenerUsesTheAddressAsThePoolDoes(t *testing.T) {
	t.Parallel()
	for address, want := range map[string][]string{
		"postgres://h/db":                    {"application_name=", "sslmode=prefer"},
		"postgres://h/db?sslmode=disable":    {"application_name=", "sslmode=disable"},
		"postgres://h/db?sslmode=verify-ca":  {"application_name=", "sslmode=verify-ca"},
		"host=h dbname=db":                   {"application_name=", "sslmode=prefer"},
		"host=h dbname=db sslmode=disable":   {"application_name=", "sslmode=disable"},
		"postgres://u:p%40ss@h:1/db?x_y.z=1": {"p%40ss@h:1", "sslmode=prefer"},
	} {
		got, err := listenAddress(address)
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		for _, part := range want {
			if !strings.Contains(got, part) {
				t.Errorf("%s became %s, without %s", address, got, part)
			}
		}
		if n := strings.Count(got, "sslmode="); n != 1 {
			t.Errorf("%s became %s, with %d TLS modes", address, got, n)
		}
	}
	if _, err := listenAddress("postgres://u:secret@h:x/db"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
}
