package upstream

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/announce"
	"simgraph/db/audit"
	"simgraph/db/companies"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/upstream"
	"simgraph/domain/webhook"
)

const (
	// isFree is the condition that no worker has the upstream at $2, and isDue that a pass may
	// begin. What is due or claimed until later than $3 comes of a clock that was set back since.
	isFree = `u.paused_at IS NULL AND (u.claimed_until IS NULL OR u.claimed_until <= $2 OR u.claimed_until > $3)`
	isDue  = `(u.due_at <= $2 OR u.due_at > $3)`
	// mayWrite is the condition that edits may be sent, and isWaiting that one waits.
	mayWrite     = `u.is_written_through AND (u.writes_due_at IS NULL OR u.writes_due_at <= $2 OR u.writes_due_at > $3)`
	isWaiting    = ` AND w.upstream_id = u.upstream_id AND w.sent_at IS NULL AND w.refused_at IS NULL`
	dueUpstreams = `
SELECT u.company_id, u.upstream_id FROM upstreams u
WHERE ($1::bigint[] IS NULL OR u.company_id = ANY($1)) AND ` + isFree + ` AND (` + isDue + ` OR ` + mayWrite + ` AND EXISTS (
  SELECT FROM upstream_writes w WHERE w.company_id = u.company_id` + isWaiting + `))
ORDER BY u.due_at
LIMIT 1000`
)

// Due returns upstreams of which a pass may begin, or edits may be sent, at most 1,000 of each node of the database.
// It returns them beside the error where some nodes fail.
func (s *Store) Due(ctx context.Context) (all []upstream.Due, err error) {
	at := s.Moment()
	err = companies.EachNode(ctx, s.Pool, func(of pq.Int64Array) error {
		rows, err := pg.SelectAll[upstream.Due](ctx, s.Pool, dueUpstreams, of, at, at.Add(webhook.PutOff))
		for _, row := range rows {
			all = append(all, *row)
		}
		return err
	})
	return all, err
}

const claimUpstream = `
UPDATE upstreams u SET claim = u.claim + 1, claimed_until = $5
WHERE u.company_id = $1 AND u.upstream_id = $4 AND ` + isFree + ` AND (` + isDue + ` OR ` + mayWrite + ` AND EXISTS (
  SELECT FROM upstream_writes w WHERE w.company_id = $1` + isWaiting + `))
RETURNING ` + upstreamColumns + `, u.key, u.claim, u.sweep, u.attempts, u.is_sweep_requested, u.cursor, NOT ` + isDue + ` AS is_writing`

type claimedRow struct {
	upstreamRow
	Key                         []byte
	Claim, Sweep                int64
	Attempts                    int
	IsSweepRequested, IsWriting bool
	Cursor                      string
}

// Claim begins a pass, for as long as the lease lasts or is renewed; nil where another worker
// has begun it. One that was interrupted goes on from where it stood. A job beside an error
// has no key: Finish says so.
func (s *Store) Claim(ctx context.Context, due upstream.Due, lease time.Duration) (*upstream.Job, error) {
	at := s.Moment()
	row, err := pg.GetOne[claimedRow](ctx, s.Pool, nil, claimUpstream, due.CompanyID, at, at.Add(webhook.PutOff), due.UpstreamID, at.Add(lease))
	if err != nil || row == nil {
		return nil, err
	}
	job := &upstream.Job{
		Company: &domain.Company{CompanyID: due.CompanyID}, Upstream: row.upstream(at), Claim: row.Claim, Sweep: row.Sweep + 1, StartedAt: at, ClaimedAt: at,
		Attempts: row.Attempts + 1, IsWriting: row.IsWriting,
		IsSweep: row.IsSweepRequested || row.LastSweptAt == nil || !at.Before(row.LastSweptAt.Add(upstream.SweepEvery)) || row.LastSweptAt.After(at),
	}
	_ = json.Unmarshal([]byte(row.Cursor), &job.Cursor) // of an older form, the pass begins anew
	if !job.IsWriting {
		err = s.begin(ctx, job)
	}
	company, unknown := companies.New(s.Pool).Find(ctx, domain.Whole(due.CompanyID))
	if err = errors.Join(err, unknown); err != nil {
		return job, err
	}
	job.Company = company
	job.Key, err = s.open(due.CompanyID, due.UpstreamID, row.Key)
	return job, err
}

