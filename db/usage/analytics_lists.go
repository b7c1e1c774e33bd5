package usage

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/lib/pq"

	"simgraph/db/pg"
	"simgraph/domain"
)

const listSubscriberUsage = `
SELECT u.subject, u.subscriber_key, s.subscriber_id, u.last_seen, u.mobile_originated, u.mobile_terminated
FROM ({usage}) AS u
JOIN subscribers s ON s.company_id = {company} AND s.key = u.subscriber_key
WHERE {visible}
ORDER BY u.subject, s.subscriber_id, u.last_seen`

// Subscribers implements domain.Analytics.
func (a *Analytics) Subscribers(
	ctx context.Context, scope domain.Scope, of []domain.Subject, span domain.Range, each func(domain.Subject, domain.SubscriberUsage) error,
) error {
	if len(of) == 0 {
		return nil
	}
	q := newUsageQuery(scope, of, span)
	billing, err := a.billing(ctx, q)
	if err != nil {
		return err
	}
	sql := q.fill(listSubscriberUsage, "usage", q.bySubscriber(billing))
	type row struct {
		Subject int
		domain.SubscriberUsage
	}
	return eachEntry(ctx, a, q, sql, func(r row) error {
		r.LastSeen = span.Within(r.LastSeen)
		return each(of[r.Subject-1], r.SubscriberUsage)
	})
}

// ProtocolHours implements domain.Analytics.
func (a *Analytics) ProtocolHours(
	ctx context.Context, scope domain.Scope, of []domain.Subject, span domain.Range, each func(domain.Subject, domain.ProtocolHour) error,
) error {
	if len(of) == 0 {
		return nil
	}
	q := newUsageQuery(scope, of, span)
	type row struct {
		Subject int
		domain.ProtocolHour
	}
	hours := 0
	return eachEntry(ctx, a, q, pg.Fill(listProtocolHours, "usage", q.protocols()), func(r row) error {
		if hours++; hours > domain.MaxSeriesPoints {
			return domain.TooManyEntries(len(of))
		}
		return each(of[r.Subject-1], r.ProtocolHour)
	})
}

const listProtocolHours = `
SELECT subject, protocol, hour, sum(mobile_originated)::bigint AS mobile_originated, sum(mobile_terminated)::bigint AS mobile_terminated
FROM ({usage}) AS u
GROUP BY subject, protocol, hour
HAVING sum(mobile_originated) > 0 OR sum(mobile_terminated) > 0
ORDER BY subject, protocol, hour`

const listAddresses = `
SELECT subject, host(ip_address) AS ip_address, max(last_seen) AS last_seen,
  sum(mobile_originated)::bigint AS mobile_originated, sum(mobile_terminated)::bigint AS mobile_terminated
FROM ({usage}) AS u
GROUP BY subject, u.ip_address
HAVING sum(mobile_originated) > 0 OR sum(mobile_terminated) > 0
ORDER BY subject, u.ip_address`

const listDistinctAddresses = `
SELECT subject, host(ip_address) AS ip_address, last_seen, mobile_originated, mobile_terminated
FROM ({usage}) AS u
WHERE mobile_originated > 0 OR mobile_terminated > 0
ORDER BY subject, u.ip_address`

// Addresses implements domain.Analytics.
func (a *Analytics) Addresses(
	ctx context.Context, scope domain.Scope, of []domain.Subject, span domain.Range, each func(domain.Subject, domain.AddressUsage) error,
) error {
	if len(of) == 0 {
		return nil
	}
	q := newUsageQuery(scope, of, span)
	type row struct {
		Subject int
		domain.AddressUsage
	}
	parts, distinct, err := a.addresses(ctx, q)
	if err != nil {
		return err
	}
	sql := pg.Fill(listAddresses, "usage", parts)
	if distinct {
		sql = pg.Fill(listDistinctAddresses, "usage", parts)
	}
	return eachEntry(ctx, a, q, sql, func(r row) error {
		r.LastSeen = span.Within(r.LastSeen)
		return each(of[r.Subject-1], r.AddressUsage)
	})
}

