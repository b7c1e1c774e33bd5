package condition

import (
	"context"
	"slices"
	"time"

	"github.com/lib/pq"

	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/condition"
)

// longestRecord is how long before its end a record is looked for to learn its source.
const longestRecord = time.Hour

const (
	// seenOf is when the subscriber s was seen last: the end of its usage in the periods
	// until $5, or the last report of a session; its connection where it was never seen. A
	// record that began before the last three periods of usage ended before them: it is not
	// longer than domain.MaxUsageSpan. OFFSET 0 has it looked for once, not in each condition.
	seenOf = `
CROSS JOIN LATERAL (
  SELECT greatest(s.connection_date, (
    SELECT max(u.last_seen)
    FROM (
      SELECT p.last_seen FROM subscriber_periods p
      WHERE p.company_id = $1 AND p.subscriber_key = s.key AND p.period_start <= $5
      ORDER BY p.period_start DESC
      LIMIT 3
    ) u
  ), (
    SELECT max(r.as_of)
    FROM (
      SELECT n.as_of FROM sessions n
      WHERE s.has_feed AND n.company_id = $1 AND n.subscriber_key = s.key
      ORDER BY n.began_at DESC
      LIMIT 20
    ) r
  )) AS at
  OFFSET 0
) seen`
	// isInUse is the condition that a silence of the subscriber s means something.
	isInUse = `s.company_id = $1 AND s.is_active AND NOT s.is_barred AND s.terminate_date IS NULL AND s.is_enabled_on_parent IS NOT false`
	// isUnseen is the condition that the subscriber s has no usage after $3, and that no
	// open session was reported since.
	isUnseen = `s.connection_date <= $3 AND NOT EXISTS (
    SELECT FROM subscriber_periods p
    WHERE p.company_id = $1 AND p.period_start = ANY($4::timestamptz[]) AND p.subscriber_key = s.key AND p.last_seen > $3)
    AND NOT EXISTS (
    SELECT FROM sessions n
    WHERE n.company_id = $1 AND n.subscriber_key = s.key AND n.ended_at IS NULL AND n.as_of > $3)`
	// knownSource is the source of the subscriber s, where it was looked up since it was
	// seen last.
	knownSource = `
LEFT JOIN condition_sources k ON k.company_id = $1 AND k.subscriber_key = s.key AND k.since = seen.at`
	silentColumns = `
SELECT s.key AS subscriber_key, seen.at AS since, k.source AS known_source, k.nas AS known_nas`
	// selectSilent looks at sessions of those alone that have no recent usage: OFFSET 0
	// keeps the planner from doing so for all. The source, of $6 and how far their usage is
	// known, must be able to confirm a silence of $8 hours.
	selectSilent = silentColumns + `
FROM (
  SELECT s.key, s.connection_date, s.has_feed
  FROM subscribers s
  WHERE ` + isInUse + ` AND ` + isUnseen + `
    AND NOT EXISTS (SELECT FROM condition_log o WHERE o.company_id = $1 AND o.alert_id = $2 AND o.subject_id = s.key AND o.is_open)
    AND `
	silentUntil = `
  OFFSET 0
) s` + seenOf + knownSource + `
WHERE seen.at <= $3 AND NOT EXISTS (
    SELECT FROM unnest($6::text[], $11::text[], $7::timestamptz[]) AS f(source, nas, until)
    WHERE f.source = k.source AND f.nas = k.nas AND f.until < seen.at + make_interval(hours => $8))
ORDER BY s.key
LIMIT $9`
	silentSubscriber = selectSilent + `s.key = $10` + silentUntil
	silentMembers    = selectSilent + `s.group_id = $10` + silentUntil
	silentFleet      = selectSilent + `$10::bigint IS NULL` + silentUntil
	// lastMember returns the member of a group that was seen last, unless a silence of
	// the group is open.
	lastMember = silentColumns + `
FROM subscribers s` + seenOf + knownSource + `
WHERE ` + isInUse + ` AND s.group_id = $3 AND s.connection_date <= $4
  AND NOT EXISTS (SELECT FROM condition_log o WHERE o.company_id = $1 AND o.alert_id = $2 AND o.is_open)
ORDER BY seen.at DESC, s.key
LIMIT 1`
)

