// Package bundle reads what a company has from one snapshot of PostgreSQL, and stores what bundles
// hold.
package bundle

import (
	"context"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/audit"
	"simgraph/db/pg"
	"simgraph/domain"
)

// Importer stores what bundles hold in PostgreSQL.
type Importer struct {
	pool *sqlx.DB
	now  func() time.Time

	mu sync.Mutex
	// created and analyzed count the rows of each table that this importer made,
	// in all and when the planner last looked at it.
	created, analyzed map[string]int
}

var _ domain.Importer = (*Importer)(nil)

// NewImporter returns the importer on the pool.
func NewImporter(pool *sqlx.DB) *Importer {
	return &Importer{pool: pool, now: time.Now, created: map[string]int{}, analyzed: map[string]int{}}
}

// worthAnalyzing is how many new rows a plan for an empty table may meet.
const worthAnalyzing = 1000

// grown has the planner look at a table that has doubled: it goes by what it
// last saw, and autovacuum looks only once a minute. Meanwhile statements for
// an empty table would go through a full one line by line.
func (i *Importer) grown(ctx context.Context, table string, answers []domain.Imported) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, a := range answers {
		if a.Outcome == domain.Created {
			i.created[table]++
		}
	}
	if i.created[table] < 2*i.analyzed[table]+worthAnalyzing {
		return
	}
	// Without it the import is slower, nothing else.
	_, _ = i.pool.ExecContext(ctx, "ANALYZE "+table)
	i.analyzed[table] = i.created[table]
}

// inCompany runs do in a transaction in which no other import of the company
// runs, so that what a statement reads is what it changes. do may be run again;
// it returns what became of how many, for the audit log.
func (i *Importer) inCompany(ctx context.Context, scope domain.Scope, what string, do func(tx *sqlx.Tx) (map[domain.Outcome]int, error)) error {
	return pg.Retry(ctx, func() error {
		return audit.ChangeLocked(ctx, i.pool, scope, func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
			counts, err := do(tx)
			return audit.Import(what, counts), err
		})
	})
}
