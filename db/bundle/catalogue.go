package bundle

import (
	"context"
	"slices"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/audit"
	"simgraph/db/catalogue"
	"simgraph/db/imported"
	"simgraph/db/pg"
	"simgraph/domain"
)

const importOperators = `
WITH line AS (
  SELECT l.*, CASE WHEN o.code IS NULL THEN 'created' WHEN o.name <> l.name THEN 'updated' ELSE 'unchanged' END AS outcome
  FROM unnest($1::text[], $2::text[]) AS l(code, name)
  LEFT JOIN operators o ON o.code = l.code
), written AS (
  INSERT INTO operators (code, name)
  SELECT code, name FROM line WHERE outcome <> 'unchanged' ORDER BY code
  ON CONFLICT (code) DO UPDATE SET name = excluded.name
)
SELECT code, outcome FROM line`

// Operators implements domain.Importer. Every node of the database has a copy of
// the operators, so nothing is written where nothing changes.
func (i *Importer) Operators(ctx context.Context, by *domain.Actor, items []*domain.Operator) ([]domain.Imported, error) {
	code := func(o *domain.Operator) string { return o.Code }
	known, err := catalogue.New(i.pool).OperatorsOf(ctx, domain.Whole(domain.Installation), pg.Pluck(items, code))
	if err != nil {
		return nil, err
	}
	verdicts := map[string]string{}
	changed := slices.ContainsFunc(items, func(o *domain.Operator) bool {
		verdicts[o.Code] = "unchanged"
		return known[o.Code] == nil || known[o.Code].Name != o.Name
	})
	if !changed {
		return imported.Answer(items, verdicts, code, imported.Unexpected), nil
	}
	err = audit.Change(ctx, i.pool, domain.Whole(domain.Installation).By(by), func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
		err := imported.Judge(ctx, tx, verdicts, importOperators, pq.Array(pg.Pluck(items, code)),
			pq.Array(pg.Pluck(items, func(o *domain.Operator) string { return o.Name })))
		return audit.Import("operators", imported.Tally(verdicts, nil)), err
	})
	if err != nil {
		return nil, err
	}
	answers := imported.Answer(items, verdicts, code, imported.Unexpected)
	i.grown(ctx, "operators", answers)
	return answers, nil
}

const importTariffs = `
WITH line AS (
  SELECT l.*, CASE
    WHEN t.name IS NULL THEN 'created'
    WHEN (t.line_rental, t.currency) IS DISTINCT FROM (l.line_rental, l.currency) THEN 'updated'
    ELSE 'unchanged' END AS outcome
  FROM companies own
  CROSS JOIN unnest($2::text[], $3::integer[], $4::text[]) AS l(name, line_rental, currency)
  LEFT JOIN tariffs t ON t.company_id = own.company_id AND t.name = l.name
  WHERE own.company_id = $1
), written AS (
  INSERT INTO tariffs (company_id, name, line_rental, currency)
  SELECT own.company_id, l.name, l.line_rental, l.currency
  FROM companies own
  CROSS JOIN line l
  WHERE own.company_id = $1 AND l.outcome <> 'unchanged'
  ORDER BY l.name
  ON CONFLICT (company_id, name) DO UPDATE SET line_rental = excluded.line_rental, currency = excluded.currency
)
SELECT name, outcome FROM line`

// Tariffs implements domain.Importer.
func (i *Importer) Tariffs(ctx context.Context, scope domain.Scope, items []*domain.Tariff) ([]domain.Imported, error) {
	name := func(t *domain.Tariff) string { return t.Name }
	return importItems(ctx, i, scope, "tariffs", items, name, importTariffs, pq.Array(pg.Pluck(items, name)),
		pq.Array(pg.Pluck(items, func(t *domain.Tariff) int64 { return int64(t.LineRental) })),
		pq.Array(pg.Pluck(items, func(t *domain.Tariff) string { return t.Currency })))
}

// importItems runs a statement that stores items, whose parameters follow the company.
func importItems[T any](ctx context.Context, i *Importer, scope domain.Scope, table string, items []*T, identity func(*T) string, sql string, args ...any) ([]domain.Imported, error) {
	verdicts := map[string]string{}
	err := i.inCompany(ctx, scope, table, func(tx *sqlx.Tx) (map[domain.Outcome]int, error) {
		err := imported.Judge(ctx, tx, verdicts, sql, append([]any{scope.Company}, args...)...)
		return imported.Tally(verdicts, nil), err
	})
	if err != nil {
		return nil, err
	}
	answers := imported.Answer(items, verdicts, identity, imported.Unexpected)
	i.grown(ctx, table, answers)
	return answers, nil
}

const importGroups = `
WITH line AS (
  SELECT l.*, CASE
    WHEN g.group_id IS NULL THEN 'created'
    WHEN (g.name, g.hide_tariff_details) IS DISTINCT FROM (l.name, l.hide_tariff_details) THEN 'updated'
    ELSE 'unchanged' END AS outcome
  FROM companies own
  CROSS JOIN unnest($2::bigint[], $3::text[], $4::boolean[]) AS l(group_id, name, hide_tariff_details)
  LEFT JOIN groups g ON g.company_id = own.company_id AND g.group_id = l.group_id
  WHERE own.company_id = $1
), written AS (
  INSERT INTO groups (company_id, group_id, name, hide_tariff_details)
  SELECT own.company_id, l.group_id, l.name, l.hide_tariff_details
  FROM companies own
  CROSS JOIN line l
  WHERE own.company_id = $1 AND l.outcome <> 'unchanged'
  ORDER BY l.group_id
  ON CONFLICT (company_id, group_id) DO UPDATE
  SET name = excluded.name, hide_tariff_details = excluded.hide_tariff_details
)
SELECT group_id::text, outcome FROM line`

// Groups implements domain.Importer.
func (i *Importer) Groups(ctx context.Context, scope domain.Scope, items []*domain.Group) ([]domain.Imported, error) {
	return importItems(ctx, i, scope, "groups", items, func(g *domain.Group) string { return pg.FormatInt(g.GroupID) }, importGroups,
		pq.Array(pg.Pluck(items, func(g *domain.Group) int64 { return g.GroupID })),
		pq.Array(pg.Pluck(items, func(g *domain.Group) string { return g.Name })),
		pq.Array(pg.Pluck(items, func(g *domain.Group) bool { return g.HideTariffDetails })))
}
