package upstream_test

import (
	"fmt"
	"testing"

	"github.com/jmoiron/sqlx"

	"simgraph/db/fleettest"
	"simgraph/db/pg"
	store "simgraph/db/upstream"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

// A pass makes edits again that the other server may not have yet: those of its upstream and
// of what it has written, unless the other server refused them.
func TestAPassRestoresEditsOfItsUpstreamThatWereNotRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.create("old").UpstreamID
	cases := []struct{ name, upstream, sent, refused, want string }{
		{"waiting", "0", "NULL", "NULL", "mine new"},
		{"sent", "0", "now()", "NULL", "mine new"},
		{"refused", "0", "NULL", "now()", "theirs gone"},
		{"of another upstream", "1", "NULL", "NULL", "theirs gone"},
		{"not written by the pass", "0", "NULL", "NULL", "theirs gone"},
	}
	var ids []string
	fatal.If(t, f.pool.Select(&ids, `SELECT physical_id FROM subscribers WHERE company_id = $1 ORDER BY physical_id LIMIT $2`, fleettest.Acme, len(cases)))
	f.pool.MustExec(`DELETE FROM subscriber_tags`)
	for i, c := range cases {
		f.pool.MustExec(`UPDATE subscribers SET nickname = 'theirs' WHERE physical_id = $1`, ids[i])
		f.pool.MustExec(`INSERT INTO subscriber_tags (company_id, subscriber_key, tag_name) SELECT company_id, key, 'gone' FROM subscribers WHERE physical_id = $1`, ids[i])
		f.pool.MustExec(fmt.Sprintf(`
INSERT INTO upstream_writes (company_id, upstream_id, physical_id, tag_name, nickname, is_attached, sent_at, refused_at, refusal)
SELECT 1, %d + %s, '%s', e.tag_name, e.nickname, e.is_attached, %s::timestamptz, %s::timestamptz, CASE WHEN %s IS NOT NULL THEN 'no' END
FROM (VALUES ('', 'mine', false), ('new', '', true), ('gone', '', false)) AS e(tag_name, nickname, is_attached)`, id, c.upstream, ids[i], c.sent, c.refused, c.refused))
	}
	fatal.If(t, pg.InTx(t.Context(), f.pool, func(tx *sqlx.Tx) error {
		return store.RestoreEdits(t.Context(), tx, domain.Scope{Company: fleettest.Acme, Upstream: id}, ids[:len(ids)-1])
	}))
	for i, c := range cases {
		var got string
		fatal.If(t, f.pool.Get(&got, `
SELECT s.nickname || ' ' || (SELECT string_agg(st.tag_name, ' ') FROM subscriber_tags st WHERE st.company_id = s.company_id AND st.subscriber_key = s.key)
FROM subscribers s WHERE s.company_id = $2 AND s.physical_id = $1`, ids[i], fleettest.Acme))
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
