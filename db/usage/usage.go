// Package usage keeps usage records and what is derived of them: totals by day,
// billing period, group and protocol, the months of the ledger, and analytics.
package usage

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/companies"
	"simgraph/db/pg"
	"simgraph/domain"
)

const (
	// movedAttempts bounds how often a batch is judged anew after a month was
	// detached, or a subscriber removed: once for that, and once more for a partition that is
	// missing.
	movedAttempts = 3
	// batchesAhead bounds the batches that begin before the one before them in their
	// stream has ended, each with a connection of its own: one, and one that begins
	// when that is about to end.
	batchesAhead = 2
)

// Options tune the store of usage. The zero value has the defaults.
type Options struct {
	// Now is the clock; default time.Now.
	Now func() time.Time
	// RebuiltAtOnce bounds the records of a part of a rebuild that has more than a day;
	// default rebuiltAtOnce.
	RebuiltAtOnce int
	// MonthLost is called when a late record has found that its month was taken away by
	// something else than Upkeep, once for each; nil is no call.
	MonthLost func(month time.Time)
}

// Store keeps the usage ledger and its totals in PostgreSQL. Every total is
// kept in the transaction of the records that it adds up.
type Store struct {
	pool      *sqlx.DB
	observer  Observer
	now       func() time.Time
	monthLost func(month time.Time)
	singles   *coalescer
	cache     ledgerCache
	// ahead has a place for each batch whose next may begin.
	ahead chan struct{}

	protocols protocolCache

	rebuiltAtOnce int

	mu sync.Mutex
	// months are the partitions of the ledger that are known to exist.
	months map[time.Time]bool
	// gaps are those since the last FlushGaps.
	gaps map[domain.CompanyID]map[gapKey]int64
}

var _ domain.Usage = (*Store)(nil)

// New returns the store on the pool. The observer, which may be nil, is called in
// the transaction of each booking of a company with alerts or followers.
func New(pool *sqlx.DB, observer Observer, opt Options) *Store {
	u := &Store{pool: pool, observer: observer, now: opt.Now, monthLost: opt.MonthLost, months: map[time.Time]bool{}, ahead: make(chan struct{}, batchesAhead), rebuiltAtOnce: cmp.Or(opt.RebuiltAtOnce, rebuiltAtOnce), gaps: map[domain.CompanyID]map[gapKey]int64{}}
	if u.now == nil {
		u.now = time.Now
	}
	u.singles = newCoalescer(func(ctx context.Context, company domain.CompanyID, records []domain.UsageRecord) ([]domain.Recorded, error) {
		return u.recordBatch(ctx, company, records, func() {})
	})
	return u
}

// Now is the time by the clock of the store.
func (u *Store) Now() time.Time { return u.now() }

// Record implements domain.Usage. Small calls share a transaction with others
// that come at the same time.
func (u *Store) Record(ctx context.Context, scope domain.Scope, records []domain.UsageRecord) ([]domain.Recorded, error) {
	return u.RecordInTurn(ctx, scope, records, func() {})
}

// RecordInTurn implements domain.Usage. The place of a batch is certain once it has
// the lock on the company, unless its transaction has to be run again. Where batchesAhead are under way already, the next waits
// for the end of this one.
func (u *Store) RecordInTurn(ctx context.Context, scope domain.Scope, records []domain.UsageRecord, placed func()) ([]domain.Recorded, error) {
	switch {
	case scope.Restricted():
		return nil, domain.Forbidden("usage is recorded for the whole company, of which this user sees some groups only")
	case len(records) > domain.MaxUsageBatch:
		return nil, domain.Invalid("records", "at most %d records can be recorded at once, not %d", domain.MaxUsageBatch, len(records))
	case len(records) <= coalescedCall:
		return u.singles.record(ctx, scope.Company, records)
	}
	isAhead := false
	defer func() {
		if isAhead {
			<-u.ahead
		}
	}()
	return u.recordBatch(ctx, scope.Company, records, func() {
		if isAhead {
			return // a transaction that is run again
		}
		select {
		case u.ahead <- struct{}{}:
			isAhead = true
			placed()
		default:
		}
	})
}

func (u *Store) recordBatch(ctx context.Context, company domain.CompanyID, records []domain.UsageRecord, placed func()) ([]domain.Recorded, error) {
	var results []domain.Recorded
	var err error
	for range movedAttempts {
		results, err = u.bookBatch(ctx, company, records, placed)
		if err == nil || !u.monthMoved(err) && !errors.Is(err, errRemoved) {
			break
		}
	}
	return results, err
}

func (u *Store) bookBatch(ctx context.Context, company domain.CompanyID, records []domain.UsageRecord, placed func()) ([]domain.Recorded, error) {
	b, err := u.judge(ctx, records)
	if err != nil {
		return nil, err
	}
	if err := u.ensureMonths(ctx, b.months()); err != nil {
		return nil, err
	}
	if err := u.numberProtocols(ctx, company, b); err != nil {
		return nil, err
	}
	err = pg.Retry(ctx, func() error {
		return pg.InTx(ctx, u.pool, func(tx *sqlx.Tx) error { return u.record(ctx, tx, company, b, placed) })
	})
	if err != nil {
		return nil, err
	}
	u.countGaps(company, b.gaps)
	return b.results, nil
}

// judge rejects the records that break a rule. None is rejected for its age by
// what was read of the ledger some time ago: a month may have come back since.
func (u *Store) judge(ctx context.Context, records []domain.UsageRecord) (*usageBatch, error) {
	ledger, err := u.ledger(ctx)
	if err != nil {
		return nil, err
	}
	now := u.now()
	begins := ledger.Begins(now)
	if slices.ContainsFunc(records, func(r domain.UsageRecord) bool { return r.From().Before(begins) }) {
		if ledger, err = u.ledgerNow(ctx); err != nil {
			return nil, err
		}
	}
	return newUsageBatch(records, now, ledger.Begins(now)), nil
}

// record books a batch. Writers of the same company run side by side up to the
// lock on the company, which protects every total, the counters of sessions, and the
// calendar and the group memberships that decide which totals those are.
func (u *Store) record(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, b *usageBatch, placed func()) error {
	if err := b.nameEntries(ctx, tx, company); err != nil {
		return err
	}
	fresh, locked, err := enterFresh(ctx, tx, company, b.entries)
	if err != nil {
		return err
	}
	if locked == nil && len(b.readings) > 0 {
		if locked, err = companies.Lock(ctx, tx, company); err != nil {
			return err
		}
	}
	if locked != nil {
		placed()
	}
	if err := b.judgeKnown(ctx, tx, company, fresh); err != nil || locked == nil {
		return err
	}
	accepted, err := b.quarantine(ctx, tx, company, fresh)
	if err != nil {
		return err
	}
	b.follow(fresh)
	raised, err := u.bookReadings(ctx, tx, locked, b)
	if err != nil {
		return err
	}
	return u.bookTotals(ctx, tx, locked, b.protocols, append(accepted, raised...))
}
