package db

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/audit"
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
	err = a.changing(ctx, scope, func(change *alertChange) error {
		targets, err := targetFinder{change.tx, scope}.find(ctx, pg.Pluck(firings, alertOfFiring))
		if err != nil {
			return err
		}
		kept, err = change.keepLog(ctx, firings, targets)
		if err != nil {
			return err
		}
		return audit.RecordImport(ctx, change.tx, scope, "alert-log", tallyImported(kept))
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
	if err := judge(ctx, c.tx, verdicts, importAlertLog, args...); err != nil {
		return nil, err
	}
	kept := make([]domain.Imported, len(firings))
	for i, f := range firings {
		verdict := verdicts[strconv.Itoa(i+1)]
		switch outcome, stored := outcomes[verdict]; {
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
		numbers(func(f domain.Firing) int64 { return orZero(f.GroupID) }),
		numbers(func(f domain.Firing) int64 { return orZero(f.TargetGroupID) }),
		times(func(f domain.Firing) time.Time { return f.PeriodStart }),
		times(func(f domain.Firing) time.Time { return f.PeriodEnd }),
		numbers(func(f domain.Firing) int64 { return f.Threshold }),
		numbers(func(f domain.Firing) int64 { return f.AlertLogEntry.Usage }),
		pq.BoolArray(pg.Pluck(firings, func(f domain.Firing) bool { return f.IsLate })),
		texts(func(f domain.Firing) string { return orZero(f.NotificationID) }),
		times(func(f domain.Firing) time.Time { return f.DateCreated }),
		numbers(copyOfFiring),
	}
}

// exportAlertLog names the alert where it still is as it was when it fired.
const exportAlertLog = `
WITH copies AS (
  SELECT a.alert_id, ` + alertCopy + ` AS copy` + fromAlerts + `
  WHERE a.company_id = $1
)
SELECT ` + alertLogSelect + `, abs(l.alert_id) AS former_id, l.revision, COALESCE(subject.physical_id, '') AS physical_id,
  t.alert_id IS NOT NULL AS stands, COALESCE(` + alertTarget + `, '') AS alert_target, COALESCE(copies.copy, 0) AS copy,
  COALESCE(lower.threshold, 0) AS lower_threshold, COALESCE(upper.threshold, 0) AS upper_threshold
FROM alert_log l
LEFT JOIN subscribers subject ON subject.company_id = $1 AND subject.key = l.subscriber_key
LEFT JOIN alert_thresholds t ON t.company_id = $1 AND t.alert_id = l.alert_id AND t.boundary = l.limit_boundary AND t.revision = l.revision
LEFT JOIN alerts a ON a.company_id = $1 AND a.alert_id = t.alert_id
LEFT JOIN alert_thresholds lower ON lower.company_id = $1 AND lower.alert_id = t.alert_id AND lower.boundary = 'lower'
LEFT JOIN alert_thresholds upper ON upper.company_id = $1 AND upper.alert_id = t.alert_id AND upper.boundary = 'upper'
LEFT JOIN subscribers s ON s.company_id = $1 AND s.key = a.subscriber_key
LEFT JOIN copies ON copies.alert_id = t.alert_id
WHERE l.company_id = $1
ORDER BY l.date_created, l.entry_id`

type exportedFiring struct {
	domain.AlertLogEntry
	FormerID       int64
	Revision       int
	PhysicalID     string
	Stands         bool
	AlertTarget    string
	Copy           int
	LowerThreshold int64
	UpperThreshold int64
}

func (e exportedFiring) firing() domain.Firing {
	f := domain.Firing{AlertLogEntry: e.AlertLogEntry, PhysicalID: e.PhysicalID}
	if !e.Stands {
		f.AlertID, f.Revision = e.FormerID, e.Revision
		return f
	}
	f.AlertID = 0
	spec := domain.AlertSpec{RuleType: e.RuleType, Target: e.AlertTarget, LowerThreshold: e.LowerThreshold, UpperThreshold: e.UpperThreshold}
	f.Alert = &domain.AlertImport{AlertSpec: spec, Copy: e.Copy}
	return f
}

const importSuppressions = `
WITH line AS (
  SELECT l.*, r.recipient_id, CASE
    WHEN r.recipient_id IS NULL THEN 'recipient'
    WHEN r.suppressed_since IS NOT NULL THEN 'unchanged'
    ELSE 'updated' END AS outcome
  FROM companies own
  CROSS JOIN unnest($2::text[], $3::timestamptz[], $4::text[], $5::text[]) AS l(email_key, since, reason, detail)
  LEFT JOIN alert_recipients r ON r.company_id = own.company_id AND r.email_key = l.email_key
  WHERE own.company_id = $1
), written AS (
  UPDATE alert_recipients r SET suppressed_since = l.since, suppressed_reason = l.reason, suppressed_detail = l.detail
  FROM line l
  WHERE r.company_id = $1 AND r.recipient_id = l.recipient_id AND l.outcome = 'updated'
)
SELECT email_key, outcome FROM line`

// Suppress stops mail to recipients, also what waits. One that gets none already
// stays as it is.
func (r *Recipients) Suppress(ctx context.Context, scope domain.Scope, suppressions []domain.Suppression) (kept []domain.Imported, err error) {
	key := func(s domain.Suppression) string { return emailKey(s.Email) }
	err = r.changing(ctx, scope, func(tx *sqlx.Tx) error {
		verdicts := map[string]string{}
		err := judge(ctx, tx, verdicts, importSuppressions, scope.Company, pq.StringArray(pg.Pluck(suppressions, key)),
			usage.TimeArray(pg.Pluck(suppressions, func(s domain.Suppression) time.Time { return s.Since })),
			pq.StringArray(pg.Pluck(suppressions, func(s domain.Suppression) string { return string(s.Reason) })),
			pq.StringArray(pg.Pluck(suppressions, func(s domain.Suppression) string { return s.Detail })))
		if err != nil {
			return err
		}
		kept = answer(suppressions, verdicts, key, func(s domain.Suppression, _ string) *domain.Error {
			return domain.NotFound("email", "recipient", s.Email)
		})
		if err := r.silenceSuppressed(ctx, tx, scope.Company); err != nil {
			return err
		}
		return audit.RecordImport(ctx, tx, scope, "suppressions", tallyImported(kept))
	})
	return kept, err
}

const suppressedWithMail = `
SELECT DISTINCT r.recipient_id
FROM alert_recipients r
LEFT JOIN alert_deliveries d ON d.company_id = $1 AND d.recipient_id = r.recipient_id AND d.mail_id IS NULL AND NOT d.suppressed
LEFT JOIN mails m ON m.company_id = $1 AND m.recipient_id = r.recipient_id AND m.state = 'queued'
WHERE r.company_id = $1 AND r.suppressed_since IS NOT NULL AND (d.recipient_id IS NOT NULL OR m.recipient_id IS NOT NULL)`

// silenceSuppressed cancels the mail that waits for suppressed recipients.
func (r *Recipients) silenceSuppressed(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID) error {
	var ids []int64
	if err := tx.SelectContext(ctx, &ids, suppressedWithMail, company); err != nil {
		return err
	}
	for _, id := range ids {
		if err := dropWaiting(ctx, tx, company, id, r.now()); err != nil {
			return err
		}
	}
	return nil
}
