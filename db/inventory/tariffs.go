package inventory

import (
	"cmp"
	"context"

	"github.com/jmoiron/sqlx"

	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/inventory"
)

const createTariff = `
INSERT INTO tariffs (company_id, name, line_rental, currency)
VALUES ($1, $2, $3, $4)
ON CONFLICT DO NOTHING
RETURNING 1`

// CreateTariff implements inventory.Inventory.
func (s *Store) CreateTariff(ctx context.Context, scope domain.Scope, t domain.Tariff) (*domain.Tariff, error) {
	if err := inventory.WholeCompany(scope, "tariffs"); err != nil {
		return nil, err
	}
	if err := t.Check(); err != nil {
		return nil, err
	}
	return &t, s.write(ctx, scope, func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
		n, err := pg.Returned(ctx, tx, createTariff, scope.Company, t.Name, t.LineRental, t.Currency)
		if err == nil && n == 0 {
			err = domain.Invalid("name", "the company has a tariff %q already", t.Name)
		}
		return tariffEntry(domain.AuditTariffCreate, t.Name, domain.Became("lineRental", pg.FormatInt(int64(t.LineRental))), domain.Became("currency", t.Currency)), err
	})
}

func tariffEntry(action, name string, changes ...domain.AuditChange) *domain.AuditEntry {
	return &domain.AuditEntry{Action: action, SubjectType: "Tariff", SubjectID: name, Changes: changes}
}

const (
	lockTariff = `
SELECT t.name, t.line_rental, t.currency
FROM tariffs t
WHERE t.company_id = $1 AND t.name = $2
FOR UPDATE`
	writeTariff = `UPDATE tariffs SET line_rental = $3, currency = $4 WHERE company_id = $1 AND name = $2`
)

func (s *Store) lockTariff(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, name string) (*domain.Tariff, error) {
	return pg.GetOne[domain.Tariff](ctx, tx, domain.NotFound("name", "tariff", name), lockTariff, scope.Company, name)
}

// EditTariff implements inventory.Inventory.
func (s *Store) EditTariff(ctx context.Context, scope domain.Scope, name string, edit func(*domain.Tariff) error) (edited *domain.Tariff, err error) {
	if err := inventory.WholeCompany(scope, "tariffs"); err != nil {
		return nil, err
	}
	err = s.write(ctx, scope, func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
		if edited, err = s.lockTariff(ctx, tx, scope, name); err != nil {
			return nil, err
		}
		before := *edited
		if err := cmp.Or(scope.CheckVersion(before.Version()), edit(edited)); err != nil {
			return nil, err
		}
		if err := edited.Check(); err != nil || *edited == before {
			return nil, err
		}
		changes := append(domain.Changed("lineRental", pg.FormatInt(int64(before.LineRental)), pg.FormatInt(int64(edited.LineRental))),
			domain.Changed("currency", before.Currency, edited.Currency)...)
		_, err := pg.Affected(ctx, tx, writeTariff, scope.Company, name, edited.LineRental, edited.Currency)
		return tariffEntry(domain.AuditTariffEdit, name, changes...), err
	})
	return edited, err
}

const (
	tariffUsed   = `SELECT s.key FROM subscribers s WHERE s.company_id = $1 AND s.tariff_name = $2 LIMIT 1`
	removeTariff = `DELETE FROM tariffs WHERE company_id = $1 AND name = $2`
)

// RemoveTariff implements inventory.Inventory.
func (s *Store) RemoveTariff(ctx context.Context, scope domain.Scope, name string) (removed *domain.Tariff, err error) {
	if err := inventory.WholeCompany(scope, "tariffs"); err != nil {
		return nil, err
	}
	err = s.write(ctx, scope, func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
		if removed, err = s.lockTariff(ctx, tx, scope, name); err != nil {
			return nil, err
		}
		used, err := pg.Returned(ctx, tx, tariffUsed, scope.Company, name)
		if err != nil {
			return nil, err
		}
		if used > 0 {
			return nil, domain.Invalid("name", "subscribers have the tariff %q, and it is not removed", name)
		}
		_, err = pg.Affected(ctx, tx, removeTariff, scope.Company, name)
		return tariffEntry(domain.AuditTariffRemove, name, domain.Was("lineRental", pg.FormatInt(int64(removed.LineRental))), domain.Was("currency", removed.Currency)), err
	})
	return removed, err
}
