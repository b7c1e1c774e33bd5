// Package retention keeps how long data is kept that is deleted by its age, and
// measures what housekeeping waits by.
package retention

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/audit"
	"simgraph/db/pg"
	"simgraph/domain"
	rules "simgraph/domain/retention"
)

// Options tune the store. The zero value has the clocks of the process and the
// database, and the notice of serve.
type Options struct {
	// Now is the clock of the process; default time.Now.
	Now func() time.Time
	// DatabaseNow is the clock of the database, the default.
	DatabaseNow func() time.Time
	// Notice is how long a shorter retention waits; default that of
	// domain.DefaultLedgerRules.
	Notice time.Duration
}

// Store keeps the retentions of all kinds of data. They belong to the database:
// every instance deletes by the same.
type Store struct {
	pool        *sqlx.DB
	now         func() time.Time
	databaseNow func() time.Time
	notice      time.Duration
	started     time.Time
	waits       Waits
}

// New returns the store on the pool.
func New(pool *sqlx.DB, opt Options) *Store {
	s := &Store{pool: pool, now: opt.Now, databaseNow: opt.DatabaseNow, notice: cmp.Or(opt.Notice, domain.DefaultLedgerRules.Notice)}
	if s.now == nil {
		s.now = time.Now
	}
	s.started = s.now()
	return s
}

// Status is what there is to know of a kind.
type Status struct {
	rules.Kind
	rules.History
	// Left is how long servers have to run until the setting that waits takes
	// effect; the whole notice where it was not announced yet.
	Left time.Duration
}

const (
	selectSettings = `
SELECT name, revision, kept, set_at, set_by, announced_at, coalesce(announced_waited, 0) AS announced_waited, effective_at, withdrawn_at
FROM retentions
ORDER BY name, revision`
	databaseClock = `SELECT clock_timestamp() AS clock`
)

// List returns all kinds with their settings.
func (s *Store) List(ctx context.Context) ([]Status, error) {
	histories, err := settings(ctx, s.pool)
	if err != nil {
		return nil, err
	}
	waited, err := Waited(ctx, s.pool)
	if err != nil {
		return nil, err
	}
	all := make([]Status, len(rules.Kinds))
	for i, kind := range rules.Kinds {
		all[i] = Status{Kind: kind, History: histories[kind.Name]}
		if pending, waits := all[i].Pending(); waits {
			all[i].Left = s.notice
			if !pending.AnnouncedAt.IsZero() {
				all[i].Left = max(0, s.notice-waited.Sub(pending.Waited))
			}
		}
	}
	return all, nil
}

// InForce returns the retention by which data of a kind is deleted.
func (s *Store) InForce(ctx context.Context, name rules.Name) (rules.InForce, error) {
	histories, err := settings(ctx, s.pool)
	return rules.InForce{Kind: rules.Of(name), Kept: histories[name].InForce()}, err
}

func settings(ctx context.Context, in sqlx.QueryerContext) (map[rules.Name]rules.History, error) {
	type row struct {
		Name                                  rules.Name
		Revision, Kept                        int
		SetAt                                 time.Time
		SetBy                                 string
		AnnouncedAt, EffectiveAt, WithdrawnAt *time.Time
		AnnouncedWaited                       int64
	}
	rows, err := pg.SelectAll[row](ctx, in, selectSettings)
	if err != nil {
		return nil, err
	}
	histories := map[rules.Name]rules.History{}
	for _, r := range rows {
		histories[r.Name] = append(histories[r.Name], rules.Setting{
			Name: r.Name, Revision: r.Revision, Kept: r.Kept, SetAt: r.SetAt.UTC(), SetBy: r.SetBy,
			AnnouncedAt: timeOr(r.AnnouncedAt), EffectiveAt: timeOr(r.EffectiveAt), WithdrawnAt: timeOr(r.WithdrawnAt),
			Waited: time.UnixMicro(r.AnnouncedWaited).UTC(),
		})
	}
	return histories, nil
}

