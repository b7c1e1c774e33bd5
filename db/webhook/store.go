// Package webhook keeps the endpoints of companies and the messages to them: see
// domain/webhook. Messages are written in the transaction of what they report.
package webhook

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/audit"
	"simgraph/db/companies"
	"simgraph/db/kept"
	"simgraph/db/keyset"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/query"
	"simgraph/domain/webhook"
	"simgraph/internal/seal"
)

// Options are what a Store needs beside its pool.
type Options struct {
	// Key returns the key that secrets are sealed with. It is called when a secret is
	// sealed or opened.
	Key   func() (seal.Key, error)
	Rules webhook.Rules
	// Settle notes what became of an attempt to send a command, in the transaction that
	// notes it of the message and under the lock of the provider. Without it commands
	// are not sent.
	Settle func(ctx context.Context, tx *sqlx.Tx, of *webhook.Attempt, result webhook.Result, answer webhook.Answer) error
	// Now is the clock.
	Now func() time.Time
}

// Store keeps endpoints and messages in PostgreSQL.
type Store struct {
	kept.Store[int64, endpointRow, webhook.Endpoint, *endpointRow]
	Options
}

var (
	_ webhook.Webhooks = (*Store)(nil)
	_ webhook.Outbox   = (*Store)(nil)
)

// New returns the store on the pool.
func New(pool *sqlx.DB, options Options) *Store {
	return &Store{kept.New(pool, options.Now, kind), options}
}

// kind is how endpoints of events are kept. The lock keeps the workers from claiming for one
// meanwhile.
var kind = kept.Kind[int64, endpointRow, webhook.Endpoint]{
	Type: "Webhook", Name: "webhook", Table: endpointsTable, Shown: func(scope domain.Scope) []any { return []any{pg.GroupsOf(scope)} }, Lock: ` FOR NO KEY UPDATE`,
	Read: func(r *endpointRow) (*webhook.Endpoint, error) { return r.endpoint(), nil },
	ID:   func(of *webhook.Endpoint) *int64 { return &of.WebhookID }, Version: (*webhook.Endpoint).Version,
}

const webhookSelect = `w.webhook_id, w.name, w.url AS address, w.format, w.event_types AS types, w.alert_ids AS alerts, w.group_ids AS wanted,
  w.tag_names AS tags, w.created_at, w.disabled_at, w.disabled_reason, w.failing_since, w.paused_until, w.previous_until`

// visibleWebhooks is the condition that a scope ($1, $2) shows an endpoint of events.
const visibleWebhooks = `w.company_id = $1 AND NOT w.is_provider AND ($2::bigint[] IS NULL OR w.groups <@ $2)`

type endpointRow struct {
	WebhookID      int64
	Name           string
	Address        string
	Format         webhook.Format
	Types          pg.TextList[webhook.EventType]
	Alerts         pq.Int64Array
	Wanted         pq.Int64Array
	Tags           pg.TextList[string]
	CreatedAt      time.Time
	DisabledAt     *time.Time
	DisabledReason *webhook.DisabledReason
	FailingSince   *time.Time
	PausedUntil    *time.Time
	PreviousUntil  *time.Time
	keyset.Keyed
}

func (r *endpointRow) filter() webhook.Filter {
	return webhook.Filter{EventTypes: r.Types, AlertIDs: r.Alerts, GroupIDs: r.Wanted, TagNames: r.Tags}
}

func (r *endpointRow) endpoint() *webhook.Endpoint {
	return &webhook.Endpoint{
		WebhookID: r.WebhookID, Name: r.Name, URL: r.Address, Format: r.Format, Filter: r.filter(), CreatedAt: r.CreatedAt,
		DisabledAt: r.DisabledAt, DisabledReason: r.DisabledReason, FailingSince: r.FailingSince, PausedUntil: r.PausedUntil,
		PreviousSecretUntil: r.PreviousUntil,
	}
}

// endpointsTable is the list of webhook.Fields.
var endpointsTable = keyset.Table{
	Key: query.Field{Name: "webhookId", Type: query.Integer}, Select: webhookSelect, From: ` FROM webhooks w WHERE ` + visibleWebhooks,
	Columns: map[string]keyset.Column{
		"webhookId": {SQL: "w.webhook_id"}, "name": {SQL: "w.name"}, "url": {SQL: "w.url"}, "format": {SQL: "w.format"}, "createdAt": {SQL: "w.created_at"},
		"disabledAt": {SQL: "w.disabled_at", Nullable: true}, "disabledReason": {SQL: "w.disabled_reason", Nullable: true},
		"failingSince": {SQL: "w.failing_since", Nullable: true}, "pausedUntil": {SQL: "w.paused_until", Nullable: true},
	},
}

