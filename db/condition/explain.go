package condition

import (
	"context"
	"encoding/json"
	"time"

	"github.com/lib/pq"

	"simgraph/db/companies"
	"simgraph/db/pg"
	"simgraph/db/volume"
	"simgraph/domain"
	"simgraph/domain/condition"
)

const (
	inUseSubscriber = `SELECT count(*) FROM subscribers s WHERE s.key = $2 AND ` + isInUse
	// lastSeen is when a subscriber, or the member of a group that was seen last, was.
	lastSeen = silentColumns + `
FROM subscribers s` + seenOf + knownSource + `
WHERE s.company_id = $1 AND ($2::bigint IS NULL OR s.key = $2) AND ($3::bigint IS NULL OR s.group_id = $3 AND ` + isInUse + `)
ORDER BY seen.at DESC, s.key
LIMIT $4`
	newestEntry = `SELECT ` + conditionLogSelect + fromConditionLog + `
WHERE l.company_id = $1 AND l.alert_id = $2 AND l.revision = $3 AND l.subject_id = $4 AND l.state = 'fired'
ORDER BY l.entry_id DESC
LIMIT 1`
	knownValues = `SELECT known FROM condition_values WHERE company_id = $1 AND subscriber_key = $2`
)

// Explain implements condition.Alerts.
func (s *Store) Explain(ctx context.Context, scope domain.Scope, id int64, subject domain.AlertSubject) (*condition.Explanation, error) {
	alert, err := find(ctx, s.pool, scope, id)
	if err != nil {
		return nil, err
	}
	who, err := volume.FindSubject(ctx, s.pool, scope, subject)
	if err != nil {
		return nil, err
	}
	company, err := companies.Find(ctx, s.pool, scope.Company)
	if err != nil {
		return nil, err
	}
	t := &turn{Store: s, company: company, at: s.moment()}
	standing, err := t.standing(ctx, alert, who)
	if err != nil {
		return nil, err
	}
	return alert.Explain(standing), nil
}

// standing reads where the subject stands; of what the alert does not watch, nothing.
func (t *turn) standing(ctx context.Context, of *condition.Alert, who volume.Subject) (s *condition.Standing, err error) {
	s = &condition.Standing{At: t.at, IsInUse: true}
	if who.SubscriberKey == nil {
		s.IsWatched = of.RuleType == domain.RuleGroup && *of.GroupID == *who.GroupID
	} else {
		s.IsWatched = of.RuleType != domain.RuleGroup && of.Watches(*who.SubscriberKey, who.GroupID)
	}
	if !s.IsWatched {
		return s, nil
	}
	if who.SubscriberKey != nil {
		n, err := pg.Count(ctx, t.pool, inUseSubscriber, t.company.CompanyID, *who.SubscriberKey)
		if s.IsInUse = n > 0; err != nil {
			return nil, err
		}
	}
	entries, err := pg.SelectAll[condition.Entry](ctx, t.pool, newestEntry, t.company.CompanyID, of.AlertID, of.Revision, who.ID())
	if err != nil {
		return nil, err
	}
	if len(entries) > 0 {
		s.Entry = entries[0]
	}
	switch of.Kind {
	case condition.Silent:
		err = t.silenceOf(ctx, who, s)
	case condition.Storm:
		err = t.stormOf(ctx, who, s)
	case condition.Forecast:
		err = t.forecastOf(ctx, of, who, s)
	case condition.Change:
		err = t.valuesOf(ctx, who, s)
	case condition.SourceSilent:
	}
	return s, err
}

func (t *turn) silenceOf(ctx context.Context, who volume.Subject, s *condition.Standing) (err error) {
	if s.Feeds, err = t.readFeeds(ctx); err != nil {
		return err
	}
	group := who.GroupID
	if who.SubscriberKey != nil {
		group = nil
	}
	last, err := pg.SelectAll[silence](ctx, t.pool, lastSeen, t.company.CompanyID, who.SubscriberKey, group, 1, t.nextPeriod())
	if err != nil || len(last) == 0 {
		// A group that has no member in use is not watched.
		s.IsInUse = len(last) > 0
		return err
	}
	s.Since = last[0].Since.UTC()
	if known := last[0].known(); known != nil {
		s.FeedKey = *known
		return nil
	}
	sources := map[int64]domain.FeedKey{}
	if err := t.lookUpSources(ctx, last, sources); err != nil {
		return err
	}
	s.FeedKey = sources[last[0].SubscriberKey]
	return nil
}

func (t *turn) stormOf(ctx context.Context, who volume.Subject, s *condition.Standing) error {
	s.Since = t.at.Truncate(time.Hour)
	const least = -1 // every hour has more sessions
	statement, of := pastStorms, any(pq.Int64Array{who.ID()})
	if who.SubscriberKey == nil {
		statement, of = pastGroupStorms, who.GroupID
	}
	rows, err := pg.SelectValues[pastRow](ctx, t.pool, statement, t.company.CompanyID, of, s.Since, least)
	for _, r := range rows {
		if r.Since.Equal(s.Since) {
			s.Value = r.Value
		}
	}
	return err
}

func (t *turn) forecastOf(ctx context.Context, of *condition.Alert, who volume.Subject, s *condition.Standing) error {
	period := t.company.Billing().PeriodAt(t.at)
	s.Since = period.Start
	today := t.at.Truncate(24 * time.Hour)
	days := pq.Array(historyDays(today))
	// The statements leave out what the log of an alert has: that of none is empty.
	const none = 0
	var rows []*historyRow
	var err error
	if who.SubscriberKey == nil {
		rows, err = pg.SelectAll[historyRow](ctx, t.pool, historyOfGroup, t.company.CompanyID, none, period.Start, days, t.at, of.Revision, who.GroupID)
	} else {
		rows, err = pg.SelectAll[historyRow](ctx, t.pool, historyOfSubscriber, t.company.CompanyID, none, period.Start, days, t.at, none, of.Revision, 1, who.SubscriberKey)
	}
	if err != nil || len(rows) == 0 {
		s.EnoughFrom = t.at.AddDate(0, 0, condition.MinHistory)
		return err
	}
	history := rows[0].history(today)
	s.Value, s.EnoughFrom = history.Total(t.at, period), history.ConnectedAt.AddDate(0, 0, condition.MinHistory).UTC()
	return nil
}

func (t *turn) valuesOf(ctx context.Context, who volume.Subject, s *condition.Standing) error {
	texts, err := pg.SelectValues[string](ctx, t.pool, knownValues, t.company.CompanyID, *who.SubscriberKey)
	if err != nil || len(texts) == 0 {
		return err
	}
	return json.Unmarshal([]byte(texts[0]), &s.Known)
}
