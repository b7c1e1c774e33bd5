package db

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"

	"simgraph/domain"
)

// Analytics answers questions about usage from the totals in PostgreSQL.
type Analytics struct {
	pool *sqlx.DB
	// usage tells where the ledger begins.
	usage *Usage
}

var _ domain.Analytics = (*Analytics)(nil)

// NewAnalytics returns the store on the pool of the usage.
func NewAnalytics(usage *Usage) *Analytics { return &Analytics{usage.pool, usage} }

// usageQuery is a statement under construction, about the usage of subjects of
// one kind. Where a company or groups are asked for, rows stand ready by the
// hour; all else is added up over subscribers: the members of the subjects.
// Subjects have numbers, which are their places in of.
type usageQuery struct {
	parameters
	of   []domain.Subject
	span domain.Range
	// company and scope are parameters that stand in every condition.
	company, scope, subjects string
	restricted               bool
}

func newUsageQuery(scope domain.Scope, of []domain.Subject, span domain.Range) *usageQuery {
	q := &usageQuery{of: of, span: span, restricted: scope.Restricted()}
	q.company = q.arg(scope.Company, "bigint")
	q.scope = q.arg(groupsOf(scope), "bigint[]")
	if q.kind() == domain.TagSubject {
		q.subjects = q.arg(textArray(of, func(s domain.Subject) string { return string(s.Tag) }), "text[]")
	} else {
		q.subjects = q.arg(intArray(of, func(s domain.Subject) int64 { return s.ID }), "bigint[]")
	}
	return q
}

// kind is that of all the subjects.
func (q *usageQuery) kind() domain.SubjectKind { return q.of[0].Kind }

// isWhole tells whether every subscriber is meant.
func (q *usageQuery) isWhole() bool { return q.kind() == domain.CompanySubject && !q.restricted }

// hasHours tells whether the usage of the subjects stands ready by the hour.
func (q *usageQuery) hasHours() bool { return q.isWhole() || q.kind() == domain.GroupSubject }

// parameters are those of a statement.
type parameters struct{ args []any }

func (p *parameters) arg(value any, sqlType string) string {
	p.args = append(p.args, value)
	return fmt.Sprintf("$%d::%s", len(p.args), sqlType)
}

// fill replaces names in braces: fill(sql, "name", value, …).
func fill(sql string, values ...string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(sql, "{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		name, rest, _ := strings.Cut(after, "}")
		if value, named := valueOf(name, values); named {
			b.WriteString(value)
			sql = rest
		} else {
			b.WriteByte('{')
			sql = after
		}
	}
}

func valueOf(name string, values []string) (value string, named bool) {
	for pair := range slices.Chunk(values, 2) {
		if pair[0] == name {
			return pair[1], true
		}
	}
	return "", false
}

// The members of subjects: the visible subscribers whose usage makes theirs up.
// A group's are all that ever were in it, as far as the scope shows them now
// where they are to be named.
const (
	subscriberMembers = `
SELECT n.place AS subject, s.key AS subscriber_key
FROM unnest({subjects}) WITH ORDINALITY AS n(id, place)
JOIN subscribers s ON s.company_id = {company} AND s.key = n.id
WHERE {visible}`
	companyMembers = `
SELECT n.place AS subject, s.key AS subscriber_key
FROM unnest({subjects}) WITH ORDINALITY AS n(id, place)
JOIN subscribers s ON s.company_id = {company}
WHERE {visible}`
	tagMembers = `
SELECT n.place AS subject, s.key AS subscriber_key
FROM unnest({subjects}) WITH ORDINALITY AS n(name, place)
JOIN subscriber_tags t ON t.company_id = {company} AND t.tag_name = n.name
JOIN subscribers s ON s.company_id = {company} AND s.key = t.subscriber_key
WHERE {visible}`
	groupMembers = `
SELECT DISTINCT n.place AS subject, m.subscriber_key, n.id AS group_id
FROM unnest({subjects}) WITH ORDINALITY AS n(id, place)
JOIN group_memberships m ON m.company_id = {company} AND m.group_id = n.id
WHERE ({scope} IS NULL OR n.id = ANY({scope}))`
	visibleMembers = `({scope} IS NULL OR s.group_id = ANY({scope}))`
)

