package usage

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/pg"
	"simgraph/domain"
)

// bookTotals adds entries, which are in the ledger, to every total.
func (u *Store) bookTotals(ctx context.Context, tx *sqlx.Tx, company *domain.Company, protocols map[string]int16, entries []*usageEntry) error {
	if len(entries) == 0 {
		return nil
	}
	b, read, err := newBooking(ctx, tx, company, entries)
	if err != nil {
		return err
	}
	w := totalsWriter{ctx, tx, company.CompanyID, protocols, b}
	if err := w.reopenMonths(read.summed); err != nil {
		return err
	}
	subscribers, groups, err := w.write()
	if err != nil || u.observer == nil || !read.watched {
		return err
	}
	return u.observer.UsageBooked(ctx, tx, company, subscribers, groups)
}

// totalsWriter writes a booking.
type totalsWriter struct {
	ctx       context.Context
	tx        *sqlx.Tx
	company   domain.CompanyID
	protocols map[string]int16
	*domain.Booking
}

// A booking is added to all totals by one statement, each total in a part of its own.
// The lock on the company keeps other writers away, so the order of the parts does
// not matter. Most records begin no session, and some are in no group: a part costs
// as much when it has nothing to add.
const (
	writeTotals   = "\nWITH " + addDays + addHours + completeSources + addSubscriberPeriods + addSeen + totalsAfter
	writeGrouped  = "\nWITH " + addDays + addHours + completeSources + addSubscriberPeriods + addSeen + addGroups + totalsAfter + groupTotalsAfter
	writeSessions = "\nWITH " + addDays + addHours + completeSources + addSubscriberPeriods + addSeen + addGroups + addSessions + totalsAfter + groupTotalsAfter
)

// statement returns the statement with the parts that have something to add, and its
// parameters.
func (w totalsWriter) statement(days *dayColumns) (sql string, args []any) {
	sql, args = writeTotals, slices.Concat([]any{w.company}, days.args, hourColumns(w.CompanyHours)[1:], w.sourceColumns(), w.subscriberColumns())
	begins := len(w.CompanySessions)+len(w.GroupSessions) > 0
	if begins || len(w.GroupHours)+len(w.GroupPeriods) > 0 {
		sql, args = writeGrouped, slices.Concat(args, hourColumns(w.GroupHours), w.groupColumns())
	}
	if begins {
		sql, args = writeSessions, slices.Concat(args, w.sessionColumns(w.Begun), sessionHourColumns(w.CompanySessions)[1:], sessionHourColumns(w.GroupSessions))
	}
	return sql, args
}

// write adds the booking to the totals, and returns how those of billing periods
// moved.
func (w totalsWriter) write() (subscribers, groups []TotalChange, err error) {
	days := w.columnsOfDays()
	sql, args := w.statement(days)
	rows, err := pg.SelectAll[writtenTotals](w.ctx, w.tx, sql, args...)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range rows {
		switch r.Total {
		case "days":
			days.addDiffering(r, w.Days)
		case "subscribers":
			subscribers = r.changes(subscribers, func(k domain.PeriodKey) int64 { return w.SubscriberPeriods[k].Total() })
		case "groups":
			groups = r.changes(groups, func(k domain.PeriodKey) int64 { return w.GroupPeriods[k].Total() })
		}
	}
	if err := w.addAddresses(days.apart); err != nil {
		return nil, nil, err
	}
	return subscribers, groups, w.moveSessions()
}

// sessionColumns are subscriber, session, begin and whether that is by record 0.
func (w totalsWriter) sessionColumns(starts domain.SessionStarts) []any {
	keys := ordered(starts, compareSessions)
	return []any{
		intArray(keys, func(k domain.SessionKey) int64 { return k.Subscriber }),
		textArray(keys, func(k domain.SessionKey) string { return k.Session }),
		intArray(keys, func(k domain.SessionKey) int64 { return starts[k].BeganAt.UnixMicro() }),
		pq.BoolArray(pg.Pluck(keys, func(k domain.SessionKey) bool { return starts[k].IsOpened })),
	}
}

// moveSessions finds sessions by their key, where a join might be planned to read all.
const moveSessions = `
INSERT INTO usage_sessions (company_id, subscriber_key, session_id, began_at, is_opened)
SELECT own.company_id, n.subscriber_key, n.session_id, to_timestamp(n.began_at / 1e6::float8), n.is_opened
FROM companies own
CROSS JOIN unnest($2::bigint[], $3::text[], $4::bigint[], $5::boolean[]) AS n(subscriber_key, session_id, began_at, is_opened)
WHERE own.company_id = $1
ON CONFLICT (company_id, subscriber_key, session_id) DO UPDATE SET began_at = excluded.began_at, is_opened = excluded.is_opened`

