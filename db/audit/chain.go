package audit

import (
	"context"
	"database/sql"
	"iter"

	"github.com/jmoiron/sqlx"

	"simgraph/db/pg"
	"simgraph/domain"
)

// readAtOnce is how many entries are read at once.
const readAtOnce = 1000

const auditAfter = `SELECT ` + auditSelect + `
FROM audit_log a
WHERE a.company_id = $1 AND a.sequence > $2
ORDER BY a.sequence
LIMIT $3`

// All implements domain.AuditLog.
func (a *Log) All(ctx context.Context, scope domain.Scope, after int64) iter.Seq2[*domain.AuditEntry, error] {
	return allAudit(ctx, a.pool, scope, after, a.read)
}

func allAudit(ctx context.Context, in sqlx.QueryerContext, scope domain.Scope, after int64, atOnce int) iter.Seq2[*domain.AuditEntry, error] {
	return func(yield func(*domain.AuditEntry, error) bool) {
		if err := pg.WholeCompanyOnly(scope, entries.WholeOnly); err != nil {
			yield(nil, err)
			return
		}
		for {
			rows, err := pg.SelectAll[auditRow](ctx, in, auditAfter, scope.Company, after, atOnce)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, row := range rows {
				if after = row.Sequence; !yield(row.entry(), nil) {
					return
				}
			}
			if len(rows) < atOnce {
				return
			}
		}
	}
}

const newestAudit = `SELECT ` + auditSelect + `
FROM audit_log a
WHERE a.company_id = $1 AND a.subject_type = $2
ORDER BY a.sequence DESC
LIMIT 1`

// Newest returns the last entry about a type of subject; nil for none.
func (a *Log) Newest(ctx context.Context, scope domain.Scope, subjectType string) (*domain.AuditEntry, error) {
	row, err := pg.GetOne[auditRow](ctx, a.pool, nil, newestAudit, scope.Company, subjectType)
	if err != nil || row == nil {
		return nil, err
	}
	return row.entry(), nil
}

const auditHead = `SELECT sequence, encode(hash, 'hex') AS hash FROM audit_heads WHERE company_id = $1`

// Head implements domain.AuditLog.
func (a *Log) Head(ctx context.Context, scope domain.Scope) (domain.AuditMark, error) {
	return auditMark(ctx, a.pool, auditHead, scope)
}

// auditMark reads a mark; zero when there is none.
func auditMark(ctx context.Context, in sqlx.QueryerContext, sql string, scope domain.Scope) (domain.AuditMark, error) {
	if err := pg.WholeCompanyOnly(scope, entries.WholeOnly); err != nil {
		return domain.AuditMark{}, err
	}
	marks, err := pg.SelectAll[domain.AuditMark](ctx, in, sql, scope.Company)
	if err != nil || len(marks) == 0 {
		return domain.AuditMark{}, err
	}
	return *marks[0], nil
}

// Verify implements domain.AuditLog. It reads one moment: meanwhile the log may
// grow, and be pruned.
func (a *Log) Verify(ctx context.Context, scope domain.Scope, known ...domain.AuditMark) (domain.AuditMark, error) {
	tx, err := a.pool.BeginTxx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return domain.AuditMark{}, pg.Translate(err)
	}
	defer func() { _ = tx.Rollback() }() // it has only read
	return verify(ctx, tx, scope, a.read, known)
}

// VerifyIn is Log.Verify within a transaction.
func VerifyIn(ctx context.Context, in sqlx.QueryerContext, scope domain.Scope, known ...domain.AuditMark) (domain.AuditMark, error) {
	return verify(ctx, in, scope, readAtOnce, known)
}

func verify(ctx context.Context, in sqlx.QueryerContext, scope domain.Scope, atOnce int, known []domain.AuditMark) (domain.AuditMark, error) {
	head, err := auditMark(ctx, in, auditHead, scope)
	if err != nil {
		return domain.AuditMark{}, err
	}
	anchor, err := auditMark(ctx, in, auditAnchor, scope)
	if err != nil {
		return domain.AuditMark{}, err
	}
	return domain.VerifyAudit(scope.Company, anchor, allAudit(ctx, in, scope, anchor.Sequence, atOnce), append(known, head)...)
}
