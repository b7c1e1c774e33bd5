// Package volume keeps alerts on volumes of data in PostgreSQL: their thresholds, what fired, and
// the evaluation of usage as it is booked.
package volume

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/alert"
	"simgraph/db/keyset"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/query"
)

// Alerts keeps the monitoring alerts in PostgreSQL.
type Alerts struct {
	pool *sqlx.DB
	now  func() time.Time
}

var _ domain.VolumeAlerts = (*Alerts)(nil)

// NewAlerts returns the store on the pool; now is the clock.
func NewAlerts(pool *sqlx.DB, now func() time.Time) *Alerts {
	return &Alerts{pool, now}
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

// Find implements domain.Alerts.
func (a *Alerts) Find(ctx context.Context, scope domain.Scope, id int64) (*domain.VolumeAlert, error) {
	return findAlert(ctx, a.pool, scope, id)
}

func findAlert(ctx context.Context, in sqlx.QueryerContext, scope domain.Scope, id int64) (*domain.VolumeAlert, error) {
	found, err := findManyAlerts(ctx, in, scope, []int64{id})
	if err != nil {
		return nil, err
	}
	if of := found[id]; of != nil {
		return of, nil
	}
	// The text for what is hidden is that for what is not there.
	return nil, domain.NotFound("alertId", "alert", pg.FormatInt(id))
}

const findAlerts = `SELECT ` + alertSelect + FromAlerts + `
WHERE ` + alert.Visible + ` AND a.alert_id = ANY($3)`

// FindMany implements domain.Alerts.
func (a *Alerts) FindMany(ctx context.Context, scope domain.Scope, ids []int64) (map[int64]*domain.VolumeAlert, error) {
	return findManyAlerts(ctx, a.pool, scope, ids)
}

func findManyAlerts(ctx context.Context, in sqlx.QueryerContext, scope domain.Scope, ids []int64) (map[int64]*domain.VolumeAlert, error) {
	rows, err := pg.SelectAll[domain.VolumeAlert](ctx, in, findAlerts, scope.Company, pg.GroupsOf(scope), pq.Int64Array(ids))
	if err != nil {
		return nil, err
	}
	return pg.Keyed(rows, func(of *domain.VolumeAlert) int64 { return of.AlertID }), nil
}

type alertRow struct {
	domain.VolumeAlert
	keyset.Keyed
}

// List implements domain.Alerts.
func (a *Alerts) List(ctx context.Context, scope domain.Scope, listing domain.Listing) (domain.Slice[*domain.VolumeAlert], error) {
	return keyset.Page(ctx, a.pool, alertsTable, scope, listing, func(row *alertRow) *domain.VolumeAlert { return &row.VolumeAlert }, pg.GroupsOf(scope))
}

// Count implements domain.Alerts.
func (a *Alerts) Count(ctx context.Context, scope domain.Scope, listing domain.Listing) (int, error) {
	return alertsTable.Count(ctx, a.pool, scope, listing, pg.GroupsOf(scope))
}
