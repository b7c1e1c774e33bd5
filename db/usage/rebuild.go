package usage

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/companies"
	"simgraph/db/pg"
	"simgraph/domain"
)

// reportedDifferences bounds the differences that a rebuild lists.
const reportedDifferences = 1000

// derivation is a total as it follows from the ledger.
type derivation struct {
	table        string
	keys, values []string
	// within is the part of the table that the statement is about.
	within string
	// derived selects keys and values from the ledger, below the CTEs of with.
	with, derived string
	// stored is how a value is read for the comparison, where not by its name.
	stored map[string]string
	// correction is the statement, where it is not rebuildTotal.
	correction string
}

// Which group each subscriber was in over which time, and the ledger of a span
// of time ($2 to $3) with the group of each record, and the sessions that began
// in it: of all subscribers that have such, or of some ($4).
const (
	groupSpans = SpansOfKnown + SpansOf + SpansInOrder
	ledgerSpan = "present AS (" + presentIn + "), " + SpansOfKnown + " AND k.subscriber_key IN (SELECT subscriber_key FROM present)" + SpansOf +
		" AND m.subscriber_key IN (SELECT subscriber_key FROM present)" + SpansInOrder + ledgerOf + beganOf + beganEnd
	presentIn = `
  SELECT r.subscriber_key FROM usage_records r WHERE r.company_id = $1 AND r.started_at >= $2 AND r.started_at < $3
  UNION
  SELECT b.subscriber_key FROM usage_sessions b WHERE b.company_id = $1 AND b.began_at >= $2 AND b.began_at < $3`
	spansOfSome  = SpansOfKnown + " AND k.subscriber_key = ANY($4::bigint[])" + SpansOf + " AND m.subscriber_key = ANY($4)" + SpansInOrder
	ledgerOfSome = spansOfSome + ledgerOf + " AND r.subscriber_key = ANY($4)" + beganOf + " AND b.subscriber_key = ANY($4)" + beganEnd
	SpansOfKnown = `
span AS (
  SELECT m.subscriber_key, coalesce(m.group_id, 0) AS group_id, coalesce(lead(m.since) OVER w, 'infinity') AS until,
    CASE WHEN row_number() OVER w = 1 THEN '-infinity' ELSE m.since END AS since
  FROM group_memberships m
  JOIN (
    SELECT k.subscriber_key, min(k.since) AS since
    FROM group_memberships k
    WHERE k.company_id = $1 AND k.group_id IS NOT NULL`
	SpansOf = `
    GROUP BY k.subscriber_key
  ) known ON known.subscriber_key = m.subscriber_key AND known.since <= m.since
  WHERE m.company_id = $1`
	SpansInOrder = `
  WINDOW w AS (PARTITION BY m.subscriber_key ORDER BY m.since)
)`
	ledgerOf = `, ledger AS (
  SELECT r.*, coalesce(s.group_id, 0) AS group_id, date_trunc('hour', r.started_at, 'UTC') AS hour,
    (r.started_at AT TIME ZONE 'UTC')::date AS day
  FROM usage_records r
  LEFT JOIN span s ON s.subscriber_key = r.subscriber_key AND r.started_at >= s.since AND r.started_at < s.until
  WHERE r.company_id = $1 AND r.started_at >= $2 AND r.started_at < $3`
	beganOf = `
), began AS (
  SELECT b.subscriber_key, coalesce(s.group_id, 0) AS group_id, date_trunc('hour', b.began_at, 'UTC') AS hour,
    (b.began_at AT TIME ZONE 'UTC')::date AS day
  FROM usage_sessions b
  LEFT JOIN span s ON s.subscriber_key = b.subscriber_key AND b.began_at >= s.since AND b.began_at < s.until
  WHERE b.company_id = $1 AND b.began_at >= $2 AND b.began_at < $3`
	beganEnd = `
), `
	withinHours  = "t.hour >= $2 AND t.hour < $3"
	withinDays   = "t.day >= ($2::timestamptz AT TIME ZONE 'UTC')::date AND t.day < ($3::timestamptz AT TIME ZONE 'UTC')::date"
	nonzero      = " AND (t.mobile_originated <> 0 OR t.mobile_terminated <> 0)"
	havingVolume = " HAVING sum(mobile_originated) > 0 OR sum(mobile_terminated) > 0"
	volumeSums   = "sum(mobile_originated)::bigint AS mobile_originated, sum(mobile_terminated)::bigint AS mobile_terminated"
	lastSecond   = "date_trunc('second', max(ended_at)) AS last_seen"
)

