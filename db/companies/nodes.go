package companies

import (
	"context"
	"errors"
	"sync"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/pg"
	"simgraph/domain"
)

const byNode = `SELECT companies FROM simgraph_nodes()`

// plain are the pools whose database is not distributed. It stays so while a pool is
// open: a database is distributed while no instance is attached.
var plain sync.Map

// EachNode does something with the companies of each node of the database, in
// turn: NULL, which stands for all, where there is but one. What fails on one node
// does not stop the others: the error contains all failures.
func EachNode(ctx context.Context, pool *sqlx.DB, do func(pq.Int64Array) error) error {
	if _, ok := plain.Load(pool); ok {
		return do(nil)
	}
	var nodes []pq.Int64Array
	if err := pool.SelectContext(ctx, &nodes, byNode); err != nil {
		return pg.Translate(err)
	}
	if len(nodes) == 1 && nodes[0] == nil {
		plain.Store(pool, nil)
	}
	var failures []error
	for _, companies := range nodes {
		failures = append(failures, do(companies))
	}
	return errors.Join(failures...)
}

// With returns the companies that a query selects, of which $1 are those of a
// node. It returns them beside the error where some nodes fail.
func With(ctx context.Context, pool *sqlx.DB, query string, args ...any) (found []domain.CompanyID, err error) {
	err = EachNode(ctx, pool, func(companies pq.Int64Array) error {
		more, err := pg.SelectValues[domain.CompanyID](ctx, pool, query, append([]any{companies}, args...)...)
		found = append(found, more...)
		return err
	})
	return found, err
}

// Try does something for each company that a query selects: see With. What fails for one
// company or on one node does not hold up the others: the error contains all.
func Try(ctx context.Context, pool *sqlx.DB, do func(domain.CompanyID) error, query string, args ...any) error {
	found, failed := With(ctx, pool, query, args...)
	return errors.Join(failed, domain.TryCompanies(ctx, found, do))
}