// eachEntry calls each with the rows of a list, which is bounded where it is of
// several subjects. A bound that never holds would mislead the planner.
func eachEntry[T any](ctx context.Context, a *Analytics, q *usageQuery, sql string, each func(T) error) error {
	if len(q.of) == 1 {
		return pg.EachRow(ctx, a.pool, sql, q.args, each)
	}
	entries := 0
	return pg.EachRow(ctx, a.pool, fmt.Sprintf("%s\nLIMIT %d", sql, domain.MaxSeriesPoints+1), q.args, func(row T) error {
		if entries++; entries > domain.MaxSeriesPoints {
			return domain.TooManyEntries(len(q.of))
		}
		return each(row)
	})
}

// The usage of subscribers as it is exported: hour is that of the Unix epoch, and 0 where
// rows are not by the hour.
const (
	exportedDays = `
  SELECT d.subscriber_key, d.group_id, 0::bigint AS hour, NULL::text AS value, d.mobile_originated, d.mobile_terminated, d.sessions
  FROM subscriber_days d
  WHERE d.company_id = $1 AND d.day = ANY({days}){group}`
	exportedCells = `
  SELECT d.subscriber_key, d.group_id, {hour} AS hour, {value} AS value, c.mobile_originated, c.mobile_terminated, c.sessions
  FROM subscriber_days d
  CROSS JOIN LATERAL usage_cells(d.cells) AS c{protocols}
  WHERE d.company_id = $1 AND d.day = ANY({days}) AND {cellHour} >= {first} AND {cellHour} < {last}{group}`
	cellHour          = `24::bigint * (d.day - DATE 'epoch') + c.hour`
	exportedAddresses = `
  SELECT d.subscriber_key, d.group_id, 0::bigint AS hour, host(d.ip_address) AS value, d.ip_originated AS mobile_originated, d.ip_terminated AS mobile_terminated, 0::bigint AS sessions
  FROM subscriber_days d
  WHERE d.company_id = $1 AND d.day = ANY({days}) AND d.ip_address IS NOT NULL{group}
  UNION ALL
  SELECT d.subscriber_key, d.group_id, 0, host(d.ip_address), d.mobile_originated, d.mobile_terminated, 0
  FROM ip_days d
  WHERE d.company_id = $1 AND d.day = ANY({days}){group}`
	// exportedCountries are the ledger's records with the network that their sessions visited.
	exportedCountries = `
  SELECT r.subscriber_key, NULL::bigint AS group_id, {hour} AS hour, k.code AS value, k.name AS label, r.mobile_originated, r.mobile_terminated, 0::bigint AS sessions
  FROM usage_records r` + countriesOfSessions + `
  WHERE r.company_id = $1 AND r.started_at >= {start} AND r.started_at < {end}`
	recordHour = `floor(extract(epoch FROM r.started_at) / 3600)::bigint`
	// exportedSums adds up what a subscriber has in several groups, hours or days.
	exportedSums = `
SELECT u.subscriber_key, u.hour, {value} AS value, {label} AS label, ` + volumeSums + `, sum(u.sessions)::bigint AS sessions
FROM ({usage}
) u{joins}
GROUP BY u.subscriber_key, u.hour, 3, 4
HAVING sum(u.mobile_originated) > 0 OR sum(u.mobile_terminated) > 0 OR sum(u.sessions) > 0`
	// exportedHours leaves what a subscriber has in several groups or protocols of an hour to
	// the reader: that is one row nearly always, and to add up takes as long as to read.
	exportedHours = `
SELECT u.subscriber_key, u.hour, {value} AS value, {label} AS label, u.mobile_originated, u.mobile_terminated, u.sessions
FROM ({usage}
) u{joins}
WHERE u.mobile_originated > 0 OR u.mobile_terminated > 0 OR u.sessions > 0`
)