var volumes = []string{"mobile_originated", "mobile_terminated"}

// dayDerivations are the totals of a UTC day.
var dayDerivations = []derivation{
	{
		table: "company_hours", keys: []string{"hour", "protocol"}, values: volumes, within: withinHours,
		derived: `
SELECT date_trunc('hour', r.started_at, 'UTC') AS hour, protocol, ` + volumeSums + `
FROM usage_records r WHERE r.company_id = $1 AND r.started_at >= $2 AND r.started_at < $3 GROUP BY 1, protocol`,
	}, {
		// Usage that moved to another group leaves zeros.
		table: "group_hours", keys: []string{"group_id", "hour", "protocol"}, values: volumes, within: withinHours + nonzero, with: ledgerSpan,
		derived: "SELECT group_id, hour, protocol, " + volumeSums + " FROM ledger WHERE group_id <> 0 GROUP BY group_id, hour, protocol" + havingVolume,
	}, {
		table: "company_sessions", keys: []string{"hour"}, values: []string{"sessions"}, within: withinHours + " AND t.sessions <> 0",
		derived: `
SELECT date_trunc('hour', b.began_at, 'UTC') AS hour, count(*) AS sessions
FROM usage_sessions b WHERE b.company_id = $1 AND b.began_at >= $2 AND b.began_at < $3 GROUP BY 1`,
	}, {
		table: "group_sessions", keys: []string{"group_id", "hour"}, values: []string{"sessions"}, within: withinHours + " AND t.sessions <> 0", with: ledgerSpan,
		derived: "SELECT group_id, hour, count(*) AS sessions FROM began WHERE group_id <> 0 GROUP BY group_id, hour",
	},
	subscriberDays,
	addressDays,
}

// subscriberDays are what subscribers used in a day.
var subscriberDays = derivation{
	table: "subscriber_days", keys: []string{"day", "subscriber_key", "group_id"},
	values: append(volumes, "sessions", "last_seen", "cells"), within: withinDays, with: ledgerSpan,
	stored:  map[string]string{"cells": "usage_compact(t.cells)"},
	derived: derivedDays,
}

// addressDays come after subscriberDays, which have the first address each.
var addressDays = derivation{
	table: "ip_days", keys: []string{"day", "subscriber_key", "group_id", "ip_address"}, values: append(volumes, "last_seen"), within: withinDays, with: ledgerSpan,
	derived: "SELECT day, subscriber_key, group_id, ip_address, " + volumeSums + ", " + lastSecond + `
FROM ledger WHERE ip_address IS NOT NULL GROUP BY day, subscriber_key, group_id, ip_address`,
	correction: rebuildAddresses,
}

// ofSome is the derivation for the subscribers $4 only.
func (d derivation) ofSome() derivation {
	d.within += " AND t.subscriber_key = ANY($4)"
	d.with = ledgerOfSome
	return d
}

const derivedDays = `
SELECT day, subscriber_key, group_id, sum(originated)::bigint AS mobile_originated, sum(terminated)::bigint AS mobile_terminated,
  sum(sessions)::bigint AS sessions, to_timestamp(max(seen)) AS last_seen, (
    SELECT array_agg(part ORDER BY place)
    FROM unnest(array_agg(ARRAY[slot, originated, terminated, seen, sessions] ORDER BY slot)) WITH ORDINALITY AS u(part, place)
  ) AS cells
FROM (
  SELECT day, subscriber_key, group_id, 24 * p.protocol_id + extract(hour FROM hour AT TIME ZONE 'UTC')::bigint AS slot,
    sum(mobile_originated)::bigint AS originated, sum(mobile_terminated)::bigint AS terminated,
    floor(extract(epoch FROM max(ended_at)))::bigint AS seen, 0::bigint AS sessions
  FROM ledger
  JOIN usage_protocols p ON p.company_id = $1 AND p.name = ledger.protocol
  GROUP BY day, subscriber_key, group_id, hour, p.protocol_id
  UNION ALL
  SELECT day, subscriber_key, group_id, extract(hour FROM hour AT TIME ZONE 'UTC')::bigint, 0, 0, 0, count(*)
  FROM began
  GROUP BY day, subscriber_key, group_id, hour
) AS slots
GROUP BY day, subscriber_key, group_id`