// silence is one that may be noticed, with the source of its subject where it is known.
type silence struct {
	SubscriberKey int64
	Since         time.Time
	// KnownSource and KnownNAS are nil where they were not looked up.
	KnownSource, KnownNAS *string
}

func (s *silence) known() *domain.FeedKey {
	if s.KnownSource == nil || s.KnownNAS == nil {
		return nil
	}
	return &domain.FeedKey{Source: *s.KnownSource, NAS: *s.KnownNAS}
}

// silent resolves the silences that ended, and fires those that have lasted long enough
// by the clock and by how far usage is known.
func (t *turn) silent(ctx context.Context, of *condition.Alert) error {
	if err := t.resolveSilent(ctx, of); err != nil || len(t.feeds) == 0 {
		return err
	}
	// Nobody can be missed later than any source reports.
	known := t.feeds.Newest()
	if t.at.Before(known) {
		known = t.at
	}
	silent, err := t.silentSubjects(ctx, of, known.Add(-of.Duration()))
	if err != nil || len(silent) == 0 {
		return err
	}
	confirmed, err := t.confirmed(ctx, of, silent)
	if err != nil {
		return err
	}
	if of.RuleType == domain.RuleGroup {
		for _, s := range confirmed {
			s.SubscriberKey, s.GroupID = nil, of.GroupID
		}
	}
	if err := t.write(ctx, of, condition.Fired, confirmed); err != nil || len(silent) < t.entriesAtOnce {
		return err
	}
	return t.more(ctx)
}

// silentSubjects returns what was seen last at the horizon or before, and is not noticed
// yet; for a group its member that was seen last.
func (t *turn) silentSubjects(ctx context.Context, of *condition.Alert, horizon time.Time) ([]*silence, error) {
	company := t.company.CompanyID
	if of.RuleType == domain.RuleGroup {
		last, err := pg.SelectAll[silence](ctx, t.pool, lastMember, company, of.AlertID, of.GroupID, horizon, t.nextPeriod())
		if err != nil || len(last) == 0 || last[0].Since.After(horizon) {
			return nil, err
		}
		return last, nil
	}
	statement, target := silentFleet, (*int64)(nil)
	switch of.RuleType {
	case domain.RuleSIM:
		statement, target = silentSubscriber, of.SubscriberKey
	case domain.RuleGroupMember:
		statement, target = silentMembers, of.GroupID
	case domain.RuleCompany, domain.RuleGroup:
	}
	sources, elements, until := t.feedColumns()
	return pg.SelectAll[silence](ctx, t.pool, statement, company, of.AlertID, horizon, pq.Array(t.periods(horizon)), t.nextPeriod(), sources, until, of.Bound, t.entriesAtOnce, target, elements)
}

// feedColumns are the sources with their network elements, and until when they can confirm
// a silence: those that catch up confirm none.
func (t *turn) feedColumns() (sources, elements pq.StringArray, until any) {
	times := make([]time.Time, 0, len(t.feeds))
	for key, feed := range t.feeds {
		if feed.IsCatchingUp || feed.WasLate {
			feed.Until = time.Time{}
		}
		sources, elements, times = append(sources, key.Source), append(elements, key.NAS), append(times, feed.Until)
	}
	return sources, elements, pq.Array(times)
}

// nextPeriod returns the begin of the next billing period, the last that usage may be in:
// that of clocks which are ahead.
func (t *turn) nextPeriod() time.Time {
	billing := t.company.Billing()
	return billing.PeriodAt(billing.PeriodAt(t.at).End).Start
}

