package db

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/domain"
)

// usageEntry is a sound record of a batch.
type usageEntry struct {
	domain.UsageRecord
	identity domain.UsageIdentity
	digest   int64
	// subscriber is the key; 0 as long as the subscriber is not known.
	subscriber int64
	// claims are all records of the batch with the identity, this one first.
	claims []claim
}

// claim is a record that claims an identity.
type claim struct {
	place  int
	digest int64
}

// usageBatch is a batch on its way into the ledger.
type usageBatch struct {
	// entries are ordered by identity, which is the order of locks.
	entries   []*usageEntry
	results   []domain.Recorded
	protocols map[string]int16
}

// newUsageBatch rejects the records that break a rule.
func newUsageBatch(records []domain.UsageRecord, now, oldest time.Time) *usageBatch {
	b := &usageBatch{results: make([]domain.Recorded, len(records))}
	seen := make(map[domain.UsageIdentity]*usageEntry, len(records))
	for i := range records {
		record := records[i].Normalize()
		if err := record.Check(now, oldest); err != nil {
			b.results[i] = domain.Rejected(err)
			continue
		}
		identity, digest := record.Identify()
		entry, again := seen[identity]
		if !again {
			entry = &usageEntry{UsageRecord: record, identity: identity, digest: digest}
			seen[identity] = entry
			b.entries = append(b.entries, entry)
		}
		entry.claims = append(entry.claims, claim{i, digest})
	}
	slices.SortFunc(b.entries, func(x, y *usageEntry) int { return slices.Compare(x.identity[:], y.identity[:]) })
	return b
}

// answer gives the records of an identity their status. The digest is that of
// the record which holds the identity; the first one is, when it is accepted.
func (b *usageBatch) answer(e *usageEntry, holder int64, status domain.UsageStatus) {
	for i, c := range e.claims {
		switch {
		case c.digest != holder:
			b.results[c.place] = conflict(e)
		case i > 0 && status == domain.UsageAccepted:
			b.results[c.place] = domain.Recorded{Status: domain.UsageDuplicate}
		default:
			b.results[c.place] = domain.Recorded{Status: status}
		}
	}
}

func conflict(e *usageEntry) domain.Recorded {
	return domain.Recorded{
		Status: domain.UsageConflict,
		Err:    domain.Invalid("recordId", "the source %q has recorded other usage under the recordId %q", e.Source, e.RecordID),
	}
}

// months returns the first instants of the months of the records.
func (b *usageBatch) months() []time.Time {
	months := map[time.Time]bool{}
	for _, e := range b.entries {
		months[monthOf(e.StartedAt)] = true
	}
	return slices.Collect(maps.Keys(months))
}

func (b *usageBatch) loadProtocols(ctx context.Context, in sqlx.QueryerContext, company domain.CompanyID) error {
	var err error
	b.protocols, err = protocolNumbers(ctx, in, company)
	return err
}

func protocolNumbers(ctx context.Context, in sqlx.QueryerContext, company domain.CompanyID) (map[string]int16, error) {
	type row struct {
		ProtocolID int16
		Name       string
	}
	rows, err := selectAll[row](ctx, in, knownProtocols, company)
	numbers := make(map[string]int16, len(rows))
	for _, r := range rows {
		numbers[r.Name] = r.ProtocolID
	}
	return numbers, err
}

func (b *usageBatch) missingProtocols() []string {
	missing := map[string]bool{}
	for _, e := range b.entries {
		if _, known := b.protocols[e.Protocol]; !known {
			missing[e.Protocol] = true
		}
	}
	return slices.Sorted(maps.Keys(missing))
}

func (b *usageBatch) rejectProtocols(names []string) {
	b.entries = slices.DeleteFunc(b.entries, func(e *usageEntry) bool {
		if !slices.Contains(names, e.Protocol) {
			return false
		}
		for _, c := range e.claims {
			b.results[c.place] = domain.Rejected(domain.Invalid("protocol", "the company has %d network protocols already", domain.MaxProtocols))
		}
		return true
	})
}

const findUsageSubscribers = `
SELECT coalesce(array_agg(s.key), '{}') AS keys, coalesce(array_agg(s.physical_id), '{}') AS physical_ids
FROM subscribers s
WHERE s.company_id = $1 AND s.physical_id = ANY($2)`

// findSubscribers sets the subscriber of each entry that has one.
func (b *usageBatch) findSubscribers(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, entries []*usageEntry) error {
	wanted := make(map[string]int64, len(entries))
	for _, e := range entries {
		wanted[e.PhysicalID] = 0
	}
	var keys pq.Int64Array
	var ids pq.StringArray
	row := tx.QueryRowxContext(ctx, findUsageSubscribers, company, pq.StringArray(slices.Collect(maps.Keys(wanted))))
	if err := row.Scan(&keys, &ids); err != nil {
		return err
	}
	for i, id := range ids {
		wanted[id] = keys[i]
	}
	for _, e := range entries {
		e.subscriber = wanted[e.PhysicalID]
	}
	return nil
}

