package usage

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"

	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/ascii"
)

// Analytics answers questions about usage from the totals in PostgreSQL.
type Analytics struct {
	pool *sqlx.DB
	// usage returns where the ledger begins.
	usage *Store
}

var _ domain.Analytics = (*Analytics)(nil)

// NewAnalytics returns the store on the pool of the usage.
func NewAnalytics(usage *Store) *Analytics { return &Analytics{usage.pool, usage} }

// usageQuery is a statement under construction, about the usage of subjects of
// one kind. For a company or groups, rows stand ready by the
// hour; all else is added up over subscribers: the members of the subjects.
// Subjects have numbers, which are their places in of.
type usageQuery struct {
	*parameters
	scope domain.Scope
	of    []domain.Subject
	span  domain.Range
	// places are the parameters that stand in the text already, by name.
	places map[string]string
}

func newUsageQuery(scope domain.Scope, of []domain.Subject, span domain.Range) *usageQuery {
	q := &usageQuery{parameters: &parameters{}, scope: scope, of: of, span: span, places: map[string]string{}}
	q.own("company") // $1, as in all statements
	return q
}

// during is the query about another span, in the same statement.
func (q *usageQuery) during(span domain.Range) *usageQuery {
	other := *q
	other.span, other.places = span, maps.Clone(q.places)
	delete(other.places, "start")
	delete(other.places, "end")
	return &other
}

// kind is that of all the subjects.
func (q *usageQuery) kind() domain.SubjectKind { return q.of[0].Kind }

// isWhole reports whether every subscriber is meant.
func (q *usageQuery) isWhole() bool {
	return q.kind() == domain.CompanySubject && !q.scope.Restricted()
}

// hasHours reports whether the usage of the subjects stands ready by the hour.
func (q *usageQuery) hasHours() bool { return q.isWhole() || q.kind() == domain.GroupSubject }

// fill replaces names in braces: those given, and {company}, {scope}, {subjects},
// {start} and {end} by parameters, which the statement has only where it names
// them. {visible} holds for a subscriber s that the scope shows, {shown} and
// {shownGroup} for a group n or g that it shows.
func (q *usageQuery) fill(sql string, values ...string) string {
	return pg.FillBy(sql, func(name string) (string, bool) {
		if value, named := pg.ValueOf(name, values); named {
			return value, true
		}
		return q.own(name)
	})
}

func (q *usageQuery) own(name string) (text string, named bool) {
	switch name {
	case "company":
		return q.once(name, "bigint", q.scope.Company), true
	case "scope":
		return q.once(name, "bigint[]", pg.GroupsOf(q.scope)), true
	case "start":
		return q.once(name, "timestamptz", q.span.Start), true
	case "end":
		return q.once(name, "timestamptz", q.span.End), true
	case "subjects":
		if q.kind() == domain.TagSubject {
			return q.once(name, "text[]", textArray(q.of, func(s domain.Subject) string { return string(s.Tag) })), true
		}
		return q.once(name, "bigint[]", intArray(q.of, func(s domain.Subject) int64 { return s.ID })), true
	case "visible":
		return q.whereRestricted("s.group_id = ANY({scope})"), true
	case "shown":
		return q.whereRestricted("n.id = ANY({scope})"), true
	case "shownGroup":
		return q.whereRestricted("g.group_id = ANY({scope})"), true
	}
	return "", false
}

// whereRestricted is the condition where the scope shows only some groups.
func (q *usageQuery) whereRestricted(condition string) string {
	if !q.scope.Restricted() {
		return "true"
	}
	return q.fill(condition)
}

// once is the parameter of that name, added at its first use.
func (q *usageQuery) once(name, sqlType string, value any) string {
	if q.places[name] == "" {
		q.places[name] = q.arg(value, sqlType)
	}
	return q.places[name]
}

// parameters are those of a statement.
type parameters struct{ args []any }

func (p *parameters) arg(value any, sqlType string) string {
	p.args = append(p.args, value)
	return fmt.Sprintf("$%d::%s", len(p.args), sqlType)
}

