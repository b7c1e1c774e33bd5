package carrier

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/audit"
	"simgraph/db/companies"
	"simgraph/db/keyset"
	"simgraph/db/pg"
	"simgraph/db/webhook"
	"simgraph/domain"
	"simgraph/domain/carrier"
	"simgraph/domain/query"
	"simgraph/domain/retention"
	rules "simgraph/domain/webhook"
)

// Store keeps providers and commands in PostgreSQL.
type Store struct {
	pool      *sqlx.DB
	endpoints *webhook.Store
	now       func() time.Time
}

var _ carrier.Commands = (*Store)(nil)

// New returns the store on the pool. endpoints has the rules of URLs and the key of
// secrets; now is the clock.
func New(pool *sqlx.DB, endpoints *webhook.Store, now func() time.Time) *Store {
	return &Store{pool, endpoints, now}
}

func wholeCompany(scope domain.Scope) error {
	if scope.Restricted() {
		return domain.Forbidden("the provider of commands belongs to the whole company, and this user is attached to groups")
	}
	return nil
}

func asProvider(of *rules.Endpoint) *carrier.Provider {
	if of == nil {
		return nil
	}
	return &carrier.Provider{Endpoint: *of}
}

// HasProvider implements carrier.Commands.
func (s *Store) HasProvider(ctx context.Context, scope domain.Scope) (bool, error) {
	of, err := webhook.FindProvider(ctx, s.pool, scope.Company)
	return of != nil, err
}

// Provider implements carrier.Commands.
func (s *Store) Provider(ctx context.Context, scope domain.Scope) (*carrier.Provider, error) {
	if err := wholeCompany(scope); err != nil {
		return nil, err
	}
	of, err := webhook.FindProvider(ctx, s.pool, scope.Company)
	return asProvider(of), err
}

// SetProvider implements carrier.Commands.
func (s *Store) SetProvider(ctx context.Context, scope domain.Scope, settings carrier.Settings) (*carrier.Provider, rules.Secret, error) {
	if err := wholeCompany(scope); err != nil {
		return nil, nil, err
	}
	set, secret, err := s.endpoints.SetProvider(ctx, scope, settings.URL, settings.RotateSecret)
	return asProvider(set), secret, err
}

const cancelWaiting = `
UPDATE commands SET state = 'cancelled', reason = 'the provider was removed', changed_at = $2
WHERE company_id = $1 AND state = 'requested'`

// RemoveProvider implements carrier.Commands.
func (s *Store) RemoveProvider(ctx context.Context, scope domain.Scope, url string) (removed *carrier.Provider, err error) {
	if err := wholeCompany(scope); err != nil {
		return nil, err
	}
	err = s.change(ctx, scope, func(q *queue, provider *rules.Endpoint) error {
		if provider == nil || provider.URL != url {
			return domain.NotFound("url", "provider of commands", url)
		}
		removed = asProvider(provider)
		if _, err := pg.Affected(ctx, q.tx, cancelWaiting, q.company, q.at); err != nil {
			return err
		}
		return webhook.RemoveProvider(ctx, q.tx, scope, provider)
	})
	return removed, err
}

// change runs do in a transaction under the lock of the provider, which is nil where the
// company has none.
func (s *Store) change(ctx context.Context, scope domain.Scope, do func(q *queue, provider *rules.Endpoint) error) error {
	return pg.Retry(ctx, func() error {
		return pg.InTx(ctx, s.pool, func(tx *sqlx.Tx) error {
			provider, err := webhook.LockProvider(ctx, tx, scope.Company)
			if err != nil {
				return err
			}
			return do(&queue{tx: tx, company: scope.Company, at: pg.Moment(s.now())}, provider)
		})
	})
}

const (
	commandSelect = `c.command_id::text AS command_id, c.subscriber_key, c.kind, c.state, c.reason, c.sequence, c.operation_id::text AS operation_id,
  c.requested_at, c.changed_at, COALESCE(m.attempts, 0) AS attempts,
  c.was_sent OR COALESCE(m.attempts, 0) > 0 AS was_sent,
  CASE WHEN m.state = 'queued' AND isfinite(m.due_at) THEN m.due_at END AS next_attempt_at, m.last_status, COALESCE(m.last_error, '') AS last_error,
  c.event AS payload`
	withMessages = `
LEFT JOIN webhook_messages m ON m.company_id = $1 AND m.message_id = c.command_id`
	shownSubscriber = `($2::bigint[] IS NULL OR s.group_id = ANY($2))`
	// fromCommands are the commands c about the subscribers that a scope ($1, $2) shows.
	fromCommands = `
FROM commands c
JOIN subscribers s ON s.company_id = c.company_id AND s.key = c.subscriber_key` + withMessages + `
WHERE c.company_id = $1 AND ` + shownSubscriber
)

