package domain

import "time"

// Backlog is the work of all companies that waits; a time is zero when nothing
// does.
type Backlog struct {
	// Partial says that parts of the database did not answer: what waits there is
	// not counted.
	Partial bool
	// Mails wait to be sent, Deliveries to be gathered into mails.
	Mails, Deliveries          int
	OldestMail, OldestDelivery time.Time
	// Quarantined are usage records whose subscribers are not known.
	Quarantined int
	// Watermark is the latest end of any usage record.
	Watermark time.Time
	// AnnouncedMonths of the ledger will be detached, DetachedMonths dropped.
	AnnouncedMonths, DetachedMonths int
	// FirstMonth is that of the ledger; zero when no month was ever detached.
	FirstMonth time.Time
}

// Add adds the work of another part of the companies.
func (b *Backlog) Add(other Backlog) {
	b.Mails += other.Mails
	b.Deliveries += other.Deliveries
	b.Quarantined += other.Quarantined
	b.OldestMail = earlier(b.OldestMail, other.OldestMail)
	b.OldestDelivery = earlier(b.OldestDelivery, other.OldestDelivery)
	if other.Watermark.After(b.Watermark) {
		b.Watermark = other.Watermark
	}
}

// earlier returns the earlier of two times, of which zero is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// Replica is the state of a standby of the database.
type Replica struct {
	// Place is its address, without credentials.
	Place string
	// Used reports whether reads go to it.
	Used bool
	// Lag is how far it is behind the primary, at most ten minutes.
	Lag time.Duration
}
