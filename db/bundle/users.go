package bundle

import (
	"context"

	"github.com/jmoiron/sqlx"

	"simgraph/db/access"
	"simgraph/db/imported"
	"simgraph/domain"
	"simgraph/domain/ascii"
)

// Users implements domain.Importer.
func (i *Importer) Users(ctx context.Context, scope domain.Scope, items []*domain.UserImport) ([]domain.Imported, error) {
	var verdicts map[string]string
	err := i.inCompany(ctx, scope, "users", func(tx *sqlx.Tx) (_ map[domain.Outcome]int, err error) {
		verdicts, err = access.StoreUsers(ctx, tx, scope, items)
		return imported.Tally(verdicts, nil), err
	})
	if err != nil {
		return nil, err
	}
	return imported.Answer(items, verdicts, func(u *domain.UserImport) string { return ascii.Lower(u.Email) }, access.RefuseUser), nil
}
