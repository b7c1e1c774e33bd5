package volume

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/alert"
	"simgraph/db/companies"
	"simgraph/db/pg"
	"simgraph/domain"
)

// alertStates joins alerts to the rows of watched: an alert, its subject and the
// subject's usage. Parameters are the company, the scope's groups and the start
// of the billing period.
const alertStates = `
SELECT ` + alertSelect + `, w.subscriber_key AS subject_subscriber, w.group_id AS subject_group, w.usage,
  l.date_created AS lower_since, u.date_created AS upper_since
FROM watched w
JOIN alerts a ON a.company_id = $1 AND a.alert_id = w.alert_id` + alert.JoinThresholds + `
LEFT JOIN alert_log l ON l.company_id = $1 AND l.alert_id = a.alert_id AND l.limit_boundary = 'lower'
  AND l.revision = lower.revision AND l.period_start = $3 AND l.subject_id = COALESCE(w.subscriber_key, w.group_id)
LEFT JOIN alert_log u ON u.company_id = $1 AND u.alert_id = a.alert_id AND u.limit_boundary = 'upper'
  AND u.revision = upper.revision AND u.period_start = $3 AND u.subject_id = COALESCE(w.subscriber_key, w.group_id)
WHERE ` + alert.Visible

// subjectsOfAlerts needs no look at the scope for the subjects: who sees an
// alert sees all of them.
const subjectsOfAlerts = `
WITH watched AS (
  SELECT subject.*
  FROM unnest($4::bigint[]) AS wanted(alert_id)
  CROSS JOIN LATERAL (
    SELECT a.alert_id, a.subscriber_key, NULL::bigint AS group_id, COALESCE(p.mobile_originated + p.mobile_terminated, 0) AS usage
    FROM alerts a
    LEFT JOIN subscriber_periods p ON p.company_id = $1 AND p.period_start = $3 AND p.subscriber_key = a.subscriber_key
    WHERE a.company_id = $1 AND a.alert_id = wanted.alert_id AND a.rule_type = 'sim'
    UNION ALL
    SELECT a.alert_id, p.subscriber_key, NULL, p.mobile_originated + p.mobile_terminated
    FROM alerts a
    JOIN subscriber_periods p ON p.company_id = $1 AND p.period_start = $3
    WHERE a.company_id = $1 AND a.alert_id = wanted.alert_id AND a.rule_type = 'company'
    UNION ALL
    SELECT a.alert_id, p.subscriber_key, NULL, p.mobile_originated + p.mobile_terminated
    FROM alerts a
    JOIN subscribers m ON m.company_id = $1 AND m.group_id = a.group_id
    JOIN subscriber_periods p ON p.company_id = $1 AND p.period_start = $3 AND p.subscriber_key = m.key
    WHERE a.company_id = $1 AND a.alert_id = wanted.alert_id AND a.rule_type = 'groupfptp'
    UNION ALL
    SELECT a.alert_id, NULL, a.group_id, COALESCE(p.mobile_originated + p.mobile_terminated, 0)
    FROM alerts a
    LEFT JOIN group_periods p ON p.company_id = $1 AND p.period_start = $3 AND p.group_id = a.group_id
    WHERE a.company_id = $1 AND a.alert_id = wanted.alert_id AND a.rule_type = 'grouppr'
    ORDER BY usage DESC, subscriber_key
    LIMIT $5 OFFSET $6
  ) subject
)` + alertStates + `
ORDER BY w.usage DESC, w.subscriber_key`

// SubjectsOf implements domain.Alerts.
func (a *Alerts) SubjectsOf(ctx context.Context, scope domain.Scope, alerts []int64, page domain.Page) (map[int64][]*domain.VolumeAlertState, error) {
	states, err := a.states(ctx, scope, subjectsOfAlerts, pq.Int64Array(alerts), page.Limit, page.Offset)
	if err != nil {
		return nil, err
	}
	subjects := make(map[int64][]*domain.VolumeAlertState, len(alerts))
	for _, state := range states {
		subjects[state.Alert.AlertID] = append(subjects[state.Alert.AlertID], state)
	}
	return subjects, nil
}

