package volume

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/lib/pq"

	"simgraph/db/audit"
	"simgraph/db/imported"
	"simgraph/db/pg"
	"simgraph/db/usage"
	"simgraph/domain"
)

// importAlertLog gives a firing the key under which its alert would fire the
// same. Alerts that were changed or removed since get ids below 0, which no
// alert has; in the company that they were exported from, their entries still
// have the ids of then, and are distinguished from those of other alerts by their moment.
// $21 are the ids of new entries: see importSubscribers.
const importAlertLog = `
WITH line AS (
  SELECT own.company_id, l.*, s.key, CASE WHEN l.former > 0 THEN -l.former ELSE a.alert_id END AS alert_id,
    CASE WHEN l.former > 0 THEN l.former_revision ELSE a.revision END AS revision
  FROM companies own CROSS JOIN unnest($2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $20::bigint[], $6::bigint[], $7::int[], $8::text[], $9::text[], $10::text[],
    $11::bigint[], $12::bigint[], $13::timestamptz[], $14::timestamptz[], $15::bigint[], $16::bigint[], $17::boolean[], $18::text[], $19::timestamptz[])
    WITH ORDINALITY AS l(rule_type, target_id, lower_threshold, upper_threshold, copy, former, former_revision, target, boundary, physical_id,
      group_id, target_group_id, period_start, period_end, threshold, usage, late, notification, date_created, place)
  LEFT JOIN subscribers s ON s.company_id = own.company_id AND s.physical_id = l.physical_id
  LEFT JOIN LATERAL (
    SELECT a.alert_id, t.revision
    FROM alerts a
    JOIN alert_thresholds lower ON lower.company_id = $1 AND lower.alert_id = a.alert_id AND lower.boundary = 'lower' AND lower.threshold = l.lower_threshold
    JOIN alert_thresholds upper ON upper.company_id = $1 AND upper.alert_id = a.alert_id AND upper.boundary = 'upper' AND upper.threshold = l.upper_threshold
    JOIN alert_thresholds t ON t.company_id = $1 AND t.alert_id = a.alert_id AND t.boundary = l.boundary
    WHERE a.company_id = $1 AND a.rule_type = l.rule_type AND a.target_id = l.target_id
    ORDER BY a.alert_id
    LIMIT 1 OFFSET l.copy
  ) a ON l.former = 0
  WHERE own.company_id = $1
), judged AS (
  SELECT l.*, CASE
    WHEN l.physical_id <> '' AND l.key IS NULL THEN 'subscriber'
    WHEN l.alert_id IS NULL THEN 'alert'
    WHEN EXISTS (
      SELECT FROM alert_log g
      WHERE g.company_id = $1 AND g.alert_id IN (l.alert_id, l.former) AND g.limit_boundary = l.boundary AND g.revision = l.revision
        AND g.period_start = l.period_start AND g.subject_id = COALESCE(l.key, l.group_id)
        AND (g.alert_id = l.alert_id OR g.date_created = l.date_created)) THEN 'unchanged'
    ELSE 'created' END AS outcome
  FROM line l
), written AS (
  INSERT INTO alert_log (company_id, entry_id, alert_id, rule_type, target, limit_boundary, revision, subscriber_key, group_id, target_group_id,
    period_start, period_end, threshold, usage, late, notification_id, date_created)
  SELECT own.company_id, ($21::bigint[])[place], alert_id, rule_type, target, boundary, revision, key, nullif(group_id, 0), nullif(target_group_id, 0),
    period_start, period_end, threshold, usage, late, nullif(notification, '')::uuid, date_created
  FROM companies own
  CROSS JOIN judged
  WHERE own.company_id = $1 AND outcome = 'created'
  ORDER BY place
  ON CONFLICT DO NOTHING
)
SELECT place::text, outcome FROM judged`

const newEntryIDs = `SELECT nextval(pg_get_serial_sequence('alert_log', 'entry_id')) FROM generate_series(1, $1::int)`

