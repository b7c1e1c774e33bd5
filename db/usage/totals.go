package usage

import (
	"cmp"
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
	groups, err := loadGroupHistories(ctx, tx, company.CompanyID, subscribersOf(entries))
	if err != nil {
		return err
	}
	b := newUsageBooking(company.Billing(), protocols, groups)
	b.addAll(entries)
	w := totalsWriter{ctx, tx, company.CompanyID, b}
	for _, write := range []func() error{
		func() error { return w.sessions(entries) },
		w.days, w.companyHours, w.groupHours, w.companySessions, w.groupSessions, w.sources,
	} {
		if err := write(); err != nil {
			return err
		}
	}
	return w.periods(u.observer, company)
}

// totalsWriter writes a booking, each kind of total with one statement.
type totalsWriter struct {
	ctx     context.Context
	tx      *sqlx.Tx
	company domain.CompanyID
	*usageBooking
}

func (w totalsWriter) exec(sql string, args ...any) error {
	_, err := w.tx.ExecContext(w.ctx, sql, append([]any{w.company}, args...)...)
	return err
}

// sessionStart is the first record of a session, as far as is known.
type sessionStart struct {
	began    time.Time
	isOpened bool
}

// beginSessions moves the beginning of sessions only where that changes: to
// record 0 from any other, else to an earlier one of the same kind. Most sessions
// are known and stay as they are: those are looked up, not locked. The lock on the
// company keeps others from beginning them meanwhile, and to insert without
// looking again is cheaper. What has moved is found by the key too: a join may be
// planned to read all.
const beginSessions = `
WITH changed AS MATERIALIZED (
  SELECT n.place, n.subscriber_key, n.session_id, to_timestamp(n.began_at / 1e6::float8) AS began_at, n.is_opened, s.began_at AS began_before
  FROM unnest($2::bigint[], $3::text[], $4::bigint[], $5::boolean[]) WITH ORDINALITY AS n(subscriber_key, session_id, began_at, is_opened, place)
  LEFT JOIN LATERAL (
    SELECT s.began_at, s.is_opened
    FROM usage_sessions s
    WHERE s.company_id = $1 AND s.subscriber_key = n.subscriber_key AND s.session_id = n.session_id
    OFFSET 0
  ) s ON true
  WHERE s.began_at IS NULL OR n.is_opened AND NOT s.is_opened
    OR n.is_opened = s.is_opened AND to_timestamp(n.began_at / 1e6::float8) < s.began_at
), begun AS (
  INSERT INTO usage_sessions (company_id, subscriber_key, session_id, began_at, is_opened)
  SELECT $1, subscriber_key, session_id, began_at, is_opened
  FROM changed
  WHERE began_before IS NULL
), moved AS (
  INSERT INTO usage_sessions (company_id, subscriber_key, session_id, began_at, is_opened)
  SELECT $1, subscriber_key, session_id, began_at, is_opened
  FROM changed
  WHERE began_before IS NOT NULL
  ON CONFLICT (company_id, subscriber_key, session_id) DO UPDATE SET began_at = excluded.began_at, is_opened = excluded.is_opened
)
SELECT coalesce(array_agg(place), '{}'), coalesce(array_agg(coalesce((date_part('epoch', began_before) * 1000000)::bigint, 0)), '{}')
FROM changed`

// sessions counts the sessions that the entries began, or began at another time
// than was known.
func (w totalsWriter) sessions(entries []*usageEntry) error {
	starts := sessionStarts(entries)
	keys := ordered(starts, sessionKey.compare)
	var places, before pq.Int64Array
	row := w.tx.QueryRowxContext(w.ctx, beginSessions, w.company,
		intArray(keys, func(k sessionKey) int64 { return k.subscriber }),
		textArray(keys, func(k sessionKey) string { return k.session }),
		intArray(keys, func(k sessionKey) int64 { return starts[k].began.UnixMicro() }),
		pq.BoolArray(pg.Pluck(keys, func(k sessionKey) bool { return starts[k].isOpened })))
	if err := row.Scan(&places, &before); err != nil {
		return err
	}
	for i, place := range places {
		key := keys[place-1]
		w.addSessions(key.subscriber, starts[key].began, 1)
		if before[i] != 0 {
			w.addSessions(key.subscriber, time.UnixMicro(before[i]), -1)
		}
	}
	return nil
}

type sessionKey struct {
	subscriber int64
	session    string
}

func (k sessionKey) compare(to sessionKey) int {
	return cmp.Or(cmp.Compare(k.subscriber, to.subscriber), cmp.Compare(k.session, to.session))
}

