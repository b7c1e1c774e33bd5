package domain

import "time"

// Backlog is the work of all companies that waits; a time is zero when nothing
// does.
type Backlog struct {
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

// Replica is the state of a standby of the database.
type Replica struct {
	// Place is its address, without credentials.
	Place string
	// Used reports whether reads go to it.
	Used bool
	// Lag is how far it is behind the primary, at most ten minutes.
	Lag time.Duration
}
