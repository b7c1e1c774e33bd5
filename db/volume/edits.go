package volume

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/alert"
	"simgraph/db/audit"
	"simgraph/db/companies"
	"simgraph/db/imported"
	"simgraph/db/pg"
	"simgraph/domain"
)

// changing runs do in a transaction in which no usage of the company is booked:
// what was booked before is visible to its statements, and what is booked after
// sees the change.
func (a *Alerts) changing(ctx context.Context, scope domain.Scope, do func(*alertChange) (*domain.AuditEntry, error)) error {
	return audit.Change(ctx, a.Pool, scope, func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
		company, err := companies.Lock(ctx, tx, scope.Company)
		if err != nil {
			return nil, err
		}
		return do(&alertChange{tx: tx, scope: scope, company: company, at: a.Moment()})
	})
}

// alertChange is a transaction that changes alerts.
type alertChange struct {
	tx      *sqlx.Tx
	scope   domain.Scope
	company *domain.Company
	at      time.Time
}

// Create implements domain.Alerts.
func (a *Alerts) Create(ctx context.Context, scope domain.Scope, spec domain.AlertSpec) (created *domain.VolumeAlert, err error) {
	if err := spec.Check(); err != nil {
		return nil, err
	}
	err = a.changing(ctx, scope, func(change *alertChange) (*domain.AuditEntry, error) {
		targets, err := targetFinder{change.tx, scope}.find(ctx, []domain.AlertSpec{spec})
		if err != nil {
			return nil, err
		}
		if targets[0].refused != nil {
			return nil, targets[0].refused
		}
		ids, err := change.insert(ctx, targets)
		if err != nil {
			return nil, err
		}
		created, err = a.FindIn(ctx, change.tx, scope, ids[0])
		if err != nil {
			return nil, err
		}
		if err := change.forUpstreams(ctx, created, false); err != nil {
			return nil, err
		}
		return change.entry(ctx, domain.AuditAlertCreate, created, alertChanges(nil, created))
	})
	return created, err
}

const editAlertWords = `UPDATE alerts SET name = $3, description = $4 WHERE company_id = $1 AND alert_id = $2`

const editAlert = `
UPDATE alert_thresholds t SET threshold = wanted.threshold, revision = t.revision + 1
FROM (VALUES ('lower', $3::bigint), ('upper', $4)) AS wanted(boundary, threshold)
WHERE t.company_id = $1 AND t.alert_id = $2 AND t.boundary = wanted.boundary AND t.threshold <> wanted.threshold`

// Edit implements domain.Alerts.
func (a *Alerts) Edit(ctx context.Context, scope domain.Scope, id int64, edit domain.AlertEdit) (edited *domain.VolumeAlert, err error) {
	if err := edit.Check(); err != nil {
		return nil, err
	}
	err = a.changing(ctx, scope, func(change *alertChange) (*domain.AuditEntry, error) {
		alert, err := a.FindIn(ctx, change.tx, scope, id)
		if err != nil {
			return nil, err
		}
		if err := scope.CheckVersion(alert.Version()); err != nil {
			return nil, err
		}
		before := *alert
		alert.LowerThreshold, alert.UpperThreshold, err = edit.Thresholds(alert)
		if err != nil {
			return nil, err
		}
		alert.AlertWords = edit.AlertWordsEdit.Apply(alert.AlertWords)
		edited = alert
		changes := alertChanges(&before, alert)
		if len(changes) == 0 {
			return nil, nil
		}
		if _, err := pg.Affected(ctx, change.tx, editAlertWords, scope.Company, id, alert.Name, alert.Description); err != nil {
			return nil, err
		}
		n, err := pg.Affected(ctx, change.tx, editAlert, scope.Company, id, alert.LowerThreshold, alert.UpperThreshold)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			if err := change.forUpstreams(ctx, &before, true); err != nil {
				return nil, err
			}
			if err := change.forUpstreams(ctx, alert, false); err != nil {
				return nil, err
			}
			if err := change.evaluate(ctx, []int64{id}); err != nil {
				return nil, err
			}
		}
		return change.entry(ctx, domain.AuditAlertEdit, alert, changes)
	})
	return edited, err
}

const removeAlert = `DELETE FROM alerts WHERE company_id = $1 AND alert_id = $2`

// Remove implements domain.Alerts.
func (a *Alerts) Remove(ctx context.Context, scope domain.Scope, id int64) (removed *domain.VolumeAlert, err error) {
	err = a.changing(ctx, scope, func(change *alertChange) (*domain.AuditEntry, error) {
		removed, err = a.FindIn(ctx, change.tx, scope, id)
		if err != nil {
			return nil, err
		}
		if _, err := pg.Affected(ctx, change.tx, removeAlert, scope.Company, id); err != nil {
			return nil, err
		}
		if err := change.forUpstreams(ctx, removed, true); err != nil {
			return nil, err
		}
		return change.entry(ctx, domain.AuditAlertDelete, removed, alertChanges(removed, nil))
	})
	return removed, err
}

const sameAlerts = `
SELECT DISTINCT a.alert_id, a.rule_type, a.target_id, lower.threshold AS lower_threshold, upper.threshold AS upper_threshold
FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::bigint[]) AS wanted(rule_type, target_id, lower_threshold, upper_threshold)
JOIN alerts a ON a.company_id = $1 AND a.rule_type = wanted.rule_type AND a.target_id = wanted.target_id` + alert.JoinThresholds + `
WHERE lower.threshold = wanted.lower_threshold AND upper.threshold = wanted.upper_threshold`

