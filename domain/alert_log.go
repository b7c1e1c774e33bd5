package domain

import (
	"context"
	"time"

	"simgraph/domain/query"
)

const (
	// LateFiring is how long after its end a billing period still fires; usage
	// that comes later is logged only.
	LateFiring = 72 * time.Hour
	// MaxLogList bounds how many entries of the alert log one list holds.
	MaxLogList = 10_000
)

// AlertLogEntry records that usage exceeded a threshold (spec §2.6). It stays
// when the alert is deleted.
type AlertLogEntry struct {
	EntryID  int64
	AlertID  int64
	RuleType RuleType
	// Target is the alert's when it fired.
	Target        string
	LimitBoundary Boundary
	// SubscriberKey is the subject, or GroupID for a rule on combined usage.
	SubscriberKey *int64
	GroupID       *int64
	// TargetGroupID is present for the rules of groups.
	TargetGroupID *int64
	PeriodStart   time.Time
	PeriodEnd     time.Time
	// Threshold and Usage are what they were, in bytes.
	Threshold int64
	Usage     int64
	// IsLate is true when the period was over when the usage came in.
	IsLate bool
	// SilenceID is by which silence nobody was notified; nil for none.
	SilenceID *int64
	// NotificationID is nil for what was logged only.
	NotificationID *string
	DateCreated    time.Time
}

// Period is the billing period that the usage belongs to.
func (e *AlertLogEntry) Period() Period { return Period{e.PeriodStart, e.PeriodEnd} }

// Notified returns the entry for its deliveries; false for what was logged only.
func (e *AlertLogEntry) Notified() (Notified, bool) {
	return NewNotified(e.NotificationID, e.EntryID, e.SilenceID)
}

// IsSilenced reports whether nobody was notified, since a silence covered the entry.
func (e *AlertLogEntry) IsSilenced() bool { return e.SilenceID != nil }

// AlertLog keeps the alerts that fired. A restricted scope shows the entries whose
// subject and group it shows, and none of an alert on the company.
type AlertLog interface {
	// FindMany answers for a batch at once, keyed by entry id.
	FindMany(ctx context.Context, scope Scope, ids []int64) (map[int64]*AlertLogEntry, error)
	// List takes a page of up to MaxLogList entries.
	List(ctx context.Context, scope Scope, listing Listing) (Slice[*AlertLogEntry], error)
	Count(ctx context.Context, scope Scope, listing Listing) (int, error)
	// Deliveries returns how the notification of each entry fares at each recipient that
	// wanted it, by e-mail address. Forbidden to a restricted scope.
	Deliveries(ctx context.Context, scope Scope, entries []Notified) (map[Notified][]*AlertDelivery, error)
}

// AlertLogFields are what the alert log can be filtered and ordered by.
var AlertLogFields = query.NewFields(
	query.Enumerated("ruleType", RuleTypes),
	query.Field{Name: "target", Type: query.Text},
	query.Enumerated("limitBoundary", Boundaries),
	query.Field{Name: "dateCreated", Type: query.Time, Aliases: []string{"createdAt"}},
	query.Field{Name: "entryId", Type: query.Integer},
	query.Field{Name: "alertId", Type: query.Integer},
	query.Field{Name: "physicalId", Type: query.Text},
	query.Field{Name: "threshold", Type: query.Integer},
	query.Field{Name: "usage", Type: query.Integer},
	query.Field{Name: "isLate", Type: query.Boolean},
)

// AlertLogOrder is the order of the log when none is requested: newest first.
func AlertLogOrder() []query.Order {
	created, _ := AlertLogFields.Find("dateCreated")
	entry, _ := AlertLogFields.Find("entryId")
	return []query.Order{{Field: created, Desc: true}, {Field: entry, Desc: true}}
}
