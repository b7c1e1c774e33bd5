package condition

import (
	"context"
	"slices"
	"time"

	"github.com/lib/pq"

	"simgraph/db/companies"
	"simgraph/db/pg"
	"simgraph/db/volume"
	"simgraph/domain"
	"simgraph/domain/condition"
)

const (
	// previewed are the subscribers of a preview, one more than it looks at.
	previewed = `
SELECT s.key, s.connection_date AS connected_at
FROM subscribers s
WHERE s.company_id = $1 AND ($2::bigint IS NULL OR s.key = $2) AND ($3::bigint IS NULL OR s.group_id = $3) AND `
	lastPreviewed   = ` ORDER BY s.key LIMIT $4`
	previewedAll    = previewed + `true` + lastPreviewed
	previewedActive = previewed + isInUse + lastPreviewed

	// pastSilences are the spans longer than $6 hours in which none of the subscribers $3,
	// or of the one group of them where $7, was seen, which they were long enough for between
	// $5 and $8. They are looked for since the day $2. Subscribers are seen when they are
	// connected ($4), for the hours of usage up to its last record, and while sessions report.
	pastSilences = `
WITH seen AS (
  SELECT d.subscriber_key, d.day::timestamp AT TIME ZONE 'UTC' + make_interval(hours => c.hour) AS since, to_timestamp(max(c.last_seen)) AS until
  FROM subscriber_days d
  CROSS JOIN LATERAL usage_cells(d.cells) AS c
  WHERE d.company_id = $1 AND d.day >= $2::date AND d.subscriber_key = ANY($3) AND c.last_seen > 0
  GROUP BY d.subscriber_key, d.day, c.hour
  UNION ALL
  SELECT n.subscriber_key, n.began_at, n.as_of
  FROM sessions n
  WHERE n.company_id = $1 AND n.subscriber_key = ANY($3) AND n.as_of >= $2::date
  UNION ALL
  SELECT c.key, e.at, e.at
  FROM unnest($3::bigint[], $4::timestamptz[]) AS c(key, connected_at)
  CROSS JOIN LATERAL (VALUES (c.connected_at), ($8::timestamptz)) AS e(at)
), spans AS (
  SELECT CASE WHEN $7 THEN 0 ELSE s.subscriber_key END AS subject, s.since, s.until
  FROM seen s
  WHERE s.since <= $8
), gaps AS (
  SELECT s.subject, s.since AS until,
    max(s.until) OVER (PARTITION BY s.subject ORDER BY s.since, s.until ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS since
  FROM spans s
)
SELECT g.subject, g.since, g.since + make_interval(hours => $6) AS at, 0::bigint AS value
FROM gaps g
WHERE g.until > g.since + make_interval(hours => $6) AND g.since + make_interval(hours => $6) >= $5
ORDER BY g.subject, g.since`

	pastStorms = `
SELECT d.subscriber_key AS subject, d.day::timestamp AT TIME ZONE 'UTC' + make_interval(hours => c.hour) AS since, sum(c.sessions)::bigint AS value
FROM subscriber_days d
CROSS JOIN LATERAL usage_cells(d.cells) AS c
WHERE d.company_id = $1 AND d.subscriber_key = ANY($2) AND d.day >= $3::date AND d.sessions > 0
GROUP BY d.subscriber_key, d.day, c.hour
HAVING sum(c.sessions) > $4
ORDER BY 1, 2`
	pastGroupStorms = `
SELECT g.group_id AS subject, g.hour AS since, g.sessions AS value
FROM group_sessions g
WHERE g.company_id = $1 AND g.group_id = $2 AND g.hour >= $3 AND g.sessions > $4
ORDER BY g.hour`

	pastUsage = `
SELECT d.subscriber_key AS subject, array_agg(date_part('epoch', d.day)::bigint) AS days, array_agg(d.mobile_originated + d.mobile_terminated) AS bytes
FROM subscriber_days d
WHERE d.company_id = $1 AND d.subscriber_key = ANY($2) AND d.day >= $3::date
GROUP BY d.subscriber_key
ORDER BY d.subscriber_key`
	pastGroupUsage = `
SELECT b.subject, array_agg(date_part('epoch', b.day)::bigint) AS days, array_agg(b.bytes) AS bytes, min(b.first) AS connected_at
FROM (
  SELECT h.group_id AS subject, (h.hour AT TIME ZONE 'UTC')::date AS day, sum(h.mobile_originated + h.mobile_terminated)::bigint AS bytes,
    (SELECT min(f.hour) FROM group_hours f WHERE f.company_id = $1 AND f.group_id = $2) AS first
  FROM group_hours h
  WHERE h.company_id = $1 AND h.group_id = $2 AND h.hour >= $3
  GROUP BY 1, 2
) b
GROUP BY b.subject`

	// pastReports are what was stated of sessions, in the order of booking. What is as the
	// one before changes nothing that is known. $3 bounds them.
	pastReports = `
SELECT p.subscriber_key, p.at, p.apn, p.imei, p.address, p.network, p.protocol
FROM (
  SELECT v.subscriber_key, v.place, v.as_of AS at, v.apn, v.imei, v.address, v.network, v.protocol,
    (v.apn, v.imei, v.address, v.network, v.protocol) IS NOT DISTINCT FROM (lag(v.apn) OVER w, lag(v.imei) OVER w, lag(v.address) OVER w,
      lag(v.network) OVER w, lag(v.protocol) OVER w) AS is_known
  FROM session_values v
  WHERE v.company_id = $1 AND v.subscriber_key = ANY($2)
  WINDOW w AS (PARTITION BY v.subscriber_key ORDER BY v.place)
) p
WHERE NOT p.is_known
ORDER BY p.subscriber_key, p.place
LIMIT $3`
	maxReports = 250_000
)

