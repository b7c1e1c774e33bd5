package domain

import (
	"context"
	"net/mail"
	"net/netip"
	"slices"
	"strings"
	"time"

	"simgraph/domain/ascii"
	"simgraph/domain/query"
)

// MaxRecipients bounds the recipients of a company: each gets every alert.
const MaxRecipients = 100

// Recipient is an e-mail address that is notified of every alert of the company
// (spec §2.5), unless it chose some.
type Recipient struct {
	RecipientID int64
	Email       string
	// SuppressedSince is when mail to the address stopped for good; nil while
	// it does not. SuppressedReason and SuppressedDetail explain why.
	SuppressedSince  *time.Time
	SuppressedReason *SuppressionReason
	SuppressedDetail string
	Choice
}

// Version changes with what can be edited.
func (r *Recipient) Version() string { return VersionOf(r.Email, r.AlertIDs, r.GroupIDs) }

// Choice is which alerts a recipient is notified of: those with one of the numbers, and
// those on one of the groups or on subscribers that are in one when it fires. An empty
// list restricts nothing.
type Choice struct{ AlertIDs, GroupIDs []int64 }

// RecipientEdit is what changes on a recipient; nil stays as it is.
type RecipientEdit struct {
	Email  *string
	Choice *Choice
}

// MaxChoices bounds how many alerts or groups a recipient chooses.
const MaxChoices = 100

// Check rejects a choice that is too long or names something twice.
func (c *Choice) Check() error {
	for field, ids := range map[string][]int64{"alertIds": c.AlertIDs, "groupIds": c.GroupIDs} {
		if len(ids) > MaxChoices {
			return Invalid(field, "at most %d, not %d", MaxChoices, len(ids))
		}
		for i, id := range ids {
			if slices.Contains(ids[:i], id) {
				return At(Item(field, i), Invalid("", "%d is named twice", id))
			}
		}
	}
	return nil
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
	// List returns the recipients, ordered by id unless the listing has another order.
	List(ctx context.Context, scope Scope, listing Listing) (Slice[*Recipient], error)
	Count(ctx context.Context, scope Scope, listing Listing) (int, error)
	// Create adds an address. One that is there already, in upper or lower
	// case, is returned as it is. Whether what it chooses exists is for the caller to find.
	Create(ctx context.Context, scope Scope, email string, choice Choice) (*Recipient, error)
	// Edit changes a recipient; another address starts unsuppressed. Whether what it
	// chooses exists is for the caller to find.
	Edit(ctx context.Context, scope Scope, id int64, edit RecipientEdit) (*Recipient, error)
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

const (
	// maxEmail is the longest address that a mail server accepts (RFC 5321 §4.5.3.1.3).
	maxEmail = 254
	// maxLocal is the longest part of it before the @ (RFC 5321 §4.5.3.1.1).
	maxLocal = 64
)

// Email is an e-mail address as addresses are compared: proper by CheckEmail, and A to Z in
// lower case. ParseEmail alone makes one, so that nothing is folded before it is checked.
type Email struct{ text string }

// ParseEmail returns the address, or an Invalid error of the field.
func ParseEmail(field, s string) (Email, error) {
	if err := CheckEmail(field, s); err != nil {
		return Email{}, err
	}
	return Email{ascii.Lower(s)}, nil
}

// String is the address; "" of the zero value.
func (e Email) String() string { return e.text }

// Domain is what stands behind the @.
func (e Email) Domain() string { return e.text[strings.LastIndexByte(e.text, '@')+1:] }

// CheckEmail refuses what is no addr-spec of RFC 5322 §3.4.1: a display name,
// comments and blanks around it are no part of an address. It also refuses what no
// mail can reach: a domain of one label, or one that is no host name.
func CheckEmail(field, s string) error {
	if len(s) > maxEmail {
		return Invalid(field, "%s must have at most %d characters", field, maxEmail)
	}
	parsed, err := mail.ParseAddress(s)
	if err != nil || parsed.Name != "" || !isASCII(s) || !spells(s, parsed.Address) {
		return Invalid(field, "%s must be an e-mail address such as ops@example.com", field)
	}
	at := strings.LastIndexByte(s, '@')
	if at > maxLocal {
		return Invalid(field, "%s must have at most %d characters before the @", field, maxLocal)
	}
	if !isMailDomain(s[at+1:]) {
		return Invalid(field, "%s must have a domain that mail can reach, such as example.com", field)
	}
	return nil
}

// isMailDomain reports whether the text is a host name of two labels or more (RFC
// 1123 §2.1), or the literal of an IPv4 address (RFC 5321 §4.1.3).
func isMailDomain(s string) bool {
	if literal, is := strings.CutPrefix(s, "["); is {
		_, err := netip.ParseAddr(strings.TrimSuffix(literal, "]"))
		return err == nil
	}
	labels := strings.Split(s, ".")
	for _, label := range labels {
		if !isHostLabel(label) {
			return false
		}
	}
	return len(labels) > 1 && strings.Trim(labels[len(labels)-1], "0123456789") != ""
}

func isHostLabel(s string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	return s != "" && len(s) <= 63 && strings.Trim(s, letters+"-") == "" && s[0] != '-' && s[len(s)-1] != '-'
}

// spells reports whether s is the address itself, its local part quoted or not:
// the parser also takes <a@b>, comments and folding blanks.
func spells(s, address string) bool {
	at := strings.LastIndexByte(address, '@')
	if s == address {
		return true
	}
	return strings.HasPrefix(s, `"`) && strings.HasSuffix(s, `"`+address[at:])
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

// RecipientFields are what recipients can be filtered and ordered by.
var RecipientFields = query.NewFields(
	query.Field{Name: "recipientId", Type: query.Integer},
	query.Field{Name: "email", Type: query.Text},
	query.Field{Name: "suppressedSince", Type: query.Time},
	query.Enumerated("suppressedReason", []SuppressionReason{Refused, Unsubscribed}),
)