var membersOf = map[domain.SubjectKind]string{
	domain.CompanySubject: companyMembers, domain.GroupSubject: groupMembers,
	domain.TagSubject: tagMembers, domain.SubscriberSubject: subscriberMembers,
}

func (q *usageQuery) members() string {
	visible := fill(visibleMembers, "scope", q.scope)
	return fill(membersOf[q.kind()], "visible", visible, "subjects", q.subjects, "company", q.company, "scope", q.scope)
}

// days returns what a statement reads, and on which condition, over the rows d
// of a table by day that belong to the subjects on some days. The row m has the
// subject.
func (q *usageQuery) days(table string, days []time.Time) (from, where string) {
	dates := q.arg(timeArray(days), "date[]")
	if q.isWhole() {
		return fill(`
FROM unnest({subjects}) WITH ORDINALITY AS m(id, subject)
JOIN {table} d ON d.company_id = {company} AND d.day = ANY({dates})`,
			"table", table, "dates", dates, "company", q.company, "subjects", q.subjects), q.scope + " IS NULL"
	}
	from = fill(`
FROM ({members}) m
CROSS JOIN unnest({dates}) AS w(day)
JOIN {table} d ON d.company_id = {company} AND d.day = w.day AND d.subscriber_key = m.subscriber_key`,
		"members", q.members(), "table", table, "dates", dates, "company", q.company)
	if q.kind() == domain.GroupSubject {
		return from, "d.group_id = m.group_id"
	}
	return from, "true"
}

// cells is days over the hours of subscriber_days within the span, as rows c
// that began at their hour. more is joined to them.
func (q *usageQuery) cells(days []time.Time, more string) string {
	from, where := q.days("subscriber_days", days)
	return fill(`{from}
CROSS JOIN LATERAL (
  SELECT c.*, (d.day + make_interval(hours => c.hour)) AT TIME ZONE 'UTC' AS began
  FROM usage_cells(d.cells) AS c
) AS c{more}
WHERE {where} AND 24 * (d.day - DATE 'epoch') + c.hour >= {first} AND 24 * (d.day - DATE 'epoch') + c.hour < {end}`,
		"from", from, "where", where, "more", more, "first", q.hourFrom(q.span.Start), "end", q.hourFrom(q.span.End))
}

// hourFrom is the first hour that begins at a time or after it, counted from the
// Unix epoch: to compare numbers costs a tenth of making times of them.
func (q *usageQuery) hourFrom(at time.Time) string {
	hour := at.Unix() / secondsOfHour
	if at.After(time.Unix(hour*secondsOfHour, 0)) {
		hour++
	}
	return q.arg(hour, "bigint")
}

func (q *usageQuery) start() string { return q.arg(q.span.Start, "timestamptz") }
func (q *usageQuery) end() string   { return q.arg(q.span.End, "timestamptz") }

// hours selects subject, hour, volumes and sessions by the hour.
func (q *usageQuery) hours() string {
	switch {
	case q.isWhole():
		return q.ready(companyHours)
	case q.hasHours():
		return q.ready(groupHours)
	}
	return `
SELECT m.subject, c.began AS hour, c.mobile_originated, c.mobile_terminated, c.sessions` + q.cells(daysOf(q.span), "")
}

const (
	companyHours = `
SELECT n.place AS subject, h.hour, h.mobile_originated, h.mobile_terminated, 0::bigint AS sessions
FROM unnest({subjects}) WITH ORDINALITY AS n(id, place)
JOIN company_hours h ON h.company_id = {company} AND h.hour >= {start} AND h.hour < {end}
WHERE {scope} IS NULL
UNION ALL
SELECT n.place, h.hour, 0, 0, h.sessions
FROM unnest({subjects}) WITH ORDINALITY AS n(id, place)
JOIN company_sessions h ON h.company_id = {company} AND h.hour >= {start} AND h.hour < {end}
WHERE {scope} IS NULL`
	groupHours = `
SELECT n.place AS subject, h.hour, h.mobile_originated, h.mobile_terminated, 0::bigint AS sessions
FROM unnest({subjects}) WITH ORDINALITY AS n(id, place)
JOIN group_hours h ON h.company_id = {company} AND h.group_id = n.id AND h.hour >= {start} AND h.hour < {end}
WHERE ({scope} IS NULL OR n.id = ANY({scope}))
UNION ALL
SELECT n.place, h.hour, 0, 0, h.sessions
FROM unnest({subjects}) WITH ORDINALITY AS n(id, place)
JOIN group_sessions h ON h.company_id = {company} AND h.group_id = n.id AND h.hour >= {start} AND h.hour < {end}
WHERE ({scope} IS NULL OR n.id = ANY({scope}))`
)