const (
	countAll = `SELECT count(*) FROM webhooks WHERE company_id = $1 AND NOT is_provider`
	// newWebhook takes the number first: the secret is sealed for it.
	newWebhook    = `SELECT nextval(pg_get_serial_sequence('webhooks', 'webhook_id'))`
	insertWebhook = `
INSERT INTO webhooks (company_id, webhook_id, user_id, groups, name, url, format, event_types, alert_ids, group_ids, tag_names, secret, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`
)

// Check implements webhook.Webhooks.
func (s *Store) Check(edit webhook.Edit) error { return edit.Check(s.Rules) }

// Create implements webhook.Webhooks.
func (s *Store) Create(ctx context.Context, scope domain.Scope, spec webhook.Spec) (created *webhook.Endpoint, secret webhook.Secret, err error) {
	if err := spec.Check(s.Rules); err != nil {
		return nil, nil, err
	}
	secret = webhook.NewSecret()
	created, err = s.Store.Create(ctx, scope, func(tx *sqlx.Tx) (id int64, err error) {
		n, err := pg.Count(ctx, tx, countAll, scope.Company)
		if err != nil {
			return 0, err
		}
		if n >= webhook.MaxEndpoints {
			return 0, domain.Invalid("name", "a company has at most %d webhooks", webhook.MaxEndpoints)
		}
		if err := tx.GetContext(ctx, &id, newWebhook); err != nil {
			return 0, err
		}
		sealed, err := s.seal(scope.Company, id, secret)
		if err != nil {
			return 0, err
		}
		_, err = tx.ExecContext(ctx, insertWebhook, scope.Company, id, userOf(scope), pg.GroupsOf(scope), spec.Name, spec.URL, spec.Format,
			pq.Array(spec.EventTypes), pg.Numbers(spec.AlertIDs), pg.Numbers(spec.GroupIDs), pg.Texts(spec.TagNames), sealed, s.Moment())
		return id, err
	}, func(of *webhook.Endpoint) *domain.AuditEntry {
		return s.Note(domain.AuditWebhookCreate, of.WebhookID, changes(nil, &spec)...)
	})
	return created, secret, err
}

// userOf is the number of who acts; NULL for the program itself.
func userOf(scope domain.Scope) any {
	if id := scope.UserID(); id != 0 {
		return id
	}
	return nil
}

// changes are the differences of two endpoints; a nil one is none.
func changes(before, after *webhook.Spec) []domain.AuditChange {
	all := domain.Differences(before, after, []domain.AuditField[webhook.Spec]{
		{Name: "name", Text: func(s *webhook.Spec) string { return s.Name }},
		{Name: "url", Text: func(s *webhook.Spec) string { return s.URL }},
		{Name: "format", Text: func(s *webhook.Spec) string { return string(s.Format) }},
		{Name: "eventTypes", Text: func(s *webhook.Spec) string { return audit.List(s.EventTypes) }},
		{Name: "alertIds", Text: func(s *webhook.Spec) string { return audit.List(s.AlertIDs) }},
		{Name: "groupIds", Text: func(s *webhook.Spec) string { return audit.List(s.GroupIDs) }},
		{Name: "tagNames", Text: func(s *webhook.Spec) string { return audit.List(s.TagNames) }},
	})
	return slices.DeleteFunc(all, func(c domain.AuditChange) bool { return before == nil && *c.After == "" })
}

const writeWebhook = `
UPDATE webhooks SET name = $3, url = $4, format = $5, event_types = $6, alert_ids = $7, group_ids = $8, tag_names = $9
WHERE company_id = $1 AND webhook_id = $2`

// Edit implements webhook.Webhooks.
func (s *Store) Edit(ctx context.Context, scope domain.Scope, id int64, edit webhook.Edit) (*webhook.Endpoint, error) {
	if err := s.Check(edit); err != nil {
		return nil, err
	}
	return s.Store.Edit(ctx, scope, id, func(tx *sqlx.Tx, of *webhook.Endpoint) (*domain.AuditEntry, error) {
		before, after := webhook.Edit{}.Apply(of), edit.Apply(of)
		if err := after.Check(s.Rules); err != nil || before.Same(&after) {
			return nil, err
		}
		_, err := pg.Affected(ctx, tx, writeWebhook, scope.Company, id, after.Name, after.URL, after.Format,
			pq.Array(after.EventTypes), pg.Numbers(after.AlertIDs), pg.Numbers(after.GroupIDs), pg.Texts(after.TagNames))
		return s.Note(domain.AuditWebhookEdit, id, changes(&before, &after)...), err
	})
}

const rotateSecret = `
UPDATE webhooks SET previous_secret = secret, previous_until = $4, secret = $3
WHERE company_id = $1 AND webhook_id = $2`

