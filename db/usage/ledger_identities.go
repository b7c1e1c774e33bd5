package usage

import (
	"context"
	"net/netip"
	"time"

	"github.com/google/uuid"

	"simgraph/db/pg"
	"simgraph/domain"
)

// registeredAtOnce bounds how many identities are put back in a statement.
const registeredAtOnce = 10_000

const (
	// firstUnregistered finds the first record of a company in a month when its
	// identity is gone: who drops a month removes them in this order.
	firstUnregistered = `
SELECT count(*)
FROM (SELECT r.identity FROM {table} r WHERE r.company_id = $1 ORDER BY r.started_at, r.identity LIMIT 1) f
WHERE NOT EXISTS (SELECT FROM usage_ids i WHERE i.company_id = $1 AND i.identity = f.identity)`
	unregistered = `
SELECT r.identity, r.record_id, r.source, s.physical_id, r.session_id, r.sequence, r.started_at, r.ended_at,
  r.mobile_originated, r.mobile_terminated, r.protocol, coalesce(host(r.ip_address), '') AS address
FROM {table} r
JOIN subscribers s ON s.company_id = $1 AND s.key = r.subscriber_key
WHERE r.company_id = $1 AND NOT EXISTS (SELECT FROM usage_ids i WHERE i.company_id = $1 AND i.identity = r.identity)
ORDER BY r.started_at, r.identity
LIMIT $2`
	registerAgain = `
INSERT INTO usage_ids (company_id, identity, digest)
SELECT own.company_id, n.identity, n.digest
FROM companies own
CROSS JOIN unnest($2::uuid[], $3::bigint[]) AS n(identity, digest)
WHERE own.company_id = $1
ON CONFLICT (company_id, identity) DO NOTHING`
)

// registerAgain puts back the identities of the oldest month, which a version that
// drops months at once removes before its DROP fails: a record that is sent again
// stays a duplicate. It returns how many it put back.
func (l *Ledger) registerAgain(ctx context.Context) (int, error) {
	stored, err := storedMonths(ctx, l.pool)
	if err != nil || len(stored) == 0 {
		return 0, err
	}
	all, err := pg.SelectValues[domain.CompanyID](ctx, l.pool, allCompanies)
	if err != nil {
		return 0, err
	}
	put := 0
	err = domain.TryCompanies(ctx, all, func(company domain.CompanyID) error {
		n, err := l.registerMonth(ctx, company, stored[0])
		put += n
		return err
	})
	return put, err
}

func (l *Ledger) registerMonth(ctx context.Context, company domain.CompanyID, month time.Time) (put int, err error) {
	table := partitionName(month)
	gone, err := pg.Count(ctx, l.pool, pg.Fill(firstUnregistered, "table", table), company)
	if err != nil || gone == 0 {
		return 0, err
	}
	for {
		n, err := l.registerPart(ctx, company, table)
		put += n
		if err != nil || n < registeredAtOnce {
			return put, err
		}
	}
}

func (l *Ledger) registerPart(ctx context.Context, company domain.CompanyID, table string) (int, error) {
	type row struct {
		Identity uuid.UUID
		Address  string
		domain.UsageRecord
	}
	rows, err := pg.SelectAll[row](ctx, l.pool, pg.Fill(unregistered, "table", table), company, registeredAtOnce)
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	digests := intArray(rows, func(r *row) int64 {
		r.IPAddress, _ = netip.ParseAddr(r.Address)
		record := r.Normalize()
		_, digest := record.Identify()
		return digest
	})
	identities := identityArray(pg.Pluck(rows, func(r *row) domain.UsageIdentity { return domain.UsageIdentity(r.Identity) }))
	_, err = pg.Affected(ctx, l.pool, registerAgain, company, identities, digests)
	return len(rows), err
}
