// Package alert lists the alerts of all kinds, and their log: the alerts on volume of db,
// and those on conditions of db/condition.
package alert

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/keyset"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/condition"
	"simgraph/domain/query"
)

// Alerts lists the alerts of all kinds in PostgreSQL.
type Alerts struct{ pool *sqlx.DB }

var _ domain.Alerts = (*Alerts)(nil)

// NewAlerts returns the store on the pool.
func NewAlerts(pool *sqlx.DB) *Alerts { return &Alerts{pool} }

const (
	// JoinSubscriber joins the subscriber s of alerts a that are on a single one.
	JoinSubscriber = `
LEFT JOIN subscribers s ON s.company_id = a.company_id AND s.key = a.subscriber_key`
	// JoinThresholds joins both thresholds of alerts a on volume, and their subscriber.
	JoinThresholds = `
JOIN alert_thresholds lower ON lower.company_id = a.company_id AND lower.alert_id = a.alert_id AND lower.boundary = 'lower'
JOIN alert_thresholds upper ON upper.company_id = a.company_id AND upper.alert_id = a.alert_id AND upper.boundary = 'upper'` + JoinSubscriber
	// Visible is the condition that a scope ($1, $2) shows the alert a.
	Visible = `a.company_id = $1 AND ($2::bigint[] IS NULL OR COALESCE(a.group_id, s.group_id) = ANY($2))`
	// Target is the target of an alert a as text.
	Target = `COALESCE(s.subscriber_id, a.group_id::text, '')`
)

const (
	alertSelect = `a.alert_id, a.kind, a.rule_type, a.target, a.subscriber_key, a.group_id, a.lower_threshold, a.upper_threshold,
  a.bound, a.traits, a.revision, a.armed_at, a.date_created, a.name, a.description`
	// onVolume and onConditions are the alerts a of a scope ($1, $2). {page} is filled with
	// further conditions, order and limit.
	onVolume = `
  (SELECT * FROM (
    SELECT a.company_id, a.alert_id, 'volume' COLLATE "C" AS kind, a.rule_type, ` + Target + ` COLLATE "C" AS target,
      a.subscriber_key, a.group_id, lower.threshold AS lower_threshold, upper.threshold AS upper_threshold,
      0::bigint AS bound, '{}'::text[] AS traits, 0 AS revision, a.date_created AS armed_at, a.date_created, a.name, a.description
    FROM alerts a` + JoinThresholds + `
    WHERE ` + Visible + `
  ) a WHERE true{page})`
	onConditions = `
  (SELECT * FROM (
    SELECT a.company_id, a.alert_id, a.kind, a.rule_type, ` + Target + ` COLLATE "C" AS target,
      a.subscriber_key, a.group_id, NULL::bigint AS lower_threshold, NULL::bigint AS upper_threshold,
      a.bound, a.traits, a.revision, a.armed_at, a.date_created, a.name, a.description
    FROM condition_alerts a` + JoinSubscriber + `
    WHERE ` + Visible + `
  ) a WHERE true{page})`
	fromAlerts = `
FROM (` + onVolume + `
  UNION ALL` + onConditions + `
) a
WHERE a.company_id = $1`
	listAlerts     = `SELECT ` + alertSelect + `, {cursor} AS cursor_keys` + fromAlerts
	countAlerts    = `SELECT count(*)` + fromAlerts
	findAlerts     = `SELECT ` + alertSelect + fromAlerts + ` AND a.alert_id = ANY($3)`
	alertsOfParent = listAlerts + ` AND a.group_id = parent.id`
)

// alertColumns are where the fields of domain.AlertFields live.
var alertColumns = map[string]keyset.Column{
	"alertId":        {SQL: "a.alert_id"},
	"name":           {SQL: "a.name", Nullable: true},
	"kind":           {SQL: "a.kind"},
	"ruleType":       {SQL: "a.rule_type"},
	"target":         {SQL: "a.target"},
	"lowerThreshold": {SQL: "a.lower_threshold", Nullable: true},
	"upperThreshold": {SQL: "a.upper_threshold", Nullable: true},
	"createdAt":      {SQL: "a.date_created"},
}

type alertRow struct {
	AlertID                        int64
	Kind                           domain.AlertKind
	RuleType                       domain.RuleType
	Target                         string
	SubscriberKey, GroupID         *int64
	LowerThreshold, UpperThreshold *int64
	Bound                          int64
	Traits                         pg.TextList[condition.Trait]
	Revision                       int
	ArmedAt, DateCreated           time.Time
	Name, Description              *string
	keyset.Keyed
}

