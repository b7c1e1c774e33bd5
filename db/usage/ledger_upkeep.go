package usage

import (
	"context"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"

	"simgraph/db/audit"
	"simgraph/domain"
)

// detachPatience is how long detaching a month waits for transactions that use
// the ledger, while those that come later wait behind it.
const detachPatience = `SET LOCAL lock_timeout = '2s'`

// Upkeep takes the steps that are due: it announces, detaches and drops months
// that are older than the retention. It returns what it did. Call it every hour,
// by any number of instances.
func (l *Ledger) Upkeep(ctx context.Context, by *domain.Actor) ([]domain.LedgerStep, error) {
	var taken []domain.LedgerStep
	for {
		step, due, err := l.step(ctx, by)
		if err != nil || !due {
			return taken, joinFinished(err, l.finishDrops(ctx))
		}
		taken = append(taken, step)
		if step.Held {
			return taken, l.finishDrops(ctx)
		}
	}
}

// joinFinished keeps the first of two errors: what is wrong with one is mostly
// wrong with the other.
func joinFinished(err, finished error) error {
	if err != nil {
		return err
	}
	return finished
}

// step takes one step in a transaction.
func (l *Ledger) step(ctx context.Context, by *domain.Actor) (step domain.LedgerStep, due bool, err error) {
	newest, err := l.newest(ctx)
	if err != nil {
		return step, false, err
	}
	err = l.alone(ctx, func(tx *sqlx.Tx) error {
		s, err := l.status(ctx, tx, newest)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, believeNoFuture, s.Clock); err != nil {
			return err
		}
		if s.Months, err = ledgerMonths(ctx, tx); err != nil {
			return err
		}
		waited, err := l.waits.Now(ctx, tx, l.uptime())
		if err != nil {
			return err
		}
		months, err := byWaits(ctx, tx, s.Months, waited)
		if err != nil {
			return err
		}
		plan := domain.LedgerPlan{Months: months, KeptFrom: s.keptFrom(), Clock: waited, Uptime: l.uptime(), Rules: l.rules}
		if step, due = plan.Next(); !due {
			return nil
		}
		if err := take(ctx, tx, step, s.Clock, waited); err != nil {
			return err
		}
		return audit.Record(ctx, tx, domain.Whole(domain.Installation).By(by), ledgerEntry(step.Action, step.Month))
	})
	if due && pq.As(err, pqerror.LockNotAvailable) != nil {
		step.Held, err = true, nil
	}
	return step, due, err
}

// keptFrom is the first month that is kept; no month is older where no usage was
// ever recorded.
func (s *LedgerStatus) keptFrom() time.Time {
	if s.Newest.IsZero() {
		return time.Time{}
	}
	return domain.KeptFrom(s.Trusted, s.Retention)
}

// believeNoFuture is for a clock that was ahead: what it noted happened now.
const believeNoFuture = `
UPDATE usage_ledger_months
SET announced_at = least(announced_at, $1),
  detached_at = CASE WHEN detached_at > $1 THEN $1 ELSE detached_at END,
  due_at = CASE WHEN due_at > $1 THEN $1 ELSE due_at END,
  dropped_at = CASE WHEN dropped_at > $1 THEN $1 ELSE dropped_at END
WHERE greatest(announced_at, detached_at, due_at, dropped_at) > $1`

const (
	announceMonth = `INSERT INTO usage_ledger_months (month, announced_at, announced_waited) VALUES ($1, $2, $3)`
	forgetMonth   = `DELETE FROM usage_ledger_months WHERE month = $1 AND detached_at IS NULL`
	forgetDue     = `UPDATE usage_ledger_months SET due_at = NULL, due_waited = NULL WHERE month = $1`
	noteDue       = `UPDATE usage_ledger_months SET due_at = $2, due_waited = $3 WHERE month = $1`
	noteDetached  = `UPDATE usage_ledger_months SET detached_at = $2, detached_waited = $3 WHERE month = $1`
	noteDropped   = `UPDATE usage_ledger_months SET dropped_at = $2, dropped_waited = $3 WHERE month = $1`
	beginLater    = `UPDATE usage_ledger SET first_month = greatest(first_month, $1)`
)

