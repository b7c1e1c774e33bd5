package bundle

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/audit"
	"simgraph/db/companies"
	"simgraph/db/pg"
	"simgraph/db/usage"
	"simgraph/db/volume"
	"simgraph/domain"
)

const (
	// numberCompanies joins no row of the table, as numberUsers.
	numberCompanies = `
INSERT INTO company_lookup (external_id)
SELECT l.external_id FROM unnest($1::text[]) AS l(external_id)
ORDER BY l.external_id
ON CONFLICT DO NOTHING`
	findNumbers = `SELECT company_id, external_id FROM company_lookup WHERE external_id = ANY($1)`
)

// Companies implements domain.Importer. Each company is a transaction of its own:
// they may live on different nodes, and one that is away does not stop the others.
func (i *Importer) Companies(ctx context.Context, by *domain.Actor, items []*domain.Company) ([]domain.Imported, error) {
	numbers, err := i.numbers(ctx, pg.Pluck(items, func(c *domain.Company) string { return c.ExternalID }))
	if err != nil {
		return nil, err
	}
	kept := make([]domain.Imported, len(items))
	var failures []error
	for at, item := range items {
		company := *item
		company.CompanyID = numbers[item.ExternalID]
		if kept[at].Outcome, err = i.company(ctx, by, &company); err != nil {
			failures = append(failures, fmt.Errorf("company %s: %w", item.ExternalID, err))
		}
		if ctx.Err() != nil {
			return nil, pg.Translate(ctx.Err())
		}
	}
	if len(failures) > 0 {
		return nil, errors.Join(failures...)
	}
	return kept, nil
}

// numbers returns the numbers of companies, and gives new ones theirs. Only that
// needs every node of the database.
func (i *Importer) numbers(ctx context.Context, ids pq.StringArray) (map[string]domain.CompanyID, error) {
	for numbered := false; ; numbered = true {
		found, err := pg.SelectAll[domain.Company](ctx, i.pool, findNumbers, ids)
		if err != nil {
			return nil, err
		}
		numbers := map[string]domain.CompanyID{}
		for _, company := range found {
			numbers[company.ExternalID] = company.CompanyID
		}
		unknown := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return numbers[id] != 0 })
		if len(unknown) == 0 || numbered {
			return numbers, nil
		}
		if _, err := i.pool.ExecContext(ctx, numberCompanies, unknown); err != nil {
			return nil, pg.Translate(err)
		}
	}
}

const (
	writeCompany = `
INSERT INTO companies (company_id, external_id, name, billing_day, time_zone, country_code)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (company_id) DO UPDATE
SET name = excluded.name, billing_day = excluded.billing_day, time_zone = excluded.time_zone,
  country_code = excluded.country_code`
)

func (i *Importer) company(ctx context.Context, by *domain.Actor, c *domain.Company) (outcome domain.Outcome, err error) {
	err = pg.InTx(ctx, i.pool, func(tx *sqlx.Tx) error {
		old, err := pg.SelectAll[domain.Company](ctx, tx, companies.LockByID, c.CompanyID)
		if err != nil {
			return err
		}
		if outcome = companyOutcome(old, c); outcome == domain.Unchanged {
			return nil
		}
		if _, err := pg.Affected(ctx, tx, writeCompany, c.CompanyID, c.ExternalID, c.Name, c.BillingDay, c.TimeZone, c.CountryCode); err != nil {
			return err
		}
		if len(old) == 1 && (old[0].BillingDay != c.BillingDay || old[0].TimeZone != c.TimeZone) {
			if err := i.rebill(ctx, tx, c); err != nil {
				return err
			}
		}
		return audit.Record(ctx, tx, domain.Whole(c.CompanyID).By(by), domain.AuditEntry{
			Action: domain.AuditImport + "companies", SubjectType: "Company", SubjectID: c.ExternalID,
			Changes: []domain.AuditChange{
				domain.Became("name", c.Name), domain.Became("billingDay", pg.FormatInt(int64(c.BillingDay))), domain.Became("timeZone", c.TimeZone),
				domain.Became("country", c.CountryCode),
			},
		})
	})
	return outcome, err
}

func companyOutcome(old []*domain.Company, c *domain.Company) domain.Outcome {
	switch {
	case len(old) == 0:
		return domain.Created
	case *old[0] == *c:
		return domain.Unchanged
	}
	return domain.Updated
}

// rebill books the usage of a company to the billing periods that it has from now
// on. Its row is locked by the change.
func (i *Importer) rebill(ctx context.Context, tx *sqlx.Tx, company *domain.Company) error {
	if err := usage.RebookPeriods(ctx, tx, company); err != nil {
		return err
	}
	return volume.FireDerived(ctx, tx, company, i.now())
}
