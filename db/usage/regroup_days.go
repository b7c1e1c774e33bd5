package usage

import (
	"time"

	"github.com/lib/pq"

	"simgraph/db/pg"
	"simgraph/domain"
)

// misplacedDays selects the days of subscribers ($4) in a span of time ($2 to
// $3) that are booked to another group than they belong to, and those in which
// there is more than one group. A subscriber's days are looked up one by one:
// the key of the table begins with the day.
const misplacedDays = `
WITH ` + spansOfSome + `, booked AS (
  SELECT on_day AS began, n.subscriber_key, min(d.group_id) AS group_id, count(*) AS parts
  FROM unnest($4::bigint[]) AS n(subscriber_key)
  CROSS JOIN generate_series($2::timestamptz, $3::timestamptz - interval '24 hours', interval '24 hours') AS on_day
  CROSS JOIN LATERAL (
    SELECT d.group_id
    FROM subscriber_days d
    WHERE d.company_id = $1 AND d.day = (on_day AT TIME ZONE 'UTC')::date AND d.subscriber_key = n.subscriber_key
    OFFSET 0
  ) d
  GROUP BY on_day, n.subscriber_key
), placed AS (
  SELECT b.*, count(DISTINCT s.group_id) AS groups, coalesce(min(s.group_id), 0) AS belongs_to
  FROM booked b
  LEFT JOIN span s ON s.subscriber_key = b.subscriber_key AND s.since < b.began + interval '24 hours' AND s.until > b.began
  GROUP BY b.began, b.subscriber_key, b.group_id, b.parts
)
SELECT (began AT TIME ZONE 'UTC')::date - DATE 'epoch' AS day, subscriber_key, group_id, belongs_to, parts > 1 OR groups > 1 AS is_shared
FROM placed
WHERE parts > 1 OR groups > 1 OR group_id <> belongs_to
ORDER BY day, subscriber_key`

// misplacedDay is a day of a subscriber that is booked anew.
type misplacedDay struct {
	Day           int64
	SubscriberKey int64
	// GroupID is what the day is booked to, BelongsTo what it belongs to.
	GroupID, BelongsTo int64
	// IsShared reports that there is more than one group of either.
	IsShared bool
}

// days books the days of subscribers to the groups that they belong to, and
// what that changes to the hours of the groups.
func (r *regrouping) days(from time.Time, subscribers pq.Int64Array) error {
	if !from.Before(r.until) {
		return nil
	}
	days, err := pg.SelectAll[misplacedDay](r.ctx, r.tx, misplacedDays, r.company.CompanyID, from, r.until, subscribers)
	if err != nil || len(days) == 0 {
		return err
	}
	b := domain.NewBooking(r.company.Billing(), nil)
	for _, step := range []func() error{
		func() error { return r.addCells(b, days, -1) },
		func() error { return r.rekey(days) },
		func() error { return r.derive(days) },
		func() error { return r.addCells(b, days, +1) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	b.DropZeros()
	w := totalsWriter{ctx: r.ctx, tx: r.tx, company: r.company.CompanyID, Booking: b}
	_, _, err = w.write()
	return err
}

// cellsOfDays adds up the cells of days by group; those without a group count
// for none.
const cellsOfDays = `
SELECT d.group_id, 24 * n.day::bigint + c.hour AS hour, coalesce(p.name, '') AS protocol, sum(c.mobile_originated)::bigint AS originated,
  sum(c.mobile_terminated)::bigint AS terminated, sum(c.sessions)::bigint AS sessions
FROM unnest($2::integer[], $3::bigint[]) AS n(day, subscriber_key)
CROSS JOIN LATERAL (
  SELECT d.group_id, d.cells
  FROM subscriber_days d
  WHERE d.company_id = $1 AND d.day = DATE 'epoch' + n.day AND d.subscriber_key = n.subscriber_key AND d.group_id <> 0
  OFFSET 0
) d
CROSS JOIN LATERAL usage_cells(d.cells) AS c
LEFT JOIN usage_protocols p ON p.company_id = $1 AND p.protocol_id = c.protocol_id
GROUP BY d.group_id, n.day, c.hour, p.name`

// addCells adds what is booked to the days, as often as times says.
func (r *regrouping) addCells(b *domain.Booking, days []*misplacedDay, times int64) error {
	type row struct {
		GroupID, Hour                    int64
		Protocol                         string
		Originated, Terminated, Sessions int64
	}
	dates, subscribers, _, _ := misplacedColumns(days)
	return pg.EachRow(r.ctx, r.tx, cellsOfDays, []any{r.company.CompanyID, dates, subscribers}, func(c row) error {
		r.groups[c.GroupID] = true
		key := domain.HourKey{Group: c.GroupID, Hour: c.Hour, Protocol: c.Protocol}
		b.AddGroupCell(domain.GroupCell{HourKey: key, Volume: domain.Volume{MobileOriginated: c.Originated, MobileTerminated: c.Terminated}, Sessions: c.Sessions}, times)
		return nil
	})
}

const rekeyDays = `
WITH moved AS (
  SELECT DATE 'epoch' + n.day AS day, n.subscriber_key, n.group_id, n.belongs_to
  FROM unnest($2::integer[], $3::bigint[], $4::bigint[], $5::bigint[]) AS n(day, subscriber_key, group_id, belongs_to)
), addresses AS (
  UPDATE ip_days d
  SET group_id = m.belongs_to
  FROM moved m
  WHERE d.company_id = $1 AND d.day = m.day AND d.subscriber_key = m.subscriber_key AND d.group_id = m.group_id
)
UPDATE subscriber_days d
SET group_id = m.belongs_to
FROM moved m
WHERE d.company_id = $1 AND d.day = m.day AND d.subscriber_key = m.subscriber_key AND d.group_id = m.group_id`

// rekey gives whole days to another group.
func (r *regrouping) rekey(days []*misplacedDay) error {
	var whole []*misplacedDay
	for _, d := range days {
		if !d.IsShared {
			whole = append(whole, d)
		}
	}
	if len(whole) == 0 {
		return nil
	}
	dates, subscribers, groups, belong := misplacedColumns(whole)
	_, err := r.tx.ExecContext(r.ctx, rekeyDays, r.company.CompanyID, dates, subscribers, groups, belong)
	return err
}

// derive books days with more than one group from the ledger.
func (r *regrouping) derive(days []*misplacedDay) error {
	shared := map[int64]pq.Int64Array{}
	for _, d := range days {
		if d.IsShared {
			shared[d.Day] = append(shared[d.Day], d.SubscriberKey)
		}
	}
	rebuilt := &rebuild{company: r.company.CompanyID}
	for _, day := range ordered(shared, func(x, y int64) int { return int(x - y) }) {
		began := time.Unix(day*hoursOfDay*secondsOfHour, 0).UTC()
		err := rebuilt.correct(r.ctx, r.tx, []derivation{subscriberDays.ofSome(), addressDays.ofSome()}, began, began.AddDate(0, 0, 1), shared[day])
		if err != nil {
			return err
		}
	}
	return nil
}

func misplacedColumns(days []*misplacedDay) (dates, subscribers, groups, belong any) {
	return intArray(days, func(d *misplacedDay) int64 { return d.Day }), intArray(days, func(d *misplacedDay) int64 { return d.SubscriberKey }),
		intArray(days, func(d *misplacedDay) int64 { return d.GroupID }), intArray(days, func(d *misplacedDay) int64 { return d.BelongsTo })
}
