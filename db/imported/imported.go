// Package imported says what became of the items that a statement stored: each has a
// verdict, which is an outcome or why the item was refused. It also stores items of
// bundles one by one.
package imported

import (
	"context"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"

	"simgraph/domain"
)

// Outcomes are the verdicts that are no refusals. "moved" is an update that
// moves usage to other groups or billing periods.
var Outcomes = map[string]domain.Outcome{
	"created": domain.Created, "updated": domain.Updated, "moved": domain.Updated, "unchanged": domain.Unchanged,
}

// Moved returns the identities of the items that moved.
func Moved(verdicts map[string]string) []string {
	var moved []string
	for item, verdict := range verdicts {
		if verdict == "moved" {
			moved = append(moved, item)
		}
	}
	slices.Sort(moved)
	return moved
}

// Changed returns the physical ids of the items that were created or updated;
// what an item has besides stands after the control character.
func Changed(verdicts map[string]string) []string {
	var changed []string
	for item, verdict := range verdicts {
		if outcome := Outcomes[verdict]; outcome == domain.Created || outcome == domain.Updated {
			physicalID, _, _ := strings.Cut(item, "\x1f")
			changed = append(changed, physicalID)
		}
	}
	return changed
}

// Judge runs a statement that returns a verdict on each item.
func Judge(ctx context.Context, tx sqlx.QueryerContext, into map[string]string, sql string, args ...any) error {
	rows, err := tx.QueryxContext(ctx, sql, args...) //nolint:sqlclosecheck // the deferred function closes it
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // Err reports it
	for rows.Next() {
		var item, verdict string
		if err := rows.Scan(&item, &verdict); err != nil {
			return err
		}
		into[item] = verdict
	}
	return rows.Err()
}

// Answer puts the verdicts in the order of the items; refuse words those that
// are no outcome.
func Answer[T any](items []T, verdicts map[string]string, identity func(T) string, refuse func(item T, verdict string) *domain.Error) []domain.Imported {
	answers := make([]domain.Imported, len(items))
	for i, item := range items {
		verdict := verdicts[identity(item)]
		if outcome, ok := Outcomes[verdict]; ok {
			answers[i].Outcome = outcome
		} else {
			answers[i].Err = refuse(item, verdict)
		}
	}
	return answers
}

// Tally counts verdicts by their outcomes, but for those that others counted.
func Tally(verdicts map[string]string, others map[string]string) map[domain.Outcome]int {
	counts := map[domain.Outcome]int{}
	for item, verdict := range verdicts {
		if Outcomes[others[item]] == 0 {
			counts[Outcomes[verdict]]++
		}
	}
	return counts
}

// TallyAnswers counts the answers by their outcomes; refused items have outcome 0.
func TallyAnswers(answers []domain.Imported) map[domain.Outcome]int {
	counts := map[domain.Outcome]int{}
	for _, a := range answers {
		counts[a.Outcome]++
	}
	return counts
}

// Unexpected is for statements that refuse nothing.
func Unexpected[T any](T, string) *domain.Error {
	return domain.Invalid("", "the database did not answer for this line")
}
