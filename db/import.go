package db

import (
	"context"
	"slices"
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

const lockCompany = `
SELECT company_id
FROM companies
WHERE company_id = $1
FOR NO KEY UPDATE`

// inCompany runs do in a transaction in which no other import of the company
// runs, so that what a statement reads is what it changes. do may be run again;
// it returns what became of how many, for the audit log.
func (i *Importer) inCompany(ctx context.Context, scope domain.Scope, what string, do func(tx *sqlx.Tx) (map[domain.Outcome]int, error)) error {
	return pg.Retry(ctx, func() error {
		return pg.InTx(ctx, i.pool, func(tx *sqlx.Tx) error {
			if _, err := tx.ExecContext(ctx, lockCompany, scope.Company); err != nil {
				return err
			}
			counts, err := do(tx)
			if err != nil {
				return err
			}
			return audit.RecordImport(ctx, tx, scope, what, counts)
		})
	})
}

// verdict is what a statement says of the item with that identity.
type verdict struct {
	Item    string
	Outcome string
}

// outcomes are the verdicts that are no refusals. "moved" is an update that
// moves usage to other groups or billing periods.
var outcomes = map[string]domain.Outcome{
	"created": domain.Created, "updated": domain.Updated, "moved": domain.Updated, "unchanged": domain.Unchanged,
}

// movedBy returns the identities of the items that moved.
func movedBy(verdicts map[string]string) []string {
	var moved []string
	for item, verdict := range verdicts {
		if verdict == "moved" {
			moved = append(moved, item)
		}
	}
	slices.Sort(moved)
	return moved
}

// judge runs a statement that returns a verdict on each item.
func judge(ctx context.Context, tx sqlx.QueryerContext, into map[string]string, sql string, args ...any) error {
	rows, err := tx.QueryxContext(ctx, sql, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // Err reports it
	for rows.Next() {
		var v verdict
		if err := rows.Scan(&v.Item, &v.Outcome); err != nil {
			return err
		}
		into[v.Item] = v.Outcome
	}
	return rows.Err()
}

// answer puts the verdicts in the order of the items; refuse words those that
// are no outcome.
func answer[T any](items []T, verdicts map[string]string, identity func(T) string, refuse func(item T, verdict string) *domain.Error) []domain.Imported {
	answers := make([]domain.Imported, len(items))
	for i, item := range items {
		verdict := verdicts[identity(item)]
		if outcome, ok := outcomes[verdict]; ok {
			answers[i].Outcome = outcome
		} else {
			answers[i].Err = refuse(item, verdict)
		}
	}
	return answers
}

// tally counts verdicts by their outcomes, but for those that others counted.
func tally(verdicts map[string]string, others map[string]string) map[domain.Outcome]int {
	counts := map[domain.Outcome]int{}
	for item, verdict := range verdicts {
		if outcomes[others[item]] == 0 {
			counts[outcomes[verdict]]++
		}
	}
	return counts
}

func tallyImported(answers []domain.Imported) map[domain.Outcome]int {
	counts := map[domain.Outcome]int{}
	for _, a := range answers {
		counts[a.Outcome]++
	}
	return counts
}
