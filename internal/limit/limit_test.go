package limit_test

import (
	"context"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"simgraph/domain"
	"simgraph/internal/fatal"
	"simgraph/internal/limit"
)

// clock is one that tests turn.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func newClock() *clock { return &clock{time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)} }

func TestABucketTakesItsBurstAndThenItsRate(t *testing.T) {
	t.Parallel()
	c := newClock()
	b := limit.NewBuckets(10, 20, c.now)
	for i := range 20 {
		if wait := b.Take("a", 1); wait != 0 {
			t.Fatalf("the %dth is refused for %v", i+1, wait)
		}
	}
	if wait := b.Take("a", 1); wait != 100*time.Millisecond {
		t.Errorf("a full bucket has room after %v", wait)
	}
	if wait := b.Take("b", 1); wait != 0 {
		t.Errorf("another key waits %v", wait)
	}
	c.at = c.at.Add(100 * time.Millisecond)
	if wait := b.Take("a", 1); wait != 0 {
		t.Errorf("after the time that was named it waits %v", wait)
	}
	if wait := b.Take("a", 1); wait == 0 {
		t.Error("more than the rate is taken")
	}
}

func TestWhatExceedsABucketFitsIntoAnEmptyOneAndIsPaidLater(t *testing.T) {
	t.Parallel()
	c := newClock()
	b := limit.NewBuckets(10, 20, c.now)
	if wait := b.Take("a", 100); wait != 0 {
		t.Fatalf("waits %v", wait)
	}
	if wait := b.Take("a", 1); wait != 8100*time.Millisecond {
		t.Errorf("the debt is paid after %v", wait)
	}
	if wait := b.Take("a", 100); wait != 10*time.Second {
		t.Errorf("the bucket is empty after %v", wait)
	}
}

func TestAClockThatIsSetBackNeitherFreesNorHoldsForLong(t *testing.T) {
	t.Parallel()
	c := newClock()
	b := limit.NewBuckets(10, 10, c.now)
	b.Take("a", 10)
	c.at = c.at.Add(-time.Hour)
	if wait := b.Take("a", 1); wait != 100*time.Millisecond {
		t.Errorf("waits %v", wait)
	}
}

// Over any time a key gets at most its burst and its rate, and who waits as long
// as it was advised is let through.
func TestABucketKeepsItsPromise(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := newClock()
		rate, burst := rapid.Float64Range(1, 100).Draw(t, "rate"), rapid.Float64Range(100, 500).Draw(t, "burst")
		b := limit.NewBuckets(rate, burst, c.now)
		var taken, last float64
		began := c.at
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			n := rapid.Float64Range(0, burst).Draw(t, "n")
			if wait := b.Take("a", n); wait > 0 {
				c.at = c.at.Add(wait)
				if again := b.Take("a", n); again > time.Microsecond {
					t.Fatalf("promised %v, waits %v more", wait, again)
				} else if again > 0 {
					continue
				}
			}
			taken, last = taken+n, n
			if most := burst + rate*c.at.Sub(began).Seconds(); taken > most+1e-3 {
				t.Fatalf("%v is taken of %v, the last %v", taken, most, last)
			}
			c.at = c.at.Add(time.Duration(rapid.IntRange(0, int(time.Second)).Draw(t, "pause")))
		}
	})
}

func TestCountsHoldAndFree(t *testing.T) {
	t.Parallel()
	c := limit.NewCounts(2)
	first, _ := c.Enter("a")
	_, ok := c.Enter("a")
	if _, third := c.Enter("a"); !ok || third {
		t.Fatalf("second %v, third %v", ok, third)
	}
	if _, other := c.Enter("b"); !other {
		t.Error("another key is refused")
	}
	first()
	first()
	_, ok = c.Enter("a")
	if _, again := c.Enter("a"); !ok || again {
		t.Errorf("leaving twice frees two: %v %v", ok, again)
	}
}