// ledgerDerivations span the whole ledger, from $2 on. What is from before is
// in none of its records any more, and stays.
var ledgerDerivations = []derivation{
	{
		table: "usage_sessions", keys: []string{"subscriber_key", "session_id"}, values: []string{"began_at", "is_opened"},
		within: "t.began_at >= $2",
		derived: `
SELECT subscriber_key, session_id, bool_or(sequence = 0) AS is_opened,
  coalesce(min(started_at) FILTER (WHERE sequence = 0), min(started_at)) AS began_at
FROM usage_records r
WHERE r.company_id = $1 AND r.started_at >= $2 AND r.session_id <> '' AND NOT EXISTS (
  SELECT FROM usage_sessions old
  WHERE old.company_id = $1 AND old.subscriber_key = r.subscriber_key AND old.session_id = r.session_id AND old.began_at < $2)
GROUP BY subscriber_key, session_id`,
	}, {
		table: "usage_sources", keys: []string{"source"}, values: []string{"complete_until"},
		within:  "EXISTS (SELECT FROM usage_records r WHERE r.company_id = $1 AND r.started_at >= $2 AND r.source = t.source)",
		derived: "SELECT source, max(ended_at) AS complete_until FROM usage_records r WHERE r.company_id = $1 AND r.started_at >= $2 GROUP BY source",
	},
}

// periodLedger is the usage of a billing period ($2 to $3): from the ledger
// where that reaches ($4), and before it from the hours of the days.
const periodLedger = groupSpans + `, ledger AS (
  SELECT r.subscriber_key, coalesce(s.group_id, 0) AS group_id, r.mobile_originated, r.mobile_terminated, r.ended_at
  FROM usage_records r
  LEFT JOIN span s ON s.subscriber_key = r.subscriber_key AND r.started_at >= s.since AND r.started_at < s.until
  WHERE r.company_id = $1 AND r.started_at >= greatest($2::timestamptz, $4) AND r.started_at < $3
  UNION ALL
  SELECT d.subscriber_key, d.group_id, c.mobile_originated, c.mobile_terminated, to_timestamp(c.last_seen)
  FROM subscriber_days d
  CROSS JOIN usage_cells(d.cells) AS c
  WHERE d.company_id = $1 AND d.day >= ($2::timestamptz AT TIME ZONE 'UTC')::date
    AND d.day <= (least($3::timestamptz, $4) AT TIME ZONE 'UTC')::date AND c.protocol_id <> 0
    AND (d.day + make_interval(hours => c.hour)) AT TIME ZONE 'UTC' >= $2
    AND (d.day + make_interval(hours => c.hour)) AT TIME ZONE 'UTC' < least($3::timestamptz, $4)
), `

var periodDerivations = []derivation{
	{
		table: "subscriber_periods", keys: []string{"period_start", "subscriber_key"}, values: append(volumes, "last_seen"),
		within: "t.period_start = $2", with: periodLedger,
		derived: "SELECT $2::timestamptz AS period_start, subscriber_key, " + volumeSums + ", " + lastSecond + " FROM ledger GROUP BY subscriber_key",
	}, {
		table: "group_periods", keys: []string{"period_start", "group_id"}, values: volumes,
		within: "t.period_start = $2" + nonzero, with: periodLedger,
		derived: "SELECT $2::timestamptz AS period_start, group_id, " + volumeSums + " FROM ledger WHERE group_id <> 0 GROUP BY group_id" + havingVolume,
	},
}

