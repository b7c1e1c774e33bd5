package db

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"simgraph/domain"
)

// liveChannel carries what changed to the listeners of every instance.
const liveChannel = "simgraph_live"

const announce = `SELECT pg_notify('` + liveChannel + `', $1)`

// announceAlerts tells, when the transaction commits, that alerts fired.
func announceAlerts(ctx context.Context, tx sqlx.ExecerContext, company domain.CompanyID, notification uuid.UUID) error {
	_, err := tx.ExecContext(ctx, announce, fmt.Sprintf("alert %d %s", company, notification))
	return err
}
