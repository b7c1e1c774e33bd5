package imported

import (
	"context"

	"github.com/jmoiron/sqlx"

	"simgraph/db/audit"
	"simgraph/db/pg"
	"simgraph/domain"
)

// Keep stores n items of a bundle in one transaction, under the lock of the company, and
// counts the outcomes in the audit log as an import of what. keep stores the item i; an
// error of it stores none. After a conflict with others all items are kept anew.
func Keep(ctx context.Context, pool *sqlx.DB, scope domain.Scope, what string, n int, keep func(tx *sqlx.Tx, i int) (domain.Imported, error)) (answers []domain.Imported, err error) {
	err = pg.Retry(ctx, func() error {
		answers = make([]domain.Imported, n)
		return audit.ChangeLocked(ctx, pool, scope, func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
			for i := range answers {
				if answers[i], err = keep(tx, i); err != nil {
					return nil, err
				}
			}
			return audit.Import(what, TallyAnswers(answers)), nil
		})
	})
	return answers, err
}

const userOf = `SELECT coalesce((SELECT user_id FROM users WHERE company_id = $1 AND email = $2), 0)`

// Owner returns the number of the user of the company who has the address; 0 for none.
func Owner(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, email string) (int64, error) {
	owner, err := pg.Count(ctx, tx, userOf, scope.Company, email)
	return int64(owner), err
}
