package db

import (
	"context"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/keyset"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/query"
)

// Catalogue keeps operators and tariffs in PostgreSQL.
type Catalogue struct{ pool *sqlx.DB }

var _ domain.Catalogue = (*Catalogue)(nil)

// NewCatalogue returns the store on the pool.
func NewCatalogue(pool *sqlx.DB) *Catalogue { return &Catalogue{pool} }

// Operators implements domain.Catalogue.
func (c *Catalogue) Operators(ctx context.Context, scope domain.Scope, page domain.Page) (domain.Slice[*domain.Operator], error) {
	const sql = `SELECT o.code, o.name FROM operators o
WHERE EXISTS (SELECT FROM subscribers s
  WHERE s.company_id = $1 AND ($2::bigint[] IS NULL OR s.group_id = ANY($2)) AND s.operator_code = o.code)`
	return keyset.ByKey(ctx, c.pool, sql, query.Field{Name: "code"}, "o.code", page,
		func(of *domain.Operator) string { return of.Code }, scope.Company, pg.GroupsOf(scope))
}

const findOperators = `SELECT o.code, o.name FROM operators o WHERE o.code = ANY($1)`

// OperatorsOf implements domain.Catalogue. The codes come from subscribers that
// the scope showed.
func (c *Catalogue) OperatorsOf(ctx context.Context, _ domain.Scope, codes []string) (map[string]*domain.Operator, error) {
	rows, err := pg.SelectAll[domain.Operator](ctx, c.pool, findOperators, pq.StringArray(codes))
	if err != nil {
		return nil, err
	}
	return pg.Keyed(rows, func(of *domain.Operator) string { return of.Code }), nil
}

// Tariffs implements domain.Catalogue.
func (c *Catalogue) Tariffs(ctx context.Context, scope domain.Scope, page domain.Page) (domain.Slice[*domain.Tariff], error) {
	const sql = `SELECT t.name, t.line_rental, t.currency FROM tariffs t
WHERE t.company_id = $1 AND ($2::bigint[] IS NULL OR EXISTS (SELECT FROM subscribers s
  WHERE s.company_id = $1 AND s.group_id = ANY($2) AND s.group_id <> ALL(COALESCE($3::bigint[], '{}')) AND s.tariff_name = t.name))`
	return keyset.ByKey(ctx, c.pool, sql, query.Field{Name: "name"}, "t.name", page,
		func(of *domain.Tariff) string { return of.Name }, scope.Company, pg.GroupsOf(scope), pq.Int64Array(scope.Masked))
}

const findTariffs = `
SELECT t.name, t.line_rental, t.currency
FROM tariffs t
WHERE t.company_id = $1 AND t.name = ANY($2)`

// TariffsOf implements domain.Catalogue. The names come from subscribers that
// the scope showed unmasked.
func (c *Catalogue) TariffsOf(ctx context.Context, scope domain.Scope, names []string) (map[string]*domain.Tariff, error) {
	rows, err := pg.SelectAll[domain.Tariff](ctx, c.pool, findTariffs, scope.Company, pq.StringArray(names))
	if err != nil {
		return nil, err
	}
	return pg.Keyed(rows, func(of *domain.Tariff) string { return of.Name }), nil
}
