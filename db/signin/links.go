package signin

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/access"
	"simgraph/db/audit"
	"simgraph/db/credential"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/ascii"
	"simgraph/domain/signin"
)

var _ signin.Links = (*Store)(nil)

const dropStaleLinks = `DELETE FROM login_links WHERE company_id = $1 AND expires_at < $2`

// dropSurplusLinks leaves room for one more link of the user.
const dropSurplusLinks = `
DELETE FROM login_links
WHERE company_id = $1 AND link_hash IN (
  SELECT link_hash FROM login_links
  WHERE company_id = $1 AND user_id = $2
  ORDER BY created_at DESC OFFSET $3)`

const insertLink = `
INSERT INTO login_links (company_id, link_hash, user_id, created_at, expires_at, invited)
VALUES ($1, $2, $3, $4, $5, $6)`

// newLink returns the code of a link.
func newLink(company domain.CompanyID) domain.Secret {
	return domain.Secret(credential.New(credential.Link, company, credential.SecretBytes))
}

// Issue implements signin.Links.
func (s *Store) Issue(ctx context.Context, scope domain.Scope, email string, lifetime time.Duration) (*signin.IssuedLink, error) {
	link := &signin.IssuedLink{Code: newLink(scope.Company)}
	return link, pg.InTx(ctx, s.pool, func(tx *sqlx.Tx) error {
		user, err := access.CompanyUser(ctx, tx, scope, email)
		if err != nil {
			return err
		}
		if user.Disabled {
			return domain.Invalid("userEmail", "the user is disabled")
		}
		now := s.moment()
		link.Email, link.ExpiresAt = user.Email, now.Add(lifetime)
		if _, err := tx.ExecContext(ctx, dropStaleLinks, scope.Company, now.Add(-kept)); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, dropSurplusLinks, scope.Company, user.UserID, signin.MaxLinks-1); err != nil {
			return err
		}
		hash := credential.Hash(link.Code)
		if _, err := tx.ExecContext(ctx, insertLink, scope.Company, hash, user.UserID, now, link.ExpiresAt, false); err != nil {
			return err
		}
		return audit.Record(ctx, tx, scope, domain.AuditEntry{
			Action: domain.AuditLinkIssue, SubjectType: "User", SubjectID: user.Email, Changes: []domain.AuditChange{
				domain.Became("link", credential.FormatHash(hash)), domain.Became("expiresAt", link.ExpiresAt.Format(time.RFC3339)),
			},
		})
	})
}

const findLink = `
SELECT l.user_id, l.expires_at, l.invited, l.requested, u.email, u.disabled, c.name AS company,
  EXISTS (SELECT FROM user_identities i WHERE i.company_id = $1 AND i.user_id = l.user_id) AS provided
FROM login_links l
JOIN users u ON u.company_id = l.company_id AND u.user_id = l.user_id
JOIN companies c ON c.company_id = l.company_id
WHERE l.company_id = $1 AND l.link_hash = $2`

type linkRow struct {
	UserID         int64
	ExpiresAt      time.Time
	Email, Company string
	// Invited is set on links of invitations, Requested on those that were asked for.
	Invited, Requested, Disabled bool
	// Provided is set where the user has signed in at a provider.
	Provided bool
}

// way is that of the session that the link begins.
func (r *linkRow) way() string {
	if r.Requested {
		return signin.ByMailedLink
	}
	return signin.ByLink
}

// FindLink implements signin.Links.
func (s *Store) FindLink(ctx context.Context, code domain.Secret) (*signin.Link, error) {
	company, hash, err := readLink(code)
	if err != nil {
		return nil, err
	}
	row, err := s.liveLink(ctx, s.pool, company, hash)
	if err != nil {
		return nil, err
	}
	return &signin.Link{Email: row.Email, Company: row.Company, ExpiresAt: row.ExpiresAt}, nil
}

// readLink returns the company that a code names, and the hash that is stored of it.
func readLink(code domain.Secret) (domain.CompanyID, []byte, error) {
	company, ok := credential.CompanyOf(credential.Link, string(code))
	if !ok {
		return 0, nil, deadLink(domain.Installation)
	}
	return company, credential.Hash(code), nil
}

