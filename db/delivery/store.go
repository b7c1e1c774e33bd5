// Package delivery lists what was sent, by mail and to webhooks.
package delivery

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/keyset"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/query"
	"simgraph/domain/webhook"
)

// Store lists the mails and the messages to webhooks in PostgreSQL.
type Store struct{ pool *sqlx.DB }

var _ domain.Deliveries = (*Store)(nil)

// New returns the store on the pool.
func New(pool *sqlx.DB) *Store { return &Store{pool} }

const (
	// MailState is the state of the mail m as that of a delivery.
	MailState = `(CASE m.state WHEN 'sent' THEN 'delivered' ELSE m.state END)`
	// MailColumns are what a domain.Mail is read from.
	MailColumns = `m.mail_id, m.recipient_id, m.email, m.kind, ` + MailState + ` AS state, m.attempts, m.due_at, m.created_at, m.finished_at, m.last_error, m.note`

	deliverySelect = `d.delivery_id, d.channel, d.recipient_id, d.email, d.about, d.state, d.attempts, d.created_at,
  CASE WHEN d.state = 'queued' AND isfinite(d.due_at) THEN d.due_at END AS next_attempt_at, d.finished_at, d.last_error,
  COALESCE(d.webhook_id, 0) AS webhook_id, COALESCE(w.name, '') AS webhook_name, COALESCE(w.format, '') AS format, d.event, d.last_status, d.last_answer`
	// mails and messages are the deliveries d of a channel; messages without commands to
	// carriers, by a condition that the planner expects to hold for many, so that it reads
	// them in their order. {page} is filled with further conditions, order and limit.
	mails = `
  (SELECT * FROM (
    SELECT m.company_id, m.mail_id AS delivery_id, NULL::bigint AS webhook_id, 'mail' COLLATE "C" AS channel, m.recipient_id, m.email AS email, m.kind COLLATE "C" AS about,
      ` + MailState + ` COLLATE "C" AS state, m.attempts, m.created_at,
      m.due_at, m.finished_at, m.last_error, '' AS event, NULL::integer AS last_status, '' AS last_answer
    FROM mails m
    WHERE m.company_id = $1
  ) d WHERE true{page})`
	messages = `
  (SELECT * FROM (
    SELECT m.company_id, m.message_id AS delivery_id, m.webhook_id, 'webhook' COLLATE "C" AS channel, 0 AS recipient_id, '' COLLATE "C" AS email, m.event_type COLLATE "C" AS about,
      m.state COLLATE "C" AS state, m.attempts, m.created_at,
      m.due_at, m.finished_at, m.last_error, m.event, m.last_status, m.last_answer
    FROM webhook_messages m
    WHERE m.company_id = $1 AND NOT COALESCE(m.webhook_id = (SELECT w.webhook_id FROM webhooks w WHERE w.company_id = $1 AND w.is_provider), false)
  ) d WHERE true{page})`
	fromDeliveries = `
FROM (` + mails + `
  UNION ALL` + messages + `
) d
LEFT JOIN webhooks w ON w.company_id = $1 AND w.webhook_id = d.webhook_id
WHERE d.company_id = $1`
	listDeliveries  = `SELECT ` + deliverySelect + `, {cursor} AS cursor_keys` + fromDeliveries
	countDeliveries = `SELECT count(*)` + fromDeliveries
	findMails       = `
SELECT ` + MailColumns + `
FROM mails m
WHERE m.company_id = $1 AND m.mail_id = ANY($2::uuid[])`
)

// deliveryRow is a mail or a message to a webhook; About is its kind or the type of its event.
type deliveryRow struct {
	DeliveryID    string
	Channel       domain.Channel
	RecipientID   int64
	Email, About  string
	State         domain.DeliveryState
	Attempts      int
	CreatedAt     time.Time
	NextAttemptAt *time.Time
	FinishedAt    *time.Time
	LastError     string
	WebhookID     int64
	WebhookName   string
	Format        webhook.Format
	Event         string
	LastStatus    *int
	LastAnswer    string
	keyset.Keyed
}

