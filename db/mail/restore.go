package mail

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/audit"
	"simgraph/db/imported"
	"simgraph/db/pg"
	"simgraph/db/usage"
	"simgraph/domain"
)

// Restore implements domain.Recipients.
func (r *Recipients) Restore(ctx context.Context, scope domain.Scope, id int64) (restored *domain.Restored, err error) {
	_, err = r.Locked(ctx, scope, id, func(tx *sqlx.Tx, before *domain.Recipient) (_ *domain.AuditEntry, err error) {
		if before.SuppressedSince == nil {
			restored = &domain.Restored{Recipient: before}
			return nil, nil
		}
		if *before.SuppressedReason != domain.Refused {
			return nil, domain.Invalid("recipientId", "%q unsubscribed: only a refusal by a mail server can be lifted", before.Email)
		}
		restored, err = restoreRecipient(ctx, tx, scope.Company, before, r.Now())
		if err != nil {
			return nil, err
		}
		return r.Note(domain.AuditRecipientRestore, id, domain.Was("suppressedDetail", before.SuppressedDetail)), nil
	})
	return restored, err
}

const liftSuppression = `
UPDATE alert_recipients
SET suppressed_since = NULL, suppressed_reason = NULL, suppressed_detail = ''
WHERE company_id = $1 AND recipient_id = $2`

// requeueMails takes what was given up or cancelled since the suppression ($5).
// The attempts stay as they are, since they identify the worker that still has the mail.
const requeueMails = `
UPDATE mails SET state = 'queued', due_at = $4, finished_at = NULL, refused_since = NULL
WHERE company_id = $1 AND recipient_id = $2 AND email = $3
  AND state IN ('failed', 'cancelled') AND finished_at >= $5 AND created_at > $6`

const releaseDeliveries = `
UPDATE alert_deliveries SET suppressed = false
WHERE company_id = $1 AND recipient_id = $2 AND email = $3 AND mail_id IS NULL AND suppressed AND NOT silenced AND created_at > $4`

// restoreRecipient lifts the suppression of the recipient and queues its mail.
func restoreRecipient(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, of *domain.Recipient, at time.Time) (*domain.Restored, error) {
	if _, err := pg.Affected(ctx, tx, liftSuppression, company, of.RecipientID); err != nil {
		return nil, err
	}
	oldest := at.Add(-domain.MailAge)
	mails, err := pg.Affected(ctx, tx, requeueMails, company, of.RecipientID, of.Email, at, *of.SuppressedSince, oldest)
	if err != nil {
		return nil, err
	}
	alerts, err := pg.Affected(ctx, tx, releaseDeliveries, company, of.RecipientID, of.Email, oldest)
	if err != nil {
		return nil, err
	}
	now, err := recipientKind.FindIn(ctx, tx, domain.Whole(company), of.RecipientID)
	return &domain.Restored{Recipient: now, Mails: mails, Alerts: alerts}, err
}

const importSuppressions = `
WITH line AS (
  SELECT l.*, r.recipient_id, CASE
    WHEN r.recipient_id IS NULL THEN 'recipient'
    WHEN r.suppressed_since IS NOT NULL THEN 'unchanged'
    ELSE 'updated' END AS outcome
  FROM companies own
  CROSS JOIN unnest($2::text[], $3::timestamptz[], $4::text[], $5::text[]) AS l(email_key, since, reason, detail)
  LEFT JOIN alert_recipients r ON r.company_id = own.company_id AND r.email_key = l.email_key
  WHERE own.company_id = $1
), written AS (
  UPDATE alert_recipients r SET suppressed_since = l.since, suppressed_reason = l.reason, suppressed_detail = l.detail
  FROM line l
  WHERE r.company_id = $1 AND r.recipient_id = l.recipient_id AND l.outcome = 'updated'
)
SELECT email_key, outcome FROM line`

// Suppress stops mail to recipients, also what waits. One that gets none already
// stays as it is.
func (r *Recipients) Suppress(ctx context.Context, scope domain.Scope, suppressions []domain.Suppression) (kept []domain.Imported, err error) {
	key := func(s domain.Suppression) string { return emailKey(s.Email) }
	err = r.Transact(ctx, scope, func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
		verdicts := map[string]string{}
		err := imported.Judge(ctx, tx, verdicts, importSuppressions, scope.Company, pq.StringArray(pg.Pluck(suppressions, key)),
			usage.TimeArray(pg.Pluck(suppressions, func(s domain.Suppression) time.Time { return s.Since })),
			pq.StringArray(pg.Pluck(suppressions, func(s domain.Suppression) string { return string(s.Reason) })),
			pq.StringArray(pg.Pluck(suppressions, func(s domain.Suppression) string { return s.Detail })))
		if err != nil {
			return nil, err
		}
		kept = imported.Answer(suppressions, verdicts, key, func(s domain.Suppression, _ string) *domain.Error {
			return domain.NotFound("email", "recipient", s.Email)
		})
		if err := r.silenceSuppressed(ctx, tx, scope.Company); err != nil {
			return nil, err
		}
		return audit.Import("suppressions", imported.TallyAnswers(kept)), nil
	})
	return kept, err
}

const suppressedWithMail = `
SELECT DISTINCT r.recipient_id
FROM alert_recipients r
LEFT JOIN alert_deliveries d ON d.company_id = $1 AND d.recipient_id = r.recipient_id AND d.mail_id IS NULL AND NOT d.suppressed
LEFT JOIN mails m ON m.company_id = $1 AND m.recipient_id = r.recipient_id AND m.state = 'queued'
WHERE r.company_id = $1 AND r.suppressed_since IS NOT NULL AND (d.recipient_id IS NOT NULL OR m.recipient_id IS NOT NULL)`

// silenceSuppressed cancels the mail that waits for suppressed recipients.
func (r *Recipients) silenceSuppressed(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID) error {
	var ids []int64
	if err := tx.SelectContext(ctx, &ids, suppressedWithMail, company); err != nil {
		return err
	}
	for _, id := range ids {
		if err := dropWaiting(ctx, tx, company, id, r.Now()); err != nil {
			return err
		}
	}
	return nil
}
