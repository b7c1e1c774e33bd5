package usage

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/pg"
	"simgraph/domain"
)

// reading is a cumulative record of a batch.
type reading struct {
	domain.UsageRecord
	// names are those of its session.
	names []domain.SessionIdentity
	// place is that of its result.
	place int
	// subscriber is set for those of the ledger, whose bytes are a difference.
	subscriber int64
}

// readingMonths calls each with the months that differences of the reading may lie in.
func (b *usageBatch) readingMonths(each func(time.Time)) {
	for _, r := range b.readings {
		first := r.EndedAt.Add(-domain.MaxUsageSpan)
		if r.StartedAt.After(first) {
			first = r.StartedAt
		}
		if first.Before(b.oldest) {
			first = b.oldest
		}
		for month := domain.MonthOf(first); !month.After(r.EndedAt); month = month.AddDate(0, 1, 0) {
			each(month)
		}
	}
}

// bookReadings raises the counters of the sessions and returns the records of the
// ledger that follow. The lock on the company keeps others from the sessions.
func (u *Store) bookReadings(ctx context.Context, tx *sqlx.Tx, locked *domain.Company, b *usageBatch) ([]*usageEntry, error) {
	if len(b.readings)+len(b.followed) == 0 {
		return nil, nil
	}
	company, billing := locked.CompanyID, locked.Billing()
	subscribers, disagree, err := findNames(ctx, tx, company, pg.Pluck(b.readings, func(r *reading) *domain.UsageRecord { return &r.UsageRecord }))
	if err != nil {
		return nil, err
	}
	sessions, err := loadSessions(ctx, tx, company, slices.Concat(b.readings, b.followed))
	if err != nil {
		return nil, err
	}
	for _, r := range b.followed {
		sessions.add(r, u.now())
	}
	var entries []*usageEntry
	for i, r := range b.readings {
		if disagree[i] {
			b.results[r.place] = domain.Rejected(errDisagree)
			continue
		}
		records, subscriber, result := sessions.read(r, subscribers[i], u.now(), b.oldest, billing)
		b.results[r.place] = result
		for _, record := range records {
			entry := &usageEntry{UsageRecord: record, subscriber: subscriber}
			entry.identity, entry.digest = entry.Identify()
			entries = append(entries, entry)
		}
	}
	b.gaps = sessions.gaps
	if err := sessions.store(ctx, tx, company); err != nil {
		return nil, err
	}
	if err := u.followSessions(ctx, tx, company, sessions); err != nil {
		return nil, err
	}
	if err := u.moveWatermarks(ctx, tx, company, b); err != nil {
		return nil, err
	}
	return u.enterDifferences(ctx, tx, company, entries)
}

// enterDifferences puts the records into the ledger, or into quarantine. One that
// an import has brought before is there already.
func (u *Store) enterDifferences(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, entries []*usageEntry) ([]*usageEntry, error) {
	if len(entries) == 0 {
		return nil, nil
	}
	slices.SortFunc(entries, func(x, y *usageEntry) int { return bytes.Compare(x.identity[:], y.identity[:]) })
	fresh, _, err := enterFresh(ctx, tx, company, entries)
	if err != nil {
		return nil, err
	}
	accepted, held := bySubscriber(fresh)
	return accepted, holdUsage(ctx, tx, company, held)
}

// subscriberOf selects the key of the subscriber that q names, NULL for none: by
// physical ID, or else by IMSI and then by MSISDN, of several the active and newest
// one.
const subscriberOf = `
SELECT coalesce(
  (SELECT s.key FROM subscribers s WHERE s.company_id = $1 AND s.physical_id = q.physical_id AND q.physical_id <> ''),
  (SELECT s.key FROM subscribers s WHERE s.company_id = $1 AND s.imsi = q.imsi AND q.imsi <> '' AND s.imsi <> ''
   ORDER BY s.is_active DESC, s.connection_date DESC, s.key DESC LIMIT 1),
  (SELECT s.key FROM subscribers s WHERE s.company_id = $1 AND s.subscriber_id = q.msisdn AND q.msisdn <> ''
   ORDER BY s.is_active DESC, s.connection_date DESC, s.key DESC LIMIT 1)) AS key`

