package volume

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/announce"
	"simgraph/db/companies"
	"simgraph/db/pg"
	"simgraph/db/silence"
	"simgraph/db/usage"
	"simgraph/db/webhook"
	"simgraph/domain"
	"simgraph/domain/condition"
)

// Evaluator logs the thresholds that usage crosses as it is booked, and
// queues mail and webhooks about them, all in the transaction of the usage.
type Evaluator struct{ now func() time.Time }

var _ usage.Observer = Evaluator{}

// NewEvaluator returns the observer for usage.New; now is the clock.
func NewEvaluator(now func() time.Time) Evaluator { return Evaluator{now} }

// UsageBooked implements usage.Observer.
func (e Evaluator) UsageBooked(ctx context.Context, tx *sqlx.Tx, company *domain.Company, subscribers, groups []usage.TotalChange) error {
	if len(subscribers)+len(groups) == 0 {
		return nil
	}
	run := newFiring(tx, company, e.now())
	for _, start := range usage.PeriodsOf(subscribers, groups) {
		if err := run.booked(ctx, start, changesIn(start, subscribers), changesIn(start, groups)); err != nil {
			return err
		}
	}
	if _, err := run.notify(ctx); err != nil || !run.followed {
		return err
	}
	return announce.Usage(ctx, tx, company.CompanyID, subscribers)
}

// StateChanged implements usage.Observer.
func (Evaluator) StateChanged(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, subscribers []int64) error {
	return announce.State(ctx, tx, company, subscribers)
}

// changesIn returns the changes in one billing period, as columns.
func changesIn(start time.Time, changes []usage.TotalChange) (c changeColumns) {
	for i := range changes {
		if changes[i].PeriodStart.Equal(start) {
			c.ids = append(c.ids, changes[i].ID)
			c.before = append(c.before, changes[i].Before)
			c.after = append(c.after, changes[i].After)
		}
	}
	return c
}

type changeColumns struct{ ids, before, after pq.Int64Array }

// firing is one run of alerts against usage. Its log entries are one
// notification, which each recipient gets in one mail.
type firing struct {
	tx      *sqlx.Tx
	company *domain.Company
	at      time.Time
	// notification is the id that entries get which are mailed.
	notification uuid.UUID
	fired        int
	// followed is set when a process follows what changes.
	followed bool
}

func newFiring(tx *sqlx.Tx, company *domain.Company, at time.Time) *firing {
	return &firing{tx: tx, company: company, at: pg.Moment(at), notification: uuid.Must(uuid.NewV7())}
}

// logCrossed writes the log from the rows of crossed, and returns how many entries
// that were and whether the usage is followed. Parameters are the company, the
// notification and the time.
const logCrossed = `, logged AS (
INSERT INTO alert_log (company_id, alert_id, rule_type, target, limit_boundary, revision, subscriber_key, group_id, target_group_id,
  period_start, period_end, threshold, usage, late, notification_id, date_created)
SELECT own.company_id, c.alert_id, c.rule_type, COALESCE(target.subscriber_id, c.target_group_id::text, ''), c.boundary, c.revision,
  c.subscriber_key, c.group_id, c.target_group_id, c.period_start, c.period_end, c.threshold, c.usage, c.late, $2::uuid, $3
FROM companies own
CROSS JOIN crossed c
LEFT JOIN subscribers target ON c.rule_type = 'sim' AND target.company_id = own.company_id AND target.key = c.subscriber_key
WHERE own.company_id = $1
ORDER BY c.alert_id, c.boundary, c.subscriber_key, c.group_id
ON CONFLICT DO NOTHING
RETURNING entry_id
)
SELECT (SELECT count(*) FROM logged) AS fired, ` + usage.IsFollowed + ` AS followed
FROM companies own
WHERE own.company_id = $1`

