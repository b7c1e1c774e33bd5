// Package mail keeps in PostgreSQL who gets mails on alerts, and the mails that are to be sent.
package mail

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/audit"
	"simgraph/db/companies"
	"simgraph/db/delivery"
	"simgraph/db/pg"
	"simgraph/db/volume"
	"simgraph/domain"
	"simgraph/domain/condition"
)

// Outbox hands out the mails that wait in PostgreSQL.
type Outbox struct {
	pool *sqlx.DB
	now  func() time.Time
}

var _ domain.Outbox = (*Outbox)(nil)

// NewOutbox returns the outbox on the pool; now is the clock.
func NewOutbox(pool *sqlx.DB, now func() time.Time) *Outbox { return &Outbox{pool, now} }

// putOff is longer than any mail is put off. What is due later, like what was
// made further in the future than alerts wait for one another, comes of a clock
// that was set back since: it is due now.
const putOff = 2 * time.Hour

// pendingCompanies has its union in a sub-select, which Citus leaves to the nodes.
const pendingCompanies = `
SELECT u.company_id
FROM (
  SELECT m.company_id FROM mails m
  WHERE ($1::bigint[] IS NULL OR m.company_id = ANY($1)) AND m.state = 'queued' AND (m.due_at <= $2 OR m.due_at > $4)
  UNION
  SELECT d.company_id FROM alert_deliveries d
  WHERE ($1::bigint[] IS NULL OR d.company_id = ANY($1)) AND d.mail_id IS NULL AND NOT d.suppressed AND (d.created_at <= $3 OR d.created_at > $5)
) AS u
LIMIT 1000`

// Pending implements domain.Outbox.
func (o *Outbox) Pending(ctx context.Context, digest domain.Digest) ([]domain.CompanyID, error) {
	at := o.now()
	return companies.With(ctx, o.pool, pendingCompanies, at, at.Add(-digest.Wait), at.Add(putOff), at.Add(digest.Wait))
}

// readyRecipient is the condition that what waits for the recipient r has
// waited long enough (since $2, or was made after $6), and that there were few
// mails to it (less than $4 since $3, at $5).
const readyRecipient = `r.company_id = $1 AND r.suppressed_since IS NULL
  AND EXISTS (
    SELECT FROM alert_deliveries d
    WHERE d.company_id = $1 AND d.recipient_id = r.recipient_id AND d.mail_id IS NULL AND NOT d.suppressed
      AND (d.created_at <= $2 OR d.created_at > $6))
  AND (
    SELECT count(*) FROM mails m
    WHERE m.company_id = $1 AND m.recipient_id = r.recipient_id AND m.kind = 'alerts' AND m.created_at > $3 AND m.created_at <= $5) < $4`

const lockReady = `
SELECT r.recipient_id FROM alert_recipients r
WHERE ` + readyRecipient + `
FOR UPDATE SKIP LOCKED`

// gatherMails checks again whether the recipients are ready: another worker may
// have gathered for them before they were locked.
const gatherMails = `
WITH ready AS (
  SELECT r.recipient_id, w.mail_id, r.email
  FROM alert_recipients r
  JOIN unnest($7::bigint[], $8::uuid[]) AS w(recipient_id, mail_id) ON w.recipient_id = r.recipient_id
  WHERE ` + readyRecipient + `
), taken AS (
  UPDATE alert_deliveries d SET mail_id = ready.mail_id
  FROM ready
  WHERE d.company_id = $1 AND d.recipient_id = ready.recipient_id AND d.mail_id IS NULL AND NOT d.suppressed
), gathered AS (
  INSERT INTO mails (company_id, mail_id, recipient_id, email, kind, due_at, created_at)
  SELECT own.company_id, ready.mail_id, ready.recipient_id, ready.email, 'alerts', $5, $5
  FROM companies own
  CROSS JOIN ready
  WHERE own.company_id = $1
)
SELECT FROM companies WHERE company_id = $1`

