package condition

import (
	"context"
	"time"

	"github.com/lib/pq"

	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/condition"
)

// forecastsAtOnce bounds the subscribers of an alert whose usage one turn forecasts. The
// next turn goes on with the next ones, and begins again after the last.
const forecastsAtOnce = 2000

const (
	// historyOf is the usage of subscribers after the one with the key $6: of the billing
	// period $3 and of the days $4, of which those without usage are left out.
	historyOf = `
SELECT s.key AS subject, s.connection_date AS connected_at, coalesce(p.mobile_originated + p.mobile_terminated, 0) AS used, d.days, d.bytes
FROM subscribers s
LEFT JOIN subscriber_periods p ON p.company_id = $1 AND p.period_start = $3 AND p.subscriber_key = s.key
CROSS JOIN LATERAL (
  SELECT coalesce(array_agg(date_part('epoch', d.day)::bigint), '{}') AS days,
    coalesce(array_agg(d.mobile_originated + d.mobile_terminated), '{}') AS bytes
  FROM subscriber_days d
  WHERE d.company_id = $1 AND d.day = ANY($4::date[]) AND d.subscriber_key = s.key
) d
WHERE ` + isInUse + ` AND s.connection_date <= $5 AND s.key > $6 AND NOT EXISTS (
    SELECT FROM condition_log o
    WHERE o.company_id = $1 AND o.alert_id = $2 AND o.revision = $7 AND o.subject_id = s.key AND o.since = $3)
  AND `
	firstHistories      = ` ORDER BY s.key LIMIT $8`
	historyOfSubscriber = historyOf + `s.key = $9` + firstHistories
	historyOfMembers    = historyOf + `s.group_id = $9` + firstHistories
	historyOfFleet      = historyOf + `$9::bigint IS NULL` + firstHistories
	// historyOfGroup is that of the combined usage of a group, which counts as connected
	// since its first usage.
	historyOfGroup = `
SELECT g.group_id AS subject, f.hour AS connected_at, coalesce(p.mobile_originated + p.mobile_terminated, 0) AS used, d.days, d.bytes
FROM groups g
CROSS JOIN LATERAL (
  SELECT h.hour FROM group_hours h WHERE h.company_id = $1 AND h.group_id = g.group_id ORDER BY h.hour LIMIT 1
) f
LEFT JOIN group_periods p ON p.company_id = $1 AND p.period_start = $3 AND p.group_id = g.group_id
CROSS JOIN LATERAL (
  SELECT array_agg(date_part('epoch', b.day)::bigint) AS days, array_agg(b.bytes) AS bytes
  FROM (
    SELECT (h.hour AT TIME ZONE 'UTC')::date AS day, sum(h.mobile_originated + h.mobile_terminated)::bigint AS bytes
    FROM group_hours h
    WHERE h.company_id = $1 AND h.group_id = g.group_id AND h.hour >= (SELECT min(w)::timestamp AT TIME ZONE 'UTC' FROM unnest($4::date[]) AS w)
    GROUP BY 1
  ) b
) d
WHERE g.company_id = $1 AND g.group_id = $7 AND f.hour <= $5 AND NOT EXISTS (
  SELECT FROM condition_log o
  WHERE o.company_id = $1 AND o.alert_id = $2 AND o.revision = $6 AND o.subject_id = g.group_id AND o.since = $3)`
	findCursor = `SELECT cursor_key FROM condition_alerts WHERE company_id = $1 AND alert_id = $2`
	moveCursor = `UPDATE condition_alerts SET cursor_key = $3 WHERE company_id = $1 AND alert_id = $2`
)

type historyRow struct {
	Subject     int64
	ConnectedAt time.Time
	Used        int64
	Days, Bytes pq.Int64Array
}

// history puts the days in their places.
func (r *historyRow) history(today time.Time) *condition.History {
	h := &condition.History{Used: r.Used, ConnectedAt: r.ConnectedAt}
	for i, second := range r.Days {
		switch back := int(today.Sub(time.Unix(second, 0)) / (24 * time.Hour)); {
		case back == 0:
			h.Today += r.Bytes[i]
		case back > 0 && back <= len(h.Days):
			h.Days[back-1] += r.Bytes[i]
		}
	}
	return h
}

// forecast fires for subjects whose usage will exceed the bound by the end of the
// billing period, once in each.
func (t *turn) forecast(ctx context.Context, of *condition.Alert) error {
	period := t.company.Billing().PeriodAt(t.at)
	rows, err := t.histories(ctx, of, period)
	if err != nil {
		return err
	}
	var news []*found
	today := t.at.Truncate(24 * time.Hour)
	for _, row := range rows {
		history := row.history(today)
		total := history.Total(t.at, period)
		if total <= of.Bound || !history.Enough(t.at) {
			continue
		}
		f := &found{Since: period.Start, Value: total}
		if of.RuleType == domain.RuleGroup {
			f.GroupID = &row.Subject
		} else {
			f.SubscriberKey = &row.Subject
		}
		news = append(news, f)
	}
	return t.write(ctx, of, condition.Fired, news)
}

// historyDays are the days that a forecast of today is made from.
func historyDays(today time.Time) []time.Time {
	days := make([]time.Time, 0, condition.HistoryDays+1)
	for back := range condition.HistoryDays + 1 {
		days = append(days, today.AddDate(0, 0, -back))
	}
	return days
}

// histories returns what the next forecasts are made from, and moves the cursor on.
func (t *turn) histories(ctx context.Context, of *condition.Alert, period domain.Period) ([]*historyRow, error) {
	today := t.at.Truncate(24 * time.Hour)
	days := historyDays(today)
	company, connected := t.company.CompanyID, t.at.AddDate(0, 0, -condition.MinHistory)
	if of.RuleType == domain.RuleGroup {
		return pg.SelectAll[historyRow](ctx, t.pool, historyOfGroup, company, of.AlertID, period.Start, pq.Array(days), connected, of.Revision, of.GroupID)
	}
	statement, target := historyOfFleet, (*int64)(nil)
	switch of.RuleType {
	case domain.RuleSIM:
		statement, target = historyOfSubscriber, of.SubscriberKey
	case domain.RuleGroupMember:
		statement, target = historyOfMembers, of.GroupID
	case domain.RuleCompany, domain.RuleGroup:
	}
	cursor, err := pg.SelectValues[int64](ctx, t.pool, findCursor, company, of.AlertID)
	if err != nil || len(cursor) == 0 {
		return nil, err
	}
	rows, err := pg.SelectAll[historyRow](ctx, t.pool, statement, company, of.AlertID, period.Start, pq.Array(days), connected, cursor[0], of.Revision, t.forecastsAtOnce, target)
	if err != nil {
		return nil, err
	}
	next := int64(0)
	if len(rows) == t.forecastsAtOnce {
		next = rows[len(rows)-1].Subject
	}
	if next != cursor[0] {
		_, err = pg.Affected(ctx, t.pool, moveCursor, company, of.AlertID, next)
	}
	return rows, err
}
