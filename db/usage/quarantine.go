package usage

import (
	"context"
	"net/netip"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"simgraph/db/audit"
	"simgraph/db/companies"
	"simgraph/db/pg"
	"simgraph/domain"
)

// enterRecords takes what has a fixed size by its place out of its array, and
// texts that come often out of a dictionary: each array that unnest takes is
// copied once more.
const (
	enterRecords = `
INSERT INTO usage_records (company_id, identity, subscriber_key, ` + payloadColumns + `)
SELECT own.company_id, l.identity, ($3::bigint[])[l.place], ` + payloadValues + `
FROM companies own
CROSS JOIN unnest($2::uuid[], $4::text[], $5::text[], $6::inet[]) WITH ORDINALITY AS l(identity, session_id, record_id, ip_address, place)
WHERE own.company_id = $1`
	holdRecords = `
INSERT INTO usage_quarantine (company_id, identity, physical_id, ` + payloadColumns + `, imsi, msisdn)
SELECT own.company_id, l.identity, l.physical_id, ` + payloadValues + `, ($16::text[])[l.place], ($17::text[])[l.place]
FROM companies own
CROSS JOIN unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::inet[]) WITH ORDINALITY
AS l(identity, physical_id, session_id, record_id, ip_address, place)
WHERE own.company_id = $1`
	payloadColumns = `session_id, record_id, ip_address, started_at, ended_at,
  mobile_originated, mobile_terminated, sequence, protocol, source`
	payloadValues = `l.session_id, l.record_id, l.ip_address,
  to_timestamp(($7::bigint[])[l.place] / 1e6::float8), to_timestamp(($8::bigint[])[l.place] / 1e6::float8),
  ($9::bigint[])[l.place], ($10::bigint[])[l.place], ($11::integer[])[l.place],
  ($12::text[])[($13::integer[])[l.place]], ($14::text[])[($15::integer[])[l.place]]`
)

// payloads are the parameters of payloadColumns.
func payloads(entries []*usageEntry) []any {
	protocols, protocol := dictionary(entries, func(e *usageEntry) string { return e.Protocol })
	sources, source := dictionary(entries, func(e *usageEntry) string { return e.Source })
	return []any{
		textArray(entries, func(e *usageEntry) string { return e.SessionID }),
		textArray(entries, func(e *usageEntry) string { return e.RecordID }),
		addressArray(pg.Pluck(entries, func(e *usageEntry) netip.Addr { return e.IPAddress })),
		intArray(entries, func(e *usageEntry) int64 { return e.StartedAt.UnixMicro() }),
		intArray(entries, func(e *usageEntry) int64 { return e.EndedAt.UnixMicro() }),
		intArray(entries, func(e *usageEntry) int64 { return e.MobileOriginated }),
		intArray(entries, func(e *usageEntry) int64 { return e.MobileTerminated }),
		intArray(entries, func(e *usageEntry) int64 { return int64(e.Sequence) }),
		protocols, protocol, sources, source,
	}
}

// enterUsage puts entries into the ledger whose ids are registered already.
func enterUsage(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, entries []*usageEntry) error {
	return writeUsage(ctx, tx, enterRecords, company, entries, intArray(entries, func(e *usageEntry) int64 { return e.subscriber }))
}

func holdUsage(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, entries []*usageEntry) error {
	return writeUsage(ctx, tx, holdRecords, company, entries, textArray(entries, func(e *usageEntry) string { return e.PhysicalID }),
		textArray(entries, func(e *usageEntry) string { return e.IMSI }), textArray(entries, func(e *usageEntry) string { return e.MSISDN }))
}

func writeUsage(ctx context.Context, tx *sqlx.Tx, sql string, company domain.CompanyID, entries []*usageEntry, subscribers any, more ...any) error {
	if len(entries) == 0 {
		return nil
	}
	args := append([]any{company, identitiesOf(entries), subscribers}, payloads(entries)...)
	args = append(args, more...)
	_, err := tx.ExecContext(ctx, sql, args...)
	return err
}

// Replay implements domain.Usage.
func (u *Store) Replay(ctx context.Context, scope domain.Scope) (int, error) {
	replayed := 0
	for {
		n := 0
		err := pg.Retry(ctx, func() error {
			return pg.InTx(ctx, u.pool, func(tx *sqlx.Tx) (err error) {
				if n, err = u.replay(ctx, tx, scope.Company); err != nil || n == 0 {
					return err
				}
				return audit.Record(ctx, tx, scope, domain.AuditEntry{
					Action: domain.AuditUsageReplay, SubjectType: "Company", Changes: []domain.AuditChange{domain.Became("records", pg.FormatInt(int64(n)))},
				})
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
  CROSS JOIN LATERAL (` + subscriberOf + `) s
  WHERE q.company_id = $1 AND q.started_at >= (SELECT l.first_month FROM usage_ledger l) AND s.key IS NOT NULL
  ORDER BY q.identity
  LIMIT $2
)
DELETE FROM usage_quarantine q
USING ready r
WHERE q.company_id = $1 AND r.company_id = q.company_id AND r.identity = q.identity
RETURNING q.identity, r.subscriber_key, q.physical_id, q.started_at, q.ended_at, q.mobile_originated, q.mobile_terminated,
  q.sequence, coalesce(host(q.ip_address), '') AS address, q.protocol, q.session_id, q.source, q.record_id`

// replay books up to a batch of the quarantined records whose subscribers exist.
func (u *Store) replay(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID) (int, error) {
	locked, err := companies.Lock(ctx, tx, company)
	if err != nil {
		return 0, err
	}
	type row struct {
		Identity      uuid.UUID
		SubscriberKey int64
		Address       string
		domain.UsageRecord
	}
	rows, err := pg.SelectAll[row](ctx, tx, releaseUsage, company, domain.MaxUsageBatch)
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	if err := u.attachSessions(ctx, tx, company); err != nil {
		return 0, err
	}
	entries := pg.Pluck(rows, func(r *row) *usageEntry {
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
