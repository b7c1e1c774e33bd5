package command

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"simgraph/db/usage"
	"simgraph/domain"
)

// Ledger groups the commands about the months of the usage ledger.
type Ledger struct {
	Status       LedgerStatus       `cmd:"" help:"Show where the ledger begins, how much it keeps, and what is going to be dropped."`
	Retention    LedgerRetention    `cmd:"" help:"Change how many months of usage records are kept."`
	RestoreMonth LedgerRestoreMonth `cmd:"" help:"Put a detached month back into the ledger."`
}

// LedgerStatus shows the state of the ledger.
type LedgerStatus struct{}

// Help explains the states of months.
func (LedgerStatus) Help() string {
	return `A month that is older than the retention is announced, detached a day later at
the earliest, and dropped when it was detached for the --drop-delay of serve.
Until it is dropped, simgraph ledger restore-month brings it back. Totals stay
for ever.`
}

// Run prints the settings, then the months.
func (LedgerStatus) Run(ctx context.Context, env *Env) error {
	return withLedger(ctx, env, "ledger status", func(ledger *usage.Ledger) error {
		status, err := ledger.Status(ctx)
		if err != nil {
			return err
		}
		table := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintf(table, "first month\t%s\n", firstMonth(status))
		_, _ = fmt.Fprintf(table, "retention\t%d months before the present one\n", status.Retention)
		_, _ = fmt.Fprintf(table, "newest record\t%s\n", moment(status.Newest))
		_, _ = fmt.Fprintf(table, "database clock\t%s\n", moment(status.Clock))
		for _, month := range status.Months {
			_, _ = fmt.Fprintf(table, "%s\t%s\n", month.Month.Format(domain.MonthLayout), monthState(month))
		}
		return table.Flush()
	})
}

func firstMonth(s *usage.LedgerStatus) string {
	if s.FirstMonth.Equal(domain.LedgerEpoch) {
		return "all there was: no month was ever taken out"
	}
	return s.FirstMonth.Format(domain.MonthLayout)
}

func moment(t time.Time) string {
	if t.IsZero() {
		return "none"
	}
	return t.UTC().Format("2006-01-02 15:04:05 MST")
}

func monthState(m domain.LedgerMonth) string {
	switch {
	case !m.DroppedAt.IsZero():
		return "dropped " + moment(m.DroppedAt)
	case !m.DueAt.IsZero():
		return "detached " + moment(m.DetachedAt) + ", announced " + moment(m.DueAt) + " to be dropped"
	case !m.DetachedAt.IsZero():
		return "detached " + moment(m.DetachedAt)
	case !m.AnnouncedAt.IsZero():
		return "in the ledger, announced " + moment(m.AnnouncedAt) + " to be detached"
	}
	return "in the ledger"
}

// LedgerRetention changes the retention.
type LedgerRetention struct {
	Months int `arg:"" help:"How many months before the present one are kept, at least 3."`
	Consent
}

// Help shows examples.
func (LedgerRetention) Help() string {
	return `Examples:

	simgraph ledger retention 24
	simgraph ledger retention 3 --yes

The retention belongs to the database: all instances, imports and rebuilds follow
it. The months that a lower one no longer covers are listed, and nothing is
changed without --yes. Serve then announces, detaches and drops them, one a day.
A higher one brings no month back: see simgraph ledger restore-month.`
}

// Run lists what will be dropped, and changes the retention when nothing is or
// --yes was given.
func (r *LedgerRetention) Run(ctx context.Context, env *Env) error {
	if err := domain.CheckRetention(r.Months); err != nil {
		return err
	}
	return withLedger(ctx, env, "ledger retention", func(ledger *usage.Ledger) error {
		status, err := ledger.Status(ctx)
		if err != nil {
			return err
		}
		older := status.Older(r.Months)
		if err := listOlder(ctx, env, ledger, older); err != nil {
			return err
		}
		if len(older) > 0 {
			if err := r.agreed("changed", "drop these months"); err != nil {
				return err
			}
		}
		if err := ledger.SetRetention(ctx, actor("ledger retention"), r.Months); err != nil {
			return err
		}
		env.printf("The ledger keeps %d months, it kept %d. A server that is started with another --retention refuses to start.\n",
			r.Months, status.Retention)
		return nil
	})
}

// listOlder prints the months that will be dropped.
func listOlder(ctx context.Context, env *Env, ledger *usage.Ledger, months []domain.LedgerMonth) error {
	if len(months) == 0 {
		return nil
	}
	env.printf("The usage records of these months will be dropped; their totals stay:\n")
	for _, month := range months {
		n, err := ledger.Records(ctx, month.Month)
		if err != nil {
			return err
		}
		env.printf("  %s  %s\n", month.Month.Format(domain.MonthLayout), recordCount(n))
	}
	return nil
}

func recordCount(n int) string {
	if n > usage.CountedRecords {
		return fmt.Sprintf("more than %d records", usage.CountedRecords)
	}
	return fmt.Sprintf("%d records", n)
}

// LedgerRestoreMonth brings a month back.
type LedgerRestoreMonth struct {
	Month string `arg:"" placeholder:"YYYY-MM" help:"The month, such as 2026-04."`
}

// Help describes what comes back.
func (LedgerRestoreMonth) Help() string {
	return `A detached month comes back as it was, with the identities of its records, so
that a record which is sent again is a duplicate. The ledger has no gaps: detached
months after it are restored first. A month that was dropped is gone.`
}

// Run restores the month, and those after it.
func (r *LedgerRestoreMonth) Run(ctx context.Context, env *Env) error {
	month, err := domain.ParseMonth(r.Month)
	if err != nil {
		return err
	}
	return withLedger(ctx, env, "ledger restore-month", func(ledger *usage.Ledger) error {
		restored, err := ledger.Restore(ctx, actor("ledger restore-month"), month)
		for _, one := range restored {
			env.printf("%s is in the ledger again.\n", one.Format(domain.MonthLayout))
		}
		if err != nil {
			return err
		}
		env.printf("Run simgraph rebuild: subscribers may have moved to other groups meanwhile.\n")
		return warnOlder(ctx, env, ledger, month)
	})
}

// warnOlder says when the month will go again.
func warnOlder(ctx context.Context, env *Env, ledger *usage.Ledger, month time.Time) error {
	status, err := ledger.Status(ctx)
	if err == nil && month.Before(domain.KeptFrom(status.Trusted, status.Retention)) {
		env.printf("The retention of %d months does not cover it: serve will announce and detach it again. "+
			"simgraph ledger retention changes that.\n", status.Retention)
	}
	return err
}

func withLedger(ctx context.Context, env *Env, command string, do func(*usage.Ledger) error) error {
	pool, done, err := env.Open(ctx, command)
	if err != nil {
		return err
	}
	defer done()
	return do(usage.NewLedger(pool, usage.LedgerOptions{}))
}
