package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/usage"
	"simgraph/domain"
)

// fleet is a company whose subscribers are in 200 groups and carry 20 tags.
type fleet struct {
	scope domain.Scope
	// month is the last whole month, of which the usage is.
	month domain.Period
}

const (
	seedNumber      = `INSERT INTO company_lookup (external_id) VALUES ('bench') RETURNING company_id`
	seedCompany     = `INSERT INTO companies (company_id, external_id, name) VALUES ($1, 'bench', 'Bench')`
	seedOperators   = `INSERT INTO operators SELECT (23400 + n)::text, 'Operator ' || n FROM generate_series(1, 4) n ON CONFLICT DO NOTHING`
	seedTariffs     = `INSERT INTO tariffs SELECT $1::bigint, 'Tariff ' || n, n * 100, 'GBP' FROM generate_series(1, 5) n`
	seedGroups      = `INSERT INTO groups (company_id, group_id, name) SELECT $1::bigint, n, 'Group ' || n FROM generate_series(1, 200) n`
	seedSubscribers = `
INSERT INTO subscribers (company_id, kind, physical_id, subscriber_id, imsi, nickname, operator_code, tariff_name, connection_date,
  expiry_date, contract_length, is_barred, is_active, group_id, subscriber_type, is_transferring, is_online)
SELECT $1::bigint, 'cellular', '8944' || lpad(n::text, 15, '0'), '4477' || lpad(n::text, 8, '0'), '', '', (23401 + n % 4)::text, 'Tariff ' || 1 + n % 5,
  '2020-01-01', '2040-01-01', 12, false, true, 1 + n % 200, 'physical', false, false
FROM generate_series(0, $2 - 1) n`
	seedMemberships = `INSERT INTO group_memberships SELECT company_id, key, '2020-01-01', group_id FROM subscribers WHERE company_id = $1`
	seedTags        = `
INSERT INTO subscriber_tags
SELECT company_id, key, 'tag ' || key % 20 FROM subscribers WHERE company_id = $1`
)

func (f *fleet) seed(ctx context.Context, pool *sqlx.DB, subscribers int) error {
	if err := pool.GetContext(ctx, &f.scope.Company, seedNumber); err != nil {
		return err
	}
	if _, err := pool.ExecContext(ctx, seedOperators); err != nil {
		return err
	}
	year, month, _ := time.Now().UTC().Date()
	f.month.End = time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
	f.month.Start = f.month.End.AddDate(0, -1, 0)
	for _, sql := range []string{seedCompany, seedTariffs, seedGroups, seedSubscribers, seedMemberships, seedTags} {
		args := []any{f.scope.Company}
		if sql == seedSubscribers {
			args = append(args, subscribers)
		}
		if _, err := pool.ExecContext(ctx, sql, args...); err != nil {
			return err
		}
	}
	// Not the others: what autovacuum never does is to record for the planner that the
	// ledger is empty, for which it would read all of it from then on.
	_, err := pool.ExecContext(ctx, "ANALYZE groups, subscribers, group_memberships, subscriber_tags")
	return err
}

// source makes records as a network element does: each second some of the
// subscribers report.
type source struct {
	*rand.Rand
	name        string
	subscribers int
	at          time.Time
	count       int
}

func newSource(n, subscribers int, at time.Time) *source {
	return &source{Rand: rand.New(rand.NewPCG(7, uint64(n))), name: fmt.Sprintf("pgw-%d", n), subscribers: subscribers, at: at}
}

var protocols = []string{"TCP", "UDP", "ICMP", "SCTP"}

func (s *source) records(n int) []domain.UsageRecord {
	records := make([]domain.UsageRecord, n)
	for i := range records {
		s.count++
		subscriber := s.IntN(s.subscribers)
		records[i] = domain.UsageRecord{
			RecordID: fmt.Sprintf("r-%d", s.count), Source: s.name, PhysicalID: fmt.Sprintf("8944%015d", subscriber),
			SessionID: s.at.Format("s-0102"), Sequence: s.IntN(8),
			StartedAt: s.at, EndedAt: s.at.Add(time.Minute), MobileOriginated: s.Int64N(100_000), MobileTerminated: s.Int64N(1_000_000),
			Protocol: protocols[s.IntN(len(protocols))], IPAddress: netip.AddrFrom4([4]byte{10, byte(subscriber >> 16), byte(subscriber >> 8), byte(subscriber)}),
		}
		s.at = s.at.Add(100 * time.Millisecond)
	}
	return records
}

// bulkRecords writes records straight into the ledger, in sessions of ten that
// are spread over some seconds from a moment on. Rebuild adds them up.
const (
	bulkRecords = `
WITH r AS (
  SELECT n, md5('bulk' || n)::uuid AS identity, (hashint8(n / 10)::bigint & 2147483647) % $5 AS subscriber,
    $2::timestamptz + (n * 7919 % $6) * interval '1 second' AS started_at
  FROM generate_series($3::bigint, $4::bigint - 1) n
), ids AS (
  INSERT INTO usage_ids SELECT $1, identity, n FROM r
)
INSERT INTO usage_records (company_id, started_at, identity, subscriber_key, ended_at, mobile_originated, mobile_terminated,
  sequence, ip_address, protocol, session_id, source, record_id)
SELECT $1, r.started_at, r.identity, s.key, r.started_at + interval '1 minute', n % 100000, n % 1000000,
  n % 10, '10.0.0.0'::inet + r.subscriber, (ARRAY['TCP', 'UDP', 'ICMP', 'SCTP'])[1 + n % 4], 's-' || n / 10, 'bulk', 'b-' || n
FROM r JOIN subscribers s ON s.company_id = $1 AND s.physical_id = '8944' || lpad(r.subscriber::text, 15, '0')`
	bulkProtocols = `
INSERT INTO usage_protocols SELECT $1, n, (ARRAY['TCP', 'UDP', 'ICMP', 'SCTP'])[n] FROM generate_series(1, 4) n ON CONFLICT DO NOTHING`
	bulkSlice = 500_000
	fourWeeks = 28 * 24 * time.Hour
)

// fill brings the ledger of the month from one size to another.
func (b *bench) fill(ctx context.Context, usage *usage.Store, from, to int) error {
	// Before the first record, which would take the number of another protocol.
	if _, err := b.pool.ExecContext(ctx, bulkProtocols, b.scope.Company); err != nil {
		return err
	}
	if _, err := usage.Record(ctx, b.scope, newSource(99, b.subscribers, b.month.Start).records(1)); err != nil {
		return err
	}
	if err := b.bulk(ctx, from, to, b.month.Start, fourWeeks); err != nil {
		return err
	}
	_, _, err := usage.Rebuild(ctx, b.scope)
	if err == nil {
		err = usage.SumMonths(ctx)
	}
	if err == nil {
		_, err = b.pool.ExecContext(ctx, "VACUUM ANALYZE")
	}
	return err
}

// bulk writes records into the ledger that begin within a span.
func (b *bench) bulk(ctx context.Context, from, to int, start time.Time, span time.Duration) error {
	for ; from < to; from += bulkSlice {
		_, err := b.pool.ExecContext(ctx, bulkRecords, b.scope.Company, start, from, min(from+bulkSlice, to), b.subscribers, int64(span.Seconds()))
		if err != nil {
			return err
		}
	}
	return nil
}
