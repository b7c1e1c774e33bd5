package usage

import (
	"context"
	"maps"
	"slices"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/pg"
	"simgraph/domain"
)

// What is new goes into the register of ids and, where the subscriber is known, into
// the ledger, and the company is locked: in this order, which is that of all
// writers, since the row of the company comes when the others are counted. Nothing
// is locked where nothing is new.
//
// The new identities are looked up in a hash: IS TRUE keeps PostgreSQL from a join,
// which a plan for few lines would run as a loop in a loop. OFFSET 0 keeps the
// look-up of subscribers by index, however many there are.
const (
	enterLines = `
WITH line AS MATERIALIZED (
  SELECT l.*, coalesce(nullif(($17::bigint[])[l.place], 0), s.key) AS key
  FROM (
    SELECT *
    FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::inet[]) WITH ORDINALITY
    AS l(identity, physical_id, session_id, record_id, ip_address, place)`
	enterNew = `
  ) l
  LEFT JOIN LATERAL (
    SELECT s.key FROM subscribers s WHERE s.company_id = $1 AND s.physical_id = l.physical_id OFFSET 0
  ) s ON true
), registered AS (
  INSERT INTO usage_ids (company_id, identity, digest)
  SELECT own.company_id, l.identity, ($16::bigint[])[l.place]
  FROM companies own
  CROSS JOIN line l
  WHERE own.company_id = $1
  ON CONFLICT (company_id, identity) DO NOTHING
  RETURNING identity
), fresh AS MATERIALIZED (
  SELECT l.* FROM line l WHERE (l.identity IN (SELECT r.identity FROM registered r)) IS TRUE
), entered AS (
  INSERT INTO usage_records (company_id, identity, subscriber_key, ` + payloadColumns + `)
  SELECT own.company_id, l.identity, l.key, ` + payloadValues + `
  FROM companies own
  CROSS JOIN fresh l
  WHERE own.company_id = $1 AND l.key IS NOT NULL
  RETURNING 1
)
SELECT c.company_id, c.external_id, c.name, c.billing_day, c.time_zone, f.places, f.keys
FROM companies c
CROSS JOIN (SELECT array_agg(l.place) AS places, array_agg(coalesce(l.key, 0)) AS keys FROM fresh l) f
CROSS JOIN (SELECT count(*) FROM entered) e
WHERE c.company_id = $1 AND f.places IS NOT NULL
FOR NO KEY UPDATE OF c`
	enterMany = enterLines + enterNew
	enterOne  = enterLines + " LIMIT 1" + enterNew
)

// sized picks the statement for one line or for many. PostgreSQL expects one line of
// the former, whatever its arrays hold, and keeps its plan; for the latter it would
// expect ten.
func sized(lines int, one, many string) string {
	if lines <= 1 {
		return one
	}
	return many
}

// enterFresh puts the entries whose ids are new into the ledger and returns them,
// with the company, which is locked then. The subscribers of entries are looked up
// where they are not known yet.
func enterFresh(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, entries []*usageEntry) ([]*usageEntry, *domain.Company, error) {
	if len(entries) == 0 {
		return nil, nil, nil
	}
	type row struct {
		domain.Company
		Places, Keys pq.Int64Array
	}
	args := append([]any{company, identitiesOf(entries), textArray(entries, func(e *usageEntry) string { return e.PhysicalID })}, payloads(entries)...)
	args = append(args, intArray(entries, func(e *usageEntry) int64 { return e.digest }), intArray(entries, func(e *usageEntry) int64 { return e.subscriber }))
	rows, err := pg.SelectAll[row](ctx, tx, sized(len(entries), enterOne, enterMany), args...)
	if err != nil || len(rows) == 0 {
		return nil, nil, err
	}
	fresh := make([]*usageEntry, len(rows[0].Places))
	for i, place := range rows[0].Places {
		fresh[i] = entries[place-1]
		fresh[i].subscriber = rows[0].Keys[i]
	}
	return fresh, &rows[0].Company, nil
}

func identitiesOf(entries []*usageEntry) identityArray {
	return pg.Pluck(entries, func(e *usageEntry) domain.UsageIdentity { return e.identity })
}