// take does what a step says, except for the records of a drop.
func take(ctx context.Context, tx *sqlx.Tx, step domain.LedgerStep, now, waited time.Time) error {
	switch step.Action {
	case domain.LedgerAnnounce:
		return execute(ctx, tx, announceMonth, step.Month, now, waited.UnixMicro())
	case domain.LedgerWithdraw:
		if err := execute(ctx, tx, forgetMonth, step.Month); err != nil {
			return err
		}
		return execute(ctx, tx, forgetDue, step.Month)
	case domain.LedgerDue:
		return execute(ctx, tx, noteDue, step.Month, now, waited.UnixMicro())
	case domain.LedgerDrop:
		return execute(ctx, tx, noteDropped, step.Month, now, waited.UnixMicro())
	}
	return detachMonth(ctx, tx, step.Month, now, waited)
}

func execute(ctx context.Context, tx *sqlx.Tx, sql string, args ...any) error {
	_, err := tx.ExecContext(ctx, sql, args...)
	return err
}

// detachMonth takes a month out of the ledger, which begins later from then on.
func detachMonth(ctx context.Context, tx *sqlx.Tx, month, now, waited time.Time) error {
	for _, sql := range []string{detachPatience, "ALTER TABLE usage_records DETACH PARTITION " + partitionName(month)} {
		if err := execute(ctx, tx, sql); err != nil {
			return err
		}
	}
	if err := execute(ctx, tx, noteDetached, month, now, waited.UnixMicro()); err != nil {
		return err
	}
	return execute(ctx, tx, beginLater, month.AddDate(0, 1, 0))
}

// ledgerActions are how the audit log names what happens to months.
var ledgerActions = map[domain.LedgerAction]string{
	domain.LedgerAnnounce: domain.AuditUsageAnnounce,
	domain.LedgerWithdraw: domain.AuditUsageWithdraw,
	domain.LedgerDetach:   domain.AuditUsageDetach,
	domain.LedgerDue:      domain.AuditUsageDue,
	domain.LedgerDrop:     domain.AuditUsageDrop,
}

func ledgerEntry(action domain.LedgerAction, month time.Time) domain.AuditEntry {
	return domain.AuditEntry{Action: ledgerActions[action], SubjectType: "Usage", SubjectID: month.Format(domain.MonthLayout)}
}

// Restore puts a detached month, and those detached after it, back into the
// ledger, the latest first. It returns those that it restored.
func (l *Ledger) Restore(ctx context.Context, by *domain.Actor, month time.Time) ([]time.Time, error) {
	var restored []time.Time
	for {
		latest, err := l.restoreLatest(ctx, by, month)
		if err != nil {
			return restored, err
		}
		restored = append(restored, latest)
		if latest.Equal(month) {
			return restored, nil
		}
	}
}

// restoreLatest restores the latest of the detached months from a month on.
func (l *Ledger) restoreLatest(ctx context.Context, by *domain.Actor, from time.Time) (latest time.Time, err error) {
	err = l.alone(ctx, func(tx *sqlx.Tx) error {
		months, err := ledgerMonths(ctx, tx)
		if err != nil {
			return err
		}
		if latest, err = domain.LatestDetached(months, from); err != nil {
			return err
		}
		return attachMonth(ctx, tx, by, latest)
	})
	return latest, err
}

const (
	restoredMonth = `DELETE FROM usage_ledger_months WHERE month = $1`
	beginEarlier  = `UPDATE usage_ledger SET first_month = $1`
)

// attachMonth gives the ledger a month back. Identities, sessions and quarantine
// of a month are kept until it is dropped, so nothing else has to come back.
func attachMonth(ctx context.Context, tx *sqlx.Tx, by *domain.Actor, month time.Time) error {
	attach := fmt.Sprintf("ALTER TABLE usage_records ATTACH PARTITION %s %s", partitionName(month), partitionBounds(month))
	if err := execute(ctx, tx, attach); err != nil {
		return err
	}
	if err := execute(ctx, tx, restoredMonth, month); err != nil {
		return err
	}
	if err := execute(ctx, tx, beginEarlier, month); err != nil {
		return err
	}
	return audit.Record(ctx, tx, domain.Whole(domain.Installation).By(by), domain.AuditEntry{
		Action: domain.AuditUsageRestore, SubjectType: "Usage", SubjectID: month.Format(domain.MonthLayout),
	})
}