// insertUsage enters what is new into the register of ids and, where the
// subscriber is known, into the ledger. It returns the places of the new ones.
const insertUsage = `
WITH line AS (
  SELECT *
  FROM unnest($2::uuid[], $3::bigint[], $4::bigint[], $5::timestamptz[], $6::timestamptz[], $7::bigint[], $8::bigint[],
    $9::integer[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[])
  WITH ORDINALITY AS l(identity, digest, subscriber_key, started_at, ended_at, mobile_originated, mobile_terminated,
    sequence, ip_address, protocol, session_id, source, record_id, place)
), fresh AS (
  INSERT INTO usage_ids (company_id, identity, digest)
  SELECT $1, identity, digest FROM line
  ON CONFLICT (company_id, identity) DO NOTHING
  RETURNING identity
), unseen AS MATERIALIZED (
  SELECT line.* FROM line JOIN fresh USING (identity)
), booked AS (
  INSERT INTO usage_records (company_id, started_at, identity, subscriber_key, ended_at, mobile_originated, mobile_terminated,
    sequence, ip_address, protocol, session_id, source, record_id)
  SELECT $1, started_at, identity, subscriber_key, ended_at, mobile_originated, mobile_terminated,
    sequence, nullif(ip_address, '')::inet, protocol, session_id, source, record_id
  FROM unseen
  WHERE subscriber_key <> 0
)
SELECT coalesce(array_agg(place), '{}') FROM unseen`

func (b *usageBatch) insert(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID) ([]*usageEntry, error) {
	digests := pq.Int64Array(pluck(b.entries, func(e *usageEntry) int64 { return e.digest }))
	subscribers := pq.Int64Array(pluck(b.entries, func(e *usageEntry) int64 { return e.subscriber }))
	args := append([]any{company, identities(b.entries), digests, subscribers}, payloads(b.entries)...)
	var places pq.Int64Array
	if err := tx.QueryRowxContext(ctx, insertUsage, args...).Scan(&places); err != nil {
		return nil, err
	}
	return pluck(places, func(place int64) *usageEntry { return b.entries[place-1] }), nil
}

func identities(entries []*usageEntry) any {
	return pq.StringArray(pluck(entries, func(e *usageEntry) string { return uuid.UUID(e.identity).String() }))
}

// payloads are the columns from started_at to record_id, as arrays.
func payloads(entries []*usageEntry) []any {
	texts := func(field func(*usageEntry) string) any { return pq.StringArray(pluck(entries, field)) }
	numbers := func(field func(*usageEntry) int64) any { return pq.Int64Array(pluck(entries, field)) }
	times := func(field func(*usageEntry) time.Time) any { return timeArray(pluck(entries, field)) }
	return []any{
		times(func(e *usageEntry) time.Time { return e.StartedAt }),
		times(func(e *usageEntry) time.Time { return e.EndedAt }),
		numbers(func(e *usageEntry) int64 { return e.MobileOriginated }),
		numbers(func(e *usageEntry) int64 { return e.MobileTerminated }),
		numbers(func(e *usageEntry) int64 { return int64(e.Sequence) }),
		texts(func(e *usageEntry) string { return addressText(e.IPAddress) }),
		texts(func(e *usageEntry) string { return e.Protocol }),
		texts(func(e *usageEntry) string { return e.SessionID }),
		texts(func(e *usageEntry) string { return e.Source }),
		texts(func(e *usageEntry) string { return e.RecordID }),
	}
}

const knownUsage = `
SELECT i.identity, i.digest, EXISTS (
  SELECT FROM usage_quarantine q WHERE q.company_id = $1 AND q.identity = i.identity) AS is_held
FROM usage_ids i
WHERE i.company_id = $1 AND i.identity = ANY($2::uuid[])`

// judgeKnown answers the entries that are not fresh: their ids were known.
func (b *usageBatch) judgeKnown(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, fresh []*usageEntry) error {
	known := make(map[domain.UsageIdentity]*usageEntry, len(b.entries)-len(fresh))
	if len(fresh) == len(b.entries) {
		return nil
	}
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
	rows, err := selectAll[row](ctx, tx, knownUsage, company, identities(slices.Collect(maps.Values(known))))
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

// quarantine holds back the fresh entries of unknown subscribers and returns
// the others. A subscriber may have appeared while the company was not locked.
func (b *usageBatch) quarantine(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, fresh []*usageEntry) ([]*usageEntry, error) {
	accepted, unknown := bySubscriber(fresh)
	if len(unknown) > 0 {
		if err := b.findSubscribers(ctx, tx, company, unknown); err != nil {
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