// moveSessions stores the sessions that began at another time than was known: few.
func (w totalsWriter) moveSessions() error {
	if len(w.Moved) == 0 {
		return nil
	}
	return w.exec(moveSessions, w.sessionColumns(w.Moved)...)
}

func (w totalsWriter) exec(sql string, args ...any) error {
	_, err := w.tx.ExecContext(w.ctx, sql, append([]any{w.company}, args...)...)
	return err
}

const addHours = `, hours AS (
  INSERT INTO company_hours AS h (company_id, hour, protocol, mobile_originated, mobile_terminated)
  SELECT own.company_id, n.hour, n.protocol, n.originated, n.terminated
  FROM companies own
  CROSS JOIN unnest($15::timestamptz[], $16::text[], $17::bigint[], $18::bigint[]) AS n(hour, protocol, originated, terminated)
  WHERE own.company_id = $1
  ON CONFLICT (company_id, hour, protocol) DO UPDATE
  SET mobile_originated = h.mobile_originated + excluded.mobile_originated,
    mobile_terminated = h.mobile_terminated + excluded.mobile_terminated
)`

// hourColumns are group, hour, protocol, originated and terminated.
func hourColumns(totals map[domain.HourKey]*domain.Volume) []any {
	keys := ordered(totals, compareHours)
	return []any{
		intArray(keys, func(k domain.HourKey) int64 { return k.Group }),
		hourArray(keys, func(k domain.HourKey) int64 { return k.Hour }),
		textArray(keys, func(k domain.HourKey) string { return k.Protocol }),
		intArray(keys, func(k domain.HourKey) int64 { return totals[k].MobileOriginated }),
		intArray(keys, func(k domain.HourKey) int64 { return totals[k].MobileTerminated }),
	}
}

// addSessions inserts sessions without looking again whether they are there: the lock
// on the company keeps others from beginning them.
const addSessions = `, new_sessions AS (
  INSERT INTO usage_sessions (company_id, subscriber_key, session_id, began_at, is_opened)
  SELECT own.company_id, n.subscriber_key, n.session_id, to_timestamp(n.began_at / 1e6::float8), n.is_opened
  FROM companies own
  CROSS JOIN unnest($35::bigint[], $36::text[], $37::bigint[], $38::boolean[]) AS n(subscriber_key, session_id, began_at, is_opened)
  WHERE own.company_id = $1
), begun AS (
  INSERT INTO company_sessions AS h (company_id, hour, sessions)
  SELECT own.company_id, n.hour, n.sessions
  FROM companies own
  CROSS JOIN unnest($39::timestamptz[], $40::bigint[]) AS n(hour, sessions)
  WHERE own.company_id = $1
  ON CONFLICT (company_id, hour) DO UPDATE SET sessions = h.sessions + excluded.sessions
), begun_of_groups AS (
  INSERT INTO group_sessions AS h (company_id, group_id, hour, sessions)
  SELECT own.company_id, n.group_id, n.hour, n.sessions
  FROM companies own
  CROSS JOIN unnest($41::bigint[], $42::timestamptz[], $43::bigint[]) AS n(group_id, hour, sessions)
  WHERE own.company_id = $1
  ON CONFLICT (company_id, group_id, hour) DO UPDATE SET sessions = h.sessions + excluded.sessions
)`

// sessionHourColumns are group, hour and sessions.
func sessionHourColumns(totals map[domain.SessionsKey]int64) []any {
	keys := ordered(totals, compareSessionHours)
	return []any{
		intArray(keys, func(k domain.SessionsKey) int64 { return k.Group }),
		hourArray(keys, func(k domain.SessionsKey) int64 { return k.Hour }),
		intArray(keys, func(k domain.SessionsKey) int64 { return totals[k] }),
	}
}

const completeSources = `, sources AS (
  INSERT INTO usage_sources AS s (company_id, source, complete_until)
  SELECT own.company_id, n.source, n.complete_until
  FROM companies own
  CROSS JOIN unnest($19::text[], $20::timestamptz[]) AS n(source, complete_until)
  WHERE own.company_id = $1
  ON CONFLICT (company_id, source) DO UPDATE SET complete_until = excluded.complete_until
  WHERE excluded.complete_until > s.complete_until
)`

// sourceColumns are the names and ends of sources.
func (w totalsWriter) sourceColumns() []any {
	names := slices.Sorted(maps.Keys(w.Sources))
	return []any{pq.StringArray(names), TimeArray(pg.Pluck(names, func(name string) time.Time { return w.Sources[name] }))}
}