const (
	// forgetSent forgets edits that were sent before the pass: what it reads has them. Those
	// that were refused are shown for a while.
	forgetSent = `
DELETE FROM upstream_writes WHERE company_id = $1 AND upstream_id = $2 AND (sent_at IS NOT NULL OR refused_at < $3)`
	beginPass = `
UPDATE upstreams SET progress = '[]', cursor = $4
WHERE company_id = $1 AND upstream_id = $2 AND claim = $3`
	// refusedFor is for how long a refused edit is shown.
	refusedFor = 7 * 24 * time.Hour
)

// begin begins a pass, or goes on with one.
func (s *Store) begin(ctx context.Context, job *upstream.Job) error {
	if job.Cursor.IsOf(&job.Upstream.Spec, job.IsSweep, job.ClaimedAt) {
		job.StartedAt = job.Cursor.BegunAt
		return nil
	}
	job.Cursor = upstream.NewCursor(&job.Upstream.Spec, job.IsSweep, job.StartedAt)
	company, id := job.Company.CompanyID, job.Upstream.UpstreamID
	return pg.InTx(ctx, s.Pool, func(tx *sqlx.Tx) error {
		n, err := pg.Affected(ctx, tx, beginPass, company, id, job.Claim, textOf(job.Cursor))
		if err != nil || n == 0 {
			return cmp.Or(err, error(errLost))
		}
		_, err = pg.Affected(ctx, tx, forgetSent, company, id, job.ClaimedAt.Add(-refusedFor))
		return err
	})
}

const reachCursor = `UPDATE upstreams SET cursor = $4 WHERE company_id = $1 AND upstream_id = $2 AND claim = $3`

// Reach notes where the pass stands.
func (s *Store) Reach(ctx context.Context, job *upstream.Job) error {
	n, err := pg.Affected(ctx, s.Pool, reachCursor, job.Company.CompanyID, job.Upstream.UpstreamID, job.Claim, textOf(job.Cursor))
	if err == nil && n == 0 {
		return errLost
	}
	return err
}

const (
	renewClaim = `
UPDATE upstreams SET claimed_until = $4, progress = $5
WHERE company_id = $1 AND upstream_id = $2 AND claim = $3 AND paused_at IS NULL`
	releaseClaim = `
UPDATE upstreams SET claimed_until = NULL, records = records + $4
WHERE company_id = $1 AND upstream_id = $2 AND claim = $3`
)

// Renew goes on with a pass for as long as the lease lasts, and notes its progress; false
// where the upstream was paused or removed, or another worker has the pass.
func (s *Store) Renew(ctx context.Context, job *upstream.Job, lease time.Duration, progress []upstream.Progress) (bool, error) {
	n, err := pg.Affected(ctx, s.Pool, renewClaim, job.Company.CompanyID, job.Upstream.UpstreamID, job.Claim, s.Moment().Add(lease), textOf(listed(progress)))
	return n > 0, err
}

// Release gives a pass back, which goes on from where it stands, and has booked so many
// records.
func (s *Store) Release(ctx context.Context, job *upstream.Job, records int64) error {
	_, err := pg.Affected(ctx, s.Pool, releaseClaim, job.Company.CompanyID, job.Upstream.UpstreamID, job.Claim, records)
	return err
}

func textOf(of any) string {
	text, _ := json.Marshal(of) // texts, numbers and times can be written
	return string(text)
}

// listed is progress that is written as a list where there is none.
func listed(progress []upstream.Progress) []upstream.Progress {
	return append([]upstream.Progress{}, progress...)
}