// The members of subjects: the visible subscribers whose usage makes theirs up.
// A group's are all that ever were in it, as far as the scope shows them now
// where they are to be named. Only a restricted scope has to look at subscribers.
const (
	subscriberMembers = `
SELECT n.place AS subject, n.id AS subscriber_key
FROM unnest({subjects}) WITH ORDINALITY AS n(id, place)`
	visibleSubscriberMembers = subscriberMembers + `
JOIN subscribers s ON s.company_id = {company} AND s.key = n.id
WHERE {visible}`
	companyMembers = `
SELECT 1::bigint AS subject, s.key AS subscriber_key
FROM subscribers s
WHERE s.company_id = {company} AND {visible}`
	tagMembers = `
SELECT n.place AS subject, t.subscriber_key
FROM unnest({subjects}) WITH ORDINALITY AS n(name, place)
JOIN subscriber_tags t ON t.company_id = {company} AND t.tag_name = n.name`
	visibleTagMembers = tagMembers + `
JOIN subscribers s ON s.company_id = {company} AND s.key = t.subscriber_key
WHERE {visible}`
	groupMembers = `
SELECT DISTINCT n.place AS subject, m.subscriber_key, n.id AS group_id
FROM unnest({subjects}) WITH ORDINALITY AS n(id, place)
JOIN group_memberships m ON m.company_id = {company} AND m.group_id = n.id
WHERE {shown}`
)

func (q *usageQuery) members() string {
	switch kind := q.kind(); {
	case kind == domain.CompanySubject:
		return q.fill(companyMembers)
	case kind == domain.GroupSubject:
		return q.fill(groupMembers)
	case kind == domain.TagSubject && q.scope.Restricted():
		return q.fill(visibleTagMembers)
	case kind == domain.TagSubject:
		return q.fill(tagMembers)
	case q.scope.Restricted():
		return q.fill(visibleSubscriberMembers)
	}
	return q.fill(subscriberMembers)
}

// days returns what a statement reads, and on which condition, over the rows d
// of a table by day that belong to the subjects on some days. The row m has the
// subject.
func (q *usageQuery) days(table string, days []time.Time) (from, where string) {
	dates := q.arg(TimeArray(days), "date[]")
	if q.isWhole() {
		return q.fill(`
FROM (SELECT 1::bigint AS subject) AS m
JOIN {table} d ON d.company_id = {company} AND d.day = ANY({dates})`, "table", table, "dates", dates), "true"
	}
	from = q.fill(`
FROM ({members}) m
CROSS JOIN unnest({dates}) AS w(day)
JOIN {table} d ON d.company_id = {company} AND d.day = w.day AND d.subscriber_key = m.subscriber_key`,
		"members", q.members(), "table", table, "dates", dates)
	if q.kind() == domain.GroupSubject {
		return from, "d.group_id = m.group_id"
	}
	return from, "true"
}

// cells is days over the hours of subscriber_days within the span, as rows c
// that began at their hour. more is joined to them.
func (q *usageQuery) cells(days []time.Time, more string) string {
	from, where := q.days("subscriber_days", days)
	return q.fill(`{from}
CROSS JOIN LATERAL (
  SELECT c.*, (d.day + make_interval(hours => c.hour)) AT TIME ZONE 'UTC' AS began
  FROM usage_cells(d.cells) AS c
) AS c{more}
WHERE {where} AND 24 * (d.day - DATE 'epoch') + c.hour >= {first} AND 24 * (d.day - DATE 'epoch') + c.hour < {last}`,
		"from", from, "where", where, "more", more, "first", q.hourFrom(q.span.Start), "last", q.hourFrom(q.span.End))
}

// hourFrom is the first hour that begins at a time or after it, counted from the
// Unix epoch: to compare numbers costs a tenth of making times of them.
func (q *usageQuery) hourFrom(at time.Time) string { return q.arg(hourOnOrAfter(at), "bigint") }

func hourOnOrAfter(at time.Time) int64 {
	hour := at.Unix() / secondsOfHour
	if at.After(time.Unix(hour*secondsOfHour, 0)) {
		hour++
	}
	return hour
}

