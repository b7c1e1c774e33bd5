package domain

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"
)

const (
	// MaxCounter bounds the bytes that a counter reaches in one direction.
	MaxCounter = 1 << 60
	// counterSlack is how much the begin of a session may differ between two of its
	// reports: clocks and Acct-Session-Time count whole seconds, and drift.
	counterSlack = time.Minute
)

// Reading is a cumulative report of a session: so many bytes since it began.
type Reading struct {
	// BeganAt is when the session began; zero when that is not reported.
	BeganAt time.Time
	// AsOf is when the counter was read.
	AsOf time.Time
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
	// MobileOriginated and MobileTerminated are the highest bytes that were read.
	MobileOriginated, MobileTerminated int64
	// Booked is the number of differences that were booked.
	Booked int
	// Decreased is set when a later reading was below an earlier one without a new
	// begin, such as a counter of 32 bits that wrapped. What is missing is not guessed.
	Decreased bool
}

// NewCounter returns the counter of a session before its first reading.
func NewCounter(first Reading) *Counter {
	if first.BeganAt.IsZero() {
		first.BeganAt = first.AsOf
	}
	return &Counter{BeganAt: first.BeganAt, AsOf: first.BeganAt}
}

// GenerationOf returns the place of the counter that the reading belongs to; -1
// when it begins another generation. The choice depends on the times of the
// session, not on the order in which readings arrive.
func GenerationOf(generations []*Counter, r Reading) int {
	place, least := -1, time.Duration(0)
	for i, c := range generations {
		if r.AsOf.Before(c.BeganAt.Add(-counterSlack)) || !r.BeganAt.IsZero() && r.BeganAt.After(c.AsOf.Add(counterSlack)) {
			continue
		}
		if distance := r.begin().Sub(c.BeganAt).Abs(); place < 0 || distance < least {
			place, least = i, distance
		}
	}
	if place >= 0 && r.restarts(generations[place]) {
		return -1
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

// restarts reports whether the reading opens the session once more, within
// counterSlack of the last reading.
func (r Reading) restarts(c *Counter) bool { return r.IsStart && r.AsOf.After(c.AsOf) && r.below(c) }

func (r Reading) below(c *Counter) bool {
	return r.MobileOriginated < c.MobileOriginated || r.MobileTerminated < c.MobileTerminated
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
	if r.AsOf.After(c.AsOf) {
		c.Decreased = c.Decreased || r.below(c)
		c.AsOf = r.AsOf
	}
	if r.begin().Before(c.BeganAt) {
		c.BeganAt = r.BeganAt
	}
	if c.Booked > 0 && d.MobileOriginated == 0 && d.MobileTerminated == 0 {
		return Difference{}, false
	}
	c.MobileOriginated += d.MobileOriginated
	c.MobileTerminated += d.MobileTerminated
	c.Booked++
	return d, true
}

// Check rejects a difference that no session can have: a counter that is wrong.
func (d Difference) Check() error {
	return checkBytes(d.MobileOriginated, d.MobileTerminated, MaxUsageBytes)
}

// SessionIdentity identifies a session with all its generations within a company.
type SessionIdentity [16]byte

// IdentifySession returns the identity of a session: the source that reports it,
// the subscriber as the source names it, and an id that is unique for the two.
func IdentifySession(source, subscriber, sessionID string) SessionIdentity {
	sum := sha256.Sum256([]byte("session\x00" + source + "\x00" + subscriber + "\x00" + sessionID))
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