func timeOr(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

// aloneOnRetentions orders all transactions that change settings, also of other
// instances.
const aloneOnRetentions = `SELECT pg_advisory_xact_lock(hashtext('simgraph retentions'))`

// alone runs a transaction that is the only one to change settings, with those and
// the clock of the database.
func (s *Store) alone(ctx context.Context, do func(tx *sqlx.Tx, histories map[rules.Name]rules.History, at time.Time) error) error {
	return pg.InTx(ctx, s.pool, func(tx *sqlx.Tx) error {
		if _, err := tx.ExecContext(ctx, aloneOnRetentions); err != nil {
			return err
		}
		histories, err := settings(ctx, tx)
		if err != nil {
			return err
		}
		type row struct{ Clock time.Time }
		at, err := pg.GetOne[row](ctx, tx, nil, databaseClock)
		if err != nil {
			return err
		}
		if s.databaseNow != nil {
			at.Clock = s.databaseNow()
		}
		return do(tx, histories, at.Clock)
	})
}

// Set sets the retention of a kind. A shorter one than is in force waits until a
// server has announced it and a day has passed; until then another one replaces it.
func (s *Store) Set(ctx context.Context, by *domain.Actor, kind rules.Kind, kept int) error {
	if err := kind.Check(kept); err != nil {
		return err
	}
	return s.alone(ctx, func(tx *sqlx.Tx, histories map[rules.Name]rules.History, at time.Time) error {
		return set(ctx, tx, by, kind, histories[kind.Name], kept, at)
	})
}

// noCompanies reports whether the database is new.
const noCompanies = `SELECT count(*) FROM (SELECT 1 FROM company_lookup LIMIT 1) AS one`

// Adopt sets the retentions that the database has none of yet, and returns the one
// that was set last of each kind. Those of a database without companies take effect at once.
func (s *Store) Adopt(ctx context.Context, by *domain.Actor, first map[rules.Name]int) (wanted map[rules.Name]int, err error) {
	histories, err := settings(ctx, s.pool)
	unset := func(kind rules.Kind) bool { return len(histories[kind.Name]) == 0 }
	if err == nil && slices.ContainsFunc(rules.Kinds, unset) {
		err = s.alone(ctx, func(tx *sqlx.Tx, known map[rules.Name]rules.History, at time.Time) error {
			return adopt(ctx, tx, by, known, first, at)
		})
		if err == nil {
			histories, err = settings(ctx, s.pool)
		}
	}
	wanted = map[rules.Name]int{}
	for name, history := range histories {
		wanted[name], _ = history.Wanted()
	}
	return wanted, err
}

func adopt(ctx context.Context, tx *sqlx.Tx, by *domain.Actor, known map[rules.Name]rules.History, first map[rules.Name]int, at time.Time) error {
	companies, err := pg.Count(ctx, tx, noCompanies)
	if err != nil {
		return err
	}
	for _, kind := range rules.Kinds {
		if len(known[kind.Name]) > 0 {
			continue
		}
		if err := set(ctx, tx, by, kind, nil, first[kind.Name], at); err != nil {
			return err
		}
		if companies == 0 {
			if _, err := tx.ExecContext(ctx, takeEffect, kind.Name, 1, at); err != nil {
				return err
			}
		}
	}
	return nil
}

const (
	insertSetting = `
INSERT INTO retentions (name, revision, kept, set_at, set_by, effective_at) VALUES ($1, $2, $3, $4, $5, $6)`
	withdraw   = `UPDATE retentions SET withdrawn_at = $3 WHERE name = $1 AND revision = $2`
	takeEffect = `UPDATE retentions SET effective_at = $3 WHERE name = $1 AND revision = $2 AND effective_at IS NULL`
	announce   = `UPDATE retentions SET announced_at = $3, announced_waited = $4 WHERE name = $1 AND revision = $2`
)

func set(ctx context.Context, tx *sqlx.Tx, by *domain.Actor, kind rules.Kind, history rules.History, kept int, at time.Time) error {
	change := history.Set(kept)
	if change.Withdraw {
		pending, _ := history.Pending()
		if _, err := tx.ExecContext(ctx, withdraw, kind.Name, pending.Revision, at); err != nil {
			return err
		}
		if err := note(ctx, tx, by, domain.AuditRetentionBack, kind, domain.Was("retention", kind.Text(pending.Kept))); err != nil {
			return err
		}
	}
	if !change.Add {
		return nil
	}
	var effective *time.Time
	if change.AtOnce {
		effective = &at
	}
	if _, err := tx.ExecContext(ctx, insertSetting, kind.Name, len(history)+1, kept, at, by.Name, effective); err != nil {
		return err
	}
	// The default of a database that has none changes nothing that it had.
	changes := domain.Changed("retention", kind.Text(history.InForce()), kind.Text(kept))
	return note(ctx, tx, by, domain.AuditRetentionSet, kind, changes...)
}

func note(ctx context.Context, tx *sqlx.Tx, by *domain.Actor, action string, kind rules.Kind, changes ...domain.AuditChange) error {
	return audit.Record(ctx, tx, domain.Whole(domain.Installation).By(by), domain.AuditEntry{
		Action: action, SubjectType: "Retention", SubjectID: string(kind.Name), Changes: changes,
	})
}

// Step is what Upkeep did about a retention that waited.
type Step struct {
	rules.Kind
	rules.Action
	// Kept is the shorter retention, Before the one that is or was in force.
	Kept, Before int
}

// Upkeep announces the shorter retentions that were set, and lets those take effect
// that have waited. It returns what it did. Call it every hour, by any number of
// instances.
func (s *Store) Upkeep(ctx context.Context, by *domain.Actor) (steps []Step, err error) {
	err = s.alone(ctx, func(tx *sqlx.Tx, histories map[rules.Name]rules.History, at time.Time) error {
		steps = nil
		waited, err := s.waits.Now(ctx, tx, s.now().Sub(s.started))
		if err != nil {
			return err
		}
		for _, kind := range rules.Kinds {
			history := histories[kind.Name]
			action := history.Next(waited, s.notice)
			if action == "" {
				continue
			}
			pending, _ := history.Pending()
			step := Step{Kind: kind, Action: action, Kept: pending.Kept, Before: history.InForce()}
			if err := take(ctx, tx, by, step, pending.Revision, at, waited); err != nil {
				return err
			}
			steps = append(steps, step)
		}
		return nil
	})
	return steps, err
}

func take(ctx context.Context, tx *sqlx.Tx, by *domain.Actor, step Step, revision int, at, waited time.Time) error {
	var err error
	action := domain.AuditRetentionNotice
	if step.Action == rules.Announce {
		_, err = tx.ExecContext(ctx, announce, step.Name, revision, at, waited.UnixMicro())
	} else {
		action = domain.AuditRetentionEffect
		_, err = tx.ExecContext(ctx, takeEffect, step.Name, revision, at)
	}
	if err != nil {
		return err
	}
	return note(ctx, tx, by, action, step.Kind, domain.Changed("retention", step.Text(step.Before), step.Text(step.Kept))...)
}
