package limit

import (
	"math"
	"sync"
	"time"
)

// mostKeys bounds the memory for who was seen.
const mostKeys = 100_000

// Buckets are leaky buckets, one for each key: what a key takes flows out at a
// fixed rate, and is refused while the bucket would overflow. A nil *Buckets
// refuses nothing.
type Buckets struct {
	rate, burst float64
	now         func() time.Time

	mu     sync.Mutex
	levels map[string]level
}

// level is how full a bucket was at a moment.
type level struct {
	amount float64
	at     time.Time
}

// NewBuckets returns buckets that hold burst and leak rate per second; nil for
// a rate of 0, which stands for no limit. A burst below 1 s of the rate is
// raised to that. now is the clock.
func NewBuckets(rate, burst float64, now func() time.Time) *Buckets {
	if rate <= 0 {
		return nil
	}
	return &Buckets{rate: rate, burst: max(burst, rate), now: now, levels: map[string]level{}}
}

// Take puts n into the key's bucket, or returns how long to wait until there
// will be room. What alone exceeds the bucket fits into an empty one: it is
// paid for by the time until the next.
func (b *Buckets) Take(key string, n float64) (wait time.Duration) {
	if b == nil {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	amount := b.leaked(b.levels[key], now)
	if over := amount + min(n, b.burst) - b.burst; over > 0 {
		return time.Duration(math.Ceil(over / b.rate * float64(time.Second)))
	}
	if len(b.levels) >= mostKeys {
		b.forget(now)
	}
	b.levels[key] = level{amount + n, now}
	return 0
}

// leaked is what is left at a moment. A clock that was set back leaks nothing.
func (b *Buckets) leaked(l level, now time.Time) float64 {
	return max(0, l.amount-max(0, now.Sub(l.at).Seconds())*b.rate)
}

// forget makes room by the buckets that are empty; when none is, by all.
func (b *Buckets) forget(now time.Time) {
	for key, l := range b.levels {
		if b.leaked(l, now) == 0 {
			delete(b.levels, key)
		}
	}
	if len(b.levels) >= mostKeys {
		clear(b.levels)
	}
}
