package command

import (
	"context"
	"fmt"
	"strings"

	"github.com/jmoiron/sqlx"

	"simgraph/db"
	"simgraph/db/cluster"
	"simgraph/db/live"
	"simgraph/db/pg"
)

// MigrateDistribute distributes the database.
type MigrateDistribute struct{}

// Run distributes what is not distributed yet, with a line for each table.
func (MigrateDistribute) Run(ctx context.Context, env *Env) error {
	return withSchema(ctx, env, func(pool *sqlx.DB) error {
		if err := db.Current(ctx, pool); err != nil {
			return err
		}
		if err := unserved(ctx, pool, "requests fail while tables are distributed"); err != nil {
			return err
		}
		tables := 0
		err := cluster.Distribute(ctx, pool, actor("migrate distribute"), func(s cluster.Step) {
			tables++
			how := "copied to all nodes"
			if s.Table.ByCompany {
				how = "distributed by company"
			}
			env.printf("%d/%d %s: %d rows %s in %.1f s\n", s.Number, s.Of, s.Table.Name, s.Rows, how, s.Took.Seconds())
		})
		if err != nil && tables > 0 {
			return fmt.Errorf("the database is distributed in part; no server may use it until simgraph migrate distribute has ended well: %w", err)
		}
		if err == nil && tables == 0 {
			env.printf("the database is distributed already\n")
		}
		return err
	})
}

// unserved returns an error, with the reason for it, while a server uses the database.
func unserved(ctx context.Context, pool *sqlx.DB, reason string) error {
	served, err := live.Served(ctx, pool)
	if err != nil {
		return err
	}
	if served {
		return fmt.Errorf("a server uses the database: end all servers, since %s", reason)
	}
	return nil
}

// printDistribution prints whether and how the database is distributed.
func printDistribution(ctx context.Context, env *Env, pool *sqlx.DB) error {
	s, err := cluster.Read(ctx, pool)
	if err != nil {
		return err
	}
	left := s.Left()
	switch {
	case !s.Citus:
		env.printf("distribution: none, the database has no extension citus\n")
		return nil
	case len(left) == 0 && s.Keys == 0:
		env.printf("distribution: %d tables by company, %d with a copy on every node\n", s.ByCompany(), len(s.Tables)-s.ByCompany())
	default:
		env.printf("distribution: incomplete, %d of %d tables and %d foreign keys are left; run simgraph migrate distribute\n", len(left), len(s.Tables), s.Keys)
		env.printf("  not distributed: %s\n", strings.Join(pg.Pluck(left, func(t cluster.Table) string { return t.Name }), ", "))
	}
	for _, n := range s.Nodes {
		state := fmt.Sprintf("%d shards", n.Shards)
		if !n.IsActive {
			state += ", not active"
		}
		if !n.TakesShards {
			state += ", takes none"
		}
		env.printf("  %s %s:%d: %s\n", n.Role, n.Name, n.Port, state)
	}
	return nil
}
