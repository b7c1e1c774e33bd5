package domain

import (
	"context"
	"iter"
)

// Snapshot is a company as it is at one moment, whatever changes meanwhile. A
// sequence ends after its first error, and one must end before the next begins.
type Snapshot interface {
	Company(ctx context.Context) (*Company, error)
	// Operators are those that subscribers of the company have.
	Operators(ctx context.Context) iter.Seq2[*Operator, error]
	Tariffs(ctx context.Context) iter.Seq2[*Tariff, error]
	Groups(ctx context.Context) iter.Seq2[*Group, error]
	Users(ctx context.Context) iter.Seq2[*UserImport, error]
	// Subscribers come before the profiles that are attached to them.
	Subscribers(ctx context.Context) iter.Seq2[*Subscriber, error]
	// Memberships are those of the subscribers that changed their group.
	Memberships(ctx context.Context) iter.Seq2[Membership, error]
	Tags(ctx context.Context) iter.Seq2[TagImport, error]
	Alerts(ctx context.Context) iter.Seq2[AlertSpec, error]
	Recipients(ctx context.Context) iter.Seq2[string, error]
	// Suppressions are the recipients that get no mail any more.
	Suppressions(ctx context.Context) iter.Seq2[Suppression, error]
	// AlertLog is what fired, the oldest first.
	AlertLog(ctx context.Context) iter.Seq2[Firing, error]
	// Questions are those that are shared.
	Questions(ctx context.Context) iter.Seq2[*Question, error]
	// Sessions are those that counters reported, the oldest first, without those of
	// numbers that no subscriber has.
	Sessions(ctx context.Context) iter.Seq2[*SessionImport, error]
	// Usage is the ledger in the order of time, then what is in quarantine.
	Usage(ctx context.Context) iter.Seq2[UsageRecord, error]
	// Close ends the snapshot.
	Close() error
}
