package webhook

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/audit"
	"simgraph/db/companies"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/retention"
	"simgraph/domain/webhook"
)

const (
	// isCalled is the condition that the endpoint w gets requests at $2. A time later than
	// $3 comes of a clock that was set back since.
	isCalled = `w.disabled_at IS NULL AND (w.paused_until IS NULL OR w.paused_until <= $2 OR w.paused_until > $3)`
	// isDue is the condition that a worker may take the message m at $2: it is not claimed.
	isDue = `m.state = 'queued' AND (m.due_at <= $2 OR m.due_at > $3)`
	// newFor and againFor select messages of the endpoint w that are due: new ones, and by
	// two ranges of their index those that are sent again. Few of what the indexes have
	// before them is claimed.
	newFor   = `SELECT FROM webhook_messages m WHERE m.webhook_id = w.webhook_id AND m.retry_at IS NULL AND ` + isDue
	againFor = `SELECT FROM webhook_messages m WHERE m.webhook_id = w.webhook_id AND ` + isDue
	// enabledOwner selects the user of the endpoint w, who may see less than the company,
	// unless disabled.
	enabledOwner = `SELECT FROM users u WHERE u.user_id = w.user_id AND NOT u.disabled`
)

const pendingMessages = `
SELECT DISTINCT w.company_id
FROM webhooks w
WHERE ($1::bigint[] IS NULL OR w.company_id = ANY($1)) AND ` + isCalled + `
  AND (w.groups IS NULL OR EXISTS (` + enabledOwner + ` AND u.company_id = w.company_id))
  AND (EXISTS (` + newFor + ` AND m.company_id = w.company_id)
    OR EXISTS (` + againFor + ` AND m.company_id = w.company_id AND m.retry_at <= $2)
    OR EXISTS (` + againFor + ` AND m.company_id = w.company_id AND m.retry_at > $3))
LIMIT 1000`

// Pending implements webhook.Outbox.
func (s *Store) Pending(ctx context.Context) ([]domain.CompanyID, error) {
	at := s.Moment()
	return companies.With(ctx, s.Pool, pendingMessages, at, at.Add(webhook.PutOff))
}

// lockDue leaves out endpoints that another worker claims for at this moment. Those
// with the fewest requests come first.
const lockDue = `
SELECT w.webhook_id, w.url AS address, w.format, w.secret, w.previous_secret, w.previous_until, w.failing_since IS NOT NULL AS failing,
  w.is_provider, (SELECT count(*) FROM webhook_messages c
   WHERE c.company_id = $1 AND c.message_id = ANY(w.claimed) AND ` + isBusy + `) AS busy
FROM webhooks w
WHERE w.company_id = $1 AND (NOT w.is_provider OR $5) AND ` + isCalled + `
  AND (w.groups IS NULL OR EXISTS (` + enabledOwner + ` AND u.company_id = $1))
  AND (EXISTS (` + newFor + ` AND m.company_id = $1)
    OR EXISTS (` + againFor + ` AND m.company_id = $1 AND m.retry_at <= $2)
    OR EXISTS (` + againFor + ` AND m.company_id = $1 AND m.retry_at > $3))
ORDER BY busy, random()
FOR NO KEY UPDATE OF w SKIP LOCKED`

const (
	// isBusy is the condition that the message c is being sent at $2, by a claim that ends
	// by $4.
	isBusy = `c.claimed_until > $2 AND c.claimed_until <= $4`
	// queuedOf selects messages of the endpoint $5.
	queuedOf = `SELECT m.message_id FROM webhook_messages m WHERE m.company_id = $1 AND m.webhook_id = $5 AND ` + isDue
)

