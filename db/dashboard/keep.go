package dashboard

import (
	"context"

	"github.com/jmoiron/sqlx"

	"simgraph/db/imported"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/dashboard"
)

// ExportDashboards reads those that a company shares.
const ExportDashboards = `
SELECT ` + dashboardColumns + `
FROM dashboards d
WHERE d.company_id = $1 AND d.is_shared
ORDER BY d.dashboard_id`

const importedDashboard = `
SELECT ` + dashboardColumns + `
FROM dashboards d
WHERE d.company_id = $1 AND d.dashboard_id = $2::uuid
FOR UPDATE`

// Keep stores dashboards of a bundle as shared ones. The owner is the user of the company who
// has the address.
func (s *Store) Keep(ctx context.Context, scope domain.Scope, all []*dashboard.Dashboard) ([]domain.Imported, error) {
	return imported.Keep(ctx, s.Pool, scope, "dashboards", len(all), func(tx *sqlx.Tx, i int) (domain.Imported, error) {
		return s.keep(ctx, tx, scope, *all[i])
	})
}

func (s *Store) keep(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, d dashboard.Dashboard) (domain.Imported, error) {
	owner, err := imported.Owner(ctx, tx, scope, d.Owner)
	if err != nil {
		return domain.Imported{}, err
	}
	d.OwnerID, d.ChangedAt, d.IsShared = owner, s.Moment(), true
	rows, err := pg.SelectAll[Row](ctx, tx, importedDashboard, scope.Company, d.DashboardID)
	if err != nil {
		return domain.Imported{}, err
	}
	if len(rows) == 0 {
		d.Version = 1
		return domain.Imported{Outcome: domain.Created}, write(ctx, tx, insertDashboard, scope, &d)
	}
	before, err := rows[0].Dashboard()
	switch {
	case err != nil:
		return domain.Imported{}, err
	case !before.IsShared:
		return domain.Imported{Err: domain.Invalid("id", "its owner has made the dashboard private")}, nil
	case before.Owner == d.Owner && len(domain.Differences(before, &d, audited)) == 0:
		return domain.Imported{Outcome: domain.Unchanged}, nil
	}
	d.Version = before.Version + 1
	return domain.Imported{Outcome: domain.Updated}, write(ctx, tx, writeDashboard, scope, &d)
}
