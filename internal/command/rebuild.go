package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"text/tabwriter"

	"simgraph/db/audit"
	"simgraph/db/companies"
	"simgraph/domain"
)

// Rebuild recomputes the totals.
type Rebuild struct {
	Company string `placeholder:"ID" help:"The company; all of them when missing."`
}

// Help says what the command is for.
func (Rebuild) Help() string {
	return `Every total is recomputed from the usage ledger, day by day, while usage goes on
being booked. Totals are kept in the transaction of the records that they add
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
	usage, log, by := newUsage(pool), audit.NewLog(pool), actor("rebuild")
	for _, company := range companies {
		scope := domain.Whole(company.CompanyID).By(by)
		differences, n, err := usage.Rebuild(ctx, scope)
		// What was set right before an error is reported as well.
		if err = errors.Join(err, log.Note(ctx, scope, rebuilt(n))); err != nil {
			return fmt.Errorf("%s: %w", company.ExternalID, err)
		}
		report(env, company, differences, n)
	}
	return nil
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