// hours selects subject, hour, volumes and sessions by the hour, of the measures.
func (q *usageQuery) hours(measures domain.Measures) string {
	if !q.hasHours() {
		return `
SELECT m.subject, c.began AS hour, c.mobile_originated, c.mobile_terminated, c.sessions` + q.cells(daysOf(q.span), "")
	}
	volumes, sessions := groupVolumes, groupSessions
	switch {
	case q.isWhole() && measures == domain.Volumes|domain.SessionSteps:
		return q.fill(companySteps)
	case q.isWhole():
		volumes, sessions = companyVolumes, companySessions
	}
	var parts []string
	if measures.Has(domain.Volumes) {
		parts = append(parts, volumes)
	}
	if measures.Has(domain.SessionCounts | domain.SessionSteps) {
		parts = append(parts, sessions)
	}
	return q.fill(strings.Join(parts, "\nUNION ALL"))
}

// A company is one subject; a constant in its place leaves the rows in the order
// of the index.
const (
	companyVolumes = `
SELECT 1::bigint AS subject, h.hour, h.mobile_originated, h.mobile_terminated, 0::bigint AS sessions
FROM company_hours h
WHERE h.company_id = {company} AND h.hour >= {start} AND h.hour < {end}`
	companySessions = `
SELECT 1::bigint AS subject, h.hour, 0::bigint AS mobile_originated, 0::bigint AS mobile_terminated, h.sessions
FROM company_sessions h
WHERE h.company_id = {company} AND h.hour >= {start} AND h.hour < {end}`
	// Each hour in which a session began has a row of its record here, perhaps of no volume.
	companySteps = `
SELECT 1::bigint AS subject, h.hour, h.mobile_originated, h.mobile_terminated, CASE WHEN h.mobile_originated = 0 AND h.mobile_terminated = 0 THEN
  coalesce((SELECT s.sessions FROM company_sessions s WHERE s.company_id = {company} AND s.hour = h.hour), 0) ELSE 0 END AS sessions
FROM company_hours h
WHERE h.company_id = {company} AND h.hour >= {start} AND h.hour < {end}`
	groupVolumes = `
SELECT n.place AS subject, h.hour, h.mobile_originated, h.mobile_terminated, 0::bigint AS sessions
FROM unnest({subjects}) WITH ORDINALITY AS n(id, place)
JOIN group_hours h ON h.company_id = {company} AND h.group_id = n.id AND h.hour >= {start} AND h.hour < {end}
WHERE {shown}`
	groupSessions = `
SELECT n.place AS subject, h.hour, 0::bigint AS mobile_originated, 0::bigint AS mobile_terminated, h.sessions
FROM unnest({subjects}) WITH ORDINALITY AS n(id, place)
JOIN group_sessions h ON h.company_id = {company} AND h.group_id = n.id AND h.hour >= {start} AND h.hour < {end}
WHERE {shown}`
)

// volumes selects subject, subscriber_key, group_id, volumes, sessions and
// last_seen: a row for each whole day, and one for each hour of other days.
func (q *usageQuery) volumes(whole, rest []time.Time) string {
	var parts []string
	if len(whole) > 0 || len(rest) == 0 {
		from, where := q.days("subscriber_days", whole)
		parts = append(parts, `
SELECT m.subject, d.subscriber_key, d.group_id, d.mobile_originated, d.mobile_terminated, d.sessions, d.last_seen`+from+`
WHERE `+where)
	}
	if len(rest) > 0 {
		parts = append(parts, `
SELECT m.subject, d.subscriber_key, d.group_id, c.mobile_originated, c.mobile_terminated, c.sessions, to_timestamp(c.last_seen) AS last_seen`+
			q.cells(rest, ""))
	}
	return strings.Join(parts, "\nUNION ALL")
}

// daysOf returns the UTC days that a span touches.
func daysOf(span domain.Range) []time.Time {
	var days []time.Time
	for day := dayOf(span.Start); day.Before(span.End); day = day.AddDate(0, 0, 1) {
		days = append(days, day)
	}
	return days
}