// statement returns the SQL that replaces the part of the total that differs
// from what is derived, and selects the differences.
func (d derivation) statement() string {
	stored := make([]string, len(d.values))
	for i, v := range d.values {
		if stored[i] = d.stored[v]; stored[i] == "" {
			stored[i] = "t." + v
		}
	}
	return strings.NewReplacer(
		"{with}", d.with, "{derived}", d.derived, "{table}", d.table, "{within}", d.within,
		"{keys}", strings.Join(d.keys, ", "), "{tkeys}", prefixed("t.", d.keys), "{fkeys}", prefixed("f.", d.keys), "{wkeys}", prefixed("w.", d.keys), "{akeys}", prefixed("a.", d.keys),
		"{values}", strings.Join(d.values, ", "), "{stored}", strings.Join(stored, ", "), "{wvalues}", prefixed("w.", d.values), "{avalues}", prefixed("a.", d.values),
		"{set}", assignments(d.values), "{tequal}", equal("t.", "f.", d.keys), "{oequal}", equal("t.", "o.", d.keys),
	).Replace(cmp.Or(d.correction, rebuildTotal)) + "\n" + pg.ByValue // it reads as much as there is in the span
}

const rebuildTotal = `
WITH {with}wanted AS ({derived}
), found AS (
  SELECT {tkeys}, ROW({stored})::text AS stored FROM {table} t WHERE t.company_id = $1 AND {within}
), wrong AS (
  SELECT {keys}, s.stored, w.derived
  FROM found s
  FULL JOIN (SELECT {wkeys}, ROW({wvalues})::text AS derived FROM wanted w) w USING ({keys})
  WHERE s.stored IS DISTINCT FROM w.derived
), removed AS (
  DELETE FROM {table} t USING wrong f WHERE t.company_id = $1 AND {tequal} AND f.derived IS NULL
), corrected AS (
  INSERT INTO {table} (company_id, {keys}, {values})
  SELECT own.company_id, {wkeys}, {wvalues}
  FROM companies own
  CROSS JOIN wanted w
  JOIN wrong f USING ({keys})
  WHERE own.company_id = $1
  ON CONFLICT (company_id, {keys}) DO UPDATE SET {set}
)
` + reportWrong

const reportWrong = `SELECT '{table}' AS total, concat_ws(' ', {fkeys}) AS key, coalesce(f.stored, '') AS stored, coalesce(f.derived, '') AS derived,
  count(*) OVER () AS number
FROM wrong f
ORDER BY {fkeys}
LIMIT 1000`

// rebuildAddresses compares what a day and ip_days have of an address together:
// which of them has how much depends on the order of the batches. Where that is
// wrong, the day gets its first address and ip_days the others.
const rebuildAddresses = `
WITH {with}wanted AS ({derived}
), found AS (
  SELECT {keys}, ROW(sum(mobile_originated)::bigint, sum(mobile_terminated)::bigint, max(last_seen))::text AS stored
  FROM (
    SELECT {tkeys}, t.ip_originated AS mobile_originated, t.ip_terminated AS mobile_terminated, t.ip_last_seen AS last_seen
    FROM subscriber_days t
    WHERE t.company_id = $1 AND {within} AND t.ip_address IS NOT NULL
    UNION ALL
    SELECT {tkeys}, t.mobile_originated, t.mobile_terminated, t.last_seen FROM ip_days t WHERE t.company_id = $1 AND {within}
  ) AS parts
  GROUP BY {keys}
), wrong AS (
  SELECT {keys}, s.stored, w.derived
  FROM found s
  FULL JOIN (SELECT {wkeys}, ROW({wvalues})::text AS derived FROM wanted w) w USING ({keys})
  WHERE s.stored IS DISTINCT FROM w.derived
), anew AS (
  SELECT day, subscriber_key, group_id, w.ip_address, w.mobile_originated, w.mobile_terminated, w.last_seen,
    row_number() OVER (PARTITION BY day, subscriber_key, group_id ORDER BY w.ip_address) AS place
  FROM (SELECT DISTINCT day, subscriber_key, group_id FROM wrong) AS f
  LEFT JOIN wanted w USING (day, subscriber_key, group_id)
), first AS (
  UPDATE subscriber_days t
  SET ip_address = a.ip_address, ip_originated = coalesce(a.mobile_originated, 0), ip_terminated = coalesce(a.mobile_terminated, 0),
    ip_last_seen = a.last_seen
  FROM anew a
  WHERE t.company_id = $1 AND a.place = 1 AND t.day = a.day AND t.subscriber_key = a.subscriber_key AND t.group_id = a.group_id
), removed AS (
  DELETE FROM ip_days t
  USING anew a
  WHERE t.company_id = $1 AND a.place = 1 AND t.day = a.day AND t.subscriber_key = a.subscriber_key AND t.group_id = a.group_id
    AND NOT EXISTS (SELECT FROM anew o WHERE o.place > 1 AND {oequal})
), others AS (
  INSERT INTO ip_days (company_id, {keys}, {values})
  SELECT own.company_id, {akeys}, {avalues}
  FROM companies own
  CROSS JOIN anew a
  WHERE own.company_id = $1 AND a.place > 1
  ON CONFLICT (company_id, {keys}) DO UPDATE SET {set}
)
` + reportWrong

