// Package carrier holds the rules of commands: what a carrier is asked to do when the
// inventory of a company changes, in which order, and what becomes of it.
package carrier

import (
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"simgraph/domain"
	"simgraph/domain/query"
	"simgraph/domain/webhook"
)

// MaxReason bounds what a carrier reports as a reason, in characters.
const MaxReason = 500

// Kind is what a carrier is asked to do.
type Kind string

// The kinds.
const (
	Bar        Kind = "bar"
	Unbar      Kind = "unbar"
	Activate   Kind = "activate"
	Deactivate Kind = "deactivate"
	Terminate  Kind = "terminate"
)

// opposing are the kinds of which a newer one replaces an older one that waits.
var opposing = [][]Kind{{Bar, Unbar}, {Activate, Deactivate, Terminate}}

// Opposing returns the kinds that a command of this kind replaces, itself included.
func (k Kind) Opposing() []Kind {
	for _, kinds := range opposing {
		for _, of := range kinds {
			if of == k {
				return kinds
			}
		}
	}
	return nil
}

// State is how far a command is.
type State string

// The states.
const (
	// Requested: it waits for its turn, or for an answer of 2xx.
	Requested State = "requested"
	// Accepted: the provider took it, and reports later what became of it.
	Accepted State = "accepted"
	// Done and Failed: the carrier did it, or not. Failed is also what could not be delivered.
	Done   State = "done"
	Failed State = "failed"
	// Superseded: a newer one replaced it before it was delivered.
	Superseded State = "superseded"
	// Cancelled: a caller withdrew it before it was sent.
	Cancelled State = "cancelled"
)

// Wanted returns what a carrier must do after a change of the record.
func Wanted(before, after *domain.Subscriber) (kinds []Kind) {
	switch {
	case after.IsBarred && !before.IsBarred:
		kinds = append(kinds, Bar)
	case !after.IsBarred && before.IsBarred:
		kinds = append(kinds, Unbar)
	}
	if contract := contractOf(after); contract != contractOf(before) {
		kinds = append(kinds, contract)
	}
	return kinds
}

// contractOf is the kind that leads to the contract of the record.
func contractOf(s *domain.Subscriber) Kind {
	switch {
	case s.IsActive:
		return Activate
	case s.TerminateDate != nil:
		return Terminate
	}
	return Deactivate
}

// Command is what a carrier was asked to do with a subscriber.
type Command struct {
	CommandID     string
	SubscriberKey int64
	Kind          Kind
	State         State
	// Reason is why it failed or was replaced, "" where nothing is known.
	Reason string
	// Sequence rises with every command of the subscriber.
	Sequence int64
	// OperationID is that of the operation that changed the subscriber; nil for none.
	OperationID *string
	RequestedAt time.Time
	// ChangedAt is when it got its state.
	ChangedAt time.Time
	// Attempts counts the requests since it was last requested, NextAttemptAt is when
	// another is made: nil where that is at once, or never.
	Attempts      int
	NextAttemptAt *time.Time
	// WasSent is set from the first request on, also where it was requested again since.
	WasSent    bool
	LastStatus *int
	LastError  string
	// Payload is the body of the request.
	Payload string
}

// Fields are what commands can be filtered and ordered by.
var Fields = query.NewFields(
	query.Field{Name: "commandId", Type: query.Text}.Unordered(),
	query.Enumerated("kind", []Kind{Bar, Unbar, Activate, Deactivate, Terminate}).Unordered(),
	query.Enumerated("state", []State{Requested, Accepted, Done, Failed, Superseded, Cancelled}).Unordered(),
	query.Field{Name: "operationId", Type: query.Text, Doc: "The id of the operation that changed the subscriber; null for a change of its own."}.Unordered(),
	query.Field{Name: "requestedAt", Type: query.Time},
	query.Field{Name: "changedAt", Type: query.Time}.Unordered(),
)

// Data is what a command.requested event says.
type Data struct {
	CommandID     string     `json:"commandId"`
	Sequence      int64      `json:"sequence"`
	Kind          Kind       `json:"kind"`
	PhysicalID    string     `json:"physicalId"`
	SubscriberID  string     `json:"subscriberId"`
	IMSI          string     `json:"imsi"`
	EID           *string    `json:"eid"`
	OperatorCode  string     `json:"operatorCode"`
	TerminateDate *time.Time `json:"terminateDate"`
	OperationID   *string    `json:"operationId"`
}

// NewData describes a command for the subscriber.
func NewData(id string, sequence int64, kind Kind, of *domain.Subscriber, operationID *string) Data {
	data := Data{
		CommandID: id, Sequence: sequence, Kind: kind, PhysicalID: of.PhysicalID, SubscriberID: of.SubscriberID, IMSI: of.IMSI,
		EID: of.EID, OperatorCode: of.OperatorCode, OperationID: operationID,
	}
	if kind == Terminate {
		data.TerminateDate = new(of.TerminateDate.UTC())
	}
	return data
}

// Provider is the endpoint of a company that gets its commands.
type Provider struct{ webhook.Endpoint }

// Settings change a provider; what is nil stays.
type Settings struct {
	URL *string
	// RotateSecret makes a new secret; the one before signs, too, for webhook.SecretOverlap.
	RotateSecret bool
}

// Report is what a carrier says became of a command: Done or Failed.
type Report struct {
	CommandID string
	State     State
	Reason    string
}

// Check rejects a report that no carrier can make.
func (r *Report) Check() error {
	if r.State != Done && r.State != Failed {
		return domain.Invalid("state", "a command is reported as done or failed")
	}
	if strings.ContainsRune(r.Reason, 0) || !utf8.ValidString(r.Reason) {
		return domain.Invalid("reason", "a reason is a text without the character U+0000")
	}
	if utf8.RuneCountInString(r.Reason) > MaxReason {
		return domain.Invalid("reason", "a reason has at most %d characters", MaxReason)
	}
	return nil
}

// ReadAnswer returns what the body of a 2xx says became of the command: Accepted where
// it says nothing of that.
func ReadAnswer(body string) (State, string) {
	var answer struct {
		State  State
		Reason string
	}
	if json.Unmarshal([]byte(body), &answer) != nil || answer.State != Done && answer.State != Failed {
		return Accepted, ""
	}
	return answer.State, Shorten(answer.Reason)
}

// Shorten puts a reason on one line of at most MaxReason characters, without what no
// database keeps.
func Shorten(reason string) string { return domain.OneLine(reason, MaxReason-1) }

// CheckReport rejects a report that contradicts what is known of the command.
func (c *Command) CheckReport(of State) error {
	if c.State == Done && of == Failed {
		return domain.Invalid("state", "the command was reported as done already")
	}
	return nil
}

// CheckCancel rejects to withdraw a command that the provider may know.
func (c *Command) CheckCancel() error {
	switch {
	case c.State != Requested:
		return domain.Invalid("commandId", "the command waits no more: it is %s", c.State)
	case c.WasSent:
		return domain.Invalid("commandId", "the command was sent already, and may have arrived; change the subscriber back to have the opposite sent")
	}
	return nil
}

// CheckRetry rejects to send a command again that is over.
func (c *Command) CheckRetry() error {
	switch c.State {
	case Requested, Accepted, Failed:
		return nil
	}
	return domain.Invalid("commandId", "the command is not sent again: it is %s", c.State)
}

// NotFound is the error for a command that the scope does not show.
func NotFound(commandID string) error { return domain.NotFound("commandId", "command", commandID) }
