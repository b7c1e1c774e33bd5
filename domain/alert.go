package domain

import (
	"context"
	"math"
	"strconv"
	"strings"
	"time"

	"simgraph/domain/query"
)

// RuleType is what an alert watches and whose usage triggers it (spec §2.4).
type RuleType string

// The rule types.
const (
	// RuleSIM watches one subscriber.
	RuleSIM RuleType = "sim"
	// RuleCompany watches each subscriber of the company.
	RuleCompany RuleType = "company"
	// RuleGroup watches the combined usage of a group, by the group that
	// subscribers were in at the time of usage.
	RuleGroup RuleType = "grouppr"
	// RuleGroupMember watches each subscriber that is in a group now.
	RuleGroupMember RuleType = "groupfptp"
)

// RuleTypes are all of them.
var RuleTypes = []RuleType{RuleSIM, RuleCompany, RuleGroup, RuleGroupMember}

// OfGroup reports whether the target of the rule is a group.
func (r RuleType) OfGroup() bool { return r == RuleGroup || r == RuleGroupMember }

// Boundary names one of the two thresholds of an alert.
type Boundary string

// The boundaries.
const (
	Lower Boundary = "lower"
	Upper Boundary = "upper"
)

// Boundaries are all of them.
var Boundaries = []Boundary{Lower, Upper}

// AlertKind is what an alert notices.
type AlertKind string

// The kinds.
const (
	// KindVolume: usage above a threshold in a billing period, see VolumeAlert.
	KindVolume AlertKind = "volume"
	// KindSilent: neither usage nor a session for a number of hours.
	KindSilent AlertKind = "silent"
	// KindStorm: more sessions than a number began within an hour of the clock (UTC).
	KindStorm AlertKind = "storm"
	// KindForecast: usage will exceed a number of bytes by the end of the billing period.
	KindForecast AlertKind = "forecast"
	// KindChange: a value that the network reports became another.
	KindChange AlertKind = "change"
	// KindSourceSilent: a network element, or a source of usage as a whole, has reported nothing
	// for too long.
	KindSourceSilent AlertKind = "source"
)

// AlertKinds are all of them.
var AlertKinds = []AlertKind{KindVolume, KindSilent, KindStorm, KindForecast, KindChange, KindSourceSilent}

// Alert is an alert of any kind: a *VolumeAlert, or a *condition.Alert. Their numbers are of
// one series.
type Alert interface{ Number() int64 }

// MaxAlertDescription is how many characters the description of an alert has at most.
const MaxAlertDescription = 1_000

// AlertWords are what people call an alert, and what it is for; nil for none.
type AlertWords struct{ Name, Description *string }

// Check rejects a name or a description that is blank or too long.
func (w AlertWords) Check() error {
	if w.Name != nil {
		if err := CheckName("name", *w.Name); err != nil {
			return err
		}
	}
	if w.Description == nil {
		return nil
	}
	if strings.TrimSpace(*w.Description) == "" {
		return Invalid("description", "description must not be blank; null means that there is none")
	}
	return checkText("description", *w.Description, 1, MaxAlertDescription)
}

// AlertWordsEdit is which of them change, and to what.
type AlertWordsEdit struct {
	AlertWords
	SetName, SetDescription bool
}

// Apply returns the words after the edit.
func (e AlertWordsEdit) Apply(to AlertWords) AlertWords {
	if e.SetName {
		to.Name = e.Name
	}
	if e.SetDescription {
		to.Description = e.Description
	}
	return to
}

// AlertWordsChanges returns how words became others, for the audit log.
func AlertWordsChanges(before, after AlertWords) []AuditChange {
	text := func(of *string) string {
		if of == nil {
			return ""
		}
		return *of
	}
	return append(Changed("name", text(before.Name), text(after.Name)), Changed("description", text(before.Description), text(after.Description))...)
}

// AlertDifferences returns how an alert became another, with its words; nil is none.
func AlertDifferences[T any](before, after *T, words func(*T) AlertWords, fields []AuditField[T]) []AuditChange {
	var was, is AlertWords
	if before != nil {
		was = words(before)
	}
	if after != nil {
		is = words(after)
	}
	return append(Differences(before, after, fields), AlertWordsChanges(was, is)...)
}

// VolumeAlert is a pair of thresholds on the data usage in a billing period, in bytes
// of both directions (spec §2.4). One is exceeded when usage is above it.
type VolumeAlert struct {
	AlertID  int64
	RuleType RuleType
	// Target is the current subscriberId of a sim, the groupId of a group in
	// decimal, and "" for the company.
	Target string
	// SubscriberKey is present for a sim, GroupID for the rules of groups.
	SubscriberKey  *int64
	GroupID        *int64
	LowerThreshold int64
	UpperThreshold int64
	DateCreated    time.Time
	AlertWords
}

