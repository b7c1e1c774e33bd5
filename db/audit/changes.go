package audit

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"

	"simgraph/db/pg"
	"simgraph/domain"
)

// Names is the change of what has many names, of which it lists some.
func Names(field string, names []string) domain.AuditChange {
	listed := names[:min(len(names), domain.MaxAuditNames)]
	text := strings.Join(listed, " ")
	if more := len(names) - len(listed); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return domain.AuditChange{Field: field, After: &text}
}

// List returns the values as text, separated by commas.
func List[T any](values []T) string {
	return strings.Join(pg.Pluck(values, func(value T) string { return fmt.Sprint(value) }), ", ")
}

// Import is the entry of what a part of an import changed; nil for nothing.
func Import(what string, counts map[domain.Outcome]int) *domain.AuditEntry {
	var changes []domain.AuditChange
	for _, of := range []struct {
		field   string
		outcome domain.Outcome
	}{{"created", domain.Created}, {"updated", domain.Updated}} {
		if n := counts[of.outcome]; n > 0 {
			changes = append(changes, domain.Became(of.field, pg.FormatInt(int64(n))))
		}
	}
	if len(changes) == 0 {
		return nil
	}
	return &domain.AuditEntry{Action: domain.AuditImport + what, SubjectType: "Company", Changes: changes}
}

// About returns the subscribers that what was and what is are about, each once.
func About(before, after []string) []string {
	all := slices.Concat(before, after)
	slices.Sort(all)
	return slices.Compact(all)
}

const nameSubscriber = `SELECT s.physical_id FROM subscribers s WHERE s.company_id = $1 AND s.key = $2`

// Of completes the entry of what is about one subscriber; nil is none.
func Of(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, key *int64, entry *domain.AuditEntry) (*domain.AuditEntry, error) {
	if key == nil || entry == nil {
		return entry, nil
	}
	err := tx.SelectContext(ctx, &entry.PhysicalIDs, nameSubscriber, scope.Company, *key)
	return entry, err
}
