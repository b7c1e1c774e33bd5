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
	// MaxSubscribers bounds how many subscribers one event of SubscriberChanged names, so
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

// Firing is the data of AlertFired: an entry of the alert log with the names that
// people use. Bytes are of both directions.
type Firing struct {
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
	Total       int    `json:"total"`
	Changed     int    `json:"changed"`
	Failed      int    `json:"failed"`
	Skipped     int    `json:"skipped"`
}

// MaxDescription bounds Finish.Description.
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
	subject := ""
	switch {
	case of.PhysicalID != nil:
		subject = "subscribers/" + url.PathEscape(*of.PhysicalID)
	case of.GroupID != nil:
		subject = "groups/" + strconv.FormatInt(*of.GroupID, 10)
	}
	return newEvent(company, strconv.FormatInt(of.EntryID, 10), AlertFired, subject, at, of)
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
