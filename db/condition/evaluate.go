package condition

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/companies"
	"simgraph/db/pg"
	"simgraph/db/volume"
	"simgraph/domain"
	"simgraph/domain/condition"
)

const (
	// Every is how often the conditions of a company are evaluated.
	Every = time.Minute
	// everyWithout is how often the sources of a company without alerts are looked at.
	everyWithout = 5 * time.Minute
	// putOff is longer than any turn is put off: what is due later comes of a clock that
	// was set back since, and is due now.
	putOff = 10 * time.Minute
	// entriesAtOnce bounds the entries of an alert that one turn writes. The rest follows at once.
	entriesAtOnce = 10_000
)

const (
	dueTurns = `
SELECT t.company_id
FROM condition_turns t
WHERE ($1::bigint[] IS NULL OR t.company_id = ANY($1)) AND (t.due_at <= $2 OR t.due_at > $3)
ORDER BY t.due_at
LIMIT 1000`
	// newTurns are companies that have sources, and were never evaluated.
	newTurns = `
SELECT u.company_id
FROM usage_sources u
WHERE ($1::bigint[] IS NULL OR u.company_id = ANY($1)) AND NOT EXISTS (SELECT FROM condition_turns t WHERE t.company_id = u.company_id)
GROUP BY u.company_id
LIMIT 1000`
	// takeTurn moves the turn on, so that other instances leave it alone.
	takeTurn = `
UPDATE condition_turns SET due_at = $4
WHERE company_id = $1 AND (due_at <= $2 OR due_at > $3)`
	startTurns    = `INSERT INTO condition_turns (company_id, due_at) VALUES ($1, '-infinity') ON CONFLICT DO NOTHING`
	putOffTurn    = `UPDATE condition_turns SET due_at = $2 WHERE company_id = $1 AND due_at = $3`
	noteEvaluated = `UPDATE condition_turns SET evaluated_at = $2 WHERE company_id = $1`
	allConditions = `SELECT ` + conditionSelect + fromConditions + `
WHERE a.company_id = $1
ORDER BY a.alert_id`
)

// Round evaluates the conditions of the companies that are due. Several instances share
// the turns; an instance that dies in one leaves it to the next minute.
func (s *Store) Round(ctx context.Context) error {
	at := s.moment()
	failed := companies.Try(ctx, s.pool, func(company domain.CompanyID) error {
		_, err := s.pool.ExecContext(ctx, startTurns, company)
		return err
	}, newTurns)
	return errors.Join(failed, companies.Try(ctx, s.pool, func(company domain.CompanyID) error {
		taken, err := pg.Affected(ctx, s.pool, takeTurn, company, at, at.Add(putOff), at.Add(Every))
		if err != nil || taken == 0 {
			return err
		}
		return s.evaluate(ctx, company, at)
	}, dueTurns, at, at.Add(putOff)))
}

// turn is one evaluation of a company.
type turn struct {
	*Store
	company *domain.Company
	at      time.Time
	feeds   condition.Feeds
}

// evaluate evaluates all alerts of a company. One that fails does not stop the others.
func (s *Store) evaluate(ctx context.Context, id domain.CompanyID, at time.Time) error {
	company, err := companies.Find(ctx, s.pool, id)
	if err != nil {
		return err
	}
	rows, err := pg.SelectAll[alertRow](ctx, s.pool, allConditions, id)
	if err != nil {
		return err
	}
	alerts := pg.Pluck(rows, (*alertRow).alert)
	t := &turn{Store: s, company: company, at: at}
	if t.feeds, err = t.readFeeds(ctx); err != nil {
		return err
	}
	if len(alerts) == 0 {
		if _, err := pg.Affected(ctx, s.pool, putOffTurn, id, at.Add(everyWithout), at.Add(Every)); err != nil {
			return err
		}
	}
	failures := []error{t.sources(ctx, alerts), t.changes(ctx, alerts)}
	for _, alert := range alerts {
		failures = append(failures, t.alert(ctx, alert))
	}
	if err := errors.Join(failures...); err != nil {
		return err
	}
	_, err = pg.Affected(ctx, s.pool, noteEvaluated, id, at)
	return err
}

// alert evaluates one alert that has no state beside its log.
func (t *turn) alert(ctx context.Context, of *condition.Alert) error {
	switch of.Kind {
	case condition.Silent:
		return t.silent(ctx, of)
	case condition.Storm:
		return t.storm(ctx, of)
	case condition.Forecast:
		return t.forecast(ctx, of)
	case condition.Change, condition.SourceSilent:
	}
	return nil
}

// again lets the next turn follow at once: there was more than one takes.
const again = `UPDATE condition_turns SET due_at = $2 WHERE company_id = $1`

func (t *turn) more(ctx context.Context) error {
	_, err := pg.Affected(ctx, t.pool, again, t.company.CompanyID, t.at)
	return err
}

