// Package tag keeps the tags of subscribers in PostgreSQL.
package tag

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/announce"
	"simgraph/db/audit"
	"simgraph/db/keyset"
	"simgraph/db/pg"
	"simgraph/db/upstream"
	"simgraph/domain"
	"simgraph/domain/query"
)

// Store keeps the tags of subscribers in PostgreSQL.
type Store struct{ pool *sqlx.DB }

var _ domain.Tags = (*Store)(nil)

// New returns the store on the pool.
func New(pool *sqlx.DB) *Store { return &Store{pool} }

// namesOfCompany looks up each name by the one before, so that it reads a page of the index for
// each tag rather than all of its subscribers.
const namesOfCompany = `
WITH RECURSIVE names AS (
  (SELECT st.tag_name AS name FROM subscriber_tags st WHERE st.company_id = $1 AND $2::bigint[] IS NULL ORDER BY st.tag_name LIMIT 1)
  UNION ALL
  SELECT (SELECT st.tag_name FROM subscriber_tags st WHERE st.company_id = $1 AND st.tag_name > n.name ORDER BY st.tag_name LIMIT 1)
  FROM names n
  WHERE n.name IS NOT NULL
)
SELECT name FROM names WHERE name IS NOT NULL`

// namesOfGroups are the names that subscribers of the groups $2 carry.
const namesOfGroups = `
SELECT DISTINCT st.tag_name AS name FROM subscriber_tags st
JOIN subscribers s ON s.company_id = st.company_id AND s.key = st.subscriber_key
WHERE st.company_id = $1 AND s.group_id = ANY($2)`

// tagsTable is the list of domain.TagFields.
func tagsTable(scope domain.Scope) keyset.Table {
	names := namesOfCompany
	if scope.Restricted() {
		names = namesOfGroups
	}
	return keyset.Table{
		Key: query.Field{Name: "name", Type: query.Text}, Select: `tag.name`,
		From:    ` FROM (` + names + `) tag WHERE TRUE`,
		Columns: map[string]keyset.Column{"name": {SQL: "tag.name"}},
	}
}

type listedTag struct {
	Name domain.TagName
	keyset.Keyed
}

// List implements domain.Tags.
func (t *Store) List(ctx context.Context, scope domain.Scope, listing domain.Listing) (domain.Slice[domain.TagName], error) {
	return keyset.Page(ctx, t.pool, tagsTable(scope), scope, listing, func(r *listedTag) domain.TagName { return r.Name }, pg.GroupsOf(scope))
}

// Count implements domain.Tags.
func (t *Store) Count(ctx context.Context, scope domain.Scope, listing domain.Listing) (int, error) {
	return tagsTable(scope).Count(ctx, t.pool, scope, listing, pg.GroupsOf(scope))
}

// To count each name by itself takes half of the time of a GROUP BY.
const (
	// countsOfCompany needs no look at the subscribers.
	countsOfCompany = `
SELECT n.name AS parent, c.number FROM unnest($3::text[]) AS n(name)
CROSS JOIN LATERAL (
  SELECT count(*) AS number FROM subscriber_tags st
  WHERE st.company_id = $1 AND $2::bigint[] IS NULL AND st.tag_name = n.name) AS c
WHERE c.number > 0`
	countsOfGroups = `
SELECT n.name AS parent, c.number FROM unnest($3::text[]) AS n(name)
CROSS JOIN LATERAL (
  SELECT count(*) AS number FROM subscriber_tags st
  JOIN subscribers s ON s.company_id = st.company_id AND s.key = st.subscriber_key
  WHERE st.company_id = $1 AND s.group_id = ANY($2) AND st.tag_name = n.name) AS c
WHERE c.number > 0`
)

// CountsOf implements domain.Tags.
func (t *Store) CountsOf(ctx context.Context, scope domain.Scope, tags []domain.TagName) (map[domain.TagName]int, error) {
	counts := countsOfCompany
	if scope.Restricted() {
		counts = countsOfGroups
	}
	return pg.CountEach[domain.TagName](ctx, t.pool, counts, []any{scope.Company, pg.GroupsOf(scope), pq.Array(tags)})
}

// tagsOfSubscribers has a row for each subscriber: three times as many, with a tag
// each, took the server as long to read as the subscribers themselves.
const tagsOfSubscribers = `
SELECT wanted.key, ARRAY(
  SELECT st.tag_name FROM subscriber_tags st
  WHERE st.company_id = $1 AND st.subscriber_key = wanted.key
  ORDER BY st.tag_name LIMIT $3 OFFSET $4) AS tags
FROM `

// OfMany implements domain.Tags. The keys come from subscribers that the scope
// showed.
func (t *Store) OfMany(ctx context.Context, scope domain.Scope, subscribers []int64, page domain.Page) (map[int64][]domain.TagName, error) {
	type row struct {
		Key  int64
		Tags pg.TextList[domain.TagName]
	}
	tags := make(map[int64][]domain.TagName, len(subscribers))
	from, wanted := "unnest($2::bigint[]) AS wanted(key)", any(pq.Int64Array(subscribers))
	if len(subscribers) == 1 {
		from, wanted = "(SELECT $2::bigint) AS wanted(key)", subscribers[0] // see pg.Is
	}
	args := []any{scope.Company, wanted, page.Limit, page.Offset}
	err := pg.EachRow(ctx, t.pool, tagsOfSubscribers+from, args, func(r row) error {
		if len(r.Tags) > 0 {
			tags[r.Key] = r.Tags
		}
		return nil
	})
	return tags, err
}

