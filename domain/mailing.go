package domain

import (
	"context"
	"time"

	"simgraph/domain/query"
)

const (
	// MailAge is how long after a mail was made it is still sent.
	MailAge = 72 * time.Hour
	// RefusalSpan is how long a mail must have been refused without a clear reason before that counts against the
	// address: see Outbox.Refused.
	RefusalSpan = time.Hour
)

// MailKind is what a mail is about.
type MailKind string

// The kinds of mail.
const (
	// MailAlerts reports alerts that fired, several at once if need be.
	MailAlerts MailKind = "alerts"
	// MailTest shows that mail arrives.
	MailTest MailKind = "test"
	// MailWebhook reports a webhook that was disabled.
	MailWebhook MailKind = "webhook"
	// MailInvitation asks a user to sign in. It goes to no recipient of alerts.
	MailInvitation MailKind = "invitation"
	// MailLink brings a user the link to sign in that was asked for. It goes to no recipient of alerts.
	MailLink MailKind = "link"
	// MailReport is an answer to a question. It goes to an address of a report.
	MailReport MailKind = "report"
)

// SignsIn reports whether mails of the kind have a link to sign in.
func (k MailKind) SignsIn() bool { return k == MailInvitation || k == MailLink }

// Mail is an e-mail to one recipient. Its content never changes, so every
// attempt goes under the same Message-ID.
type Mail struct {
	// MailID is a UUID and the local part of the Message-ID.
	MailID      string
	RecipientID int64
	Email       string
	Kind        MailKind
	State       DeliveryState
	Attempts    int
	// DueAt is when the next attempt is made, while the mail is queued.
	DueAt      time.Time
	CreatedAt  time.Time
	FinishedAt *time.Time
	// LastError is what the mail server answered, "" when all went well.
	LastError string
	// Note is what a mail of MailWebhook reports, in words; "" of others.
	Note string
}

// NextAttemptAt is when it is sent, or sent again; nil when it is finished.
func (m *Mail) NextAttemptAt() *time.Time {
	if m.State != DeliveryQueued || m.DueAt.IsZero() {
		return nil
	}
	return &m.DueAt
}

// Channel implements Delivery.
func (m *Mail) Channel() Channel { return ByMail }

// AlertDelivery is the notification of one entry of a log of alerts to one recipient.
type AlertDelivery struct {
	NotificationID string
	EntryID        int64
	RecipientID    int64
	// Email is the address that the recipient had when the alert fired.
	Email string
	State DeliveryState
	// MailID is the mail that contains it; nil while it waits for one. Attempts,
	// NextAttemptAt, FinishedAt and LastError are the mail's.
	MailID        *string
	Attempts      int
	CreatedAt     time.Time
	NextAttemptAt *time.Time
	FinishedAt    *time.Time
	LastError     string
}

// Channel implements Delivery.
func (d *AlertDelivery) Channel() Channel { return ByMail }

// Notified is an entry of a log of alerts with the notification that it is part of.
type Notified struct {
	NotificationID string
	EntryID        int64
	IsSilenced     bool
}

// NewNotified returns false where the entry is part of no notification. The silence is nil
// where none covered it.
func NewNotified(notification *string, entry int64, silence *int64) (Notified, bool) {
	if notification == nil {
		return Notified{}, false
	}
	return Notified{*notification, entry, silence != nil}, true
}

// Delivery returns how the entry fares where its notification fares so: what is silenced is
// part of no mail.
func (n Notified) Delivery(of *AlertDelivery) *AlertDelivery {
	fares := *of
	if n.IsSilenced {
		fares = AlertDelivery{NotificationID: of.NotificationID, RecipientID: of.RecipientID, Email: of.Email, CreatedAt: of.CreatedAt, State: DeliverySilenced}
	}
	fares.EntryID = n.EntryID
	return &fares
}

// MailContent is what a mail is written from.
type MailContent struct {
	Mail
	Company *Company
	// Entries are the first of those about volume, and ConditionEntries of those about conditions,
	// the newest first; Total counts all.
	Entries          []*MailEntry
	ConditionEntries []*MailConditionEntry
	Total            int
	// Secret signs the unsubscribe link.
	Secret []byte
	// SignIn is the code of the link in a mail of MailInvitation or MailLink, which ends at
	// LinkEndsAt.
	SignIn     Secret
	LinkEndsAt time.Time
	// Report is the issue that a mail of MailReport is written from, as JSON: see
	// domain/report. ReportID is that of the report.
	Report   []byte
	ReportID string
}

// MailEntry is a log entry with the names that people use.
type MailEntry struct {
	VolumeLogEntry
	// PhysicalID, SubscriberID and Nickname are those of the subscriber, ""
	// for a group.
	PhysicalID   string
	SubscriberID string
	Nickname     string
	// GroupName is that of the group whose usage it is or that was the target.
	GroupName string
}