func sessionStarts(entries []*usageEntry) map[sessionKey]sessionStart {
	starts := make(map[sessionKey]sessionStart, len(entries))
	for _, e := range entries {
		if e.SessionID == "" {
			continue
		}
		key, opens := sessionKey{e.subscriber, e.SessionID}, e.Sequence == 0
		known, again := starts[key]
		if !again || opens && !known.isOpened || opens == known.isOpened && e.StartedAt.Before(known.began) {
			starts[key] = sessionStart{e.StartedAt, opens}
		}
	}
	return starts
}

const addCompanyHours = `
INSERT INTO company_hours AS h (company_id, hour, protocol, mobile_originated, mobile_terminated)
SELECT $1, n.hour, n.protocol, n.originated, n.terminated
FROM unnest($2::timestamptz[], $3::text[], $4::bigint[], $5::bigint[]) AS n(hour, protocol, originated, terminated)
ON CONFLICT (company_id, hour, protocol) DO UPDATE
SET mobile_originated = h.mobile_originated + excluded.mobile_originated,
  mobile_terminated = h.mobile_terminated + excluded.mobile_terminated`

func (w totalsWriter) companyHours() error {
	return w.exec(addCompanyHours, hourColumns(w.usageBooking.companyHours)[1:]...)
}

const addGroupHours = `
INSERT INTO group_hours AS h (company_id, group_id, hour, protocol, mobile_originated, mobile_terminated)
SELECT $1, n.group_id, n.hour, n.protocol, n.originated, n.terminated
FROM unnest($2::bigint[], $3::timestamptz[], $4::text[], $5::bigint[], $6::bigint[]) AS n(group_id, hour, protocol, originated, terminated)
ON CONFLICT (company_id, group_id, hour, protocol) DO UPDATE
SET mobile_originated = h.mobile_originated + excluded.mobile_originated,
  mobile_terminated = h.mobile_terminated + excluded.mobile_terminated`

func (w totalsWriter) groupHours() error {
	if len(w.usageBooking.groupHours) == 0 {
		return nil
	}
	return w.exec(addGroupHours, hourColumns(w.usageBooking.groupHours)...)
}

// hourColumns are group, hour, protocol, originated and terminated.
func hourColumns(totals map[hourKey]*volume) []any {
	keys := ordered(totals, hourKey.compare)
	return []any{
		intArray(keys, func(k hourKey) int64 { return k.group }),
		hourArray(keys, func(k hourKey) int64 { return k.hour }),
		textArray(keys, func(k hourKey) string { return k.protocol }),
		intArray(keys, func(k hourKey) int64 { return totals[k].originated }),
		intArray(keys, func(k hourKey) int64 { return totals[k].terminated }),
	}
}

const addCompanySessions = `
INSERT INTO company_sessions AS h (company_id, hour, sessions)
SELECT $1, n.hour, n.sessions
FROM unnest($2::timestamptz[], $3::bigint[]) AS n(hour, sessions)
ON CONFLICT (company_id, hour) DO UPDATE SET sessions = h.sessions + excluded.sessions`

func (w totalsWriter) companySessions() error {
	return w.exec(addCompanySessions, sessionColumns(w.usageBooking.companySessions)[1:]...)
}

const addGroupSessions = `
INSERT INTO group_sessions AS h (company_id, group_id, hour, sessions)
SELECT $1, n.group_id, n.hour, n.sessions
FROM unnest($2::bigint[], $3::timestamptz[], $4::bigint[]) AS n(group_id, hour, sessions)
ON CONFLICT (company_id, group_id, hour) DO UPDATE SET sessions = h.sessions + excluded.sessions`

func (w totalsWriter) groupSessions() error {
	if len(w.usageBooking.groupSessions) == 0 {
		return nil
	}
	return w.exec(addGroupSessions, sessionColumns(w.usageBooking.groupSessions)...)
}

// sessionColumns are group, hour and sessions.
func sessionColumns(totals map[sessionsKey]int64) []any {
	keys := ordered(totals, sessionsKey.compare)
	return []any{
		intArray(keys, func(k sessionsKey) int64 { return k.group }),
		hourArray(keys, func(k sessionsKey) int64 { return k.hour }),
		intArray(keys, func(k sessionsKey) int64 { return totals[k] }),
	}
}

const completeSources = `
INSERT INTO usage_sources AS s (company_id, source, complete_until)
SELECT $1, n.source, n.complete_until
FROM unnest($2::text[], $3::timestamptz[]) AS n(source, complete_until)
ON CONFLICT (company_id, source) DO UPDATE SET complete_until = excluded.complete_until
WHERE excluded.complete_until > s.complete_until`

func (w totalsWriter) sources() error {
	names := slices.Sorted(maps.Keys(w.usageBooking.sources))
	return w.exec(completeSources, pq.StringArray(names),
		TimeArray(pg.Pluck(names, func(name string) time.Time { return w.usageBooking.sources[name] })))
}