const numberOfTags = `
SELECT st.subscriber_key AS parent, count(*) AS number
FROM subscriber_tags st
WHERE st.company_id = $1 AND st.subscriber_key {is}($2)
GROUP BY st.subscriber_key`

// NumberOf implements domain.Tags. The keys come from subscribers that the
// scope showed.
func (t *Store) NumberOf(ctx context.Context, scope domain.Scope, subscribers []int64) (map[int64]int, error) {
	is, key := pg.Is(subscribers)
	return pg.CountEach[int64](ctx, t.pool, pg.Fill(numberOfTags, "is", is), []any{scope.Company, key})
}

// lockNamed locks the visible subscribers named in $3, in the order of their
// keys, and returns them: the writes of tags to one subscriber queue up.
const lockNamed = `
SELECT s.key, s.physical_id
FROM subscribers s
WHERE s.company_id = $1 AND ($2::bigint[] IS NULL OR s.group_id = ANY($2)) AND s.physical_id = ANY($3)
ORDER BY s.key
FOR NO KEY UPDATE`

const attachTag = `
INSERT INTO subscriber_tags (company_id, subscriber_key, tag_name)
SELECT s.company_id, s.key, $3 FROM subscribers s
WHERE s.company_id = $1 AND s.key = ANY($2)
ON CONFLICT DO NOTHING
RETURNING subscriber_key`

// Attach implements domain.Tags.
func (t *Store) Attach(ctx context.Context, scope domain.Scope, tag domain.TagName, physicalIDs []string) (attached int, err error) {
	err = pg.InTx(ctx, t.pool, func(tx *sqlx.Tx) error {
		keys, err := lockSubscribers(ctx, tx, scope, physicalIDs)
		if err != nil {
			return err
		}
		attached, err = pg.Returned(ctx, tx, attachTag, scope.Company, pq.Int64Array(keys), string(tag))
		if err != nil || attached == 0 {
			return err
		}
		if err := upstream.WriteThrough(ctx, tx, scope, upstream.EditsOf(tag, physicalIDs, true)); err != nil {
			return err
		}
		if err := announce.Changed(ctx, tx, scope.Company, physicalIDs); err != nil {
			return err
		}
		return auditTag(ctx, tx, scope, domain.AuditTagAttach, tag, physicalIDs)
	})
	return attached, err
}

const detachTag = `
DELETE FROM subscriber_tags
WHERE company_id = $1 AND subscriber_key = ANY($2) AND tag_name = $3`

// Detach implements domain.Tags.
func (t *Store) Detach(ctx context.Context, scope domain.Scope, tag domain.TagName, physicalIDs []string) error {
	return pg.InTx(ctx, t.pool, func(tx *sqlx.Tx) error {
		keys, err := lockSubscribers(ctx, tx, scope, physicalIDs)
		if err != nil {
			return err
		}
		n, err := pg.Affected(ctx, tx, detachTag, scope.Company, pq.Int64Array(keys), string(tag))
		if err == nil && n < len(keys) {
			return &domain.Error{Kind: domain.KindNotFound, Field: "tagName", Message: fmt.Sprintf("the tag %q is not attached", tag)}
		}
		if err != nil {
			return err
		}
		if err := upstream.WriteThrough(ctx, tx, scope, upstream.EditsOf(tag, physicalIDs, false)); err != nil {
			return err
		}
		if err := upstream.RestoreEdits(ctx, tx, scope, physicalIDs); err != nil {
			return err
		}
		if err := announce.Changed(ctx, tx, scope.Company, physicalIDs); err != nil {
			return err
		}
		return auditTag(ctx, tx, scope, domain.AuditTagDetach, tag, physicalIDs)
	})
}

func auditTag(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, action string, tag domain.TagName, physicalIDs []string) error {
	return audit.Record(ctx, tx, scope, domain.AuditEntry{
		Action: action, SubjectType: "Tag", SubjectID: string(tag), PhysicalIDs: physicalIDs,
		Changes: []domain.AuditChange{audit.Names("physicalIds", physicalIDs)},
	})
}

// lockSubscribers returns the keys of the subscribers, or NotFound for the
// first that the scope does not show.
func lockSubscribers(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, physicalIDs []string) ([]int64, error) {
	type row struct {
		Key        int64
		PhysicalID string
	}
	rows, err := pg.SelectAll[row](ctx, tx, lockNamed, scope.Company, pg.GroupsOf(scope), pq.StringArray(physicalIDs))
	if err != nil {
		return nil, err
	}
	found := pg.Keyed(rows, func(r *row) string { return r.PhysicalID })
	for i, id := range physicalIDs {
		if found[id] == nil {
			return nil, domain.At(domain.Item("physicalIds", i), domain.NotFound("", "subscriber", id))
		}
	}
	keys := make([]int64, len(rows))
	for i, r := range rows {
		keys[i] = r.Key
	}
	return keys, nil
}
