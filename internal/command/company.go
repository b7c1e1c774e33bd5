package command

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"

	"simgraph/db/companies"
	"simgraph/domain"
)

// Company groups the commands about companies.
type Company struct {
	Create CompanyCreate `cmd:"" help:"Add a company."`
	List   CompanyList   `cmd:"" help:"List the companies."`
}

// CompanyList lists companies.
type CompanyList struct{}

// Run lists the companies by their identifiers.
func (CompanyList) Run(ctx context.Context, env *Env) error {
	pool, done, err := env.Open(ctx, "company list")
	if err != nil {
		return err
	}
	defer done()
	all, err := companies.New(pool).List(ctx)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "COMPANY\tNAME\tBILLING DAY\tTIME ZONE")
	for _, c := range all {
		_, _ = fmt.Fprintln(table, strings.Join([]string{c.ExternalID, c.Name, strconv.Itoa(c.BillingDay), c.TimeZone}, "\t"))
	}
	return table.Flush()
}

// companiesNamed returns the company of that external id or, for "", all.
func companiesNamed(ctx context.Context, companies domain.Companies, externalID string) ([]*domain.Company, error) {
	if externalID == "" {
		return companies.List(ctx)
	}
	one, err := companies.FindExternal(ctx, externalID)
	return []*domain.Company{one}, err
}
