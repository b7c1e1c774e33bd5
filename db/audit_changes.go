package db

import (
	"context"
	"fmt"
	"strings"

	"github.com/jmoiron/sqlx"

	"simgraph/domain"
)

// auditNames is the change of what has many names, of which it lists some.
func auditNames(field string, names []string) domain.AuditChange {
	listed := names[:min(len(names), domain.MaxAuditNames)]
	text := strings.Join(listed, " ")
	if more := len(names) - len(listed); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return domain.AuditChange{Field: field, After: &text}
}

// auditImport notes what a part of an import changed, if anything.
func auditImport(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, what string, counts map[domain.Outcome]int) error {
	var changes []domain.AuditChange
	for _, of := range []struct {
		field   string
		outcome domain.Outcome
	}{{"created", domain.Created}, {"updated", domain.Updated}} {
		if n := counts[of.outcome]; n > 0 {
			changes = append(changes, domain.Became(of.field, formatInt(int64(n))))
		}
	}
	if len(changes) == 0 {
		return nil
	}
	return audit(ctx, tx, scope, domain.AuditEntry{Action: domain.AuditImport + what, SubjectType: "Company", Changes: changes})
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
