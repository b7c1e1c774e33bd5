package condition

import (
	"context"
	"slices"
	"time"

	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/condition"
)

const openSources = `
SELECT o.entry_id, o.source, o.nas, o.since
FROM condition_log o
WHERE o.company_id = $1 AND o.alert_id = 0 AND o.is_open
ORDER BY o.entry_id
LIMIT 1000`

// sources fires for each network element that is silent, and for each source of which all
// are, and resolves what reports again: a feed that ends is reported once, and not as the
// silence of all its subscribers. It does so without any alert too.
func (t *turn) sources(ctx context.Context, alerts []*condition.Alert) error {
	type openSource struct {
		EntryID int64
		condition.SilentFeed
	}
	open, err := pg.SelectAll[openSource](ctx, t.pool, openSources, t.company.CompanyID)
	if err != nil {
		return err
	}
	shortest := shortestSilence(alerts)
	var again, silent []*found
	logged := map[domain.FeedKey]bool{}
	for _, o := range open {
		if t.feeds.ReportsAgain(o.SilentFeed, t.at, shortest) {
			again = append(again, &found{Source: o.Source, NAS: o.NAS, Since: o.Since, Resolves: &o.EntryID})
		} else {
			logged[o.FeedKey] = true
		}
	}
	for _, s := range t.feeds.Silent(t.at, shortest) {
		if !logged[s.FeedKey] && !logged[domain.FeedKey{Source: s.Source}] {
			silent = append(silent, &found{Source: s.Source, NAS: s.NAS, Since: s.Since})
		}
	}
	if err := t.writeSources(ctx, condition.Resolved, again, shortest); err != nil {
		return err
	}
	return t.writeSources(ctx, condition.Fired, silent, shortest)
}

// writeSources logs what is found of sources by the minutes that each of them may be silent.
func (t *turn) writeSources(ctx context.Context, state condition.State, of []*found, shortest time.Duration) error {
	byMinutes := map[int64][]*found{}
	for _, f := range of {
		minutes := int64(condition.Patience(domain.FeedKey{Source: f.Source, NAS: f.NAS}, shortest) / time.Minute)
		byMinutes[minutes] = append(byMinutes[minutes], f)
	}
	for minutes, found := range byMinutes {
		alert := &condition.Alert{Kind: condition.SourceSilent, RuleType: domain.RuleCompany, Bound: minutes}
		if err := t.write(ctx, alert, state, found); err != nil {
			return err
		}
	}
	return nil
}

// shortestSilence is the shortest that an alert watches, of subscribers or of sources; 0 for
// none.
func shortestSilence(alerts []*condition.Alert) time.Duration {
	var all []time.Duration
	for _, of := range alerts {
		if of.Kind == condition.Silent || of.Kind == condition.SourceSilent {
			all = append(all, of.Duration())
		}
	}
	if len(all) == 0 {
		return 0
	}
	return slices.Min(all)
}