// findNamed also returns which records name two subscribers: the one that is found has
// another physicalId, IMSI or number than they state. $5 is where the IMSI decides.
const findNamed = `
SELECT coalesce(array_agg(coalesce(s.key, 0) ORDER BY q.place), '{}'),
  coalesce(array_agg(s.key IS NOT NULL AND NOT ($5::boolean[])[q.place] AND (
    q.physical_id <> '' AND o.physical_id <> q.physical_id OR q.imsi <> '' AND o.imsi <> '' AND o.imsi <> q.imsi
    OR q.msisdn <> '' AND o.subscriber_id <> q.msisdn) ORDER BY q.place), '{}')
FROM unnest($2::text[], $3::text[], $4::text[]) WITH ORDINALITY AS q(physical_id, imsi, msisdn, place)
CROSS JOIN LATERAL (` + subscriberOf + `) s
LEFT JOIN LATERAL (
  SELECT o.physical_id, o.imsi, o.subscriber_id FROM subscribers o WHERE o.company_id = $1 AND o.key = s.key OFFSET 0
) o ON true`

var errDisagree = domain.Invalid("physicalId", "physicalId, imsi, msisdn and subscriberId name different subscribers")

// findNames returns the subscriber of each record, 0 where it is not known, and which of
// them are named as two.
func findNames(ctx context.Context, tx sqlx.QueryerContext, company domain.CompanyID, records []*domain.UsageRecord) (keys []int64, disagree []bool, err error) {
	if len(records) == 0 {
		return nil, nil, nil
	}
	err = tx.QueryRowxContext(ctx, findNamed, company,
		textArray(records, func(r *domain.UsageRecord) string { return r.PhysicalID }),
		textArray(records, func(r *domain.UsageRecord) string { return r.IMSI }),
		textArray(records, func(r *domain.UsageRecord) string { return r.MSISDN }),
		pq.BoolArray(pg.Pluck(records, func(r *domain.UsageRecord) bool { return r.IMSIDecides }))).Scan((*pq.Int64Array)(&keys), (*pq.BoolArray)(&disagree))
	return keys, disagree, pg.Translate(err)
}

// touchedSessions are the sessions of a batch, by identity and generation.
type touchedSessions struct {
	generations map[domain.SessionIdentity][]*touchedSession
	// named are the identities by the names that reports know them by, and newNames those
	// of these that are not stored.
	named    map[domain.SessionIdentity]domain.SessionIdentity
	newNames map[domain.SessionIdentity]bool
	// names is how many names a session has beside its identity.
	names map[domain.SessionIdentity]int
	// order is that in which they were touched.
	order []*touchedSession
	gaps  map[gapKey]int64
	// values are what their reports state anew, in the order of these.
	values []sessionValues
}

// newTouchedSessions is for a batch of so many records.
func newTouchedSessions(n int) *touchedSessions {
	return &touchedSessions{
		generations: make(map[domain.SessionIdentity][]*touchedSession, n),
		named:       make(map[domain.SessionIdentity]domain.SessionIdentity, n),
		newNames:    map[domain.SessionIdentity]bool{}, names: map[domain.SessionIdentity]int{}, gaps: map[gapKey]int64{},
	}
}

// touchedSession is a session with its state before the batch.
type touchedSession struct {
	domain.Session
	touched, isNew           bool
	wasOpen, wasTransferring bool
}

// nextSession is the generation after the last: earlier ones may have gone with their
// months, and numbers do not come again.
func nextSession(of []*touchedSession, r *reading) domain.Session {
	if len(of) == 0 {
		return *domain.NewSession(&r.UsageRecord, 0)
	}
	return *of[len(of)-1].Next(&r.UsageRecord)
}

