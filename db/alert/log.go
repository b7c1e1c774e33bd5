package alert

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/keyset"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/condition"
	"simgraph/domain/query"
)

// Log lists in PostgreSQL what alerts of all kinds fired.
type Log struct{ pool *sqlx.DB }

var _ domain.AlertLog = (*Log)(nil)

// NewLog returns the store on the pool.
func NewLog(pool *sqlx.DB) *Log { return &Log{pool} }

const (
	// JoinSubject joins the subscriber s that entries l of a log are about.
	JoinSubject = `
LEFT JOIN subscribers s ON s.company_id = l.company_id AND s.key = l.subscriber_key`
	// VisibleEntry is the condition that a scope ($1, $2) shows the entry l: both the group
	// that it was set on and the subject.
	VisibleEntry = `l.company_id = $1 AND ($2::bigint[] IS NULL OR ` + visibleToGroups + `)`

	visibleToGroups = `l.rule_type <> 'company'
  AND COALESCE(l.target_group_id, s.group_id) = ANY($2) AND COALESCE(l.group_id, s.group_id) = ANY($2)`
)

func visible(sql string, scope domain.Scope) string {
	return pg.Visible(sql, scope, "l", visibleToGroups)
}

const (
	logSelect = `l.entry_id, l.alert_id, l.kind, l.state, l.rule_type, l.target, l.subscriber_key, l.group_id, l.target_group_id,
  l.limit_boundary, l.period_start, l.period_end, l.threshold, l.usage, l.is_late, l.source, l.nas, l.since, l.bound, l.value,
  l.trait, l.before, l.after, l.resolves, l.resolved_at, l.silence_id, l.notification_id, l.date_created`
	// entriesOnVolume and entriesOnConditions are the entries l of a scope. Their key is the
	// entry_id with the log that it is of, because each log counts on its own. {visible} is filled
	// by the scope, {page} with further conditions, order and limit.
	entriesOnVolume = `
  (SELECT * FROM (
    SELECT l.company_id, l.entry_id, l.entry_id * 2 AS key, l.alert_id, 'volume' COLLATE "C" AS kind, 'fired' COLLATE "C" AS state, l.rule_type, l.target,
      l.subscriber_key, l.group_id, l.target_group_id, s.physical_id, l.limit_boundary, l.period_start, l.period_end, l.threshold, l.usage, l.late AS is_late,
      '' COLLATE "C" AS source, '' COLLATE "C" AS nas, l.date_created AS since, 0::bigint AS bound, 0::bigint AS value, '' COLLATE "C" AS trait, '' AS before, '' AS after,
      false AS is_open, NULL::bigint AS resolves, NULL::timestamptz AS resolved_at, l.silence_id, l.notification_id, l.date_created
    FROM alert_log l` + JoinSubject + `
    WHERE l.company_id = $1 AND {visible}
  ) l WHERE true{page})`
	entriesOnConditions = `
  (SELECT * FROM (
    SELECT l.company_id, l.entry_id, l.entry_id * 2 + 1 AS key, l.alert_id, l.kind, l.state, l.rule_type, l.target,
      l.subscriber_key, l.group_id, l.target_group_id, s.physical_id, NULL COLLATE "C" AS limit_boundary, NULL::timestamptz AS period_start, NULL::timestamptz AS period_end,
      NULL::bigint AS threshold, NULL::bigint AS usage, NULL::boolean AS is_late,
      l.source, l.nas, l.since, l.bound, l.value, l.trait, l.before, l.after,
      l.is_open, l.resolves, l.resolved_at, l.silence_id, l.notification_id, l.date_created
    FROM condition_log l` + JoinSubject + `
    WHERE l.company_id = $1 AND {visible}
  ) l WHERE true{page})`
	fromLog = `
FROM (` + entriesOnVolume + `
  UNION ALL` + entriesOnConditions + `
) l
WHERE l.company_id = $1`
	listLog            = `SELECT ` + logSelect + `, {cursor} AS cursor_keys` + fromLog
	countLog           = `SELECT count(*)` + fromLog
	logOfNotifications = `SELECT ` + logSelect + fromLog + ` AND l.notification_id = ANY($3::uuid[])
ORDER BY l.date_created, l.key
LIMIT 10000`
)

// entryKey breaks ties. Nobody filters by it.
var entryKey = query.Field{Name: "key", Type: query.Integer}

