package webhook

import (
	"encoding/json"
	"net/url"
	"strconv"
	"time"

	"simgraph/domain"
)

const (
	// SpecVersion is the version of CloudEvents.
	SpecVersion = "1.0"
	// MaxSubscribers bounds how many subscribers one event subscriber.changed names, so
	// that a message stays below 20 kB.
	MaxSubscribers = 100
)

// Event is a CloudEvent in its JSON form.
type Event struct {
	SpecVersion     string          `json:"specversion"`
	ID              string          `json:"id"`
	Source          string          `json:"source"`
	Type            EventType       `json:"type"`
	Subject         string          `json:"subject,omitempty"`
	Time            time.Time       `json:"time"`
	DataContentType string          `json:"datacontenttype"`
	Data            json.RawMessage `json:"data"`
}

// KindVolume is the Kind of Firing.
const KindVolume = "volume"

// Firing is the data of AlertFired: an entry of the alert log with the names that
// people use. Bytes are of both directions.
type Firing struct {
	// Kind is KindVolume.
	Kind          string    `json:"kind"`
	EntryID       int64     `json:"entryId"`
	AlertID       int64     `json:"alertId"`
	RuleType      string    `json:"ruleType"`
	LimitBoundary string    `json:"limitBoundary"`
	Threshold     int64     `json:"threshold"`
	Usage         int64     `json:"usage"`
	IsLate        bool      `json:"isLate"`
	PeriodStart   time.Time `json:"periodStart"`
	PeriodEnd     time.Time `json:"periodEnd"`
	PhysicalID    *string   `json:"physicalId"`
	SubscriberID  *string   `json:"subscriberId"`
	Nickname      *string   `json:"nickname"`
	GroupID       *int64    `json:"groupId"`
	GroupName     *string   `json:"groupName"`
}

// ConditionEntry is the data of AlertFired of alerts on conditions, of AlertResolved and of
// SourceSilent: an entry of the log of conditions with the names that people use.
type ConditionEntry struct {
	// Kind is that of the condition: silent, storm, forecast, change or source.
	Kind    string `json:"kind"`
	EntryID int64  `json:"entryId"`
	// AlertID is null of a source.
	AlertID  *int64 `json:"alertId"`
	RuleType string `json:"ruleType"`
	// Text is what happened, with the subject, as a sentence.
	Text string `json:"text"`
	// Since is when the subject was seen last, the begin of the hour of a storm and of the
	// period of a forecast, or when a new value was reported first.
	Since time.Time `json:"since"`
	// Bound is the alert's: hours, sessions or bytes. Value is what was found.
	Bound int64 `json:"bound"`
	Value int64 `json:"value"`
	// Trait, Before and After are those of a change.
	Trait  string `json:"trait"`
	Before string `json:"before"`
	After  string `json:"after"`
	// Source and NAS are those of a source that is silent; NAS is empty of one that is as a whole.
	Source string `json:"source"`
	NAS    string `json:"nas"`
	// Resolves is the entry that AlertResolved ends.
	Resolves     *int64  `json:"resolves"`
	PhysicalID   *string `json:"physicalId"`
	SubscriberID *string `json:"subscriberId"`
	Nickname     *string `json:"nickname"`
	GroupID      *int64  `json:"groupId"`
	GroupName    *string `json:"groupName"`
}

// Change is the data of SubscriberChanged.
type Change struct {
	PhysicalIDs []string `json:"physicalIds"`
}

// Finish is the data of OperationFinished. State and counts are those of the operation.
type Finish struct {
	OperationID string  `json:"operationId"`
	State       string  `json:"state"`
	IsDryRun    bool    `json:"isDryRun"`
	UndoOf      *string `json:"undoOf"`
	// Description is what changes, in words, cut to MaxDescription characters.
	Description string `json:"description"`
	// Reason is why, in the words of who started it; nil where none was given.
	Reason  *string `json:"reason"`
	Total   int     `json:"total"`
	Created int     `json:"created"`
	Changed int     `json:"changed"`
	Removed int     `json:"removed"`
	Failed  int     `json:"failed"`
	Skipped int     `json:"skipped"`
}

// MaxDescription bounds what an event says of an operation, in characters.
const MaxDescription = 500

// Trial is the data of Test.
type Trial struct {
	WebhookID int64  `json:"webhookId"`
	Name      string `json:"name"`
}

// SourceOf is the source of the events of a company.
func SourceOf(externalID string) string { return "/companies/" + url.PathEscape(externalID) }

// NewAlertFired returns the event of an entry of the alert log. Its id is the entry's.
func NewAlertFired(company string, at time.Time, of *Firing) *Event {
	of.Kind = KindVolume
	return newEvent(company, strconv.FormatInt(of.EntryID, 10), AlertFired, subjectOf(of.PhysicalID, of.GroupID), at, of)
}

func subjectOf(physicalID *string, group *int64) string {
	switch {
	case physicalID != nil:
		return "subscribers/" + url.PathEscape(*physicalID)
	case group != nil:
		return "groups/" + strconv.FormatInt(*group, 10)
	}
	return ""
}

// NewConditionEvent returns the event of an entry of the log of conditions. Its id is the
// entry's after "condition-", since those of the alert log are numbered apart.
func NewConditionEvent(company string, as EventType, at time.Time, of *ConditionEntry) *Event {
	subject := subjectOf(of.PhysicalID, of.GroupID)
	if of.Source != "" {
		subject = "sources/" + url.PathEscape(of.Source)
	}
	return newEvent(company, "condition-"+strconv.FormatInt(of.EntryID, 10), as, subject, at, of)
}

// NewSubscriberChanged returns the event of subscribers that changed together, at
// most MaxSubscribers.
func NewSubscriberChanged(company, id string, at time.Time, physicalIDs []string) *Event {
	subject := ""
	if len(physicalIDs) == 1 {
		subject = "subscribers/" + url.PathEscape(physicalIDs[0])
	}
	return newEvent(company, id, SubscriberChanged, subject, at, &Change{physicalIDs})
}

// NewOperationFinished returns the event of an operation that ended. Its id is the operation's.
func NewOperationFinished(company string, at time.Time, of Finish) *Event {
	of.Description = cut(of.Description, MaxDescription)
	return newEvent(company, of.OperationID, OperationFinished, "operations/"+of.OperationID, at, of)
}

// NewCommandRequested returns the event of a command about a subscriber. Its id is the command's.
func NewCommandRequested(company, id string, at time.Time, physicalID string, data any) *Event {
	return newEvent(company, id, CommandRequested, "subscribers/"+url.PathEscape(physicalID), at, data)
}

// NewTest returns the event of a test.
func NewTest(company, id string, at time.Time, of *Endpoint) *Event {
	return newEvent(company, id, Test, "webhooks/"+strconv.FormatInt(of.WebhookID, 10), at, &Trial{of.WebhookID, of.Name})
}

func newEvent(company, id string, of EventType, subject string, at time.Time, data any) *Event {
	return &Event{
		SpecVersion: SpecVersion, ID: id, Source: SourceOf(company), Type: of, Subject: subject,
		Time: at.UTC().Truncate(time.Microsecond), DataContentType: "application/json", Data: asJSON(data),
	}
}

// asJSON writes what always can be written.
func asJSON(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return text
}

// JSON returns the event as it is kept and sent.
func (e *Event) JSON() []byte { return asJSON(e) }

// ParseEvent reads what JSON returns.
func ParseEvent(text []byte) (*Event, error) {
	var event Event
	if err := json.Unmarshal(text, &event); err != nil {
		return nil, domain.Invalid("event", "the event cannot be read: %v", err)
	}
	return &event, nil
}
