package usage

import (
	"time"

	"simgraph/db/pg"
	"simgraph/domain"
)

// groupPeriods are the billing periods of groups ($3) from $2 on, from the hours
// that lie wholly in the period ($4 to $5) and the records of those that do not
// ($6 to $7): where a zone is no whole hours from UTC, two periods share an hour.
var groupPeriods = derivation{
	table: "group_periods", keys: []string{"period_start", "group_id"}, values: volumes,
	within: "t.period_start = $2 AND t.group_id = ANY($3)" + nonzero,
	with: `
edge AS (
  SELECT r.subscriber_key, r.started_at, r.mobile_originated, r.mobile_terminated
  FROM unnest($6::timestamptz[], $7::timestamptz[]) AS e(since, until)
  JOIN usage_records r ON r.company_id = $1 AND r.started_at >= e.since AND r.started_at < e.until
), ` + SpansOfKnown + " AND k.subscriber_key IN (SELECT subscriber_key FROM edge)" + SpansOf +
		" AND m.subscriber_key IN (SELECT subscriber_key FROM edge)" + SpansInOrder + `, used AS (
  SELECT h.group_id, h.mobile_originated, h.mobile_terminated
  FROM group_hours h
  WHERE h.company_id = $1 AND h.group_id = ANY($3::bigint[]) AND h.hour >= $4::timestamptz AND h.hour < $5::timestamptz
  UNION ALL
  SELECT s.group_id, r.mobile_originated, r.mobile_terminated
  FROM edge r
  JOIN span s ON s.subscriber_key = r.subscriber_key AND r.started_at >= s.since AND r.started_at < s.until
  WHERE s.group_id = ANY($3)
), `,
	derived: "SELECT $2::timestamptz AS period_start, group_id, " + volumeSums + " FROM used GROUP BY group_id" + havingVolume,
}

// sumUp derives the totals of the groups in a billing period.
func (r *regrouping) sumUp(p domain.Period) error {
	hours := domain.HoursOf(p, r.ledger)
	rebuilt := &rebuild{company: r.company.CompanyID}
	return rebuilt.correct(r.ctx, r.tx, []derivation{groupPeriods}, p.Start, r.groupIDs(), hours.From, hours.Until,
		TimeArray(pg.Pluck(hours.Edges, func(e domain.Period) time.Time { return e.Start })),
		TimeArray(pg.Pluck(hours.Edges, func(e domain.Period) time.Time { return e.End })))
}
