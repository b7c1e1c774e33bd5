// Package delivery lists what was sent, by mail and to webhooks.
package delivery

import (
	"context"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/keyset"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/query"
)

// Store lists the mails and the messages to webhooks in PostgreSQL.
type Store struct{ pool *sqlx.DB }

var _ domain.Deliveries = (*Store)(nil)

// New returns the store on the pool.
func New(pool *sqlx.DB) *Store { return &Store{pool} }

const (
	deliverySelect = `d.delivery_id, d.channel, COALESCE(w.name, d.address) AS recipient, d.about, d.state, d.attempts, d.created_at,
  CASE WHEN d.state = 'queued' AND isfinite(d.due_at) THEN d.due_at END AS next_attempt_at, d.finished_at, d.last_error`
	// mails and messages are the deliveries d of a channel; messages without commands to
	// carriers, by a condition that the planner expects to hold for many, so that it reads
	// them in their order. {page} is filled with further conditions, order and limit.
	mails = `
  (SELECT * FROM (
    SELECT m.company_id, m.mail_id AS delivery_id, NULL::bigint AS webhook_id, 'mail' COLLATE "C" AS channel, m.email AS address, m.kind COLLATE "C" AS about,
      (CASE m.state WHEN 'sent' THEN 'delivered' ELSE m.state END) COLLATE "C" AS state, m.attempts, m.created_at,
      m.due_at, m.finished_at, m.last_error
    FROM mails m
    WHERE m.company_id = $1
  ) d WHERE true{page})`
	messages = `
  (SELECT * FROM (
    SELECT m.company_id, m.message_id AS delivery_id, m.webhook_id, 'webhook' COLLATE "C" AS channel, '' COLLATE "C" AS address, m.event_type COLLATE "C" AS about,
      m.state COLLATE "C" AS state, m.attempts, m.created_at,
      m.due_at, m.finished_at, m.last_error
    FROM webhook_messages m
    WHERE m.company_id = $1 AND NOT COALESCE(m.webhook_id = (SELECT w.webhook_id FROM webhooks w WHERE w.company_id = $1 AND w.is_provider), false)
  ) d WHERE true{page})`
	fromDeliveries = `
FROM (` + mails + `
  UNION ALL` + messages + `
) d
LEFT JOIN webhooks w ON w.company_id = $1 AND w.webhook_id = d.webhook_id
WHERE d.company_id = $1`
	wantedDeliveries = ` AND ($2 = '' OR d.channel = $2) AND ($3 = '' OR d.state = $3)`
	listDeliveries   = `SELECT ` + deliverySelect + `, {cursor} AS cursor_keys` + fromDeliveries
	countDeliveries  = `SELECT count(*)` + fromDeliveries
	findDeliveries   = `SELECT ` + deliverySelect + fromDeliveries
)

type deliveryRow struct {
	domain.Delivery
	CursorKeys pg.NullableTexts
}

func (r *deliveryRow) Keys() pg.NullableTexts { return r.CursorKeys }

func (s *Store) wholeOnly(scope domain.Scope) error {
	if scope.Restricted() {
		return pg.WholeCompanyOnly("deliveries")
	}
	return nil
}

// List implements domain.Deliveries. The page has no offset.
func (s *Store) List(ctx context.Context, scope domain.Scope, of domain.DeliveryFilter, page domain.Page) (domain.Slice[*domain.Delivery], error) {
	if err := s.wholeOnly(scope); err != nil {
		return domain.Slice[*domain.Delivery]{}, err
	}
	key, created := query.Field{Name: "id", Type: query.Text}, query.Field{Name: "createdAt", Type: query.Time}
	columns := map[string]keyset.Column{key.Name: {SQL: "d.delivery_id::text"}, created.Name: {SQL: "d.created_at"}}
	listing := domain.Listing{Page: page, Order: []query.Order{{Field: created, Desc: true}, {Field: key, Desc: true}}}
	list := func() *keyset.List {
		return keyset.New(func(field string) keyset.Column { return columns[field] }, key, scope.Company, string(of.Channel), string(of.State))
	}
	// Each channel is read as far as the page could need it, by its index; the arguments are
	// those of the whole list.
	part, err := list().Pieces(listing)
	if err != nil {
		return domain.Slice[*domain.Delivery]{}, err
	}
	sql := pg.Fill(listDeliveries, "page", wantedDeliveries+" AND "+part.Where+" ORDER BY "+part.OrderBy+" "+part.Limit)
	return keyset.Rows(ctx, s.pool, list(), sql, listing, func(row *deliveryRow) *domain.Delivery { return &row.Delivery })
}

// Count implements domain.Deliveries.
func (s *Store) Count(ctx context.Context, scope domain.Scope, of domain.DeliveryFilter) (int, error) {
	if err := s.wholeOnly(scope); err != nil {
		return 0, err
	}
	return pg.Count(ctx, s.pool, pg.Fill(countDeliveries, "page", wantedDeliveries), scope.Company, string(of.Channel), string(of.State))
}

// FindMany implements domain.Deliveries.
func (s *Store) FindMany(ctx context.Context, scope domain.Scope, ids []string) (map[string]*domain.Delivery, error) {
	if err := s.wholeOnly(scope); err != nil {
		return nil, err
	}
	known := pq.StringArray{}
	for _, id := range ids {
		if parsed, err := uuid.Parse(id); err == nil && parsed.String() == id {
			known = append(known, id)
		}
	}
	rows, err := pg.SelectAll[domain.Delivery](ctx, s.pool, pg.Fill(findDeliveries, "page", " AND d.delivery_id = ANY($2::uuid[])"), scope.Company, known)
	return pg.Keyed(rows, func(of *domain.Delivery) string { return of.DeliveryID }), err
}
