// Package backlog reads how far the work of all companies is behind.
package backlog

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/companies"
	"simgraph/db/pg"
	"simgraph/domain"
)

// Store reports how far the work of all companies is behind.
type Store struct{ pool *sqlx.DB }

// New returns the backlog on the pool.
func New(pool *sqlx.DB) *Store { return &Store{pool} }

const (
	queuedMails = `
SELECT count(*) AS waiting, min(m.created_at) AS oldest FROM mails m
WHERE ($1::bigint[] IS NULL OR m.company_id = ANY($1)) AND m.state = 'queued'`
	waitingDeliveries = `
SELECT count(*) AS waiting, min(d.created_at) AS oldest FROM alert_deliveries d
WHERE ($1::bigint[] IS NULL OR d.company_id = ANY($1)) AND d.mail_id IS NULL AND NOT d.suppressed`
	usageWatermark = `
SELECT 0 AS waiting, max(s.complete_until) AS oldest FROM usage_sources s
WHERE $1::bigint[] IS NULL OR s.company_id = ANY($1)`
	lastEvaluation = `
SELECT count(*) AS waiting, min(t.evaluated_at) AS oldest FROM condition_turns t
WHERE $1::bigint[] IS NULL OR t.company_id = ANY($1)`
	activeSilences = `
SELECT count(*) AS waiting, min(n.starts_at) AS oldest FROM silences n
WHERE ($1::bigint[] IS NULL OR n.company_id = ANY($1)) AND n.starts_at <= now() AND n.ends_at > now()`
	firstMonth = `
SELECT 0 AS waiting, max(first_month) FILTER (WHERE first_month > to_timestamp(0)) AS oldest FROM usage_ledger`
)

// What waits of the companies of a node. Messages and commands of one company after the
// other are read by the indexes of what waits.
const (
	messagesIn = `
SELECT coalesce(sum(w.waiting), 0) AS waiting, min(w.oldest) AS oldest
FROM webhooks h
CROSS JOIN LATERAL (
  SELECT count(*) AS waiting, min(m.created_at) AS oldest FROM webhook_messages m
  WHERE m.company_id = h.company_id AND ($1::bigint[] IS NULL OR m.company_id = ANY($1)) AND m.webhook_id = h.webhook_id AND m.state = 'queued'
    AND m.retry_at IS `
	messagesOf = `
) w
WHERE ($1::bigint[] IS NULL OR h.company_id = ANY($1)) AND NOT h.is_provider AND h.disabled_at IS `
	newMessages       = messagesIn + `NULL` + messagesOf + `NULL`
	againMessages     = messagesIn + `NOT NULL` + messagesOf + `NULL`
	newHeldMessages   = messagesIn + `NULL` + messagesOf + `NOT NULL`
	againHeldMessages = messagesIn + `NOT NULL` + messagesOf + `NOT NULL`
	commandsIn        = `
SELECT coalesce(sum(w.waiting), 0) AS waiting, min(w.oldest) AS oldest
FROM companies c
CROSS JOIN LATERAL (
  SELECT count(*) AS waiting, min(q.changed_at) AS oldest FROM commands q
  WHERE q.company_id = c.company_id AND ($1::bigint[] IS NULL OR q.company_id = ANY($1)) AND q.state = '`
	commandsOf = `'
) w
WHERE $1::bigint[] IS NULL OR c.company_id = ANY($1)`
	waitingCommands  = commandsIn + `requested` + commandsOf
	waitingReports   = commandsIn + `accepted` + commandsOf
	activeOperations = `
SELECT count(*) AS waiting, min(o.started_at) AS oldest FROM operations o
WHERE ($1::bigint[] IS NULL OR o.company_id = ANY($1)) AND o.ended_at IS NULL`
	dueReports = `
SELECT count(*) AS waiting, min(r.next_due_at) AS oldest FROM reports r
WHERE ($1::bigint[] IS NULL OR r.company_id = ANY($1)) AND r.next_due_at <= now()`
	quarantinedUsage = `
SELECT count(*) AS waiting, min(q.held_at) AS oldest FROM usage_quarantine q
WHERE $1::bigint[] IS NULL OR q.company_id = ANY($1)`
	rejectedRequests = `
SELECT coalesce(sum(r.requests), 0) AS waiting, min(r.first_at) AS oldest FROM feed_rejects r
WHERE ($1::bigint[] IS NULL OR r.company_id = ANY($1)) AND r.last_at > now() - interval '1 day'`
)

// queues are the statements that read them.
var queues = map[domain.Queue][]string{
	domain.QueueMessages: {newMessages, againMessages}, domain.QueueHeld: {newHeldMessages, againHeldMessages},
	domain.QueueCommands: {waitingCommands}, domain.QueueReports: {waitingReports}, domain.QueueOperations: {activeOperations}, domain.QueueMailedReports: {dueReports},
	domain.QueueQuarantine: {quarantinedUsage}, domain.QueueRejects: {rejectedRequests},
}

