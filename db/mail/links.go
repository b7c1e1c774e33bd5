package mail

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/credential"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/signin"
)

const (
	lockInvitation = `SELECT user_id, expires_at FROM user_invitations WHERE company_id = $1 AND mail_id = $2 AND expires_at > $3 FOR UPDATE`
	// lockRequest locks the user first, as who ends requests does. Who has begun to sign in
	// at a provider since gets no link.
	lockRequest = `
SELECT u.user_id, m.created_at AS requested_at
FROM users u
JOIN mails m ON m.company_id = $1 AND m.email = u.email
WHERE u.company_id = $1 AND m.mail_id = $2 AND m.state = 'queued' AND m.created_at > $3 AND NOT u.disabled
  AND NOT EXISTS (SELECT FROM user_identities i WHERE i.company_id = $1 AND i.user_id = u.user_id)
FOR NO KEY UPDATE OF u, m`
	// dropOlderLinks leaves some links of earlier attempts: a mail server may have taken a
	// mail that it did not answer for.
	dropOlderLinks = `
DELETE FROM login_links
WHERE company_id = $1 AND link_hash IN (
  SELECT link_hash FROM login_links
  WHERE company_id = $1 AND user_id = $2 AND invited = $3 AND requested = $4
  ORDER BY created_at DESC OFFSET 2)`
	insertMailedLink = `
INSERT INTO login_links (company_id, link_hash, user_id, created_at, expires_at, invited, requested)
VALUES ($1, $2, $3, $4, $5, $6, $7)`
	cancelMail = `UPDATE mails SET state = 'cancelled', finished_at = $3 WHERE company_id = $1 AND mail_id = $2 AND state = 'queued'`
)

// enterLinks gives each mail that signs in a link of its own: the code is in the mail
// alone. Mails whose invitation or request has ended are left out.
func (o *Outbox) enterLinks(ctx context.Context, company domain.CompanyID, contents []*domain.MailContent) ([]*domain.MailContent, error) {
	var due []*domain.MailContent
	for _, content := range contents {
		if content.Kind.SignsIn() {
			if err := pg.Retry(ctx, func() error {
				return pg.InTx(ctx, o.pool, func(tx *sqlx.Tx) error { return o.link(ctx, tx, company, content) })
			}); err != nil {
				return nil, err
			}
		}
		if !content.Kind.SignsIn() || content.SignIn != "" {
			due = append(due, content)
		}
	}
	return due, nil
}

// asked is a user who was asked to sign in, or has asked to.
type asked struct {
	UserID                 int64
	RequestedAt, ExpiresAt time.Time
}

// lockAsked returns nil where the mail signs nobody in any more.
func lockAsked(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, mail *domain.Mail, at time.Time) (*asked, error) {
	if mail.Kind == domain.MailInvitation {
		return pg.GetOne[asked](ctx, tx, nil, lockInvitation, company, mail.MailID, at)
	}
	of, err := pg.GetOne[asked](ctx, tx, nil, lockRequest, company, mail.MailID, at.Add(-signin.RequestedLifetime))
	if of != nil {
		of.ExpiresAt = of.RequestedAt.Add(signin.RequestedLifetime)
	}
	return of, err
}

func (o *Outbox) link(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, content *domain.MailContent) error {
	at := pg.Moment(o.now())
	of, err := lockAsked(ctx, tx, company, &content.Mail, at)
	if err != nil {
		return err
	}
	if of == nil {
		_, err := pg.Affected(ctx, tx, cancelMail, company, content.MailID, at)
		return err
	}
	code := domain.Secret(credential.New(credential.Link, company, credential.SecretBytes))
	invited, requested := content.Kind == domain.MailInvitation, content.Kind == domain.MailLink
	if _, err := tx.ExecContext(ctx, dropOlderLinks, company, of.UserID, invited, requested); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, insertMailedLink, company, credential.Hash(code), of.UserID, at, of.ExpiresAt, invited, requested); err != nil {
		return err
	}
	content.SignIn, content.LinkEndsAt = code, of.ExpiresAt
	return nil
}
