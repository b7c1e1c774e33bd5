package webhook

import (
	"context"
	"time"

	"simgraph/domain"
	"simgraph/domain/query"
	"simgraph/domain/retention"
)

// Delivery is a message to an endpoint. Its id is the header webhook-id, the same at
// every attempt and replay.
type Delivery struct {
	DeliveryID string
	WebhookID  int64
	// WebhookName is the name of the endpoint.
	WebhookName string
	EventType   EventType
	// State is Queued, Delivered or Failed.
	State     domain.DeliveryState
	Attempts  int
	CreatedAt time.Time
	// NextAttemptAt is nil where that is at once, or never.
	NextAttemptAt *time.Time
	FinishedAt    *time.Time
	// LastStatus is that of the last answer, nil where there was none; LastAnswer its
	// first kilobyte, and LastError why the last attempt failed.
	LastStatus *int
	LastAnswer string
	LastError  string
	// Payload is the body of the request.
	Payload string
}

// EventTypeName is the type as a text: Test is no type that an endpoint can choose.
func (d *Delivery) EventTypeName() string { return string(d.EventType) }

// Channel implements domain.Delivery.
func (d *Delivery) Channel() domain.Channel { return domain.ByWebhook }

// DeliveryFields are what messages can be filtered and ordered by.
var DeliveryFields = query.NewFields(
	query.Field{Name: "webhookId", Type: query.Integer, Doc: "The identifier of the webhook that it goes to."}.Unordered(),
	query.Field{Name: "deliveryId", Type: query.Text}.Unordered(),
	query.Field{Name: "eventType", Type: query.Text}.Unordered(),
	query.Enumerated("state", domain.DeliveryStates).Unordered(),
	query.Field{Name: "createdAt", Type: query.Time},
	query.Field{Name: "finishedAt", Type: query.Time}.Unordered(),
)

// Webhooks keeps the endpoints of companies. A restricted scope sees and changes those
// alone that were made for groups which it shows.
type Webhooks interface {
	// List returns the endpoints, by id unless the listing has another order.
	List(ctx context.Context, scope domain.Scope, listing domain.Listing) (domain.Slice[*Endpoint], error)
	Count(ctx context.Context, scope domain.Scope, listing domain.Listing) (int, error)
	FindMany(ctx context.Context, scope domain.Scope, ids []int64) (map[int64]*Endpoint, error)
	// Check refuses an edit that no endpoint can take, as Create and Edit do.
	Check(edit Edit) error
	// Create returns the endpoint with its secret. That of a restricted scope gets the
	// events of the scope's groups alone.
	Create(ctx context.Context, scope domain.Scope, spec Spec) (*Endpoint, Secret, error)
	Edit(ctx context.Context, scope domain.Scope, id int64, edit Edit) (*Endpoint, error)
	// Rotate makes a new secret; the one before signs, too, for SecretOverlap.
	Rotate(ctx context.Context, scope domain.Scope, id int64) (*Endpoint, Secret, error)
	// Switch enables or disables the endpoint. Events are kept for a disabled one only
	// where they were queued before.
	Switch(ctx context.Context, scope domain.Scope, id int64, enabled bool) (*Endpoint, error)
	// Remove deletes the endpoint with its messages.
	Remove(ctx context.Context, scope domain.Scope, id int64) (*Endpoint, error)
	// SendTest queues a test event; RateLimited after TestsPerHour.
	SendTest(ctx context.Context, scope domain.Scope, id int64) (*Delivery, error)

	// Deliveries returns messages, the newest first unless the listing has another order.
	Deliveries(ctx context.Context, scope domain.Scope, listing domain.Listing) (domain.Slice[*Delivery], error)
	CountDeliveries(ctx context.Context, scope domain.Scope, listing domain.Listing) (int, error)
	FindDeliveries(ctx context.Context, scope domain.Scope, ids []string) (map[string]*Delivery, error)
	// Replay queues a message that is finished again; one that is queued is due at once.
	Replay(ctx context.Context, scope domain.Scope, deliveryID string) (*Delivery, error)
	// ReplaySince queues the finished messages of the endpoint again that were made since
	// then, the oldest MaxReplay at most, and returns how many.
	ReplaySince(ctx context.Context, scope domain.Scope, id int64, since time.Time) (int, error)
}

// Attempt is a message that a worker has claimed, with what it needs to send it.
type Attempt struct {
	CompanyID  domain.CompanyID
	DeliveryID string
	WebhookID  int64
	// Attempts counts this one.
	Attempts int
	URL      string
	Format   Format
	Event    []byte
	Secrets  []Secret
	// ToProvider is set for a command.
	ToProvider bool
}

// Answer is what an attempt gave: the status, 0 for none, and at most a kilobyte of
// the body; or the error.
type Answer struct {
	Status     int
	Body       string
	Error      string
	RetryAfter string
}

// Outbox hands messages to the workers that send them. Several workers, also of
// several processes, share one outbox.
type Outbox interface {
	// Pending returns the companies with messages that are due. Beside an error it
	// returns those that could be found.
	Pending(ctx context.Context) ([]domain.CompanyID, error)
	// Claim takes at most limit messages of the company that are due, of each endpoint at
	// most as many as AtOnce leaves, or one where it fails. A message that is not finished
	// within lease, since its worker died, can be claimed again. Beside an error it returns
	// what it has claimed all the same.
	Claim(ctx context.Context, company domain.CompanyID, limit int, lease time.Duration) ([]*Attempt, error)
	// Finish records the answer, and what it means for message and endpoint. disabled is
	// why the endpoint gets no more events, "" where it does.
	Finish(ctx context.Context, of *Attempt, answer Answer) (result Result, disabled DisabledReason, err error)
	// Prune removes the messages that have expired, and returns how many.
	Prune(ctx context.Context, expired retention.Expired) (int, error)
}

// Result is what became of an attempt.
type Result string

// The results.
const (
	ResultDelivered Result = "delivered"
	ResultRetried   Result = "retried"
	ResultFailed    Result = "failed"
)

// Results are all of them.
var Results = []string{string(ResultDelivered), string(ResultRetried), string(ResultFailed)}