func (r *deliveryRow) delivery() domain.Delivery {
	if r.Channel == domain.ByMail {
		return r.mail()
	}
	content, _ := webhook.ContentOf(r.Format, []byte(r.Event)) // what cannot be read has no payload
	return &webhook.Delivery{
		DeliveryID: r.DeliveryID, WebhookID: r.WebhookID, WebhookName: r.WebhookName, EventType: webhook.EventType(r.About), State: r.State,
		Attempts: r.Attempts, CreatedAt: r.CreatedAt, NextAttemptAt: r.NextAttemptAt, FinishedAt: r.FinishedAt,
		LastStatus: r.LastStatus, LastAnswer: r.LastAnswer, LastError: r.LastError, Payload: string(content.Body),
	}
}

func (r *deliveryRow) mail() *domain.Mail {
	mail := &domain.Mail{
		MailID: r.DeliveryID, RecipientID: r.RecipientID, Email: r.Email, Kind: domain.MailKind(r.About), State: r.State,
		Attempts: r.Attempts, CreatedAt: r.CreatedAt, FinishedAt: r.FinishedAt, LastError: r.LastError,
	}
	if r.NextAttemptAt != nil {
		mail.DueAt = *r.NextAttemptAt
	}
	return mail
}

func (s *Store) wholeOnly(scope domain.Scope) error {
	return pg.WholeCompanyOnly(scope, "deliveries")
}

// columns are where the fields of domain.DeliveryFields live, and the key.
var columns = map[string]keyset.Column{
	key.Name: {SQL: "d.delivery_id", UUID: true}, "channel": {SQL: "d.channel"}, "state": {SQL: "d.state"}, "createdAt": {SQL: "d.created_at"},
	"finishedAt": {SQL: "d.finished_at", Nullable: true},
}

// key breaks ties. Nobody filters by it.
var key = query.Field{Name: "id", Type: query.Text}

func newList(scope domain.Scope) *keyset.List {
	return keyset.New(func(field string) keyset.Column { return columns[field] }, key, scope.Company)
}

// List implements domain.Deliveries.
func (s *Store) List(ctx context.Context, scope domain.Scope, listing domain.Listing) (domain.Slice[domain.Delivery], error) {
	if err := s.wholeOnly(scope); err != nil {
		return domain.Slice[domain.Delivery]{}, err
	}
	created, _ := domain.DeliveryFields.Find("createdAt")
	listing = listing.InOrder([]query.Order{{Field: created, Desc: true}, {Field: key, Desc: true}})
	// Each channel is read as far as the page could need it, by its index; the arguments are
	// those of the whole list.
	part, err := newList(scope).Pieces(listing)
	if err != nil {
		return domain.Slice[domain.Delivery]{}, err
	}
	sql := pg.Fill(listDeliveries, "page", " AND "+part.Where+" ORDER BY "+part.OrderBy+" "+part.Limit)
	return keyset.Rows(ctx, s.pool, newList(scope), sql, listing, (*deliveryRow).delivery)
}

// Count implements domain.Deliveries.
func (s *Store) Count(ctx context.Context, scope domain.Scope, listing domain.Listing) (int, error) {
	if err := s.wholeOnly(scope); err != nil {
		return 0, err
	}
	l := newList(scope)
	return pg.Count(ctx, s.pool, pg.Fill(countDeliveries, "page", " AND "+l.Filter(listing.Filter)), l.Args...)
}

// FindMails implements domain.Deliveries.
func (s *Store) FindMails(ctx context.Context, scope domain.Scope, ids []string) (map[string]*domain.Mail, error) {
	if err := s.wholeOnly(scope); err != nil {
		return nil, err
	}
	rows, err := pg.SelectAll[domain.Mail](ctx, s.pool, findMails, scope.Company, pg.UUIDs(ids))
	return pg.Keyed(rows, func(of *domain.Mail) string { return of.MailID }), err
}
