package db

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"

	"simgraph/domain"
)

// monthsAhead is how many partitions stand ready for the months to come.
const monthsAhead = 2

// monthOf returns the first instant of the UTC month of t.
func monthOf(t time.Time) time.Time {
	year, month, _ := t.UTC().Date()
	return time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
}

// oldest is where the ledger begins: whole months back from now.
func (u *Usage) oldest() time.Time { return monthOf(u.now()).AddDate(0, -u.retention, 0) }

// EnsurePartitions creates the partitions of the ledger from this month on, so
// that none has to be created while usage waits. Call it at the start and daily.
func (u *Usage) EnsurePartitions(ctx context.Context) error {
	var months []time.Time
	for ahead := range monthsAhead + 1 {
		months = append(months, monthOf(u.now()).AddDate(0, ahead, 0))
	}
	return u.ensureMonths(ctx, months)
}

func (u *Usage) ensureMonths(ctx context.Context, months []time.Time) error {
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

func (u *Usage) hasMonth(month time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.months[month]
}

const ledgerMonth = `SELECT count(*) FROM pg_class WHERE oid = to_regclass($1)`

// createMonth looks before it creates: the statement locks the whole ledger,
// even when it then finds nothing to do. Two that create at once collide.
func (u *Usage) createMonth(ctx context.Context, month time.Time) error {
	name := partitionName(month)
	var err error
	for range bookingAttempts {
		var n int
		if n, err = count(ctx, u.pool, ledgerMonth, name); err != nil || n > 0 {
			return err
		}
		_, err = u.pool.ExecContext(ctx, fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s PARTITION OF usage_records FOR VALUES FROM ('%s') TO ('%s')",
			name, month.Format(time.RFC3339), month.AddDate(0, 1, 0).Format(time.RFC3339)))
		if pq.As(err, pqerror.UniqueViolation, pqerror.DuplicateTable, pqerror.TRDeadlockDetected) == nil {
			return Translate(err)
		}
	}
	return Translate(err)
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

// Retain drops the months of the ledger that are older than its retention, and
// what only they need; totals stay. It returns how many it dropped. Call it
// daily.
func (u *Usage) Retain(ctx context.Context) (int, error) {
	var names []string
	if err := u.pool.SelectContext(ctx, &names, ledgerPartitions); err != nil {
		return 0, Translate(err)
	}
	cutoff := partitionName(u.oldest())
	names = slices.DeleteFunc(names, func(name string) bool { return name >= cutoff })
	for i, name := range names {
		if err := u.dropMonth(ctx, name); err != nil {
			return i, err
		}
	}
	return len(names), u.forgetOld(ctx)
}

// dropIDs forgets ids in the order of the ledger's key, from one record on to
// the next thousands.
const dropIDs = `
WITH part AS (
  SELECT r.company_id, r.started_at, r.identity
  FROM usage_records r
  WHERE r.started_at >= $4 AND r.started_at < $5 AND (r.company_id, r.started_at, r.identity) > ($1, $2, $3)
  ORDER BY r.company_id, r.started_at, r.identity
  LIMIT 10000
), gone AS (
  DELETE FROM usage_ids i USING part p WHERE i.company_id = p.company_id AND i.identity = p.identity
)
SELECT company_id, started_at, identity FROM part ORDER BY company_id DESC, started_at DESC, identity DESC LIMIT 1`

// dropMonth forgets the ids of the records before it drops them. When it stops
// half way, records of the month cannot come again anyway: they are too old.
func (u *Usage) dropMonth(ctx context.Context, name string) error {
	month, err := partitionMonth(name)
	if err != nil {
		return err
	}
	at := usagePlace{Identity: "00000000-0000-0000-0000-000000000000", StartedAt: month}
	for {
		next, err := selectAll[usagePlace](ctx, u.pool, dropIDs, at.CompanyID, at.StartedAt, at.Identity, month, month.AddDate(0, 1, 0))
		if err != nil {
			return err
		}
		if len(next) == 0 {
			break
		}
		at = *next[0]
	}
	u.mu.Lock()
	delete(u.months, month)
	u.mu.Unlock()
	_, err = u.pool.ExecContext(ctx, "DROP TABLE IF EXISTS "+pq.QuoteIdentifier(name))
	return Translate(err)
}

// usagePlace is a key of the ledger.
type usagePlace struct {
	CompanyID domain.CompanyID
	StartedAt time.Time
	Identity  string
}

const (
	forgetQuarantine = `
WITH gone AS (
  DELETE FROM usage_quarantine WHERE started_at < $1 RETURNING company_id, identity
)
DELETE FROM usage_ids i USING gone g WHERE i.company_id = g.company_id AND i.identity = g.identity`
	forgetSessions = `DELETE FROM usage_sessions WHERE began_at < $1`
)

// forgetOld ends the quarantine of records that are too old, and forgets when
// sessions began that can have no more records.
func (u *Usage) forgetOld(ctx context.Context) error {
	if _, err := affected(ctx, u.pool, forgetQuarantine, u.oldest()); err != nil {
		return err
	}
	_, err := affected(ctx, u.pool, forgetSessions, u.oldest().AddDate(0, -u.retention, 0))
	return err
}
