package subscriber

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/announce"
	"simgraph/db/imported"
	"simgraph/db/pg"
	"simgraph/db/usage"
	"simgraph/db/volume"
	"simgraph/domain"
	"simgraph/domain/query"
)

// Read returns the whole records of the named subscribers that the scope
// shows, also what it hides of them, by physical id. Locked ones are locked in the
// order of their keys.
func Read(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, physicalIDs []string, lock bool) (map[string]*domain.Subscriber, error) {
	type row struct{ Key int64 }
	l := newSubscriberList(scope, pg.NoPeriod, pq.StringArray(physicalIDs))
	sql := "SELECT s.key FROM subscribers s WHERE " + l.visible + " AND s.physical_id = ANY($2) ORDER BY s.key"
	if lock {
		sql += " FOR NO KEY UPDATE"
	}
	found, err := pg.SelectAll[row](ctx, tx, sql, l.Args...)
	if err != nil {
		return nil, err
	}
	keys := pg.Pluck(found, func(r *row) int64 { return r.Key })
	all := newSubscriberList(domain.Whole(scope.Company), pg.NoPeriod, pq.Int64Array(keys))
	rows, err := pg.SelectAll[subscriberRow](ctx, tx,
		"SELECT "+all.sel(domain.AllFields, 0)+"\n"+all.from()+"\nWHERE "+all.visible+" AND s.key = ANY($2)", all.Args...)
	if err != nil {
		return nil, err
	}
	records := make(map[string]*domain.Subscriber, len(rows))
	for _, r := range rows {
		records[r.PhysicalID] = r.subscriber(domain.AllFields)
	}
	return records, nil
}

// SaveAll writes checked records, whose parents are not among them, as
// Save does. It returns why it refused some, by physical id. Alerts that
// fire are of the notification, whose mail NotifyFired queues.
func SaveAll(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, items []*domain.Subscriber, now time.Time, notification uuid.UUID) (map[string]*domain.Error, error) {
	if len(items) == 0 {
		return nil, nil
	}
	found := make(map[string]string, len(items))
	if err := Write(ctx, tx, scope, now, items, true, found); err != nil {
		return nil, err
	}
	refused := map[string]*domain.Error{}
	for _, s := range items {
		if verdict := found[s.PhysicalID]; imported.Outcomes[verdict] == 0 {
			refused[s.PhysicalID] = Refuse(s, verdict)
		}
	}
	moved := imported.Moved(found)
	if err := usage.NoteMoves(ctx, tx, scope.Company, moved, slices.Repeat([]time.Time{now}, len(moved))); err != nil {
		return nil, err
	}
	if err := volume.LogMoved(ctx, tx, scope.Company, moved, now, notification); err != nil {
		return nil, err
	}
	return refused, announce.Changed(ctx, tx, scope.Company, imported.Changed(found))
}

// Freeze writes the subscribers that the filter leaves as the rows of an
// operation, in the order of their physical ids, and returns how many they are: at
// most one more than most.
func Freeze(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, filter query.Expr, periodStart time.Time, operation uuid.UUID, most int) (int, error) {
	l := newSubscriberList(scope, periodStart, operation)
	where := l.Filter(filter)
	sql := fmt.Sprintf(`INSERT INTO operation_rows (company_id, operation_id, position, physical_id)
SELECT s.company_id, $2::uuid, row_number() OVER (ORDER BY s.physical_id), s.physical_id
%s
WHERE %s AND %s
ORDER BY s.physical_id
LIMIT %d`, l.from(), l.visible, where, most+1)
	return pg.Affected(ctx, tx, sql, l.Args...)
}
