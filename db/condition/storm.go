package condition

import (
	"context"
	"time"

	"github.com/lib/pq"

	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/condition"
)

const (
	// stormsOf are the hours of the days $3 that ended after $4 in which a subscriber
	// began more than $5 sessions, but for those that the revision $8 has noticed. Only days
	// with as many are unpacked.
	stormsOf = `
SELECT h.subscriber_key, h.since, h.value
FROM (
  SELECT d.subscriber_key, d.day::timestamp AT TIME ZONE 'UTC' + make_interval(hours => c.hour) AS since, sum(c.sessions)::bigint AS value
  FROM (
    SELECT t.subscriber_key, t.day
    FROM subscriber_days t
    JOIN subscribers s ON s.company_id = $1 AND s.key = t.subscriber_key AND `
	stormHours = `
    WHERE t.company_id = $1 AND t.day = ANY($3::date[])
    GROUP BY t.subscriber_key, t.day
    HAVING sum(t.sessions) > $5
  ) b
  JOIN subscriber_days d ON d.company_id = $1 AND d.day = b.day AND d.subscriber_key = b.subscriber_key
  CROSS JOIN LATERAL usage_cells(d.cells) AS c
  GROUP BY d.subscriber_key, d.day, c.hour
  HAVING sum(c.sessions) > $5
) h
WHERE h.since > $4::timestamptz - make_interval(hours => 1) AND NOT EXISTS (
  SELECT FROM condition_log o
  WHERE o.company_id = $1 AND o.alert_id = $2 AND o.revision = $8 AND o.subject_id = h.subscriber_key AND o.since = h.since)
ORDER BY h.since, h.subscriber_key
LIMIT $6`
	stormsOfSubscriber = stormsOf + `s.key = $7` + stormHours
	stormsOfMembers    = stormsOf + `s.group_id = $7` + stormHours
	stormsOfFleet      = stormsOf + `$7::bigint IS NULL` + stormHours
	stormsOfGroup      = `
SELECT g.group_id, g.hour AS since, g.sessions AS value
FROM group_sessions g
WHERE g.company_id = $1 AND g.group_id = $7 AND g.hour >= (SELECT min(d)::timestamp AT TIME ZONE 'UTC' FROM unnest($3::date[]) AS d)
  AND g.hour < (SELECT (max(d) + 1)::timestamp AT TIME ZONE 'UTC' FROM unnest($3::date[]) AS d)
  AND g.hour > $4::timestamptz - make_interval(hours => 1) AND g.sessions > $5 AND NOT EXISTS (
    SELECT FROM condition_log o
    WHERE o.company_id = $1 AND o.alert_id = $2 AND o.revision = $8 AND o.subject_id = g.group_id AND o.since = g.hour)
ORDER BY g.hour
LIMIT $6`
)

// storm fires for the hours of today and yesterday (UTC) with too many sessions.
func (t *turn) storm(ctx context.Context, of *condition.Alert) error {
	statement, target := stormsOfFleet, (*int64)(nil)
	switch of.RuleType {
	case domain.RuleSIM:
		statement, target = stormsOfSubscriber, of.SubscriberKey
	case domain.RuleGroup:
		statement, target = stormsOfGroup, of.GroupID
	case domain.RuleGroupMember:
		statement, target = stormsOfMembers, of.GroupID
	case domain.RuleCompany:
	}
	today := t.at.Truncate(24 * time.Hour)
	days := pq.Array([]time.Time{today.AddDate(0, 0, -1), today})
	storms, err := pg.SelectAll[found](ctx, t.pool, statement, t.company.CompanyID, of.AlertID, days, of.ArmedAt, of.Bound, t.entriesAtOnce, target, of.Revision)
	if err != nil {
		return err
	}
	if err := t.write(ctx, of, condition.Fired, storms); err != nil || len(storms) < t.entriesAtOnce {
		return err
	}
	return t.more(ctx)
}