const (
	// whileClaimed ends a pass that no other worker has. A request that came after it began
	// is for the next one.
	whileClaimed = `
  claimed_until = NULL, progress = $4, records = records + $5, due_at = CASE WHEN requested_at > $6::timestamptz THEN $7::timestamptz ELSE $8::timestamptz END,
  requested_at = CASE WHEN requested_at > $6::timestamptz THEN requested_at END`
	failPass = `
UPDATE upstreams SET attempts = attempts + 1, last_error = $9, failed_at = $7::timestamptz,` + whileClaimed + `
WHERE company_id = $1 AND upstream_id = $2 AND claim = $3`
	succeedPass = `
UPDATE upstreams SET attempts = 0, last_error = NULL, failed_at = NULL, last_synced_at = $6::timestamptz, data_complete_until = $9, cursor = '',
  held_removals = CASE WHEN $10 THEN nullif($15::bigint, 0) ELSE held_removals END,
  held_at = CASE WHEN NOT $10 THEN held_at WHEN $15::bigint > 0 THEN COALESCE(held_at, $7::timestamptz) END,
  confirmed_removals = CASE WHEN NOT $10 OR confirmed_at > $16::timestamptz AND $15::bigint > 0 THEN confirmed_removals END,
  confirmed_at = CASE WHEN NOT $10 OR confirmed_at > $16::timestamptz AND $15::bigint > 0 THEN confirmed_at END,
  is_sweep_requested = is_sweep_requested AND (requested_at > $6::timestamptz OR NOT $10),
  last_swept_at = CASE WHEN $10 THEN $6::timestamptz ELSE last_swept_at END, sweep = CASE WHEN $10 THEN $11::bigint ELSE sweep END,
  refused = CASE WHEN $10 OR $12::bigint > 0 THEN $12::bigint ELSE refused END, refusals = CASE WHEN $10 OR $12::bigint > 0 THEN $13::text[] ELSE refusals END,
  lowered = CASE WHEN $10 THEN $14::bigint ELSE greatest(lowered, $14::bigint) END,` + whileClaimed + `
WHERE company_id = $1 AND upstream_id = $2 AND claim = $3`
	countBrought = `
UPDATE upstreams u SET subscribers = n.subscribers, missing = CASE WHEN $3 THEN n.missing ELSE u.missing END
FROM (
  SELECT count(*) AS subscribers, count(*) FILTER (WHERE s.last_sweep < $4) AS missing
  FROM upstream_subscribers s
  WHERE s.company_id = $1 AND s.upstream_id = $2
) AS n
WHERE u.company_id = $1 AND u.upstream_id = $2`
)

// Finish ends a pass; false where another worker has it.
func (s *Store) Finish(ctx context.Context, job *upstream.Job, outcome upstream.Outcome) (isOurs bool, err error) {
	at := s.Moment()
	company, id := job.Company.CompanyID, job.Upstream.UpstreamID
	args := []any{company, id, job.Claim, textOf(listed(outcome.Progress)), outcome.Records, job.StartedAt, at}
	if outcome.Err != "" {
		n, err := pg.Affected(ctx, s.Pool, failPass, append(args, at.Add(upstream.Next(outcome.Every, job.Attempts)), outcome.Err)...)
		return n > 0, err
	}
	refusals := pq.StringArray(append([]string{}, outcome.Refusals...))
	args = append(args, at.Add(outcome.Every), job.CompleteUntil(), job.IsSweep, job.Sweep, outcome.Refused, refusals, outcome.Lowered, outcome.Held, job.ClaimedAt)
	err = pg.InTx(ctx, s.Pool, func(tx *sqlx.Tx) error {
		n, err := pg.Affected(ctx, tx, succeedPass, args...)
		if isOurs = n > 0; err != nil || !isOurs {
			return err
		}
		_, err = pg.Affected(ctx, tx, countBrought, company, id, job.IsSweep, job.Sweep)
		return err
	})
	return isOurs, err
}

