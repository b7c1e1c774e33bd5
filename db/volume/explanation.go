package volume

import (
	"context"

	"github.com/jmoiron/sqlx"

	"simgraph/db/group"
	"simgraph/db/pg"
	"simgraph/domain"
)

// Subject is a subject that was looked up.
type Subject struct {
	SubscriberKey *int64
	// GroupID is the group itself, or the one that the subscriber is in now.
	GroupID *int64
}

// ID is the key of the subscriber, or the number of the group.
func (s Subject) ID() int64 {
	if s.SubscriberKey != nil {
		return *s.SubscriberKey
	}
	return *s.GroupID
}

// watchedBy reports whether the subject is one of the alert's.
func (s Subject) watchedBy(alert *domain.VolumeAlert) bool {
	same := func(a, b *int64) bool { return a != nil && b != nil && *a == *b }
	switch alert.RuleType {
	case domain.RuleSIM:
		return same(s.SubscriberKey, alert.SubscriberKey)
	case domain.RuleCompany:
		return s.SubscriberKey != nil
	case domain.RuleGroupMember:
		return s.SubscriberKey != nil && same(s.GroupID, alert.GroupID)
	}
	return s.SubscriberKey == nil && same(s.GroupID, alert.GroupID)
}

// Explain implements domain.Alerts.
func (a *Alerts) Explain(ctx context.Context, scope domain.Scope, alertID int64, subject domain.AlertSubject) (*domain.AlertExplanation, error) {
	alert, err := a.Find(ctx, scope, alertID)
	if err != nil {
		return nil, err
	}
	who, err := FindSubject(ctx, a.Pool, scope, subject)
	if err != nil {
		return nil, err
	}
	state, err := a.stateOf(ctx, scope, alert, who)
	if err != nil {
		return nil, err
	}
	entries, err := a.entriesOf(ctx, scope, state)
	if err != nil {
		return nil, err
	}
	return domain.Explain(state, who.watchedBy(alert), entries), nil
}

const findSubjectSubscriber = `
SELECT s.key, s.group_id
FROM subscribers s
WHERE s.company_id = $1 AND ($2::bigint[] IS NULL OR s.group_id = ANY($2)) AND s.physical_id = $3`

// FindSubject finds a subscriber or a group that the scope shows.
func FindSubject(ctx context.Context, in sqlx.QueryerContext, scope domain.Scope, subject domain.AlertSubject) (Subject, error) {
	if (subject.PhysicalID == nil) == (subject.GroupID == nil) {
		return Subject{}, domain.Invalid("physicalId", "either physicalId or groupId must be given")
	}
	if id := subject.PhysicalID; id != nil {
		type row struct {
			Key     int64
			GroupID *int64
		}
		found, err := pg.GetOne[row](ctx, in, domain.NotFound("physicalId", "subscriber", *id), findSubjectSubscriber,
			scope.Company, pg.GroupsOf(scope), *id)
		if err != nil {
			return Subject{}, err
		}
		return Subject{SubscriberKey: &found.Key, GroupID: found.GroupID}, nil
	}
	found, err := group.Kind.FindIn(ctx, in, scope, *subject.GroupID)
	if err != nil {
		return Subject{}, err
	}
	return Subject{GroupID: &found.GroupID}, nil
}

const (
	subscriberUsageIn = `
SELECT COALESCE(sum(mobile_originated + mobile_terminated), 0)::bigint
FROM subscriber_periods
WHERE company_id = $1 AND period_start = $2 AND subscriber_key = $3`
	groupUsageIn = `
SELECT COALESCE(sum(mobile_originated + mobile_terminated), 0)::bigint
FROM group_periods
WHERE company_id = $1 AND period_start = $2 AND group_id = $3`
)

// stateOf is the state of a subject that the alert need not watch, without the
// times that the log has.
func (a *Alerts) stateOf(ctx context.Context, scope domain.Scope, alert *domain.VolumeAlert, who Subject) (*domain.VolumeAlertState, error) {
	period, err := a.currentPeriod(ctx, a.Pool, scope)
	if err != nil {
		return nil, err
	}
	state := &domain.VolumeAlertState{Alert: alert, SubscriberKey: who.SubscriberKey, Period: period}
	sql := subscriberUsageIn
	if who.SubscriberKey == nil {
		state.GroupID, sql = who.GroupID, groupUsageIn
	}
	err = a.Pool.GetContext(ctx, &state.Usage, sql, scope.Company, period.Start, who.ID())
	return state, pg.Translate(err)
}

const entriesOfSubject = `SELECT ` + EntrySelect + `
FROM alert_thresholds t
JOIN alert_log l ON l.company_id = $1 AND l.alert_id = t.alert_id AND l.limit_boundary = t.boundary AND l.revision = t.revision
WHERE t.company_id = $1 AND t.alert_id = $2 AND l.period_start = $3 AND (l.subscriber_key = $4 OR l.group_id = $5)`

// entriesOf are the log's entries of the subject for the thresholds as they are.
func (a *Alerts) entriesOf(ctx context.Context, scope domain.Scope, state *domain.VolumeAlertState) (map[domain.Boundary]*domain.VolumeLogEntry, error) {
	rows, err := pg.SelectAll[domain.VolumeLogEntry](ctx, a.Pool, entriesOfSubject, scope.Company,
		state.Alert.AlertID, state.Period.Start, state.SubscriberKey, state.GroupID)
	if err != nil {
		return nil, err
	}
	return pg.Keyed(rows, func(of *domain.VolumeLogEntry) domain.Boundary { return of.LimitBoundary }), nil
}