// claimMessages runs under the lock of the endpoint, and counts its requests again: another
// worker may have claimed since the snapshot that lockDue counted in. No index has what it
// sets of a message.
const claimMessages = `
WITH busy AS (
  SELECT c.message_id FROM webhooks w
  JOIN webhook_messages c ON c.company_id = w.company_id AND c.message_id = ANY(w.claimed)
  WHERE w.company_id = $1 AND w.webhook_id = $5 AND ` + isBusy + `
), taken AS (
  UPDATE webhook_messages c SET attempts = c.attempts + 1, due_at = $4, claimed_until = $4
  WHERE c.company_id = $1 AND c.message_id IN (
    (` + queuedOf + ` AND m.retry_at IS NULL ORDER BY m.message_id LIMIT $6)
    UNION ALL
    (` + queuedOf + ` AND m.retry_at <= $2 ORDER BY m.retry_at LIMIT $6)
    UNION ALL
    (` + queuedOf + ` AND m.retry_at > $3 ORDER BY m.retry_at LIMIT $6)
    LIMIT GREATEST(0, LEAST($6, $7 - (SELECT count(*) FROM busy))))
  RETURNING c.message_id, c.attempts, c.event
), noted AS (
  UPDATE webhooks SET claimed = ARRAY(SELECT message_id FROM busy UNION ALL SELECT message_id FROM taken)
  WHERE company_id = $1 AND webhook_id = $5 AND EXISTS (SELECT FROM taken)
)
SELECT message_id, attempts, event FROM taken`

type dueEndpoint struct {
	WebhookID      int64
	Address        string
	Format         webhook.Format
	Secret         []byte
	PreviousSecret []byte
	PreviousUntil  *time.Time
	Failing        bool
	IsProvider     bool
	Busy           int
}

type claimed struct {
	MessageID string
	Attempts  int
	Event     []byte
}