// errLost ends a pass that is another worker's, or of an upstream that is no more.
var errLost = &domain.Error{Kind: domain.KindUnavailable, Message: "the pass belongs to another worker, or the upstream was removed"}

const holdClaim = `SELECT u.claim FROM upstreams u WHERE u.company_id = $1 AND u.upstream_id = $2 AND u.claim = $3 FOR KEY SHARE`

// holding runs do in a transaction in which the upstream is not removed.
func (s *Store) holding(ctx context.Context, job *upstream.Job, do func(tx *sqlx.Tx) error) error {
	return pg.Retry(ctx, func() error {
		return pg.InTx(ctx, s.Pool, func(tx *sqlx.Tx) error {
			_, err := pg.GetOne[struct{ Claim int64 }](ctx, tx, errLost, holdClaim, job.Company.CompanyID, job.Upstream.UpstreamID, job.Claim)
			if err != nil {
				return err
			}
			return do(tx)
		})
	})
}

const ownSubscribers = `
INSERT INTO upstream_subscribers AS s (company_id, physical_id, upstream_id, first_sweep, last_sweep)
SELECT own.company_id, n.physical_id, $2, $3, $3
FROM companies own
CROSS JOIN unnest($4::text[]) AS n(physical_id)
WHERE own.company_id = $1
ORDER BY n.physical_id
ON CONFLICT (company_id, physical_id) DO UPDATE SET last_sweep = greatest(s.last_sweep, excluded.last_sweep)
WHERE s.upstream_id = excluded.upstream_id
RETURNING s.physical_id, s.first_sweep = s.last_sweep AS is_new`

// Own notes that the other server has subscribers, and returns those that are of this
// upstream, and whether no sweep before had them. A subscriber is of the first upstream that
// has it.
func (s *Store) Own(ctx context.Context, job *upstream.Job, physicalIDs []string) (isNew map[string]bool, err error) {
	err = s.holding(ctx, job, func(tx *sqlx.Tx) error {
		rows, err := pg.SelectAll[struct {
			PhysicalID string
			IsNew      bool
		}](ctx, tx, ownSubscribers, job.Company.CompanyID, job.Upstream.UpstreamID, job.Sweep, pq.StringArray(physicalIDs))
		isNew = make(map[string]bool, len(rows))
		for _, row := range rows {
			isNew[row.PhysicalID] = row.IsNew
		}
		return err
	})
	return isNew, err
}

const listCards = `
SELECT s.physical_id, s.subscriber_id, s.terminate_date IS NOT NULL AS is_terminated, o.last_sweep >= $3 AS is_found, o.first_sweep >= $3 AS is_new
FROM upstream_subscribers o
JOIN subscribers s ON s.company_id = o.company_id AND s.physical_id = o.physical_id
WHERE o.company_id = $1 AND s.company_id = $1 AND o.upstream_id = $2
ORDER BY s.physical_id`

// Cards returns the subscribers that the upstream has brought.
func (s *Store) Cards(ctx context.Context, job *upstream.Job) ([]*upstream.Card, error) {
	return pg.SelectAll[upstream.Card](ctx, s.Pool, listCards, job.Company.CompanyID, job.Upstream.UpstreamID, job.Sweep)
}

const (
	carriersOf = `
FROM subscriber_tags st
JOIN subscribers s ON s.company_id = st.company_id AND s.key = st.subscriber_key
JOIN upstream_subscribers o ON o.company_id = s.company_id AND o.physical_id = s.physical_id
WHERE st.company_id = $1 AND s.company_id = $1 AND o.company_id = $1 AND o.upstream_id = $2 AND o.last_sweep >= $3
  AND NOT EXISTS (
    SELECT FROM upstream_writes w
    WHERE w.company_id = $1 AND w.physical_id = s.physical_id AND w.tag_name = st.tag_name AND w.is_attached AND w.refused_at IS NULL)`
	listCarriers = `SELECT s.physical_id` + carriersOf + ` AND st.tag_name = $4 ORDER BY s.physical_id`
	listTags     = `SELECT DISTINCT st.tag_name` + carriersOf
)

