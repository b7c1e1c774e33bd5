package usage

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"

	"simgraph/db/pg"
	"simgraph/domain"
)

// ledgerFresh bounds how long a store believes what it has read of the ledger.
// Nothing is wrongly booked meanwhile: a month that is detached takes no record.
const ledgerFresh = 10 * time.Second

const (
	// aloneOnLedger orders all transactions that create, detach, restore or drop
	// months, also of other instances.
	aloneOnLedger = `SELECT pg_advisory_xact_lock(hashtext('simgraph usage ledger'))`
	readLedgerRow = `
SELECT l.first_month, coalesce(l.retention, 0) AS retention FROM usage_ledger l`
	// touchLedger locks the ledger as every read does, and reads nothing. Citus runs
	// LOCK TABLE on every node, with those that are away.
	touchLedger = `SELECT FROM usage_records WHERE company_id = $1 AND false`
)

// ReadLedger reads what the database says of the ledger.
func ReadLedger(ctx context.Context, in sqlx.QueryerContext) (domain.Ledger, error) {
	row, err := pg.GetOne[domain.Ledger](ctx, in, errors.New("the table usage_ledger has no row"), readLedgerRow)
	if err != nil {
		return domain.Ledger{}, err
	}
	if row.Retention == 0 {
		row.Retention = domain.DefaultRetention
	}
	months, err := storedMonths(ctx, in)
	if len(months) > 0 {
		row.Oldest = months[0]
	}
	row.FirstMonth = row.FirstMonth.UTC()
	return *row, err
}

// lockLedger keeps months from being detached until the transaction ends, and
// returns from when on totals can be derived. Take it before the lock on a
// company: that is the order in which usage is booked.
func lockLedger(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID) (time.Time, error) {
	if _, err := tx.ExecContext(ctx, touchLedger, company); err != nil {
		return time.Time{}, err
	}
	ledger, err := ReadLedger(ctx, tx)
	if err != nil {
		return time.Time{}, err
	}
	return derivableFrom(ctx, tx, company, ledger)
}

// derivableFrom returns from when on the ledger has all records of the company: also
// where a month was lost and the first month does not yet say so.
func derivableFrom(ctx context.Context, in sqlx.QueryerContext, company domain.CompanyID, ledger domain.Ledger) (time.Time, error) {
	after, err := afterLost(ctx, in, company, ledger.FirstMonth)
	return domain.Later(after, ledger.Oldest), err
}

// ledgerCache is what a store has read of the ledger.
type ledgerCache struct {
	mu     sync.Mutex
	ledger domain.Ledger
	at     time.Time
}

// ledger returns what the database returned of the ledger within ledgerFresh.
func (u *Store) ledger(ctx context.Context) (domain.Ledger, error) {
	u.cache.mu.Lock()
	ledger, at := u.cache.ledger, u.cache.at
	u.cache.mu.Unlock()
	if age := u.now().Sub(at); !at.IsZero() && age >= 0 && age < ledgerFresh {
		return ledger, nil
	}
	return u.ledgerNow(ctx)
}

// ledgerNow returns what the database says of the ledger now.
func (u *Store) ledgerNow(ctx context.Context) (domain.Ledger, error) {
	at := u.now()
	ledger, err := ReadLedger(ctx, u.pool)
	if err == nil {
		u.cache.mu.Lock()
		u.cache.ledger, u.cache.at = ledger, at
		u.cache.mu.Unlock()
	}
	return ledger, err
}

// errMonthGone refuses to create a month that was taken out of the ledger.
var errMonthGone = errors.New("the month is not in the ledger any more")

// monthMoved reports whether a batch failed because a month was detached after the
// store had read the ledger. It forgets what was read.
func (u *Store) monthMoved(err error) bool {
	if !errors.Is(err, errMonthGone) && pq.As(err, pqerror.CheckViolation) == nil {
		return false
	}
	u.cache.mu.Lock()
	u.cache.at = time.Time{}
	u.cache.mu.Unlock()
	u.mu.Lock()
	clear(u.months)
	u.mu.Unlock()
	return true
}