// bookedMany looks up, for each total that moved, the thresholds that it moved
// over: those in [before, after). OFFSET 0 keeps the lookups by index, which the
// planner would give up for a hash join that compares every pair, or for a scan of
// all subscribers of a company that it expects to be small. An alert
// watches the periods that end after it was made. PostgreSQL expects one subscriber
// and one group of bookedOne, and keeps its plan.
const (
	bookedMany = bookedSubscribers + bookedGroups + bookedCrossed
	bookedOne  = bookedSubscribers + oneOnly + bookedGroups + oneOnly + bookedCrossed
	oneOnly    = " LIMIT 1"

	bookedSubscribers = `
WITH moved AS (
  SELECT w.rule_type, w.target_id, t.key AS subscriber_key, NULL::bigint AS group_id, t.before, t.after
  FROM (
    SELECT * FROM unnest($7::bigint[], $8::bigint[], $9::bigint[]) AS t(key, before, after)`
	bookedGroups = `
  ) t
  CROSS JOIN LATERAL (SELECT s.group_id FROM subscribers s WHERE s.company_id = $1 AND s.key = t.key OFFSET 0) s
  CROSS JOIN LATERAL (VALUES ('sim', t.key), ('company', 0), ('groupfptp', s.group_id)) AS w(rule_type, target_id)
  UNION ALL
  (SELECT 'grouppr', id, NULL, id, before, after
  FROM unnest($10::bigint[], $11::bigint[], $12::bigint[]) AS t(id, before, after)`
	bookedCrossed = `)
), crossed AS (
  SELECT t.rule_type, m.subscriber_key, m.group_id, CASE WHEN t.rule_type LIKE 'group%' THEN t.target_id END AS target_group_id,
    m.after AS usage, $4::timestamptz AS period_start, $5::timestamptz AS period_end, $6::boolean AS late,
    t.alert_id, t.boundary, t.revision, t.threshold
  FROM moved m
  CROSS JOIN LATERAL (
    SELECT t.alert_id, t.boundary, t.rule_type, t.target_id, t.threshold, t.revision
    FROM alert_thresholds t
    WHERE t.company_id = $1 AND t.rule_type = m.rule_type AND t.target_id = m.target_id
      AND t.threshold >= m.before AND t.threshold < m.after
    OFFSET 0
  ) t
  JOIN alerts a ON a.company_id = $1 AND a.alert_id = t.alert_id AND a.date_created < $5
)` + logCrossed
)

// booked fires what the changes in one billing period cross. A period that is
// over fires late, and after a while is logged only.
func (f *firing) booked(ctx context.Context, start time.Time, subscribers, groups changeColumns) error {
	end := f.company.Billing().PeriodAt(start).End
	late, mailed := !f.at.Before(end), f.at.Before(end.Add(domain.LateFiring))
	statement := bookedMany
	if len(subscribers.ids) <= 1 && len(groups.ids) <= 1 {
		statement = bookedOne
	}
	return f.log(ctx, mailed, statement, start, end, late,
		subscribers.ids, subscribers.before, subscribers.after, groups.ids, groups.before, groups.after)
}

// The usage of periods ($4 to $5) that is above thresholds t, by what they watch.
// Citus would send a part that is read more than once to every node, with those that
// are away: so each reads the periods itself.
const (
	exceeding = `t.rule_type, u.mobile_originated + u.mobile_terminated AS usage, p.period_start, p.period_end, false AS late,
    t.alert_id, t.boundary, t.revision, t.threshold
  FROM unnest($4::timestamptz[], $5::timestamptz[]) AS p(period_start, period_end)
  JOIN alert_thresholds t ON t.company_id = $1`
	memberExceeding = `
  SELECT u.subscriber_key, NULL::bigint AS group_id, t.target_id AS target_group_id, ` + exceeding + ` AND t.rule_type = 'groupfptp'
  JOIN subscribers s ON s.company_id = $1 AND s.group_id = t.target_id
  JOIN subscriber_periods u ON u.company_id = $1 AND u.period_start = p.period_start AND u.subscriber_key = s.key
  WHERE u.mobile_originated + u.mobile_terminated > t.threshold`
)