// Keep implements domain.Alerts.
func (a *Alerts) Keep(ctx context.Context, scope domain.Scope, alerts []domain.AlertImport) (kept []domain.Imported, err error) {
	err = a.changing(ctx, scope, func(change *alertChange) (*domain.AuditEntry, error) {
		specs := pg.Pluck(alerts, func(a domain.AlertImport) domain.AlertSpec { return a.AlertSpec })
		targets, err := targetFinder{change.tx, scope}.find(ctx, specs)
		if err != nil {
			return nil, err
		}
		kept, err = change.keep(ctx, alerts, targets)
		return audit.Import("alerts", imported.TallyAnswers(kept)), err
	})
	return kept, err
}

func (c *alertChange) keep(ctx context.Context, alerts []domain.AlertImport, targets []alertTargeted) ([]domain.Imported, error) {
	type row struct {
		AlertID int64
		alertKey
	}
	same, err := pg.SelectAll[row](ctx, c.tx, sameAlerts, append([]any{c.scope.Company}, targetArrays(targets)...)...)
	if err != nil {
		return nil, err
	}
	known := map[alertKey]int{}
	for _, alert := range same {
		known[alert.alertKey]++
	}
	if err := c.countDeleted(ctx, alerts, targets, known); err != nil {
		return nil, err
	}
	kept := make([]domain.Imported, len(targets))
	var fresh []alertTargeted
	for i, t := range targets {
		switch {
		case t.refused != nil:
			kept[i].Err = t.refused
		case alerts[i].Copy < known[t.alertKey]:
			kept[i].Outcome = domain.Unchanged
		default:
			kept[i].Outcome = domain.Created
			known[t.alertKey]++
			fresh = append(fresh, t)
		}
	}
	_, err = c.insert(ctx, fresh)
	return kept, err
}

const (
	newAlertIDs  = `SELECT nextval(pg_get_serial_sequence('alerts', 'alert_id')) FROM generate_series(1, $1::int)`
	insertAlerts = `
INSERT INTO alerts (company_id, alert_id, rule_type, subscriber_key, group_id, date_created, name, description)
SELECT own.company_id, alert_id, rule_type, CASE WHEN rule_type = 'sim' THEN target_id END,
  CASE WHEN rule_type IN ('grouppr', 'groupfptp') THEN target_id END, $5, wanted.name, wanted.description
FROM companies own CROSS JOIN unnest($2::bigint[], $3::text[], $4::bigint[], $6::text[], $7::text[]) AS wanted(alert_id, rule_type, target_id, name, description)
WHERE own.company_id = $1`
	insertThresholds = `
INSERT INTO alert_thresholds (company_id, alert_id, boundary, rule_type, target_id, threshold, revision)
SELECT own.company_id, wanted.alert_id, t.boundary, wanted.rule_type, wanted.target_id, t.threshold, 1
FROM companies own
CROSS JOIN unnest($2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[])
  AS wanted(alert_id, rule_type, target_id, lower_threshold, upper_threshold)
CROSS JOIN LATERAL (VALUES ('lower', wanted.lower_threshold), ('upper', wanted.upper_threshold)) AS t(boundary, threshold)
WHERE own.company_id = $1`
)

// insert makes the alerts and evaluates them.
func (c *alertChange) insert(ctx context.Context, targets []alertTargeted) (ids pq.Int64Array, err error) {
	if len(targets) == 0 {
		return nil, nil
	}
	if err := c.tx.SelectContext(ctx, &ids, newAlertIDs, len(targets)); err != nil {
		return nil, err
	}
	args := append([]any{c.scope.Company, ids}, targetArrays(targets)...)
	if _, err := pg.Affected(ctx, c.tx, insertAlerts, append(args[:4:4], c.at,
		pq.Array(pg.Pluck(targets, func(t alertTargeted) *string { return t.words.Name })),
		pq.Array(pg.Pluck(targets, func(t alertTargeted) *string { return t.words.Description })))...); err != nil {
		return nil, err
	}
	if _, err := pg.Affected(ctx, c.tx, insertThresholds, args...); err != nil {
		return nil, err
	}
	return ids, c.evaluate(ctx, ids)
}

// alertKey is what makes an alert the same as another.
type alertKey struct {
	RuleType       domain.RuleType
	TargetID       int64
	LowerThreshold int64
	UpperThreshold int64
}

// alertTargeted is a spec whose target was looked up, or why it was refused.
type alertTargeted struct {
	alertKey
	words   domain.AlertWords
	refused *domain.Error
}

func targetArrays(targets []alertTargeted) []any {
	numbers := func(field func(alertTargeted) int64) any { return pq.Int64Array(pg.Pluck(targets, field)) }
	return []any{
		pq.StringArray(pg.Pluck(targets, func(t alertTargeted) string { return string(t.RuleType) })),
		numbers(func(t alertTargeted) int64 { return t.TargetID }),
		numbers(func(t alertTargeted) int64 { return t.LowerThreshold }),
		numbers(func(t alertTargeted) int64 { return t.UpperThreshold }),
	}
}
