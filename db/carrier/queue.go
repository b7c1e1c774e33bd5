// Package carrier keeps the commands to the carriers of companies: see domain/carrier.
// They are sent as messages of db/webhook, one of each subscriber at a time.
package carrier

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/pg"
	"simgraph/db/webhook"
	"simgraph/domain"
	"simgraph/domain/carrier"
	rules "simgraph/domain/webhook"
)

// Change is a record before and after a change.
type Change struct{ Before, After *domain.Subscriber }

// Queued is what changes led to.
type Queued struct {
	// HasProvider is unset where changes stay in the inventory.
	HasProvider bool
	CommandIDs  []string
}

const nameOfCompany = `SELECT external_id FROM companies WHERE company_id = $1`

// Queue writes the commands that changes ask for, in their transaction under the lock of
// the company. operationID is that of the operation that makes them, nil for none. What
// waits to do the opposite is replaced.
func Queue(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, changes []Change, operationID *string, at time.Time) (Queued, error) {
	q := queue{tx: tx, company: company, operationID: operationID, at: pg.Moment(at)}
	wanted := map[int64][]carrier.Kind{}
	for _, c := range changes {
		if kinds := carrier.Wanted(c.Before, c.After); len(kinds) > 0 {
			q.keys, wanted[c.Before.Key] = append(q.keys, c.Before.Key), kinds
		}
	}
	if len(q.keys) == 0 {
		provider, err := webhook.FindProvider(ctx, tx, company)
		return Queued{HasProvider: provider != nil}, err
	}
	provider, err := webhook.LockProvider(ctx, tx, company)
	if err != nil || provider == nil {
		return Queued{}, err
	}
	if err := q.replace(ctx, wanted); err != nil {
		return Queued{}, err
	}
	if err := q.write(ctx, changes); err != nil {
		return Queued{}, err
	}
	return Queued{HasProvider: true, CommandIDs: q.ids}, q.promote(ctx, provider, q.keys)
}

// queue is the queue of a company in a transaction that holds the lock of the provider.
type queue struct {
	tx          *sqlx.Tx
	company     domain.CompanyID
	operationID *string
	at          time.Time
	// keys are those of the subscribers that get commands, ids those of the commands.
	keys []int64
	ids  []string
}

const (
	// waitingCommands compares states so that no index of them is taken: without statistics
	// PostgreSQL would expect a row there, and read all that wait for each subscriber.
	waitingCommands = `
SELECT c.command_id::text AS command_id, c.subscriber_key, c.kind
FROM commands c
WHERE c.company_id = $1 AND c.subscriber_key = ANY($2) AND c.state IS NOT DISTINCT FROM 'requested'
ORDER BY c.subscriber_key, c.sequence`
	queuedMessages = `
SELECT m.message_id::text AS message_id, coalesce(m.claimed_until > $3, false) AS is_sent
FROM webhook_messages m
WHERE m.company_id = $1 AND m.message_id = ANY($2::uuid[]) AND m.state IS NOT DISTINCT FROM 'queued'`
)

// waiting is a command that is requested.
type waiting struct {
	CommandID     string
	SubscriberKey int64
	Kind          carrier.Kind
	// isQueued is set where it has a message, isSent where that is being sent.
	isQueued, isSent bool
}

// waiting returns the commands of subscribers that are requested, those of each one in
// their order.
func (q *queue) waiting(ctx context.Context, keys []int64) ([]*waiting, error) {
	commands, err := pg.SelectAll[waiting](ctx, q.tx, waitingCommands, q.company, pq.Int64Array(keys))
	if err != nil || len(commands) == 0 {
		return nil, err
	}
	byID := pg.Keyed(commands, func(c *waiting) string { return c.CommandID })
	type message struct {
		MessageID string
		IsSent    bool
	}
	messages, err := pg.SelectAll[message](ctx, q.tx, queuedMessages, q.company, pq.StringArray(pg.Pluck(commands, func(c *waiting) string { return c.CommandID })), q.at)
	for _, m := range messages {
		byID[m.MessageID].isQueued, byID[m.MessageID].isSent = true, m.IsSent
	}
	return commands, err
}

const replaceCommands = `
UPDATE commands SET state = 'superseded', reason = 'a newer command replaced it', changed_at = $3
WHERE company_id = $1 AND command_id = ANY($2::uuid[])`

