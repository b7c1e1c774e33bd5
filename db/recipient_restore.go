package db

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/pg"
	"simgraph/domain"
)

// Restore implements domain.Recipients.
func (r *Recipients) Restore(ctx context.Context, scope domain.Scope, id int64) (restored *domain.Restored, err error) {
	err = r.changing(ctx, scope, func(tx *sqlx.Tx) error {
		before, err := findRecipient(ctx, tx, scope.Company, id)
		if err != nil {
			return err
		}
		if before.SuppressedSince == nil {
			restored = &domain.Restored{Recipient: before}
			return nil
		}
		if *before.SuppressedReason != domain.Refused {
			return domain.Invalid("recipientId", "%q unsubscribed: only a refusal by a mail server can be lifted", before.Email)
		}
		restored, err = restoreRecipient(ctx, tx, scope.Company, before, r.now())
		if err != nil {
			return err
		}
		return auditRecipient(ctx, tx, scope, domain.AuditRecipientRestore, id, domain.Was("suppressedDetail", before.SuppressedDetail))
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
	now, err := findRecipient(ctx, tx, company, of.RecipientID)
	return &domain.Restored{Recipient: now, Mails: mails, Alerts: alerts}, err
}
