package volume

import (
	"context"
	"slices"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/group"
	"simgraph/db/pg"
	"simgraph/domain"
)

// findSIMs finds the subscribers that have the subscriberIds now: an MSISDN may
// have been another's before.
const findSIMs = `
SELECT DISTINCT ON (s.subscriber_id) s.subscriber_id, s.key
FROM subscribers s
WHERE s.company_id = $1 AND ($2::bigint[] IS NULL OR s.group_id = ANY($2)) AND s.subscriber_id = ANY($3)
ORDER BY s.subscriber_id, s.is_active DESC, s.terminate_date IS NULL DESC, s.connection_date DESC, s.key DESC`

const findGroupIDs = `SELECT g.group_id FROM groups g WHERE ` + group.Visible + ` AND g.group_id = ANY($3)`

// targetFinder looks up what alerts are to watch.
type targetFinder struct {
	in    sqlx.QueryerContext
	scope domain.Scope
}

// find answers for each spec, in their order.
func (f targetFinder) find(ctx context.Context, specs []domain.AlertSpec) ([]alertTargeted, error) {
	sims, err := f.sims(ctx, specs)
	if err != nil {
		return nil, err
	}
	groups, err := f.groups(ctx, specs)
	if err != nil {
		return nil, err
	}
	return pg.Pluck(specs, func(spec domain.AlertSpec) alertTargeted {
		t := alertTargeted{alertKey: alertKey{spec.RuleType, 0, spec.LowerThreshold, spec.UpperThreshold}, words: spec.AlertWords}
		t.TargetID, t.refused = f.target(spec, sims, groups)
		return t
	}), nil
}

func (f targetFinder) target(spec domain.AlertSpec, sims map[string]int64, groups []int64) (int64, *domain.Error) {
	switch spec.RuleType {
	case domain.RuleCompany:
		if f.scope.Restricted() {
			return 0, domain.Forbidden("users of groups may not set alerts on the company")
		}
		return 0, nil
	case domain.RuleSIM:
		if key, ok := sims[spec.Target]; ok {
			return key, nil
		}
		return 0, domain.NotFound("target", "subscriber", spec.Target)
	}
	id, err := spec.GroupID()
	if err != nil || !slices.Contains(groups, id) {
		return 0, domain.NotFound("target", "group", spec.Target)
	}
	return id, nil
}

// sims returns the keys of the subscribers that the specs name.
func (f targetFinder) sims(ctx context.Context, specs []domain.AlertSpec) (map[string]int64, error) {
	var wanted []string
	for _, spec := range specs {
		if spec.RuleType == domain.RuleSIM {
			wanted = append(wanted, spec.Target)
		}
	}
	if wanted == nil {
		return nil, nil
	}
	type row struct {
		SubscriberID string
		Key          int64
	}
	rows, err := pg.SelectAll[row](ctx, f.in, findSIMs, f.scope.Company, pg.GroupsOf(f.scope), pq.StringArray(wanted))
	if err != nil {
		return nil, err
	}
	keys := make(map[string]int64, len(rows))
	for _, r := range rows {
		keys[r.SubscriberID] = r.Key
	}
	return keys, nil
}

// groups returns the groups that the specs name.
func (f targetFinder) groups(ctx context.Context, specs []domain.AlertSpec) (found []int64, err error) {
	var wanted []int64
	for _, spec := range specs {
		if id, err := spec.GroupID(); err == nil && spec.RuleType.OfGroup() {
			wanted = append(wanted, id)
		}
	}
	if wanted == nil {
		return nil, nil
	}
	err = sqlx.SelectContext(ctx, f.in, &found, findGroupIDs, f.scope.Company, pg.GroupsOf(f.scope), pq.Int64Array(wanted))
	return found, err
}

// Target is what an alert watches: a subscriber, a group, or neither for the company.
type Target struct{ SubscriberKey, GroupID *int64 }

// FindTarget looks up what an alert is to watch. NotFound when the scope does not
// show it, Forbidden for the company in a restricted one.
func FindTarget(ctx context.Context, in sqlx.QueryerContext, scope domain.Scope, of domain.RuleType, target string) (Target, error) {
	found, err := targetFinder{in, scope}.find(ctx, []domain.AlertSpec{{RuleType: of, Target: target}})
	switch {
	case err != nil:
		return Target{}, err
	case found[0].refused != nil:
		return Target{}, found[0].refused
	case of == domain.RuleSIM:
		return Target{SubscriberKey: &found[0].TargetID}, nil
	case of.OfGroup():
		return Target{GroupID: &found[0].TargetID}, nil
	}
	return Target{}, nil
}

// NewAlertID returns the next number of the series of alerts.
func NewAlertID(ctx context.Context, in sqlx.QueryerContext) (int64, error) {
	ids, err := pg.SelectValues[int64](ctx, in, newAlertIDs, 1)
	if err != nil {
		return 0, err
	}
	return ids[0], nil
}
