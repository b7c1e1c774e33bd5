package usage

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/pg"
	"simgraph/domain"
)

const (
	secondsOfHour = domain.SecondsOfHour
	hoursOfDay    = domain.HoursOfDay
)

// What a booking depends on is read under the lock, in one statement: the groups of
// the subscribers over time and how their sessions began, as arrays rather than a row
// for each, which is several times dearer to read. date_part is exact to the
// microsecond here, and cheaper than extract.
const (
	booksOf = `
SELECT g.keys, g.since, g.groups, b.places, b.began, b.opened, ` + isWatched + `,
  (SELECT max(m.month) FROM usage_months m WHERE m.company_id = $1)
FROM (
  SELECT coalesce(array_agg(m.subscriber_key), '{}') AS keys, coalesce(array_agg((date_part('epoch', m.since) * 1000000)::bigint), '{}') AS since,
    coalesce(array_agg(coalesce(m.group_id, 0)), '{}') AS groups
  FROM group_memberships m
  WHERE m.company_id = $1 AND m.subscriber_key = `
	booksOfSessions = `
) g
CROSS JOIN (
  SELECT coalesce(array_agg(n.place), '{}') AS places, coalesce(array_agg((date_part('epoch', s.began_at) * 1000000)::bigint), '{}') AS began,
    coalesce(array_agg(s.is_opened), '{}') AS opened
  FROM (
    SELECT * FROM unnest($3::bigint[], $4::text[]) WITH ORDINALITY AS n(subscriber_key, session_id, place)`
	booksOfKnown = `
  ) n
  CROSS JOIN LATERAL (
    SELECT s.began_at, s.is_opened
    FROM usage_sessions s
    WHERE s.company_id = $1 AND s.subscriber_key = n.subscriber_key AND s.session_id = n.session_id
    OFFSET 0
  ) s
) b`
	// isWatched is whether the company has alerts, which are made under the lock, or
	// processes that follow its usage.
	isWatched = `EXISTS (SELECT FROM alert_thresholds t WHERE t.company_id = $1) OR ` + IsFollowed
	// IsFollowed is the condition that a process follows the company $1.
	IsFollowed = `EXISTS (` + Followers + `)`
	// Followers are the processes that follow the company $1.
	Followers = `SELECT FROM live_followers WHERE company_id = $1 AND expires_at > now()`

	readBooks = booksOf + "ANY($2::bigint[])" + booksOfSessions + booksOfKnown
	readBook  = booksOf + "($2::bigint[])[1]" + booksOfSessions + " LIMIT 1" + booksOfKnown
)

// newBooking returns what entries add to the totals of the company, which is locked,
// and what was read for it.
func newBooking(ctx context.Context, tx *sqlx.Tx, company *domain.Company, entries []*usageEntry) (b *domain.Booking, r bookRow, err error) {
	starts := domain.SessionStarts{}
	for _, e := range entries {
		starts.Add(e.subscriber, &e.UsageRecord)
	}
	sessions, subscribers := ordered(starts, compareSessions), subscribersOf(entries)
	err = tx.QueryRowxContext(ctx, sized(max(len(subscribers), len(sessions)), readBook, readBooks), company.CompanyID, pq.Int64Array(subscribers),
		intArray(sessions, func(k domain.SessionKey) int64 { return k.Subscriber }),
		textArray(sessions, func(k domain.SessionKey) string { return k.Session }),
	).Scan(&r.keys, &r.since, &r.groups, &r.places, &r.began, &r.opened, &r.watched, &r.summed)
	if err != nil {
		return nil, r, err
	}
	histories := r.histories()
	if err := stillThere(ctx, tx, company.CompanyID, subscribers, histories); err != nil {
		return nil, r, err
	}
	b = domain.NewBooking(company.Billing(), histories)
	for _, e := range entries {
		b.Add(e.subscriber, &e.UsageRecord)
	}
	b.Begin(starts, r.known(sessions))
	return b, r, nil
}

const countThere = `SELECT count(*) FROM subscribers s WHERE s.company_id = $1 AND s.key = ANY($2)`

// errRemoved is that a subscriber was removed between the look-up of its key and the lock on
// the company. The batch is recorded anew, and finds that there is none.
var errRemoved = domain.Unavailable(errors.New("a subscriber of the usage was removed meanwhile"))

// stillThere returns errRemoved where a subscriber of a booking is not there any more. Those
// with a history of groups are: it goes with the subscriber.
func stillThere(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, subscribers []int64, histories map[int64]domain.GroupHistory) error {
	var unsure []int64
	for _, key := range subscribers {
		if _, known := histories[key]; !known {
			unsure = append(unsure, key)
		}
	}
	if len(unsure) == 0 {
		return nil
	}
	there, err := pg.Count(ctx, tx, countThere, company, pq.Int64Array(unsure))
	if err == nil && there < len(unsure) {
		err = errRemoved
	}
	return err
}

// bookRow is the row of readBooks.
type bookRow struct {
	keys, since, groups pq.Int64Array
	places, began       pq.Int64Array
	opened              pq.BoolArray
	watched             bool
	// summed is the last of the months that are being added up or are.
	summed *time.Time
}

func (r *bookRow) histories() map[int64]domain.GroupHistory {
	histories := make(map[int64]domain.GroupHistory, len(r.keys))
	for i, key := range r.keys {
		histories[key] = append(histories[key], domain.GroupSince{Since: r.since[i], Group: r.groups[i]})
	}
	for _, history := range histories {
		slices.SortFunc(history, func(x, y domain.GroupSince) int { return cmp.Compare(x.Since, y.Since) })
	}
	return histories
}

// known are the sessions that are stored, of those that were read.
func (r *bookRow) known(sessions []domain.SessionKey) domain.SessionStarts {
	known := make(domain.SessionStarts, len(r.places))
	for i, place := range r.places {
		known[sessions[place-1]] = domain.SessionStart{BeganAt: time.UnixMicro(r.began[i]), IsOpened: r.opened[i]}
	}
	return known
}

func subscribersOf(entries []*usageEntry) []int64 {
	keys := pg.Pluck(entries, func(e *usageEntry) int64 { return e.subscriber })
	slices.Sort(keys)
	return slices.Compact(keys)
}

// ordered returns the keys of totals in the one order in which all writers lock.
func ordered[K comparable, V any](totals map[K]V, compare func(x, y K) int) []K {
	keys := make([]K, 0, len(totals))
	for key := range totals {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, compare)
	return keys
}

func compareHours(x, y domain.HourKey) int {
	return cmp.Or(cmp.Compare(x.Group, y.Group), cmp.Compare(x.Hour, y.Hour), cmp.Compare(x.Protocol, y.Protocol))
}

func compareSessionHours(x, y domain.SessionsKey) int {
	return cmp.Or(cmp.Compare(x.Group, y.Group), cmp.Compare(x.Hour, y.Hour))
}

func compareDays(x, y domain.DayKey) int {
	return cmp.Or(cmp.Compare(x.Day, y.Day), cmp.Compare(x.Subscriber, y.Subscriber), cmp.Compare(x.Group, y.Group))
}

func comparePeriods(x, y domain.PeriodKey) int {
	return cmp.Or(cmp.Compare(x.Start, y.Start), cmp.Compare(x.ID, y.ID))
}

func compareSessions(x, y domain.SessionKey) int {
	return cmp.Or(cmp.Compare(x.Subscriber, y.Subscriber), cmp.Compare(x.Session, y.Session))
}