// logColumns are where the fields of domain.AlertLogFields live, and the key.
var logColumns = map[string]keyset.Column{
	entryKey.Name:   {SQL: "l.key"},
	"entryId":       {SQL: "l.entry_id"},
	"alertId":       {SQL: "l.alert_id"},
	"kind":          {SQL: "l.kind"},
	"state":         {SQL: "l.state"},
	"ruleType":      {SQL: "l.rule_type"},
	"target":        {SQL: "l.target"},
	"physicalId":    {SQL: "l.physical_id", Nullable: true},
	"isOpen":        {SQL: "l.is_open"},
	"limitBoundary": {SQL: "l.limit_boundary", Nullable: true},
	"threshold":     {SQL: "l.threshold", Nullable: true},
	"usage":         {SQL: "l.usage", Nullable: true},
	"isLate":        {SQL: "l.is_late", Nullable: true},
	"createdAt":     {SQL: "l.date_created"},
}

type logRow struct {
	EntryID, AlertID                      int64
	Kind                                  domain.AlertKind
	State                                 domain.AlertLogEntryState
	RuleType                              domain.RuleType
	Target                                string
	SubscriberKey, GroupID, TargetGroupID *int64
	LimitBoundary                         *domain.Boundary
	PeriodStart, PeriodEnd                *time.Time
	Threshold, Usage                      *int64
	IsLate                                *bool
	Source, NAS                           string
	Since                                 time.Time
	Bound, Value                          int64
	Trait                                 condition.Trait
	Before, After                         string
	Resolves                              *int64
	ResolvedAt                            *time.Time
	SilenceID                             *int64
	NotificationID                        *string
	DateCreated                           time.Time
	keyset.Keyed
}

func (r *logRow) entry() domain.AlertLogEntry {
	if r.Kind == domain.KindVolume {
		return &domain.VolumeLogEntry{
			EntryID: r.EntryID, AlertID: r.AlertID, RuleType: r.RuleType, Target: r.Target, LimitBoundary: *r.LimitBoundary,
			SubscriberKey: r.SubscriberKey, GroupID: r.GroupID, TargetGroupID: r.TargetGroupID, PeriodStart: *r.PeriodStart, PeriodEnd: *r.PeriodEnd,
			Threshold: *r.Threshold, Usage: *r.Usage, IsLate: *r.IsLate, SilenceID: r.SilenceID, NotificationID: r.NotificationID, DateCreated: r.DateCreated,
		}
	}
	return &condition.Entry{
		EntryID: r.EntryID, AlertID: r.AlertID, Kind: r.Kind, State: r.State, RuleType: r.RuleType, Target: r.Target,
		SubscriberKey: r.SubscriberKey, GroupID: r.GroupID, TargetGroupID: r.TargetGroupID, Source: r.Source, NAS: r.NAS, Since: r.Since,
		Bound: r.Bound, Value: r.Value, Trait: r.Trait, Before: r.Before, After: r.After, Resolves: r.Resolves, ResolvedAt: r.ResolvedAt,
		SilenceID: r.SilenceID, NotificationID: r.NotificationID, DateCreated: r.DateCreated,
	}
}

func newLogList(scope domain.Scope) *keyset.List {
	return keyset.New(func(field string) keyset.Column { return logColumns[field] }, entryKey, scope.Company, pg.GroupsOf(scope))
}

// List implements domain.AlertLog.
func (l *Log) List(ctx context.Context, scope domain.Scope, listing domain.Listing) (domain.Slice[domain.AlertLogEntry], error) {
	created, _ := domain.AlertLogFields.Find("createdAt")
	listing = listing.InOrder([]query.Order{{Field: created, Desc: true}, {Field: entryKey, Desc: true}})
	sql, err := paged(newLogList(scope), visible(listLog, scope), listing)
	if err != nil {
		return domain.Slice[domain.AlertLogEntry]{}, err
	}
	return keyset.Rows(ctx, l.pool, newLogList(scope), sql, listing, (*logRow).entry)
}

// Count implements domain.AlertLog.
func (l *Log) Count(ctx context.Context, scope domain.Scope, listing domain.Listing) (int, error) {
	list := newLogList(scope)
	return pg.Count(ctx, l.pool, pg.Fill(visible(countLog, scope), "page", " AND "+list.Filter(listing.Filter)), list.Args...)
}

// OfNotifications returns the visible entries of notifications, the oldest first.
func (l *Log) OfNotifications(ctx context.Context, scope domain.Scope, notifications []uuid.UUID) ([]domain.AlertLogEntry, error) {
	rows, err := pg.SelectAll[logRow](ctx, l.pool, pg.Fill(visible(logOfNotifications, scope), "page", ""), scope.Company, pg.GroupsOf(scope), pq.Array(notifications))
	if err != nil {
		return nil, err
	}
	return pg.Pluck(rows, (*logRow).entry), nil
}