// replace supersedes the commands that wait and that a newer one of these kinds
// contradicts. One that is being sent stays: what comes after it waits for its end.
func (q *queue) replace(ctx context.Context, wanted map[int64][]carrier.Kind) error {
	commands, err := q.waiting(ctx, q.keys)
	if err != nil {
		return err
	}
	var replaced []string
	for _, c := range commands {
		newer := func(kind carrier.Kind) bool { return slices.Contains(kind.Opposing(), c.Kind) }
		if !c.isSent && slices.ContainsFunc(wanted[c.SubscriberKey], newer) {
			replaced = append(replaced, c.CommandID)
		}
	}
	if len(replaced) == 0 {
		return nil
	}
	if _, err := pg.Affected(ctx, q.tx, replaceCommands, q.company, pq.StringArray(replaced), q.at); err != nil {
		return err
	}
	return q.endMessages(ctx, "failed", replaced...)
}

const (
	lastSequences = `
SELECT c.subscriber_key, max(c.sequence) AS sequence FROM commands c
WHERE c.company_id = $1 AND c.subscriber_key = ANY($2)
GROUP BY c.subscriber_key`
	addCommands = `
INSERT INTO commands (company_id, command_id, subscriber_key, sequence, kind, operation_id, event, requested_at, changed_at)
SELECT own.company_id, l.command_id, l.subscriber_key, l.sequence, l.kind, $7::uuid, l.event, $8, $8
FROM companies own
CROSS JOIN unnest($2::uuid[], $3::bigint[], $4::bigint[], $5::text[], $6::text[]) AS l(command_id, subscriber_key, sequence, kind, event)
WHERE own.company_id = $1`
)

type lastSequence struct{ SubscriberKey, Sequence int64 }

// write adds the commands. Their sequences are the time in microseconds, and more than
// those before whatever the clock does.
func (q *queue) write(ctx context.Context, changes []Change) error {
	rows, err := pg.SelectAll[lastSequence](ctx, q.tx, lastSequences, q.company, pq.Int64Array(q.keys))
	if err != nil {
		return err
	}
	last := make(map[int64]int64, len(rows))
	for _, row := range rows {
		last[row.SubscriberKey] = row.Sequence
	}
	var company string
	if err := q.tx.GetContext(ctx, &company, nameOfCompany, q.company); err != nil {
		return err
	}
	var keys, sequences pq.Int64Array
	var kinds, events pq.StringArray
	for _, c := range changes {
		for _, kind := range carrier.Wanted(c.Before, c.After) {
			key := c.Before.Key
			last[key] = max(last[key]+1, q.at.UnixMicro())
			id := uuid.Must(uuid.NewV7()).String()
			data := carrier.NewData(id, last[key], kind, c.After, q.operationID)
			q.ids, keys, sequences = append(q.ids, id), append(keys, key), append(sequences, last[key])
			kinds = append(kinds, string(kind))
			events = append(events, string(rules.NewCommandRequested(company, id, q.at, c.After.PhysicalID, data).JSON()))
		}
	}
	_, err = pg.Affected(ctx, q.tx, addCommands, q.company, pq.StringArray(q.ids), keys, sequences, kinds, events, q.operationID, q.at)
	return err
}

const (
	promoteCommands = `
INSERT INTO webhook_messages (company_id, message_id, webhook_id, event_type, event, created_at)
SELECT c.company_id, c.command_id, $3, $4, c.event, $5
FROM commands c
WHERE c.company_id = $1 AND c.command_id = ANY($2::uuid[])
ON CONFLICT (company_id, message_id) DO NOTHING`
	endMessages = `
UPDATE webhook_messages SET state = $3, finished_at = $4, claimed_until = NULL
WHERE company_id = $1 AND message_id = ANY($2::uuid[]) AND state IS NOT DISTINCT FROM 'queued'`
	// noteSent and dropMessages leave those that are being sent.
	noteSent = `
UPDATE commands SET was_sent = true
WHERE company_id = $1 AND command_id IN (
  SELECT m.message_id FROM webhook_messages m WHERE m.company_id = $1 AND m.message_id = ANY($2::uuid[]) AND m.attempts > 0)`
	dropMessages = `
DELETE FROM webhook_messages
WHERE company_id = $1 AND message_id = ANY($2::uuid[]) AND (state <> 'queued' OR claimed_until IS NULL OR claimed_until <= $3)`
)

