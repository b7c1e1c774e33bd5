// Package companies keeps the tenants.
package companies

import (
	"context"

	"github.com/jmoiron/sqlx"

	"simgraph/db/pg"
	"simgraph/domain"
)

// Store keeps the tenants in PostgreSQL.
type Store struct{ pool *sqlx.DB }

var _ domain.Companies = (*Store)(nil)

// New returns the store on the pool.
func New(pool *sqlx.DB) *Store { return &Store{pool} }

const findByID = `
SELECT company_id, external_id, name, billing_day, time_zone, country_code
FROM companies
WHERE company_id = $1`

// LockByID returns the company $1 and locks it as Lock does.
const LockByID = findByID + `
FOR NO KEY UPDATE`

// Find returns a company that the caller has by its number.
func Find(ctx context.Context, in sqlx.QueryerContext, company domain.CompanyID) (*domain.Company, error) {
	return pg.GetOne[domain.Company](ctx, in, domain.NotFound("company", "company", ""), findByID, company)
}

// Lock makes the transaction the only one that changes what belongs to the company
// as a whole: its totals and what they depend on, and things of which it has a
// bounded number.
func Lock(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID) (*domain.Company, error) {
	return pg.GetOne[domain.Company](ctx, tx, domain.NotFound("company", "company", ""), LockByID, company)
}

// InTx runs do in a transaction that Lock protects.
func InTx(ctx context.Context, pool *sqlx.DB, company domain.CompanyID, do func(tx *sqlx.Tx) error) error {
	return pg.InTx(ctx, pool, func(tx *sqlx.Tx) error {
		if _, err := Lock(ctx, tx, company); err != nil {
			return err
		}
		return do(tx)
	})
}

// Find implements domain.Companies.
func (c *Store) Find(ctx context.Context, scope domain.Scope) (*domain.Company, error) {
	return Find(ctx, c.pool, scope.Company)
}

const numberOf = `
SELECT company_id
FROM company_lookup
WHERE external_id = $1`

// FindExternal implements domain.Companies. A join of both tables would ask every
// node of Citus.
func (c *Store) FindExternal(ctx context.Context, externalID string) (*domain.Company, error) {
	unknown := domain.NotFound("company", "company", externalID)
	numbered, err := pg.GetOne[domain.Company](ctx, c.pool, unknown, numberOf, externalID)
	if err != nil {
		return nil, err
	}
	return pg.GetOne[domain.Company](ctx, c.pool, unknown, findByID, numbered.CompanyID)
}

const listCompanies = `
SELECT c.company_id, c.external_id, c.name, c.billing_day, c.time_zone, c.country_code
FROM companies c
ORDER BY c.external_id
LIMIT 10000`

// List implements domain.Companies.
func (c *Store) List(ctx context.Context) ([]*domain.Company, error) {
	return pg.SelectAll[domain.Company](ctx, c.pool, listCompanies)
}
