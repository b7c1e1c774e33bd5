package db

import (
	"context"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/domain"
)

// Importer stores what bundles hold in PostgreSQL.
type Importer struct {
	pool *sqlx.DB
	now  func() time.Time
}

var _ domain.Importer = (*Importer)(nil)

// NewImporter returns the importer on the pool.
func NewImporter(pool *sqlx.DB) *Importer { return &Importer{pool: pool, now: time.Now} }

const lockCompany = `
SELECT company_id
FROM companies
WHERE company_id = $1
FOR NO KEY UPDATE`

// inCompany runs do in a transaction in which no other import of the company
// runs, so that what a statement reads is what it changes. do may be run again.
func (i *Importer) inCompany(ctx context.Context, scope domain.Scope, do func(tx *sqlx.Tx) error) error {
	return retried(ctx, func() error {
		return inTx(ctx, i.pool, func(tx *sqlx.Tx) error {
			if _, err := tx.ExecContext(ctx, lockCompany, scope.Company); err != nil {
				return err
			}
			return do(tx)
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
	defer func() { _ = rows.Close() }() // Err tells
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

// pluck returns one field of every item, as an array parameter.
func pluck[T, V any](items []T, field func(T) V) []V {
	values := make([]V, len(items))
	for i, item := range items {
		values[i] = field(item)
	}
	return values
}