// preview is a look at the past of one company.
type preview struct {
	*Store
	company     *domain.Company
	spec        condition.Spec
	group       *int64
	keys        pq.Int64Array
	connected   []time.Time
	from, until time.Time
	// isSample is set where not all subscribers are looked at.
	isSample bool
}

// Preview implements condition.Alerts.
func (s *Store) Preview(ctx context.Context, scope domain.Scope, spec condition.Spec, days int) (*condition.Preview, error) {
	if err := spec.Check(); err != nil {
		return nil, err
	}
	if spec.Kind == condition.SourceSilent {
		return nil, domain.Invalid("sourceSilentMinutes", "it is not kept when sources were silent: an alert on them has no preview")
	}
	if days < 1 || days > condition.MaxPreviewDays {
		return nil, domain.Invalid("days", "days must be 1 to %d, not %d", condition.MaxPreviewDays, days)
	}
	target, err := volume.FindTarget(ctx, s.pool, scope, spec.RuleType, spec.Target)
	if err != nil {
		return nil, err
	}
	company, err := companies.Find(ctx, s.pool, scope.Company)
	if err != nil {
		return nil, err
	}
	at := s.moment()
	p := &preview{Store: s, company: company, spec: spec, group: target.GroupID, from: at.AddDate(0, 0, -days), until: at}
	if err := p.subscribers(ctx, target); err != nil {
		return nil, err
	}
	entries, err := p.entries(ctx)
	if err != nil {
		return nil, err
	}
	found := condition.NewPreview(entries, company.Billing().Zone, p.from, p.until)
	found.Subscribers, found.IsSample = len(p.keys), p.isSample
	return found, nil
}

// subscribers finds who is looked at.
func (p *preview) subscribers(ctx context.Context, target volume.Target) error {
	statement := previewedAll
	if p.spec.Kind == condition.Silent || p.spec.Kind == condition.Forecast {
		statement = previewedActive
	}
	type row struct {
		Key         int64
		ConnectedAt time.Time
	}
	rows, err := pg.SelectValues[row](ctx, p.pool, statement, p.company.CompanyID, target.SubscriberKey, target.GroupID, condition.MaxPreviewed+1)
	p.isSample = len(rows) > condition.MaxPreviewed
	for _, r := range rows[:min(len(rows), condition.MaxPreviewed)] {
		p.keys, p.connected = append(p.keys, r.Key), append(p.connected, r.ConnectedAt)
	}
	return err
}

func (p *preview) entries(ctx context.Context) ([]*condition.Entry, error) {
	switch p.spec.Kind {
	case condition.Silent:
		return p.silences(ctx)
	case condition.Storm:
		return p.storms(ctx)
	case condition.Forecast:
		return p.forecasts(ctx)
	case condition.Change:
		return p.changes(ctx)
	case condition.SourceSilent:
	}
	return nil, nil
}