func TestWhatFindsNoSlotInTimeIsShed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := limit.NewSlots(2, 1, time.Second)
		for range 2 {
			if !s.Enter(t.Context()) {
				t.Fatal("a free slot is refused")
			}
		}
		began := time.Now()
		waited := make(chan bool)
		go func() { waited <- s.Enter(t.Context()) }()
		synctest.Wait()
		if s.Enter(t.Context()) || time.Since(began) != 0 {
			t.Error("beyond the queue nothing waits")
		}
		if <-waited || time.Since(began) != time.Second {
			t.Errorf("shed after %v", time.Since(began))
		}
		go func() { waited <- s.Enter(t.Context()) }()
		synctest.Wait()
		s.Leave()
		if !<-waited {
			t.Error("who waits does not get the slot")
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if s.Enter(ctx) {
			t.Error("who has gone gets a slot")
		}
	})
}

func TestNoMoreRunThanThereAreSlots(t *testing.T) {
	t.Parallel()
	s := limit.NewSlots(4, 1000, time.Minute)
	var running, most atomic.Int64
	var all sync.WaitGroup
	for range 200 {
		all.Go(func() {
			if !s.Enter(t.Context()) {
				t.Error("refused")
				return
			}
			defer s.Leave()
			for n := running.Add(1); n > most.Load(); {
				most.Store(n)
			}
			time.Sleep(time.Millisecond)
			running.Add(-1)
		})
	}
	all.Wait()
	if n := most.Load(); n > 4 {
		t.Errorf("%d ran at once", n)
	}
}

func TestTheClientIsTheLastAddressThatIsNoTrustedProxy(t *testing.T) {
	t.Parallel()
	proxies, err := limit.ParseProxies([]string{"10.0.0.0/8", "::1"})
	fatal.If(t, err)
	for _, c := range []struct{ peer, forwarded, want string }{
		{"192.0.2.1:99", "", "192.0.2.1"},
		{"192.0.2.1:99", "203.0.113.5", "192.0.2.1"},
		{"10.1.1.1:99", "203.0.113.5", "203.0.113.5"},
		{"10.1.1.1:99", "198.51.100.9, 203.0.113.5, 10.2.2.2", "203.0.113.5"},
		{"10.1.1.1:99", "nonsense", "10.1.1.1"},
		{"10.1.1.1:99", "203.0.113.5:4711", "203.0.113.5"},
		{"10.1.1.1:99", "203.0.113.5:4711, 10.2.2.2:80", "203.0.113.5"},
		{"10.1.1.1:99", "[2001:db8::1]:4711", "2001:db8::1"},
		{"10.1.1.1:99", "[2001:db8::1]", "2001:db8::1"},
		{"10.1.1.1:99", "203.0.113.5:70000", "10.1.1.1"},
		{"10.1.1.1:99", "203.0.113.5:", "10.1.1.1"},
		{"10.1.1.1:99", "[203.0.113.5", "10.1.1.1"},
		{"10.1.1.1:99", "", "10.1.1.1"},
		{"[::1]:99", "2001:db8::1", "2001:db8::1"},
		{"[::ffff:10.1.1.1]:99", "203.0.113.5", "203.0.113.5"},
	} {
		r := &http.Request{RemoteAddr: c.peer, Header: http.Header{}}
		if c.forwarded != "" {
			r.Header.Set("X-Forwarded-For", c.forwarded)
		}
		if got := proxies.ClientOf(r).String(); got != c.want {
			t.Errorf("%s by %q: got %s, want %s", c.peer, c.forwarded, got, c.want)
		}
	}
	if _, err := limit.ParseProxies([]string{"10.0.0.0/99"}); err == nil {
		t.Error("a bad network is taken")
	}
}

func by(t *testing.T, credential string) context.Context {
	return domain.WithCaller(t.Context(), &domain.Caller{Credential: credential})
}