const fireAlerts = `
WITH crossed AS (` + memberExceeding + ` AND t.alert_id = ANY($6::bigint[])
  UNION ALL
  SELECT u.subscriber_key, NULL, NULL, ` + exceeding + ` AND t.rule_type = 'sim'
  JOIN subscriber_periods u ON u.company_id = $1 AND u.period_start = p.period_start AND u.subscriber_key = t.target_id
  WHERE u.mobile_originated + u.mobile_terminated > t.threshold AND t.alert_id = ANY($6)
  UNION ALL
  SELECT u.subscriber_key, NULL, NULL, ` + exceeding + ` AND t.rule_type = 'company'
  JOIN subscriber_periods u ON u.company_id = $1 AND u.period_start = p.period_start
  WHERE u.mobile_originated + u.mobile_terminated > t.threshold AND t.alert_id = ANY($6)
  UNION ALL
  SELECT NULL, u.group_id, t.target_id, ` + exceeding + ` AND t.rule_type = 'grouppr'
  JOIN group_periods u ON u.company_id = $1 AND u.period_start = p.period_start AND u.group_id = t.target_id
  WHERE u.mobile_originated + u.mobile_terminated > t.threshold AND t.alert_id = ANY($6)
)` + logCrossed

// evaluate fires the alerts on usage that was booked before they were as they
// are now.
func (c *alertChange) evaluate(ctx context.Context, alerts []int64) error {
	return newFiring(c.tx, c.company, c.at).standing(ctx, fireAlerts, pq.Int64Array(alerts))
}

const allAlerts = `SELECT alert_id FROM alerts WHERE company_id = $1`

// TotalsDerived implements usage.Observer.
func (e Evaluator) TotalsDerived(ctx context.Context, tx *sqlx.Tx, company *domain.Company) error {
	return FireDerived(ctx, tx, company, e.now())
}

// FireDerived fires all alerts of the company on the totals as they stand.
func FireDerived(ctx context.Context, tx *sqlx.Tx, company *domain.Company, at time.Time) error {
	var alerts pq.Int64Array
	if err := tx.SelectContext(ctx, &alerts, allAlerts, company.CompanyID); err != nil || len(alerts) == 0 {
		return err
	}
	return newFiring(tx, company, at).standing(ctx, fireAlerts, alerts)
}

const fireMembers = `
WITH crossed AS (` + memberExceeding + ` AND s.physical_id = ANY($6::text[])
)` + logCrossed

// FireMoved fires the alerts on members of a group for subscribers that came
// into it with usage above a threshold; call it after they were written.
func FireMoved(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, physicalIDs []string, at time.Time) error {
	if len(physicalIDs) == 0 {
		return nil
	}
	locked, err := companies.Lock(ctx, tx, company)
	if err != nil {
		return err
	}
	return newFiring(tx, locked, at).standing(ctx, fireMembers, pq.StringArray(physicalIDs))
}

// standing fires what the totals of open periods are above.
func (f *firing) standing(ctx context.Context, sql string, of any) error {
	starts, ends := f.openPeriods()
	if err := f.log(ctx, true, sql, starts, ends, of); err != nil {
		return err
	}
	_, err := f.notify(ctx)
	return err
}

// openPeriods are the current billing period and the next, which the usage of
// clocks that are ahead may already be booked to.
func (f *firing) openPeriods() (starts, ends any) {
	billing := f.company.Billing()
	current := billing.PeriodAt(f.at)
	next := billing.PeriodAt(current.End)
	return pq.Array([]time.Time{current.Start, next.Start}), pq.Array([]time.Time{current.End, next.End})
}

func (f *firing) log(ctx context.Context, mailed bool, sql string, args ...any) error {
	var notification any
	if mailed {
		notification = f.notification
	}
	var logged struct {
		Fired    int
		Followed bool
	}
	if err := f.tx.GetContext(ctx, &logged, sql, append([]any{f.company.CompanyID, notification, f.at}, args...)...); err != nil {
		return pg.Translate(err)
	}
	f.followed = logged.Followed
	if mailed {
		f.fired += logged.Fired
	}
	return nil
}

