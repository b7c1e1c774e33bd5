package condition

import (
	"context"
	"time"

	"github.com/lib/pq"

	"simgraph/db/alert"
	"simgraph/db/companies"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/condition"
)

// firedNow is the condition that the entry l of the log reports what fired in the billing
// period that begins at $3, or before and it lasts.
const firedNow = `l.state = 'fired' AND (l.is_open OR l.date_created >= $3)`

const countFired = `
SELECT a.alert_id AS parent, count(DISTINCT (l.subject_id, l.source, l.nas)) AS number` + fromConditions + `
JOIN condition_log l ON l.company_id = $1 AND l.alert_id = a.alert_id AND l.revision = a.revision AND ` + firedNow + `
WHERE ` + alert.Visible + ` AND a.alert_id = ANY($4)
GROUP BY a.alert_id`

// Fired implements condition.Alerts.
func (s *Store) Fired(ctx context.Context, scope domain.Scope, alerts []int64) (map[int64]int, error) {
	start, err := s.periodStart(ctx, scope)
	if err != nil {
		return nil, err
	}
	return pg.CountEach[int64](ctx, s.pool, countFired, []any{scope.Company, pg.GroupsOf(scope), start, pq.Int64Array(alerts)})
}

const watchingSubscribers = `
SELECT ` + conditionSelect + `, m.key AS subject, fired.since, COALESCE(fired.is_open, false) AS is_open
FROM subscribers m
JOIN condition_alerts a ON a.company_id = $1 AND a.kind <> 'source'
  AND (a.rule_type = 'sim' AND a.subscriber_key = m.key OR a.rule_type = 'groupfptp' AND a.group_id = m.group_id
    OR a.rule_type = 'company' AND $2::bigint[] IS NULL)` + alert.JoinSubscriber + `
LEFT JOIN LATERAL (
  SELECT min(l.date_created) AS since, bool_or(l.is_open) AS is_open
  FROM condition_log l
  WHERE l.company_id = $1 AND l.alert_id = a.alert_id AND l.revision = a.revision AND l.subject_id = m.key AND ` + firedNow + `
) fired ON true
WHERE m.company_id = $1 AND m.key = ANY($4) AND ` + alert.Visible + `
ORDER BY a.alert_id`

type stateRow struct {
	alertRow
	Subject int64
	Since   *time.Time
	IsOpen  bool
}

// WatchingSubscribers implements condition.Alerts.
func (s *Store) WatchingSubscribers(ctx context.Context, scope domain.Scope, keys []int64) (map[int64][]*condition.AlertState, error) {
	start, err := s.periodStart(ctx, scope)
	if err != nil {
		return nil, err
	}
	rows, err := pg.SelectAll[stateRow](ctx, s.pool, watchingSubscribers, scope.Company, pg.GroupsOf(scope), start, pq.Int64Array(keys))
	if err != nil {
		return nil, err
	}
	watching := make(map[int64][]*condition.AlertState, len(keys))
	for _, row := range rows {
		watching[row.Subject] = append(watching[row.Subject], &condition.AlertState{
			Alert: row.alert(), SubscriberKey: row.Subject, Since: row.Since, IsOpen: row.IsOpen,
		})
	}
	return watching, nil
}

// periodStart begins the billing period of the company that runs now.
func (s *Store) periodStart(ctx context.Context, scope domain.Scope) (time.Time, error) {
	company, err := companies.Find(ctx, s.pool, scope.Company)
	if err != nil {
		return time.Time{}, err
	}
	return company.Billing().PeriodAt(s.now()).Start, nil
}
