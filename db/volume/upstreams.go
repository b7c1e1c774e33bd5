package volume

import (
	"context"

	"simgraph/db/pg"
	"simgraph/domain"
)

const (
	deleteForUpstreams = `
INSERT INTO upstream_deleted_alerts AS d (company_id, upstream_id, rule_type, target, lower_threshold, upper_threshold, copies, last_sweep)
SELECT u.company_id, u.upstream_id, $2, $3, $4, $5, 1, u.sweep
FROM upstreams u
WHERE u.company_id = $1 AND u.is_copying_alerts
ORDER BY u.upstream_id
ON CONFLICT (company_id, upstream_id, rule_type, target, lower_threshold, upper_threshold) DO UPDATE SET copies = d.copies + 1`
	addAgain = `
UPDATE upstream_deleted_alerts SET copies = copies - 1
WHERE company_id = $1 AND rule_type = $2 AND target = $3 AND lower_threshold = $4 AND upper_threshold = $5`
	forgetAdded       = `DELETE FROM upstream_deleted_alerts WHERE company_id = $1 AND copies <= 0`
	deletedOfUpstream = `
SELECT d.rule_type, d.target, d.lower_threshold, d.upper_threshold, d.copies FROM upstream_deleted_alerts d
WHERE d.company_id = $1 AND d.upstream_id = $2`
)

// forUpstreams notes that people deleted an alert here, or added one: sweeps of upstreams
// do not bring it again.
func (c *alertChange) forUpstreams(ctx context.Context, alert *domain.VolumeAlert, isDeleted bool) error {
	args := []any{c.scope.Company, alert.RuleType, alert.Target, alert.LowerThreshold, alert.UpperThreshold}
	if isDeleted {
		_, err := pg.Affected(ctx, c.tx, deleteForUpstreams, args...)
		return err
	}
	n, err := pg.Affected(ctx, c.tx, addAgain, args...)
	if err == nil && n > 0 {
		_, err = pg.Affected(ctx, c.tx, forgetAdded, c.scope.Company)
	}
	return err
}

// countDeleted counts the alerts that people deleted here as known to the upstream that the
// items come from.
func (c *alertChange) countDeleted(ctx context.Context, items []domain.AlertImport, targets []alertTargeted, known map[alertKey]int) error {
	if c.scope.Upstream == 0 {
		return nil
	}
	type row struct {
		RuleType                       domain.RuleType
		Target                         string
		LowerThreshold, UpperThreshold int64
		Copies                         int
	}
	deleted, err := pg.SelectAll[row](ctx, c.tx, deletedOfUpstream, c.scope.Company, c.scope.Upstream)
	if err != nil {
		return err
	}
	copies := map[domain.AlertSpec]int{}
	for _, r := range deleted {
		copies[domain.AlertSpec{RuleType: r.RuleType, Target: r.Target, LowerThreshold: r.LowerThreshold, UpperThreshold: r.UpperThreshold}] = r.Copies
	}
	counted := map[alertKey]bool{}
	for i, t := range targets {
		if !counted[t.alertKey] {
			counted[t.alertKey] = true
			known[t.alertKey] += copies[items[i].AlertSpec]
		}
	}
	return nil
}
