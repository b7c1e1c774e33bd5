package condition

import (
	"context"

	"github.com/lib/pq"

	"simgraph/db/alert"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/condition"
)

const (
	fromConditionLog = `
FROM condition_log l` + alert.JoinSubject
	conditionLogSelect = `l.entry_id, l.alert_id, l.kind, l.state, l.rule_type, l.target, l.subscriber_key, l.group_id, l.target_group_id, l.source, l.nas,
  l.since, l.bound, l.value, l.trait, l.before, l.after, l.resolves, l.resolved_at, l.silence_id, l.notification_id, l.date_created`
	findConditionLog = `SELECT ` + conditionLogSelect + fromConditionLog + `
WHERE ` + alert.VisibleEntry + ` AND l.entry_id = ANY($3)`
)

// FindEntries implements condition.Alerts.
func (s *Store) FindEntries(ctx context.Context, scope domain.Scope, ids []int64) (map[int64]*condition.Entry, error) {
	rows, err := pg.SelectAll[condition.Entry](ctx, s.pool, findConditionLog, scope.Company, pg.GroupsOf(scope), pq.Int64Array(ids))
	if err != nil {
		return nil, err
	}
	return pg.Keyed(rows, func(of *condition.Entry) int64 { return of.EntryID }), nil
}
