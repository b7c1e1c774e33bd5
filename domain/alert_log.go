package domain

import (
	"context"
	"fmt"
	"regexp"
	"slices"
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

// AlertLogEntryState is what an entry of the alert log reports.
type AlertLogEntryState string

// The states.
const (
	// EntryFired: what the alert notices happened, or began.
	EntryFired AlertLogEntryState = "fired"
	// EntryResolved: it is over.
	EntryResolved AlertLogEntryState = "resolved"
)

// AlertLogEntryStates are all of them.
var AlertLogEntryStates = []AlertLogEntryState{EntryFired, EntryResolved}

// AlertLogEntry is an entry of the log of any kind: a *VolumeLogEntry or a *condition.Entry.
type AlertLogEntry interface {
	// Notified returns the entry for its deliveries; false for one of which nobody is notified.
	Notified() (Notified, bool)
}

// VolumeLogEntry records that usage exceeded a threshold (spec §2.6). It stays
// when the alert is deleted.
type VolumeLogEntry struct {
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
func (e *VolumeLogEntry) Period() Period { return Period{e.PeriodStart, e.PeriodEnd} }

// Notified returns the entry for its deliveries; false for what was logged only.
func (e *VolumeLogEntry) Notified() (Notified, bool) {
	return NewNotified(e.NotificationID, e.EntryID, e.SilenceID)
}

// Kind returns KindVolume.
func (*VolumeLogEntry) Kind() AlertKind { return KindVolume }

// State returns EntryFired.
func (*VolumeLogEntry) State() AlertLogEntryState { return EntryFired }

// ResolvedAt returns nil: a threshold that fired is not over before the next billing period.
func (*VolumeLogEntry) ResolvedAt() *time.Time { return nil }

// Text describes what happened, without the subject.
func (e *VolumeLogEntry) Text() string {
	return fmt.Sprintf("used %d bytes in the billing period from %s, above the %s threshold of %d",
		e.Usage, e.PeriodStart.UTC().Format("2 Jan 2006 15:04 UTC"), e.LimitBoundary, e.Threshold)
}

// IsSilenced reports whether nobody was notified, since a silence covered the entry.
func (e *VolumeLogEntry) IsSilenced() bool { return e.SilenceID != nil }

// AlertLog lists what alerts of all kinds fired, and what is over. A restricted scope shows
// the entries whose subject and group it shows, and none of an alert on the company.
type AlertLog interface {
	// List returns them the newest first unless ordered otherwise.
	List(ctx context.Context, scope Scope, listing Listing) (Slice[AlertLogEntry], error)
	Count(ctx context.Context, scope Scope, listing Listing) (int, error)
}

// AlertLogFields are what the alert log can be filtered and ordered by.
var AlertLogFields = query.NewFields(
	query.Field{Name: "entryId", Type: query.Integer},
	query.Field{Name: "alertId", Type: query.Integer, Doc: "The identifier of the alert; 0 of sources."},
	query.Enumerated("kind", AlertKinds),
	query.Enumerated("state", AlertLogEntryStates),
	query.Enumerated("ruleType", RuleTypes),
	query.Field{Name: "target", Type: query.Text},
	query.Field{Name: "physicalId", Type: query.Text, Doc: "The subscriber: its ICCID, device EUI or IMEI."},
	query.Field{Name: "isOpen", Type: query.Boolean, Doc: "Whether it lasts: a silence that is not over."}.Unordered(),
	query.Enumerated("limitBoundary", Boundaries),
	query.Field{Name: "threshold", Type: query.Integer, Doc: "The threshold in bytes; null for kinds other than VOLUME."},
	query.Field{Name: "usage", Type: query.Integer, Doc: "Usage in bytes; null for kinds other than VOLUME."},
	query.Field{Name: "isLate", Type: query.Boolean, Doc: "Whether the period was over when the usage came in; null for kinds other than VOLUME."},
	query.Field{Name: "createdAt", Type: query.Time},
)

// VolumeLog keeps the alerts on volume that fired. A restricted scope shows the entries whose
// subject and group it shows, and none of an alert on the company.
type VolumeLog interface {
	// FindMany answers for a batch at once, keyed by entry id.
	FindMany(ctx context.Context, scope Scope, ids []int64) (map[int64]*VolumeLogEntry, error)
	// List takes a page of up to MaxLogList entries.
	List(ctx context.Context, scope Scope, listing Listing) (Slice[*VolumeLogEntry], error)
	Count(ctx context.Context, scope Scope, listing Listing) (int, error)
	// Deliveries returns how the notification of each entry fares at each recipient that
	// wanted it, by e-mail address. Forbidden to a restricted scope.
	Deliveries(ctx context.Context, scope Scope, entries []Notified) (map[Notified][]*AlertDelivery, error)
}

// VolumeLogFields are what the REST list of the alert log can be filtered and ordered by.
var VolumeLogFields = query.NewFields(
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

// VolumeLogOrder is the order of that list when none is requested: newest first.
func VolumeLogOrder() []query.Order {
	created, _ := VolumeLogFields.Find("dateCreated")
	entry, _ := VolumeLogFields.Find("entryId")
	return []query.Order{{Field: created, Desc: true}, {Field: entry, Desc: true}}
}

// Firing is an entry of the alert log as a bundle holds it: by names that other
// databases know, too.
type Firing struct {
	VolumeLogEntry
	// PhysicalID is that of the subscriber, "" for the combined usage of a group.
	PhysicalID string
	// Alert is the alert that fired, when it is still as it was then. It does not
	// fire again for the same.
	Alert *AlertImport
	// Revision distinguishes the firings of an alert that was changed or removed since
	// apart; its AlertID is not that of any alert there is.
	Revision int
}

// maxAlertCopy bounds how many equal alerts a bundle distinguishes.
const maxAlertCopy = 1_000_000

var isUUID = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`).MatchString

// Check refuses an impossible entry.
func (f *Firing) Check() error {
	if (f.PhysicalID == "") == (f.GroupID == nil) {
		return Invalid("physicalId", "exactly one of physicalId and groupId is required")
	}
	if f.Alert == nil && (f.AlertID < 1 || f.Revision < 1 || f.Revision > 1<<31-1) {
		return Invalid("former", "either alert, or former with alertId and revision is required")
	}
	if f.Alert != nil {
		if err := f.Alert.Check(); err != nil {
			return err
		}
		if f.Alert.Copy < 0 || f.Alert.Copy > maxAlertCopy {
			return Invalid("alert.copy", "alert.copy must be 0 to %d", maxAlertCopy)
		}
	}
	return f.checkFields()
}

func (f *Firing) checkFields() error {
	switch {
	case f.LimitBoundary != Lower && f.LimitBoundary != Upper:
		return Invalid("limitBoundary", "limitBoundary must be lower or upper")
	case !slices.Contains([]RuleType{RuleSIM, RuleCompany, RuleGroup, RuleGroupMember}, f.RuleType):
		return Invalid("ruleType", "ruleType must be sim, company, grouppr or groupfptp, not %q", f.RuleType)
	case !f.PeriodEnd.After(f.PeriodStart):
		return Invalid("periodEnd", "periodEnd must be after periodStart")
	case f.Threshold < 0 || f.Usage < 0:
		return Invalid("usage", "threshold and usage must not be negative")
	case f.NotificationID != nil && !isUUID(*f.NotificationID):
		return Invalid("notificationId", "notificationId must be a UUID")
	}
	for _, id := range []*int64{f.GroupID, f.TargetGroupID} {
		if id != nil {
			if err := CheckGroupID(*id); err != nil {
				return err
			}
		}
	}
	if f.PhysicalID != "" {
		if err := CheckPhysicalID(f.PhysicalID); err != nil {
			return err
		}
	}
	return checkText("target", f.Target, 0, maxUsageText)
}

// Suppression stops mail to a recipient.
type Suppression struct {
	Email  string
	Since  time.Time
	Reason SuppressionReason
	// Detail is the answer of the mail server.
	Detail string
}

// maxSuppressed bounds what is kept of a mail server's answer.
const maxSuppressed = 4096

// Check refuses an impossible suppression.
func (s *Suppression) Check() error {
	if s.Reason != Refused && s.Reason != Unsubscribed {
		return Invalid("reason", "reason must be refused or unsubscribed")
	}
	if err := checkText("detail", s.Detail, 0, maxSuppressed); err != nil {
		return err
	}
	return CheckEmail("email", s.Email)
}
