package usage

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/companies"
	"simgraph/db/pg"
	"simgraph/domain"
)

const (
	// regroupedAtOnce bounds the days of subscribers that one transaction goes
	// through: the company's usage waits for its end.
	regroupedAtOnce = 20_000
	// takenAtOnce bounds the subscribers of one transaction.
	takenAtOnce = 5000
)

// regroup moves the usage of the subscribers that NoteMoves has marked, part by
// part. Each part and the marks of its subscribers are one transaction under the
// lock of the company: of several that regroup at once, each takes the next part,
// and after an interruption the next call goes on where this one ended.
func (u *Store) regroup(ctx context.Context, company domain.CompanyID) error {
	for more := true; more; {
		err := pg.Retry(ctx, func() error {
			return pg.InTx(ctx, u.pool, func(tx *sqlx.Tx) (err error) {
				more, err = u.regroupPart(ctx, tx, company)
				return err
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

const pendingMove = `
SELECT since::timestamp AT TIME ZONE 'UTC' AS since, groups
FROM company_moves
WHERE company_id = $1`

// regrouping is a part of the work under way.
type regrouping struct {
	ctx     context.Context
	tx      *sqlx.Tx
	company *domain.Company
	// ledger is where its first month starts: older usage stays with the groups
	// that it was booked to. All usage is before until.
	ledger, until time.Time
	// since is the first day of usage that moves.
	since time.Time
	// groups are those whose usage has changed since the first part.
	groups map[int64]bool
}

func (u *Store) regroupPart(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID) (more bool, err error) {
	ledger, err := lockLedger(ctx, tx, company)
	if err != nil {
		return false, err
	}
	locked, err := companies.Lock(ctx, tx, company)
	if err != nil {
		return false, err
	}
	if _, err := tx.ExecContext(ctx, adoptMoves, company); err != nil {
		return false, err
	}
	r := &regrouping{ctx: ctx, tx: tx, company: locked, ledger: ledger}
	if pending, err := r.open(); err != nil || !pending {
		return false, err
	}
	marks, err := pg.SelectAll[subscriberMove](ctx, tx, nextMoves, company, takenAtOnce)
	if err != nil {
		return false, err
	}
	if len(marks) == 0 {
		return false, r.close(u.observer)
	}
	return true, r.move(marks)
}

// open loads what is pending; false when nothing is.
func (r *regrouping) open() (pending bool, err error) {
	type row struct {
		Since  time.Time
		Groups pq.Int64Array
	}
	moves, err := pg.SelectAll[row](r.ctx, r.tx, pendingMove, r.company.CompanyID)
	if err != nil || len(moves) == 0 {
		return false, err
	}
	r.since, r.groups = moves[0].Since, map[int64]bool{}
	for _, group := range moves[0].Groups {
		r.groups[group] = true
	}
	booked, err := pg.GetOne[hourSpan](r.ctx, r.tx, nil, bookedSpan, r.company.CompanyID)
	if err == nil && booked.Last != nil {
		r.until = dayOf(*booked.Last).AddDate(0, 0, 1)
	}
	return true, err
}

// nextMoves takes those together that moved at about the same time: the ledger
// is read for days on which a group changed.
const nextMoves = `
SELECT subscriber_key, since::timestamp AT TIME ZONE 'UTC' AS since
FROM subscriber_moves
WHERE company_id = $1
ORDER BY since, subscriber_key
LIMIT $2`

// subscriberMove is a mark of NoteMoves.
type subscriberMove struct {
	SubscriberKey int64
	Since         time.Time
}

const (
	forgetMoves    = `DELETE FROM subscriber_moves WHERE company_id = $1 AND subscriber_key = ANY($2)`
	noteRegrouping = `UPDATE company_moves SET groups = $2 WHERE company_id = $1`
)

// move regroups the days of as many of the marked subscribers as go into a part.
func (r *regrouping) move(marks []*subscriberMove) error {
	from := domain.LaterOf(marks[0].Since, r.ledger)
	if days := int(r.until.Sub(from) / (hoursOfDay * time.Hour)); days > 0 {
		marks = marks[:min(len(marks), max(1, regroupedAtOnce/days))]
	}
	subscribers := pq.Int64Array(pg.Pluck(marks, func(m *subscriberMove) int64 { return m.SubscriberKey }))
	if err := r.days(from, subscribers); err != nil {
		return err
	}
	if _, err := r.tx.ExecContext(r.ctx, forgetMoves, r.company.CompanyID, subscribers); err != nil {
		return err
	}
	_, err := r.tx.ExecContext(r.ctx, noteRegrouping, r.company.CompanyID, r.groupIDs())
	return err
}

// groupIDs is never nil, which would be NULL.
func (r *regrouping) groupIDs() pq.Int64Array {
	return slices.AppendSeq(pq.Int64Array{}, maps.Keys(r.groups))
}

const forgetMove = `DELETE FROM company_moves WHERE company_id = $1`

// close sums up the billing periods of the groups anew, once no subscriber is
// left to move, and evaluates the alerts on them.
func (r *regrouping) close(observer Observer) error {
	from := domain.LaterOf(r.since, r.ledger)
	if len(r.groups) > 0 {
		for _, p := range periodsBetween(r.company.Billing(), from, r.until) {
			if err := r.sumUp(p); err != nil {
				return err
			}
		}
		if observer != nil {
			if err := observer.TotalsDerived(r.ctx, r.tx, r.company); err != nil {
				return err
			}
		}
	}
	_, err := r.tx.ExecContext(r.ctx, forgetMove, r.company.CompanyID)
	return err
}

// adoptMoves marks the subscribers for a mark of the version before, which says
// no more than that some of the company have moved since a day.
const adoptMoves = `
WITH adopted AS (
  DELETE FROM usage_moves WHERE company_id = $1 RETURNING since
), used AS (
  SELECT d.subscriber_key AS key, min(d.day) AS since
  FROM adopted a
  JOIN subscriber_days d ON d.company_id = $1 AND d.day >= a.since
  GROUP BY d.subscriber_key
), ` + markUsed

// groupPeriods are the billing periods of groups ($3) from $2 on, from the hours
// that lie wholly in the period ($4 to $5) and the records of those that do not
// ($6 to $7): where a zone is no whole hours from UTC, two periods share an hour.
var groupPeriods = derivation{
	table: "group_periods", keys: []string{"period_start", "group_id"}, values: volumes,
	within: "t.period_start = $2 AND t.group_id = ANY($3)" + nonzero,
	with: `
edge AS (
  SELECT r.subscriber_key, r.started_at, r.mobile_originated, r.mobile_terminated
  FROM unnest($6::timestamptz[], $7::timestamptz[]) AS e(since, until)
  JOIN usage_records r ON r.company_id = $1 AND r.started_at >= e.since AND r.started_at < e.until
), ` + SpansOfKnown + " AND k.subscriber_key IN (SELECT subscriber_key FROM edge)" + SpansOf +
		" AND m.subscriber_key IN (SELECT subscriber_key FROM edge)" + SpansInOrder + `, used AS (
  SELECT h.group_id, h.mobile_originated, h.mobile_terminated
  FROM group_hours h
  WHERE h.company_id = $1 AND h.group_id = ANY($3::bigint[]) AND h.hour >= $4::timestamptz AND h.hour < $5::timestamptz
  UNION ALL
  SELECT s.group_id, r.mobile_originated, r.mobile_terminated
  FROM edge r
  JOIN span s ON s.subscriber_key = r.subscriber_key AND r.started_at >= s.since AND r.started_at < s.until
  WHERE s.group_id = ANY($3)
), `,
	derived: "SELECT $2::timestamptz AS period_start, group_id, " + volumeSums + " FROM used GROUP BY group_id" + havingVolume,
}

// sumUp derives the totals of the groups in a billing period.
func (r *regrouping) sumUp(p domain.Period) error {
	hours := domain.HoursOf(p, r.ledger)
	rebuilt := &rebuild{company: r.company.CompanyID}
	return rebuilt.correct(r.ctx, r.tx, []derivation{groupPeriods}, p.Start, r.groupIDs(), hours.From, hours.Until,
		TimeArray(pg.Pluck(hours.Edges, func(e domain.Period) time.Time { return e.Start })),
		TimeArray(pg.Pluck(hours.Edges, func(e domain.Period) time.Time { return e.End })))
}

// Reconcile books quarantined usage of the companies whose subscribers have
// appeared, and moves usage to the groups that its subscribers were in by now.
// Calls that run at the same time share the work. Call it after imports.
func (u *Store) Reconcile(ctx context.Context, companies []domain.CompanyID) error {
	return domain.TryCompanies(ctx, companies, func(company domain.CompanyID) error {
		_, replayed := u.Replay(ctx, domain.Whole(company))
		return errors.Join(replayed, u.regroup(ctx, company))
	})
}

// unreconciled are the companies for which there is something to do; in
// usage_moves are the moves that instances of the version before note.
const unreconciled = `
SELECT u.company_id
FROM (
  SELECT q.company_id
  FROM usage_ledger l
  JOIN usage_quarantine q ON q.started_at >= l.first_month
  JOIN subscribers s ON s.company_id = q.company_id AND (s.physical_id = q.physical_id
    OR s.imsi = q.imsi AND s.imsi <> '' OR s.subscriber_id = q.msisdn AND q.msisdn <> '')
  WHERE $1::bigint[] IS NULL OR q.company_id = ANY($1) AND s.company_id = ANY($1)
  UNION
  SELECT m.company_id FROM company_moves m WHERE $1::bigint[] IS NULL OR m.company_id = ANY($1)
  UNION
  SELECT m.company_id FROM usage_moves m WHERE $1::bigint[] IS NULL OR m.company_id = ANY($1)
) AS u
ORDER BY u.company_id`

// ReconcileAll reconciles every company. Serve calls it now and then, for what
// no import has finished.
func (u *Store) ReconcileAll(ctx context.Context) error {
	behind, failed := companies.With(ctx, u.pool, unreconciled)
	return errors.Join(failed, u.Reconcile(ctx, behind))
}
