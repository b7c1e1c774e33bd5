package silence

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/pg"
	"simgraph/domain"
)

const (
	silencesAt = `SELECT ` + silenceColumns + fromSilences + ` AND n.starts_at <= $2 AND n.ends_at > $2
ORDER BY n.silence_id`

	silenceAlerts           = `UPDATE alert_log` + marked + `alert_log` + matched
	silenceConditionEntries = `UPDATE condition_log` + marked + `condition_log` + matched
	marked                  = ` e SET silence_id = m.silence_id
FROM (
  SELECT l.entry_id, min(n.silence_id) AS silence_id
  FROM `
	// matched are the entries l of a notification that one of the silences $3 matches.
	matched = ` l
  LEFT JOIN subscribers s ON s.company_id = $1 AND s.key = l.subscriber_key
  JOIN silences n ON n.company_id = $1 AND n.silence_id = ANY($3)
    AND (n.alert_ids = '{}' OR l.alert_id = ANY(n.alert_ids))
    AND (n.group_ids = '{}' OR n.group_ids && ARRAY[l.group_id, l.target_group_id, s.group_id])
    AND (n.physical_ids = '{}' OR s.physical_id = ANY(n.physical_ids))
    AND (n.tag_names = '{}' OR EXISTS (
      SELECT FROM subscriber_tags t WHERE t.company_id = $1 AND t.subscriber_key = l.subscriber_key AND t.tag_name = ANY(n.tag_names)))
  WHERE l.company_id = $1 AND l.notification_id = $2
  GROUP BY l.entry_id
) m
WHERE e.company_id = $1 AND e.entry_id = m.entry_id`

	// resolvedInSilence are the entries l that resolve others, and the silences of these.
	resolvedInSilence = `
UPDATE condition_log l SET silence_id = f.silence_id
FROM condition_log f
WHERE l.company_id = $1 AND l.notification_id = $2 AND f.company_id = $1 AND f.entry_id = l.resolves AND f.silence_id IS NOT NULL`

	unsilenced                 = `WHERE l.company_id = $1 AND l.notification_id = $2 AND l.silence_id IS NULL)`
	unsilencedAlerts           = `SELECT EXISTS (SELECT FROM alert_log l ` + unsilenced
	unsilencedConditionEntries = `SELECT EXISTS (SELECT FROM condition_log l ` + unsilenced
)

// Alerts marks the entries of a notification in the alert log that a silence covers at the
// time. It reports whether others are left.
func Alerts(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, notification uuid.UUID, at time.Time) (left bool, err error) {
	return mark(ctx, tx, silenceAlerts, unsilencedAlerts, company, notification, at)
}

// ConditionEntries is Alerts for what begins in the log of conditions.
func ConditionEntries(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, notification uuid.UUID, at time.Time) (left bool, err error) {
	return mark(ctx, tx, silenceConditionEntries, unsilencedConditionEntries, company, notification, at)
}

func mark(ctx context.Context, tx *sqlx.Tx, statement, remaining string, company domain.CompanyID, notification uuid.UUID, at time.Time) (left bool, err error) {
	covering, err := coveringAt(ctx, tx, company, at)
	if err != nil || len(covering) == 0 {
		return true, err
	}
	n, err := pg.Affected(ctx, tx, statement, company, notification, covering)
	if err != nil || n == 0 {
		return true, err
	}
	err = tx.GetContext(ctx, &left, remaining, company, notification)
	return left, pg.Translate(err)
}

// Resolved is Alerts for what ends in the log of conditions: recipients are notified of the
// end of what they were notified of, and of no other.
func Resolved(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, notification uuid.UUID) (left bool, err error) {
	n, err := pg.Affected(ctx, tx, resolvedInSilence, company, notification)
	if err != nil || n == 0 {
		return true, err
	}
	err = tx.GetContext(ctx, &left, unsilencedConditionEntries, company, notification)
	return left, pg.Translate(err)
}

// coveringAt returns the silences of the company that silence something at the time.
func coveringAt(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, at time.Time) (covering pq.Int64Array, err error) {
	kind := kindOf(nil)
	inForce, err := kind.Select(ctx, tx, silencesAt, company, at)
	for _, of := range inForce {
		if of.Covers(at) {
			covering = append(covering, of.SilenceID)
		}
	}
	return covering, err
}