// Gather implements domain.Outbox.
func (o *Outbox) Gather(ctx context.Context, company domain.CompanyID, digest domain.Digest) error {
	return pg.InTx(ctx, o.pool, func(tx *sqlx.Tx) error {
		at := o.now()
		ready := []any{company, at.Add(-digest.Wait), at.Add(-time.Hour), digest.HourlyCap, at, at.Add(digest.Wait)}
		var recipients pq.Int64Array
		if err := tx.SelectContext(ctx, &recipients, lockReady, ready...); err != nil || len(recipients) == 0 {
			return err
		}
		ids := pg.Pluck(recipients, func(int64) string { return uuid.Must(uuid.NewV7()).String() })
		_, err := pg.Affected(ctx, tx, gatherMails, append(ready, recipients, pq.StringArray(ids))...)
		return err
	})
}

// claimMails repeats its condition outside: the row may have changed between
// the subquery and its lock.
const claimMails = `
UPDATE mails m SET attempts = m.attempts + 1, due_at = $3
WHERE m.company_id = $1 AND m.state = 'queued' AND (m.due_at <= $2 OR m.due_at > $5) AND m.mail_id IN (
  SELECT q.mail_id FROM mails q
  WHERE q.company_id = $1 AND q.state = 'queued' AND (q.due_at <= $2 OR q.due_at > $5)
  ORDER BY q.due_at
  LIMIT $4
  FOR UPDATE SKIP LOCKED)
RETURNING ` + delivery.MailColumns

// Claim implements domain.Outbox.
func (o *Outbox) Claim(ctx context.Context, company domain.CompanyID, digest domain.Digest, limit int, lease time.Duration) ([]*domain.MailContent, error) {
	at := o.now()
	mails, err := pg.SelectAll[domain.Mail](ctx, o.pool, claimMails, company, at, at.Add(lease), limit, at.Add(putOff))
	if err != nil || len(mails) == 0 {
		return nil, err
	}
	of, err := companies.Find(ctx, o.pool, company)
	if err != nil {
		return nil, err
	}
	secret, err := o.secret(ctx, company)
	if err != nil {
		return nil, err
	}
	contents := pg.Pluck(mails, func(mail *domain.Mail) *domain.MailContent {
		return &domain.MailContent{Mail: *mail, Company: of, Secret: secret}
	})
	if err := o.enter(ctx, company, contents, digest.MaxEntries); err != nil {
		return nil, err
	}
	if err := o.enterReports(ctx, company, contents); err != nil {
		return nil, err
	}
	return o.enterLinks(ctx, company, contents)
}

const issuesOfMails = `
SELECT m.mail_id, m.report_id, i.content
FROM mails m
JOIN report_issues i ON i.company_id = $1 AND i.report_id = m.report_id AND i.due_at = m.report_due_at
WHERE m.company_id = $1 AND m.mail_id = ANY($2::uuid[])`

