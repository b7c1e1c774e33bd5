package signin

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/audit"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/signin"
)

const companiesOfAddress = `SELECT company_id FROM user_lookup WHERE email = $1 ORDER BY company_id LIMIT $2`

// Request implements signin.Links. Each company has its own mail: mails and links are of a
// company, and one that is away does not stop the others.
func (s *Store) Request(ctx context.Context, from domain.Origin, email domain.Email) error {
	if !s.Requests {
		return nil
	}
	of, err := pg.SelectValues[domain.CompanyID](ctx, s.pool, companiesOfAddress, email.String(), signin.MaxCompaniesOfRequest)
	if err != nil {
		return err
	}
	return domain.TryCompanies(ctx, of, func(company domain.CompanyID) error {
		scope := domain.Whole(company).By(&domain.Actor{Origin: from}) // anybody can write an address
		return pg.Retry(ctx, func() error {
			return pg.InTx(ctx, s.pool, func(tx *sqlx.Tx) error { return s.request(ctx, tx, scope, email.String()) })
		})
	})
}

// lockRequester has the requests of a user wait for one another: they are counted. It
// returns nobody where the user gets no link.
const lockRequester = `
SELECT u.user_id
FROM users u
WHERE u.company_id = $1 AND u.email = $2 AND NOT u.disabled
  AND NOT EXISTS (SELECT FROM user_identities i WHERE i.company_id = $1 AND i.user_id = u.user_id)
  AND NOT EXISTS (SELECT FROM alert_recipients r WHERE r.company_id = $1 AND r.email_key = $2 AND r.suppressed_reason = 'refused')
FOR NO KEY UPDATE OF u`

// request queues a mail, which gets its link when it is sent.
func (s *Store) request(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, email string) error {
	users, err := pg.SelectValues[int64](ctx, tx, lockRequester, scope.Company, email)
	if err != nil || len(users) == 0 {
		return err
	}
	now := s.moment()
	lately, err := countLately(ctx, tx, scope.Company, email, domain.MailLink, now)
	if err != nil || lately.OfAddress >= signin.MaxRequests || lately.OfCompany >= signin.MaxRequestsOfCompany {
		return err
	}
	if _, err := tx.ExecContext(ctx, dropStaleLinks, scope.Company, now.Add(-kept)); err != nil {
		return err
	}
	if err := endRequest(ctx, tx, scope.Company, users[0], now); err != nil {
		return err
	}
	if _, err := enqueue(ctx, tx, scope.Company, email, domain.MailLink, now); err != nil {
		return err
	}
	return audit.Record(ctx, tx, scope, domain.AuditEntry{
		Action: domain.AuditLinkRequest, SubjectType: "User", SubjectID: email, Changes: []domain.AuditChange{
			domain.Became("expiresAt", now.Add(signin.RequestedLifetime).Format(time.RFC3339)),
		},
	})
}

const (
	// cancelRequest goes before dropRequested: who sends the mail locks it to make a link.
	cancelRequest = `
UPDATE mails m SET state = 'cancelled', finished_at = $3
FROM users u
WHERE m.company_id = $1 AND m.kind = 'link' AND m.state = 'queued' AND u.company_id = $1 AND u.user_id = $2 AND m.email = u.email`
	dropRequested = `DELETE FROM login_links WHERE company_id = $1 AND user_id = $2 AND requested`
)

// endRequest ends what a user has asked for, who is locked: the mail and its links.
func endRequest(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, userID int64, now time.Time) error {
	if _, err := tx.ExecContext(ctx, cancelRequest, company, userID, now); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, dropRequested, company, userID)
	return err
}
