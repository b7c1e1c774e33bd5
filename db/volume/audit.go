package volume

import (
	"context"

	"simgraph/db/audit"
	"simgraph/db/pg"
	"simgraph/domain"
)

func (c *alertChange) entry(ctx context.Context, action string, of *domain.VolumeAlert, changes []domain.AuditChange) (*domain.AuditEntry, error) {
	return audit.Of(ctx, c.tx, c.scope, of.SubscriberKey, audit.Entry(action, "Alert", of.AlertID, changes...))
}

// alertChanges returns how an alert became another; nil is none.
func alertChanges(before, after *domain.VolumeAlert) []domain.AuditChange {
	return domain.AlertDifferences(before, after, func(a *domain.VolumeAlert) domain.AlertWords { return a.AlertWords }, []domain.AuditField[domain.VolumeAlert]{
		{Name: "ruleType", Text: func(a *domain.VolumeAlert) string { return string(a.RuleType) }},
		{Name: "target", Text: func(a *domain.VolumeAlert) string { return a.Target }},
		{Name: "lowerThreshold", Text: func(a *domain.VolumeAlert) string { return pg.FormatInt(a.LowerThreshold) }},
		{Name: "upperThreshold", Text: func(a *domain.VolumeAlert) string { return pg.FormatInt(a.UpperThreshold) }},
	})
}
