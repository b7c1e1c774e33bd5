package db

import (
	"context"
	"net/netip"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/domain"
)

const enterRecords = `
INSERT INTO usage_records (company_id, identity, subscriber_key, started_at, ended_at, mobile_originated, mobile_terminated,
  sequence, ip_address, protocol, session_id, source, record_id)
SELECT $1, identity, subscriber_key, started_at, ended_at, mobile_originated, mobile_terminated,
  sequence, nullif(ip_address, '')::inet, protocol, session_id, source, record_id
FROM unnest($2::uuid[], $3::bigint[], $4::timestamptz[], $5::timestamptz[], $6::bigint[], $7::bigint[],
  $8::integer[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[])
AS l(identity, subscriber_key, started_at, ended_at, mobile_originated, mobile_terminated,
  sequence, ip_address, protocol, session_id, source, record_id)`

// enterUsage puts entries into the ledger whose ids are registered already.
func enterUsage(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, entries []*usageEntry) error {
	if len(entries) == 0 {
		return nil
	}
	subscribers := pq.Int64Array(pluck(entries, func(e *usageEntry) int64 { return e.subscriber }))
	args := append([]any{company, identities(entries), subscribers}, payloads(entries)...)
	_, err := tx.ExecContext(ctx, enterRecords, args...)
	return err
}

const holdRecords = `
INSERT INTO usage_quarantine (company_id, identity, physical_id, started_at, ended_at, mobile_originated, mobile_terminated,
  sequence, ip_address, protocol, session_id, source, record_id)
SELECT $1, identity, physical_id, started_at, ended_at, mobile_originated, mobile_terminated,
  sequence, nullif(ip_address, '')::inet, protocol, session_id, source, record_id
FROM unnest($2::uuid[], $3::text[], $4::timestamptz[], $5::timestamptz[], $6::bigint[], $7::bigint[],
  $8::integer[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[])
AS l(identity, physical_id, started_at, ended_at, mobile_originated, mobile_terminated,
  sequence, ip_address, protocol, session_id, source, record_id)`

func holdUsage(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, entries []*usageEntry) error {
	if len(entries) == 0 {
		return nil
	}
	ids := pq.StringArray(pluck(entries, func(e *usageEntry) string { return e.PhysicalID }))
	args := append([]any{company, identities(entries), ids}, payloads(entries)...)
	_, err := tx.ExecContext(ctx, holdRecords, args...)
	return err
}

// Replay implements domain.Usage.
func (u *Usage) Replay(ctx context.Context, scope domain.Scope) (int, error) {
	replayed := 0
	for {
		n := 0
		err := retried(ctx, func() error {
			return inTx(ctx, u.pool, func(tx *sqlx.Tx) (err error) {
				n, err = u.replay(ctx, tx, scope.Company)
				return err
			})
		})
		replayed += n
		if err != nil || n < domain.MaxUsageBatch {
			return replayed, err
		}
	}
}

const releaseUsage = `
WITH ready AS (
  SELECT q.company_id, q.identity, s.key AS subscriber_key
  FROM usage_quarantine q
  JOIN subscribers s ON s.company_id = $1 AND s.physical_id = q.physical_id
  WHERE q.company_id = $1
  ORDER BY q.identity
  LIMIT $2
)
DELETE FROM usage_quarantine q
USING ready r
WHERE q.company_id = $1 AND r.company_id = q.company_id AND r.identity = q.identity
RETURNING q.identity, r.subscriber_key, q.physical_id, q.started_at, q.ended_at, q.mobile_originated, q.mobile_terminated,
  q.sequence, coalesce(host(q.ip_address), '') AS address, q.protocol, q.session_id, q.source, q.record_id`

// replay books up to a batch of the quarantined records whose subscribers exist.
func (u *Usage) replay(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID) (int, error) {
	locked, err := lockForUsage(ctx, tx, company)
	if err != nil {
		return 0, err
	}
	type row struct {
		Identity      uuid.UUID
		SubscriberKey int64
		Address       string
		domain.UsageRecord
	}
	rows, err := selectAll[row](ctx, tx, releaseUsage, company, domain.MaxUsageBatch)
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	entries := pluck(rows, func(r *row) *usageEntry {
		e := &usageEntry{UsageRecord: r.UsageRecord, identity: domain.UsageIdentity(r.Identity), subscriber: r.SubscriberKey}
		e.IPAddress, _ = netip.ParseAddr(r.Address)
		return e
	})
	if err := enterUsage(ctx, tx, company, entries); err != nil {
		return 0, err
	}
	protocols, err := protocolNumbers(ctx, tx, company)
	if err != nil {
		return 0, err
	}
	return len(entries), u.bookTotals(ctx, tx, locked, protocols, entries)
}

const quarantinedCompanies = `
SELECT DISTINCT q.company_id
FROM usage_quarantine q
JOIN subscribers s ON s.company_id = q.company_id AND s.physical_id = q.physical_id`

// ReplayAll replays the quarantine of every company; serve calls it now and
// then, for subscribers that appear otherwise than by an import.
func (u *Usage) ReplayAll(ctx context.Context) (int, error) {
	var companies []domain.CompanyID
	if err := u.pool.SelectContext(ctx, &companies, quarantinedCompanies); err != nil {
		return 0, Translate(err)
	}
	replayed := 0
	for _, company := range companies {
		n, err := u.Replay(ctx, domain.Whole(company))
		replayed += n
		if err != nil {
			return replayed, err
		}
	}
	return replayed, nil
}