// Steps of housekeeping for all companies at once, and of those of a node. usage_moves are
// moves that instances of an older version note.
const (
	announcedMonths   = `SELECT count(*) FROM usage_ledger_months WHERE detached_at IS NULL`
	detachedMonths    = `SELECT count(*) FROM usage_ledger_months WHERE detached_at IS NOT NULL AND dropped_at IS NULL`
	waitingRetentions = `SELECT count(*) FROM retentions WHERE effective_at IS NULL AND withdrawn_at IS NULL`

	waitingMoves      = `SELECT count(*) FROM company_moves m WHERE $1::bigint[] IS NULL OR m.company_id = ANY($1)`
	waitingOlderMoves = `SELECT count(*) FROM usage_moves m WHERE $1::bigint[] IS NULL OR m.company_id = ANY($1)`
	waitingRebuilds   = `SELECT count(*) FROM usage_rebuilds r WHERE $1::bigint[] IS NULL OR r.company_id = ANY($1)`
	waitingUploads    = `
SELECT count(*) FROM operation_uploads u
WHERE ($1::bigint[] IS NULL OR u.company_id = ANY($1)) AND u.written_at < now() - interval '10 minutes'`
)

// shared and owned are the statements that count steps.
var (
	shared = map[domain.Step][]string{domain.StepAnnounced: {announcedMonths}, domain.StepDetached: {detachedMonths}, domain.StepRetentions: {waitingRetentions}}
	owned  = map[domain.Step][]string{domain.StepMoves: {waitingMoves, waitingOlderMoves}, domain.StepRebuilds: {waitingRebuilds}, domain.StepUploads: {waitingUploads}}
)

// Read returns how much waits at this moment.
func (b *Store) Read(ctx context.Context) (domain.Backlog, error) {
	var read domain.Backlog
	err := errors.Join(b.queue(ctx, firstMonth, new(int), &read.FirstMonth), b.steps(ctx, &read, shared))
	if err != nil {
		return read, err
	}
	answered := false
	err = companies.EachNode(ctx, b.pool, func(of pq.Int64Array) error {
		here, err := b.readNode(ctx, of)
		if err == nil {
			answered = true
			read.Add(here)
		}
		return err
	})
	read.Partial = err != nil && answered
	return read, err
}

// readNode returns what waits for the companies of a node.
func (b *Store) readNode(ctx context.Context, of pq.Int64Array) (read domain.Backlog, err error) {
	failures := []error{
		b.queue(ctx, queuedMails, &read.Mails, &read.OldestMail, of),
		b.queue(ctx, waitingDeliveries, &read.Deliveries, &read.OldestDelivery, of),
		b.queue(ctx, usageWatermark, new(int), &read.Watermark, of),
		b.queue(ctx, lastEvaluation, new(int), &read.Evaluated, of),
		b.queue(ctx, activeSilences, &read.Silences, new(time.Time), of),
		b.steps(ctx, &read, owned, of),
	}
	for queue, statements := range queues {
		for _, sql := range statements {
			var here domain.Waiting
			failures = append(failures, b.queue(ctx, sql, &here.Number, &here.Oldest, of))
			read.Wait(queue, here)
		}
	}
	return read, errors.Join(failures...)
}

// steps counts steps of housekeeping.
func (b *Store) steps(ctx context.Context, read *domain.Backlog, of map[domain.Step][]string, args ...any) error {
	for step, statements := range of {
		for _, sql := range statements {
			n, err := pg.Count(ctx, b.pool, sql, args...)
			if err != nil {
				return err
			}
			read.Pend(step, n)
		}
	}
	return nil
}

func (b *Store) queue(ctx context.Context, query string, waiting *int, oldest *time.Time, args ...any) error {
	var row struct {
		Waiting int
		Oldest  sql.NullTime
	}
	err := b.pool.GetContext(ctx, &row, query, args...)
	*waiting, *oldest = row.Waiting, row.Oldest.Time
	return pg.Translate(err)
}

// alertsFired reads the end of the log of each company, not all of the log.
const alertsFired = `
SELECT COALESCE(sum(fired.n), 0)
FROM companies c
CROSS JOIN LATERAL (
  SELECT count(*) AS n FROM alert_log l
  WHERE l.company_id = c.company_id AND ($1::bigint[] IS NULL OR l.company_id = ANY($1)) AND l.date_created > $2 AND l.date_created <= $3
) fired
WHERE $1::bigint[] IS NULL OR c.company_id = ANY($1)`

// Fired returns how many thresholds were logged after since, up to until.
func (b *Store) Fired(ctx context.Context, since, until time.Time) (n int, err error) {
	err = companies.EachNode(ctx, b.pool, func(of pq.Int64Array) error {
		here, err := pg.Count(ctx, b.pool, alertsFired, of, since, until)
		n += here
		return err
	})
	return n, err
}
