// Package catalogue keeps operators and tariffs in PostgreSQL.
package catalogue

import (
	"context"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/keyset"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/query"
)

// Store keeps operators and tariffs in PostgreSQL.
type Store struct{ pool *sqlx.DB }

var _ domain.Catalogue = (*Store)(nil)

// New returns the store on the pool.
func New(pool *sqlx.DB) *Store { return &Store{pool} }

// visibleOperators is the condition that a subscriber which the scope ($1, $2) shows
// uses the operator o.
const visibleOperators = `EXISTS (SELECT FROM subscribers s
  WHERE s.company_id = $1 AND ($2::bigint[] IS NULL OR s.group_id = ANY($2)) AND s.operator_code = o.code)`

const (
	operatorColumns = `o.code, o.name`
	fromOperators   = ` FROM operators o WHERE ` + visibleOperators
)

// operatorsTable is the list of domain.OperatorFields.
var operatorsTable = keyset.Table{
	Key: query.Field{Name: "code"}, Select: operatorColumns, From: fromOperators,
	Columns: map[string]keyset.Column{"code": {SQL: "o.code"}, "name": {SQL: "o.name"}},
}

type listedOperator struct {
	domain.Operator
	keyset.Keyed
}

// Operators implements domain.Catalogue.
func (c *Store) Operators(ctx context.Context, scope domain.Scope, listing domain.Listing) (domain.Slice[*domain.Operator], error) {
	return keyset.Page(ctx, c.pool, operatorsTable, scope, listing, func(r *listedOperator) *domain.Operator { return &r.Operator }, pg.GroupsOf(scope))
}

// CountOperators implements domain.Catalogue.
func (c *Store) CountOperators(ctx context.Context, scope domain.Scope, listing domain.Listing) (int, error) {
	return operatorsTable.Count(ctx, c.pool, scope, listing, pg.GroupsOf(scope))
}

const findVisibleOperators = `SELECT ` + operatorColumns + fromOperators + ` AND o.code = ANY($3)`

// FindOperators implements domain.Catalogue.
func (c *Store) FindOperators(ctx context.Context, scope domain.Scope, codes []string) (map[string]*domain.Operator, error) {
	rows, err := pg.SelectAll[domain.Operator](ctx, c.pool, findVisibleOperators, scope.Company, pg.GroupsOf(scope), pq.StringArray(codes))
	if err != nil {
		return nil, err
	}
	return pg.Keyed(rows, func(of *domain.Operator) string { return of.Code }), nil
}

const findOperators = `SELECT o.code, o.name FROM operators o WHERE o.code = ANY($1)`

// OperatorsOf implements domain.Catalogue. The codes come from subscribers that
// the scope showed.
func (c *Store) OperatorsOf(ctx context.Context, _ domain.Scope, codes []string) (map[string]*domain.Operator, error) {
	rows, err := pg.SelectAll[domain.Operator](ctx, c.pool, findOperators, pq.StringArray(codes))
	if err != nil {
		return nil, err
	}
	return pg.Keyed(rows, func(of *domain.Operator) string { return of.Code }), nil
}

// visibleTariffs is the condition that the company has the tariff t, and that a
// restricted scope ($1, $2) has a subscriber with it whose group does not hide
// tariffs ($3).
const visibleTariffs = `t.company_id = $1 AND ($2::bigint[] IS NULL OR EXISTS (SELECT FROM subscribers s
  WHERE s.company_id = $1 AND s.group_id = ANY($2) AND s.group_id <> ALL(COALESCE($3::bigint[], '{}')) AND s.tariff_name = t.name))`

const (
	tariffColumns = `t.name, t.line_rental, t.currency`
	fromTariffs   = ` FROM tariffs t WHERE ` + visibleTariffs
)

