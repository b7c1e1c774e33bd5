package usage

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"time"

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
	// followed are the new ones of the entries that say more of their session than its
	// id, in the order of time.
	followed []*reading
	// oldest is from when on the ledger takes records.
	oldest  time.Time
	results []domain.Recorded
	// gaps are those between reports of sessions.
	gaps      map[gapKey]int64
	protocols map[string]int16
}

// newUsageBatch rejects the records that break a rule.
func newUsageBatch(records []domain.UsageRecord, now, oldest time.Time) *usageBatch {
	b := &usageBatch{results: make([]domain.Recorded, len(records)), oldest: oldest}
	seen := make(map[domain.UsageIdentity]*usageEntry, len(records))
	for i := range records {
		record := records[i].Believed(oldest).Normalize()
		if err := record.Check(now, oldest); err != nil {
			b.results[i] = domain.Rejected(err)
			continue
		}
		if record.IsCumulative() {
			b.readings = append(b.readings, &reading{UsageRecord: record, names: record.Names(), place: i})
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

// without drops the entries that were answered.
func (b *usageBatch) without(answered map[*usageEntry]bool) {
	b.entries = slices.DeleteFunc(b.entries, func(e *usageEntry) bool { return answered[e] })
}

// follow notes the fresh entries that their sessions follow.
func (b *usageBatch) follow(fresh []*usageEntry) {
	b.followed = nil
	for _, e := range fresh {
		if e.Report != nil {
			b.followed = append(b.followed, &reading{UsageRecord: e.UsageRecord, names: e.Names(), place: e.claims[0].place, subscriber: e.subscriber})
		}
	}
	slices.SortStableFunc(b.followed, func(x, y *reading) int { return cmp.Or(x.EndedAt.Compare(y.EndedAt), cmp.Compare(x.place, y.place)) })
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

// records are all that are sound.
func (b *usageBatch) records() []*domain.UsageRecord {
	records := pg.Pluck(b.entries, func(e *usageEntry) *domain.UsageRecord { return &e.UsageRecord })
	return append(records, pg.Pluck(b.readings, func(r *reading) *domain.UsageRecord { return &r.UsageRecord })...)
}
