package webhook

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/audit"
	"simgraph/db/keyset"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/query"
	"simgraph/domain/webhook"
)

const (
	messageSelect = `m.message_id AS delivery_id, m.webhook_id, w.name AS webhook_name, m.event_type, m.state, m.attempts, m.created_at,
  CASE WHEN m.state = 'queued' AND isfinite(m.due_at) THEN m.due_at END AS next_attempt_at, m.finished_at, m.last_status, m.last_answer, m.last_error,
  m.event, w.format`
	// fromMessages are the messages m of the endpoints w that a scope shows.
	fromMessages = `
FROM webhook_messages m
JOIN webhooks w ON w.company_id = m.company_id AND w.webhook_id = m.webhook_id
WHERE m.company_id = $1 AND ` + visibleWebhooks
)

type messageRow struct {
	webhook.Delivery
	Event  string
	Format webhook.Format
	keyset.Keyed
}

// delivery adds the payload; what cannot be read has none.
func (r *messageRow) delivery() *webhook.Delivery {
	content, _ := webhook.ContentOf(r.Format, []byte(r.Event))
	r.Payload = string(content.Body)
	return &r.Delivery
}

// messageColumns are where the fields of webhook.DeliveryFields live.
var messageColumns = map[string]keyset.Column{
	"webhookId": {SQL: "m.webhook_id"}, "deliveryId": {SQL: "m.message_id", UUID: true}, "eventType": {SQL: "m.event_type"}, "state": {SQL: "m.state"},
	"createdAt": {SQL: "m.created_at"}, "finishedAt": {SQL: "m.finished_at", Nullable: true},
}

func newMessageList(scope domain.Scope) *keyset.List {
	key, _ := webhook.DeliveryFields.Find("deliveryId")
	return keyset.New(func(field string) keyset.Column { return messageColumns[field] }, key, scope.Company, pg.GroupsOf(scope))
}

// Deliveries implements webhook.Webhooks.
func (s *Store) Deliveries(ctx context.Context, scope domain.Scope, listing domain.Listing) (domain.Slice[*webhook.Delivery], error) {
	created, _ := webhook.DeliveryFields.Find("createdAt")
	key, _ := webhook.DeliveryFields.Find("deliveryId")
	sql := `SELECT ` + messageSelect + `, {cursor} AS cursor_keys` + fromMessages
	newest := []query.Order{{Field: created, Desc: true}, {Field: key, Desc: true}}
	return keyset.Rows(ctx, s.Pool, newMessageList(scope), sql, listing.InOrder(newest), (*messageRow).delivery)
}

// CountDeliveries implements webhook.Webhooks.
func (s *Store) CountDeliveries(ctx context.Context, scope domain.Scope, listing domain.Listing) (int, error) {
	l := newMessageList(scope)
	sql := `SELECT count(*)` + fromMessages + ` AND ` + l.Filter(listing.Filter)
	return pg.Count(ctx, s.Pool, sql, l.Args...)
}

const findMessages = `SELECT ` + messageSelect + fromMessages + ` AND m.message_id = ANY($3::uuid[])`

// FindDeliveries implements webhook.Webhooks.
func (s *Store) FindDeliveries(ctx context.Context, scope domain.Scope, ids []string) (map[string]*webhook.Delivery, error) {
	return findDeliveries(ctx, s.Pool, scope, ids)
}

func findDeliveries(ctx context.Context, in sqlx.QueryerContext, scope domain.Scope, ids []string) (map[string]*webhook.Delivery, error) {
	known := pg.UUIDs(ids)
	found := map[string]*webhook.Delivery{}
	if len(known) == 0 {
		return found, nil
	}
	rows, err := pg.SelectAll[messageRow](ctx, in, findMessages, scope.Company, pg.GroupsOf(scope), known)
	for _, row := range rows {
		found[row.DeliveryID] = row.delivery()
	}
	return found, err
}

func findDelivery(ctx context.Context, in sqlx.QueryerContext, scope domain.Scope, id string) (*webhook.Delivery, error) {
	found, err := findDeliveries(ctx, in, scope, []string{id})
	if err == nil && found[id] == nil {
		err = domain.NotFound("deliveryId", "delivery", id)
	}
	return found[id], err
}