// periods returns the begins of the billing periods that usage which ended after a time may
// have begun in, the newest first.
func (t *turn) periods(after time.Time) []time.Time {
	billing := t.company.Billing()
	period := billing.PeriodAt(t.at)
	starts := []time.Time{t.nextPeriod(), period.Start}
	for period.Start.After(after.Add(-domain.MaxUsageSpan)) {
		period = billing.PeriodAt(period.Start.Add(-time.Second))
		starts = append(starts, period.Start)
	}
	return starts
}

// watermarks are how far the usage of network elements is known, and of sources without
// such: the newest time that their reports, or the end that their records, speak of. Reports
// that are late for less than $3 seconds without a pause are those of a backlog, which may
// go on where the last was late, or one came after $2. What was kept while simgraph was away,
// or could not be reached, may come behind the first reports of now: a source catches up
// while listening to it began after $2, and a network element while its packets came back
// after $2, or more than $4 seconds after those that were noted.
const watermarks = `
SELECT w.source, w.nas, w.complete_until AS until, w.reported_at,
  ((w.lagged_at > $2 AND w.lagging_since > w.reported_at - make_interval(secs => $3)) IS TRUE OR (source.since > $2) IS TRUE) AS is_catching_up,
  ((w.lagged_at >= w.reported_at AND w.lagging_since > w.reported_at - make_interval(secs => $3)) IS TRUE
    OR (element.since > $2 OR element.seen_at < w.reported_at - make_interval(secs => $4)) IS TRUE) AS was_late
FROM feed_watermarks w
LEFT JOIN feed_listening source ON source.company_id = $1 AND source.source = w.source AND source.nas = ''
LEFT JOIN feed_listening element ON element.company_id = $1 AND element.source = w.source AND element.nas = w.nas AND w.nas <> ''
WHERE w.company_id = $1
UNION ALL
SELECT u.source, '', u.complete_until, u.complete_until, false, false
FROM usage_sources u
WHERE u.company_id = $1 AND NOT EXISTS (SELECT FROM feed_watermarks w WHERE w.company_id = $1 AND w.source = u.source AND w.nas <> '')
LIMIT 10000`

func (t *turn) readFeeds(ctx context.Context) (condition.Feeds, error) {
	type row struct {
		domain.FeedKey
		condition.Feed
	}
	rows, err := pg.SelectValues[row](ctx, t.pool, watermarks, t.company.CompanyID, t.at.Add(-domain.CatchUpPause), domain.LongestCatchUp.Seconds(), domain.CatchUpPause.Seconds())
	feeds := make(condition.Feeds, len(rows))
	catchingUp := map[string]bool{}
	for _, r := range rows {
		r.Until, r.ReportedAt = r.Until.UTC(), r.ReportedAt.UTC()
		if known, is := feeds[r.FeedKey]; is && known.Until.After(r.Until) {
			r.Feed = known
		}
		feeds[r.FeedKey] = r.Feed
		catchingUp[r.Source] = catchingUp[r.Source] || r.IsCatchingUp
	}
	for key, feed := range feeds {
		feed.IsCatchingUp = catchingUp[key.Source]
		feeds[key] = feed
	}
	return feeds, err
}

