package db

import (
	"context"
	"iter"

	"github.com/jmoiron/sqlx"

	"simgraph/domain"
)

// Names for the tests of package db_test.
type Column = column

var CompileFilter = compileFilter

func NewColumn(sql, masked string) Column { return column{sql: sql, masked: masked} }

// AuditIn reads the audit log within a transaction.
func AuditIn(tx *sqlx.Tx) func(context.Context, domain.Scope, int64) iter.Seq2[*domain.AuditEntry, error] {
	return func(ctx context.Context, scope domain.Scope, after int64) iter.Seq2[*domain.AuditEntry, error] {
		return allAudit(ctx, tx, scope, after)
	}
}