const knownUsage = `
SELECT i.identity, i.digest, EXISTS (
  SELECT FROM usage_quarantine q WHERE q.company_id = $1 AND q.identity = i.identity) AS is_held
FROM usage_ids i
WHERE i.company_id = $1 AND i.identity = ANY($2::uuid[])`

// judgeKnown answers the entries that are not fresh: their ids were known.
func (b *usageBatch) judgeKnown(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, fresh []*usageEntry) error {
	if len(fresh) == len(b.entries) {
		return nil
	}
	known := make(map[domain.UsageIdentity]*usageEntry, len(b.entries))
	for _, e := range b.entries {
		known[e.identity] = e
	}
	for _, e := range fresh {
		delete(known, e.identity)
	}
	type row struct {
		Identity uuid.UUID
		Digest   int64
		IsHeld   bool
	}
	rows, err := pg.SelectAll[row](ctx, tx, knownUsage, company, identitiesOf(slices.Collect(maps.Values(known))))
	if err != nil {
		return err
	}
	for _, r := range rows {
		status := domain.UsageDuplicate
		if r.IsHeld {
			status = domain.UsageQuarantined
		}
		b.answer(known[domain.UsageIdentity(r.Identity)], r.Digest, status)
	}
	return nil
}

// findUsageSubscribers returns the key of each physical ID, 0 where there is
// none.
const findUsageSubscribers = `
SELECT coalesce(array_agg(coalesce(s.key, 0) ORDER BY n.place), '{}')
FROM unnest($2::text[]) WITH ORDINALITY AS n(physical_id, place)
LEFT JOIN LATERAL (
  SELECT s.key FROM subscribers s WHERE s.company_id = $1 AND s.physical_id = n.physical_id OFFSET 0
) s ON true`

// nameEntries finds the subscribers of entries that are not named by their physicalId
// alone, and rejects those of which two names are of different subscribers.
func (b *usageBatch) nameEntries(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID) error {
	var named []*usageEntry
	for _, e := range b.entries {
		if e.IMSI != "" || e.MSISDN != "" {
			named = append(named, e)
		}
	}
	if len(named) == 0 {
		return nil
	}
	disagree, err := findSubscribers(ctx, tx, company, named)
	answered := map[*usageEntry]bool{}
	for i, e := range named {
		if err == nil && disagree[i] {
			answered[e] = true
			for _, c := range e.claims {
				b.results[c.place] = domain.Rejected(errDisagree)
			}
		}
	}
	b.without(answered)
	return err
}

// findSubscribers sets the subscriber of each entry that has one, and returns which of
// them are named as two.
func findSubscribers(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, entries []*usageEntry) ([]bool, error) {
	keys, disagree, err := findNames(ctx, tx, company, pg.Pluck(entries, func(e *usageEntry) *domain.UsageRecord { return &e.UsageRecord }))
	for i, key := range keys {
		entries[i].subscriber = key
	}
	return disagree, err
}

// quarantine holds back the fresh entries of unknown subscribers and returns
// the others. A subscriber may have appeared while the company was not locked.
func (b *usageBatch) quarantine(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, fresh []*usageEntry) ([]*usageEntry, error) {
	accepted, unknown := bySubscriber(fresh)
	if len(unknown) > 0 {
		if _, err := findSubscribers(ctx, tx, company, unknown); err != nil {
			return nil, err
		}
		appeared, held := bySubscriber(unknown)
		if err := enterUsage(ctx, tx, company, appeared); err != nil {
			return nil, err
		}
		if err := holdUsage(ctx, tx, company, held); err != nil {
			return nil, err
		}
		accepted = append(accepted, appeared...)
		for _, e := range held {
			b.answer(e, e.digest, domain.UsageQuarantined)
		}
	}
	for _, e := range accepted {
		b.answer(e, e.digest, domain.UsageAccepted)
	}
	return accepted, nil
}

func bySubscriber(entries []*usageEntry) (known, unknown []*usageEntry) {
	for _, e := range entries {
		if e.subscriber != 0 {
			known = append(known, e)
		} else {
			unknown = append(unknown, e)
		}
	}
	return known, unknown
}
