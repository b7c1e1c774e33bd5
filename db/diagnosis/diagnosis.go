// Package diagnosis reads what an operator should see of a database: how it is reached,
// its clock, its connections, and what its upkeep has left undone. It writes nothing.
package diagnosis

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/companies"
	"simgraph/db/pg"
)

// Facts are what a server says of itself.
type Facts struct {
	// Version is such as 150004.
	Version int
	// Remote reports that the session comes over a network, Encrypted that it is by TLS.
	Remote, Encrypted bool
	// Size of the database, in bytes.
	Size int64
	// MostSessions is what the server takes of this role in this database, without
	// what is reserved for superusers; Sessions are there now.
	MostSessions, Sessions int
	// Servers are instances of simgraph that are attached.
	Servers    int
	Autovacuum bool
	// Age is that of the oldest transaction of the database which is not frozen; the server
	// stops at 2 billion.
	Age int64
}

const findFacts = `
SELECT current_setting('server_version_num')::int AS version,
  coalesce(NOT inet_client_addr() <<= '127.0.0.0/8' AND inet_client_addr() <> '::1', false) AS remote,
  coalesce((SELECT s.ssl FROM pg_stat_ssl s WHERE s.pid = pg_backend_pid()), false) AS encrypted,
  pg_database_size(d.oid) AS size,
  least(
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int - coalesce(current_setting('reserved_connections', true)::int, 0),
    nullif(d.datconnlimit, -1), nullif(r.rolconnlimit, -1)
  ) AS most_sessions,
  (SELECT count(*) FROM pg_stat_activity a WHERE a.backend_type = 'client backend' AND a.pid <> pg_backend_pid()) AS sessions,
  (SELECT count(*) FROM pg_stat_activity a WHERE a.datname = d.datname AND a.application_name = $1) AS servers,
  current_setting('autovacuum')::boolean AS autovacuum, age(d.datfrozenxid)::bigint AS age
FROM pg_database d, pg_roles r
WHERE d.datname = current_database() AND r.rolname = current_user`

// Read returns the facts; instances of simgraph have sessions of that application_name.
func Read(ctx context.Context, pool *sqlx.DB, serverSession string) (*Facts, error) {
	var facts Facts
	err := pool.GetContext(ctx, &facts, findFacts, serverSession)
	return &facts, pg.Translate(err)
}

// clockReads is how often the clocks are compared: the quickest answer says most.
const clockReads = 5

// Clock returns how much the clock of the server is ahead of this machine's, and by how
// much that may be wrong.
func Clock(ctx context.Context, pool *sqlx.DB) (ahead, within time.Duration, err error) {
	for read := range clockReads {
		var there time.Time
		began := time.Now()
		if err := pool.GetContext(ctx, &there, `SELECT clock_timestamp()`); err != nil {
			return 0, 0, pg.Translate(err)
		}
		took := time.Since(began)
		if read == 0 || took/2 < within {
			ahead, within = there.Sub(began.Add(took/2)), took/2
		}
	}
	return ahead, within, nil
}

// Bloated is a table with many dead rows.
type Bloated struct {
	Name       string
	Dead, Live int64
	// Vacuumed is nil for never since the statistics began.
	Vacuumed *time.Time
}

// Listed bounds what is listed of one kind.
const Listed = 20

// findBloated looks for twice as many dead rows as those at which autovacuum begins by default.
const findBloated = `
SELECT t.relid::regclass::text AS name, t.n_dead_tup AS dead, t.n_live_tup AS live, greatest(t.last_vacuum, t.last_autovacuum) AS vacuumed
FROM pg_stat_user_tables t
WHERE t.n_dead_tup > 10000 + 0.4 * t.n_live_tup
  AND coalesce(greatest(t.last_vacuum, t.last_autovacuum) < now() - $1 * interval '1 second', true)
ORDER BY t.n_dead_tup DESC
LIMIT $2`

// FindBloated returns the tables with most dead rows that were not vacuumed for so long.
func FindBloated(ctx context.Context, pool *sqlx.DB, unvacuumed time.Duration) ([]Bloated, error) {
	var found []Bloated
	err := pool.SelectContext(ctx, &found, findBloated, unvacuumed.Seconds(), Listed)
	return found, pg.Translate(err)
}

// Source is a source of usage that is behind.
type Source struct {
	Company, Name string
	// Until is the latest end of its records.
	Until time.Time
}

const findBehind = `
SELECT c.external_id AS company, s.source AS name, s.complete_until AS until
FROM usage_sources s
JOIN companies c ON c.company_id = s.company_id
WHERE s.complete_until < $2 AND s.complete_until > $3 AND ($1::bigint[] IS NULL OR s.company_id = ANY($1) AND c.company_id = ANY($1))
ORDER BY s.complete_until
LIMIT $4`

// FindBehind returns sources whose usage is known until a time before, but after abandoned:
// those of before are used no more.
func FindBehind(ctx context.Context, pool *sqlx.DB, before, abandoned time.Time) (found []Source, err error) {
	err = companies.EachNode(ctx, pool, func(of pq.Int64Array) error {
		var here []Source
		err := pool.SelectContext(ctx, &here, findBehind, of, before, abandoned, Listed)
		found = append(found, here...)
		return pg.Translate(err)
	})
	return found, err
}