// find returns the identity of the session that the reading is of; that of its first
// name for none.
func (t *touchedSessions) find(r *reading) domain.SessionIdentity {
	for _, name := range r.names {
		of := t.generations[t.named[name]]
		if len(of) > 0 && of[len(of)-1].IsOf(&r.UsageRecord) {
			return t.named[name]
		}
	}
	return r.Session()
}

// maxSessionNames bounds the names of a session beside its identity: a report states 12 at
// most, and those of a session that always states others would be as many as its reports.
const maxSessionNames = 64

// name gives a session the names of a reading that no other has; a new one has all, since
// those that had them before are over.
func (t *touchedSessions) name(session domain.SessionIdentity, r *reading, isNew bool) {
	for _, name := range r.names {
		if of, known := t.named[name]; of != session && (isNew || !known) && (name == session || t.names[session] < maxSessionNames) {
			t.named[name] = session
			if name != session || known {
				t.names[session]++
				t.newNames[name] = true
			}
		}
	}
}

// generationAt returns the place of the generation that had begun when the record was made;
// -1 when it begins another.
func generationAt(of []*touchedSession, r *reading) int {
	if n := len(of); n == 0 || of[n-1].IsFollowedBy(&r.UsageRecord) {
		return -1
	}
	for i := len(of) - 1; i > 0; i-- {
		if !of[i].BeganAt.After(r.EndedAt) {
			return i
		}
	}
	return 0
}

// add adds a record that is new to the ledger to its session.
func (t *touchedSessions) add(r *reading, now time.Time) {
	identity := t.find(r)
	session, of := t.session(identity, r, generationAt(t.generations[identity], r))
	gap, values := session.Gap(&r.UsageRecord), session.NewValues(&r.UsageRecord)
	session.Add(&r.UsageRecord, now)
	t.keep(session, of, r, gap, values)
	if session.SubscriberKey == nil && r.subscriber != 0 {
		session.SubscriberKey = &r.subscriber
	}
}

// session returns the generation at a place, a new one for -1, and those before it.
func (t *touchedSessions) session(identity domain.SessionIdentity, r *reading, at int) (*touchedSession, []*touchedSession) {
	of := t.generations[identity]
	if at >= 0 {
		return of[at], of
	}
	return &touchedSession{Session: nextSession(of, r), isNew: true}, of
}

// keep notes what a reading has changed of its session.
func (t *touchedSessions) keep(session *touchedSession, of []*touchedSession, r *reading, gap time.Duration, values []domain.SessionValues) {
	if gap > 0 {
		t.gaps[gapKey{session.Source, session.NAS, int64(domain.IntervalStep(gap) / time.Second)}]++
	}
	for _, v := range values {
		t.values = append(t.values, sessionValues{session, v})
	}
	if session.isNew {
		session.isNew = false
		t.generations[session.Identity] = append(of, session)
	}
	t.name(session.Identity, r, len(of) == 0)
	if !session.touched {
		session.touched = true
		t.order = append(t.order, session)
	}
}

// read adds a reading to its session, and returns the records of the ledger that follow,
// with their subscriber.
func (t *touchedSessions) read(r *reading, subscriber int64, now, oldest time.Time, billing domain.Billing) ([]domain.UsageRecord, int64, domain.Recorded) {
	identity := t.find(r)
	counters := pg.Pluck(t.generations[identity], func(s *touchedSession) *domain.Counter { return &s.Counter })
	session, of := t.session(identity, r, domain.GenerationOf(counters, r.Reading()))
	gap, values := session.Gap(&r.UsageRecord), session.NewValues(&r.UsageRecord)
	d, raised, err := session.Report(&r.UsageRecord, now)
	if err != nil {
		return nil, 0, domain.Rejected(err)
	}
	t.keep(session, of, r, gap, values)
	if session.SubscriberKey == nil && subscriber != 0 {
		session.SubscriberKey = &subscriber
	}
	if session.SubscriberKey != nil && !session.IsNamedBy(&r.UsageRecord) {
		subscriber = *session.SubscriberKey
	}
	if !raised {
		return nil, 0, domain.Recorded{Status: domain.UsageDuplicate}
	}
	records := r.Booked(d, &session.Session, oldest, billing)
	if subscriber == 0 {
		return records, 0, domain.Recorded{Status: domain.UsageQuarantined}
	}
	return records, subscriber, domain.Recorded{Status: domain.UsageAccepted}
}