// Carriers returns the subscribers that the sweep has found and that carry a tag here.
func (s *Store) Carriers(ctx context.Context, job *upstream.Job, tag domain.TagName) ([]string, error) {
	return pg.SelectValues[string](ctx, s.Pool, listCarriers, job.Company.CompanyID, job.Upstream.UpstreamID, job.Sweep, string(tag))
}

// Tags returns the tags that subscribers carry here which the sweep has found.
func (s *Store) Tags(ctx context.Context, job *upstream.Job) ([]domain.TagName, error) {
	return pg.SelectValues[domain.TagName](ctx, s.Pool, listTags, job.Company.CompanyID, job.Upstream.UpstreamID, job.Sweep)
}

const (
	knownGroups   = `SELECT their_id, group_id FROM upstream_groups WHERE company_id = $1 AND upstream_id = $2`
	nameOfGroup   = `SELECT g.name FROM groups g WHERE g.company_id = $1 AND g.group_id = $2`
	isMapped      = `SELECT count(*) FROM upstream_groups WHERE company_id = $1 AND group_id = $2`
	highestGroup  = `SELECT COALESCE(max(g.group_id), 0) FROM groups g WHERE g.company_id = $1`
	highestMapped = `SELECT COALESCE(max(o.group_id), 0) FROM upstream_groups o WHERE o.company_id = $1`
	addGroup      = `
INSERT INTO groups (company_id, group_id, name, hide_tariff_details) VALUES ($1, $2, $3, $4)
ON CONFLICT DO NOTHING
RETURNING 1`
	mapGroup = `INSERT INTO upstream_groups (company_id, upstream_id, their_id, group_id) VALUES ($1, $2, $3, $4)`
)

// Groups returns which group here each group of the other server is. Those that are new are
// made, with their number where that is free, or is that of a group of the same name.
func (s *Store) Groups(ctx context.Context, job *upstream.Job, theirs []*domain.Group) (ours map[int64]int64, err error) {
	scope := domain.Whole(job.Company.CompanyID)
	err = s.holding(ctx, job, func(tx *sqlx.Tx) error {
		if _, err := companies.Lock(ctx, tx, scope.Company); err != nil {
			return err
		}
		rows, err := pg.SelectAll[struct{ TheirID, GroupID int64 }](ctx, tx, knownGroups, scope.Company, job.Upstream.UpstreamID)
		if err != nil {
			return err
		}
		ours = make(map[int64]int64, len(theirs))
		for _, row := range rows {
			ours[row.TheirID] = row.GroupID
		}
		created := 0
		for _, g := range theirs {
			if _, known := ours[g.GroupID]; known {
				continue
			}
			id, err := numberFor(ctx, tx, scope, g)
			if err != nil {
				return err
			}
			n, err := pg.Returned(ctx, tx, addGroup, scope.Company, id, g.Name, g.HideTariffDetails)
			if err != nil {
				return err
			}
			if _, err := pg.Affected(ctx, tx, mapGroup, scope.Company, job.Upstream.UpstreamID, g.GroupID, id); err != nil {
				return err
			}
			ours[g.GroupID] = id
			created += n
		}
		if entry := audit.Import("groups", map[domain.Outcome]int{domain.Created: created}); entry != nil {
			return audit.Record(ctx, tx, scope, *entry)
		}
		return nil
	})
	return ours, err
}

// numberFor returns the number that a group of the other server has here.
func numberFor(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, g *domain.Group) (int64, error) {
	mapped, err := pg.Count(ctx, tx, isMapped, scope.Company, g.GroupID)
	if err != nil {
		return 0, err
	}
	if mapped == 0 {
		taken, err := pg.GetOne[struct{ Name string }](ctx, tx, nil, nameOfGroup, scope.Company, g.GroupID)
		if err != nil || taken == nil || taken.Name == g.Name {
			return g.GroupID, err
		}
	}
	highest, err := pg.Count(ctx, tx, highestGroup, scope.Company)
	if err != nil {
		return 0, err
	}
	reserved, err := pg.Count(ctx, tx, highestMapped, scope.Company)
	if err != nil {
		return 0, err
	}
	if highest = max(highest, reserved); highest >= math.MaxInt32 {
		return 0, domain.Invalid("groupId", "the group %d is the highest that there can be", highest)
	}
	return int64(highest) + 1, nil
}

