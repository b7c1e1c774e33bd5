package webhook

import (
	"cmp"
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/condition"
	"simgraph/domain/webhook"
)

// AreWanted is the condition that an endpoint of the company $1 gets changes of
// subscribers.
const AreWanted = `EXISTS (
  SELECT FROM webhooks w WHERE w.company_id = $1 AND w.disabled_at IS NULL AND 'subscriber.changed' = ANY(w.event_types))`

// wantingWebhooks are the endpoints that get events of the type $2, with what their
// users may see now.
const wantingWebhooks = `
SELECT own.external_id, w.webhook_id, COALESCE(w.user_id, 0) AS user_id, w.event_types AS types, w.alert_ids AS alerts, w.group_ids AS wanted, w.tag_names AS tags,
  w.groups IS NOT NULL AS restricted, w.groups AS sight, COALESCE(u.disabled, true) AS blind,
  ARRAY(SELECT ug.group_id FROM user_groups ug WHERE ug.company_id = $1 AND ug.user_id = w.user_id) AS current
FROM companies own
JOIN webhooks w ON w.company_id = $1 AND w.disabled_at IS NULL AND $2 = ANY(w.event_types)
LEFT JOIN users u ON u.company_id = $1 AND u.user_id = w.user_id
WHERE own.company_id = $1
ORDER BY w.webhook_id`

// anyWanting comes before wantingWebhooks: Citus sends on what reads one table, and plans what
// reads several again for each change.
const anyWanting = `SELECT FROM webhooks WHERE company_id = $1 AND disabled_at IS NULL AND $2 = ANY(event_types) LIMIT 1`

// wantingOf returns the endpoints that get events of a type.
func wantingOf(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, of webhook.EventType) ([]*wanting, error) {
	if n, err := pg.Returned(ctx, tx, anyWanting, company, of); err != nil || n == 0 {
		return nil, err
	}
	return pg.SelectAll[wanting](ctx, tx, wantingWebhooks, company, of)
}

type wanting struct {
	ExternalID string
	WebhookID  int64
	// UserID is who made it; 0 for the program itself.
	UserID     int64
	Types      pg.TextList[webhook.EventType]
	Alerts     pq.Int64Array
	Wanted     pq.Int64Array
	Tags       pg.TextList[string]
	Restricted bool
	Sight      pq.Int64Array
	Blind      bool
	Current    pq.Int64Array
}

// gets reports whether the endpoint gets the event.
func (w *wanting) gets(event *webhook.About) bool {
	filter := webhook.Filter{EventTypes: w.Types, AlertIDs: w.Alerts, GroupIDs: w.Wanted, TagNames: w.Tags}
	if !w.Restricted {
		return filter.Selects(event)
	}
	sight := webhook.Sight{Groups: append([]int64{}, w.Sight...), Current: w.Current, Blind: w.Blind}
	return sight.Shows(event) && filter.Selects(event)
}

// atOnce bounds the messages that one statement writes.
const atOnce = 1000

// insertMessages leaves out endpoints that were removed meanwhile.
const insertMessages = `
INSERT INTO webhook_messages (company_id, message_id, webhook_id, event_type, event, created_at)
SELECT own.company_id, m.message_id, m.webhook_id, $5, m.event, $6
FROM companies own
CROSS JOIN unnest($2::uuid[], $3::bigint[], $4::text[]) AS m(message_id, webhook_id, event)
WHERE own.company_id = $1 AND EXISTS (SELECT FROM webhooks w WHERE w.company_id = $1 AND w.webhook_id = m.webhook_id)`

// batch are messages that are about to be written.
type batch struct {
	tx       *sqlx.Tx
	company  domain.CompanyID
	of       webhook.EventType
	at       time.Time
	ids      pq.StringArray
	webhooks pq.Int64Array
	events   pq.StringArray
	// written counts those that were written.
	written int
}

// newID returns the id of a message.
func newID() string { return uuid.Must(uuid.NewV7()).String() }

func (b *batch) add(ctx context.Context, id string, to int64, event []byte) error {
	b.ids, b.webhooks, b.events = append(b.ids, id), append(b.webhooks, to), append(b.events, string(event))
	if len(b.ids) < atOnce {
		return nil
	}
	return b.write(ctx)
}

