package upstream

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/upstream"
)

const (
	// waitingWrites are in any order: one that fails as if all did must not be tried first
	// each time.
	waitingWrites = `
SELECT w.physical_id, w.tag_name, w.nickname, w.is_attached, w.version FROM upstream_writes w
WHERE w.company_id = $1 AND w.upstream_id = $2 AND w.sent_at IS NULL AND w.refused_at IS NULL
ORDER BY random()
LIMIT $3`
	// noteSent and noteRefused leave an edit alone that was made since.
	noteSent    = `UPDATE upstream_writes SET sent_at = $6 WHERE company_id = $1 AND upstream_id = $2 AND physical_id = $3 AND tag_name = $4 AND version = $5`
	noteRefused = `UPDATE upstream_writes SET refused_at = $6, refusal = $7 WHERE company_id = $1 AND upstream_id = $2 AND physical_id = $3 AND tag_name = $4 AND version = $5`
)

// Writes returns edits that wait to be sent, up to a number.
func (s *Store) Writes(ctx context.Context, job *upstream.Job, most int) ([]*upstream.Write, error) {
	return pg.SelectAll[upstream.Write](ctx, s.Pool, waitingWrites, job.Company.CompanyID, job.Upstream.UpstreamID, most)
}

// Written notes that an edit was sent, or why the other server refused it; "" where it did
// not.
func (s *Store) Written(ctx context.Context, job *upstream.Job, w *upstream.Write, refusal string) error {
	return s.holding(ctx, job, func(tx *sqlx.Tx) error {
		args := []any{job.Company.CompanyID, job.Upstream.UpstreamID, w.PhysicalID, w.TagName, w.Version, s.Moment()}
		sql := noteSent
		if refusal != "" {
			sql, args = noteRefused, append(args, refusal)
		}
		_, err := pg.Affected(ctx, tx, sql, args...)
		return err
	})
}

const (
	// putOffWrites is given when they are sent again, by the attempts that have failed.
	putOffWrites = `
UPDATE upstreams SET write_attempts = write_attempts + 1, write_error = $4,
  writes_due_at = ($5::timestamptz[])[least(write_attempts + 1, cardinality($5::timestamptz[]))]
WHERE company_id = $1 AND upstream_id = $2 AND claim = $3`
	writesSucceed = `
UPDATE upstreams SET write_attempts = 0, write_error = NULL, writes_due_at = NULL
WHERE company_id = $1 AND upstream_id = $2 AND claim = $3 AND write_error IS NOT NULL`
)

// PutOff has edits be sent later, after a reason why none can be sent; "" ends that.
func (s *Store) PutOff(ctx context.Context, job *upstream.Job, reason string) error {
	company, id := job.Company.CompanyID, job.Upstream.UpstreamID
	if reason == "" {
		_, err := pg.Affected(ctx, s.Pool, writesSucceed, company, id, job.Claim)
		return err
	}
	var due pq.StringArray
	for attempt := 1; len(due) < 2 || upstream.Next(0, attempt) > upstream.Next(0, attempt-1); attempt++ {
		due = append(due, s.Moment().Add(upstream.Next(0, attempt)).Format(time.RFC3339Nano))
	}
	_, err := pg.Affected(ctx, s.Pool, putOffWrites, company, id, job.Claim, reason, due)
	return err
}

const (
	countWrites = `
SELECT w.upstream_id, count(*) FILTER (WHERE w.sent_at IS NULL AND w.refused_at IS NULL) AS waiting, count(*) FILTER (WHERE w.refused_at IS NOT NULL) AS refused
FROM upstream_writes w
WHERE w.company_id = $1 AND w.upstream_id = ANY($2)
GROUP BY w.upstream_id`
	refusedWrites = `
SELECT w.physical_id, w.tag_name, w.refusal FROM upstream_writes w
WHERE w.company_id = $1 AND w.upstream_id = $2 AND w.refused_at IS NOT NULL
ORDER BY w.refused_at DESC, w.physical_id, w.tag_name
LIMIT $3`
)

// countWritesOf counts the edits of upstreams that are written through.
func countWritesOf(ctx context.Context, in sqlx.QueryerContext, scope domain.Scope, all ...*upstream.Upstream) error {
	written := map[int64]*upstream.Upstream{}
	var ids pq.Int64Array
	for _, of := range all {
		if of.Labels == upstream.WrittenThrough {
			written[of.UpstreamID], ids = of, append(ids, of.UpstreamID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	counts, err := pg.SelectAll[struct{ UpstreamID, Waiting, Refused int64 }](ctx, in, countWrites, scope.Company, ids)
	if err != nil {
		return err
	}
	for _, n := range counts {
		of := written[n.UpstreamID]
		if of.Writes.Waiting, of.Writes.Refused = n.Waiting, n.Refused; n.Refused == 0 {
			continue
		}
		refused, err := pg.SelectAll[struct{ PhysicalID, TagName, Refusal string }](ctx, in, refusedWrites, scope.Company, n.UpstreamID, upstream.MaxRefusals)
		if err != nil {
			return err
		}
		for _, r := range refused {
			what := "nickname of "
			if r.TagName != "" {
				what = "tag " + r.TagName + " on "
			}
			of.Writes.Refusals = append(of.Writes.Refusals, what+r.PhysicalID+": "+r.Refusal)
		}
	}
	return nil
}

const (
	deletedAlerts = `
SELECT d.rule_type, d.target, d.lower_threshold, d.upper_threshold, d.copies FROM upstream_deleted_alerts d
WHERE d.company_id = $1 AND d.upstream_id = $2`
	seeDeleted = `
UPDATE upstream_deleted_alerts d SET last_sweep = $3
FROM unnest($4::text[], $5::text[], $6::bigint[], $7::bigint[]) AS l(rule_type, target, lower_threshold, upper_threshold)
WHERE d.company_id = $1 AND d.upstream_id = $2 AND d.rule_type = l.rule_type AND d.target = l.target
  AND d.lower_threshold = l.lower_threshold AND d.upper_threshold = l.upper_threshold`
	// forgetDeleted forgets alerts that the other server has not had for a week of sweeps.
	forgetDeleted = `DELETE FROM upstream_deleted_alerts WHERE company_id = $1 AND upstream_id = $2 AND last_sweep < $3 - 7`
)

// DeletedAlerts notes which alerts the other server has, and returns those that were deleted
// here.
func (s *Store) DeletedAlerts(ctx context.Context, job *upstream.Job, theirs []domain.AlertImport) (deleted []*upstream.DeletedAlert, err error) {
	company, id := job.Company.CompanyID, job.Upstream.UpstreamID
	texts := func(field func(domain.AlertImport) string) any { return pq.StringArray(pg.Pluck(theirs, field)) }
	numbers := func(field func(domain.AlertImport) int64) any { return pq.Int64Array(pg.Pluck(theirs, field)) }
	err = s.holding(ctx, job, func(tx *sqlx.Tx) error {
		_, err := pg.Affected(ctx, tx, seeDeleted, company, id, job.Sweep,
			texts(func(a domain.AlertImport) string { return string(a.RuleType) }), texts(func(a domain.AlertImport) string { return a.Target }),
			numbers(func(a domain.AlertImport) int64 { return a.LowerThreshold }), numbers(func(a domain.AlertImport) int64 { return a.UpperThreshold }))
		if err != nil {
			return err
		}
		if _, err := pg.Affected(ctx, tx, forgetDeleted, company, id, job.Sweep); err != nil {
			return err
		}
		deleted, err = pg.SelectAll[upstream.DeletedAlert](ctx, tx, deletedAlerts, company, id)
		return err
	})
	return deleted, err
}