func TestARefusalSaysWhenToTryAgainAndIsCounted(t *testing.T) {
	t.Parallel()
	c := newClock()
	refused := map[limit.Reason]int{}
	l := limit.New(limit.Config{
		TokenRate: 1, AddressRate: 1, LinkRate: 1, LinkRequestRate: 1, CostRate: 10, Subscriptions: 1, Sockets: 1, SocketsPerAddress: 1, Running: 1,
		Refused: func(r limit.Reason) { refused[r]++ }, Now: c.now,
	})
	addr := netip.MustParseAddr("2001:db8::1")
	ctx := limit.WithAddress(by(t, "one"), addr)
	for reason, ask := range map[limit.Reason]func() error{
		limit.TokenRequests:   func() error { return l.ByCaller(ctx) },
		limit.AddressRequests: func() error { return l.FromAddress(addr) },
		limit.LinkAttempts:    func() error { return l.ByLink(ctx) },
		limit.LinkRequests:    func() error { return l.ByLinkRequest(ctx) },
		limit.TokenCost:       func() error { return l.Charge(ctx, 10) },
		limit.Subscriptions:   func() error { _, err := l.Subscribe(ctx); return err },
		limit.Sockets:         func() error { return l.SocketBy(ctx) },
		limit.Concurrency:     func() error { _, err := l.Run(ctx); return err },
	} {
		if err := ask(); err != nil {
			t.Errorf("%s: %v", reason, err)
		}
		fault, ok := domain.AsError(ask())
		if !ok || fault.RetryAfter <= 0 || refused[reason] != 1 {
			t.Errorf("%s: %+v, counted %d", reason, fault, refused[reason])
		}
	}
	if err := l.ByCaller(by(t, "two")); err != nil {
		t.Error(err)
	}
	if err := l.FromAddress(netip.MustParseAddr("2001:db8::2")); err == nil {
		t.Error("neighbours of an IPv6 network count apart")
	}
}

func TestASocketOfATokenIsFreedWithItsContext(t *testing.T) {
	t.Parallel()
	l := limit.New(limit.Config{Sockets: 1})
	ctx, end := context.WithCancel(by(t, "one"))
	fatal.If(t, l.SocketBy(ctx))
	end()
	for range 6000 {
		if l.SocketBy(by(t, "one")) == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("the place is not freed")
}

func TestNoLimitRefusesNothing(t *testing.T) {
	t.Parallel()
	l := limit.New(limit.Config{})
	ctx := by(t, "one")
	for range 1000 {
		_, run := l.Run(ctx)
		_, subscribe := l.Subscribe(ctx)
		_, socket := l.SocketFrom(ctx)
		for _, err := range []error{l.ByCaller(ctx), l.FromAddress(netip.Addr{}), l.Charge(ctx, 1e6), l.SocketBy(ctx), run, subscribe, socket} {
			fatal.If(t, err)
		}
	}
}

// A subscription that finds no place at its address gives back the one of its
// token.
func TestARefusedSubscriptionKeepsNoPlace(t *testing.T) {
	t.Parallel()
	l := limit.New(limit.Config{Subscriptions: 1, SubscriptionsPerAddress: 1})
	full, free := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	leave, err := l.Subscribe(limit.WithAddress(by(t, "one"), full))
	fatal.If(t, err)
	if _, err := l.Subscribe(limit.WithAddress(by(t, "two"), full)); err == nil {
		t.Fatal("a second subscription of the address is taken")
	}
	if _, err := l.Subscribe(limit.WithAddress(by(t, "two"), free)); err != nil {
		t.Errorf("the refused subscription still counts: %v", err)
	}
	leave()
	if _, err := l.Subscribe(limit.WithAddress(by(t, "three"), full)); err != nil {
		t.Errorf("the ended subscription still counts: %v", err)
	}
}

func TestABurstBelowTheRateIsRaisedToIt(t *testing.T) {
	t.Parallel()
	b := limit.NewBuckets(10, 1, newClock().now)
	for i := range 10 {
		if wait := b.Take("a", 1); wait != 0 {
			t.Fatalf("the %dth of a second's rate waits %v", i+1, wait)
		}
	}
	if b.Take("a", 1) == 0 {
		t.Error("more than the rate is taken")
	}
}

// The memory for keys is bounded: empty buckets are forgotten first, and all of
// them when none is empty.
func TestBucketsAreForgottenWhenThereAreTooMany(t *testing.T) {
	t.Parallel()
	c := newClock()
	b := limit.NewBuckets(1, 10, c.now)
	others := func(keys int, n float64) {
		for i := range keys {
			b.Take(strconv.Itoa(i), n)
		}
	}
	b.Take("full", 10)
	others(99_999, 1)
	c.at = c.at.Add(5 * time.Second)
	b.Take("one more", 1)
	if wait := b.Take("full", 10); wait != 5*time.Second {
		t.Errorf("a bucket that was half full has room after %v", wait)
	}
	others(100_000, 10)
	if wait := b.Take("full", 10); wait != 0 {
		t.Errorf("of too many full buckets one is still held for %v", wait)
	}
}
