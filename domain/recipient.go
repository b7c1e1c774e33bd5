package domain

import (
	"context"
	"time"
)

// MaxRecipients bounds the recipients of a company: each gets every alert.
const MaxRecipients = 100

// Recipient is an e-mail address that is notified of every alert of the company
// (spec §2.5).
type Recipient struct {
	RecipientID int64
	Email       string
	// SuppressedSince is when mail to the address stopped for good; nil while
	// it does not. SuppressedReason and SuppressedDetail explain why.
	SuppressedSince  *time.Time
	SuppressedReason *SuppressionReason
	SuppressedDetail string
}

// SuppressionReason is why no mail goes to a recipient any more.
type SuppressionReason string

// The reasons.
const (
	// Refused: a mail server refused the address for good. Recipients.Restore lifts it.
	Refused SuppressionReason = "refused"
	// Unsubscribed: the recipient did not want more.
	Unsubscribed SuppressionReason = "unsubscribed"
)

// Restored is what lifting a suppression sends.
type Restored struct {
	Recipient *Recipient
	// Mails were held back or given up since the address was suppressed, and are queued again.
	Mails int
	// Alerts fired since then, and are gathered into a mail now.
	Alerts int
}

// Recipients keeps the recipients of alert mail. They are the company's, so
// every method is Forbidden to a restricted scope.
type Recipients interface {
	Find(ctx context.Context, scope Scope, id int64) (*Recipient, error)
	FindMany(ctx context.Context, scope Scope, ids []int64) (map[int64]*Recipient, error)
	// List returns the recipients, ordered by id.
	List(ctx context.Context, scope Scope, page Page) (Slice[*Recipient], error)
	Count(ctx context.Context, scope Scope) (int, error)
	// Create adds an address. One that is there already, in upper or lower
	// case, is returned as it is.
	Create(ctx context.Context, scope Scope, email string) (*Recipient, error)
	// Edit gives a recipient another address, which starts unsuppressed.
	Edit(ctx context.Context, scope Scope, id int64, email string) (*Recipient, error)
	// Restore lifts a suppression that came from a refusal, and sends what was held back since, within MailAge.
	// Nothing changes for a recipient that is not suppressed. For one that unsubscribed it is Invalid.
	Restore(ctx context.Context, scope Scope, id int64) (*Restored, error)
	// Remove deletes a recipient, with the mail that waits for it.
	Remove(ctx context.Context, scope Scope, id int64) (*Recipient, error)
	// Keep adds those of the addresses that are not there yet, and answers in
	// their order.
	Keep(ctx context.Context, scope Scope, emails []string) ([]Imported, error)
	// SendTest queues a test mail to the recipient, or to all that are not
	// suppressed when id is nil, and returns the mails.
	SendTest(ctx context.Context, scope Scope, id *int64) ([]*Mail, error)
	// Mails returns the same part (Limit and Offset) of the mails to each
	// recipient, newest first, keyed by recipient id.
	Mails(ctx context.Context, scope Scope, ids []int64, page Page) (map[int64][]*Mail, error)
}
