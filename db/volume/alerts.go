// Package volume keeps alerts on volumes of data in PostgreSQL: their thresholds, what fired, and
// the evaluation of usage as it is booked.
package volume

import (
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/alert"
	"simgraph/db/kept"
	"simgraph/db/keyset"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/query"
)

// Alerts keeps the monitoring alerts in PostgreSQL.
type Alerts struct {
	kept.Store[int64, alertRow, domain.VolumeAlert, *alertRow]
}

var _ domain.VolumeAlerts = (*Alerts)(nil)

// NewAlerts returns the store on the pool; now is the clock.
func NewAlerts(pool *sqlx.DB, now func() time.Time) *Alerts {
	return &Alerts{kept.New(pool, now, alertKind)}
}

// alertKind is how alerts are kept. The error on what is hidden is that on what is not there.
var alertKind = kept.Kind[int64, alertRow, domain.VolumeAlert]{
	Type: "Alert", Name: "alert", Field: "alertId", Table: alertsTable, Shown: func(scope domain.Scope) []any { return []any{pg.GroupsOf(scope)} },
	Read: func(r *alertRow) (*domain.VolumeAlert, error) { return &r.VolumeAlert, nil }, ID: func(of *domain.VolumeAlert) *int64 { return &of.AlertID },
}

// FromAlerts are the alerts a with their thresholds and the subscriber s of
// those on a single one.
const FromAlerts = `
FROM alerts a` + alert.JoinThresholds

const alertSelect = `a.alert_id, a.rule_type, ` + alert.Target + ` AS target, a.subscriber_key, a.group_id,
  lower.threshold AS lower_threshold, upper.threshold AS upper_threshold, a.date_created, a.name, a.description`

// alertsTable is the list of domain.VolumeAlertFields; $2 are the groups.
var alertsTable = keyset.Table{
	Key: query.Field{Name: "id", Type: query.Integer}, Select: alertSelect, From: FromAlerts + ` WHERE ` + alert.Visible,
	Columns: map[string]keyset.Column{
		"id": {SQL: "a.alert_id"}, "ruleType": {SQL: "a.rule_type"}, "target": {SQL: alert.Target}, "lowerThreshold": {SQL: "lower.threshold"},
		"upperThreshold": {SQL: "upper.threshold"}, "dateCreated": {SQL: "a.date_created"},
	},
}

type alertRow struct {
	domain.VolumeAlert
	keyset.Keyed
}