// Version changes with what can be edited.
func (a *VolumeAlert) Version() string {
	return VersionOf(a.LowerThreshold, a.UpperThreshold, a.AlertWords)
}

// Number implements Alert.
func (a *VolumeAlert) Number() int64 { return a.AlertID }

// Kind returns KindVolume.
func (*VolumeAlert) Kind() AlertKind { return KindVolume }

// Threshold returns the threshold of a boundary.
func (a *VolumeAlert) Threshold(b Boundary) int64 {
	if b == Upper {
		return a.UpperThreshold
	}
	return a.LowerThreshold
}

// AlertSpec is an alert to be created.
type AlertSpec struct {
	RuleType RuleType
	// Target is as in Alert. Where several subscribers had the subscriberId, it
	// means the one that has it now.
	Target         string
	LowerThreshold int64
	UpperThreshold int64
	AlertWords
}

// AlertImport is an alert as a bundle names it.
type AlertImport struct {
	AlertSpec
	// Copy distinguishes equal alerts: it counts them from 0.
	Copy int
}

// Check refuses what breaks a rule of spec §2.4. Whether the target exists is
// for the store to find.
func (s AlertSpec) Check() error {
	if err := checkThresholds(s.LowerThreshold, s.UpperThreshold); err != nil {
		return err
	}
	if err := s.AlertWords.Check(); err != nil {
		return err
	}
	switch s.RuleType {
	case RuleSIM:
		return checkIdentifier("target", s.Target)
	case RuleCompany:
		if s.Target != "" {
			return Invalid("target", "the target of a company alert must be blank")
		}
		return nil
	case RuleGroup, RuleGroupMember:
		_, err := s.GroupID()
		return err
	}
	return Invalid("ruleType", "ruleType must be sim, company, grouppr or groupfptp, not %q", s.RuleType)
}

// GroupID reads the target of a rule of groups.
func (s AlertSpec) GroupID() (int64, error) {
	id, err := strconv.ParseInt(s.Target, 10, 64)
	if err != nil || strconv.FormatInt(id, 10) != s.Target || CheckGroupID(id) != nil {
		return 0, Invalid("target", "the target of a %s alert must be a groupId, not %q", s.RuleType, s.Target)
	}
	return id, nil
}

// AlertEdit is what changes on an alert; nil stays as it is.
type AlertEdit struct {
	LowerThreshold, UpperThreshold *int64
	AlertWordsEdit
}

// Check refuses an edit that no alert can take: it is wrong whatever the alert is.
func (e AlertEdit) Check() error {
	lower, upper := int64(0), int64(math.MaxInt64)
	if e.LowerThreshold != nil {
		lower = *e.LowerThreshold
	}
	if e.UpperThreshold != nil {
		upper = *e.UpperThreshold
	}
	if err := checkThresholds(lower, upper); err != nil {
		return err
	}
	return e.AlertWords.Check()
}

// Thresholds returns them as they are after the edit, or Invalid.
func (e AlertEdit) Thresholds(a *VolumeAlert) (lower, upper int64, err error) {
	lower, upper = a.LowerThreshold, a.UpperThreshold
	if e.LowerThreshold != nil {
		lower = *e.LowerThreshold
	}
	if e.UpperThreshold != nil {
		upper = *e.UpperThreshold
	}
	return lower, upper, checkThresholds(lower, upper)
}

func checkThresholds(lower, upper int64) error {
	switch {
	case lower < 0:
		return Invalid("lowerThreshold", "lowerThreshold must be 0 to 9223372036854775807 bytes, not %d", lower)
	case upper < 0:
		return Invalid("upperThreshold", "upperThreshold must be 0 to 9223372036854775807 bytes, not %d", upper)
	case lower > upper:
		return Invalid("lowerThreshold", "lowerThreshold (%d) must not be above upperThreshold (%d)", lower, upper)
	}
	return nil
}

