package volume

import (
	"context"
	"slices"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/alert"
	"simgraph/db/delivery"
	"simgraph/db/kept"
	"simgraph/db/keyset"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/query"
)

// Log keeps in PostgreSQL when alerts fired.
type Log struct {
	kept.Store[int64, alertLogRow, domain.VolumeLogEntry, *alertLogRow]
}

var _ domain.VolumeLog = (*Log)(nil)

// NewLog returns the store on the pool.
func NewLog(pool *sqlx.DB) *Log { return &Log{kept.New(pool, nil, entryKind)} }

// entryKind is how entries of the log are read.
var entryKind = kept.Kind[int64, alertLogRow, domain.VolumeLogEntry]{
	Name: "entry", Table: alertLogTable, Shown: func(scope domain.Scope) []any { return []any{pg.GroupsOf(scope)} },
	Read: func(r *alertLogRow) (*domain.VolumeLogEntry, error) { return &r.VolumeLogEntry, nil }, ID: func(of *domain.VolumeLogEntry) *int64 { return &of.EntryID },
}

// EntrySelect are the columns of an entry l of the log.
const EntrySelect = `l.entry_id, l.alert_id, l.rule_type, l.target, l.limit_boundary, l.subscriber_key, l.group_id, l.target_group_id,
  l.period_start, l.period_end, l.threshold, l.usage, l.late AS is_late, l.silence_id, l.notification_id, l.date_created`

// alertLogTable is the list of domain.VolumeLogFields; $2 are the groups.
var alertLogTable = keyset.Table{
	Key: query.Field{Name: "entryId", Type: query.Integer}, Order: domain.VolumeLogOrder(), Select: EntrySelect, From: ` FROM alert_log l` + alert.JoinSubject + ` WHERE ` + alert.VisibleEntry,
	Columns: map[string]keyset.Column{
		"ruleType": {SQL: "l.rule_type"}, "target": {SQL: "l.target"}, "limitBoundary": {SQL: "l.limit_boundary"}, "dateCreated": {SQL: "l.date_created"},
		"entryId": {SQL: "l.entry_id"}, "alertId": {SQL: "l.alert_id"}, "physicalId": {SQL: "s.physical_id", Nullable: true},
		"threshold": {SQL: "l.threshold"}, "usage": {SQL: "l.usage"}, "isLate": {SQL: "l.late"},
	},
}

type alertLogRow struct {
	domain.VolumeLogEntry
	keyset.Keyed
}

const deliveriesOfNotifications = `
SELECT d.notification_id, d.recipient_id, d.email, d.mail_id, d.entries AS chosen,
  CASE WHEN d.mail_id IS NOT NULL THEN ` + delivery.MailState + ` WHEN d.suppressed THEN 'suppressed' ELSE 'waiting' END AS state,
  COALESCE(m.attempts, 0) AS attempts, d.created_at, CASE WHEN m.state = 'queued' THEN m.due_at END AS next_attempt_at, m.finished_at, COALESCE(m.last_error, '') AS last_error
FROM alert_deliveries d
LEFT JOIN mails m ON m.company_id = $1 AND m.mail_id = d.mail_id
WHERE d.company_id = $1 AND d.notification_id = ANY($2::uuid[])
ORDER BY d.email, d.recipient_id`

// Deliveries implements domain.AlertLog.
func (a *Log) Deliveries(ctx context.Context, scope domain.Scope, entries []domain.Notified) (map[domain.Notified][]*domain.AlertDelivery, error) {
	if err := pg.WholeCompanyOnly(scope, "recipients"); err != nil {
		return nil, err
	}
	type row struct {
		domain.AlertDelivery
		Chosen pq.Int64Array
	}
	notifications := pg.Pluck(entries, func(of domain.Notified) string { return of.NotificationID })
	rows, err := pg.SelectAll[row](ctx, a.Pool, deliveriesOfNotifications, scope.Company, pq.StringArray(notifications))
	if err != nil {
		return nil, err
	}
	byNotification := make(map[string][]*row, len(entries))
	for _, r := range rows {
		byNotification[r.NotificationID] = append(byNotification[r.NotificationID], r)
	}
	deliveries := make(map[domain.Notified][]*domain.AlertDelivery, len(entries))
	for _, of := range entries {
		for _, r := range byNotification[of.NotificationID] {
			if r.Chosen == nil || slices.Contains(r.Chosen, of.EntryID) {
				deliveries[of] = append(deliveries[of], of.Delivery(&r.AlertDelivery))
			}
		}
	}
	return deliveries, nil
}
