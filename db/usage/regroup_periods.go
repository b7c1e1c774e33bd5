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
	hours := HoursOf(p, r.ledger)
	rebuilt := &rebuild{company: r.company.CompanyID}
	return rebuilt.correct(r.ctx, r.tx, []derivation{groupPeriods}, p.Start, r.groupIDs(), hours.From, hours.Until,
		TimeArray(pg.Pluck(hours.Edges, func(e domain.Period) time.Time { return e.Start })),
		TimeArray(pg.Pluck(hours.Edges, func(e domain.Period) time.Time { return e.End })))
}

// PeriodHours are the hours of a billing period.
type PeriodHours struct {
	// From and Until bound the hours that count wholly.
	From, Until time.Time
	// Edges are the parts of other hours, of which the ledger has the records.
	Edges []domain.Period
}

// HoursOf returns the hours of a billing period, for a ledger that begins at a
// time: an hour before that counts for the period in which it begins.
func HoursOf(p domain.Period, ledger time.Time) PeriodHours {
	h := PeriodHours{From: wholeHour(p.Start), Until: p.End.Truncate(time.Hour)}
	if p.Start.Before(h.From) && !p.Start.Before(ledger) {
		h.Edges = append(h.Edges, domain.Period{Start: p.Start, End: h.From})
	}
	switch {
	case h.Until.Equal(p.End):
	case h.Until.Before(ledger):
		h.Until = wholeHour(p.End)
	default:
		h.Edges = append(h.Edges, domain.Period{Start: h.Until, End: p.End})
	}
	return h
}

// wholeHour returns the first hour that begins at t or later.
func wholeHour(t time.Time) time.Time {
	return t.Add(time.Hour - time.Nanosecond).Truncate(time.Hour)
}