func (r *alertRow) alert() domain.Alert {
	words := domain.AlertWords{Name: r.Name, Description: r.Description}
	if r.Kind == domain.KindVolume {
		return &domain.VolumeAlert{
			AlertID: r.AlertID, RuleType: r.RuleType, Target: r.Target, SubscriberKey: r.SubscriberKey, GroupID: r.GroupID,
			LowerThreshold: *r.LowerThreshold, UpperThreshold: *r.UpperThreshold, DateCreated: r.DateCreated, AlertWords: words,
		}
	}
	return &condition.Alert{
		AlertID: r.AlertID, RuleType: r.RuleType, Target: r.Target, SubscriberKey: r.SubscriberKey, GroupID: r.GroupID,
		Kind: r.Kind, Bound: r.Bound, Traits: r.Traits, Revision: r.Revision, ArmedAt: r.ArmedAt, DateCreated: r.DateCreated, AlertWords: words,
	}
}

func newAlertList(scope domain.Scope, args ...any) *keyset.List {
	key, _ := domain.AlertFields.Find("alertId")
	return keyset.New(func(field string) keyset.Column { return alertColumns[field] }, key, append([]any{scope.Company, pg.GroupsOf(scope)}, args...)...)
}

// alertOrder is the order when none is requested.
func alertOrder() []query.Order {
	key, _ := domain.AlertFields.Find("alertId")
	return []query.Order{{Field: key}}
}

// List implements domain.Alerts.
func (a *Alerts) List(ctx context.Context, scope domain.Scope, listing domain.Listing) (domain.Slice[domain.Alert], error) {
	listing = listing.InOrder(alertOrder())
	sql, err := paged(newAlertList(scope), listAlerts, listing)
	if err != nil {
		return domain.Slice[domain.Alert]{}, err
	}
	return keyset.Rows(ctx, a.pool, newAlertList(scope), sql, listing, (*alertRow).alert)
}

// paged has each part of a union read as far as the page could need it, by its index. The
// arguments of the list are those of the whole statement.
func paged(l *keyset.List, sql string, listing domain.Listing) (string, error) {
	part, err := l.Pieces(listing)
	if err != nil {
		return "", err
	}
	return pg.Fill(sql, "page", " AND "+part.Where+" ORDER BY "+part.OrderBy+" "+part.Limit), nil
}

// Count implements domain.Alerts.
func (a *Alerts) Count(ctx context.Context, scope domain.Scope, listing domain.Listing) (int, error) {
	l := newAlertList(scope)
	return pg.Count(ctx, a.pool, pg.Fill(countAlerts, "page", " AND "+l.Filter(listing.Filter)), l.Args...)
}

// FindMany implements domain.Alerts.
func (a *Alerts) FindMany(ctx context.Context, scope domain.Scope, numbers []int64) (map[int64]domain.Alert, error) {
	rows, err := pg.SelectAll[alertRow](ctx, a.pool, pg.Fill(findAlerts, "page", ""), scope.Company, pg.GroupsOf(scope), pq.Int64Array(numbers))
	if err != nil {
		return nil, err
	}
	found := make(map[int64]domain.Alert, len(rows))
	for _, row := range rows {
		found[row.AlertID] = row.alert()
	}
	return found, nil
}

// OfGroups implements domain.Alerts.
func (a *Alerts) OfGroups(ctx context.Context, scope domain.Scope, groups []int64, listing domain.Listing) (map[int64]domain.Slice[domain.Alert], error) {
	l := newAlertList(scope, pq.Int64Array(groups))
	return keyset.RowsEach(ctx, a.pool, l, "unnest($3::bigint[]) AS parent(id)", pg.Fill(alertsOfParent, "page", ""), listing.InOrder(alertOrder()), groups,
		func(row *alertRow) int64 { return *row.GroupID }, (*alertRow).alert)
}

// CountOfGroups implements domain.Alerts.
func (a *Alerts) CountOfGroups(ctx context.Context, scope domain.Scope, groups []int64, listing domain.Listing) (map[int64]int, error) {
	l := newAlertList(scope, pq.Int64Array(groups))
	where := l.Filter(listing.Filter)
	return pg.CountEach[int64](ctx, a.pool, `SELECT a.group_id AS parent, count(*) AS number`+pg.Fill(fromAlerts, "page", "")+
		` AND a.group_id = ANY($3) AND `+where+` GROUP BY a.group_id`, l.Args)
}
