package usage

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/pg"
	"simgraph/domain"
)

const (
	// adoptWaits begins the waits of steps that were taken by a version without them.
	adoptWaits = `
UPDATE usage_ledger_months
SET announced_waited = coalesce(announced_waited, $1),
  detached_waited = coalesce(detached_waited, CASE WHEN detached_at IS NOT NULL THEN $1 END),
  due_waited = coalesce(due_waited, CASE WHEN due_at IS NOT NULL THEN $1 END),
  dropped_waited = coalesce(dropped_waited, CASE WHEN dropped_at IS NOT NULL THEN $1 END)
WHERE announced_waited IS NULL OR detached_at IS NOT NULL AND detached_waited IS NULL
  OR due_at IS NOT NULL AND due_waited IS NULL OR dropped_at IS NOT NULL AND dropped_waited IS NULL`
	waitsOfMonths = `
SELECT month, announced_waited, CASE WHEN detached_at IS NOT NULL THEN detached_waited END AS detached_waited,
  CASE WHEN due_at IS NOT NULL THEN due_waited END AS due_waited, CASE WHEN dropped_at IS NOT NULL THEN dropped_waited END AS dropped_waited
FROM usage_ledger_months`
)

// byWaits returns the months with the times to wait by instead of those of a clock.
func byWaits(ctx context.Context, tx *sqlx.Tx, months []domain.LedgerMonth, now time.Time) ([]domain.LedgerMonth, error) {
	if err := execute(ctx, tx, adoptWaits, now.UnixMicro()); err != nil {
		return nil, err
	}
	type row struct {
		Month                                                     time.Time
		AnnouncedWaited, DetachedWaited, DueWaited, DroppedWaited *int64
	}
	rows, err := pg.SelectAll[row](ctx, tx, waitsOfMonths)
	if err != nil {
		return nil, err
	}
	noted := map[time.Time]*row{}
	for _, r := range rows {
		noted[r.Month.UTC()] = r
	}
	planned := make([]domain.LedgerMonth, len(months))
	for i, m := range months {
		planned[i] = domain.LedgerMonth{Month: m.Month}
		if r := noted[m.Month]; r != nil && !m.AnnouncedAt.IsZero() {
			planned[i] = domain.LedgerMonth{
				Month: m.Month, AnnouncedAt: waitedAt(r.AnnouncedWaited), DetachedAt: waitedAt(r.DetachedWaited),
				DueAt: waitedAt(r.DueWaited), DroppedAt: waitedAt(r.DroppedWaited),
			}
		}
	}
	return planned, nil
}

func waitedAt(micros *int64) time.Time {
	if micros == nil {
		return time.Time{}
	}
	return time.UnixMicro(*micros).UTC()
}
