package condition

import (
	"context"
	"slices"
	"time"

	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/condition"
)

// abandoned is how long beyond the silence that is watched a source has reported nothing
// when it counts as one that nobody uses any more.
const abandoned = 30 * 24 * time.Hour

const openSources = `
SELECT o.entry_id, o.source, o.since
FROM condition_log o
WHERE o.company_id = $1 AND o.alert_id = 0 AND o.is_open
ORDER BY o.entry_id
LIMIT 1000`

// sources fires for each source that has reported nothing for as long as the shortest
// silence that is watched, and resolves what reports again: a feed that ends is reported
// once, and not as the silence of all its subscribers.
func (t *turn) sources(ctx context.Context, alerts []*condition.Alert) error {
	type openSource struct {
		EntryID int64
		Source  string
		Since   time.Time
	}
	open, err := pg.SelectAll[openSource](ctx, t.pool, openSources, t.company.CompanyID)
	if err != nil {
		return err
	}
	shortest := shortestSilence(alerts)
	if shortest == nil {
		if len(open) == 0 {
			return nil
		}
		_, err := pg.Affected(ctx, t.pool, closeEpisodes, t.company.CompanyID, 0)
		return err
	}
	dead := t.at.Add(-shortest.Duration())
	of := &condition.Alert{Kind: condition.SourceSilent, RuleType: domain.RuleCompany, Bound: shortest.Bound}
	var again, silent []*found
	for _, o := range open {
		if until, known := t.feeds[o.Source]; known && until.After(o.Since) && until.After(dead) {
			again = append(again, &found{Source: o.Source, Since: o.Since, Resolves: &o.EntryID})
		}
	}
	for source, until := range t.feeds {
		isOpen := slices.ContainsFunc(open, func(o *openSource) bool { return o.Source == source })
		if !isOpen && !until.After(dead) && until.After(dead.Add(-abandoned)) {
			silent = append(silent, &found{Source: source, Since: until})
		}
	}
	if err := t.write(ctx, of, condition.Resolved, again); err != nil {
		return err
	}
	return t.write(ctx, of, condition.Fired, silent)
}

// shortestSilence returns the alert that waits for the shortest silence; nil for none.
func shortestSilence(alerts []*condition.Alert) (shortest *condition.Alert) {
	for _, of := range alerts {
		if of.Kind == condition.Silent && (shortest == nil || of.Bound < shortest.Bound) {
			shortest = of
		}
	}
	return shortest
}