const (
	// lastSources are the sources of the last records of subscribers, which ended when
	// they were seen last, and began within $6 seconds before.
	lastSources = `
SELECT DISTINCT ON (k.key) k.key AS subscriber_key, r.source
FROM unnest($2::bigint[], $3::timestamptz[]) AS k(key, since)
JOIN usage_records r ON r.company_id = $1 AND r.subscriber_key = k.key
  AND r.started_at >= $4 AND r.started_at <= $5
  AND r.started_at BETWEEN k.since - make_interval(secs => $6) AND k.since AND r.ended_at >= k.since
ORDER BY k.key, r.ended_at DESC, r.source`
	// lastSessions are those that were reported last, of the last that began.
	lastSessions = `
SELECT k.key AS subscriber_key, l.source, l.nas, l.as_of
FROM unnest($2::bigint[]) AS k(key)
CROSS JOIN LATERAL (
  SELECT r.source, r.nas, r.as_of
  FROM (
    SELECT n.source, n.nas, n.as_of FROM sessions n
    WHERE n.company_id = $1 AND n.subscriber_key = k.key
    ORDER BY n.began_at DESC
    LIMIT 20
  ) r
  ORDER BY r.as_of DESC
  LIMIT 1
) l`
	keepSources = `
INSERT INTO condition_sources AS c (company_id, subscriber_key, since, source, nas)
SELECT own.company_id, n.subscriber_key, n.since, n.source, n.nas
FROM companies own
CROSS JOIN unnest($2::bigint[], $3::timestamptz[], $4::text[], $5::text[]) AS n(subscriber_key, since, source, nas)
WHERE own.company_id = $1
ON CONFLICT (company_id, subscriber_key) DO UPDATE SET since = excluded.since, source = excluded.source, nas = excluded.nas`
)

// confirmed leaves out what the source of the subject cannot confirm yet, since it has
// reported nothing for too long itself. Where all sources report, or none does, it does
// not matter which one that is.
func (t *turn) confirmed(ctx context.Context, of *condition.Alert, silent []*silence) (confirmed []*found, err error) {
	sources := map[int64]domain.FeedKey{}
	var unknown []*silence
	for _, s := range silent {
		switch {
		case t.feeds.Agree(of.Due(s.Since)):
		case s.known() != nil:
			sources[s.SubscriberKey] = *s.known()
		default:
			unknown = append(unknown, s)
		}
	}
	if err := t.findSources(ctx, unknown, sources); err != nil {
		return nil, err
	}
	for _, s := range silent {
		if t.feeds.Covers(sources[s.SubscriberKey], of.Due(s.Since)) {
			confirmed = append(confirmed, &found{SubscriberKey: &s.SubscriberKey, Since: s.Since})
		}
	}
	return confirmed, nil
}

// findSources adds the sources of subscribers as far as they can be found, and keeps them.
func (t *turn) findSources(ctx context.Context, of []*silence, to map[int64]domain.FeedKey) error {
	if len(of) == 0 {
		return nil
	}
	if err := t.lookUpSources(ctx, of, to); err != nil {
		return err
	}
	keys, times := columnsOfSilences(of)
	sources := pq.StringArray(pg.Pluck(keys, func(key int64) string { return to[key].Source }))
	elements := pq.StringArray(pg.Pluck(keys, func(key int64) string { return to[key].NAS }))
	_, err := pg.Affected(ctx, t.pool, keepSources, t.company.CompanyID, keys, times, sources, elements)
	return err
}

func columnsOfSilences(of []*silence) (keys pq.Int64Array, since any) {
	return pg.Pluck(of, func(s *silence) int64 { return s.SubscriberKey }), pq.Array(pg.Pluck(of, func(s *silence) time.Time { return s.Since }))
}

// lookUpSources adds the sources of subscribers as far as they can be found.
func (t *turn) lookUpSources(ctx context.Context, of []*silence, to map[int64]domain.FeedKey) error {
	byTime := func(x, y *silence) int { return x.Since.Compare(y.Since) }
	first, last := slices.MinFunc(of, byTime).Since, slices.MaxFunc(of, byTime).Since
	keys, times := columnsOfSilences(of)
	type row struct {
		SubscriberKey int64
		domain.FeedKey
		AsOf time.Time
	}
	company := t.company.CompanyID
	sessions, err := pg.SelectValues[row](ctx, t.pool, lastSessions, company, keys)
	if err != nil {
		return err
	}
	records, err := pg.SelectValues[row](ctx, t.pool, lastSources, company, keys, times, first.Add(-longestRecord), last, longestRecord.Seconds())
	if err != nil {
		return err
	}
	since := make(map[int64]time.Time, len(of))
	for _, s := range of {
		since[s.SubscriberKey] = s.Since
	}
	for _, r := range slices.Concat(records, sessions) {
		// Records do not name the network element of their session.
		if _, recorded := to[r.SubscriberKey]; !recorded || !r.AsOf.Before(since[r.SubscriberKey]) {
			to[r.SubscriberKey] = r.FeedKey
		}
	}
	return nil
}