// entry is one of the subject, a subscriber or the group.
func (p *preview) entry(subject int64, since, at time.Time) *condition.Entry {
	e := &condition.Entry{Kind: p.spec.Kind, State: condition.Fired, RuleType: p.spec.RuleType, Bound: p.spec.Bound, Since: since, DateCreated: at}
	if p.spec.RuleType == domain.RuleGroup {
		e.GroupID = p.group
	} else {
		e.SubscriberKey = &subject
	}
	return e
}

type pastRow struct {
	Subject   int64
	Since, At time.Time
	Value     int64
}

func (p *preview) silences(ctx context.Context) ([]*condition.Entry, error) {
	since := p.from.Add(-time.Duration(p.spec.Bound)*time.Hour - 24*time.Hour)
	rows, err := pg.SelectValues[pastRow](ctx, p.pool, pastSilences, p.company.CompanyID, since, p.keys, pq.Array(p.connected), p.from, p.spec.Bound,
		p.spec.RuleType == domain.RuleGroup, p.until)
	return pg.Pluck(rows, func(r pastRow) *condition.Entry { return p.entry(r.Subject, r.Since, r.At) }), err
}

func (p *preview) storms(ctx context.Context) (entries []*condition.Entry, err error) {
	statement, of := pastStorms, any(p.keys)
	if p.spec.RuleType == domain.RuleGroup {
		statement, of = pastGroupStorms, p.group
	}
	rows, err := pg.SelectValues[pastRow](ctx, p.pool, statement, p.company.CompanyID, of, p.from, p.spec.Bound)
	for _, r := range rows {
		if r.Since.Before(p.from) || !r.Since.Before(p.until) {
			continue
		}
		e := p.entry(r.Subject, r.Since, r.Since)
		e.Value = r.Value
		entries = append(entries, e)
	}
	return entries, err
}

func (p *preview) forecasts(ctx context.Context) (entries []*condition.Entry, err error) {
	type row struct {
		Subject     int64
		Days, Bytes pq.Int64Array
		ConnectedAt *time.Time
	}
	statement, of := pastUsage, any(p.keys)
	if p.spec.RuleType == domain.RuleGroup {
		statement, of = pastGroupUsage, p.group
	}
	billing := p.company.Billing()
	since := billing.PeriodAt(p.from).Start.Truncate(24 * time.Hour)
	if history := p.from.AddDate(0, 0, -condition.HistoryDays-1); history.Before(since) {
		since = history
	}
	rows, err := pg.SelectAll[row](ctx, p.pool, statement, p.company.CompanyID, of, since)
	connected := make(map[int64]time.Time, len(p.keys))
	for i, key := range p.keys {
		connected[key] = p.connected[i]
	}
	for _, r := range rows {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		usage := condition.PastUsage{Days: make(map[int64]int64, len(r.Days)), ConnectedAt: connected[r.Subject]}
		if r.ConnectedAt != nil {
			usage.ConnectedAt = *r.ConnectedAt
		}
		for i, day := range r.Days {
			usage.Days[day] += r.Bytes[i]
		}
		for _, f := range usage.Forecasts(billing, p.spec.Bound, p.from, p.until) {
			e := p.entry(r.Subject, f.Period.Start, f.At)
			e.Value = f.Total
			entries = append(entries, e)
		}
	}
	return entries, err
}

func (p *preview) changes(ctx context.Context) (entries []*condition.Entry, err error) {
	changes, n, last := condition.NewTraitChanges(p.spec.Traits, p.from), 0, int64(0)
	err = pg.EachRow(ctx, p.pool, pastReports, []any{p.company.CompanyID, p.keys, p.maxReports}, func(r condition.Report) error {
		n, last = n+1, r.SubscriberKey
		for _, c := range changes.Learn(&r) {
			e := p.entry(c.SubscriberKey, c.At, c.At)
			e.Trait, e.Before, e.After = c.Trait, c.Before, c.After
			entries = append(entries, e)
		}
		return nil
	})
	if n == p.maxReports && err == nil {
		return p.leaveOut(entries, last), nil
	}
	return entries, err
}

// leaveOut makes the preview a sample: a subscriber of which not all was read, and those
// after it, are not looked at.
func (p *preview) leaveOut(entries []*condition.Entry, from int64) []*condition.Entry {
	at, _ := slices.BinarySearch(p.keys, from)
	p.keys, p.isSample = p.keys[:at], true
	return slices.DeleteFunc(entries, func(e *condition.Entry) bool { return *e.SubscriberKey >= from })
}
