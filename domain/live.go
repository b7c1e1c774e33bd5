package domain

import (
	"context"
	"time"
)

// UsageRecorded is usage of a subscriber that was booked.
type UsageRecorded struct {
	Subscriber *Subscriber
	// PeriodStart begins the billing period that it was booked to.
	PeriodStart time.Time
	// Bytes were booked; Usage is what the period has since. Both directions.
	Bytes, Usage int64
}

// Stream is what happens from now on.
type Stream[T any] struct {
	// Events is closed when the context of the stream ends, or when it fails.
	Events <-chan T
	// Err returns, after Events was closed, why the stream failed; nil when it
	// did not.
	Err func() error
}

// ErrUnread is why a stream fails of which events are not taken in time.
func ErrUnread() error {
	return &Error{Kind: KindRateLimited, Message: "events were not read fast enough: read again and subscribe again"}
}

// Live follows what happens in every process that works on the database. A
// stream of which events are not taken in time, or of which some were missed,
// fails with Unavailable or RateLimited.
type Live interface {
	// AlertTriggered follows the entries of the alert log of which somebody is notified. After
	// a failure of the connection an entry may come twice.
	AlertTriggered(ctx context.Context, scope Scope) (*Stream[AlertLogEntry], error)
	// SubscriberChanged follows the subscribers whose record or tags change;
	// of the physical ids only, unless there are none.
	SubscriberChanged(ctx context.Context, scope Scope, physicalIDs []string) (*Stream[*Subscriber], error)
	// UsageRecorded follows usage as it is booked, added up per subscriber
	// when it comes faster than it is taken.
	UsageRecorded(ctx context.Context, scope Scope, physicalIDs []string) (*Stream[*UsageRecorded], error)
}
