package usage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"

	"simgraph/db/pg"
	"simgraph/domain"
)

// monthsAhead is how many partitions stand ready for the months to come.
const monthsAhead = 2

// EnsurePartitions creates the partitions of the ledger from this month on, so
// that none has to be created while usage waits. Call it at the start and daily.
// A clock that is behind creates nothing before what is stored.
func (u *Store) EnsurePartitions(ctx context.Context) error {
	ledger, err := u.ledgerNow(ctx)
	if err != nil {
		return err
	}
	var months []time.Time
	for ahead := range monthsAhead + 1 {
		if month := domain.MonthOf(u.now()).AddDate(0, ahead, 0); !month.Before(ledger.Start()) {
			months = append(months, month)
		}
	}
	if err := u.ensureMonths(ctx, months); !errors.Is(err, errMonthGone) {
		return err
	}
	return nil
}

func (u *Store) ensureMonths(ctx context.Context, months []time.Time) error {
	for _, month := range months {
		if u.hasMonth(month) {
			continue
		}
		if err := u.createMonth(ctx, month); err != nil {
			return err
		}
		u.mu.Lock()
		u.months[month] = true
		u.mu.Unlock()
	}
	return nil
}

func (u *Store) hasMonth(month time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.months[month]
}

const ledgerMonth = `SELECT count(*) FROM pg_inherits i WHERE i.inhparent = 'usage_records'::regclass AND i.inhrelid = to_regclass($1)`

// createMonth looks before it creates: the statement locks the whole ledger,
// even when it then finds nothing to do.
func (u *Store) createMonth(ctx context.Context, month time.Time) error {
	var err error
	for range pg.TxAttempts {
		var n int
		if n, err = pg.Count(ctx, u.pool, ledgerMonth, partitionName(month)); err != nil || n > 0 {
			return err
		}
		if err = u.refuseLost(ctx, month); err != nil {
			return err
		}
		err = pg.InTx(ctx, u.pool, func(tx *sqlx.Tx) error { return addMonth(ctx, tx, month) })
		// An instance of a version that does not take the lock may collide.
		if pq.As(err, pqerror.UniqueViolation, pqerror.DuplicateTable, pqerror.TRDeadlockDetected) == nil {
			return err
		}
	}
	return err
}

// refuseLost moves the first month behind a month that was lost: it is not created
// anew, since its totals could not be derived from what comes then.
func (u *Store) refuseLost(ctx context.Context, month time.Time) error {
	lost, err := isLost(ctx, u.pool, month)
	if err != nil || !lost {
		return err
	}
	isGone, isNoted := false, false
	err = pg.InTx(ctx, u.pool, func(tx *sqlx.Tx) error {
		if _, err := tx.ExecContext(ctx, aloneOnLedger); err != nil {
			return err
		}
		n, err := pg.Count(ctx, tx, ledgerMonth, partitionName(month))
		if err != nil || n > 0 {
			return err // another instance created it before it had totals
		}
		isGone = true
		isNoted, err = noteLost(ctx, tx, &domain.Actor{Name: "unknown", Origin: domain.Origin{Door: "usage"}}, []time.Time{month})
		return err
	})
	if err != nil || !isGone {
		return err
	}
	if isNoted && u.monthLost != nil {
		u.monthLost(month)
	}
	return errMonthGone
}

// addMonth creates a month unless it was taken out of the ledger.
func addMonth(ctx context.Context, tx *sqlx.Tx, month time.Time) error {
	if _, err := tx.ExecContext(ctx, aloneOnLedger); err != nil {
		return err
	}
	ledger, err := ReadLedger(ctx, tx)
	if err != nil {
		return err
	}
	if month.Before(ledger.FirstMonth) {
		return errMonthGone
	}
	create := fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s PARTITION OF usage_records %s", partitionName(month), partitionBounds(month))
	if err := execute(ctx, tx, create); err != nil {
		return err
	}
	return execute(ctx, tx, pg.Fill(fenceMonth, "table", partitionName(month)))
}

func partitionBounds(month time.Time) string {
	return fmt.Sprintf("FOR VALUES FROM ('%s') TO ('%s')", month.Format(time.RFC3339), month.AddDate(0, 1, 0).Format(time.RFC3339))
}

const partitionLayout = "usage_records_2006_01"

func partitionName(month time.Time) string { return month.Format(partitionLayout) }

func partitionMonth(name string) (time.Time, error) {
	month, err := time.Parse(partitionLayout, name)
	if err != nil {
		return month, fmt.Errorf("the ledger has a partition %q that is no month", name)
	}
	return month, nil
}

const ledgerPartitions = `
SELECT c.relname
FROM pg_inherits i
JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = 'usage_records'::regclass
ORDER BY c.relname`

// storedMonths returns the months that the ledger has, in order of time.
func storedMonths(ctx context.Context, in sqlx.QueryerContext) ([]time.Time, error) {
	names, err := pg.SelectValues[string](ctx, in, ledgerPartitions)
	if err != nil {
		return nil, err
	}
	months := make([]time.Time, len(names))
	for i, name := range names {
		if months[i], err = partitionMonth(name); err != nil {
			return nil, err
		}
	}
	return months, nil
}
