package condition

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/condition"
)

// changesAtOnce bounds the reports from which one turn learns.
const changesAtOnce = 5000

const (
	// newReports are what was stated of sessions since place $2, in the order of booking.
	newReports = `
SELECT v.place, coalesce(v.subscriber_key, 0) AS subscriber_key, v.as_of AS at, s.group_id, v.apn, v.imei, v.address, v.network, v.protocol
FROM session_values v
LEFT JOIN subscribers s ON s.company_id = $1 AND s.key = v.subscriber_key
WHERE v.company_id = $1 AND v.place > $2
ORDER BY v.place
LIMIT $3`
	knownValuesOf = `SELECT v.subscriber_key, v.known FROM condition_values v WHERE v.company_id = $1 AND v.subscriber_key = ANY($2)`
	keepValues    = `
INSERT INTO condition_values AS v (company_id, subscriber_key, known)
SELECT own.company_id, n.subscriber_key, n.known::jsonb
FROM companies own
CROSS JOIN unnest($2::bigint[], $3::text[]) AS n(subscriber_key, known)
WHERE own.company_id = $1
ORDER BY n.subscriber_key
ON CONFLICT (company_id, subscriber_key) DO UPDATE SET known = excluded.known`
	startLearning = `INSERT INTO condition_learned (company_id, place) VALUES ($1, 0) ON CONFLICT DO NOTHING`
	// takeLearning lets one instance at a time learn values of the company: another would
	// learn the same, and overwrite what comes later. Nobody waits.
	takeLearning = `SELECT place FROM condition_learned WHERE company_id = $1 FOR UPDATE SKIP LOCKED`
	endLearning  = `UPDATE condition_learned SET place = $2 WHERE company_id = $1`
)

// report is one of a subscriber that is in a group, or none.
type report struct {
	Place   int64
	GroupID *int64
	condition.Report
}

// memories are what is known of subscribers.
type memories map[int64]condition.Memory

// memoriesOf reads what is known of the subscribers of reports.
func memoriesOf(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, reports []*report) (memories, error) {
	known := memories{}
	for _, r := range reports {
		known[r.SubscriberKey] = condition.Memory{}
	}
	delete(known, 0)
	type row struct {
		SubscriberKey int64
		Known         string
	}
	rows, err := pg.SelectValues[row](ctx, tx, knownValuesOf, company, known.keys())
	for _, r := range rows {
		memory := condition.Memory{}
		if err := json.Unmarshal([]byte(r.Known), &memory); err != nil {
			return nil, err
		}
		known[r.SubscriberKey] = memory
	}
	return known, err
}

func (m memories) keys() pq.Int64Array { return slices.Sorted(maps.Keys(m)) }

// keep stores what is known.
func (m memories) keep(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID) error {
	keys := m.keys()
	texts := make(pq.StringArray, len(keys))
	for i, key := range keys {
		text, err := json.Marshal(m[key])
		if err != nil {
			return err
		}
		texts[i] = string(text)
	}
	_, err := pg.Affected(ctx, tx, keepValues, company, keys, texts)
	return err
}

// changed is another value of a subscriber that is in a group, or none.
type changed struct {
	condition.Changed
	groupID *int64
}

// learn adds what is reported to what is known, and returns what changed.
func (m memories) learn(reports []*report) (changes []changed) {
	for _, r := range reports {
		if memory := m[r.SubscriberKey]; memory != nil {
			for _, c := range memory.Learn(&r.Report) {
				changes = append(changes, changed{c, r.GroupID})
			}
		}
	}
	return changes
}

// changes fires for values that became others. The first alert on changes learns of all
// that was stated before, and each of what it does not watch too.
func (t *turn) changes(ctx context.Context, alerts []*condition.Alert) error {
	var watching []*condition.Alert
	for _, of := range alerts {
		if of.Kind == condition.Change {
			watching = append(watching, of)
		}
	}
	if len(watching) == 0 {
		return nil
	}
	if _, err := pg.Affected(ctx, t.pool, startLearning, t.company.CompanyID); err != nil {
		return err
	}
	full := false
	err := t.writing(ctx, func(tx *sqlx.Tx) (err error) {
		full, err = t.learnChanges(ctx, tx, watching)
		return err
	})
	if err != nil || !full {
		return err
	}
	return t.more(ctx)
}

// learnChanges goes through the next reports, and logs what changed. It reports whether
// there may be more.
func (t *turn) learnChanges(ctx context.Context, tx *sqlx.Tx, watching []*condition.Alert) (full bool, err error) {
	company := t.company.CompanyID
	learned, err := pg.SelectValues[int64](ctx, tx, takeLearning, company)
	if err != nil || len(learned) == 0 {
		return false, err
	}
	reports, err := pg.SelectAll[report](ctx, tx, newReports, company, learned[0], t.changesAtOnce)
	if err != nil || len(reports) == 0 {
		return false, err
	}
	known, err := memoriesOf(ctx, tx, company, reports)
	if err != nil {
		return false, err
	}
	changes := known.learn(reports)
	for _, of := range watching {
		if err := t.insertChanges(ctx, tx, of, changes); err != nil {
			return false, err
		}
	}
	if err := known.keep(ctx, tx, company); err != nil {
		return false, err
	}
	_, err = pg.Affected(ctx, tx, endLearning, company, reports[len(reports)-1].Place)
	return len(reports) == t.changesAtOnce, err
}

// insertChanges logs those of the changes that the alert watches.
func (t *turn) insertChanges(ctx context.Context, tx *sqlx.Tx, of *condition.Alert, changes []changed) error {
	var news []*found
	for _, c := range changes {
		if of.Watches(c.SubscriberKey, c.groupID) && of.Names(c.Trait) && !c.At.Before(of.ArmedAt) {
			news = append(news, &found{SubscriberKey: &c.SubscriberKey, Since: c.At, Trait: c.Trait, Before: c.Before, After: c.After})
		}
	}
	if len(news) == 0 {
		return nil
	}
	return t.insert(ctx, tx, of, condition.Fired, news)
}
