package usage

import (
	"context"
	"strings"
	"time"

	"github.com/lib/pq"

	"simgraph/db/pg"
	"simgraph/domain"
)

// Breakdown implements domain.Analytics.
func (a *Analytics) Breakdown(ctx context.Context, scope domain.Scope, of []domain.Subject, span domain.Range, by domain.Dimension, first int) (map[domain.Subject][]domain.UsageShare, error) {
	if len(of) == 0 {
		return nil, nil
	}
	if err := by.CheckSpan(span); err != nil {
		return nil, err
	}
	q := newUsageQuery(scope, of, span)
	parts, distinct, err := a.parts(ctx, scope, q, by)
	if err != nil {
		return nil, err
	}
	sql := pg.Fill(shares, "parts", parts)
	if distinct {
		sql = pg.Fill(distinctShares, "parts", parts)
	}
	if len(of) == 1 {
		sql = pg.Fill(largestOfOne, "shares", sql, "text", shownValue(by), "first", q.arg(first, "bigint"))
	} else {
		sql = pg.Fill(largestShares, "shares", sql, "text", shownValue(by), "first", q.arg(first, "bigint"))
	}
	type row struct {
		Subject int
		domain.UsageShare
	}
	rows, err := pg.SelectAll[row](ctx, a.pool, sql, q.args...)
	shares := make(map[domain.Subject][]domain.UsageShare, len(of))
	for _, r := range rows {
		if r.LastSeen != nil {
			r.LastSeen = new(span.Within(*r.LastSeen))
		}
		shares[of[r.Subject-1]] = append(shares[of[r.Subject-1]], r.UsageShare)
	}
	return shares, err
}

// shownValue is the text of a value: addresses are added up as such, which costs less.
func shownValue(by domain.Dimension) string {
	if by == domain.ByIPAddress {
		return "host(value)"
	}
	return "value"
}

const (
	shares = `
    SELECT subject, value, max(label) AS label, max(last_seen) AS last_seen, ` + volumeSums + `
    FROM ({parts}) AS p
    GROUP BY subject, value
    HAVING sum(mobile_originated) > 0 OR sum(mobile_terminated) > 0`
	// distinctShares are of parts that have each value once.
	distinctShares = `
    SELECT * FROM ({parts}) AS p WHERE mobile_originated > 0 OR mobile_terminated > 0`
	shownShares = `
SELECT subject, {text} AS value, coalesce(label, {text}) AS label, last_seen, mobile_originated, mobile_terminated`
	largestOfOne = shownShares + `
FROM ({shares}) AS s
ORDER BY mobile_originated + mobile_terminated DESC, value NULLS LAST
LIMIT {first}`
	largestShares = shownShares + `
FROM (
  SELECT *, row_number() OVER (PARTITION BY subject ORDER BY mobile_originated + mobile_terminated DESC, {text} NULLS LAST) AS place
  FROM ({shares}) AS s
) AS s
WHERE place <= {first}
ORDER BY subject, place`
)

// parts selects subject, value, label, last_seen and volumes, and reports whether each
// value comes once.
func (a *Analytics) parts(ctx context.Context, scope domain.Scope, q *usageQuery, by domain.Dimension) (sql string, distinct bool, err error) {
	switch by {
	case domain.ByProtocol:
		return `
SELECT subject, protocol AS value, protocol AS label, NULL::timestamptz AS last_seen, mobile_originated, mobile_terminated
FROM (` + q.protocols() + `) AS u`, false, nil
	case domain.ByIPAddress:
		sql, distinct, err = a.addresses(ctx, q)
		return `
SELECT subject, ip_address AS value, NULL::text AS label, last_seen, mobile_originated, mobile_terminated
FROM (` + sql + `) AS u`, distinct, err
	case domain.BySource, domain.ByCountry:
		return q.recorded(by, noLastSeen), false, nil
	case domain.ByGroup:
		return q.attributed(by, pg.Fill(sumByGroup, "usage", q.volumes(splitDays(q.span))), noLastSeen, nil), false, nil
	}
	billing, err := a.billing(ctx, q)
	return q.attributed(by, q.bySubscriber(billing), noLastSeen, scope.Masked), false, err
}

const noLastSeen = "NULL::timestamptz AS last_seen"

const sumByGroup = `
SELECT subject, group_id, ` + volumeSums + `
FROM ({usage}) AS v
GROUP BY subject, group_id`