// The recipients get the notification whole, those that chose alerts or groups the
// entries l that they chose; none where that is nothing. Entries that are silenced are not
// mailed: $4 is whether others are left.
const (
	queueDeliveries       = queueChosen + `alert_log` + ofChosen
	queueConditionEntries = queueChosen + `condition_log` + ofChosen

	queueChosen = `
INSERT INTO alert_deliveries (company_id, notification_id, recipient_id, email, created_at, suppressed, silenced, entries)
SELECT r.company_id, $2, r.recipient_id, r.email, $3, r.suppressed_since IS NOT NULL OR NOT COALESCE(c.is_left, $4), NOT COALESCE(c.is_left, $4), c.entries
FROM alert_recipients r
CROSS JOIN LATERAL (
  SELECT array_agg(l.entry_id) AS entries, bool_or(l.silence_id IS NULL) AS is_left
  FROM `
	ofChosen = ` l
  LEFT JOIN subscribers s ON s.company_id = $1 AND s.key = l.subscriber_key
  WHERE ` + isChoosing + ` AND l.company_id = $1 AND l.notification_id = $2
    AND (r.alert_ids = '{}' OR l.alert_id = 0 OR l.alert_id = ANY(r.alert_ids))
    AND (r.group_ids = '{}' OR r.group_ids && ARRAY[l.group_id, l.target_group_id, s.group_id])
) c
WHERE r.company_id = $1 AND (NOT ` + isChoosing + ` OR c.entries IS NOT NULL)
RETURNING recipient_id, suppressed`
	isChoosing = `(r.alert_ids <> '{}' OR r.group_ids <> '{}')`
)

// NotifyConditions queues the mail to every recipient and the messages to webhooks, and
// notifies subscriptions, about entries of the log of conditions, all of one state, in the transaction that logs them.
func NotifyConditions(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, notification uuid.UUID, state condition.State, at time.Time) error {
	left, err := silenceConditionEntries(ctx, tx, company, notification, state, at)
	if err != nil {
		return err
	}
	if _, err := pg.Affected(ctx, tx, queueConditionEntries, company, notification, at, left); err != nil {
		return err
	}
	if err := webhook.ConditionsLogged(ctx, tx, company, notification, at); err != nil {
		return err
	}
	return announce.Alerts(ctx, tx, company, notification)
}

func silenceConditionEntries(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, notification uuid.UUID, state condition.State, at time.Time) (left bool, err error) {
	if state == condition.Resolved {
		return silence.Resolved(ctx, tx, company, notification)
	}
	return silence.ConditionEntries(ctx, tx, company, notification, at)
}

// Notified is what a notification came to.
type Notified struct {
	// Alerts are the entries of the log, those that are silenced too.
	Alerts int
	// Recipients get a mail about it.
	Recipients []int64
	// Messages go to webhooks.
	Messages int
}

// notify queues the mail to every recipient and the messages to webhooks, and
// notifies subscriptions.
func (f *firing) notify(ctx context.Context) (n Notified, err error) {
	if f.fired == 0 {
		return n, nil
	}
	n.Alerts = f.fired
	left, err := silence.Alerts(ctx, f.tx, f.company.CompanyID, f.notification, f.at)
	if err != nil {
		return n, err
	}
	type delivery struct {
		RecipientID int64
		Suppressed  bool
	}
	queued, err := pg.SelectAll[delivery](ctx, f.tx, queueDeliveries, f.company.CompanyID, f.notification, f.at, left)
	if err != nil {
		return n, err
	}
	for _, d := range queued {
		if !d.Suppressed {
			n.Recipients = append(n.Recipients, d.RecipientID)
		}
	}
	if n.Messages, err = webhook.AlertsFired(ctx, f.tx, f.company.CompanyID, f.notification, f.at); err != nil {
		return n, err
	}
	return n, announce.Alerts(ctx, f.tx, f.company.CompanyID, f.notification)
}

// LogMoved logs what FireMoved fires, and leaves the notification to NotifyFired.
func LogMoved(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, physicalIDs []string, at time.Time, notification uuid.UUID) error {
	if len(physicalIDs) == 0 {
		return nil
	}
	locked, err := companies.Lock(ctx, tx, company)
	if err != nil {
		return err
	}
	f := newFiring(tx, locked, at)
	f.notification = notification
	starts, ends := f.openPeriods()
	return f.log(ctx, true, fireMembers, starts, ends, pq.StringArray(physicalIDs))
}

const firedBy = `SELECT count(*) FROM alert_log WHERE company_id = $1 AND notification_id = $2`

// NotifyFired queues the mail about the alerts that fired under the notification, if
// any, and announces them. Call it once for each notification.
func NotifyFired(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, notification uuid.UUID, at time.Time) (Notified, error) {
	fired, err := pg.Count(ctx, tx, firedBy, company, notification)
	if err != nil {
		return Notified{}, err
	}
	f := &firing{tx: tx, company: &domain.Company{CompanyID: company}, at: pg.Moment(at), notification: notification, fired: fired}
	return f.notify(ctx)
}