// enterReports adds the answers to the mails of reports.
func (o *Outbox) enterReports(ctx context.Context, company domain.CompanyID, contents []*domain.MailContent) error {
	of := map[string]*domain.MailContent{}
	var ids pq.StringArray
	for _, content := range contents {
		if content.Kind == domain.MailReport {
			of[content.MailID], ids = content, append(ids, content.MailID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	type row struct{ MailID, ReportID, Content string }
	rows, err := pg.SelectAll[row](ctx, o.pool, issuesOfMails, company, ids)
	for _, r := range rows {
		of[r.MailID].ReportID, of[r.MailID].Report = r.ReportID, []byte(r.Content)
	}
	return err
}

const (
	entriesOfMails          = mailedEntries + volume.EntrySelect + `, COALESCE(s.physical_id, '') AS physical_id` + fromMailed + `alert_log` + ofMailed
	conditionEntriesOfMails = mailedEntries + `l.entry_id, l.alert_id, l.kind, l.state, l.rule_type, l.target, l.group_id, l.source, l.since, l.bound, l.value,
    l.trait, l.before, l.after, l.date_created` + fromMailed + `condition_log` + ofMailed

	mailedEntries = `
SELECT wanted.mail_id, e.*
FROM unnest($2::uuid[]) AS wanted(mail_id)
CROSS JOIN LATERAL (
  SELECT `
	fromMailed = `, COALESCE(s.subscriber_id, '') AS subscriber_id, COALESCE(s.nickname, '') AS nickname, COALESCE(g.name, '') AS group_name,
    count(*) OVER () AS total
  FROM alert_deliveries d
  JOIN `
	ofMailed = ` l ON l.company_id = $1 AND l.notification_id = d.notification_id
  LEFT JOIN subscribers s ON s.company_id = $1 AND s.key = l.subscriber_key
  LEFT JOIN groups g ON g.company_id = $1 AND g.group_id = l.target_group_id
  WHERE d.company_id = $1 AND d.mail_id = wanted.mail_id AND l.silence_id IS NULL AND (d.entries IS NULL OR l.entry_id = ANY(d.entries))
  ORDER BY l.date_created DESC, l.entry_id DESC
  LIMIT $3
) e`
)

// enter adds the log entries that each mail lists, and how many there are in all.
func (o *Outbox) enter(ctx context.Context, company domain.CompanyID, contents []*domain.MailContent, limit int) error {
	type row struct {
		domain.MailEntry
		MailID string
		Total  int
	}
	mailID := func(of *domain.MailContent) string { return of.MailID }
	ids := pq.StringArray(pg.Pluck(contents, mailID))
	rows, err := pg.SelectAll[row](ctx, o.pool, entriesOfMails, company, ids, limit)
	if err != nil {
		return err
	}
	byID := pg.Keyed(contents, mailID)
	for _, r := range rows {
		content := byID[r.MailID]
		content.Entries, content.Total = append(content.Entries, &r.MailEntry), r.Total
	}
	return o.enterConditions(ctx, company, byID, ids, limit)
}

// enterConditions adds the entries of the log of conditions to the mails.
func (o *Outbox) enterConditions(ctx context.Context, company domain.CompanyID, contents map[string]*domain.MailContent, ids pq.StringArray, limit int) error {
	type row struct {
		condition.Entry
		SubscriberID, Nickname, GroupName string
		MailID                            string
		Total                             int
	}
	rows, err := pg.SelectAll[row](ctx, o.pool, conditionEntriesOfMails, company, ids, limit)
	if err != nil {
		return err
	}
	for _, r := range rows {
		content := contents[r.MailID]
		if content.ConditionEntries == nil {
			content.Total += r.Total
		}
		content.ConditionEntries = append(content.ConditionEntries, &domain.MailConditionEntry{
			Who: r.Subject(condition.Names{SubscriberID: r.SubscriberID, Nickname: r.Nickname, GroupName: r.GroupName}), What: r.Describe(),
			AlertID: r.AlertID, RuleType: r.RuleType, Target: r.Target, DateCreated: r.DateCreated,
		})
	}
	return nil
}

const (
	makeMailKey = `INSERT INTO mail_keys (company_id, secret) VALUES ($1, $2) ON CONFLICT DO NOTHING`
	findMailKey = `SELECT secret FROM mail_keys WHERE company_id = $1`
)

// secret signs the unsubscribe links of the company, the same for all time.
func (o *Outbox) secret(ctx context.Context, company domain.CompanyID) (secret []byte, err error) {
	fresh := make([]byte, 32)
	_, _ = rand.Read(fresh) // never fails
	if _, err := o.pool.ExecContext(ctx, makeMailKey, company, fresh); err != nil {
		return nil, pg.Translate(err)
	}
	err = o.pool.GetContext(ctx, &secret, findMailKey, company)
	return secret, pg.Translate(err)
}

const mailSent = `
UPDATE mails SET state = 'sent', finished_at = $3, last_error = ''
WHERE company_id = $1 AND mail_id = $2`

// Sent implements domain.Outbox.
func (o *Outbox) Sent(ctx context.Context, company domain.CompanyID, mail *domain.Mail) error {
	_, err := pg.Affected(ctx, o.pool, mailSent, company, mail.MailID, o.now())
	return err
}

// retryMail and failMail leave a mail alone that another worker has claimed since.
const retryMail = `
UPDATE mails SET due_at = $4, last_error = $5
WHERE company_id = $1 AND mail_id = $2 AND state = 'queued' AND attempts = $3`

// Retry implements domain.Outbox.
func (o *Outbox) Retry(ctx context.Context, company domain.CompanyID, mail *domain.Mail, reason string, due time.Time) error {
	_, err := pg.Affected(ctx, o.pool, retryMail, company, mail.MailID, mail.Attempts, due, reason)
	return err
}

const refuseMail = `
UPDATE mails m SET refused_since = COALESCE(m.refused_since, $4)
WHERE m.company_id = $1 AND m.mail_id = $2 AND m.state = 'queued' AND m.attempts = $3
RETURNING m.refused_since <= $5 AND EXISTS (
  SELECT FROM mails o
  WHERE o.company_id = $1 AND o.recipient_id <> m.recipient_id AND o.state = 'sent' AND o.created_at > m.refused_since)`

// Refused implements domain.Outbox. A mail of the same moment as the first refusal proves nothing: the server may have
// begun to refuse us between the two. So only mails count that were made after it.
func (o *Outbox) Refused(ctx context.Context, company domain.CompanyID, mail *domain.Mail) (bool, error) {
	at := o.now()
	var ofAddress []bool
	err := o.pool.SelectContext(ctx, &ofAddress, refuseMail, company, mail.MailID, mail.Attempts, at, at.Add(-domain.RefusalSpan))
	return len(ofAddress) > 0 && ofAddress[0], pg.Translate(err)
}

const (
	failMail = `
UPDATE mails SET state = 'failed', finished_at = $4, last_error = $5
WHERE company_id = $1 AND mail_id = $2 AND state = 'queued' AND attempts = $3`
	// tellReport shows on a report that one of its mails was given up.
	tellReport = `
UPDATE reports r SET last_failure = $3
FROM mails m
WHERE r.company_id = $1 AND m.company_id = $1 AND m.mail_id = $2 AND r.report_id = m.report_id`
)

// Fail implements domain.Outbox.
func (o *Outbox) Fail(ctx context.Context, company domain.CompanyID, mail *domain.Mail, reason string, suppress bool) error {
	at := o.now()
	return pg.InTx(ctx, o.pool, func(tx *sqlx.Tx) error {
		n, err := pg.Affected(ctx, tx, failMail, company, mail.MailID, mail.Attempts, at, reason)
		if err == nil && n > 0 && mail.Kind == domain.MailReport {
			_, err = pg.Affected(ctx, tx, tellReport, company, mail.MailID, mail.Email+": "+reason)
		}
		if err != nil || n == 0 || !suppress {
			return err
		}
		return suppressRecipient(ctx, tx, company, mail.RecipientID, mail.Email, domain.Refused, reason, at)
	})
}

const markSuppressed = `
UPDATE alert_recipients
SET suppressed_since = $4, suppressed_reason = $5, suppressed_detail = $6
WHERE company_id = $1 AND recipient_id = $2 AND email = $3 AND suppressed_since IS NULL`

// suppressRecipient stops mail to the recipient, unless it has another address by now.
func suppressRecipient(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, recipientID int64, email string, reason domain.SuppressionReason, detail string, at time.Time) error {
	n, err := pg.Affected(ctx, tx, markSuppressed, company, recipientID, email, at, reason, detail)
	if err != nil || n == 0 {
		return err
	}
	return dropWaiting(ctx, tx, company, recipientID, at)
}

// Unsubscribe implements domain.Outbox.
func (o *Outbox) Unsubscribe(ctx context.Context, company domain.CompanyID, recipientID int64, verify func(email string, secret []byte) bool) error {
	recipient, err := recipientKind.FindIn(ctx, o.pool, domain.Whole(company), recipientID)
	if err != nil {
		return err
	}
	var secret []byte
	if err := o.pool.GetContext(ctx, &secret, findMailKey, company); err != nil {
		return recipientKind.NotFound(recipientID)
	}
	if !verify(recipient.Email, secret) {
		return recipientKind.NotFound(recipientID)
	}
	if recipient.SuppressedSince != nil {
		return nil
	}
	// Whoever has the link of a mail is taken for its recipient.
	by := &domain.Actor{Name: recipient.Email, Origin: domain.OriginOf(ctx)}
	return audit.Change(ctx, o.pool, domain.Whole(company).By(by), func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
		err := suppressRecipient(ctx, tx, company, recipientID, recipient.Email, domain.Unsubscribed, "", o.now())
		return recipientKind.Note(domain.AuditUnsubscribe, recipientID), err
	})
}
