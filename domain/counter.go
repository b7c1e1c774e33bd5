package domain

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"math/bits"
	"strconv"
	"time"
)

const (
	// MaxCounter bounds the bytes that a counter reaches in one direction.
	MaxCounter = 1 << 60
	// counterSlack is how much the begin of a session may differ between two of its
	// reports while no clock is set: clocks and Acct-Session-Time count whole seconds,
	// and drift.
	counterSlack = time.Minute
)

// Dating is how far the time of a reading can be believed.
type Dating int16

// The datings, the best first.
const (
	// DatingConfirmed: the network element states the time, and it was not off by more
	// than ClockTolerance when the reading was sent.
	DatingConfirmed Dating = iota
	// DatingStated: the network element states an earlier time. The reading waited in
	// a buffer, or the clock is slow.
	DatingStated
	// DatingArrival: the time is that of the arrival. The reading may be of any time before.
	DatingArrival
)

// Reading is a cumulative report of a session: so many bytes since it began.
type Reading struct {
	// BeganAt is when the session began; zero when that is not reported.
	BeganAt time.Time
	// AsOf is when the counter was read.
	AsOf   time.Time
	Dating Dating
	// IsStart is set for the report that opens a session.
	IsStart                            bool
	MobileOriginated, MobileTerminated int64
}

// Counter is the highest reading of one generation of a session. A session gets a
// new generation when the network element lost its counter, such as by a crash,
// and counts from zero under the same session id.
type Counter struct {
	// BeganAt is when the generation began, AsOf when it was last read.
	BeganAt, AsOf time.Time
	// LatestBegin is the latest begin that a reading states, and BeganAt the earliest:
	// they differ where a clock was set. Zero as long as none was stated.
	LatestBegin time.Time
	// HasStart is set when the report that opens it was read.
	HasStart bool
	// SessionTime is the longest that was read; 0 as long as none was.
	SessionTime time.Duration
	// Dating is the worst of the readings.
	Dating Dating
	// MobileOriginated and MobileTerminated are the highest bytes that were read.
	MobileOriginated, MobileTerminated int64
	// Booked is the number of records that were booked.
	Booked int
	// Decreased is set when bytes may be missing: a reading was below an earlier one
	// without being clearly late or of another generation, such as after a counter of
	// 32 bits wrapped. What is missing is not guessed.
	Decreased bool
}

// NewCounter returns the counter of a session before its first reading.
func NewCounter(first Reading) *Counter {
	return &Counter{BeganAt: first.begin(), AsOf: first.begin()}
}

// GenerationOf returns the place of the counter that the reading belongs to; -1
// when it begins another generation. Within a generation bytes and session time only
// grow, so a reading belongs to one that it fits unless it is clearly of another time.
func GenerationOf(generations []*Counter, r Reading) int {
	place, earliest, latest := -1, time.Time{}, time.Time{}
	for _, c := range generations {
		if c.isEnded(r) && !c.BeganAt.Before(earliest) {
			earliest = c.BeganAt.Add(1)
		}
		if c.isYetToBegin(r) && (latest.IsZero() || c.BeganAt.Before(latest)) {
			latest = c.BeganAt
		}
	}
	for i, c := range generations {
		isThen := c.hasBegin(r) || !c.BeganAt.Before(earliest) && (latest.IsZero() || c.BeganAt.Before(latest))
		if isThen && (place < 0 || r.prefers(c, generations[place])) {
			place = i
		}
	}
	return place
}

// begin is when the session began, as far as that is reported: a session of which
// it is not is the latest that had begun.
func (r Reading) begin() time.Time {
	if r.BeganAt.IsZero() {
		return r.AsOf
	}
	return r.BeganAt
}

// sessionTime is 0 where it is not reported: no time beside bytes is none.
func (r Reading) sessionTime() time.Duration {
	return r.AsOf.Sub(r.begin()).Truncate(time.Second)
}

// statesBegin reports whether the begin of the session follows from the reading.
func (r Reading) statesBegin() bool { return r.IsStart || r.sessionTime() > 0 }

func (r Reading) below(c *Counter) bool {
	return r.MobileOriginated < c.MobileOriginated || r.MobileTerminated < c.MobileTerminated
}

func (r Reading) above(c *Counter) bool {
	return r.MobileOriginated > c.MobileOriginated || r.MobileTerminated > c.MobileTerminated
}

// isEnded reports whether the reading is of a later generation: a Start after the
// last reading, or a shorter session that began after it. Where no Start of this one
// was read, one that is near may be its own, by a clock that was set.
func (c *Counter) isEnded(r Reading) bool {
	switch {
	case r.Dating == DatingArrival || r.Dating != c.Dating || !r.AsOf.After(c.AsOf):
		return false
	case r.IsStart && c.HasStart && r.below(c):
		return true
	case r.IsStart:
		return !r.above(c) && c.isApart(r, r.AsOf.Sub(Later(c.LatestBegin, c.BeganAt)))
	case !r.statesBegin() || c.hasBegin(r) || r.begin().Before(c.AsOf.Add(-counterSlack)):
		return false
	}
	return r.sessionTime() < c.SessionTime || !c.LatestBegin.IsZero() && c.isApart(r, r.begin().Sub(c.LatestBegin))
}