const takeCensus = `
SELECT count(*) AS active, count(*) FILTER (WHERE o.last_sweep >= $3) AS found, count(*) FILTER (WHERE o.last_sweep < $3 - 1) AS missing
FROM upstream_subscribers o
JOIN subscribers s ON s.company_id = o.company_id AND s.physical_id = o.physical_id
WHERE o.company_id = $1 AND s.company_id = $1 AND o.upstream_id = $2 AND s.is_active`

// Census counts the subscribers that are active here.
func (s *Store) Census(ctx context.Context, job *upstream.Job) (*upstream.Census, error) {
	return pg.GetOne[upstream.Census](ctx, s.Pool, nil, takeCensus, job.Company.CompanyID, job.Upstream.UpstreamID, job.Sweep)
}

const (
	missingSubscribers = `
SELECT s.physical_id FROM upstream_subscribers s
WHERE s.company_id = $1 AND s.upstream_id = $2 AND s.last_sweep < $3
ORDER BY s.last_sweep, s.physical_id
LIMIT $4`
	forgetSubscribers = `
DELETE FROM upstream_subscribers
WHERE company_id = $1 AND upstream_id = $2 AND last_sweep < $3 AND physical_id = ANY($4)
RETURNING physical_id`
	endSubscribers = `
WITH ended AS (
  SELECT s.key FROM subscribers s
  WHERE s.company_id = $1 AND s.physical_id = ANY($2) AND s.is_active
  ORDER BY s.key
  FOR NO KEY UPDATE
)
UPDATE subscribers s SET is_active = false, is_online = s.is_online AND s.has_feed, is_transferring = s.is_transferring AND s.has_feed
FROM ended e
WHERE s.company_id = $1 AND s.key = e.key
RETURNING s.physical_id`
)

// Missing returns subscribers that neither this sweep nor the one before has found, up to a
// number.
func (s *Store) Missing(ctx context.Context, job *upstream.Job, most int) ([]string, error) {
	return pg.SelectValues[string](ctx, s.Pool, missingSubscribers, job.Company.CompanyID, job.Upstream.UpstreamID, job.Sweep-1, most)
}

// End makes subscribers inactive that Missing has returned, and notes why in the audit log.
// What they used stays. One that the other server has again is copied again.
func (s *Store) End(ctx context.Context, job *upstream.Job, by *domain.Actor, physicalIDs []string) error {
	scope := domain.Whole(job.Company.CompanyID).By(by)
	return s.holding(ctx, job, func(tx *sqlx.Tx) error {
		if _, err := companies.Lock(ctx, tx, scope.Company); err != nil {
			return err
		}
		gone, err := pg.SelectValues[string](ctx, tx, forgetSubscribers, scope.Company, job.Upstream.UpstreamID, job.Sweep-1, pq.StringArray(physicalIDs))
		if err != nil {
			return err
		}
		ended, err := pg.SelectValues[string](ctx, tx, endSubscribers, scope.Company, pq.StringArray(gone))
		if err != nil || len(ended) == 0 {
			return err
		}
		if err := announce.Changed(ctx, tx, scope.Company, ended); err != nil {
			return err
		}
		slices.Sort(ended)
		for _, id := range ended {
			err := audit.Record(ctx, tx, scope, domain.AuditEntry{
				Action: domain.AuditUpstreamMissing, SubjectType: "Subscriber", SubjectID: id,
				Changes: append(domain.Changed("isActive", "true", "false"),
					domain.Became("reason", "the upstream "+job.Upstream.Name+" did not have it in two sweeps in a row")),
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}
