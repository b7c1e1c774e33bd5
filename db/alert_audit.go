package db

import (
	"context"

	"simgraph/db/audit"
	"simgraph/db/pg"
	"simgraph/domain"
)

func (c *alertChange) audit(ctx context.Context, action string, of *domain.VolumeAlert, changes []domain.AuditChange) error {
	return audit.Record(ctx, c.tx, c.scope, domain.AuditEntry{
		Action: action, SubjectType: "Alert", SubjectID: pg.FormatInt(of.AlertID), Changes: changes,
	})
}

// alertChanges returns how an alert became another; nil is none.
func alertChanges(before, after *domain.VolumeAlert) []domain.AuditChange {
	var changes []domain.AuditChange
	for _, field := range []struct {
		name string
		of   func(*domain.VolumeAlert) string
	}{
		{"ruleType", func(a *domain.VolumeAlert) string { return string(a.RuleType) }},
		{"target", func(a *domain.VolumeAlert) string { return a.Target }},
		{"lowerThreshold", func(a *domain.VolumeAlert) string { return pg.FormatInt(a.LowerThreshold) }},
		{"upperThreshold", func(a *domain.VolumeAlert) string { return pg.FormatInt(a.UpperThreshold) }},
	} {
		switch {
		case before == nil:
			changes = append(changes, domain.Became(field.name, field.of(after)))
		case after == nil:
			changes = append(changes, domain.Was(field.name, field.of(before)))
		default:
			changes = append(changes, domain.Changed(field.name, field.of(before), field.of(after))...)
		}
	}
	return append(changes, domain.AlertWordsChanges(wordsOf(before), wordsOf(after))...)
}

func wordsOf(a *domain.VolumeAlert) domain.AlertWords {
	if a == nil {
		return domain.AlertWords{}
	}
	return a.AlertWords
}
