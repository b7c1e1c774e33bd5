package db

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/pg"
	"simgraph/domain"
)

// Backlog reports how far the work of all companies is behind.
type Backlog struct{ pool *sqlx.DB }

// NewBacklog returns the backlog on the pool.
func NewBacklog(pool *sqlx.DB) *Backlog { return &Backlog{pool} }

const (
	queuedMails = `
SELECT count(*) AS waiting, min(created_at) AS oldest FROM mails WHERE state = 'queued'`
	waitingDeliveries = `
SELECT count(*) AS waiting, min(created_at) AS oldest FROM alert_deliveries WHERE mail_id IS NULL AND NOT suppressed`
	quarantinedUsage = `
SELECT count(*) AS waiting, NULL::timestamptz AS oldest FROM usage_quarantine`
	usageWatermark = `
SELECT 0 AS waiting, max(complete_until) AS oldest FROM usage_sources`
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
	err := errors.Join(
		b.queue(ctx, queuedMails, &read.Mails, &read.OldestMail),
		b.queue(ctx, waitingDeliveries, &read.Deliveries, &read.OldestDelivery),
		b.queue(ctx, quarantinedUsage, &read.Quarantined, new(time.Time)),
		b.queue(ctx, usageWatermark, new(int), &read.Watermark),
		b.queue(ctx, announcedMonths, &read.AnnouncedMonths, new(time.Time)),
		b.queue(ctx, detachedMonths, &read.DetachedMonths, new(time.Time)),
		b.queue(ctx, firstMonth, new(int), &read.FirstMonth),
	)
	return read, err
}

func (b *Backlog) queue(ctx context.Context, query string, waiting *int, oldest *time.Time) error {
	var row struct {
		Waiting int
		Oldest  sql.NullTime
	}
	err := b.pool.GetContext(ctx, &row, query)
	*waiting, *oldest = row.Waiting, row.Oldest.Time
	return pg.Translate(err)
}

// alertsFired reads the end of the log of each company, not all of the log.
const alertsFired = `
SELECT COALESCE(sum(fired.n), 0)
FROM companies c
CROSS JOIN LATERAL (
  SELECT count(*) AS n FROM alert_log l
  WHERE l.company_id = c.company_id AND l.date_created > $1 AND l.date_created <= $2
) fired`

// Fired returns how many thresholds were logged after since, up to until.
func (b *Backlog) Fired(ctx context.Context, since, until time.Time) (n int, err error) {
	err = b.pool.GetContext(ctx, &n, alertsFired, since, until)
	return n, pg.Translate(err)
}