const (
	testsSince = `
SELECT count(*) FROM webhook_messages
WHERE company_id = $1 AND webhook_id = $2 AND event_type = $3 AND created_at > $4`
	companyName = `SELECT external_id FROM companies WHERE company_id = $1`
)

// SendTest implements webhook.Webhooks.
func (s *Store) SendTest(ctx context.Context, scope domain.Scope, id int64) (queued *webhook.Delivery, err error) {
	_, err = s.Locked(ctx, scope, id, func(tx *sqlx.Tx, of *webhook.Endpoint) (*domain.AuditEntry, error) {
		if of.DisabledAt != nil {
			return nil, domain.Invalid("webhookId", "the webhook is disabled")
		}
		at := s.Moment()
		tested, err := pg.Count(ctx, tx, testsSince, scope.Company, id, webhook.Test, at.Add(-time.Hour))
		if err != nil {
			return nil, err
		}
		if tested >= webhook.TestsPerHour {
			return nil, &domain.Error{Kind: domain.KindRateLimited, Message: "a webhook gets at most 20 test events in an hour"}
		}
		var company string
		if err := tx.GetContext(ctx, &company, companyName, scope.Company); err != nil {
			return nil, err
		}
		messages, message := &batch{tx: tx, company: scope.Company, of: webhook.Test, at: at}, newID()
		if err := messages.add(ctx, message, id, webhook.NewTest(company, message, at, of).JSON()); err != nil {
			return nil, err
		}
		if err := messages.write(ctx); err != nil {
			return nil, err
		}
		queued, err = findDelivery(ctx, tx, scope, message)
		return s.Note(domain.AuditWebhookTest, id), err
	})
	return queued, err
}

// replay begins the schedule anew, under the same id.
const replay = `
UPDATE webhook_messages
SET state = 'queued', attempts = 0, due_at = '-infinity', retry_at = NULL, finished_at = NULL`

const (
	replayMessage = replay + `
WHERE company_id = $1 AND message_id = $2 AND (state <> 'queued' OR claimed_until IS NULL)`
	replaySince = replay + `
WHERE company_id = $1 AND webhook_id = $2 AND message_id IN (
  SELECT m.message_id FROM webhook_messages m
  WHERE m.company_id = $1 AND m.webhook_id = $2 AND m.state <> 'queued' AND m.created_at >= $3
  ORDER BY m.created_at, m.message_id
  LIMIT $4)`
)

// Replay implements webhook.Webhooks.
func (s *Store) Replay(ctx context.Context, scope domain.Scope, deliveryID string) (replayed *webhook.Delivery, err error) {
	err = pg.InTx(ctx, s.Pool, func(tx *sqlx.Tx) error {
		of, err := findDelivery(ctx, tx, scope, deliveryID)
		if err != nil {
			return err
		}
		n, err := pg.Affected(ctx, tx, replayMessage, scope.Company, deliveryID)
		if err != nil {
			return err
		}
		if replayed, err = findDelivery(ctx, tx, scope, deliveryID); err != nil || n == 0 {
			return err
		}
		return audit.Record(ctx, tx, scope, *s.Note(domain.AuditWebhookReplay, of.WebhookID, domain.Became("deliveryId", deliveryID)))
	})
	return replayed, err
}

// ReplaySince implements webhook.Webhooks.
func (s *Store) ReplaySince(ctx context.Context, scope domain.Scope, id int64, since time.Time) (n int, err error) {
	_, err = s.Locked(ctx, scope, id, func(tx *sqlx.Tx, _ *webhook.Endpoint) (*domain.AuditEntry, error) {
		n, err = pg.Affected(ctx, tx, replaySince, scope.Company, id, since.UTC(), webhook.MaxReplay)
		if err != nil || n == 0 {
			return nil, err
		}
		return s.Note(domain.AuditWebhookReplay, id,
			domain.Became("since", since.UTC().Format(time.RFC3339)), domain.Became("deliveries", pg.FormatInt(int64(n)))), nil
	})
	return n, err
}