// tariffsTable is the list of domain.TariffFields.
var tariffsTable = keyset.Table{
	Key: query.Field{Name: "name"}, Select: tariffColumns, From: fromTariffs,
	Columns: map[string]keyset.Column{"name": {SQL: "t.name"}, "lineRental": {SQL: "t.line_rental"}, "currency": {SQL: "t.currency"}},
}

type listedTariff struct {
	domain.Tariff
	keyset.Keyed
}

// Tariffs implements domain.Catalogue.
func (c *Store) Tariffs(ctx context.Context, scope domain.Scope, listing domain.Listing) (domain.Slice[*domain.Tariff], error) {
	return keyset.Page(ctx, c.pool, tariffsTable, scope, listing, func(r *listedTariff) *domain.Tariff { return &r.Tariff },
		pg.GroupsOf(scope), pq.Int64Array(scope.Masked))
}

// CountTariffs implements domain.Catalogue.
func (c *Store) CountTariffs(ctx context.Context, scope domain.Scope, listing domain.Listing) (int, error) {
	return tariffsTable.Count(ctx, c.pool, scope, listing, pg.GroupsOf(scope), pq.Int64Array(scope.Masked))
}

const findVisibleTariffs = `SELECT ` + tariffColumns + fromTariffs + ` AND t.name = ANY($4)`

// FindTariffs implements domain.Catalogue.
func (c *Store) FindTariffs(ctx context.Context, scope domain.Scope, names []string) (map[string]*domain.Tariff, error) {
	rows, err := pg.SelectAll[domain.Tariff](ctx, c.pool, findVisibleTariffs, scope.Company, pg.GroupsOf(scope), pq.Int64Array(scope.Masked), pq.StringArray(names))
	if err != nil {
		return nil, err
	}
	return pg.Keyed(rows, func(of *domain.Tariff) string { return of.Name }), nil
}

// TariffShown reports whether Tariffs lists the tariff.
func TariffShown(ctx context.Context, in sqlx.QueryerContext, scope domain.Scope, name string) (bool, error) {
	n, err := pg.Returned(ctx, in, findVisibleTariffs, scope.Company, pg.GroupsOf(scope), pq.Int64Array(scope.Masked), pq.StringArray{name})
	return n > 0, err
}

const findTariffs = `
SELECT t.name, t.line_rental, t.currency
FROM tariffs t
WHERE t.company_id = $1 AND t.name = ANY($2)`

// TariffsOf implements domain.Catalogue. The names come from subscribers that
// the scope showed unmasked.
func (c *Store) TariffsOf(ctx context.Context, scope domain.Scope, names []string) (map[string]*domain.Tariff, error) {
	rows, err := pg.SelectAll[domain.Tariff](ctx, c.pool, findTariffs, scope.Company, pq.StringArray(names))
	if err != nil {
		return nil, err
	}
	return pg.Keyed(rows, func(of *domain.Tariff) string { return of.Name }), nil
}

const subscribersByTariff = `
SELECT counted.name, sum(counted.subscribers)::bigint AS subscribers
FROM (
  SELECT CASE WHEN s.group_id = ANY($3::bigint[]) THEN '' ELSE s.tariff_name END AS name, count(*) AS subscribers
  FROM subscribers s
  WHERE s.company_id = $1 AND ($2::bigint[] IS NULL OR s.group_id = ANY($2))
  GROUP BY 1
  UNION ALL
  SELECT t.name, 0 FROM tariffs t WHERE t.company_id = $1 AND $2::bigint[] IS NULL
) counted
GROUP BY counted.name
ORDER BY counted.name
LIMIT $4`

// SubscribersByTariff implements domain.Catalogue.
func (c *Store) SubscribersByTariff(ctx context.Context, scope domain.Scope, limit int) ([]domain.TariffCount, error) {
	return pg.SelectValues[domain.TariffCount](ctx, c.pool, subscribersByTariff, scope.Company, pg.GroupsOf(scope), pq.Int64Array(scope.Masked), limit)
}