// Exported is a statement for the usage of the subscribers of a company ($1) in a part of
// an export: subscriber_key, hour, value, label, volumes and sessions. groups is the parameter
// of the visible groups, "" for all; masked are those whose tariffs are hidden. By the hour,
// several rows may have the same subscriber, hour and value.
func Exported(arg func(value any, sqlType string) string, of *domain.UsageExport, part domain.Range, groups string, masked []int64) string {
	const ofSubscriber = "\nLEFT JOIN subscribers s ON s.company_id = $1 AND s.key = u.subscriber_key"
	value, label, joins := "u.value", "u.value", ""
	switch of.Split {
	case domain.ByCountry:
		label = "u.label"
	case domain.ByKind:
		value, label, joins = "s.kind::text", "s.kind::text", ofSubscriber
	case domain.ByOperator:
		value, label, joins = "s.operator_code", "o.name", ofSubscriber+"\nLEFT JOIN operators o ON o.code = s.operator_code"
	case domain.ByTariff:
		value, label = "t.name", "t.name"
		joins = ofSubscriber + "\nLEFT JOIN tariffs t ON t.company_id = $1 AND t.name = s.tariff_name AND (s.group_id = ANY(" + arg(pq.Int64Array(masked), "bigint[]") + ")) IS NOT TRUE"
	case domain.ByGroup:
		value, label = "g.group_id::text", "g.name"
		joins = "\nLEFT JOIN groups g ON g.company_id = $1 AND g.group_id = u.group_id"
		if groups != "" {
			joins += " AND g.group_id = ANY(" + groups + ")"
		}
	case domain.ByTag:
		value, label = "t.tag_name", "t.tag_name"
		joins = "\nLEFT JOIN subscriber_tags t ON t.company_id = $1 AND t.subscriber_key = u.subscriber_key"
	}
	rows := exportedSums
	if of.By.Unit == domain.Hourly && of.Split != domain.ByCountry {
		rows = exportedHours
	}
	return pg.Fill(rows, "value", value, "label", label, "joins", joins, "usage", exportedUsage(arg, of, part, groups))
}

func exportedUsage(arg func(value any, sqlType string) string, of *domain.UsageExport, part domain.Range, groups string) string {
	if of.Split == domain.ByCountry {
		return exportedLedger(arg, of, part)
	}
	group := ""
	if of.Group != 0 {
		group = " AND d.group_id = " + arg(of.Group, "bigint")
		if groups != "" {
			group += " AND d.group_id = ANY(" + groups + ")"
		}
	}
	days := func(days []time.Time) string { return arg(TimeArray(days), "date[]") }
	if of.Split == domain.ByIPAddress {
		return pg.Fill(exportedAddresses, "days", days(daysOf(part)), "group", group)
	}
	whole, rest := splitDays(part)
	hour, value, protocols := "0::bigint", "NULL::text", ""
	if of.By.Unit == domain.Hourly {
		hour, whole, rest = cellHour, nil, daysOf(part)
	}
	if of.Split == domain.ByProtocol {
		value, whole, rest = "p.name", nil, daysOf(part)
		protocols = "\n  JOIN usage_protocols p ON p.company_id = $1 AND p.protocol_id = c.protocol_id"
	}
	var parts []string
	if len(whole) > 0 {
		parts = append(parts, pg.Fill(exportedDays, "days", days(whole), "group", group))
	}
	if len(rest) > 0 {
		parts = append(parts, pg.Fill(exportedCells, "hour", hour, "value", value, "protocols", protocols, "cellHour", cellHour, "days", days(rest),
			"first", arg(hourOnOrAfter(part.Start), "bigint"), "last", arg(hourOnOrAfter(part.End), "bigint"), "group", group))
	}
	return strings.Join(parts, "\n  UNION ALL")
}

func exportedLedger(arg func(value any, sqlType string) string, of *domain.UsageExport, part domain.Range) string {
	hour := "0::bigint"
	if of.By.Unit == domain.Hourly {
		hour = recordHour
	}
	mccs, codes, names := domain.MobileCountries()
	return pg.Fill(exportedCountries, "hour", hour, "company", "$1", "start", arg(part.Start, "timestamptz"), "end", arg(part.End, "timestamptz"),
		"mccs", arg(pq.StringArray(mccs), "text[]"), "codes", arg(pq.StringArray(codes), "text[]"), "names", arg(pq.StringArray(names), "text[]"))
}
