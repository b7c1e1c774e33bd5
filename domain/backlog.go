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
