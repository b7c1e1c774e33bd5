package usage

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/audit"
	"simgraph/db/companies"
	"simgraph/db/pg"
	"simgraph/db/retention"
	"simgraph/domain"
)

// LedgerOptions tune the store of the ledger. The zero value has the clocks of
// the process and the database, and the intervals of serve.
type LedgerOptions struct {
	// Now is the clock of the process; default time.Now.
	Now func() time.Time
	// DatabaseNow is the clock of the database, the default.
	DatabaseNow func() time.Time
	// Rules are the intervals; default domain.DefaultLedgerRules.
	Rules *domain.LedgerRules
}

// Ledger keeps the months of the usage ledger: how many there are, and what
// becomes of those that are older.
type Ledger struct {
	pool        *sqlx.DB
	now         func() time.Time
	databaseNow func() time.Time
	rules       domain.LedgerRules
	started     time.Time
	waits       retention.Waits
}

// NewLedger returns the store on the pool, from where on its Rules.Quiet counts.
func NewLedger(pool *sqlx.DB, opt LedgerOptions) *Ledger {
	l := &Ledger{pool: pool, now: opt.Now, databaseNow: opt.DatabaseNow, rules: *cmp.Or(opt.Rules, &domain.DefaultLedgerRules)}
	if l.now == nil {
		l.now = time.Now
	}
	l.started = l.now()
	return l
}

// LedgerStatus is what there is to know of the ledger.
type LedgerStatus struct {
	domain.Ledger
	// Clock is the database's, Trusted the one that months are dropped by.
	Clock, Trusted time.Time
	// Newest is the end of the newest usage record; zero for none.
	Newest time.Time
	// Months are all that are stored, detached or dropped, in order of time.
	Months []domain.LedgerMonth
}

// Older returns the stored months that a retention does not cover.
func (s *LedgerStatus) Older(retention int) []domain.LedgerMonth {
	kept := domain.KeptFrom(s.Trusted, retention)
	return slices.DeleteFunc(slices.Clone(s.Months), func(m domain.LedgerMonth) bool { return !m.Stored() || !m.Month.Before(kept) })
}

// Status reads the state of the ledger.
func (l *Ledger) Status(ctx context.Context) (*LedgerStatus, error) {
	newest, err := l.newest(ctx)
	if err != nil {
		return nil, err
	}
	return l.status(ctx, l.pool, newest)
}

const (
	newestUsage = `
SELECT max(s.complete_until) AS newest FROM usage_sources s
WHERE $1::bigint[] IS NULL OR s.company_id = ANY($1)`
	databaseClock = `SELECT clock_timestamp() AS clock`
)

// newest returns the end of the newest usage record, zero for none. Nodes that fail
// are left out: what is deleted by age goes by an earlier time then, if by any.
func (l *Ledger) newest(ctx context.Context) (newest time.Time, err error) {
	err = companies.EachNode(ctx, l.pool, func(of pq.Int64Array) error {
		type row struct{ Newest *time.Time }
		here, err := pg.GetOne[row](ctx, l.pool, nil, newestUsage, of)
		if err == nil && timeOr(here.Newest).After(newest) {
			newest = timeOr(here.Newest)
		}
		return err
	})
	if !newest.IsZero() {
		err = nil
	}
	return newest, err
}

func (l *Ledger) status(ctx context.Context, in sqlx.QueryerContext, newest time.Time) (*LedgerStatus, error) {
	ledger, err := ReadLedger(ctx, in)
	if err != nil {
		return nil, err
	}
	type row struct{ Clock time.Time }
	at, err := pg.GetOne[row](ctx, in, nil, databaseClock)
	if err != nil {
		return nil, err
	}
	s := &LedgerStatus{Ledger: ledger, Clock: at.Clock.UTC(), Newest: newest}
	if l.databaseNow != nil {
		s.Clock = l.databaseNow()
	}
	s.Trusted = domain.TrustedClock(s.Clock, s.Newest)
	s.Months, err = ledgerMonths(ctx, in)
	return s, err
}

// TrustedClock returns the time by which old data is deleted, and false within
// the first hour of the process, when nothing is.
func (l *Ledger) TrustedClock(ctx context.Context) (time.Time, bool, error) {
	s, err := l.Status(ctx)
	if err != nil {
		return time.Time{}, false, err
	}
	return s.Trusted, l.uptime() >= l.rules.Quiet, nil
}

