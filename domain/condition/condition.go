// Package condition holds the rules of alerts on conditions other than the volume of
// usage: subjects that are silent, sessions that come too often, values that change,
// and usage that will exceed a limit.
package condition

import (
	"context"
	"slices"
	"time"

	"simgraph/domain"
)

const (
	// MaxAlerts bounds the alerts on conditions of a company.
	MaxAlerts = 100
	// MaxSilence is the longest silence in hours: 90 days.
	MaxSilence = 90 * 24
	// MinSourceSilence is the shortest silence of a source in minutes: network elements report
	// every few minutes.
	MinSourceSilence = 5
	// MaxSourceSilence is the longest silence of a source in minutes: longer ones are named
	// without an alert.
	MaxSourceSilence = int64(SourceSilence / time.Minute)
	// MaxSessions bounds the sessions in an hour that an alert waits for.
	MaxSessions = 1_000_000
)

// Kind is what an alert notices.
type Kind = domain.AlertKind

// The kinds.
const (
	Silent   = domain.KindSilent
	Storm    = domain.KindStorm
	Forecast = domain.KindForecast
	Change   = domain.KindChange
	// SourceSilent is logged without an alert, of which one of this kind shortens how long a
	// source may be silent: see Patience.
	SourceSilent = domain.KindSourceSilent
)

// Kinds are all of them.
var Kinds = []Kind{Silent, Storm, Forecast, Change, SourceSilent}

// Trait is a value of a subscriber that the network reports.
type Trait string

// The traits.
const (
	// IMEI is compared by its first 14 digits: the rest is no device but its software.
	IMEI    Trait = "imei"
	Address Trait = "address"
	Network Trait = "network"
	Country Trait = "country"
	// Protocol is the radio access type of sessions.
	Protocol Trait = "protocol"
)

// Traits are all of them.
var Traits = []Trait{IMEI, Address, Network, Country, Protocol}

// Alert is an alert on a condition. Its number is of the same series as those of
// alerts on volume.
type Alert struct {
	AlertID  int64
	RuleType domain.RuleType
	// Target, SubscriberKey and GroupID are as in domain.Alert.
	Target        string
	SubscriberKey *int64
	GroupID       *int64
	Kind          Kind
	// Bound is the hours of Silent, the minutes of SourceSilent, the sessions of Storm and the bytes of Forecast;
	// 0 of Change.
	Bound int64
	// Traits are those of Change; empty of the others.
	Traits []Trait
	// Revision counts the edits, and ArmedAt is when the last was made: what was before
	// it fires nothing, but for a silence that lasts.
	Revision    int
	ArmedAt     time.Time
	DateCreated time.Time
	domain.AlertWords
}

// Version changes with what can be edited.
func (a *Alert) Version() string {
	return domain.VersionOf(a.Kind, a.Bound, a.Traits, a.AlertWords)
}

// Number implements domain.Alert.
func (a *Alert) Number() int64 { return a.AlertID }

// AlertState is where a subscriber stands against an alert on a condition.
type AlertState struct {
	Alert         *Alert
	SubscriberKey int64
	// Since is when the alert fired first in the current billing period, or before and it
	// lasts; nil while it is armed.
	Since *time.Time
	// IsOpen reports whether it lasts: a silence that is not over.
	IsOpen bool
}

// Number implements domain.AlertState.
func (s *AlertState) Number() int64 { return s.Alert.AlertID }

// Status is Fired where the alert has fired.
func (s *AlertState) Status() domain.AlertStatus { return domain.StatusOf(s.Since != nil) }

// Condition is what an alert notices, without its target.
type Condition struct {
	Kind   Kind
	Bound  int64
	Traits []Trait
}

// Spec is an alert to be created.
type Spec struct {
	RuleType domain.RuleType
	// Target is as in domain.AlertSpec.
	Target string
	Condition
	domain.AlertWords
}

// Edit is what changes on an alert.
type Edit struct {
	// Condition is of the kind that the alert has; nil leaves what it notices.
	Condition *Condition
	domain.AlertWordsEdit
}

// Check rejects an edit that no alert can take.
func (e *Edit) Check() error {
	if e.Condition != nil {
		if err := e.Condition.Check(); err != nil {
			return err
		}
	}
	return e.AlertWords.Check()
}

// Check rejects what no alert can be. Whether the target exists is for the store to find.
func (s *Spec) Check() error {
	volume := domain.AlertSpec{RuleType: s.RuleType, Target: s.Target, AlertWords: s.AlertWords}
	if err := volume.Check(); err != nil {
		return err
	}
	if s.Kind == Change && s.RuleType == domain.RuleGroup {
		return domain.Invalid("changesOf", "a group as a whole has no such values: use a rule on its members")
	}
	if s.Kind == SourceSilent && s.RuleType != domain.RuleCompany {
		return domain.Invalid("sourceSilentMinutes", "sources are those of the whole company: use the rule COMPANY")
	}
	return s.Condition.Check()
}

// Check rejects a condition that cannot be noticed.
func (c *Condition) Check() error {
	switch c.Kind {
	case Silent:
		return within("silentHours", c.Bound, 1, MaxSilence)
	case SourceSilent:
		return within("sourceSilentMinutes", c.Bound, MinSourceSilence, MaxSourceSilence)
	case Storm:
		return within("sessionsPerHour", c.Bound, 1, MaxSessions)
	case Forecast:
		if c.Bound < 0 {
			return domain.Invalid("forecastBytes", "forecastBytes must be 0 to 9223372036854775807, not %d", c.Bound)
		}
		return nil
	case Change:
		return checkTraits(c.Traits)
	}
	return domain.Invalid("condition", "a condition is one of silentHours, sourceSilentMinutes, sessionsPerHour, forecastBytes and changesOf")
}