type commandRow struct {
	carrier.Command
	keyset.Keyed
}

func (r *commandRow) command() *carrier.Command { return &r.Command }

// commandColumns are where the fields of carrier.Fields live.
var commandColumns = map[string]keyset.Column{
	"commandId": {SQL: "c.command_id", UUID: true}, "kind": {SQL: "c.kind"}, "state": {SQL: "c.state"},
	"operationId": {SQL: "c.operation_id", UUID: true, Nullable: true}, "requestedAt": {SQL: "c.requested_at"}, "changedAt": {SQL: "c.changed_at"},
}

func newList(args ...any) *keyset.List {
	key, _ := carrier.Fields.Find("commandId")
	return keyset.New(func(field string) keyset.Column { return commandColumns[field] }, key, args...)
}

// newestFirst is the usual order of lists.
func newestFirst() []query.Order {
	requested, _ := carrier.Fields.Find("requestedAt")
	key, _ := carrier.Fields.Find("commandId")
	return []query.Order{{Field: requested, Desc: true}, {Field: key, Desc: true}}
}

// List implements carrier.Commands.
func (s *Store) List(ctx context.Context, scope domain.Scope, listing domain.Listing) (domain.Slice[*carrier.Command], error) {
	sql := `SELECT ` + commandSelect + `, {cursor} AS cursor_keys` + fromCommands
	return keyset.Rows(ctx, s.pool, newList(scope.Company, pg.GroupsOf(scope)), sql, listing.InOrder(newestFirst()), (*commandRow).command)
}

// Count implements carrier.Commands.
func (s *Store) Count(ctx context.Context, scope domain.Scope, listing domain.Listing) (int, error) {
	l := newList(scope.Company, pg.GroupsOf(scope))
	where := l.Filter(listing.Filter)
	return pg.Count(ctx, s.pool, `SELECT count(*)
FROM commands c
JOIN subscribers s ON s.company_id = c.company_id AND s.key = c.subscriber_key
WHERE c.company_id = $1 AND `+shownSubscriber+` AND `+where, l.Args...)
}

// OfSubscribers implements carrier.Commands.
func (s *Store) OfSubscribers(ctx context.Context, scope domain.Scope, keys []int64, listing domain.Listing) (map[int64]domain.Slice[*carrier.Command], error) {
	from := `(SELECT s.key AS of_subscriber FROM subscribers s WHERE s.company_id = $1 AND ` + shownSubscriber + ` AND s.key = ANY($3)) wanted`
	sql := `SELECT ` + commandSelect + `, {cursor} AS cursor_keys
FROM commands c` + withMessages + `
WHERE c.company_id = $1 AND c.subscriber_key = wanted.of_subscriber`
	return keyset.RowsEach(ctx, s.pool, newList(scope.Company, pg.GroupsOf(scope), pq.Int64Array(keys)), from, sql, listing.InOrder(newestFirst()), keys,
		func(r *commandRow) int64 { return r.SubscriberKey }, (*commandRow).command)
}

// CountOfSubscribers implements carrier.Commands.
func (s *Store) CountOfSubscribers(ctx context.Context, scope domain.Scope, keys []int64, listing domain.Listing) (map[int64]int, error) {
	l := newList(scope.Company, pg.GroupsOf(scope), pq.Int64Array(keys))
	where := l.Filter(listing.Filter)
	return pg.CountEach[int64](ctx, s.pool, `SELECT c.subscriber_key AS parent, count(*) AS number
FROM commands c
JOIN subscribers s ON s.company_id = c.company_id AND s.key = c.subscriber_key
WHERE c.company_id = $1 AND `+shownSubscriber+` AND c.subscriber_key = ANY($3) AND `+where+`
GROUP BY c.subscriber_key`, l.Args)
}

const findCommands = `SELECT ` + commandSelect + fromCommands + ` AND c.command_id = ANY($3::uuid[])`

// FindMany implements carrier.Commands.
func (s *Store) FindMany(ctx context.Context, scope domain.Scope, ids []string) (map[string]*carrier.Command, error) {
	return findMany(ctx, s.pool, scope, ids)
}

func findMany(ctx context.Context, in sqlx.QueryerContext, scope domain.Scope, ids []string) (map[string]*carrier.Command, error) {
	known := pg.UUIDs(ids)
	if len(known) == 0 {
		return nil, nil
	}
	rows, err := pg.SelectAll[carrier.Command](ctx, in, findCommands, scope.Company, pg.GroupsOf(scope), known)
	return pg.Keyed(rows, func(c *carrier.Command) string { return c.CommandID }), err
}

