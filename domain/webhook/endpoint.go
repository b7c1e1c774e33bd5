// Package webhook holds the rules of webhooks: which events go to which endpoints,
// in which form, how they are signed, when they are tried again, and which addresses
// are never called. Messages follow Standard Webhooks 1.0.0 and CloudEvents 1.0.
package webhook

import (
	"crypto/rand"
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"simgraph/domain"
	"simgraph/domain/query"
)

const (
	// MaxEndpoints bounds the webhooks of a company.
	MaxEndpoints = 20
	// MaxFilters bounds how many alerts, groups or tags a webhook names.
	MaxFilters = 100
	// MaxURL is the longest address of a webhook in bytes.
	MaxURL = 2048
	// MaxReplay bounds how many messages are replayed at once.
	MaxReplay = 10_000
	// TestsPerHour bounds the test events of an endpoint.
	TestsPerHour = 20
	// SecretOverlap is how long messages are signed with the secret before, too, after
	// a rotation.
	SecretOverlap = 24 * time.Hour
	// AtOnce bounds the requests that are sent to an endpoint at the same time.
	AtOnce = 4
	// FailingSpan is how long an endpoint may fail before it is disabled.
	FailingSpan = 5 * 24 * time.Hour
)

// Format is the form in which an endpoint takes events.
type Format string

// The formats.
const (
	// CloudEvents is one CloudEvent in structured JSON.
	CloudEvents Format = "cloudevents"
	// Slack is a message for an incoming webhook of Slack.
	Slack Format = "slack"
	// Teams is an Adaptive Card for a workflow of Microsoft Teams.
	Teams Format = "teams"
)

// DisabledReason is why an endpoint gets no events.
type DisabledReason string

// The reasons.
const (
	// ByUser: a caller disabled it.
	ByUser DisabledReason = "user"
	// Gone: it answered 410.
	Gone DisabledReason = "gone"
	// Failing: no request to it succeeded for FailingSpan.
	Failing DisabledReason = "failing"
)

// Endpoint is where events of a company are sent.
type Endpoint struct {
	WebhookID int64
	Name      string
	URL       string
	Format    Format
	Filter
	CreatedAt time.Time
	// DisabledAt is when it stopped to get events, DisabledReason why; nil while it gets them.
	DisabledAt     *time.Time
	DisabledReason *DisabledReason
	// FailingSince is when its first request failed after the last that succeeded.
	FailingSince *time.Time
	// PausedUntil is until when it demanded not to be called.
	PausedUntil *time.Time
	// PreviousSecretUntil is until when messages are signed with the secret before, too.
	PreviousSecretUntil *time.Time
}

// Version changes with what can be edited.
func (e *Endpoint) Version() string {
	return domain.VersionOf(e.Name, e.URL, e.Format, e.EventTypes, e.AlertIDs, e.GroupIDs, e.TagNames)
}

// Spec is an endpoint to be created.
type Spec struct {
	Name   string
	URL    string
	Format Format
	Filter
}

// Same reports whether the other one is equal.
func (s *Spec) Same(other *Spec) bool {
	return s.Name == other.Name && s.URL == other.URL && s.Format == other.Format && slices.Equal(s.EventTypes, other.EventTypes) &&
		slices.Equal(s.AlertIDs, other.AlertIDs) && slices.Equal(s.GroupIDs, other.GroupIDs) && slices.Equal(s.TagNames, other.TagNames)
}

// Edit is what changes on an endpoint; nil stays as it is.
type Edit struct {
	Name, URL  *string
	Format     *Format
	EventTypes *[]EventType
	AlertIDs   *[]int64
	GroupIDs   *[]int64
	TagNames   *[]string
}

// Apply returns the endpoint's specification after the edit.
func (e Edit) Apply(of *Endpoint) Spec {
	spec := Spec{Name: of.Name, URL: of.URL, Format: of.Format, Filter: of.Filter}
	set(&spec.Name, e.Name)
	set(&spec.URL, e.URL)
	set(&spec.Format, e.Format)
	set(&spec.EventTypes, e.EventTypes)
	set(&spec.AlertIDs, e.AlertIDs)
	set(&spec.GroupIDs, e.GroupIDs)
	set(&spec.TagNames, e.TagNames)
	return spec
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// Check refuses an edit that no endpoint can take.
func (e Edit) Check(rules Rules) error {
	spec := e.Apply(&Endpoint{Name: "name", URL: "https://receiver.example", Format: CloudEvents, Filter: Filter{EventTypes: Types}})
	return spec.Check(rules)
}

// Check refuses what no endpoint can be. Whether alerts and groups exist is for the
// caller to find.
func (s *Spec) Check(rules Rules) error {
	if err := domain.CheckName("name", s.Name); err != nil {
		return err
	}
	if err := rules.CheckURL(s.URL); err != nil {
		return err
	}
	if !slices.Contains([]Format{CloudEvents, Slack, Teams}, s.Format) {
		return domain.Invalid("format", "there is no format %q", s.Format)
	}
	return s.Filter.check()
}

// Secret signs the messages to an endpoint.
type Secret []byte

// secretPrefix begins the text of a secret.
const secretPrefix = "whsec_"

// NewSecret returns a secret of 32 random bytes.
func NewSecret() Secret {
	secret := make(Secret, 32)
	_, _ = rand.Read(secret) // never fails
	return secret
}

// String returns the secret as receivers configure it.
func (s Secret) String() string { return secretPrefix + base64.StdEncoding.EncodeToString(s) }

// ParseSecret reads what String returns.
func ParseSecret(text string) (Secret, error) {
	encoded, is := strings.CutPrefix(text, secretPrefix)
	secret, err := base64.StdEncoding.DecodeString(encoded)
	if !is || err != nil || len(secret) < 24 || len(secret) > 64 {
		return nil, domain.Invalid("secret", "a secret is whsec_ and 24 to 64 bytes in base64")
	}
	return secret, nil
}

// Fields are what endpoints can be filtered and ordered by.
var Fields = query.NewFields(
	query.Field{Name: "webhookId", Type: query.Integer},
	query.Field{Name: "name", Type: query.Text},
	query.Field{Name: "url", Type: query.Text},
	query.Enumerated("format", []Format{CloudEvents, Slack, Teams}),
	query.Field{Name: "createdAt", Type: query.Time},
	query.Field{Name: "disabledAt", Type: query.Time},
	query.Enumerated("disabledReason", []DisabledReason{ByUser, Gone, Failing}),
	query.Field{Name: "failingSince", Type: query.Time},
	query.Field{Name: "pausedUntil", Type: query.Time},
)