func within(field string, n, least, most int64) error {
	if n < least || n > most {
		return domain.Invalid(field, "%s must be %d to %d, not %d", field, least, most, n)
	}
	return nil
}

func checkTraits(traits []Trait) error {
	if len(traits) == 0 {
		return domain.Invalid("changesOf", "changesOf needs at least one value")
	}
	for i, trait := range traits {
		if !slices.Contains(Traits, trait) {
			return domain.Invalid("changesOf", "there is no value %q", trait)
		}
		if slices.Contains(traits[:i], trait) {
			return domain.Invalid("changesOf", "the value %q is named twice", trait)
		}
	}
	return nil
}

// Duration is the silence that an alert of the kinds Silent and SourceSilent allows.
func (a *Alert) Duration() time.Duration {
	if a.Kind == SourceSilent {
		return time.Duration(a.Bound) * time.Minute
	}
	return time.Duration(a.Bound) * time.Hour
}

// Notified returns the entry for its deliveries; false for one of which nobody is notified.
func (e *Entry) Notified() (domain.Notified, bool) {
	return domain.NewNotified(e.NotificationID, e.EntryID, e.SilenceID)
}

// IsNotified reports that recipients and webhooks are notified of each entry, unless it is silenced.
func (*Entry) IsNotified() bool { return true }

// IsSilenced reports whether nobody was notified, since a silence covered the entry.
func (e *Entry) IsSilenced() bool { return e.SilenceID != nil }

// Condition returns what the alert notices.
func (a *Alert) Condition() Condition { return Condition{a.Kind, a.Bound, a.Traits} }

// State is what a log entry reports.
type State = domain.AlertLogEntryState

// The states.
const (
	Fired    = domain.EntryFired
	Resolved = domain.EntryResolved
)

// Entry is one of the log of conditions. It stays when the alert is deleted.
type Entry struct {
	EntryID int64
	// AlertID is 0 of SourceSilent.
	AlertID  int64
	Kind     Kind
	State    State
	RuleType domain.RuleType
	// Target is the alert's at that time.
	Target        string
	SubscriberKey *int64
	GroupID       *int64
	// TargetGroupID is present for the rules of groups.
	TargetGroupID *int64
	// Source and NAS are the source of usage and its network element, of SourceSilent; ""
	// of the others. NAS is "" of a source that is silent as a whole.
	Source, NAS string
	// Since is when the subject was seen last, the begin of the hour of Storm and of the
	// period of Forecast, or when a new value was reported first.
	Since time.Time
	// Bound is the alert's, of SourceSilent in minutes, and Value what was found: sessions, or bytes; 0 of the others.
	Bound, Value int64
	// Trait, Before and After are those of Change.
	Trait         Trait
	Before, After string
	// Resolves is the entry that reported the begin, for Resolved.
	Resolves *int64
	// ResolvedAt is when that ended which the entry reports; nil while it lasts, and for
	// what has no end.
	ResolvedAt *time.Time
	// SilenceID is by which silence nobody was notified; nil for none.
	SilenceID      *int64
	NotificationID *string
	DateCreated    time.Time
}

// Alerts keeps the alerts on conditions. A restricted scope shows those whose subscriber
// or group it shows; every other one is NotFound there, as one that does not exist.
type Alerts interface {
	FindMany(ctx context.Context, scope domain.Scope, ids []int64) (map[int64]*Alert, error)
	// Fired counts, for each alert, the subjects for which it has fired in the current billing
	// period, or before and it lasts; one without any is missing from the map.
	Fired(ctx context.Context, scope domain.Scope, alerts []int64) (map[int64]int, error)
	// WatchingSubscribers returns the states of the alerts that watch each subscriber alone or
	// in its group or company, by alert id, keyed by subscriber. Alerts on a group as a whole
	// and on sources are not among them.
	WatchingSubscribers(ctx context.Context, scope domain.Scope, keys []int64) (map[int64][]*AlertState, error)
	// Create makes an alert, at most MaxAlerts to a company. It is evaluated within a minute.
	Create(ctx context.Context, scope domain.Scope, spec Spec) (*Alert, error)
	// Edit changes the bound or the traits, not the kind, and the words. With another condition
	// the alert is armed again.
	Edit(ctx context.Context, scope domain.Scope, id int64, edit Edit) (*Alert, error)
	// Remove deletes the alert and returns it. Its log stays.
	Remove(ctx context.Context, scope domain.Scope, id int64) (*Alert, error)

	// Preview returns what an alert would have noticed in the last days, 1 to MaxPreviewDays,
	// of the first MaxPreviewed subscribers that it watches now.
	Preview(ctx context.Context, scope domain.Scope, spec Spec, days int) (*Preview, error)

	// Explain explains why an alert has or has not fired for a subscriber or a group.
	Explain(ctx context.Context, scope domain.Scope, id int64, subject domain.AlertSubject) (*Explanation, error)

	// FindEntries answers for a batch at once, keyed by entry id.
	FindEntries(ctx context.Context, scope domain.Scope, ids []int64) (map[int64]*Entry, error)
}

// Watches reports whether the alert watches a subscriber that is in the group; nil for none.
func (a *Alert) Watches(subscriber int64, group *int64) bool {
	if a.Kind == SourceSilent {
		return false
	}
	switch a.RuleType {
	case domain.RuleSIM:
		return *a.SubscriberKey == subscriber
	case domain.RuleCompany:
		return true
	case domain.RuleGroup, domain.RuleGroupMember:
		return group != nil && *a.GroupID == *group
	}
	return false
}

// Names reports whether the alert notices changes of the trait.
func (a *Alert) Names(trait Trait) bool { return slices.Contains(a.Traits, trait) }