// Claim implements webhook.Outbox.
func (s *Store) Claim(ctx context.Context, company domain.CompanyID, limit int, lease time.Duration) (attempts []*webhook.Attempt, err error) {
	at := s.Moment()
	late, until := at.Add(webhook.PutOff), at.Add(lease)
	var unsigned error
	err = pg.InTx(ctx, s.Pool, func(tx *sqlx.Tx) error {
		endpoints, err := pg.SelectAll[dueEndpoint](ctx, tx, lockDue, company, at, late, until, s.Settle != nil)
		if err != nil {
			return err
		}
		for _, endpoint := range endpoints {
			most := webhook.AtOnce
			if endpoint.Failing {
				most = 1
			}
			left := limit - len(attempts)
			if left <= 0 || endpoint.Busy >= most {
				continue
			}
			secrets, err := s.secrets(company, endpoint, at)
			if err != nil { // its messages wait for the right key
				unsigned = errors.Join(unsigned, fmt.Errorf("the secret of the webhook %d: %w", endpoint.WebhookID, err))
				continue
			}
			messages, err := pg.SelectAll[claimed](ctx, tx, claimMessages, company, at, late, until, endpoint.WebhookID, left, most)
			if err != nil {
				return err
			}
			for _, message := range messages {
				attempts = append(attempts, &webhook.Attempt{
					CompanyID: company, DeliveryID: message.MessageID, WebhookID: endpoint.WebhookID, Attempts: message.Attempts,
					URL: endpoint.Address, Format: endpoint.Format, Event: message.Event, Secrets: secrets,
					ToProvider: endpoint.IsProvider,
				})
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return attempts, unsigned
}

// secrets are what messages are signed with: the second one after a rotation.
func (s *Store) secrets(company domain.CompanyID, of *dueEndpoint, at time.Time) ([]webhook.Secret, error) {
	secret, err := s.open(company, of.WebhookID, of.Secret)
	if err != nil {
		return nil, err
	}
	if of.PreviousUntil == nil || at.After(*of.PreviousUntil) {
		return []webhook.Secret{secret}, nil
	}
	previous, err := s.open(company, of.WebhookID, of.PreviousSecret)
	return []webhook.Secret{secret, previous}, err
}

// deliverMessage holds whatever happened since: the endpoint has the message.
const deliverMessage = `
UPDATE webhook_messages
SET state = 'delivered', finished_at = $3, claimed_until = NULL, last_status = $4, last_answer = $5, last_error = ''
WHERE company_id = $1 AND message_id = $2`

// retryMessage and failMessage leave a message alone that another worker has claimed
// since, or that is replayed.
const (
	retryMessage = `
UPDATE webhook_messages
SET due_at = $7, retry_at = $7, claimed_until = NULL, last_status = $4, last_answer = $5, last_error = $6
WHERE company_id = $1 AND message_id = $2 AND state = 'queued' AND attempts = $3`
	failMessage = `
UPDATE webhook_messages
SET state = 'failed', finished_at = $7, claimed_until = NULL, last_status = $4, last_answer = $5, last_error = $6
WHERE company_id = $1 AND message_id = $2 AND state = 'queued' AND attempts = $3`
	// markWorking keeps a pause that lasts: another request got it.
	markWorking = `
UPDATE webhooks SET failing_since = NULL, paused_until = CASE WHEN paused_until > $3 AND paused_until <= $4 THEN paused_until END
WHERE company_id = $1 AND webhook_id = $2 AND (failing_since IS NOT NULL OR paused_until <= $3 OR paused_until > $4)`
	// markFailing keeps the longer pause, but none of a clock that was set back since.
	markFailing = `
UPDATE webhooks
SET failing_since = COALESCE(failing_since, $3), paused_until = GREATEST($5, CASE WHEN paused_until <= $4 THEN paused_until END)
WHERE company_id = $1 AND webhook_id = $2
RETURNING failing_since`
)

// Finish implements webhook.Outbox.
func (s *Store) Finish(ctx context.Context, of *webhook.Attempt, answer webhook.Answer) (result webhook.Result, disabled webhook.DisabledReason, err error) {
	at := s.Moment()
	outcome := webhook.Judge(answer.Status, answer.RetryAfter, at)
	err = pg.Retry(ctx, func() error {
		return pg.InTx(ctx, s.Pool, func(tx *sqlx.Tx) (err error) {
			if !of.ToProvider {
				result, disabled, err = finish(ctx, tx, of, answer, outcome, at)
				return err
			}
			if _, err := LockProvider(ctx, tx, of.CompanyID); err != nil {
				return err
			}
			if result, disabled, err = finish(ctx, tx, of, answer, outcome, at); err != nil {
				return err
			}
			return s.Settle(ctx, tx, of, result, answer)
		})
	})
	return result, disabled, err
}

// finish locks the endpoint before the message, as all do that lock both.
func finish(ctx context.Context, tx *sqlx.Tx, of *webhook.Attempt, answer webhook.Answer, outcome webhook.Outcome, at time.Time) (
	result webhook.Result, disabled webhook.DisabledReason, err error,
) {
	if outcome.Delivered {
		if _, err := pg.Affected(ctx, tx, markWorking, of.CompanyID, of.WebhookID, at, at.Add(webhook.PutOff)); err != nil {
			return "", "", err
		}
		_, err := pg.Affected(ctx, tx, deliverMessage, of.CompanyID, of.DeliveryID, at, status(answer), answer.Body)
		return webhook.ResultDelivered, "", err
	}
	since, err := failed(ctx, tx, of, outcome, at)
	if err != nil {
		return "", "", err
	}
	if result, err = retry(ctx, tx, of, answer, outcome, at); err != nil {
		return "", "", err
	}
	disabled, err = disable(ctx, tx, of, outcome, since, at)
	return result, disabled, err
}

func status(answer webhook.Answer) any {
	if answer.Status == 0 {
		return nil
	}
	return answer.Status
}

// retry puts the message off, or gives it up after the last attempt.
func retry(ctx context.Context, tx *sqlx.Tx, of *webhook.Attempt, answer webhook.Answer, outcome webhook.Outcome, at time.Time) (webhook.Result, error) {
	sql, result, when := failMessage, webhook.ResultFailed, at
	if pause, more := webhook.Next(of.Attempts, rand.Float64(), outcome.Pause); more && !outcome.Gone {
		sql, result, when = retryMessage, webhook.ResultRetried, at.Add(pause)
	}
	_, err := pg.Affected(ctx, tx, sql, of.CompanyID, of.DeliveryID, of.Attempts, status(answer), answer.Body, answer.Error, when)
	return result, err
}

// failed notes that the endpoint failed, and returns since when it fails; nil where it
// was removed.
func failed(ctx context.Context, tx *sqlx.Tx, of *webhook.Attempt, outcome webhook.Outcome, at time.Time) (*time.Time, error) {
	var paused any
	if outcome.Pause > 0 {
		paused = at.Add(outcome.Pause)
	}
	var since time.Time
	if err := tx.GetContext(ctx, &since, markFailing, of.CompanyID, of.WebhookID, at, at.Add(webhook.PutOff), paused); err != nil {
		if errors.Is(err, sql.ErrNoRows) {
			err = nil
		}
		return nil, err
	}
	return &since, nil
}

// disable disables an endpoint that is gone or has failed for FailingSpan.
func disable(ctx context.Context, tx *sqlx.Tx, of *webhook.Attempt, outcome webhook.Outcome, since *time.Time, at time.Time) (webhook.DisabledReason, error) {
	var reason webhook.DisabledReason
	switch {
	case since == nil:
		return "", nil
	case outcome.Gone:
		reason = webhook.Gone
	case at.Sub(*since) >= webhook.FailingSpan:
		reason = webhook.Failing
	default:
		return "", nil
	}
	n, err := pg.Affected(ctx, tx, disableWebhook, of.CompanyID, of.WebhookID, at, reason)
	if err != nil || n == 0 {
		return "", err
	}
	if err := notice(ctx, tx, of, reason, *since, at); err != nil {
		return "", err
	}
	entry := kind.Note(domain.AuditWebhookDisable, of.WebhookID, domain.Became("reason", string(reason)))
	if of.ToProvider {
		entry = providerEntry(domain.AuditProviderDisable, of.WebhookID, domain.Became("reason", string(reason)))
	}
	return reason, audit.Record(ctx, tx, domain.Whole(of.CompanyID), *entry)
}

const (
	noticedRecipients = `
SELECT r.recipient_id FROM alert_recipients r
WHERE r.company_id = $1 AND r.suppressed_since IS NULL
ORDER BY r.recipient_id`
	queueNotices = `
INSERT INTO mails (company_id, mail_id, recipient_id, email, kind, note, due_at, created_at)
SELECT r.company_id, t.mail_id, r.recipient_id, r.email, 'webhook', $4, $5, $5
FROM alert_recipients r
JOIN unnest($2::bigint[], $3::uuid[]) AS t(recipient_id, mail_id) ON t.recipient_id = r.recipient_id
WHERE r.company_id = $1`
	nameOfWebhook = `SELECT name FROM webhooks WHERE company_id = $1 AND webhook_id = $2`
)

// notice queues a mail to the recipients of alerts: the endpoint gets no more events.
func notice(ctx context.Context, tx *sqlx.Tx, of *webhook.Attempt, reason webhook.DisabledReason, since, at time.Time) error {
	var recipients pq.Int64Array
	if err := tx.SelectContext(ctx, &recipients, noticedRecipients, of.CompanyID); err != nil || len(recipients) == 0 {
		return err
	}
	var name string
	if err := tx.GetContext(ctx, &name, nameOfWebhook, of.CompanyID, of.WebhookID); err != nil {
		return err
	}
	why := "its address answered 410 Gone"
	if reason == webhook.Failing {
		why = "no request to it has succeeded since " + since.UTC().Format("2 Jan 2006 15:04 UTC")
	}
	note := fmt.Sprintf("The webhook %q (%d) was disabled: %s. It gets no more events until it is enabled again.", name, of.WebhookID, why)
	if of.ToProvider {
		note = fmt.Sprintf("The provider that gets the commands of the company was disabled: %s. Commands wait until it is set again.", why)
	}
	ids := pg.Pluck(recipients, func(int64) string { return uuid.Must(uuid.NewV7()).String() })
	_, err := pg.Affected(ctx, tx, queueNotices, of.CompanyID, recipients, pq.StringArray(ids), note, at)
	return err
}

const (
	prunableMessages = `
SELECT DISTINCT m.company_id
FROM webhook_messages m
WHERE ($1::bigint[] IS NULL OR m.company_id = ANY($1)) AND m.created_at < $2`
	pruneMessages = `
DELETE FROM webhook_messages
WHERE company_id = $1 AND message_id IN (
  SELECT o.message_id FROM webhook_messages o
  WHERE o.company_id = $1 AND o.created_at < $2
  ORDER BY o.created_at
  LIMIT $3)`
)

// Prune implements webhook.Outbox.
func (s *Store) Prune(ctx context.Context, expired retention.Expired) (int, error) {
	pruned, before := 0, expired.Before(retention.Messages)
	err := companies.Try(ctx, s.Pool, func(company domain.CompanyID) error {
		n, err := pg.DeleteAll(ctx, s.Pool, atOnce, pruneMessages, company, before)
		pruned += n
		return err
	}, prunableMessages, before)
	return pruned, err
}