func (q *usageQuery) ready(sql string) string {
	return fill(sql, "subjects", q.subjects, "company", q.company, "scope", q.scope, "start", q.start(), "end", q.end())
}

// volumes selects subject, subscriber_key, group_id, volumes, sessions and
// last_seen: a row for each whole day, and one for each hour of other days.
func (q *usageQuery) volumes(whole, rest []time.Time) string {
	from, where := q.days("subscriber_days", whole)
	return `
SELECT m.subject, d.subscriber_key, d.group_id, d.mobile_originated, d.mobile_terminated, d.sessions, d.last_seen` + from + `
WHERE ` + where + `
UNION ALL
SELECT m.subject, d.subscriber_key, d.group_id, c.mobile_originated, c.mobile_terminated, c.sessions, to_timestamp(c.last_seen)` +
		q.cells(rest, "")
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
func (a *Analytics) Totals(ctx context.Context, scope domain.Scope, of []domain.Subject, span domain.Range) (map[domain.Subject]domain.UsageTotals, error) {
	if len(of) == 0 {
		return nil, nil
	}
	q := newUsageQuery(scope, of, span)
	var usage string
	if q.hasHours() {
		usage = q.hours()
	} else {
		usage = q.volumes(splitDays(span))
	}
	type row struct {
		Subject int
		domain.UsageTotals
	}
	totals := make(map[domain.Subject]domain.UsageTotals, len(of)) // who has none may be added
	err := eachRow(ctx, a.pool, `
SELECT subject, sum(mobile_originated)::bigint AS mobile_originated, sum(mobile_terminated)::bigint AS mobile_terminated,
  sum(sessions)::bigint AS sessions
FROM (`+usage+`) AS u
GROUP BY subject`, q.args, func(r row) error {
		totals[of[r.Subject-1]] = r.UsageTotals
		return nil
	})
	return totals, err
}

// Series implements domain.Analytics.
func (a *Analytics) Series(ctx context.Context, scope domain.Scope, of []domain.Subject, span domain.Range, by domain.Interval) (map[domain.Subject][]domain.UsagePoint, error) {
	if len(of) == 0 {
		return nil, nil
	}
	q := newUsageQuery(scope, of, span)
	bucket := "hour"
	if by.Unit != domain.Hourly {
		bucket = fmt.Sprintf("date_trunc(%s, hour, %s)", q.arg(strings.ToLower(string(by.Unit)), "text"), q.arg(by.Zone.String(), "text"))
	}
	type row struct {
		Subject int
		domain.UsagePoint
	}
	rows, err := selectAll[row](ctx, a.pool, `
SELECT subject, `+bucket+` AS start, sum(mobile_originated)::bigint AS mobile_originated,
  sum(mobile_terminated)::bigint AS mobile_terminated, sum(sessions)::bigint AS sessions
FROM (`+q.hours()+`) AS u
GROUP BY subject, start
HAVING sum(mobile_originated) > 0 OR sum(mobile_terminated) > 0 OR sum(sessions) > 0
ORDER BY subject, start
LIMIT `+q.arg(domain.MaxSeriesPoints+1, "bigint"), q.args...)
	if len(rows) > domain.MaxSeriesPoints {
		return nil, domain.TooManyPoints(len(of))
	}
	if pq.As(err, pqerror.InvalidParameterValue) != nil {
		// PostgreSQL has time zones of its own, which may be other ones.
		return nil, domain.Invalid("timeZone", "the database does not know the time zone %q", by.Zone)
	}
	series := make(map[domain.Subject][]domain.UsagePoint, len(of))
	for _, r := range rows {
		r.Start = by.StartOf(r.Start)
		series[of[r.Subject-1]] = append(series[of[r.Subject-1]], r.UsagePoint)
	}
	return series, err
}
