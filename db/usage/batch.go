package usage

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/pg"
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
	entries []*usageEntry
	// readings are the cumulative records, in the order of the call.
	readings []*reading
	// oldest is from when on the ledger takes records.
	oldest    time.Time
	results   []domain.Recorded
	protocols map[string]int16
}

// newUsageBatch rejects the records that break a rule.
func newUsageBatch(records []domain.UsageRecord, now, oldest time.Time) *usageBatch {
	b := &usageBatch{results: make([]domain.Recorded, len(records)), oldest: oldest}
	seen := make(map[domain.UsageIdentity]*usageEntry, len(records))
	for i := range records {
		record := records[i].Normalize()
		if err := record.Check(now, oldest); err != nil {
			b.results[i] = domain.Rejected(err)
			continue
		}
		if record.Report != nil {
			b.readings = append(b.readings, &reading{UsageRecord: record, session: record.Session(), place: i})
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
	slices.SortFunc(b.entries, func(x, y *usageEntry) int { return bytes.Compare(x.identity[:], y.identity[:]) })
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
		months[domain.MonthOf(e.StartedAt)] = true
	}
	b.readingMonths(func(month time.Time) { months[month] = true })
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
	rows, err := pg.SelectAll[row](ctx, in, knownProtocols, company)
	numbers := make(map[string]int16, len(rows))
	for _, r := range rows {
		numbers[r.Name] = r.ProtocolID
	}
	return numbers, err
}

func (b *usageBatch) missingProtocols() []string {
	missing := map[string]bool{}
	for _, record := range b.records() {
		if _, known := b.protocols[record.Protocol]; !known {
			missing[record.Protocol] = true
		}
	}
	return slices.Sorted(maps.Keys(missing))
}

// records are all that are sound.
func (b *usageBatch) records() []*domain.UsageRecord {
	records := pg.Pluck(b.entries, func(e *usageEntry) *domain.UsageRecord { return &e.UsageRecord })
	return append(records, pg.Pluck(b.readings, func(r *reading) *domain.UsageRecord { return &r.UsageRecord })...)
}

func (b *usageBatch) rejectProtocols(names []string) {
	tooMany := domain.Rejected(domain.Invalid("protocol", "the company has %d network protocols already", domain.MaxProtocols))
	b.entries = slices.DeleteFunc(b.entries, func(e *usageEntry) bool {
		if !slices.Contains(names, e.Protocol) {
			return false
		}
		for _, c := range e.claims {
			b.results[c.place] = tooMany
		}
		return true
	})
	b.readings = slices.DeleteFunc(b.readings, func(r *reading) bool {
		if !slices.Contains(names, r.Protocol) {
			return false
		}
		b.results[r.place] = tooMany
		return true
	})
}

// findUsageSubscribers returns the key of each physical ID, 0 where there is
// none. OFFSET 0 keeps the lookup by index, however many there are.
const findUsageSubscribers = `
SELECT coalesce(array_agg(coalesce(s.key, 0) ORDER BY n.place), '{}')
FROM unnest($2::text[]) WITH ORDINALITY AS n(physical_id, place)
LEFT JOIN LATERAL (
  SELECT s.key FROM subscribers s WHERE s.company_id = $1 AND s.physical_id = n.physical_id OFFSET 0
) s ON true`

// findSubscribers sets the subscriber of each entry that has one.
func (b *usageBatch) findSubscribers(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, entries []*usageEntry) error {
	ids := pg.Pluck(entries, func(e *usageEntry) string { return e.PhysicalID })
	slices.Sort(ids)
	ids = slices.Compact(ids)
	var keys pq.Int64Array
	if err := tx.QueryRowxContext(ctx, findUsageSubscribers, company, pq.StringArray(ids)).Scan(&keys); err != nil {
		return err
	}
	found := make(map[string]int64, len(ids))
	for i, id := range ids {
		found[id] = keys[i]
	}
	for _, e := range entries {
		e.subscriber = found[e.PhysicalID]
	}
	return nil
}

// registerUsage returns the identities that are new, one after the other.
const registerUsage = `
WITH fresh AS (
  INSERT INTO usage_ids (company_id, identity, digest)
  SELECT $1, l.identity, ($3::bigint[])[l.place]
  FROM unnest($2::uuid[]) WITH ORDINALITY AS l(identity, place)
  ON CONFLICT (company_id, identity) DO NOTHING
  RETURNING identity
)
SELECT coalesce(string_agg(uuid_send(identity), ''::bytea), '') FROM fresh`

// insert enters what is new into the register of ids and, where the subscriber
// is known, into the ledger. It returns what is new.
func (b *usageBatch) insert(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID) ([]*usageEntry, error) {
	digests := pq.Int64Array(pg.Pluck(b.entries, func(e *usageEntry) int64 { return e.digest }))
	var identities []byte
	if err := tx.QueryRowxContext(ctx, registerUsage, company, identitiesOf(b.entries), digests).Scan(&identities); err != nil {
		return nil, err
	}
	fresh := b.entries
	if each := len(domain.UsageIdentity{}); len(identities) < each*len(b.entries) {
		fresh = make([]*usageEntry, 0, len(identities)/each)
		for identity := range slices.Chunk(identities, each) {
			fresh = append(fresh, b.entry(identity))
		}
	}
	known, _ := bySubscriber(fresh)
	return fresh, enterUsage(ctx, tx, company, known)
}

// entry returns the entry of an identity, which is one of the batch's.
func (b *usageBatch) entry(identity []byte) *usageEntry {
	at, _ := slices.BinarySearchFunc(b.entries, identity, func(e *usageEntry, identity []byte) int {
		return bytes.Compare(e.identity[:], identity)
	})
	return b.entries[at]
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