// found is what an alert notices of a subject.
type found struct {
	// SubscriberKey or GroupID is present; neither for a source.
	SubscriberKey, GroupID *int64
	Source, NAS            string
	Since                  time.Time
	Value                  int64
	Trait                  condition.Trait
	Before, After          string
	// Resolves is the entry that this ends; nil for what begins.
	Resolves *int64
}

const (
	// isStill finds the alert unless it was edited or removed since it was read, and keeps
	// it so until the entry is stored. It has a statement of its own: Citus refuses it
	// beside unnest of several arrays.
	isStill = `SELECT alert_id FROM condition_alerts WHERE company_id = $1 AND alert_id = $2 AND revision = $3 FOR SHARE`
	// writeEntries leaves out what another instance has written.
	writeEntries = `
INSERT INTO condition_log (company_id, alert_id, kind, state, rule_type, target, revision, subscriber_key, group_id, target_group_id, source, nas,
  since, bound, value, trait, before, after, is_open, resolves, notification_id, date_created)
SELECT own.company_id, $2::bigint, $5, $6, $7, $8, $3::integer, n.subscriber_key, n.group_id, $9::bigint, n.source, n.nas,
  n.since, $10::bigint, n.value, n.trait, n.before, n.after, $11::boolean, n.resolves, $4::uuid, $12::timestamptz
FROM companies own
CROSS JOIN unnest($13::bigint[], $14::bigint[], $15::text[], $16::timestamptz[], $17::bigint[], $18::text[], $19::text[], $20::text[], $21::bigint[], $22::text[])
  AS n(subscriber_key, group_id, source, since, value, trait, before, after, resolves, nas)
WHERE own.company_id = $1
ON CONFLICT ON CONSTRAINT condition_log_once DO NOTHING
RETURNING 1`
	endEpisodes = `
UPDATE condition_log SET is_open = false, resolved_at = $3
WHERE company_id = $1 AND entry_id = ANY($2) AND is_open`
)

// write logs what an alert found, and notifies recipients and webhooks. Those of the
// state Resolved end the entries that they resolve.
func (t *turn) write(ctx context.Context, of *condition.Alert, state condition.State, news []*found) error {
	if len(news) == 0 {
		return nil
	}
	return t.writing(ctx, func(tx *sqlx.Tx) error {
		if state == condition.Resolved {
			ended := pg.Pluck(news, func(f *found) int64 { return *f.Resolves })
			if _, err := pg.Affected(ctx, tx, endEpisodes, t.company.CompanyID, pq.Int64Array(ended), t.at); err != nil {
				return err
			}
		}
		return t.insert(ctx, tx, of, state, news)
	})
}

func (t *turn) writing(ctx context.Context, do func(*sqlx.Tx) error) error {
	return pg.Retry(ctx, func() error { return pg.InTx(ctx, t.pool, do) })
}

// insert logs what an alert found as one notification.
func (t *turn) insert(ctx context.Context, tx *sqlx.Tx, of *condition.Alert, state condition.State, news []*found) error {
	company, notification := t.company.CompanyID, uuid.Must(uuid.NewV7())
	open := state == condition.Fired && (of.Kind == condition.Silent || of.Kind == condition.SourceSilent)
	if of.AlertID != 0 {
		if still, err := pg.SelectValues[int64](ctx, tx, isStill, company, of.AlertID, of.Revision); err != nil || len(still) == 0 {
			return err
		}
	}
	n, err := pg.Returned(ctx, tx, writeEntries, append([]any{
		company, of.AlertID, of.Revision, notification, of.Kind, state, of.RuleType, of.Target, of.GroupID, of.Bound, open, t.at,
	}, columnsOf(news)...)...)
	if err != nil || n == 0 {
		return err
	}
	return volume.NotifyConditions(ctx, tx, company, notification, state, t.at)
}

func columnsOf(news []*found) []any {
	return []any{
		pq.Array(pg.Pluck(news, func(f *found) *int64 { return f.SubscriberKey })), pq.Array(pg.Pluck(news, func(f *found) *int64 { return f.GroupID })),
		pq.StringArray(pg.Pluck(news, func(f *found) string { return f.Source })), pq.Array(pg.Pluck(news, func(f *found) time.Time { return f.Since })),
		pq.Int64Array(pg.Pluck(news, func(f *found) int64 { return f.Value })), pq.StringArray(pg.Pluck(news, func(f *found) string { return string(f.Trait) })),
		pq.StringArray(pg.Pluck(news, func(f *found) string { return f.Before })), pq.StringArray(pg.Pluck(news, func(f *found) string { return f.After })),
		pq.Array(pg.Pluck(news, func(f *found) *int64 { return f.Resolves })), pq.StringArray(pg.Pluck(news, func(f *found) string { return f.NAS })),
	}
}