func (b *batch) write(ctx context.Context) error {
	if len(b.ids) == 0 {
		return nil
	}
	_, err := pg.Affected(ctx, b.tx, insertMessages, b.company, b.ids, b.webhooks, b.events, b.of, b.at)
	b.written += len(b.ids)
	b.ids, b.webhooks, b.events = nil, nil, nil
	return err
}

// tagsOfSubscriber is a column of rows with the subscriber s.
const tagsOfSubscriber = `ARRAY(SELECT t.tag_name FROM subscriber_tags t WHERE t.company_id = $1 AND t.subscriber_key = s.key) AS tags`

const (
	volumeEntries = `
SELECT l.entry_id, l.alert_id, l.rule_type, l.limit_boundary, l.threshold, l.usage, l.late, l.period_start, l.period_end, l.date_created,
  l.group_id, l.target_group_id, ` + subjectColumns + `
FROM alert_log` + ofNotification
	conditionEntries = `
SELECT l.entry_id, l.alert_id, l.kind, l.state, l.rule_type, l.target, l.subscriber_key, l.group_id, l.target_group_id, l.source, l.since, l.bound, l.value,
  l.trait, l.before, l.after, l.resolves, l.date_created, ` + subjectColumns + `
FROM condition_log` + ofNotification

	subjectColumns = `s.physical_id, s.subscriber_id, s.nickname, s.group_id AS member_of, g.name AS group_name, ` + tagsOfSubscriber
	// ofNotification leaves the entries l of a log that are of a notification and not silenced,
	// after an entry.
	ofNotification = ` l
LEFT JOIN subscribers s ON s.company_id = $1 AND s.key = l.subscriber_key
LEFT JOIN groups g ON g.company_id = $1 AND g.group_id = COALESCE(l.group_id, l.target_group_id, s.group_id)
WHERE l.company_id = $1 AND l.notification_id = $2 AND l.entry_id > $3 AND l.silence_id IS NULL
ORDER BY l.entry_id
LIMIT $4`
)

// subject is the subscriber or group that an entry is about.
type subject struct {
	PhysicalID, SubscriberID, Nickname *string
	MemberOf                           *int64
	GroupName                          *string
	Tags                               pg.TextList[string]
}

// about is what endpoints choose an entry by that is also of some groups.
func (s *subject) about(of webhook.EventType, alert int64, rule domain.RuleType, groups ...*int64) *webhook.About {
	about := &webhook.About{Type: of, AlertID: alert, OfCompany: rule == domain.RuleCompany, Tags: s.Tags}
	for _, group := range append(groups, s.MemberOf) {
		if group != nil {
			about.Groups = append(about.Groups, *group)
		}
	}
	return about
}

type volumeEntry struct {
	EntryID       int64
	AlertID       int64
	RuleType      domain.RuleType
	LimitBoundary string
	Threshold     int64
	Usage         int64
	Late          bool
	PeriodStart   time.Time
	PeriodEnd     time.Time
	DateCreated   time.Time
	GroupID       *int64
	TargetGroupID *int64
	subject
}

func (e *volumeEntry) about() *webhook.About {
	return e.subject.about(webhook.AlertFired, e.AlertID, e.RuleType, e.GroupID, e.TargetGroupID)
}

func (e *volumeEntry) event(company string) *webhook.Event {
	group := cmp.Or(e.GroupID, e.TargetGroupID, e.MemberOf)
	return webhook.NewAlertFired(company, e.DateCreated, &webhook.Firing{
		EntryID: e.EntryID, AlertID: e.AlertID, RuleType: string(e.RuleType), LimitBoundary: e.LimitBoundary, Threshold: e.Threshold, Usage: e.Usage,
		IsLate: e.Late, PeriodStart: e.PeriodStart.UTC(), PeriodEnd: e.PeriodEnd.UTC(), PhysicalID: e.PhysicalID, SubscriberID: e.SubscriberID,
		Nickname: e.Nickname, GroupID: group, GroupName: e.GroupName,
	})
}

