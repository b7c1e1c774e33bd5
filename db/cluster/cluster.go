// Package cluster distributes a database by company over the nodes of Citus.
package cluster

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"

	"simgraph/db/pg"
)

// Table is a table of the schema.
type Table struct {
	Name string
	// ByCompany reports that each row belongs to a company; all nodes have a copy of
	// the others.
	ByCompany bool
	// Done reports that the table is distributed, or copied to all nodes.
	Done bool
}

// Node is a server of the cluster.
type Node struct {
	Name string
	Port int
	// Role is coordinator or worker.
	Role string
	// Shards are those of the table companies; each stands for the shards of the
	// same companies of all tables.
	Shards int
	// IsActive reports that the node has copies of the shared tables; TakesShards,
	// that it gets shards when they are balanced.
	IsActive, TakesShards bool
}

// Status is whether and how a database is distributed.
type Status struct {
	// Citus reports that the database has the extension.
	Citus bool
	// Nodes may have rows, in the order in which they were added.
	Nodes []Node
	// Tables are all that are to be distributed or copied, first those that
	// others refer to.
	Tables []Table
	// Keys are the foreign keys that are to be put back yet.
	Keys int
}

// Left are the tables that are neither distributed nor copied.
func (s *Status) Left() (left []Table) {
	for _, table := range s.Tables {
		if !table.Done {
			left = append(left, table)
		}
	}
	return left
}

// ByCompany returns how many tables are, or will be, distributed by company.
func (s *Status) ByCompany() (n int) {
	for _, table := range s.Tables {
		if table.ByCompany {
			n++
		}
	}
	return n
}

// tables takes a table for that of a company when it has the column and its
// primary key, if any, begins with it.
const tables = `
SELECT c.relname::text AS name, EXISTS (
    SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'company_id' AND NOT EXISTS (
      SELECT FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'p' AND k.conkey[1] <> a.attnum)
  ) AS by_company, {done} AS done
FROM pg_class c
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
  AND c.relname NOT IN ('goose_db_version', '` + keysTable + `')
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
ORDER BY by_company, c.relname <> 'companies', c.relname`

const (
	distributed = `EXISTS (
    SELECT FROM pg_dist_partition p
    WHERE p.logicalrelid = c.oid AND (p.partmethod = 'h' OR p.partmethod = 'n' AND p.repmodel = 't'))`
	nodes = `
SELECT n.nodename AS name, n.nodeport AS port, CASE WHEN n.groupid = 0 THEN 'coordinator' ELSE 'worker' END AS role,
  n.isactive AS is_active, n.shouldhaveshards AS takes_shards, coalesce(s.shards, 0) AS shards
FROM pg_dist_node n
LEFT JOIN (
  SELECT p.groupid, count(*) AS shards
  FROM pg_dist_placement p
  JOIN pg_dist_shard h USING (shardid)
  WHERE h.logicalrelid = to_regclass('companies')
  GROUP BY p.groupid
) s ON s.groupid = n.groupid
WHERE n.noderole = 'primary'
ORDER BY n.nodeid`
)

// Read returns the status of the database.
func Read(ctx context.Context, pool *sqlx.DB) (s Status, err error) {
	if s.Citus, err = pg.HasCitus(ctx, pool); err != nil {
		return s, err
	}
	done := "false"
	if s.Citus {
		done = distributed
	}
	if err := pool.SelectContext(ctx, &s.Tables, pg.Fill(tables, "done", done)); err != nil || !s.Citus {
		return s, pg.Translate(err)
	}
	if err := pool.SelectContext(ctx, &s.Nodes, nodes); err != nil {
		return s, pg.Translate(err)
	}
	s.Keys, err = waitingKeys(ctx, pool)
	return s, err
}

// Finished returns an error when Distribute has begun and not ended well: foreign
// keys are missing then.
func Finished(ctx context.Context, pool *sqlx.DB) error {
	keys, err := waitingKeys(ctx, pool)
	if err == nil && keys > 0 {
		err = fmt.Errorf("the database is distributed in part, and %d foreign keys are missing: run simgraph migrate distribute again", keys)
	}
	return err
}
