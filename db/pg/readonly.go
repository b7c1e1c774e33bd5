package pg

import (
	"context"

	"github.com/jmoiron/sqlx"
)

const readOnly = `SELECT current_setting('transaction_read_only')::boolean AS refused, pg_is_in_recovery() AS standby`

// ReadOnly returns why the database refuses writes, and "" where it takes them.
func ReadOnly(ctx context.Context, pool *sqlx.DB) (reason string, err error) {
	var found struct{ Refused, Standby bool }
	if err := pool.GetContext(ctx, &found, readOnly); err != nil {
		return "", Translate(err)
	}
	switch {
	case found.Standby:
		return "it is a standby", nil
	case found.Refused:
		return "default_transaction_read_only is on", nil
	default:
		return "", nil
	}
}
