package audit

import (
	"context"

	"github.com/jmoiron/sqlx"

	"simgraph/db/companies"
	"simgraph/db/pg"
	"simgraph/domain"
)

// Change runs do in a transaction, and records its entry as the last statement of it. No
// entry means that nothing changed.
func Change(ctx context.Context, pool *sqlx.DB, scope domain.Scope, do func(tx *sqlx.Tx) (*domain.AuditEntry, error)) error {
	return pg.InTx(ctx, pool, func(tx *sqlx.Tx) error {
		entry, err := do(tx)
		if err != nil || entry == nil {
			return err
		}
		return Record(ctx, tx, scope, *entry)
	})
}

// ChangeLocked is Change under the lock of the company.
func ChangeLocked(ctx context.Context, pool *sqlx.DB, scope domain.Scope, do func(tx *sqlx.Tx) (*domain.AuditEntry, error)) error {
	return Change(ctx, pool, scope, func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
		if _, err := companies.Lock(ctx, tx, scope.Company); err != nil {
			return nil, err
		}
		return do(tx)
	})
}

// Entry is the entry of a change of what has a number.
func Entry(action, subjectType string, id int64, changes ...domain.AuditChange) *domain.AuditEntry {
	return &domain.AuditEntry{Action: action, SubjectType: subjectType, SubjectID: pg.FormatInt(id), Changes: changes}
}
