// Package condition keeps alerts on conditions and their log, and evaluates them by the
// clock: see domain/condition.
package condition

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/alert"
	"simgraph/db/audit"
	"simgraph/db/pg"
	"simgraph/db/volume"
	"simgraph/domain"
	"simgraph/domain/condition"
)

// Store keeps alerts on conditions in PostgreSQL.
type Store struct {
	pool *sqlx.DB
	now  func() time.Time
	// The bounds are the constants, but in tests.
	changesAtOnce, maxReports, forecastsAtOnce, entriesAtOnce int
}

var _ condition.Alerts = (*Store)(nil)

// New returns the store on the pool; now is the clock.
func New(pool *sqlx.DB, now func() time.Time) *Store {
	return &Store{pool, now, changesAtOnce, maxReports, forecastsAtOnce, entriesAtOnce}
}

// moment is now, as the database keeps it.
func (s *Store) moment() time.Time { return pg.Moment(s.now()) }

const (
	fromConditions = `
FROM condition_alerts a` + alert.JoinSubscriber
	conditionSelect = `a.alert_id, a.rule_type, ` + alert.Target + ` AS target, a.subscriber_key, a.group_id,
  a.kind, a.bound, a.traits AS of, a.revision, a.armed_at, a.date_created, a.name, a.description`
	findConditions = `SELECT ` + conditionSelect + fromConditions + `
WHERE ` + alert.Visible + ` AND a.alert_id = ANY($3)`
)

type alertRow struct {
	condition.Alert
	Of pg.TextList[condition.Trait]
}

func (r *alertRow) alert() *condition.Alert {
	r.Traits = r.Of
	return &r.Alert
}

// FindMany implements condition.Alerts.
func (s *Store) FindMany(ctx context.Context, scope domain.Scope, ids []int64) (map[int64]*condition.Alert, error) {
	return findMany(ctx, s.pool, scope, ids)
}

func findMany(ctx context.Context, in sqlx.QueryerContext, scope domain.Scope, ids []int64) (map[int64]*condition.Alert, error) {
	rows, err := pg.SelectAll[alertRow](ctx, in, findConditions, scope.Company, pg.GroupsOf(scope), pq.Int64Array(ids))
	if err != nil {
		return nil, err
	}
	return pg.Keyed(pg.Pluck(rows, (*alertRow).alert), func(a *condition.Alert) int64 { return a.AlertID }), nil
}

func find(ctx context.Context, in sqlx.QueryerContext, scope domain.Scope, id int64) (*condition.Alert, error) {
	found, err := findMany(ctx, in, scope, []int64{id})
	if err != nil {
		return nil, err
	}
	if of := found[id]; of != nil {
		return of, nil
	}
	return nil, domain.NotFound("alertId", "alert on a condition", pg.FormatInt(id))
}

const (
	countAll        = `SELECT count(*) FROM condition_alerts WHERE company_id = $1`
	insertCondition = `
INSERT INTO condition_alerts (company_id, alert_id, rule_type, subscriber_key, group_id, kind, bound, traits, armed_at, date_created, name, description)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10, $11)`
	// dueNow gives the company its next turn at once.
	dueNow = `
INSERT INTO condition_turns (company_id, due_at) VALUES ($1, '-infinity')
ON CONFLICT (company_id) DO UPDATE SET due_at = '-infinity'`
)

// changing runs do in a transaction in which nobody else changes conditions of the
// company; they are evaluated soon after.
func (s *Store) changing(ctx context.Context, scope domain.Scope, do func(tx *sqlx.Tx) (*domain.AuditEntry, error)) error {
	return audit.ChangeLocked(ctx, s.pool, scope, func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
		entry, err := do(tx)
		if err != nil || entry == nil {
			return nil, err
		}
		_, err = tx.ExecContext(ctx, dueNow, scope.Company)
		return entry, err
	})
}

// Create implements condition.Alerts.
func (s *Store) Create(ctx context.Context, scope domain.Scope, spec condition.Spec) (created *condition.Alert, err error) {
	if err := spec.Check(); err != nil {
		return nil, err
	}
	err = s.changing(ctx, scope, func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
		target, err := volume.FindTarget(ctx, tx, scope, spec.RuleType, spec.Target)
		if err != nil {
			return nil, err
		}
		n, err := pg.Count(ctx, tx, countAll, scope.Company)
		if err != nil {
			return nil, err
		}
		if n >= condition.MaxAlerts {
			return nil, domain.Invalid("condition", "a company has at most %d alerts on conditions", condition.MaxAlerts)
		}
		id, err := volume.NewAlertID(ctx, tx)
		if err != nil {
			return nil, err
		}
		_, err = tx.ExecContext(ctx, insertCondition, scope.Company, id, spec.RuleType, target.SubscriberKey, target.GroupID, spec.Kind, spec.Bound,
			pg.Texts(spec.Traits), s.moment(), spec.Name, spec.Description)
		if err != nil {
			return nil, err
		}
		if created, err = find(ctx, tx, scope, id); err != nil {
			return nil, err
		}
		return audit.Of(ctx, tx, scope, created.SubscriberKey, entryOf(domain.AuditAlertCreate, nil, created))
	})
	return created, err
}