// isYetToBegin reports whether the reading is of an earlier generation: it was made
// before this one began, by more than a clock that is set explains, or it cannot be
// of the same.
func (c *Counter) isYetToBegin(r Reading) bool {
	switch {
	case !c.isConfirmed(r) || c.LatestBegin.IsZero():
		return false
	case !r.AsOf.Before(c.AsOf) || r.AsOf.After(c.BeganAt.Add(counterSlack)) || c.hasBegin(r):
		return false
	case !r.statesBegin():
		return c.BeganAt.Sub(r.AsOf) > ClockTolerance
	}
	return !c.fits(r) || c.isApart(r, c.BeganAt.Sub(r.begin()))
}

// isApart reports whether two begins of a session differ by more than the clock of
// the network element can have been set by meanwhile.
func (c *Counter) isApart(r Reading, by time.Duration) bool {
	return c.isConfirmed(r) && by > ClockTolerance
}

func (c *Counter) isConfirmed(r Reading) bool {
	return c.Dating == DatingConfirmed && r.Dating == DatingConfirmed
}

// hasBegin reports whether an earlier reading states the same begin.
func (c *Counter) hasBegin(r Reading) bool {
	return r.statesBegin() && !c.LatestBegin.IsZero() &&
		(r.begin().Sub(c.BeganAt).Abs() <= counterSlack || r.begin().Sub(c.LatestBegin).Abs() <= counterSlack)
}

// fits reports whether the reading and the highest can be of one counter, whatever
// their times: one has no less of anything than the other.
func (c *Counter) fits(r Reading) bool {
	lower, higher := r.below(c), r.above(c)
	if t := r.sessionTime(); t > 0 && c.SessionTime > 0 {
		lower, higher = lower || t < c.SessionTime, higher || t > c.SessionTime
	}
	return !lower || !higher
}

// prefers reports whether the reading belongs to c rather than to other: to the one
// with its begin, or else to the one that it adds less to. One that states a time but
// no begin belongs to one that it fits, of these to the one that began last before it.
func (r Reading) prefers(c, other *Counter) bool {
	if x, y := c.hasBegin(r), other.hasBegin(r); x != y {
		return x
	}
	if r.statesBegin() && !c.hasBegin(r) || r.Dating == DatingArrival {
		if x, y := r.addsTo(c), r.addsTo(other); x != y {
			return x < y
		}
	} else if x, y := c.fits(r), other.fits(r); x != y {
		return x
	}
	return r.distance(c) < r.distance(other)
}

func (r Reading) addsTo(c *Counter) int64 {
	return max(0, r.MobileOriginated-c.MobileOriginated) + max(0, r.MobileTerminated-c.MobileTerminated)
}

// distance is how far apart the begins are, or how long before the reading c began
// where it states none. What began after it is farther than all else.
func (r Reading) distance(c *Counter) time.Duration {
	d := r.begin().Sub(c.BeganAt)
	if !r.statesBegin() && d < -counterSlack {
		return math.MaxInt64/2 - d
	}
	if !c.LatestBegin.IsZero() {
		return min(d.Abs(), r.begin().Sub(c.LatestBegin).Abs())
	}
	return d.Abs()
}

// mayHide reports whether the reading may have bytes that are not booked, since it
// may be of another generation or the counter wrapped.
func (c *Counter) mayHide(r Reading) bool {
	isLate := c.hasBegin(r) || r.Dating != DatingArrival && c.Dating != DatingArrival
	switch {
	case c.Booked == 0:
		return false
	case !c.fits(r), r.below(c) && (!isLate || r.AsOf.After(c.AsOf)):
		return true
	case r.statesBegin():
		return !c.hasBegin(r) && (!c.LatestBegin.IsZero() || r.begin().After(c.BeganAt.Add(counterSlack)))
	}
	return c.HasStart && r.AsOf.Before(c.BeganAt.Add(-counterSlack))
}

// Difference is what a reading adds to the ledger.
type Difference struct {
	// From is the previous reading, or the begin of the session; To is this one.
	From, To time.Time
	// Sequence counts the differences of the generation; 0 is the first.
	Sequence                           int
	MobileOriginated, MobileTerminated int64
}

