package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"text/tabwriter"
	"time"

	"simgraph/db/audit"
	"simgraph/db/companies"
	"simgraph/db/usage"
	"simgraph/domain"
)

// Rebuild recomputes the totals.
type Rebuild struct {
	Company string `placeholder:"ID" help:"The company; all of them when missing."`
	Anew    bool   `help:"Begin with the first day, also where an earlier run was interrupted."`
}

// Help describes what the command is for.
func (Rebuild) Help() string {
	return `Every total is recomputed from the usage ledger, some days at a time, while usage
goes on being booked. A run that was interrupted is continued by the next one. Totals are kept in the transaction of the records that they add
up, so none should differ: what does is reported, and set right. Totals of
months that the ledger no longer holds stay as they are.`
}

// Run recomputes the totals and reports the differences.
func (r *Rebuild) Run(ctx context.Context, env *Env) error {
	pool, done, err := env.Open(ctx, "rebuild")
	if err != nil {
		return err
	}
	defer done()
	companies, err := companiesNamed(ctx, companies.New(pool), r.Company)
	if err != nil {
		return err
	}
	store, log, by := newUsage(pool, env.Log), audit.NewLog(pool), actor("rebuild")
	for _, company := range companies {
		scope := domain.Whole(company.CompanyID).By(by)
		if err := continued(ctx, env, store, company, r.Anew); err != nil {
			return err
		}
		differences, n, err := store.RebuildWith(ctx, scope, usage.RebuildOptions{Anew: r.Anew, Progress: env.checked(company)})
		// What was set right before an error is reported as well.
		if err = errors.Join(err, log.Note(ctx, scope, rebuilt(n))); err != nil {
			return fmt.Errorf("%s: %w", company.ExternalID, err)
		}
		report(env, company, differences, n)
	}
	return nil
}

// continued says where an earlier run was interrupted.
func continued(ctx context.Context, env *Env, store *usage.Store, company *domain.Company, anew bool) error {
	reached, err := store.Interrupted(ctx, company.CompanyID)
	if err == nil && !reached.IsZero() && !anew {
		env.printf("%s: an earlier run was interrupted, this one continues from %s; --anew begins with the first day\n",
			company.ExternalID, reached.Format(time.DateOnly))
	}
	return err
}

// checked reports on standard error, every few seconds, how far a rebuild has come.
func (e *Env) checked(company *domain.Company) func(from, reached, to time.Time) {
	printed := time.Now()
	return func(from, reached, to time.Time) {
		if time.Since(printed) < lineEvery {
			return
		}
		printed = time.Now()
		_, _ = fmt.Fprintf(e.Stderr, "%s: the totals before %s are checked, %d%%\n",
			company.ExternalID, reached.Format(time.DateOnly), 100*reached.Sub(from)/to.Sub(from))
	}
}

func rebuilt(totals int) domain.AuditEntry {
	return domain.AuditEntry{
		Action: domain.AuditUsageRebuild, SubjectType: "Company", Changes: []domain.AuditChange{domain.Became("totals", strconv.Itoa(totals))},
	}
}

func report(env *Env, company *domain.Company, differences []domain.UsageDifference, n int) {
	if n == 0 {
		env.printf("%s: all totals agree with the ledger\n", company.ExternalID)
		return
	}
	env.printf("%s: %d totals differed from the ledger and were set right\n", company.ExternalID, n)
	table := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	for _, d := range differences {
		_, _ = fmt.Fprintf(table, "  %s\t%s\twas %s\tis %s\n", d.Total, d.Key, cmp.Or(d.Stored, "missing"), cmp.Or(d.Derived, "gone"))
	}
	_ = table.Flush() // standard output is as good as it is
	if more := n - len(differences); more > 0 {
		env.printf("  and %d more\n", more)
	}
}