const (
	// subscribersSeen are the open silences of subscribers that were seen since, and
	// after $6, or are not watched any more.
	subscribersSeen = `
SELECT o.entry_id, o.subscriber_key, o.since, s.key IS NULL AS is_unwatched
FROM condition_log o
LEFT JOIN subscribers s ON s.key = o.subscriber_key AND ` + isInUse + ` AND ($3::bigint IS NULL OR s.group_id = $3)
WHERE o.company_id = $1 AND o.alert_id = $2 AND o.is_open
  AND (s.key IS NULL
    OR EXISTS (
      SELECT FROM subscriber_periods p
      WHERE p.company_id = $1 AND p.period_start = ANY($4::timestamptz[]) AND p.subscriber_key = s.key AND p.last_seen > greatest(o.since, $6))
    OR s.has_feed AND EXISTS (
      SELECT FROM (
        SELECT n.as_of FROM sessions n
        WHERE n.company_id = $1 AND n.subscriber_key = s.key
        ORDER BY n.began_at DESC
        LIMIT 20) r
      WHERE r.as_of > greatest(o.since, $6)))
ORDER BY o.entry_id
LIMIT $5`
	// groupSeen is the open silence of a group, of which a member was seen.
	groupSeen = `
SELECT o.entry_id, o.group_id, o.since, false AS is_unwatched
FROM condition_log o
WHERE o.company_id = $1 AND o.alert_id = $2 AND o.is_open AND EXISTS (
  SELECT FROM subscribers s` + seenOf + `
  WHERE ` + isInUse + ` AND s.group_id = $3 AND seen.at > greatest(o.since, $4, s.connection_date))`
	leaveEpisodes = `UPDATE condition_log SET is_open = false WHERE company_id = $1 AND entry_id = ANY($2) AND is_open`
)

// ended is a silence that is over.
type ended struct {
	EntryID                int64
	SubscriberKey, GroupID *int64
	Since                  time.Time
	IsUnwatched            bool
}

// resolveSilent resolves the silences whose subjects were seen again, within the duration
// that the alert allows. Those of subjects that are not watched any more are not
// reported, nor is late usage of long ago.
func (t *turn) resolveSilent(ctx context.Context, of *condition.Alert) error {
	after := t.at.Add(-of.Duration())
	company := t.company.CompanyID
	var rows []*ended
	var err error
	if of.RuleType == domain.RuleGroup {
		rows, err = pg.SelectAll[ended](ctx, t.pool, groupSeen, company, of.AlertID, of.GroupID, after, t.nextPeriod())
	} else {
		rows, err = pg.SelectAll[ended](ctx, t.pool, subscribersSeen, company, of.AlertID, of.GroupID, pq.Array(t.periods(after)), t.entriesAtOnce, after)
	}
	if err != nil || len(rows) == 0 {
		return err
	}
	var again []*found
	var left pq.Int64Array
	for _, r := range rows {
		if r.IsUnwatched {
			left = append(left, r.EntryID)
			continue
		}
		again = append(again, &found{SubscriberKey: r.SubscriberKey, GroupID: r.GroupID, Since: r.Since, Resolves: &r.EntryID})
	}
	if len(left) > 0 {
		if _, err := pg.Affected(ctx, t.pool, leaveEpisodes, company, left); err != nil {
			return err
		}
	}
	if err := t.write(ctx, of, condition.Resolved, again); err != nil || len(rows) < t.entriesAtOnce {
		return err
	}
	return t.more(ctx)
}