// attributed joins attributes of subscribers to sums, not to days, where the
// scope shows them: the usage of a group holds that of subscribers which have
// left it since. more are columns of the sums.
func (q *usageQuery) attributed(by domain.Dimension, sums, more string, masked []int64) string {
	tariffs := ""
	if by == domain.ByTariff {
		tariffs = q.arg(pq.Int64Array(masked), "bigint[]")
	}
	of := attributes[by]
	return q.fill(`
SELECT u.subject, {value} AS value, {label} AS label, {more}, u.mobile_originated, u.mobile_terminated
FROM ({usage}) AS u{joins}`, "value", of.value, "label", of.label, "more", more, "usage", sums, "joins", q.fill(of.joins, "masked", tariffs))
}

// attributes are what subscribers u are joined with, and the value and label of that.
var attributes = map[domain.Dimension]struct{ value, label, joins string }{
	domain.ByOperator: {"s.operator_code", "o.name", visibleSubscriber + `
LEFT JOIN operators o ON o.code = s.operator_code`},
	domain.ByTariff: {"t.name", "t.name", visibleSubscriber + `
LEFT JOIN tariffs t ON t.company_id = {company} AND t.name = s.tariff_name AND (s.group_id = ANY({masked})) IS NOT TRUE`},
	domain.ByGroup: {"g.group_id::text", "g.name", `
LEFT JOIN groups g ON g.company_id = {company} AND g.group_id = u.group_id AND {shownGroup}`},
	domain.ByTag: {"t.tag_name", "t.tag_name", visibleSubscriber + `
LEFT JOIN subscriber_tags t ON t.company_id = {company} AND t.subscriber_key = s.key`},
	domain.ByKind: {"s.kind::text", "s.kind::text", visibleSubscriber},
}

const visibleSubscriber = `
LEFT JOIN subscribers s ON s.company_id = {company} AND s.key = u.subscriber_key AND {visible}`

// protocols selects subject, protocol, hour and volumes.
func (q *usageQuery) protocols() string {
	switch {
	case q.isWhole():
		return q.fill(companyProtocols)
	case q.hasHours():
		return q.fill(groupProtocols)
	}
	return `
SELECT m.subject, p.name AS protocol, c.began AS hour, c.mobile_originated, c.mobile_terminated` +
		q.cells(daysOf(q.span), q.fill("\nJOIN usage_protocols p ON p.company_id = {company} AND p.protocol_id = c.protocol_id"))
}

const (
	companyProtocols = `
SELECT 1::bigint AS subject, h.protocol, h.hour, h.mobile_originated, h.mobile_terminated
FROM company_hours h
WHERE h.company_id = {company} AND h.hour >= {start} AND h.hour < {end}`
	groupProtocols = `
SELECT n.place AS subject, h.protocol, h.hour, h.mobile_originated, h.mobile_terminated
FROM unnest({subjects}) WITH ORDINALITY AS n(id, place)
JOIN group_hours h ON h.company_id = {company} AND h.group_id = n.id AND h.hour >= {start} AND h.hour < {end}
WHERE {shown}`
)

// addresses selects subject, ip_address, last_seen and volumes, and reports whether each
// address comes once. Months that stand ready are read as such. Days that lie partly in
// the span are read from the ledger, or count whole when they are from before it.
func (a *Analytics) addresses(ctx context.Context, q *usageQuery) (sql string, distinct bool, err error) {
	ledger, err := a.usage.ledger(ctx)
	if err != nil {
		return "", false, err
	}
	whole, rest := splitDays(q.span)
	for len(rest) > 0 && rest[0].Before(ledger.Start()) {
		whole, rest = append(whole, rest[0]), rest[1:]
	}
	months, whole, err := a.ready(ctx, q, whole)
	if err != nil {
		return "", false, err
	}
	var parts []string
	if len(months) > 0 {
		parts = append(parts, q.fill(addressesOfMonths, "months", q.arg(TimeArray(months), "date[]")))
	}
	if len(whole) > 0 || len(months)+len(rest) == 0 {
		from, where := q.days("subscriber_days", whole)
		parts = append(parts, firstAddresses+from+"\nWHERE d.ip_address IS NOT NULL AND "+where)
		from, where = q.days("ip_days", whole)
		parts = append(parts, otherAddresses+from+"\nWHERE "+where)
	}
	if len(rest) > 0 {
		parts = append(parts, recordedAddresses+q.records(rest))
	}
	return strings.Join(parts, "\nUNION ALL"), len(parts) == 1 && len(months) == 1, nil
}

