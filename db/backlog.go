package db

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

// Backlog reports how far the work of all companies is behind.
type Backlog struct{ pool *sqlx.DB }

// NewBacklog returns the backlog on the pool.
func NewBacklog(pool *sqlx.DB) *Backlog { return &Backlog{pool} }

const (
	queuedMails = `
SELECT count(*) AS waiting, min(m.created_at) AS oldest FROM mails m
WHERE ($1::bigint[] IS NULL OR m.company_id = ANY($1)) AND m.state = 'queued'`
	waitingDeliveries = `
SELECT count(*) AS waiting, min(d.created_at) AS oldest FROM alert_deliveries d
WHERE ($1::bigint[] IS NULL OR d.company_id = ANY($1)) AND d.mail_id IS NULL AND NOT d.suppressed`
	quarantinedUsage = `
SELECT count(*) AS waiting, NULL::timestamptz AS oldest FROM usage_quarantine q
WHERE $1::bigint[] IS NULL OR q.company_id = ANY($1)`
	usageWatermark = `
SELECT 0 AS waiting, max(s.complete_until) AS oldest FROM usage_sources s
WHERE $1::bigint[] IS NULL OR s.company_id = ANY($1)`
	announcedMonths = `
SELECT count(*) AS waiting, NULL::timestamptz AS oldest FROM usage_ledger_months WHERE detached_at IS NULL`
	detachedMonths = `
SELECT count(*) AS waiting, NULL::timestamptz AS oldest FROM usage_ledger_months WHERE detached_at IS NOT NULL AND dropped_at IS NULL`
	firstMonth = `
SELECT 0 AS waiting, max(first_month) FILTER (WHERE first_month > to_timestamp(0)) AS oldest FROM usage_ledger`
)

// Read returns how much waits at this moment.
func (b *Backlog) Read(ctx context.Context) (domain.Backlog, error) {
	var read domain.Backlog
	months := errors.Join(
		b.queue(ctx, announcedMonths, &read.AnnouncedMonths, new(time.Time)),
		b.queue(ctx, detachedMonths, &read.DetachedMonths, new(time.Time)),
		b.queue(ctx, firstMonth, new(int), &read.FirstMonth),
	)
	if months != nil {
		return read, months
	}
	answered := false
	err := companies.EachNode(ctx, b.pool, func(of pq.Int64Array) error {
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
func (b *Backlog) readNode(ctx context.Context, of pq.Int64Array) (read domain.Backlog, err error) {
	err = errors.Join(
		b.queue(ctx, queuedMails, &read.Mails, &read.OldestMail, of),
		b.queue(ctx, waitingDeliveries, &read.Deliveries, &read.OldestDelivery, of),
		b.queue(ctx, quarantinedUsage, &read.Quarantined, new(time.Time), of),
		b.queue(ctx, usageWatermark, new(int), &read.Watermark, of),
	)
	return read, err
}

func (b *Backlog) queue(ctx context.Context, query string, waiting *int, oldest *time.Time, args ...any) error {
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
func (b *Backlog) Fired(ctx context.Context, since, until time.Time) (n int, err error) {
	err = companies.EachNode(ctx, b.pool, func(of pq.Int64Array) error {
		here, err := pg.Count(ctx, b.pool, alertsFired, of, since, until)
		n += here
		return err
	})
	return n, err
}