const watchingSubscribers = `
WITH watched AS (
  SELECT watching.alert_id, m.key AS subscriber_key, NULL::bigint AS group_id, COALESCE(p.mobile_originated + p.mobile_terminated, 0) AS usage
  FROM subscribers m
  CROSS JOIN LATERAL (
    SELECT a.alert_id
    FROM alerts a
    WHERE a.company_id = $1 AND (a.rule_type = 'sim' AND a.target_id = m.key OR a.rule_type = 'groupfptp' AND a.target_id = m.group_id
      OR a.rule_type = 'company' AND a.target_id = 0 AND $2::bigint[] IS NULL)
    ORDER BY a.alert_id LIMIT 100
  ) watching
  LEFT JOIN subscriber_periods p ON p.company_id = $1 AND p.period_start = $3 AND p.subscriber_key = m.key
  WHERE m.company_id = $1 AND m.key = ANY($4)
)` + alertStates + `
ORDER BY a.alert_id`

// WatchingSubscribers implements domain.Alerts.
func (a *Alerts) WatchingSubscribers(ctx context.Context, scope domain.Scope, keys []int64) (map[int64][]*domain.VolumeAlertState, error) {
	states, err := a.states(ctx, scope, watchingSubscribers, pq.Int64Array(keys))
	if err != nil {
		return nil, err
	}
	watching := make(map[int64][]*domain.VolumeAlertState, len(keys))
	for _, state := range states {
		watching[*state.SubscriberKey] = append(watching[*state.SubscriberKey], state)
	}
	return watching, nil
}

const firedByAlert = `
SELECT a.alert_id AS parent, count(DISTINCT l.subject_id) AS number` + FromAlerts + `
JOIN alert_thresholds t ON t.company_id = $1 AND t.alert_id = a.alert_id
JOIN alert_log l ON l.company_id = $1 AND l.alert_id = a.alert_id AND l.limit_boundary = t.boundary
  AND l.revision = t.revision AND l.period_start = $3
WHERE ` + alert.Visible + ` AND a.alert_id = ANY($4)
GROUP BY a.alert_id`

// Fired implements domain.Alerts.
func (a *Alerts) Fired(ctx context.Context, scope domain.Scope, alerts []int64) (map[int64]int, error) {
	period, err := a.currentPeriod(ctx, a.Pool, scope)
	if err != nil {
		return nil, err
	}
	return pg.CountEach[int64](ctx, a.Pool, firedByAlert, []any{scope.Company, pg.GroupsOf(scope), period.Start, pq.Int64Array(alerts)})
}

// currentPeriod is the billing period of the company that runs now.
func (a *Alerts) currentPeriod(ctx context.Context, in sqlx.QueryerContext, scope domain.Scope) (domain.Period, error) {
	company, err := companies.Find(ctx, in, scope.Company)
	if err != nil {
		return domain.Period{}, err
	}
	return company.Billing().PeriodAt(a.Now()), nil
}

// alertStateRow is a row of alertStates.
type alertStateRow struct {
	domain.VolumeAlert
	SubjectSubscriber *int64
	SubjectGroup      *int64
	Usage             int64
	LowerSince        *time.Time
	UpperSince        *time.Time
}

func (a *Alerts) states(ctx context.Context, scope domain.Scope, sql string, args ...any) ([]*domain.VolumeAlertState, error) {
	period, err := a.currentPeriod(ctx, a.Pool, scope)
	if err != nil {
		return nil, err
	}
	args = append([]any{scope.Company, pg.GroupsOf(scope), period.Start}, args...)
	rows, err := pg.SelectAll[alertStateRow](ctx, a.Pool, sql, args...)
	if err != nil {
		return nil, err
	}
	return pg.Pluck(rows, func(row *alertStateRow) *domain.VolumeAlertState {
		return &domain.VolumeAlertState{
			Alert: &row.VolumeAlert, SubscriberKey: row.SubjectSubscriber, GroupID: row.SubjectGroup, Period: period,
			Usage: row.Usage, LowerSince: row.LowerSince, UpperSince: row.UpperSince,
		}
	}), nil
}