// KeepLog adds when alerts fired; they do not fire again for it.
func (a *Alerts) KeepLog(ctx context.Context, scope domain.Scope, firings []domain.Firing) (kept []domain.Imported, err error) {
	err = a.changing(ctx, scope, func(change *alertChange) (*domain.AuditEntry, error) {
		targets, err := targetFinder{change.tx, scope}.find(ctx, pg.Pluck(firings, alertOfFiring))
		if err != nil {
			return nil, err
		}
		kept, err = change.keepLog(ctx, firings, targets)
		return audit.Import("alert-log", imported.TallyAnswers(kept)), err
	})
	return kept, err
}

// alertOfFiring is of no importance for the firing of a former alert.
func alertOfFiring(f domain.Firing) domain.AlertSpec {
	if f.Alert == nil {
		return domain.AlertSpec{RuleType: f.RuleType}
	}
	return f.Alert.AlertSpec
}

func copyOfFiring(f domain.Firing) int64 {
	if f.Alert == nil {
		return 0
	}
	return int64(f.Alert.Copy)
}

func (c *alertChange) keepLog(ctx context.Context, firings []domain.Firing, targets []alertTargeted) ([]domain.Imported, error) {
	verdicts := make(map[string]string, len(firings))
	var ids pq.Int64Array
	if err := c.tx.SelectContext(ctx, &ids, newEntryIDs, len(firings)); err != nil {
		return nil, err
	}
	args := slices.Concat([]any{c.scope.Company}, targetArrays(targets), firingArrays(firings), []any{ids})
	if err := imported.Judge(ctx, c.tx, verdicts, importAlertLog, args...); err != nil {
		return nil, err
	}
	kept := make([]domain.Imported, len(firings))
	for i, f := range firings {
		verdict := verdicts[strconv.Itoa(i+1)]
		switch outcome, stored := imported.Outcomes[verdict]; {
		case stored:
			kept[i].Outcome = outcome
		case verdict == "subscriber":
			kept[i].Err = domain.NotFound("physicalId", "subscriber", f.PhysicalID)
		case targets[i].refused != nil:
			kept[i].Err = targets[i].refused
		default:
			kept[i].Err = domain.Invalid("alert", "there is no such alert; its line must come first")
		}
	}
	return kept, nil
}

func firingArrays(firings []domain.Firing) []any {
	texts := func(field func(domain.Firing) string) any { return pq.StringArray(pg.Pluck(firings, field)) }
	numbers := func(field func(domain.Firing) int64) any { return pq.Int64Array(pg.Pluck(firings, field)) }
	times := func(field func(domain.Firing) time.Time) any { return usage.TimeArray(pg.Pluck(firings, field)) }
	return []any{
		numbers(func(f domain.Firing) int64 { return f.AlertID }),
		numbers(func(f domain.Firing) int64 { return int64(f.Revision) }),
		texts(func(f domain.Firing) string { return f.Target }),
		texts(func(f domain.Firing) string { return string(f.LimitBoundary) }),
		texts(func(f domain.Firing) string { return f.PhysicalID }),
		numbers(func(f domain.Firing) int64 { return pg.OrZero(f.GroupID) }),
		numbers(func(f domain.Firing) int64 { return pg.OrZero(f.TargetGroupID) }),
		times(func(f domain.Firing) time.Time { return f.PeriodStart }),
		times(func(f domain.Firing) time.Time { return f.PeriodEnd }),
		numbers(func(f domain.Firing) int64 { return f.Threshold }),
		numbers(func(f domain.Firing) int64 { return f.VolumeLogEntry.Usage }),
		pq.BoolArray(pg.Pluck(firings, func(f domain.Firing) bool { return f.IsLate })),
		texts(func(f domain.Firing) string { return pg.OrZero(f.NotificationID) }),
		times(func(f domain.Firing) time.Time { return f.DateCreated }),
		numbers(copyOfFiring),
	}
}