// Find returns the commands with these ids, in their order, that the scope shows.
func Find(ctx context.Context, in sqlx.QueryerContext, scope domain.Scope, ids []string) (all []*carrier.Command, err error) {
	found, err := findMany(ctx, in, scope, ids)
	for _, id := range ids {
		if found[id] != nil {
			all = append(all, found[id])
		}
	}
	return all, err
}

func find(ctx context.Context, in sqlx.QueryerContext, scope domain.Scope, id string) (*carrier.Command, error) {
	found, err := findMany(ctx, in, scope, []string{id})
	if err == nil && found[id] == nil {
		err = carrier.NotFound(id)
	}
	return found[id], err
}

// edit runs do with a command that nobody else changes meanwhile, and returns it as it
// is then. Where do returns an action, that is noted.
func (s *Store) edit(ctx context.Context, scope domain.Scope, id string,
	do func(q *queue, provider *rules.Endpoint, of *carrier.Command) (action string, changes []domain.AuditChange, err error),
) (edited *carrier.Command, err error) {
	err = s.change(ctx, scope, func(q *queue, provider *rules.Endpoint) error {
		of, err := find(ctx, q.tx, scope, id)
		if err != nil {
			return err
		}
		action, changes, err := do(q, provider, of)
		if err != nil {
			return err
		}
		if edited, err = find(ctx, q.tx, scope, id); err != nil || action == "" {
			return err
		}
		return audit.Record(ctx, q.tx, scope, domain.AuditEntry{Action: action, SubjectType: "Command", SubjectID: id, Changes: changes})
	})
	return edited, err
}

const setCommand = `UPDATE commands SET state = $3, reason = $4, changed_at = $5 WHERE company_id = $1 AND command_id = $2`

func (q *queue) set(ctx context.Context, of *carrier.Command, state carrier.State, reason string) ([]domain.AuditChange, error) {
	_, err := pg.Affected(ctx, q.tx, setCommand, q.company, of.CommandID, string(state), reason, q.at)
	changes := domain.Changed("state", string(of.State), string(state))
	return append(changes, domain.Changed("reason", of.Reason, reason)...), err
}

// Report implements carrier.Commands.
func (s *Store) Report(ctx context.Context, scope domain.Scope, report carrier.Report) (*carrier.Command, error) {
	if err := report.Check(); err != nil {
		return nil, err
	}
	return s.edit(ctx, scope, report.CommandID, func(q *queue, provider *rules.Endpoint, of *carrier.Command) (string, []domain.AuditChange, error) {
		if err := of.CheckReport(report.State); err != nil {
			return "", nil, err
		}
		if of.State == report.State && of.Reason == report.Reason {
			return "", nil, nil // reported already
		}
		changes, err := q.set(ctx, of, report.State, report.Reason)
		if err != nil {
			return "", nil, err
		}
		if err := q.endMessages(ctx, "delivered", of.CommandID); err != nil {
			return "", nil, err
		}
		return domain.AuditCommandReport, changes, q.promote(ctx, provider, []int64{of.SubscriberKey})
	})
}

const (
	newerCommand = `
SELECT c.command_id::text FROM commands c
WHERE c.company_id = $1 AND c.subscriber_key = $2 AND c.sequence > $3 AND c.kind = ANY($4) AND c.state <> 'cancelled'
LIMIT 1`
	sendingCommand = `SELECT m.message_id::text FROM webhook_messages m WHERE m.company_id = $1 AND m.message_id = $2 AND m.state IS NOT DISTINCT FROM 'queued' AND m.claimed_until > $3`
	waitingOf      = `SELECT c.command_id::text FROM commands c WHERE c.company_id = $1 AND c.subscriber_key = $2 AND c.state IS NOT DISTINCT FROM 'requested'`
)

// Retry implements carrier.Commands.
func (s *Store) Retry(ctx context.Context, scope domain.Scope, id string) (*carrier.Command, error) {
	return s.edit(ctx, scope, id, func(q *queue, provider *rules.Endpoint, of *carrier.Command) (string, []domain.AuditChange, error) {
		if err := q.checkRetry(ctx, provider, of); err != nil {
			return "", nil, err
		}
		changes, err := q.set(ctx, of, carrier.Requested, "")
		if err != nil {
			return "", nil, err
		}
		// Others of the subscriber give up their turn: the oldest is sent first.
		waiting, err := pg.SelectValues[string](ctx, q.tx, waitingOf, q.company, of.SubscriberKey)
		if err != nil {
			return "", nil, err
		}
		if _, err := pg.Affected(ctx, q.tx, noteSent, q.company, pq.StringArray(waiting)); err != nil {
			return "", nil, err
		}
		if _, err := pg.Affected(ctx, q.tx, dropMessages, q.company, pq.StringArray(waiting), q.at); err != nil {
			return "", nil, err
		}
		return domain.AuditCommandRetry, changes, q.promote(ctx, provider, []int64{of.SubscriberKey})
	})
}