const setNetworkState = `
UPDATE subscribers s SET has_feed = true, is_online = n.is_online, is_transferring = n.is_transferring
FROM (
  SELECT k.key, count(o.identity) > 0 AS is_online, coalesce(bool_or(o.is_transferring), false) AS is_transferring
  FROM unnest($2::bigint[]) AS k(key)
  LEFT JOIN sessions o ON o.company_id = $1 AND o.subscriber_key = k.key AND o.ended_at IS NULL AND o.nas <> ''
  GROUP BY k.key
) n
WHERE s.company_id = $1 AND s.key = n.key
  AND (NOT s.has_feed OR s.is_online <> n.is_online OR s.is_transferring <> n.is_transferring)
RETURNING s.key`

// followSessions gives the subscribers of sessions whose state changed the state of
// all their sessions. Only those of network elements count: others may report
// totals of hours long ago.
func (u *Store) followSessions(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, sessions *touchedSessions) error {
	var keys []int64
	for _, s := range sessions.order {
		if s.SubscriberKey != nil && s.NAS != "" && ((s.EndedAt == nil) != s.wasOpen || s.IsTransferring != s.wasTransferring || s.Reports == 1) {
			keys = append(keys, *s.SubscriberKey)
		}
	}
	return u.setNetworkState(ctx, tx, company, keys)
}

func (u *Store) setNetworkState(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, keys []int64) error {
	if len(keys) == 0 {
		return nil
	}
	slices.Sort(keys)
	changed, err := pg.SelectValues[int64](ctx, tx, setNetworkState, company, pq.Int64Array(slices.Compact(keys)))
	if err != nil || u.observer == nil || len(changed) == 0 {
		return err
	}
	return u.observer.StateChanged(ctx, tx, company, changed)
}

const attachSessions = `
WITH found AS (
  SELECT q.identity, q.generation, s.key
  FROM sessions q
  CROSS JOIN LATERAL (` + subscriberOf + `) s
  WHERE q.company_id = $1 AND q.subscriber_key IS NULL AND s.key IS NOT NULL
)
UPDATE sessions n SET subscriber_key = f.key
FROM found f
WHERE n.company_id = $1 AND n.identity = f.identity AND n.generation = f.generation
RETURNING n.subscriber_key`

// attachValues gives the values of sessions whose subscribers have appeared the next
// places: alerts have come past those that they had.
const attachValues = `
UPDATE session_values v SET subscriber_key = f.subscriber_key, place = f.place
FROM (
  SELECT u.place AS was, n.subscriber_key, l.last + row_number() OVER (ORDER BY u.place) AS place
  FROM session_values u
  JOIN (SELECT DISTINCT s.identity, s.subscriber_key FROM sessions s WHERE s.company_id = $1 AND s.subscriber_key = ANY($2)) n ON n.identity = u.identity
  CROSS JOIN (` + lastPlace + `) l
  WHERE u.company_id = $1 AND u.subscriber_key IS NULL
) f
WHERE v.company_id = $1 AND v.place = f.was`

// attachSessions gives the sessions of unknown subscribers those that have appeared.
func (u *Store) attachSessions(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID) error {
	keys, err := pg.SelectValues[int64](ctx, tx, attachSessions, company)
	if err != nil || len(keys) == 0 {
		return err
	}
	if _, err := pg.Affected(ctx, tx, attachValues, company, pq.Int64Array(keys)); err != nil {
		return err
	}
	if err := noteSeen(ctx, tx, company, keys); err != nil {
		return err
	}
	return u.setNetworkState(ctx, tx, company, keys)
}
