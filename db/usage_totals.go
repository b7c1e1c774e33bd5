package db

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/domain"
)

// bookTotals adds entries, which are in the ledger, to every total.
func (u *Usage) bookTotals(ctx context.Context, tx *sqlx.Tx, company *domain.Company, protocols map[string]int16, entries []*usageEntry) error {
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
		w.days, w.addresses, w.companyHours, w.groupHours, w.companySessions, w.groupSessions, w.sources,
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
// record 0 from any other, else to an earlier one of the same kind.
const beginSessions = `
WITH begun AS (
  INSERT INTO usage_sessions AS s (company_id, subscriber_key, session_id, began_at, is_opened)
  SELECT $1, n.subscriber_key, n.session_id, n.began_at, n.is_opened
  FROM unnest($2::bigint[], $3::text[], $4::timestamptz[], $5::boolean[]) AS n(subscriber_key, session_id, began_at, is_opened)
  ON CONFLICT (company_id, subscriber_key, session_id) DO UPDATE
  SET began_before = s.began_at, began_at = excluded.began_at, is_opened = excluded.is_opened
  WHERE excluded.is_opened AND NOT s.is_opened OR excluded.is_opened = s.is_opened AND excluded.began_at < s.began_at
  RETURNING subscriber_key, began_at, began_before
)
SELECT subscriber_key, began_at, began_before FROM begun`

// sessions counts the sessions that the entries began, or began at another time
// than was known.
func (w totalsWriter) sessions(entries []*usageEntry) error {
	starts := sessionStarts(entries)
	keys := ordered(starts, sessionKey.compare)
	type row struct {
		SubscriberKey int64
		BeganAt       time.Time
		BeganBefore   *time.Time
	}
	rows, err := selectAll[row](w.ctx, w.tx, beginSessions, w.company,
		intArray(keys, func(k sessionKey) int64 { return k.subscriber }),
		textArray(keys, func(k sessionKey) string { return k.session }),
		timeArray(pluck(keys, func(k sessionKey) time.Time { return starts[k].began })),
		pq.BoolArray(pluck(keys, func(k sessionKey) bool { return starts[k].isOpened })))
	if err != nil {
		return err
	}
	for _, r := range rows {
		w.addSessions(r.SubscriberKey, r.BeganAt, 1)
		if r.BeganBefore != nil {
			w.addSessions(r.SubscriberKey, *r.BeganBefore, -1)
		}
	}
	return nil
}

type sessionKey struct {
	subscriber int64
	session    string
}

func (k sessionKey) compare(to sessionKey) int {
	if k.subscriber != to.subscriber {
		return int(min(max(k.subscriber-to.subscriber, -1), 1))
	}
	return slices.Compare([]byte(k.session), []byte(to.session))
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

// addDays appends the cells to those of the day, and adds up what came often
// whenever the day has 32 cells more.
const addDays = `
INSERT INTO subscriber_days AS d (company_id, day, subscriber_key, group_id, mobile_originated, mobile_terminated, sessions, last_seen, cells)
SELECT $1, DATE 'epoch' + n.day, n.subscriber_key, n.group_id, n.originated, n.terminated, n.sessions,
  to_timestamp(n.last_seen), ($9::bigint[])[n.first_cell:n.last_cell]
FROM unnest($2::integer[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $10::integer[], $11::integer[])
AS n(day, subscriber_key, group_id, originated, terminated, sessions, last_seen, first_cell, last_cell)
ON CONFLICT (company_id, day, subscriber_key, group_id) DO UPDATE
SET mobile_originated = d.mobile_originated + excluded.mobile_originated,
  mobile_terminated = d.mobile_terminated + excluded.mobile_terminated,
  sessions = d.sessions + excluded.sessions,
  last_seen = greatest(d.last_seen, excluded.last_seen),
  cells = CASE WHEN cardinality(d.cells) / 160 = (cardinality(d.cells) + cardinality(excluded.cells)) / 160
    THEN d.cells || excluded.cells
    ELSE usage_compact(d.cells || excluded.cells) END`

func (w totalsWriter) days() error {
	keys := ordered(w.usageBooking.days, dayKey.compare)
	of := func(field func(d *day) int64) any {
		return intArray(keys, func(k dayKey) int64 { return field(w.usageBooking.days[k]) })
	}
	var cells, first, last pq.Int64Array
	for _, key := range keys {
		first = append(first, int64(len(cells))+1)
		cells = w.usageBooking.days[key].pack(cells)
		last = append(last, int64(len(cells)))
	}
	return w.exec(addDays,
		intArray(keys, func(k dayKey) int64 { return k.day }),
		intArray(keys, func(k dayKey) int64 { return k.subscriber }),
		intArray(keys, func(k dayKey) int64 { return k.group }),
		of(func(d *day) int64 { return d.originated }), of(func(d *day) int64 { return d.terminated }),
		of(func(d *day) int64 { return d.sessions }), of(func(d *day) int64 { return d.lastSeen }),
		cells, first, last)
}

// pack appends the cells of the day in the order of their slots.
func (d *day) pack(cells []int64) []int64 {
	for _, slot := range slices.Sorted(maps.Keys(d.cells)) {
		c := d.cells[slot]
		cells = append(cells, slot, c.originated, c.terminated, c.lastSeen, c.sessions)
	}
	return cells
}

const addAddresses = `
INSERT INTO ip_days AS d (company_id, day, subscriber_key, group_id, ip_address, mobile_originated, mobile_terminated, last_seen)
SELECT $1, DATE 'epoch' + n.day, n.subscriber_key, n.group_id, n.ip_address::inet, n.originated, n.terminated, to_timestamp(n.last_seen)
FROM unnest($2::integer[], $3::bigint[], $4::bigint[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[])
AS n(day, subscriber_key, group_id, ip_address, originated, terminated, last_seen)
ON CONFLICT (company_id, day, subscriber_key, group_id, ip_address) DO UPDATE
SET mobile_originated = d.mobile_originated + excluded.mobile_originated,
  mobile_terminated = d.mobile_terminated + excluded.mobile_terminated,
  last_seen = greatest(d.last_seen, excluded.last_seen)`

func (w totalsWriter) addresses() error {
	if len(w.usageBooking.addresses) == 0 {
		return nil
	}
	keys := ordered(w.usageBooking.addresses, addressKey.compare)
	of := func(field func(v *seenVolume) int64) any {
		return intArray(keys, func(k addressKey) int64 { return field(w.usageBooking.addresses[k]) })
	}
	return w.exec(addAddresses,
		intArray(keys, func(k addressKey) int64 { return k.day }),
		intArray(keys, func(k addressKey) int64 { return k.subscriber }),
		intArray(keys, func(k addressKey) int64 { return k.group }),
		textArray(keys, func(k addressKey) string { return k.address.String() }),
		of(func(v *seenVolume) int64 { return v.originated }), of(func(v *seenVolume) int64 { return v.terminated }),
		of(func(v *seenVolume) int64 { return v.lastSeen }))
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
		timeArray(pluck(names, func(name string) time.Time { return w.usageBooking.sources[name] })))
}