// promote gives the oldest command that waits of each subscriber its message, unless
// another of the subscriber has one.
func (q *queue) promote(ctx context.Context, to *rules.Endpoint, keys []int64) error {
	if to == nil {
		return nil
	}
	commands, err := q.waiting(ctx, keys)
	if err != nil {
		return err
	}
	first, busy := map[int64]string{}, map[int64]bool{}
	for _, c := range commands {
		if first[c.SubscriberKey] == "" {
			first[c.SubscriberKey] = c.CommandID
		}
		busy[c.SubscriberKey] = busy[c.SubscriberKey] || c.isQueued
	}
	var next pq.StringArray
	for key, id := range first {
		if !busy[key] {
			next = append(next, id)
		}
	}
	if len(next) == 0 {
		return nil
	}
	_, err = q.tx.ExecContext(ctx, promoteCommands, q.company, next, to.WebhookID, rules.CommandRequested, q.at)
	return err
}

// endMessages ends the messages of commands: no more attempts are made.
func (q *queue) endMessages(ctx context.Context, state string, ids ...string) error {
	_, err := pg.Affected(ctx, q.tx, endMessages, q.company, pq.StringArray(ids), state, q.at)
	return err
}

const (
	orderOfCommand = `SELECT c.subscriber_key, c.kind FROM commands c WHERE c.company_id = $1 AND c.command_id = $2`
	// settleCommand leaves alone what was reported meanwhile. What was given up has arrived
	// all the same, where another attempt is answered after it.
	settleCommand = `
UPDATE commands SET state = $3, reason = $4, changed_at = $5
WHERE company_id = $1 AND command_id = $2 AND (state = 'requested' OR state = 'superseded' OR state = 'accepted' AND $3 <> 'accepted'
  OR state = 'failed' AND reason LIKE '` + notDelivered + `%')`
	// giveUpCommand is for a message without more attempts.
	giveUpCommand = `
UPDATE commands SET state = 'failed', reason = $3, changed_at = $4
WHERE company_id = $1 AND command_id = $2 AND state = 'requested'
  AND EXISTS (SELECT FROM webhook_messages m WHERE m.company_id = $1 AND m.message_id = $2 AND m.state = 'failed')`
	// replaceCommand is for one whose attempt failed, unless it is being sent again already.
	replaceCommand = `
UPDATE commands SET state = 'superseded', reason = 'a newer command replaced it', changed_at = $4
WHERE company_id = $1 AND command_id = $2 AND state = 'requested' AND EXISTS (
  SELECT FROM webhook_messages m
  WHERE m.company_id = $1 AND m.message_id = $2 AND m.state = 'queued' AND m.claimed_until IS NULL) AND EXISTS (
  SELECT FROM commands n
  WHERE n.company_id = $1 AND n.subscriber_key = commands.subscriber_key AND n.sequence > commands.sequence
    AND n.kind = ANY($3) AND n.state IS NOT DISTINCT FROM 'requested')`
)

// notDelivered begins the reason of a command that was given up.
const notDelivered = "not delivered"

type commandOrder struct {
	SubscriberKey int64
	Kind          carrier.Kind
}

// Settle is the option of webhook.Store for commands; now is the clock.
func Settle(now func() time.Time) func(context.Context, *sqlx.Tx, *rules.Attempt, rules.Result, rules.Answer) error {
	return func(ctx context.Context, tx *sqlx.Tx, of *rules.Attempt, result rules.Result, answer rules.Answer) error {
		q := queue{tx: tx, company: of.CompanyID, at: pg.Moment(now())}
		command, err := pg.GetOne[commandOrder](ctx, tx, nil, orderOfCommand, of.CompanyID, of.DeliveryID)
		if err != nil || command == nil {
			return err
		}
		if err := q.settle(ctx, of, command.Kind, result, answer); err != nil {
			return err
		}
		provider, err := webhook.FindProvider(ctx, tx, of.CompanyID)
		if err != nil {
			return err
		}
		return q.promote(ctx, provider, []int64{command.SubscriberKey})
	}
}

func (q *queue) settle(ctx context.Context, of *rules.Attempt, kind carrier.Kind, result rules.Result, answer rules.Answer) error {
	switch result {
	case rules.ResultDelivered:
		state, reason := carrier.ReadAnswer(answer.Body)
		_, err := pg.Affected(ctx, q.tx, settleCommand, q.company, of.DeliveryID, string(state), reason, q.at)
		return err
	case rules.ResultFailed:
		_, err := pg.Affected(ctx, q.tx, giveUpCommand, q.company, of.DeliveryID, carrier.Shorten(notDelivered+": "+answer.Error), q.at)
		return err
	}
	replaced, err := pg.Affected(ctx, q.tx, replaceCommand, q.company, of.DeliveryID, pq.Array(kind.Opposing()), q.at)
	if err != nil || replaced == 0 {
		return err
	}
	return q.endMessages(ctx, "failed", of.DeliveryID)
}
