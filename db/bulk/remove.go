package bulk

import (
	"context"

	"github.com/lib/pq"

	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/bulk"
)

// usesOf returns what keeps a subscriber that was created, in words. Usage of records, of
// days and of addresses is not looked at: what is booked of it is in subscriber_periods and
// subscriber_seen too, in the same transaction. In which groups it was matters to usage alone.
const (
	usesOf = `
SELECT s.key, CASE
  WHEN EXISTS (SELECT FROM subscriber_seen n WHERE n.company_id = $1 AND n.subscriber_key = s.key)
    OR EXISTS (SELECT FROM subscriber_periods p WHERE p.company_id = $1 AND p.subscriber_key = s.key) THEN 'usage'
  WHEN EXISTS (SELECT FROM usage_sessions u WHERE u.company_id = $1 AND u.subscriber_key = s.key)
    OR EXISTS (SELECT FROM sessions n WHERE n.company_id = $1 AND n.subscriber_key = s.key)
    OR EXISTS (SELECT FROM session_values v WHERE v.company_id = $1 AND v.subscriber_key = s.key)
    OR EXISTS (SELECT FROM condition_sources c WHERE c.company_id = $1 AND c.subscriber_key = s.key)
    OR EXISTS (SELECT FROM condition_values c WHERE c.company_id = $1 AND c.subscriber_key = s.key) THEN 'sessions'
  WHEN EXISTS (SELECT FROM alerts a WHERE a.company_id = $1 AND a.subscriber_key = s.key)
    OR EXISTS (SELECT FROM condition_alerts a WHERE a.company_id = $1 AND a.subscriber_key = s.key) THEN 'alerts'
  WHEN EXISTS (SELECT FROM alert_log l WHERE l.company_id = $1 AND l.subscriber_key = s.key)
    OR EXISTS (SELECT FROM condition_log l WHERE l.company_id = $1 AND l.subscriber_key = s.key) THEN 'alerts that fired'
  WHEN EXISTS (SELECT FROM commands c WHERE c.company_id = $1 AND c.subscriber_key = s.key) THEN 'commands to its carrier'
  WHEN EXISTS (SELECT FROM subscribers p WHERE p.company_id = $1 AND p.parent_key = s.key) THEN 'profiles'
  WHEN EXISTS (SELECT FROM upstream_subscribers u WHERE u.company_id = $1 AND u.physical_id = s.physical_id) THEN 'an upstream'
  ELSE '' END AS has
FROM subscribers s
WHERE s.company_id = $1 AND s.key = ANY($2)`
	removeMemberships = `DELETE FROM group_memberships WHERE company_id = $1 AND subscriber_key = ANY($2)`
	removeMoves       = `DELETE FROM subscriber_moves WHERE company_id = $1 AND subscriber_key = ANY($2)`
	removeTags        = `DELETE FROM subscriber_tags WHERE company_id = $1 AND subscriber_key = ANY($2)`
	removeSubscribers = `DELETE FROM subscribers WHERE company_id = $1 AND key = ANY($2)`
)

// remove removes the subscribers of rows that take a creation back, profiles before what
// they are on. One that has got something since is skipped.
func (c *chunk) remove(ctx context.Context) error {
	var profiles, others []*chunkRow
	for _, r := range c.rows {
		switch {
		case r.outcome != bulk.Removed:
		case r.before.ParentKey != nil:
			profiles = append(profiles, r)
		default:
			others = append(others, r)
		}
	}
	for _, rows := range [][]*chunkRow{profiles, others} {
		if err := c.removeUnused(ctx, rows); err != nil {
			return err
		}
	}
	return nil
}

func (c *chunk) removeUnused(ctx context.Context, rows []*chunkRow) error {
	if len(rows) == 0 {
		return nil
	}
	type use struct {
		Key int64
		Has string
	}
	keys := pg.Pluck(rows, func(r *chunkRow) int64 { return r.before.Key })
	found, err := pg.SelectAll[use](ctx, c.tx, usesOf, c.company, pq.Int64Array(keys))
	if err != nil {
		return err
	}
	uses := make(map[int64]string, len(found))
	for _, u := range found {
		uses[u.Key] = u.Has
	}
	var unused pq.Int64Array
	for _, r := range rows {
		if has := uses[r.before.Key]; has != "" {
			r.skip(domain.Invalid("physicalId", "the subscriber has %s since it was created, and stays", has))
			continue
		}
		unused = append(unused, r.before.Key)
	}
	for _, sql := range []string{removeMemberships, removeMoves, removeTags, removeSubscribers} {
		if _, err := pg.Affected(ctx, c.tx, sql, c.company, unused); err != nil {
			return err
		}
	}
	return nil
}
