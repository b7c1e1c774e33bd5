package mail

import (
	"context"

	"simgraph/db/companies"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/retention"
)

// pruneMails and pruneSuppressed take the oldest first: their ids begin with the
// time. $3 bounds how many go at once.
const (
	prunableMails = `
SELECT u.company_id
FROM (
  SELECT m.company_id FROM mails m
  WHERE ($1::bigint[] IS NULL OR m.company_id = ANY($1)) AND m.state <> 'queued' AND m.created_at < $2
  UNION
  SELECT d.company_id FROM alert_deliveries d
  WHERE ($1::bigint[] IS NULL OR d.company_id = ANY($1)) AND d.mail_id IS NULL AND d.suppressed AND d.created_at < $2
) AS u`
	pruneMails = `
WITH old AS (
  SELECT mail_id FROM mails
  WHERE company_id = $1 AND state <> 'queued' AND created_at < $2
  ORDER BY mail_id
  LIMIT $3
), deliveries AS (
  DELETE FROM alert_deliveries d USING old WHERE d.company_id = $1 AND d.mail_id = old.mail_id
)
DELETE FROM mails m USING old WHERE m.company_id = $1 AND m.mail_id = old.mail_id`
	pruneSuppressed = `
WITH old AS (
  SELECT notification_id, recipient_id FROM alert_deliveries
  WHERE company_id = $1 AND mail_id IS NULL AND suppressed AND created_at < $2
  ORDER BY notification_id
  LIMIT $3
)
DELETE FROM alert_deliveries d USING old
WHERE d.company_id = $1 AND d.notification_id = old.notification_id AND d.recipient_id = old.recipient_id`
	// pruneIssues keeps the answers that mails are written from while there are such mails.
	pruneIssues = `
WITH old AS (
  SELECT report_id, due_at FROM report_issues i
  WHERE company_id = $1 AND created_at < $2 AND NOT EXISTS (
    SELECT FROM mails m WHERE m.company_id = $1 AND m.report_id = i.report_id AND m.report_due_at = i.due_at)
  ORDER BY created_at
  LIMIT $3
)
DELETE FROM report_issues i USING old
WHERE i.company_id = $1 AND i.report_id = old.report_id AND i.due_at = old.due_at`
	prunedAtOnce = 1000
)

// Prune removes the mails of all companies that have expired, with which
// notifications they contained, and returns how many. The log of alerts
// stays, and so does who unsubscribed; so does mail that waits.
func (o *Outbox) Prune(ctx context.Context, expired retention.Expired) (int, error) {
	pruned, before := 0, expired.Before(retention.Mails)
	err := companies.Try(ctx, o.pool, func(company domain.CompanyID) error {
		mails, err := pg.DeleteAll(ctx, o.pool, prunedAtOnce, pruneMails, company, before)
		pruned += mails
		for _, sql := range []string{pruneSuppressed, pruneIssues} {
			if err == nil {
				_, err = pg.DeleteAll(ctx, o.pool, prunedAtOnce, sql, company, before)
			}
		}
		return err
	}, prunableMails, before)
	return pruned, err
}