// VolumeAlerts keeps the alerts on volume. A restricted scope shows those whose
// subscriber or group it shows; every other one is NotFound there, as one that does
// not exist.
type VolumeAlerts interface {
	Find(ctx context.Context, scope Scope, id int64) (*VolumeAlert, error)
	// FindMany answers for a batch at once, keyed by alert id; what the scope
	// does not show is missing from the map.
	FindMany(ctx context.Context, scope Scope, ids []int64) (map[int64]*VolumeAlert, error)
	List(ctx context.Context, scope Scope, listing Listing) (Slice[*VolumeAlert], error)
	Count(ctx context.Context, scope Scope, listing Listing) (int, error)
	// Create makes the alert and evaluates it on the usage of the current
	// billing period at once. NotFound when the scope does not show the target.
	Create(ctx context.Context, scope Scope, spec AlertSpec) (*VolumeAlert, error)
	// Edit changes thresholds; one that gets another value is armed again and
	// evaluated at once.
	Edit(ctx context.Context, scope Scope, id int64, edit AlertEdit) (*VolumeAlert, error)
	// Remove deletes the alert and returns it. Its log stays.
	Remove(ctx context.Context, scope Scope, id int64) (*VolumeAlert, error)
	// Keep creates those of the alerts that the company does not have yet: an
	// alert is the same when all of the spec is, and as many equal ones are there
	// as its Copy counts before it. It answers in their order.
	Keep(ctx context.Context, scope Scope, alerts []AlertImport) ([]Imported, error)

	// SubjectsOf returns the same part (Limit and Offset) of the subjects of
	// each alert with their states in the current billing period, those with
	// the most usage first, keyed by alert id. Subscribers without usage are
	// left out where an alert watches many.
	SubjectsOf(ctx context.Context, scope Scope, alerts []int64, page Page) (map[int64][]*VolumeAlertState, error)
	// Fired counts, for each alert, the subjects for which it has fired in the
	// current billing period; one without any is missing from the map.
	Fired(ctx context.Context, scope Scope, alerts []int64) (map[int64]int, error)
	// WatchingSubscribers returns the states of the alerts that watch each
	// subscriber alone or in its group or company, at most MaxLimit each, by
	// alert id, keyed by subscriber. Rules on combined usage are not among them.
	WatchingSubscribers(ctx context.Context, scope Scope, keys []int64) (map[int64][]*VolumeAlertState, error)
	// Explain returns why the alert has or has not fired for the subject in the
	// current billing period.
	Explain(ctx context.Context, scope Scope, alertID int64, subject AlertSubject) (*AlertExplanation, error)
	// Preview computes when the alert would have fired on usage of the past,
	// without keeping anything.
	Preview(ctx context.Context, scope Scope, spec AlertSpec, over Range) (*AlertPreview, error)
}

// Alerts lists the alerts of all kinds. A restricted scope shows those whose subscriber or
// group it shows.
type Alerts interface {
	// List returns them by number unless ordered otherwise.
	List(ctx context.Context, scope Scope, listing Listing) (Slice[Alert], error)
	Count(ctx context.Context, scope Scope, listing Listing) (int, error)
	// FindMany answers for a batch at once, keyed by number; what the scope does not show is
	// missing from the map.
	FindMany(ctx context.Context, scope Scope, numbers []int64) (map[int64]Alert, error)
	// OfGroups returns the same page of the alerts that are set on each group, keyed by its id.
	OfGroups(ctx context.Context, scope Scope, groups []int64, listing Listing) (map[int64]Slice[Alert], error)
	CountOfGroups(ctx context.Context, scope Scope, groups []int64, listing Listing) (map[int64]int, error)
}

// AlertFields are what alerts of all kinds can be filtered and ordered by.
var AlertFields = query.NewFields(
	query.Field{Name: "alertId", Type: query.Integer},
	query.Field{Name: "name", Type: query.Text},
	query.Enumerated("kind", AlertKinds),
	query.Enumerated("ruleType", RuleTypes),
	query.Field{Name: "target", Type: query.Text},
	query.Field{Name: "lowerThreshold", Type: query.Integer, Doc: "The lower threshold in bytes; null for kinds other than VOLUME."},
	query.Field{Name: "upperThreshold", Type: query.Integer, Doc: "The upper threshold in bytes; null for kinds other than VOLUME."},
	query.Field{Name: "createdAt", Type: query.Time},
)

// VolumeAlertFields are what the REST lists of alerts can be filtered and ordered by.
var VolumeAlertFields = query.NewFields(
	query.Field{Name: "id", Type: query.Integer, Aliases: []string{"alertId"}},
	query.Enumerated("ruleType", RuleTypes),
	query.Field{Name: "target", Type: query.Text},
	query.Field{Name: "lowerThreshold", Type: query.Integer},
	query.Field{Name: "upperThreshold", Type: query.Integer},
	query.Field{Name: "dateCreated", Type: query.Time, Aliases: []string{"createdAt"}},
)
