// Package restoring keeps what is known of a restore until all of it is verified,
// in a schema of its own: nothing there is a company's.
package restoring

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/pg"
)

// Schema is where it is kept. It belongs to no backup.
const Schema = "simgraph_restore"

// Restore is a restore that began and was not verified to its end.
type Restore struct {
	File    string
	BegunAt time.Time
	// Filled reports that the file was restored.
	Filled bool
	// Verified are the companies that are, by their external ids.
	Verified pq.StringArray
}

const (
	noted = `SELECT to_regclass('` + Schema + `.restore') IS NOT NULL`
	find  = `
SELECT r.file, r.begun_at, to_regclass('public.goose_db_version') IS NOT NULL AS filled,
  ARRAY(SELECT v.company FROM ` + Schema + `.verified v) AS verified
FROM ` + Schema + `.restore r`
	// The schemas of SQL roles are left, with nothing in them, where DROP SCHEMA public CASCADE
	// emptied the database. The file makes them.
	begin = `
DROP SCHEMA IF EXISTS analyst, analyst_login;
CREATE SCHEMA IF NOT EXISTS ` + Schema + `;
CREATE TABLE IF NOT EXISTS ` + Schema + `.restore (file text NOT NULL, begun_at timestamptz NOT NULL);
CREATE TABLE IF NOT EXISTS ` + Schema + `.verified (company text PRIMARY KEY);
TRUNCATE ` + Schema + `.restore, ` + Schema + `.verified`
	note         = `INSERT INTO ` + Schema + `.restore (file, begun_at) VALUES ($1, $2)`
	noteVerified = `INSERT INTO ` + Schema + `.verified (company) VALUES ($1) ON CONFLICT DO NOTHING`
	end          = `DROP SCHEMA IF EXISTS ` + Schema + ` CASCADE`
)

// Find returns the restore that is not verified to its end; nil for none.
func Find(ctx context.Context, pool *sqlx.DB) (*Restore, error) {
	var there bool
	if err := pool.GetContext(ctx, &there, noted); err != nil || !there {
		return nil, pg.Translate(err)
	}
	return pg.GetOne[Restore](ctx, pool, nil, find)
}

// Begin notes that a file is going to be restored into an empty database.
func Begin(ctx context.Context, pool *sqlx.DB, file string, now time.Time) error {
	return pg.InTx(ctx, pool, func(tx *sqlx.Tx) error {
		if _, err := tx.ExecContext(ctx, begin); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, note, file, now)
		return err
	})
}

// NoteVerified notes that a company is verified.
func NoteVerified(ctx context.Context, pool *sqlx.DB, company string) error {
	_, err := pg.Affected(ctx, pool, noteVerified, company)
	return err
}

// End forgets the restore: all of it is verified, or nothing was restored.
func End(ctx context.Context, pool *sqlx.DB) error {
	_, err := pg.Affected(ctx, pool, end)
	return err
}
