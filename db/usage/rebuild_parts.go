package usage

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/pg"
	"simgraph/domain"
)

// rebuiltAtOnce is how many records a rebuild derives totals from in a transaction, in
// which the company is locked: a second of work.
const rebuiltAtOnce = 20_000

const (
	rebuildReached = `SELECT reached, set_right FROM usage_rebuilds WHERE company_id = $1`
	forgetRebuild  = `DELETE FROM usage_rebuilds WHERE company_id = $1`
	forgetRebuilds = `TRUNCATE usage_rebuilds`
	rebuildsThere  = `SELECT count(*) FROM pg_class WHERE oid = to_regclass('usage_rebuilds')`
	noteRebuild    = `
INSERT INTO usage_rebuilds (company_id, reached, set_right)
VALUES ($1, $2, $3)
ON CONFLICT (company_id) DO UPDATE SET reached = excluded.reached, set_right = excluded.set_right`
)

// ForgetRebuilds is for a database that was restored: an interrupted rebuild that its
// backup has was of another database. A backup of an earlier version has no such table.
func ForgetRebuilds(ctx context.Context, pool *sqlx.DB) error {
	there, err := pg.Count(ctx, pool, rebuildsThere)
	if err == nil && there > 0 {
		_, err = pg.Affected(ctx, pool, forgetRebuilds)
	}
	return err
}

// Interrupted returns up to where an earlier run has come that was interrupted; zero when
// none was.
func (u *Store) Interrupted(ctx context.Context, company domain.CompanyID) (time.Time, error) {
	reached, _, err := u.interrupted(ctx, company)
	return reached, err
}

func (u *Store) interrupted(ctx context.Context, company domain.CompanyID) (reached time.Time, setRight int, err error) {
	type row struct {
		Reached  time.Time
		SetRight int
	}
	noted, err := pg.GetOne[row](ctx, u.pool, nil, rebuildReached, company)
	if err != nil || noted == nil {
		return reached, 0, err
	}
	return noted.Reached.UTC(), noted.SetRight, nil
}

// resume returns the day to begin with: the first, or where an earlier run was
// interrupted.
func (r *rebuild) resume(ctx context.Context, first time.Time, anew bool) (time.Time, error) {
	if anew {
		_, err := pg.Affected(ctx, r.usage.pool, forgetRebuild, r.company)
		return first, err
	}
	reached, setRight, err := r.usage.interrupted(ctx, r.company)
	if err != nil || reached.IsZero() {
		return first, err
	}
	r.count = setRight
	return domain.Later(first, reached), nil
}

// nextPart finds the record by which a part is full.
const nextPart = `
SELECT r.started_at
FROM usage_records r
WHERE r.company_id = $1 AND r.started_at >= $2 AND r.started_at < $3
ORDER BY r.started_at
OFFSET $4 LIMIT 1`

// partUntil returns the end of a part that begins on a day: whole days, of at most
// atOnce records unless the first has more.
func (r *rebuild) partUntil(ctx context.Context, from, to time.Time) (time.Time, error) {
	type row struct{ StartedAt time.Time }
	full, err := pg.GetOne[row](ctx, r.usage.pool, nil, nextPart, r.company, from, to, r.usage.rebuiltAtOnce)
	if err != nil || full == nil {
		return to, err
	}
	return domain.Later(dayOf(full.StartedAt), from.AddDate(0, 0, 1)), nil
}
