package usage

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/pg"
	"simgraph/domain"
)

// noteMovedUsage marks the subscribers that have usage since their group
// changed: all usage, where that is before their first known group. A subscriber
// is looked up in each billing period that the company has: most have no usage.
// The order makes PostgreSQL take the primary key, also where it has not analyzed
// the table yet; the index on magnitude would go through the whole period.
const noteMovedUsage = `
WITH used AS (
  WITH RECURSIVE period AS (
    SELECT min(p.period_start) AS began FROM subscriber_periods p WHERE p.company_id = $1
    UNION ALL
    SELECT (SELECT min(p.period_start) FROM subscriber_periods p WHERE p.company_id = $1 AND p.period_start > period.began)
    FROM period
    WHERE period.began IS NOT NULL
  ), moved AS (
    SELECT s.key, CASE WHEN line.since > known.since THEN line.since ELSE '-infinity' END AS since
    FROM (
      SELECT l.physical_id, min(l.since) AS since
      FROM unnest($2::text[], $3::timestamptz[]) AS l(physical_id, since)
      GROUP BY l.physical_id
    ) line
    JOIN subscribers s ON s.company_id = $1 AND s.physical_id = line.physical_id
    CROSS JOIN LATERAL (
      SELECT min(m.since) AS since
      FROM group_memberships m
      WHERE m.company_id = $1 AND m.subscriber_key = s.key AND m.group_id IS NOT NULL
    ) known
  )
  SELECT m.key, (greatest(m.since, min(u.period_start)) AT TIME ZONE 'UTC')::date AS since
  FROM moved m
  CROSS JOIN period
  CROSS JOIN LATERAL (
    SELECT u.period_start, u.subscriber_key, u.last_seen
    FROM subscriber_periods u
    WHERE u.company_id = $1 AND u.period_start = period.began AND u.subscriber_key >= m.key
    ORDER BY u.subscriber_key
    LIMIT 1
  ) u
  WHERE u.subscriber_key = m.key AND u.last_seen >= date_trunc('second', m.since)
  GROUP BY m.key, m.since
), ` + markUsed

// markUsed ends a statement whose rows `used` are subscribers by key, with the day from
// which Reconcile has to look at their usage.
const markUsed = `marked AS (
  INSERT INTO subscriber_moves AS w (company_id, subscriber_key, since)
  SELECT own.company_id, u.key, u.since
  FROM companies own
  CROSS JOIN used u
  WHERE own.company_id = $1
  ORDER BY u.key
  ON CONFLICT (company_id, subscriber_key) DO UPDATE SET since = least(w.since, excluded.since)
), noted AS (
  INSERT INTO company_moves AS w (company_id, since)
  SELECT own.company_id, min(u.since)
  FROM companies own
  CROSS JOIN used u
  WHERE own.company_id = $1
  GROUP BY own.company_id
  ON CONFLICT (company_id) DO UPDATE SET since = least(w.since, excluded.since)
)
SELECT FROM companies WHERE company_id = $1`

// NoteMoves is for the transaction, under the lock of the company, that changed
// which group each subscriber was in from a time on. Usage that they have from
// then on counts for other groups, which Reconcile sees to later.
func NoteMoves(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, physicalIDs []string, since []time.Time) error {
	if len(physicalIDs) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, noteMovedUsage, company, pq.StringArray(physicalIDs), TimeArray(since))
	return err
}

const (
	forgetPeriods = `
WITH subscribers AS (
  DELETE FROM subscriber_periods WHERE company_id = $1
)
DELETE FROM group_periods WHERE company_id = $1`
	bookedSpan = `SELECT min(hour) AS first, max(hour) AS last FROM company_hours WHERE company_id = $1`
)

// hourSpan is the first and last hour of usage, nil where there is none.
type hourSpan struct{ First, Last *time.Time }

// RebookPeriods is for the transaction, under the lock of the company, that
// changed when its billing periods begin. What is in the ledger is booked to
// the second, older usage by the hour.
func RebookPeriods(ctx context.Context, tx *sqlx.Tx, company *domain.Company) error {
	if _, err := tx.ExecContext(ctx, forgetPeriods, company.CompanyID); err != nil {
		return err
	}
	booked, err := pg.GetOne[hourSpan](ctx, tx, nil, bookedSpan, company.CompanyID)
	if err != nil || booked.First == nil {
		return err
	}
	ledger, err := lockLedger(ctx, tx, company.CompanyID)
	if err != nil {
		return err
	}
	r := &rebuild{company: company.CompanyID}
	for _, p := range periodsBetween(company.Billing(), *booked.First, booked.Last.Add(time.Hour)) {
		if err := r.correct(ctx, tx, periodDerivations, p.Start, p.End, ledger); err != nil {
			return err
		}
	}
	return nil
}