// AlertsFired queues the messages about the entries of a notification, in the
// transaction that logs them, and returns how many they are.
func AlertsFired(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, notification uuid.UUID, at time.Time) (int, error) {
	endpoints, err := wantingOf(ctx, tx, company, webhook.AlertFired)
	if err != nil || len(endpoints) == 0 {
		return 0, err
	}
	messages := &batch{tx: tx, company: company, of: webhook.AlertFired, at: at}
	for after := int64(0); ; {
		entries, err := pg.SelectAll[volumeEntry](ctx, tx, volumeEntries, company, notification, after, atOnce)
		if err != nil {
			return 0, err
		}
		for _, entry := range entries {
			if err := messages.addEntry(ctx, entry, endpoints); err != nil {
				return 0, err
			}
			after = entry.EntryID
		}
		if len(entries) < atOnce {
			err := messages.write(ctx)
			return messages.written, err
		}
	}
}

// loggedEntry is an entry of a log.
type loggedEntry interface {
	about() *webhook.About
	event(company string) *webhook.Event
}

func (b *batch) addEntry(ctx context.Context, entry loggedEntry, endpoints []*wanting) error {
	about := entry.about()
	var event []byte
	for _, endpoint := range endpoints {
		if !endpoint.gets(about) {
			continue
		}
		if event == nil {
			event = entry.event(endpoint.ExternalID).JSON()
		}
		if err := b.add(ctx, newID(), endpoint.WebhookID, event); err != nil {
			return err
		}
	}
	return nil
}

type conditionEntry struct {
	condition.Entry
	subject
}

// eventType is as what the entry is sent.
func (e *conditionEntry) eventType() webhook.EventType {
	switch {
	case e.State == condition.Resolved:
		return webhook.AlertResolved
	case e.Kind == condition.SourceSilent:
		return webhook.SourceSilent
	}
	return webhook.AlertFired
}

func (e *conditionEntry) about() *webhook.About {
	return e.subject.about(e.eventType(), e.AlertID, e.RuleType, e.GroupID, e.TargetGroupID)
}

func (e *conditionEntry) event(company string) *webhook.Event {
	entry := &webhook.ConditionEntry{
		Kind: string(e.Kind), EntryID: e.EntryID, RuleType: string(e.RuleType), Since: e.Since.UTC(), Bound: e.Bound, Value: e.Value,
		Trait: string(e.Trait), Before: e.Before, After: e.After, Source: e.Source, NAS: e.NAS, Resolves: e.Resolves,
		PhysicalID: e.PhysicalID, SubscriberID: e.SubscriberID, Nickname: e.Nickname, GroupID: cmp.Or(e.GroupID, e.TargetGroupID, e.MemberOf), GroupName: e.GroupName,
	}
	names := condition.Names{SubscriberID: domain.OrEmpty(e.SubscriberID), Nickname: domain.OrEmpty(e.Nickname), GroupName: domain.OrEmpty(e.GroupName)}
	entry.Text = e.Subject(names) + " " + e.Describe()
	if e.AlertID != 0 {
		entry.AlertID = &e.AlertID
	}
	return webhook.NewConditionEvent(company, e.eventType(), e.DateCreated, entry)
}

// ConditionsLogged queues the messages about entries of the log of conditions, all of one
// alert and state, in the transaction that logs them.
func ConditionsLogged(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, notification uuid.UUID, at time.Time) error {
	for after, messages, endpoints := int64(0), (*batch)(nil), []*wanting(nil); ; {
		entries, err := pg.SelectAll[conditionEntry](ctx, tx, conditionEntries, company, notification, after, atOnce)
		if err != nil || len(entries) == 0 && messages == nil {
			return err
		}
		if messages == nil {
			messages = &batch{tx: tx, company: company, of: entries[0].eventType(), at: at}
			if endpoints, err = wantingOf(ctx, tx, company, messages.of); err != nil || len(endpoints) == 0 {
				return err
			}
		}
		for _, entry := range entries {
			if err := messages.addEntry(ctx, entry, endpoints); err != nil {
				return err
			}
			after = entry.EntryID
		}
		if len(entries) < atOnce {
			return messages.write(ctx)
		}
	}
}

const (
	changedColumns = `
SELECT s.physical_id, s.group_id, ` + tagsOfSubscriber + `
FROM subscribers s
WHERE s.company_id = $1 AND `
	changedByName = changedColumns + `s.physical_id = ANY($2)
ORDER BY s.physical_id`
	changedByKey = changedColumns + `s.key = ANY($2)
ORDER BY s.physical_id`
)

