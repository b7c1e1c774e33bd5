package db

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/audit"
	"simgraph/db/companies"
	"simgraph/db/pg"
	"simgraph/db/usage"
	"simgraph/domain"
)

const numberCompanies = `
INSERT INTO company_lookup (external_id)
SELECT l.external_id FROM unnest($1::text[]) AS l(external_id)
WHERE NOT EXISTS (SELECT FROM company_lookup known WHERE known.external_id = l.external_id)
ORDER BY l.external_id
ON CONFLICT DO NOTHING`

const importCompanies = `
WITH line AS (
  SELECT l.*, known.company_id, CASE
    WHEN c.company_id IS NULL THEN 'created'
    WHEN (c.billing_day, c.time_zone) IS DISTINCT FROM (l.billing_day, l.time_zone) THEN 'moved'
    WHEN c.name <> l.name THEN 'updated'
    ELSE 'unchanged' END AS outcome
  FROM unnest($1::text[], $2::text[], $3::smallint[], $4::text[]) AS l(external_id, name, billing_day, time_zone)
  JOIN company_lookup known ON known.external_id = l.external_id
  LEFT JOIN companies c ON c.company_id = known.company_id
), written AS (
  INSERT INTO companies (company_id, external_id, name, billing_day, time_zone)
  SELECT company_id, external_id, name, billing_day, time_zone FROM line WHERE outcome <> 'unchanged' ORDER BY company_id
  ON CONFLICT (company_id) DO UPDATE
  SET name = excluded.name, billing_day = excluded.billing_day, time_zone = excluded.time_zone
)
SELECT external_id, outcome FROM line`

// Companies implements domain.Importer.
func (i *Importer) Companies(ctx context.Context, by *domain.Actor, items []*domain.Company) ([]domain.Imported, error) {
	externalID := func(c *domain.Company) string { return c.ExternalID }
	ids := pq.Array(pg.Pluck(items, externalID))
	verdicts := map[string]string{}
	err := pg.InTx(ctx, i.pool, func(tx *sqlx.Tx) error {
		if _, err := tx.ExecContext(ctx, numberCompanies, ids); err != nil {
			return err
		}
		err := judge(ctx, tx, verdicts, importCompanies, ids,
			pq.Array(pg.Pluck(items, func(c *domain.Company) string { return c.Name })),
			pq.Array(pg.Pluck(items, func(c *domain.Company) int64 { return int64(c.BillingDay) })),
			pq.Array(pg.Pluck(items, func(c *domain.Company) string { return c.TimeZone })))
		if err != nil {
			return err
		}
		if err := rebill(ctx, tx, movedBy(verdicts), i.now()); err != nil {
			return err
		}
		return auditCompanies(ctx, tx, by, items, verdicts)
	})
	if err != nil {
		return nil, err
	}
	return answer(items, verdicts, externalID, unexpected), nil
}

// rebill books the usage of companies to the billing periods that they have
// from now on. The rows are locked by the change.
func rebill(ctx context.Context, tx *sqlx.Tx, externalIDs []string, at time.Time) error {
	for _, id := range externalIDs {
		company, err := pg.GetOne[domain.Company](ctx, tx, domain.NotFound("company", "company", id), companies.FindByExternalID, id)
		if err != nil {
			return err
		}
		if err := usage.RebookPeriods(ctx, tx, company); err != nil {
			return err
		}
		if err := fireDerived(ctx, tx, company, at); err != nil {
			return err
		}
	}
	return nil
}

// auditCompanies notes in each company's log how it was made or changed, in the
// order of their numbers: others who write to several wait the same way.
func auditCompanies(ctx context.Context, tx *sqlx.Tx, by *domain.Actor, items []*domain.Company, verdicts map[string]string) error {
	changed := map[domain.CompanyID]domain.AuditEntry{}
	for _, c := range items {
		if outcome := outcomes[verdicts[c.ExternalID]]; outcome != domain.Created && outcome != domain.Updated {
			continue
		}
		company, err := pg.GetOne[domain.Company](ctx, tx, domain.NotFound("company", "company", c.ExternalID), companies.FindByExternalID, c.ExternalID)
		if err != nil {
			return err
		}
		changed[company.CompanyID] = domain.AuditEntry{
			Action: domain.AuditImport + "companies", SubjectType: "Company", SubjectID: c.ExternalID,
			Changes: []domain.AuditChange{
				domain.Became("name", c.Name), domain.Became("billingDay", pg.FormatInt(int64(c.BillingDay))), domain.Became("timeZone", c.TimeZone),
			},
		}
	}
	for _, id := range slices.Sorted(maps.Keys(changed)) {
		if err := audit.Record(ctx, tx, domain.Whole(id).By(by), changed[id]); err != nil {
			return err
		}
	}
	return nil
}
