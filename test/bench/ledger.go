package main

import (
	"context"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/domain"
)

// ledgerAlone inserts records into tables like those of the ledger, with the
// same keys, and keeps no totals: what no design of totals can go below.
type ledgerAlone struct {
	pool    *sqlx.DB
	company domain.CompanyID
	keys    map[string]int64
}

const ledgerTables = `
CREATE TABLE ids_alone (LIKE usage_ids INCLUDING ALL);
CREATE TABLE ledger_alone (LIKE usage_records INCLUDING ALL)`

func newLedgerAlone(ctx context.Context, b *bench) (*ledgerAlone, error) {
	l := &ledgerAlone{pool: b.pool, company: b.scope.Company, keys: make(map[string]int64, b.subscribers)}
	rows, err := b.pool.QueryContext(ctx, "SELECT physical_id, key FROM subscribers WHERE company_id = $1", l.company)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id string
		var key int64
		if err := rows.Scan(&id, &key); err != nil {
			return nil, err
		}
		l.keys[id] = key
	}
	return l, rows.Err()
}

const insertAlone = `
WITH line AS (
  SELECT *
  FROM unnest($2::uuid[], $3::bigint[], $4::bigint[], $5::timestamptz[], $6::timestamptz[], $7::bigint[], $8::bigint[],
    $9::integer[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[])
  AS l(identity, digest, subscriber_key, started_at, ended_at, mobile_originated, mobile_terminated,
    sequence, ip_address, protocol, session_id, source, record_id)
), fresh AS (
  INSERT INTO ids_alone (company_id, identity, digest)
  SELECT $1, identity, digest FROM line ORDER BY identity
  ON CONFLICT (company_id, identity) DO NOTHING
  RETURNING identity
)
INSERT INTO ledger_alone (company_id, started_at, identity, subscriber_key, ended_at, mobile_originated, mobile_terminated,
  sequence, ip_address, protocol, session_id, source, record_id)
SELECT $1, started_at, identity, subscriber_key, ended_at, mobile_originated, mobile_terminated,
  sequence, ip_address::inet, protocol, session_id, source, record_id
FROM line JOIN fresh USING (identity)`

func (l *ledgerAlone) insert(ctx context.Context, records []domain.UsageRecord) error {
	n := len(records)
	identities, texts := make(pq.StringArray, n), make([]pq.StringArray, 7)
	numbers := make([]pq.Int64Array, 5)
	for i, r := range records {
		r = r.Normalize()
		identity, digest := r.Identify()
		identities[i] = uuid.UUID(identity).String()
		for c, v := range []int64{digest, l.keys[r.PhysicalID], r.MobileOriginated, r.MobileTerminated, int64(r.Sequence)} {
			numbers[c] = append(numbers[c], v)
		}
		const layout = "2006-01-02T15:04:05.999999Z"
		for c, v := range []string{r.StartedAt.Format(layout), r.EndedAt.Format(layout), r.IPAddress.String(), r.Protocol, r.SessionID, r.Source, r.RecordID} {
			texts[c] = append(texts[c], v)
		}
	}
	_, err := l.pool.ExecContext(ctx, insertAlone, l.company, identities, numbers[0], numbers[1], texts[0], texts[1],
		numbers[2], numbers[3], numbers[4], texts[2], texts[3], texts[4], texts[5], texts[6])
	return err
}