// Raise adds a reading to the counter and returns what it is above the highest
// before: the sum of all differences is the highest reading, in whichever order
// they come. The first reading gives a difference of zero bytes where it has
// none; otherwise false is returned for a reading that adds nothing.
func (c *Counter) Raise(r Reading) (Difference, bool) {
	d := Difference{
		From: c.AsOf, To: r.AsOf, Sequence: c.Booked,
		MobileOriginated: max(0, r.MobileOriginated-c.MobileOriginated),
		MobileTerminated: max(0, r.MobileTerminated-c.MobileTerminated),
	}
	if d.From.After(d.To) {
		d.From = d.To
	}
	c.note(r)
	if c.Booked > 0 && d.MobileOriginated == 0 && d.MobileTerminated == 0 {
		return Difference{}, false
	}
	c.MobileOriginated += d.MobileOriginated
	c.MobileTerminated += d.MobileTerminated
	c.Booked++
	return d, true
}

// note takes over what the reading states beside its bytes. The begin of a reading
// that may be of another generation is not that of this one.
func (c *Counter) note(r Reading) {
	hides := c.mayHide(r)
	c.Decreased = c.Decreased || hides
	c.AsOf = Later(c.AsOf, r.AsOf)
	c.Dating = max(c.Dating, r.Dating)
	if hides && r.below(c) {
		return
	}
	c.HasStart = c.HasStart || r.IsStart
	c.SessionTime = max(c.SessionTime, r.sessionTime())
	if r.begin().Before(c.BeganAt) && (r.statesBegin() || c.LatestBegin.IsZero()) {
		c.BeganAt = r.begin()
	}
	if r.statesBegin() {
		c.LatestBegin = Later(c.LatestBegin, r.begin())
	}
}

// Check rejects a difference that no session can have: a counter that is wrong.
func (d Difference) Check() error {
	return checkBytes(d.MobileOriginated, d.MobileTerminated, MaxUsageBytes)
}

// spread divides the difference by time over the hours and billing periods that it
// spans; the last has the remainder. Parts without bytes are left out, but for the one
// that opens a session.
func (d Difference) spread(billing Billing) []Difference {
	var parts []Difference
	var originated, terminated int64
	period := billing.PeriodAt(d.From)
	for from := d.From; from.Before(d.To) || len(parts) == 0; {
		to := from.Truncate(time.Hour).Add(time.Hour)
		if !from.Before(period.End) {
			period = billing.PeriodAt(from)
		}
		if period.End.Before(to) {
			to = period.End
		}
		if !to.Before(d.To) {
			to = d.To
		}
		part := Difference{From: from, To: to, MobileOriginated: d.until(to, d.MobileOriginated) - originated, MobileTerminated: d.until(to, d.MobileTerminated) - terminated}
		originated, terminated = originated+part.MobileOriginated, terminated+part.MobileTerminated
		opens := d.Sequence == 0 && len(parts) == 0
		if opens || part.MobileOriginated+part.MobileTerminated > 0 || to.Equal(d.To) && len(parts) == 0 {
			parts = append(parts, part)
		}
		from = to
		if to.Equal(d.To) {
			break
		}
	}
	return parts
}

// until is how many of the bytes fall to the time before t.
func (d Difference) until(t time.Time, bytes int64) int64 {
	if !t.Before(d.To) {
		return bytes
	}
	high, low := bits.Mul64(uint64(bytes), uint64(t.Sub(d.From).Microseconds()))  //nolint:gosec // neither is below 0
	quotient, _ := bits.Div64(high, low, uint64(d.To.Sub(d.From).Microseconds())) //nolint:gosec // it is no more than bytes
	return int64(quotient)                                                        //nolint:gosec // as above
}

// SessionIdentity identifies a session with all its generations within a company.
type SessionIdentity [16]byte

// IdentifySession returns the identity of a session: the source that reports it,
// the subscriber as the source names it, and an id that is unique for the two.
func IdentifySession(source, subscriber, sessionID string) SessionIdentity {
	sum := sha256.Sum256([]byte("session\x00" + source + "\x00" + subscriber + "\x00" + sessionID))
	return SessionIdentity(sum[:16])
}

// chargedSession is the name of a session that all sources give it which report what the
// gateway charges by.
func chargedSession(subscriber, chargingID string) SessionIdentity {
	sum := sha256.Sum256([]byte("charged\x00" + subscriber + "\x00" + chargingID))
	return SessionIdentity(sum[:16])
}

// generation names a later generation of the session in the ledger.
func (s SessionIdentity) generation(n int) string {
	return hex.EncodeToString(s[:]) + "-" + strconv.Itoa(n)
}

// RecordID names the difference that takes a generation of the session up to a
// highest reading. Exports and imports of the ledger recognize it by that.
func (s SessionIdentity) RecordID(generation int, highest *Counter) string {
	text := hex.EncodeToString(s[:])
	for _, n := range []int64{int64(generation), highest.MobileOriginated, highest.MobileTerminated} {
		text += "-" + strconv.FormatInt(n, 36)
	}
	return text
}