const (
	editConditionWords = `UPDATE condition_alerts SET name = $3, description = $4 WHERE company_id = $1 AND alert_id = $2`
	editCondition      = `
UPDATE condition_alerts SET bound = $3, traits = $4, revision = revision + 1, armed_at = $5
WHERE company_id = $1 AND alert_id = $2`
)

// Edit implements condition.Alerts.
func (s *Store) Edit(ctx context.Context, scope domain.Scope, id int64, edit condition.Edit) (edited *condition.Alert, err error) {
	if err := edit.Check(); err != nil {
		return nil, err
	}
	err = s.changing(ctx, scope, func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
		before, err := find(ctx, tx, scope, id)
		if err != nil {
			return nil, err
		}
		if err := scope.CheckVersion(before.Version()); err != nil {
			return nil, err
		}
		edited = before
		words := edit.AlertWordsEdit.Apply(before.AlertWords)
		renamed := len(domain.AlertWordsChanges(before.AlertWords, words)) > 0
		if renamed {
			if _, err := pg.Affected(ctx, tx, editConditionWords, scope.Company, id, words.Name, words.Description); err != nil {
				return nil, err
			}
		}
		rearmed, err := s.rearm(ctx, tx, scope, before, edit.Condition)
		if err != nil || !renamed && !rearmed {
			return nil, err
		}
		if edited, err = find(ctx, tx, scope, id); err != nil {
			return nil, err
		}
		return audit.Of(ctx, tx, scope, edited.SubscriberKey, entryOf(domain.AuditAlertEdit, before, edited))
	})
	return edited, err
}

// rearm gives an alert another condition of its kind, and reports whether it is another.
func (s *Store) rearm(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, of *condition.Alert, to *condition.Condition) (bool, error) {
	if to == nil {
		return false, nil
	}
	if of.Kind != to.Kind {
		return false, domain.Invalid("condition", "the alert %d stays one of the kind %q: delete it and make another", of.AlertID, of.Kind)
	}
	if describe(of) == describe(&condition.Alert{Kind: to.Kind, Bound: to.Bound, Traits: to.Traits}) {
		return false, nil
	}
	if _, err := pg.Affected(ctx, tx, editCondition, scope.Company, of.AlertID, to.Bound, pg.Texts(to.Traits), s.moment()); err != nil {
		return false, err
	}
	_, err := pg.Affected(ctx, tx, closeEpisodes, scope.Company, of.AlertID)
	return true, err
}

const (
	removeCondition = `DELETE FROM condition_alerts WHERE company_id = $1 AND alert_id = $2`
	closeEpisodes   = `UPDATE condition_log SET is_open = false WHERE company_id = $1 AND alert_id = $2 AND is_open`
)

// Remove implements condition.Alerts.
func (s *Store) Remove(ctx context.Context, scope domain.Scope, id int64) (removed *condition.Alert, err error) {
	err = s.changing(ctx, scope, func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
		if removed, err = find(ctx, tx, scope, id); err != nil {
			return nil, err
		}
		if _, err := pg.Affected(ctx, tx, closeEpisodes, scope.Company, id); err != nil {
			return nil, err
		}
		if _, err := pg.Affected(ctx, tx, removeCondition, scope.Company, id); err != nil {
			return nil, err
		}
		return audit.Of(ctx, tx, scope, removed.SubscriberKey, entryOf(domain.AuditAlertDelete, removed, nil))
	})
	return removed, err
}

// entryOf is the audit entry of an alert that became another, of which one may be nil.
func entryOf(action string, before, after *condition.Alert) *domain.AuditEntry {
	of := cmp.Or(after, before)
	return audit.Entry(action, "Alert", of.AlertID, domain.AlertDifferences(before, after, func(a *condition.Alert) domain.AlertWords { return a.AlertWords },
		[]domain.AuditField[condition.Alert]{
			{Name: "ruleType", Text: func(a *condition.Alert) string { return string(a.RuleType) }},
			{Name: "target", Text: func(a *condition.Alert) string { return a.Target }},
			{Name: "condition", Text: describe},
		})...)
}

// describe returns the condition of an alert in words.
func describe(a *condition.Alert) string {
	if a.Kind == condition.Change {
		return strings.Join(append([]string{string(a.Kind)}, pg.Texts(a.Traits)...), " ")
	}
	return string(a.Kind) + " " + pg.FormatInt(a.Bound)
}