// Rotate implements webhook.Webhooks.
func (s *Store) Rotate(ctx context.Context, scope domain.Scope, id int64) (rotated *webhook.Endpoint, secret webhook.Secret, err error) {
	secret = webhook.NewSecret()
	rotated, err = s.Change(ctx, scope, id, func(tx *sqlx.Tx, _ *webhook.Endpoint) (*domain.AuditEntry, error) {
		sealed, err := s.seal(scope.Company, id, secret)
		if err != nil {
			return nil, err
		}
		_, err = pg.Affected(ctx, tx, rotateSecret, scope.Company, id, sealed, s.Moment().Add(webhook.SecretOverlap))
		return s.Note(domain.AuditWebhookRotate, id), err
	})
	return rotated, secret, err
}

const (
	enableWebhook = `
UPDATE webhooks SET disabled_at = NULL, disabled_reason = NULL, failing_since = NULL, paused_until = NULL
WHERE company_id = $1 AND webhook_id = $2 AND disabled_at IS NOT NULL`
	disableWebhook = `
UPDATE webhooks SET disabled_at = $3, disabled_reason = $4
WHERE company_id = $1 AND webhook_id = $2 AND disabled_at IS NULL`
)

// Switch implements webhook.Webhooks.
func (s *Store) Switch(ctx context.Context, scope domain.Scope, id int64, enabled bool) (*webhook.Endpoint, error) {
	return s.Change(ctx, scope, id, func(tx *sqlx.Tx, of *webhook.Endpoint) (entry *domain.AuditEntry, err error) {
		if enabled == (of.DisabledAt == nil) {
			return nil, nil
		}
		if enabled {
			_, err = pg.Affected(ctx, tx, enableWebhook, scope.Company, id)
			return s.Note(domain.AuditWebhookEnable, id), err
		}
		_, err = pg.Affected(ctx, tx, disableWebhook, scope.Company, id, s.Moment(), webhook.ByUser)
		return s.Note(domain.AuditWebhookDisable, id, domain.Became("reason", string(webhook.ByUser))), err
	})
}

const (
	removeMessages = `DELETE FROM webhook_messages WHERE company_id = $1 AND webhook_id = $2`
	removeWebhook  = `DELETE FROM webhooks WHERE company_id = $1 AND webhook_id = $2`
)

// Remove implements webhook.Webhooks.
func (s *Store) Remove(ctx context.Context, scope domain.Scope, id int64) (removed *webhook.Endpoint, err error) {
	err = pg.Retry(ctx, func() error {
		removed, err = s.Locked(ctx, scope, id, func(tx *sqlx.Tx, of *webhook.Endpoint) (*domain.AuditEntry, error) {
			err := pg.Each(ctx, tx, []string{removeMessages, removeWebhook}, scope.Company, id)
			return s.Note(domain.AuditWebhookDelete, id, domain.Was("name", of.Name), domain.Was("url", of.URL)), err
		})
		return err
	})
	return removed, err
}

// purpose binds a secret to its endpoint.
func purpose(company domain.CompanyID, id int64) []byte {
	return fmt.Appendf(nil, "webhook %d %d", company, id)
}

func (s *Store) seal(company domain.CompanyID, id int64, secret webhook.Secret) ([]byte, error) {
	key, err := s.Key()
	if err != nil {
		return nil, err
	}
	return key.Seal(secret, purpose(company, id))
}

func (s *Store) open(company domain.CompanyID, id int64, sealed []byte) (webhook.Secret, error) {
	key, err := s.Key()
	if err != nil {
		return nil, err
	}
	return key.Open(sealed, purpose(company, id))
}

const sealedWebhooks = `
SELECT w.company_id, w.webhook_id, w.name, w.secret FROM webhooks w
WHERE $1::bigint[] IS NULL OR w.company_id = ANY($1)
ORDER BY w.company_id, w.webhook_id
LIMIT $2`

// Sealed returns how many endpoints there are, at most as many as most on each node, and the
// names of those whose secrets the key does not open.
func (s *Store) Sealed(ctx context.Context, most int) (all int, unopened []string, err error) {
	err = companies.EachNode(ctx, s.Pool, func(of pq.Int64Array) error {
		rows, err := pg.SelectAll[struct {
			CompanyID domain.CompanyID
			WebhookID int64
			Name      string
			Secret    []byte
		}](ctx, s.Pool, sealedWebhooks, of, most)
		if err != nil {
			return err
		}
		all += len(rows)
		for _, row := range rows {
			switch _, err := s.open(row.CompanyID, row.WebhookID, row.Secret); {
			case errors.Is(err, seal.ErrKey):
				unopened = append(unopened, row.Name)
			case err != nil:
				return err
			}
		}
		return nil
	})
	return all, unopened, err
}
