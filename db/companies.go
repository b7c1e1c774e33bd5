package db

import (
	"context"

	"github.com/jmoiron/sqlx"

	"simgraph/domain"
)

// Companies keeps the tenants in PostgreSQL.
type Companies struct{ pool *sqlx.DB }

var _ domain.Companies = (*Companies)(nil)

// NewCompanies returns the store on the pool.
func NewCompanies(pool *sqlx.DB) *Companies { return &Companies{pool} }

const findCompany = `
SELECT company_id, external_id, name, billing_day, time_zone
FROM companies
WHERE company_id = $1`

// Find implements domain.Companies.
func (c *Companies) Find(ctx context.Context, scope domain.Scope) (*domain.Company, error) {
	return getOne[domain.Company](ctx, c.pool, domain.NotFound("company", "company", ""), findCompany, scope.Company)
}

const findExternalCompany = `
SELECT c.company_id, c.external_id, c.name, c.billing_day, c.time_zone
FROM company_lookup l
JOIN companies c ON c.company_id = l.company_id
WHERE l.external_id = $1`

// FindExternal implements domain.Companies.
func (c *Companies) FindExternal(ctx context.Context, externalID string) (*domain.Company, error) {
	return getOne[domain.Company](ctx, c.pool, domain.NotFound("company", "company", externalID), findExternalCompany, externalID)
}

const listCompanies = `
SELECT c.company_id, c.external_id, c.name, c.billing_day, c.time_zone
FROM companies c
ORDER BY c.external_id
LIMIT 10000`

// List implements domain.Companies.
func (c *Companies) List(ctx context.Context) ([]*domain.Company, error) {
	return selectAll[domain.Company](ctx, c.pool, listCompanies)
}