// splitDays returns the UTC days that lie wholly in the span, and the others.
func splitDays(span domain.Range) (whole, rest []time.Time) {
	for _, day := range daysOf(span) {
		if day.Before(span.Start) || day.AddDate(0, 0, 1).After(span.End) {
			rest = append(rest, day)
		} else {
			whole = append(whole, day)
		}
	}
	return whole, rest
}

// Totals implements domain.Analytics.
func (a *Analytics) Totals(
	ctx context.Context, scope domain.Scope, of []domain.Subject, span domain.Range, measures domain.Measures,
) (map[domain.Subject]domain.UsageTotals, error) {
	if len(of) == 0 {
		return nil, nil
	}
	q := newUsageQuery(scope, of, span)
	usage, err := a.totalled(ctx, q, measures)
	if err != nil {
		return nil, err
	}
	type row struct {
		Subject int
		domain.UsageTotals
	}
	totals := make(map[domain.Subject]domain.UsageTotals, len(of)) // who has none may be added
	err = pg.EachRow(ctx, a.pool, `
SELECT subject, sum(mobile_originated)::bigint AS mobile_originated, sum(mobile_terminated)::bigint AS mobile_terminated,
  sum(sessions)::bigint AS sessions
FROM (`+usage+`) AS u
GROUP BY subject`, q.args, func(r row) error {
		totals[of[r.Subject-1]] = r.UsageTotals
		return nil
	})
	return totals, err
}

// totalled selects subject, volumes and sessions from as few rows as have the measures.
func (a *Analytics) totalled(ctx context.Context, q *usageQuery, measures domain.Measures) (string, error) {
	switch {
	case q.hasHours():
		return q.hours(measures), nil
	case measures.Has(domain.SessionCounts): // billing periods do not have them
		return q.volumes(splitDays(q.span)), nil
	}
	billing, err := a.billing(ctx, q)
	if err != nil {
		return "", err
	}
	usage, _ := q.shortVolumes(billing)
	return usage, nil
}

// Series implements domain.Analytics.
func (a *Analytics) Series(
	ctx context.Context, scope domain.Scope, of []domain.Subject, span domain.Range, by domain.Interval, measures domain.Measures,
) (map[domain.Subject][]domain.UsagePoint, error) {
	if len(of) == 0 {
		return nil, nil
	}
	q := newUsageQuery(scope, of, span)
	bucket := "hour"
	if by.Unit != domain.Hourly {
		bucket = fmt.Sprintf("date_trunc(%s, hour, %s)", q.arg(ascii.Lower(string(by.Unit)), "text"), q.arg(by.Zone.String(), "text"))
	}
	type row struct {
		Subject int
		domain.UsagePoint
	}
	rows, err := pg.SelectAll[row](ctx, a.pool, pg.Fill(usageSeries, "bucket", bucket, "usage", q.hours(measures)), q.args...)
	if len(rows) > domain.MaxSeriesPoints {
		return nil, domain.TooManyPoints(len(of))
	}
	if pq.As(err, pqerror.InvalidParameterValue) != nil {
		// PostgreSQL has time zones of its own, which may be other ones.
		return nil, domain.Invalid("timeZone", "the database does not know the time zone %q", by.Zone)
	}
	series := make(map[domain.Subject][]domain.UsagePoint, len(of))
	for _, r := range rows {
		if r.UsageTotals != (domain.UsageTotals{}) {
			r.Start = by.StartOf(r.Start)
			series[of[r.Subject-1]] = append(series[of[r.Subject-1]], r.UsagePoint)
		}
	}
	return series, err
}

var usageSeries = fmt.Sprintf(`
SELECT subject, {bucket} AS start, sum(mobile_originated)::bigint AS mobile_originated,
  sum(mobile_terminated)::bigint AS mobile_terminated, sum(sessions)::bigint AS sessions
FROM ({usage}) AS u
GROUP BY subject, start
ORDER BY subject, start
LIMIT %d`, domain.MaxSeriesPoints+1)