func prefixed(prefix string, names []string) string { return prefix + strings.Join(names, ", "+prefix) }

func assignments(names []string) string {
	return strings.Join(pg.Pluck(names, func(name string) string { return name + " = excluded." + name }), ", ")
}

func equal(left, right string, names []string) string {
	return strings.Join(pg.Pluck(names, func(name string) string { return left + name + " = " + right + name }), " AND ")
}

// rebuild collects what a run of Rebuild found.
type rebuild struct {
	usage       *Store
	company     domain.CompanyID
	differences []domain.UsageDifference
	count       int
	progress    func(from, reached, to time.Time)
	// reached is the end of the part that is derived; zero where none is noted.
	reached time.Time
}

// Rebuild implements domain.Usage. It goes by some days at a time, each part in a
// transaction of its own, so that usage can be booked meanwhile.
func (u *Store) Rebuild(ctx context.Context, scope domain.Scope) ([]domain.UsageDifference, int, error) {
	return u.RebuildWith(ctx, scope, RebuildOptions{})
}

// RebuildOptions tune a run of RebuildWith.
type RebuildOptions struct {
	// Anew begins with the first day, also where an earlier run was interrupted.
	Anew bool
	// Progress, which may be nil, is called with the span and the end of each part that
	// is done.
	Progress func(from, reached, to time.Time)
}

// RebuildWith is Rebuild that goes on where an earlier run was interrupted. The number of
// differences includes those of that run, of which the list has none.
func (u *Store) RebuildWith(ctx context.Context, scope domain.Scope, opt RebuildOptions) ([]domain.UsageDifference, int, error) {
	r := &rebuild{usage: u, company: scope.Company, progress: opt.Progress}
	from, to, err := u.span(ctx, scope.Company)
	if err != nil {
		return nil, 0, err
	}
	begin, err := r.resume(ctx, from, opt.Anew)
	if err != nil {
		return nil, 0, err
	}
	if err = r.derive(ctx, ledgerDerivations, func(start time.Time) []any { return []any{start} }); err == nil {
		err = r.days(ctx, begin, from, to)
	}
	if err == nil {
		err = r.months(ctx, from, to)
	}
	if err == nil {
		err = r.periods(ctx, from, to)
	}
	if err == nil {
		err = r.derive(ctx, []derivation{seen}, func(start time.Time) []any { return []any{start} })
	}
	if err == nil {
		_, err = pg.Affected(ctx, u.pool, forgetRebuild, r.company)
	}
	return r.differences, r.count, err
}

// days corrects the totals of days, as many at once as rebuiltAtOnce records allow: the
// subscribers, of whom each statement reads the groups, cost the same for each.
func (r *rebuild) days(ctx context.Context, begin, first, to time.Time) error {
	defer func() { r.reached = time.Time{} }()
	for from := begin; from.Before(to); from = r.reached {
		until, err := r.partUntil(ctx, from, to)
		if err != nil {
			return err
		}
		r.reached = until
		err = r.derive(ctx, dayDerivations, func(start time.Time) []any {
			if !until.After(start) {
				return nil
			}
			return []any{domain.Later(from, start), until}
		})
		if err != nil {
			return err
		}
		if r.progress != nil {
			r.progress(first, until, to)
		}
	}
	return nil
}

