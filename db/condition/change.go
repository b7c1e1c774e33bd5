package condition

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/pg"
	"simgraph/domain/condition"
)

const (
	// changesAtOnce bounds the subscribers whose values one turn learns.
	changesAtOnce = 5000
	// newReports are the latest sessions of subscribers, of those that are open or began
	// after $2, which report something else than what is known. An open one whose reports
	// have ceased does not stand for a newer one that ended: OFFSET 0 keeps the planner
	// from looking for newer ones where nothing is new.
	newReports = `
SELECT c.*
FROM (
  SELECT r.subscriber_key, r.as_of, r.group_id, r.imei, r.address, r.network, r.protocol, r.reported, coalesce(v.known, '{}') AS known
  FROM (
    SELECT DISTINCT ON (n.subscriber_key) n.subscriber_key, n.as_of, s.group_id, n.imei, coalesce(host(n.ip_address), text(n.ipv6_prefix), '') AS address,
      n.visited_network AS network, n.rat_type AS protocol,
      md5(concat_ws(chr(31), n.imei, host(n.ip_address), text(n.ipv6_prefix), n.visited_network, n.rat_type)) AS reported
    FROM sessions n
    JOIN subscribers s ON s.company_id = $1 AND s.key = n.subscriber_key
    WHERE n.company_id = $1 AND (n.ended_at IS NULL OR n.began_at > $2)
    ORDER BY n.subscriber_key, n.as_of DESC, n.generation DESC
  ) r
  LEFT JOIN condition_values v ON v.company_id = $1 AND v.subscriber_key = r.subscriber_key
  WHERE v.reported IS DISTINCT FROM r.reported
  OFFSET 0
) c
WHERE c.as_of >= (
  SELECT max(l.as_of)
  FROM (
    SELECT n.as_of FROM sessions n
    WHERE n.company_id = $1 AND n.subscriber_key = c.subscriber_key
    ORDER BY n.began_at DESC
    LIMIT 20
  ) l)
ORDER BY c.subscriber_key
LIMIT $3`
	keepValues = `
INSERT INTO condition_values AS v (company_id, subscriber_key, reported, known)
SELECT own.company_id, n.subscriber_key, n.reported, n.known::jsonb
FROM companies own
CROSS JOIN unnest($2::bigint[], $3::text[], $4::text[]) AS n(subscriber_key, reported, known)
WHERE own.company_id = $1
ORDER BY n.subscriber_key
ON CONFLICT (company_id, subscriber_key) DO UPDATE SET reported = excluded.reported, known = excluded.known`
	// lockValues lets one instance at a time learn values of the company: another would
	// take what this one has learned for new.
	lockValues = `SELECT pg_try_advisory_xact_lock(hashtextextended('condition_values', $1))`
)

// reportWindow is how long ago a session may have begun that began and ended between two
// turns, with the time that its reports took.
const reportWindow = time.Hour

type report struct {
	SubscriberKey                    int64
	AsOf                             time.Time
	GroupID                          *int64
	IMEI, Address, Network, Protocol string
	Reported                         string
	Known                            string
}

// changed is another value of a subscriber.
type changed struct {
	*report
	trait         condition.Trait
	before, after string
}

// learn adds the values of the report to the known ones, and returns what changed.
func (r *report) learn() (changes []changed, err error) {
	known := map[condition.Trait]condition.Known{}
	if err := json.Unmarshal([]byte(r.Known), &known); err != nil {
		return nil, err
	}
	values := condition.NewValues(r.IMEI, r.Address, r.Network, r.Protocol)
	for _, trait := range condition.Traits {
		value, reported := values[trait]
		if !reported {
			continue
		}
		learned, is := known[trait].Learn(value)
		if is {
			changes = append(changes, changed{r, trait, known[trait][0], value})
		}
		known[trait] = learned
	}
	text, err := json.Marshal(known)
	r.Known = string(text)
	return changes, err
}

// changes fires for values that became others. All that is reported is learned as long
// as there is an alert on changes, whatever that watches.
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
	full := false
	err := t.writing(ctx, func(tx *sqlx.Tx) error {
		var mine bool
		if err := tx.GetContext(ctx, &mine, lockValues, t.company.CompanyID); err != nil || !mine {
			return err
		}
		reports, err := pg.SelectAll[report](ctx, tx, newReports, t.company.CompanyID, t.at.Add(-reportWindow), changesAtOnce)
		if err != nil || len(reports) == 0 {
			return err
		}
		full = len(reports) == changesAtOnce
		var changes []changed
		for _, r := range reports {
			of, err := r.learn()
			if err != nil {
				return err
			}
			changes = append(changes, of...)
		}
		for _, of := range watching {
			if err := t.insertChanges(ctx, tx, of, changes); err != nil {
				return err
			}
		}
		_, err = pg.Affected(ctx, tx, keepValues, t.company.CompanyID, pq.Int64Array(pg.Pluck(reports, func(r *report) int64 { return r.SubscriberKey })),
			pq.StringArray(pg.Pluck(reports, func(r *report) string { return r.Reported })), pq.StringArray(pg.Pluck(reports, func(r *report) string { return r.Known })))
		return err
	})
	if err != nil || !full {
		return err
	}
	return t.more(ctx)
}

// insertChanges logs those of the changes that the alert watches.
func (t *turn) insertChanges(ctx context.Context, tx *sqlx.Tx, of *condition.Alert, changes []changed) error {
	var news []*found
	for _, c := range changes {
		if of.Watches(c.SubscriberKey, c.GroupID) && of.Names(c.trait) && !c.AsOf.Before(of.ArmedAt) {
			news = append(news, &found{SubscriberKey: &c.SubscriberKey, Since: c.AsOf, Trait: c.trait, Before: c.before, After: c.after})
		}
	}
	if len(news) == 0 {
		return nil
	}
	return t.insert(ctx, tx, of, condition.Fired, news)
}
