package usage

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/pg"
	"simgraph/domain"
)

const endRestarted = `
UPDATE sessions n SET ended_at = $4, cause = 'NAS-Restart', is_transferring = false
WHERE n.company_id = $1 AND n.source = $2 AND n.nas = $3 AND n.ended_at IS NULL AND n.as_of <= $4
RETURNING coalesce(n.subscriber_key, 0)`

// EndRestarted ends the sessions of a network element that went up or down then.
func (u *Store) EndRestarted(ctx context.Context, company domain.CompanyID, source, nas string, at time.Time) error {
	return u.endSessions(ctx, company, endRestarted, source, nas, at)
}

const (
	openCompanies = `SELECT DISTINCT company_id FROM sessions WHERE ended_at IS NULL ORDER BY company_id`
	// intervals are how often network elements report a session: what holds for most
	// of theirs, within $6 and $5 seconds.
	intervals = `(
  SELECT o.source, o.nas, greatest($6::int, least($5::int, coalesce(
    percentile_disc(0.9) WITHIN GROUP (ORDER BY nullif(o.interval_seconds, 0)), $5))) * interval '1 second' AS span
  FROM sessions o
  WHERE o.company_id = $1 AND o.ended_at IS NULL
  GROUP BY o.source, o.nas
) i`
	isSilent = `n.company_id = $1 AND n.ended_at IS NULL AND n.source = i.source AND n.nas = i.nas
  AND (n.reported_at < $2::timestamptz - $3::int * i.span OR n.is_transferring AND n.reported_at < $2::timestamptz - $4::int * i.span)`
	anySilent = `SELECT EXISTS (SELECT FROM sessions n JOIN ` + intervals + ` ON ` + isSilent + `)`
	endSilent = `
UPDATE sessions n
SET is_transferring = false,
  ended_at = CASE WHEN n.reported_at < $2::timestamptz - $3::int * i.span THEN n.as_of END,
  cause = CASE WHEN n.reported_at < $2::timestamptz - $3::int * i.span THEN 'Timeout' ELSE '' END
FROM ` + intervals + `
WHERE ` + isSilent + `
RETURNING coalesce(n.subscriber_key, 0)`
)

// EndSilent ends the sessions of all companies of which nothing was reported for
// domain.IntervalsMissed intervals. The interval of a network element is learned
// from its reports; bound is the longest that is waited for.
func (u *Store) EndSilent(ctx context.Context, bound time.Duration) error {
	companies, err := pg.SelectValues[domain.CompanyID](ctx, u.pool, openCompanies)
	if err != nil {
		return err
	}
	args := []any{u.now(), domain.IntervalsMissed, domain.IntervalsTransferring, int(bound / time.Second), int(domain.MinInterval / time.Second)}
	return domain.TryCompanies(ctx, companies, func(company domain.CompanyID) error {
		var silent bool
		if err := u.pool.GetContext(ctx, &silent, anySilent, append([]any{company}, args...)...); err != nil || !silent {
			return pg.Translate(err)
		}
		return u.endSessions(ctx, company, endSilent, args...)
	})
}

// endSessions runs a statement that ends sessions, under the lock of the company
// that protects them, and gives their subscribers the state of those that are left.
func (u *Store) endSessions(ctx context.Context, company domain.CompanyID, statement string, args ...any) error {
	return pg.Retry(ctx, func() error {
		return pg.InTx(ctx, u.pool, func(tx *sqlx.Tx) error {
			if _, err := Lock(ctx, tx, company); err != nil {
				return err
			}
			keys, err := pg.SelectValues[int64](ctx, tx, statement, append([]any{company}, args...)...)
			if err != nil {
				return err
			}
			return u.setNetworkState(ctx, tx, company, keys)
		})
	})
}

const hasSubscriber = `
SELECT s.key IS NOT NULL
FROM (SELECT $2::text AS physical_id, $3::text AS imsi, $4::text AS msisdn) AS q
CROSS JOIN LATERAL (` + subscriberOf + `) s`

// HasSubscriber reports whether the company has the subscriber of a record.
func (u *Store) HasSubscriber(ctx context.Context, company domain.CompanyID, r *domain.UsageRecord) (bool, error) {
	var found bool
	err := u.pool.GetContext(ctx, &found, hasSubscriber, company, r.PhysicalID, networkName(r, imsiOf), networkName(r, msisdnOf))
	return found, pg.Translate(err)
}