// MailConditionEntry is an entry of the log of conditions in words.
type MailConditionEntry struct {
	// Who is the subject, and What happened to it.
	Who, What string
	// AlertID is 0 where no single alert noticed it.
	AlertID     int64
	RuleType    RuleType
	Target      string
	DateCreated time.Time
}

// Digest defines how mails are gathered.
type Digest struct {
	// Wait is how long a notification waits for others to the same recipient.
	Wait time.Duration
	// HourlyCap is how many alert mails a recipient gets in an hour at most;
	// what comes meanwhile waits for one mail that contains all.
	HourlyCap int
	// MaxEntries is how many log entries a mail lists; the rest is counted.
	MaxEntries int
}

// Outbox hands mails to the workers that send them. Several workers, also of
// several processes, share one outbox.
type Outbox interface {
	// Pending returns the companies with mail to gather or to send. Beside an error
	// it returns those that could be found.
	Pending(ctx context.Context, digest Digest) ([]CompanyID, error)
	// Gather makes mails of what waits in the company.
	Gather(ctx context.Context, company CompanyID, digest Digest) error
	// Claim takes up to limit mails that are due. A mail that is not finished
	// within lease, since its worker died, can be claimed again.
	Claim(ctx context.Context, company CompanyID, digest Digest, limit int, lease time.Duration) ([]*MailContent, error)
	// Sent records that the mail was accepted by a mail server.
	Sent(ctx context.Context, company CompanyID, mail *Mail) error
	// Retry records a failure that may pass; the next attempt is at due.
	Retry(ctx context.Context, company CompanyID, mail *Mail, reason string, due time.Time) error
	// Refused records that the server refused the mail for good, without saying whether the address or the
	// sender is the reason. It reports whether it is the address: when the mail has been refused for RefusalSpan,
	// and the server has taken a mail to another recipient of the company that was made in that time. Where
	// every recipient is refused, or there is only one, it never is.
	Refused(ctx context.Context, company CompanyID, mail *Mail) (ofAddress bool, err error)
	// Fail gives the mail up. With suppress, the server refused the address for
	// good: no mail goes to it any more.
	Fail(ctx context.Context, company CompanyID, mail *Mail, reason string, suppress bool) error
	// Unsubscribe stops mail to a recipient, as it demanded by a link that
	// verify accepts the address and the company's secret of.
	Unsubscribe(ctx context.Context, company CompanyID, recipientID int64, verify func(email string, secret []byte) bool) error
}

// Channel is the way that people and programs are notified.
type Channel string

// The channels.
const (
	ByMail    Channel = "mail"
	ByWebhook Channel = "webhook"
)

// DeliveryState is how far a delivery has come.
type DeliveryState string

// The states.
const (
	// DeliveryWaiting: the notification is not part of a mail yet.
	DeliveryWaiting DeliveryState = "waiting"
	DeliveryQueued  DeliveryState = "queued"
	Delivered       DeliveryState = "delivered"
	// DeliveryFailed: it was given up. A message to a webhook is then a dead letter, which
	// is kept, and sent again only by a replay.
	DeliveryFailed    DeliveryState = "failed"
	DeliveryCancelled DeliveryState = "cancelled"
	// DeliverySuppressed: no mail will be, since none goes to the address any more.
	DeliverySuppressed DeliveryState = "suppressed"
	// DeliverySilenced: nobody is notified of the entry, since a silence covered it.
	DeliverySilenced DeliveryState = "silenced"
)

// DeliveryStates are all of them.
var DeliveryStates = []DeliveryState{DeliveryWaiting, DeliveryQueued, Delivered, DeliveryFailed, DeliveryCancelled, DeliverySuppressed, DeliverySilenced}

// Delivery is what is sent: a *Mail, an *AlertDelivery, or a message to a webhook.
type Delivery interface{ Channel() Channel }

// DeliveryFields are what deliveries can be filtered and ordered by.
var DeliveryFields = query.NewFields(
	query.Enumerated("channel", []Channel{ByMail, ByWebhook}).Unordered(),
	query.Enumerated("state", DeliveryStates).Unordered(),
	query.Field{Name: "createdAt", Type: query.Time},
	query.Field{Name: "finishedAt", Type: query.Time}.Unordered(),
)

// Deliveries lists what was sent, whichever way. Every method is Forbidden to a restricted
// scope: mails are the company's.
type Deliveries interface {
	// List returns the mails and the messages to webhooks, the newest first unless the
	// listing has another order.
	List(ctx context.Context, scope Scope, listing Listing) (Slice[Delivery], error)
	Count(ctx context.Context, scope Scope, listing Listing) (int, error)
	// FindMails answers for a batch at once, keyed by id; what is no id is left out.
	FindMails(ctx context.Context, scope Scope, ids []string) (map[string]*Mail, error)
}