type changedSubscriber struct {
	PhysicalID string
	GroupID    *int64
	Tags       pg.TextList[string]
}

// NamedChanged queues the messages about subscribers whose record or tags changed, in the
// transaction that changes them. Those that are none are left out.
func NamedChanged(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, physicalIDs []string) error {
	return subscribersChanged(ctx, tx, company, changedByName, func(from, to int) any { return pq.StringArray(physicalIDs[from:to]) }, len(physicalIDs))
}

// KeysChanged is NamedChanged by the keys of subscribers.
func KeysChanged(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, keys []int64) error {
	return subscribersChanged(ctx, tx, company, changedByKey, func(from, to int) any { return pq.Int64Array(keys[from:to]) }, len(keys))
}

func subscribersChanged(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, sql string, part func(from, to int) any, n int) error {
	if n == 0 {
		return nil
	}
	endpoints, err := wantingOf(ctx, tx, company, webhook.SubscriberChanged)
	if err != nil || len(endpoints) == 0 {
		return err
	}
	at := pg.Moment(time.Now())
	messages := &batch{tx: tx, company: company, of: webhook.SubscriberChanged, at: at}
	for from := 0; from < n; from += webhook.MaxSubscribers {
		changed, err := pg.SelectAll[changedSubscriber](ctx, tx, sql, company, part(from, min(n, from+webhook.MaxSubscribers)))
		if err != nil {
			return err
		}
		for _, endpoint := range endpoints {
			if err := messages.addChanged(ctx, endpoint, changed); err != nil {
				return err
			}
		}
	}
	return messages.write(ctx)
}

// addChanged adds the message about those of the subscribers that the endpoint gets.
func (b *batch) addChanged(ctx context.Context, endpoint *wanting, changed []*changedSubscriber) error {
	var physicalIDs []string
	for _, of := range changed {
		about := webhook.About{Type: webhook.SubscriberChanged, Tags: of.Tags}
		if of.GroupID != nil {
			about.Groups = []int64{*of.GroupID}
		}
		if endpoint.gets(&about) {
			physicalIDs = append(physicalIDs, of.PhysicalID)
		}
	}
	if len(physicalIDs) == 0 {
		return nil
	}
	id := newID()
	return b.add(ctx, id, endpoint.WebhookID, webhook.NewSubscriberChanged(endpoint.ExternalID, id, b.at, physicalIDs).JSON())
}

const finishedOperation = `
SELECT o.operation_id::text AS operation_id, o.state, o.is_dry_run, o.undo_of::text AS undo_of, o.total, o.created, o.changed, o.removed, o.failed, o.skipped,
  nullif(o.reason, '') AS reason, o.ended_at, o.groups, o.user_id
FROM operations o
WHERE o.company_id = $1 AND o.operation_id = $2`

type finished struct {
	webhook.Finish
	EndedAt time.Time
	Groups  pq.Int64Array
	UserID  int64
}

// OperationFinished queues the messages about an operation, in the transaction that ends
// it. Endpoints of users of groups get it where they started it themselves.
func OperationFinished(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, id uuid.UUID, description string) error {
	endpoints, err := wantingOf(ctx, tx, company, webhook.OperationFinished)
	if err != nil || len(endpoints) == 0 {
		return err
	}
	of, err := pg.GetOne[finished](ctx, tx, domain.NotFound("operationId", "operation", id.String()), finishedOperation, company, id)
	if err != nil {
		return err
	}
	of.Description = description
	about := &webhook.About{Type: webhook.OperationFinished, OfCompany: of.Groups == nil, Groups: of.Groups}
	messages := &batch{tx: tx, company: company, of: webhook.OperationFinished, at: of.EndedAt}
	for _, endpoint := range endpoints {
		if !endpoint.gets(about) || endpoint.Restricted && endpoint.UserID != of.UserID {
			continue
		}
		event := webhook.NewOperationFinished(endpoint.ExternalID, of.EndedAt, of.Finish)
		if err := messages.add(ctx, newID(), endpoint.WebhookID, event.JSON()); err != nil {
			return err
		}
	}
	return messages.write(ctx)
}