// derive corrects totals in one transaction, in which the ledger loses no month.
// args returns the parameters by where the ledger starts, nil to leave all as it
// is: a month may have been detached since the rebuild began.
func (r *rebuild) derive(ctx context.Context, totals []derivation, args func(start time.Time) []any) error {
	return pg.InTx(ctx, r.usage.pool, func(tx *sqlx.Tx) error {
		start, err := lockLedger(ctx, tx, r.company)
		if err != nil {
			return err
		}
		parameters := args(start)
		if parameters == nil {
			return nil
		}
		if _, err := companies.Lock(ctx, tx, r.company); err != nil {
			return err
		}
		if err := r.correct(ctx, tx, totals, parameters...); err != nil || r.reached.IsZero() {
			return err
		}
		return execute(ctx, tx, noteRebuild, r.company, r.reached, r.count)
	})
}

// differenceRow is one of the differences that a statement found, with their
// number.
type differenceRow struct {
	domain.UsageDifference
	Number int
}

func (r *rebuild) correct(ctx context.Context, tx *sqlx.Tx, totals []derivation, args ...any) error {
	for _, total := range totals {
		rows, err := pg.SelectAll[differenceRow](ctx, tx, total.statement(), append([]any{r.company}, args...)...)
		if err != nil {
			return fmt.Errorf("rebuild %s: %w", total.table, err)
		}
		if len(rows) > 0 {
			r.count += rows[0].Number
		}
		for _, row := range rows[:min(len(rows), reportedDifferences-len(r.differences))] {
			r.differences = append(r.differences, row.UsageDifference)
		}
	}
	return nil
}

// periods corrects the billing periods of a span.
func (r *rebuild) periods(ctx context.Context, from, to time.Time) error {
	company, err := companies.New(r.usage.pool).Find(ctx, domain.Whole(r.company))
	if err != nil {
		return err
	}
	for _, p := range periodsBetween(company.Billing(), from, to) {
		err := r.derive(ctx, periodDerivations, func(start time.Time) []any {
			if !derivable(p, start) {
				return nil
			}
			return []any{p.Start, p.End, start}
		})
		if err != nil {
			return err
		}
	}
	return r.usage.notifyDerived(ctx, r.company)
}

// derivable reports whether a ledger that starts at a time gives the totals of a
// period exactly. What is before it is known by the hour.
func derivable(p domain.Period, start time.Time) bool {
	return p.End.After(start) && (!p.Start.Before(start) || p.Start.Truncate(time.Hour).Equal(p.Start))
}

// periodsBetween returns the billing periods that share time with a span.
func periodsBetween(billing domain.Billing, from, to time.Time) []domain.Period {
	var periods []domain.Period
	for p := billing.PeriodAt(from); p.Start.Before(to); p = billing.PeriodAt(p.End) {
		periods = append(periods, p)
	}
	return periods
}

const usageDays = `
SELECT min(d.first) AS first, max(d.last) AS last
FROM (
  SELECT min(h.hour) AS first, max(h.hour) AS last FROM company_hours h WHERE h.company_id = $1 AND h.hour >= $2
  UNION ALL
  SELECT min(r.started_at), max(r.started_at) FROM usage_records r WHERE r.company_id = $1 AND r.started_at >= $2
) AS d`

// span returns the UTC days that the ledger has records of, or wrong totals.
func (u *Store) span(ctx context.Context, company domain.CompanyID) (from, to time.Time, err error) {
	ledger, err := ReadLedger(ctx, u.pool)
	if err != nil {
		return from, to, err
	}
	start, err := derivableFrom(ctx, u.pool, company, ledger)
	if err != nil {
		return from, to, err
	}
	days, err := pg.GetOne[hourSpan](ctx, u.pool, nil, usageDays, company, start)
	if err != nil || days.First == nil {
		return from, to, err
	}
	return dayOf(*days.First), dayOf(*days.Last).AddDate(0, 0, 1), nil
}

func dayOf(t time.Time) time.Time { return t.UTC().Truncate(hoursOfDay * time.Hour) }
