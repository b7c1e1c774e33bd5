package usage

import (
	"context"
	"errors"

	"simgraph/db/companies"
	"simgraph/domain"
)

// Reconcile books quarantined usage of the companies whose subscribers have
// appeared, and moves usage to the groups that its subscribers were in by now.
// Calls that run at the same time share the work. Call it after imports.
func (u *Store) Reconcile(ctx context.Context, companies []domain.CompanyID) error {
	return domain.TryCompanies(ctx, companies, func(company domain.CompanyID) error {
		_, replayed := u.Replay(ctx, domain.Whole(company))
		return errors.Join(replayed, u.regroup(ctx, company))
	})
}

// unreconciled are the companies for which there is something to do; in
// usage_moves are the moves that instances of the version before note.
const unreconciled = `
SELECT u.company_id
FROM (
  SELECT q.company_id
  FROM usage_ledger l
  JOIN usage_quarantine q ON q.started_at >= l.first_month
  JOIN subscribers s ON s.company_id = q.company_id AND (s.physical_id = q.physical_id
    OR s.imsi = q.imsi AND s.imsi <> '' OR s.subscriber_id = q.msisdn AND q.msisdn <> '')
  WHERE $1::bigint[] IS NULL OR q.company_id = ANY($1) AND s.company_id = ANY($1)
  UNION
  SELECT m.company_id FROM company_moves m WHERE $1::bigint[] IS NULL OR m.company_id = ANY($1)
  UNION
  SELECT m.company_id FROM usage_moves m WHERE $1::bigint[] IS NULL OR m.company_id = ANY($1)
) AS u
ORDER BY u.company_id`

// ReconcileAll reconciles every company. Serve calls it now and then, for what
// no import has finished.
func (u *Store) ReconcileAll(ctx context.Context) error {
	behind, lost := companies.With(ctx, u.pool, unreconciled)
	return errors.Join(lost, u.Reconcile(ctx, behind))
}