func (q *queue) checkRetry(ctx context.Context, provider *rules.Endpoint, of *carrier.Command) error {
	if err := of.CheckRetry(); err != nil {
		return err
	}
	if provider == nil {
		return domain.Invalid("commandId", "the company has no provider of commands any more")
	}
	newer, err := pg.SelectValues[string](ctx, q.tx, newerCommand, q.company, of.SubscriberKey, of.Sequence, pq.Array(of.Kind.Opposing()))
	if err != nil {
		return err
	}
	if len(newer) > 0 {
		return domain.Invalid("commandId", "the newer command %s replaces this one", newer[0])
	}
	sending, err := pg.SelectValues[string](ctx, q.tx, sendingCommand, q.company, of.CommandID, q.at)
	if err == nil && len(sending) > 0 {
		err = domain.Invalid("commandId", "the command is being sent")
	}
	return err
}

// Cancel implements carrier.Commands.
func (s *Store) Cancel(ctx context.Context, scope domain.Scope, id string) (*carrier.Command, error) {
	return s.edit(ctx, scope, id, func(q *queue, provider *rules.Endpoint, of *carrier.Command) (string, []domain.AuditChange, error) {
		if err := of.CheckCancel(); err != nil {
			return "", nil, err
		}
		changes, err := q.set(ctx, of, carrier.Cancelled, "")
		if err != nil {
			return "", nil, err
		}
		if err := q.endMessages(ctx, "failed", id); err != nil {
			return "", nil, err
		}
		return domain.AuditCommandCancel, changes, q.promote(ctx, provider, []int64{of.SubscriberKey})
	})
}

// atOnce bounds the commands of one statement.
const atOnce = 1000

const (
	prunableCommands = `
SELECT DISTINCT c.company_id
FROM commands c
WHERE ($1::bigint[] IS NULL OR c.company_id = ANY($1)) AND c.changed_at < $2`
	expireCommands = `
UPDATE commands SET state = 'failed', reason = '` + notDelivered + ` in time', changed_at = $3
WHERE company_id = $1 AND command_id IN (
  SELECT o.command_id FROM commands o
  WHERE o.company_id = $1 AND o.state = 'requested' AND o.changed_at < $2
  LIMIT $4)
RETURNING command_id::text AS command_id, subscriber_key`
	pruneCommands = `
DELETE FROM commands
WHERE company_id = $1 AND command_id IN (
  SELECT o.command_id FROM commands o
  WHERE o.company_id = $1 AND o.state <> 'requested' AND o.changed_at < $2
  LIMIT $3)`
)

// Prune implements carrier.Commands.
func (s *Store) Prune(ctx context.Context, expired retention.Expired) (int, error) {
	pruned, before := 0, expired.Before(retention.Messages)
	err := companies.Try(ctx, s.pool, func(company domain.CompanyID) error {
		if err := s.expire(ctx, company, before); err != nil {
			return err
		}
		n, err := pg.DeleteAll(ctx, s.pool, atOnce, pruneCommands, company, before)
		pruned += n
		return err
	}, prunableCommands, before)
	return pruned, err
}

type expiredCommand struct {
	CommandID     string
	SubscriberKey int64
}

// expire gives up what waits since a time.
func (s *Store) expire(ctx context.Context, company domain.CompanyID, before time.Time) error {
	for n := atOnce; n == atOnce; {
		err := s.change(ctx, domain.Whole(company), func(q *queue, provider *rules.Endpoint) error {
			expired, err := pg.SelectAll[expiredCommand](ctx, q.tx, expireCommands, company, before, q.at, atOnce)
			if n = len(expired); err != nil || n == 0 {
				return err
			}
			if err := q.endMessages(ctx, "failed", pg.Pluck(expired, func(c *expiredCommand) string { return c.CommandID })...); err != nil {
				return err
			}
			return q.promote(ctx, provider, pg.Pluck(expired, func(c *expiredCommand) int64 { return c.SubscriberKey }))
		})
		if err != nil {
			return err
		}
	}
	return nil
}