// uptime is measured, where the clock of the process is: setting that clock does
// not change it.
func (l *Ledger) uptime() time.Duration { return l.now().Sub(l.started) }

const notedMonths = `SELECT month, announced_at, detached_at, due_at, dropped_at FROM usage_ledger_months`

// ledgerMonths returns the stored months and those that were.
func ledgerMonths(ctx context.Context, in sqlx.QueryerContext) ([]domain.LedgerMonth, error) {
	stored, err := storedMonths(ctx, in)
	if err != nil {
		return nil, err
	}
	type row struct {
		Month                                     time.Time
		AnnouncedAt, DetachedAt, DueAt, DroppedAt *time.Time
	}
	noted, err := pg.SelectAll[row](ctx, in, notedMonths)
	if err != nil {
		return nil, err
	}
	months := map[time.Time]domain.LedgerMonth{}
	for _, month := range stored {
		months[month] = domain.LedgerMonth{Month: month}
	}
	for _, r := range noted {
		m := domain.LedgerMonth{
			Month: r.Month.UTC(), AnnouncedAt: timeOr(r.AnnouncedAt), DetachedAt: timeOr(r.DetachedAt), DueAt: timeOr(r.DueAt), DroppedAt: timeOr(r.DroppedAt),
		}
		if _, there := months[m.Month]; there || !m.Stored() {
			months[m.Month] = m
		}
	}
	return slices.SortedFunc(maps.Values(months), func(a, b domain.LedgerMonth) int { return a.Month.Compare(b.Month) }), nil
}

func timeOr(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

const (
	setRetention = `UPDATE usage_ledger SET retention = $1`
	retentionSet = `SELECT count(*) FROM usage_ledger WHERE retention IS NOT NULL`
)

// SetRetention makes the ledger keep another number of months.
func (l *Ledger) SetRetention(ctx context.Context, by *domain.Actor, months int) error {
	return l.alone(ctx, func(tx *sqlx.Tx) error { return changeRetention(ctx, tx, by, months) })
}

// AdoptRetention makes it the retention of a database that has none yet, and
// returns the one that the database has.
func (l *Ledger) AdoptRetention(ctx context.Context, by *domain.Actor, months int) (int, error) {
	n, err := pg.Count(ctx, l.pool, retentionSet)
	if err == nil && n == 0 {
		err = l.alone(ctx, func(tx *sqlx.Tx) error { return adoptRetention(ctx, tx, by, months) })
	}
	if err != nil {
		return 0, err
	}
	ledger, err := ReadLedger(ctx, l.pool)
	return ledger.Retention, err
}

// adoptRetention leaves alone what another instance has set meanwhile.
func adoptRetention(ctx context.Context, tx *sqlx.Tx, by *domain.Actor, months int) error {
	if n, err := pg.Count(ctx, tx, retentionSet); err != nil || n > 0 {
		return err
	}
	return changeRetention(ctx, tx, by, months)
}

func changeRetention(ctx context.Context, tx *sqlx.Tx, by *domain.Actor, months int) error {
	if err := domain.CheckRetention(months); err != nil {
		return err
	}
	before, err := ReadLedger(ctx, tx)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, setRetention, months); err != nil {
		return err
	}
	return audit.Record(ctx, tx, domain.Whole(domain.Installation).By(by), domain.AuditEntry{
		Action: domain.AuditLedgerRetention, SubjectType: "Usage",
		Changes: domain.Changed("retention", strconv.Itoa(before.Retention), strconv.Itoa(months)),
	})
}

// alone runs a transaction that is the only one to change months.
func (l *Ledger) alone(ctx context.Context, do func(tx *sqlx.Tx) error) error {
	return pg.InTx(ctx, l.pool, func(tx *sqlx.Tx) error {
		if _, err := tx.ExecContext(ctx, aloneOnLedger); err != nil {
			return err
		}
		return do(tx)
	})
}

// CountedRecords bounds what Records counts of a month.
const CountedRecords = 1_000_000

// Records returns how many records a month has, of all companies, and at most
// one more than a million.
func (l *Ledger) Records(ctx context.Context, month time.Time) (int, error) {
	return pg.Count(ctx, l.pool, pg.Fill(`SELECT count(*) FROM (SELECT 1 FROM {table} LIMIT {most}) AS r`,
		"table", partitionName(month), "most", strconv.Itoa(CountedRecords+1)))
}