// liveLink finds a link that signs in now.
func (s *Store) liveLink(ctx context.Context, in sqlx.QueryerContext, company domain.CompanyID, hash []byte) (*linkRow, error) {
	// A code that is not found says nothing about its company: anybody can write one.
	row, err := pg.GetOne[linkRow](ctx, in, deadLink(domain.Installation), findLink, company, hash)
	switch {
	case err != nil:
		return nil, err
	case !s.Now().Before(row.ExpiresAt):
		return nil, deadLink(company)
	case row.Disabled:
		return nil, &signin.Refusal{Why: signin.RefusedDisabled, Message: "Your account is disabled. Ask your administrator.", Company: company}
	case row.Requested && !s.Requests:
		return nil, deadLink(company)
	case row.Invited && s.NoKeys:
		return nil, &signin.Refusal{Why: signin.RefusedLink, Message: "People sign in here at the identity provider alone. Choose it among the other ways to sign in.", Company: company}
	case row.Requested && row.Provided:
		return nil, &signin.Refusal{Why: signin.RefusedLink, Message: "You sign in at the identity provider. Choose it among the other ways to sign in.", Company: company}
	}
	return row, nil
}

func deadLink(company domain.CompanyID) *signin.Refusal {
	return &signin.Refusal{
		Why: signin.RefusedLink, Message: "This link does not sign in: it was used before, a newer one has replaced it, it has expired or is incomplete. Ask for a new one.", Company: company,
	}
}

// lockUser lets one link of a user be used at a time: each ends the others of its
// invitation. Who ends links and invitations takes it first, too.
const lockUser = `SELECT 1 FROM users WHERE company_id = $1 AND user_id = $2 FOR NO KEY UPDATE`

const useLink = `DELETE FROM login_links WHERE company_id = $1 AND link_hash = $2 RETURNING 1`

// ByLink implements signin.Links. Of two uses at a time the deletion lets one through.
func (s *Store) ByLink(ctx context.Context, from domain.Origin, code domain.Secret) (begun *signin.Begun, err error) {
	company, hash, err := readLink(code)
	if err != nil {
		return nil, err
	}
	err = pg.InTx(ctx, s.pool, func(tx *sqlx.Tx) error {
		row, err := s.liveLink(ctx, tx, company, hash)
		if err != nil {
			return err
		}
		if _, err := pg.Returned(ctx, tx, lockUser, company, row.UserID); err != nil {
			return err
		}
		uses, err := pg.Returned(ctx, tx, useLink, company, hash)
		if err != nil {
			return err
		}
		if uses == 0 {
			return deadLink(company)
		}
		begun, err = s.beginIn(ctx, tx, &origin{company: company, userID: row.UserID, email: row.Email, way: row.way(), from: from})
		return err
	})
	return begun, err
}

const (
	// lockUsers waits for links that are being used, see lockUser.
	lockUsers   = `SELECT 1 FROM users WHERE company_id = $1 AND ($2 = '' OR email = $2) ORDER BY user_id FOR NO KEY UPDATE`
	ofUserOrAll = `company_id = $1 AND ($2 = '' OR user_id IN (SELECT user_id FROM users WHERE company_id = $1 AND email = $2))`
	// endInvitations and cancelRequests go before endLinks, see access.EndInvitations.
	endInvitations = `DELETE FROM user_invitations WHERE ` + ofUserOrAll
	cancelRequests = `
UPDATE mails SET state = 'cancelled', finished_at = $3
WHERE company_id = $1 AND kind = 'link' AND state = 'queued' AND ($2 = '' OR email = $2)`
	endLinks = `DELETE FROM login_links WHERE ` + ofUserOrAll
)

// endLinksOf ends the links of the company, or of one of its users, so that nobody
// signs in again by a link of before.
func endLinksOf(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, email string, now time.Time) error {
	email = ascii.Lower(email)
	for _, statement := range []string{lockUsers, endInvitations} {
		if _, err := tx.ExecContext(ctx, statement, company, email); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, cancelRequests, company, email, now); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, endLinks, company, email)
	return err
}
