package upstream

import (
	"context"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/pg"
	"simgraph/domain"
)

const (
	// isWrittenThrough leaves the subscribers of upstreams that edits of nicknames and tags are
	// sent to.
	isWrittenThrough = `
JOIN upstream_subscribers o ON o.company_id = $1 AND o.physical_id = l.physical_id
JOIN upstreams u ON u.company_id = $1 AND u.upstream_id = o.upstream_id AND u.is_written_through
WHERE o.company_id = $1 AND u.company_id = $1`
	// anyWrittenThrough comes first, since most companies have no such upstream: Citus sends on
	// what reads one table, and plans what reads several again for each edit.
	anyWrittenThrough = `SELECT FROM upstreams WHERE company_id = $1 AND is_written_through LIMIT 1`
	// insertWrites keeps the newest edit of each nickname and tag.
	insertWrites = `
INSERT INTO upstream_writes AS w (company_id, upstream_id, physical_id, tag_name, nickname, is_attached)
SELECT DISTINCT ON (l.physical_id, l.tag_name) o.company_id, o.upstream_id, l.physical_id, l.tag_name, l.nickname, l.is_attached
FROM unnest($2::text[], $3::text[], $4::text[], $5::boolean[]) AS l(physical_id, tag_name, nickname, is_attached)` + isWrittenThrough + `
ORDER BY l.physical_id, l.tag_name
ON CONFLICT (company_id, physical_id, tag_name) DO UPDATE SET upstream_id = excluded.upstream_id, nickname = excluded.nickname, is_attached = excluded.is_attached,
  version = w.version + 1, sent_at = NULL, refused_at = NULL, refusal = NULL`
)

// LabelEdit is a nickname that was edited, or a tag that was put on or taken off.
type LabelEdit struct {
	PhysicalID    string
	Tag, Nickname string
	IsAttached    bool
}

// WriteThrough has edits sent to the other servers of the upstreams whose nicknames and tags
// are written through. It is for the transaction that makes them.
func WriteThrough(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, edits []LabelEdit) error {
	if scope.Upstream != 0 || len(edits) == 0 {
		return nil
	}
	if n, err := pg.Returned(ctx, tx, anyWrittenThrough, scope.Company); err != nil || n == 0 {
		return err
	}
	texts := func(field func(LabelEdit) string) any { return pq.StringArray(pg.Pluck(edits, field)) }
	_, err := pg.Affected(ctx, tx, insertWrites, scope.Company,
		texts(func(e LabelEdit) string { return e.PhysicalID }), texts(func(e LabelEdit) string { return e.Tag }), texts(func(e LabelEdit) string { return e.Nickname }),
		pq.BoolArray(pg.Pluck(edits, func(e LabelEdit) bool { return e.IsAttached })))
	return err
}

// EditsOf are those of a tag on subscribers.
func EditsOf(tag domain.TagName, physicalIDs []string, isAttached bool) []LabelEdit {
	return pg.Pluck(physicalIDs, func(id string) LabelEdit { return LabelEdit{PhysicalID: id, Tag: string(tag), IsAttached: isAttached} })
}

const haveOurLabels = `SELECT count(*) FROM upstreams WHERE company_id = $1 AND upstream_id = $2 AND labels = 'ours'`

// KeepsNicknames reports whether a pass leaves nicknames alone, also those that are edited
// while it stores a page.
func KeepsNicknames(ctx context.Context, tx *sqlx.Tx, scope domain.Scope) (bool, error) {
	if scope.Upstream == 0 {
		return false, nil
	}
	n, err := pg.Count(ctx, tx, haveOurLabels, scope.Company, scope.Upstream)
	return n > 0, err
}

const (
	areWrittenThrough = `SELECT count(*) FROM upstreams WHERE company_id = $1 AND is_written_through`
	// lockItems locks in the order in which the writers of tags do.
	lockItems = `
SELECT s.physical_id, s.nickname FROM subscribers s
WHERE s.company_id = $1 AND s.physical_id = ANY($2)
ORDER BY s.key
FOR NO KEY UPDATE`
)

// Renamed returns the edits of nicknames that the items make, and locks the subscribers; none
// where the company writes nothing through.
func Renamed(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, items []*domain.Subscriber) (edits []LabelEdit, err error) {
	if scope.Upstream != 0 {
		return nil, nil
	}
	n, err := pg.Count(ctx, tx, areWrittenThrough, scope.Company)
	if err != nil || n == 0 {
		return nil, err
	}
	ids := pg.Pluck(items, func(s *domain.Subscriber) string { return s.PhysicalID })
	rows, err := pg.SelectAll[struct{ PhysicalID, Nickname string }](ctx, tx, lockItems, scope.Company, pq.StringArray(ids))
	if err != nil {
		return nil, err
	}
	before := make(map[string]string, len(rows))
	for _, r := range rows {
		before[r.PhysicalID] = r.Nickname
	}
	for _, s := range items {
		if nickname, known := before[s.PhysicalID]; known && nickname != s.Nickname {
			edits = append(edits, LabelEdit{PhysicalID: s.PhysicalID, Nickname: s.Nickname})
		}
	}
	return edits, nil
}

// Edits that were sent count, too: what the pass has read may be older.
const (
	restoreNicknames = `
UPDATE subscribers s SET nickname = w.nickname
FROM upstream_writes w
WHERE s.company_id = $1 AND w.company_id = $1 AND w.upstream_id = $2 AND w.physical_id = ANY($3) AND w.tag_name = '' AND w.refused_at IS NULL
  AND s.physical_id = w.physical_id AND s.nickname <> w.nickname`
	restoreAttached = `
INSERT INTO subscriber_tags (company_id, subscriber_key, tag_name)
SELECT s.company_id, s.key, w.tag_name
FROM upstream_writes w
JOIN subscribers s ON s.company_id = $1 AND s.physical_id = w.physical_id
WHERE w.company_id = $1 AND w.upstream_id = $2 AND w.physical_id = ANY($3) AND w.tag_name <> '' AND w.is_attached AND w.refused_at IS NULL
ORDER BY s.key, w.tag_name
ON CONFLICT DO NOTHING`
	restoreDetached = `
DELETE FROM subscriber_tags st
USING upstream_writes w, subscribers s
WHERE st.company_id = $1 AND w.company_id = $1 AND s.company_id = $1 AND w.upstream_id = $2 AND w.physical_id = ANY($3) AND w.tag_name = st.tag_name
  AND NOT w.is_attached AND w.refused_at IS NULL AND s.physical_id = w.physical_id AND st.subscriber_key = s.key`
)

// RestoreEdits makes nicknames and tags again what people made them that the other server
// does not have yet. It runs after the writes of a pass, whose locks keep the rows: what was
// edited before is seen, and what is edited later comes after.
func RestoreEdits(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, physicalIDs []string) error {
	if scope.Upstream == 0 {
		return nil
	}
	for _, sql := range []string{restoreNicknames, restoreAttached, restoreDetached} {
		if _, err := pg.Affected(ctx, tx, sql, scope.Company, scope.Upstream, pq.StringArray(physicalIDs)); err != nil {
			return err
		}
	}
	return nil
}
