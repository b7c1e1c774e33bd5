package db_test

import (
	"slices"
	"testing"

	"simgraph/db"
	"simgraph/db/dbtest"
	"simgraph/internal/fatal"
)

// Names that were stored before they had a normal form get it by a migration.
func TestStoredNamesAreBroughtIntoTheirNormalForm(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	migrator, err := db.Migrator(pool)
	fatal.If(t, err)
	if _, err := migrator.DownTo(t.Context(), 14); err != nil {
		t.Fatal(err)
	}
	pool.MustExec(`INSERT INTO companies VALUES (1, 'acme', 'Acme')`)
	pool.MustExec(`INSERT INTO operators VALUES ('1', 'Operator')`)
	pool.MustExec(`INSERT INTO tariffs (company_id, name, line_rental, currency) VALUES (1, 't', 1, 'GBP')`)
	pool.MustExec(`
INSERT INTO subscribers (company_id, kind, physical_id, subscriber_id, imsi, nickname, operator_code, tariff_name, connection_date, expiry_date,
  contract_length, is_barred, is_active, subscriber_type, is_transferring, is_online)
SELECT 1, 'cellular', n::text, n::text, '', nickname, '1', 't', now(), now(), 1, false, true, 'physical', false, false
FROM unnest($1::text[]) WITH ORDINALITY AS x (nickname, n)`, `{"van","Cafe`+"\u0301"+`","a`+"\u200b"+`b`+"\u202e"+`",""}`)
	pool.MustExec(`INSERT INTO groups (company_id, group_id, name) VALUES (1, 1, 'Vans'), (1, 2, $1), (1, 3, $2)`, "Va\u2066ns", "\u200b")
	if _, err := migrator.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	var nicknames, groups []string
	for query, into := range map[string]*[]string{
		`SELECT nickname FROM subscribers ORDER BY key`: &nicknames, `SELECT name FROM groups ORDER BY group_id`: &groups,
	} {
		fatal.If(t, pool.SelectContext(t.Context(), into, query))
	}
	if !slices.Equal(nicknames, []string{"van", "Caf\u00e9", "a\u200bb\u202e", ""}) || !slices.Equal(groups, []string{"Vans", "Va\u2066ns", "\u200b"}) {
		t.Errorf("%q %q", nicknames, groups)
	}
}
