package tag

import (
	"context"
	"maps"
	"slices"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/announce"
	"simgraph/db/pg"
	"simgraph/db/upstream"
	"simgraph/domain"
)

const carriedTags = `
SELECT st.subscriber_key, st.tag_name
FROM subscriber_tags st
WHERE st.company_id = $1 AND st.subscriber_key = ANY($2) AND st.tag_name = ANY($3)
ORDER BY st.subscriber_key, st.tag_name`

// Carried returns which of the tags the subscribers carry, by key.
func Carried(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, keys []int64, tags []domain.TagName) (map[int64][]domain.TagName, error) {
	type row struct {
		SubscriberKey int64
		TagName       domain.TagName
	}
	carried := map[int64][]domain.TagName{}
	if len(tags) == 0 {
		return carried, nil
	}
	err := pg.EachRow(ctx, tx, carriedTags, []any{company, pq.Int64Array(keys), pq.Array(tags)}, func(r row) error {
		carried[r.SubscriberKey] = append(carried[r.SubscriberKey], r.TagName)
		return nil
	})
	return carried, err
}

const (
	attachTags = `
INSERT INTO subscriber_tags (company_id, subscriber_key, tag_name)
SELECT s.company_id, s.key, l.tag_name
FROM subscribers s
JOIN unnest($2::bigint[], $3::text[]) AS l(key, tag_name) ON l.key = s.key
WHERE s.company_id = $1
ON CONFLICT DO NOTHING`
	detachTags = `
DELETE FROM subscriber_tags st
USING unnest($2::bigint[], $3::text[]) AS l(key, tag_name)
WHERE st.company_id = $1 AND st.subscriber_key = l.key AND st.tag_name = l.tag_name`
)

// Change is a tag that a subscriber gets, or loses.
type Change struct {
	Key        int64
	PhysicalID string
	Tag        domain.TagName
	Attach     bool
}

// Save writes changes of the tags of subscribers that are locked, and announces
// them.
func Save(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, changes []Change) error {
	for sql, attach := range map[string]bool{attachTags: true, detachTags: false} {
		var keys pq.Int64Array
		var tags pq.StringArray
		for _, c := range changes {
			if c.Attach == attach {
				keys, tags = append(keys, c.Key), append(tags, string(c.Tag))
			}
		}
		if len(keys) == 0 {
			continue
		}
		if _, err := tx.ExecContext(ctx, sql, company, keys, tags); err != nil {
			return err
		}
	}
	changed := map[string]bool{}
	edits := map[string]upstream.LabelEdit{}
	for _, c := range changes {
		changed[c.PhysicalID] = true
		edits[c.PhysicalID+"\x1f"+string(c.Tag)] = upstream.LabelEdit{PhysicalID: c.PhysicalID, Tag: string(c.Tag), IsAttached: c.Attach}
	}
	if len(changed) == 0 {
		return nil
	}
	if err := upstream.WriteThrough(ctx, tx, domain.Whole(company), slices.Collect(maps.Values(edits))); err != nil {
		return err
	}
	return announce.Changed(ctx, tx, company, slices.Sorted(maps.Keys(changed)))
}