const (
	addressesOfMonths = `
SELECT 1::bigint AS subject, a.ip_address, a.last_seen, a.mobile_originated, a.mobile_terminated
FROM ip_months a
WHERE a.company_id = {company} AND a.month = ANY({months})`
	firstAddresses = `
SELECT m.subject, d.ip_address, d.ip_last_seen AS last_seen, d.ip_originated AS mobile_originated, d.ip_terminated AS mobile_terminated`
	otherAddresses = `
SELECT m.subject, d.ip_address, d.last_seen, d.mobile_originated, d.mobile_terminated`
	recordedSources = `
SELECT r.subject, r.source AS value, r.source AS label, {more}, r.mobile_originated, r.mobile_terminated`
	recordedCountries = `
SELECT r.subject, k.code AS value, k.name AS label, {more}, r.mobile_originated, r.mobile_terminated`
	// countriesOfSessions finds the sessions of records as Session.Booked names them.
	countriesOfSessions = `
LEFT JOIN (
  SELECT DISTINCT ON (n.subscriber_key, n.source, n.booked_id) n.*
  FROM (
    SELECT n.subscriber_key, n.source, n.as_of, left(n.visited_network, 3) AS mcc,
      CASE n.generation WHEN 0 THEN n.session_id ELSE replace(n.identity::text, '-', '') || '-' || n.generation END AS booked_id
    FROM sessions n
    WHERE n.company_id = {company} AND n.began_at < {end} AND n.subscriber_key IS NOT NULL AND n.visited_network <> ''
  ) AS n
  ORDER BY n.subscriber_key, n.source, n.booked_id, n.as_of DESC
) AS n ON n.subscriber_key = r.subscriber_key AND n.source = r.source AND n.booked_id = r.session_id
LEFT JOIN unnest({mccs}, {codes}, {names}) AS k(mcc, code, name) ON k.mcc = n.mcc`
	recordedAddresses = `
SELECT r.subject, r.ip_address, date_trunc('second', r.ended_at) AS last_seen, r.mobile_originated, r.mobile_terminated`
)

// recorded selects subject, value, label, more and volumes of the ledger's records r in the
// span, by what only those have.
func (q *usageQuery) recorded(by domain.Dimension, more string) string {
	if by == domain.BySource {
		return pg.Fill(recordedSources, "more", more) + q.recordsOfSpan()
	}
	mccs, codes, names := domain.MobileCountries()
	return pg.Fill(recordedCountries, "more", more) + q.recordsOfSpan() + q.fill(countriesOfSessions,
		"mccs", q.arg(pq.StringArray(mccs), "text[]"), "codes", q.arg(pq.StringArray(codes), "text[]"), "names", q.arg(pq.StringArray(names), "text[]"))
}

// recordsOfSpan is over the ledger's records r in the span, which are read once, whatever
// the subjects are.
func (q *usageQuery) recordsOfSpan() string {
	sql := q.fill(`
JOIN usage_records r ON r.company_id = {company} AND r.started_at >= {start} AND r.started_at < {end}`)
	return q.ofSubjects(sql)
}

// records is over the ledger's records r on some days, within the span and with
// an address.
func (q *usageQuery) records(days []time.Time) string {
	sql := q.fill(`
CROSS JOIN unnest({days}) AS w(day)
JOIN usage_records r ON r.company_id = {company} AND r.started_at >= greatest(w.day, {start}) AND r.started_at < least(w.day + interval '1 day', {end})
  AND r.ip_address IS NOT NULL`, "days", q.arg(TimeArray(days), "timestamptz[]"))
	return q.ofSubjects(sql)
}

// ofSubjects is over records r, which sql joins, each with the subject that it counts for.
func (q *usageQuery) ofSubjects(sql string) string {
	switch {
	case q.isWhole():
		return q.fill(recordsOfAll, "records", sql)
	case q.kind() == domain.GroupSubject:
		return q.fill(recordsInGroups, "members", q.members(), "records", sql)
	}
	return q.fill(recordsOfMembers, "members", q.members(), "records", sql)
}

const (
	recordsOfAll = `
FROM (
  SELECT m.subject, r.* FROM (SELECT 1::bigint AS subject) AS m {records}
) AS r`
	recordsOfMembers = `
FROM (
  SELECT m.subject, r.* FROM ({members}) AS m {records} AND r.subscriber_key = m.subscriber_key
) AS r`
	// The ledger is read once: joined with the spans at once, it would be read for each of them.
	recordsInGroups = `
FROM (
  WITH ever AS MATERIALIZED (
    SELECT m.subject, m.group_id, r.subscriber_key, r.started_at, r.ended_at, r.ip_address, r.source, r.session_id, r.mobile_originated, r.mobile_terminated
    FROM ({members}) AS m {records} AND r.subscriber_key = m.subscriber_key
  ), ` + SpansOfKnown + ` AND k.subscriber_key IN (SELECT subscriber_key FROM ever)` + SpansOf + ` AND m.subscriber_key IN (SELECT subscriber_key FROM ever)` + SpansInOrder + `
  SELECT e.*
  FROM ever e
  JOIN span s ON s.subscriber_key = e.subscriber_key AND s.group_id = e.group_id AND e.started_at >= s.since AND e.started_at < s.until
) AS r`
)
