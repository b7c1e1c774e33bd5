package signin

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/access"
	"simgraph/db/audit"
	"simgraph/db/credential"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/inventory"
	"simgraph/domain/signin"
)

var _ signin.Accounts = (*Store)(nil)

// changing runs do under the lock of the company, for a caller who may change the user,
// and records its entries.
func (s *Store) changing(ctx context.Context, caller *domain.Caller, email string, do func(tx *sqlx.Tx, user *domain.User) (*domain.AuditEntry, error)) (*domain.User, error) {
	if err := inventory.WholeCompany(caller.Scope, "users"); err != nil {
		return nil, err
	}
	var after *domain.User
	err := audit.ChangeLocked(ctx, s.pool, caller.Scope, func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
		user, err := changeable(ctx, tx, caller, email)
		if err != nil {
			return nil, err
		}
		if _, err := pg.Returned(ctx, tx, lockUser, caller.Scope.Company, user.UserID); err != nil {
			return nil, err
		}
		entry, err := do(tx, user)
		if err != nil {
			return nil, err
		}
		after, err = access.CompanyUser(ctx, tx, caller.Scope, email)
		return entry, err
	})
	return after, err
}

// changeable finds a user of whom the caller, with the rights of this moment, has every
// permission.
func changeable(ctx context.Context, tx *sqlx.Tx, caller *domain.Caller, email string) (*domain.User, error) {
	by, err := access.Current(ctx, tx, caller)
	if err != nil {
		return nil, err
	}
	user, err := access.CompanyUser(ctx, tx, caller.Scope, email)
	if err != nil {
		return nil, err
	}
	return user, by.Need(user.Permissions...)
}

const storeInvitation = `
INSERT INTO user_invitations (company_id, user_id, mail_id, invited_at, expires_at)
VALUES ($1, $2, $3, $4, $5)`

// Invite implements signin.Accounts.
func (s *Store) Invite(ctx context.Context, caller *domain.Caller, email string) (*signin.Invitation, error) {
	if s.NoKeys {
		return nil, domain.Invalid("userEmail", "people sign in to this page at the identity provider alone: a link would not let %q in", email)
	}
	made := &signin.Invitation{}
	var err error
	made.User, err = s.changing(ctx, caller, email, func(tx *sqlx.Tx, user *domain.User) (*domain.AuditEntry, error) {
		if user.Disabled {
			return nil, domain.Invalid("userEmail", "the user is disabled")
		}
		now := s.moment()
		if err := endInvitation(ctx, tx, caller.Scope.Company, user.UserID, now); err != nil {
			return nil, err
		}
		ends := now.Add(signin.InvitationLifetime)
		mail, way, err := s.queue(ctx, tx, caller.Scope.Company, user, now)
		if err != nil {
			return nil, err
		}
		if _, err := tx.ExecContext(ctx, storeInvitation, caller.Scope.Company, user.UserID, mail, now, ends); err != nil {
			return nil, err
		}
		if mail == nil {
			made.Code = newLink(caller.Scope.Company)
			if _, err := tx.ExecContext(ctx, insertLink, caller.Scope.Company, credential.Hash(made.Code), user.UserID, now, ends, true); err != nil {
				return nil, err
			}
		}
		return &domain.AuditEntry{
			Action: domain.AuditUserInvite, SubjectType: "User", SubjectID: user.Email, Changes: []domain.AuditChange{
				domain.Became("way", way), domain.Became("expiresAt", ends.UTC().Format(time.RFC3339)),
			},
		}, nil
	})
	if err != nil {
		return nil, err
	}
	return made, nil
}

// queue puts the mail of an invitation into the outbox, and returns its id; nil where the
// service sends none. The way is for the audit log.
func (s *Store) queue(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, user *domain.User, now time.Time) (mail *string, way string, err error) {
	if !s.Mails {
		return nil, "link", nil
	}
	lately, err := countLately(ctx, tx, company, user.Email, domain.MailInvitation, now)
	switch {
	case err != nil:
		return nil, "", err
	case lately.OfAddress >= signin.MaxInvitations:
		return nil, "", &domain.Error{Kind: domain.KindRateLimited, Message: "an address gets at most 5 invitations in an hour"}
	case lately.OfCompany >= signin.MaxInvitationsOfCompany:
		return nil, "", &domain.Error{Kind: domain.KindRateLimited, Message: "a company sends at most 100 invitations in an hour"}
	}
	id, err := enqueue(ctx, tx, company, user.Email, domain.MailInvitation, now)
	return &id, "mail", err
}

const countMails = `
SELECT count(*) FILTER (WHERE email = $3) AS of_address, count(*) AS of_company
FROM mails
WHERE company_id = $1 AND kind = $4 AND created_at > $2`

type mailCounts struct{ OfAddress, OfCompany int }

// countLately counts the mails of a kind of the last hour.
func countLately(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, email string, kind domain.MailKind, now time.Time) (*mailCounts, error) {
	return pg.GetOne[mailCounts](ctx, tx, nil, countMails, company, now.Add(-time.Hour), email, kind)
}

const queueMail = `
INSERT INTO mails (company_id, mail_id, recipient_id, email, kind, due_at, created_at)
VALUES ($1, $2, 0, $3, $4, $5, $5)`

// enqueue puts a mail into the outbox, and returns its id.
func enqueue(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, email string, kind domain.MailKind, now time.Time) (string, error) {
	id := uuid.Must(uuid.NewV7()).String()
	_, err := tx.ExecContext(ctx, queueMail, company, id, email, kind, now)
	return id, err
}

// Withdraw implements signin.Accounts.
func (s *Store) Withdraw(ctx context.Context, caller *domain.Caller, email string) (*domain.User, error) {
	return s.changing(ctx, caller, email, func(tx *sqlx.Tx, user *domain.User) (*domain.AuditEntry, error) {
		return withdrawn(user), endInvitation(ctx, tx, caller.Scope.Company, user.UserID, s.moment())
	})
}

// withdrawn is the entry for the end of the user's invitation; nil where there was none.
func withdrawn(user *domain.User) *domain.AuditEntry {
	if user.Invitation == nil {
		return nil
	}
	return &domain.AuditEntry{Action: domain.AuditUserWithdraw, SubjectType: "User", SubjectID: user.Email, Changes: []domain.AuditChange{
		domain.Was("invitedAt", user.Invitation.InvitedAt.UTC().Format(time.RFC3339)),
	}}
}

const cancelInvitation = `UPDATE mails SET state = 'cancelled', finished_at = $3 WHERE company_id = $1 AND mail_id = ANY($2::uuid[]) AND state = 'queued'`

// endInvitation ends the invitation of a user with its mail and its links.
func endInvitation(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, userID int64, now time.Time) error {
	mails, err := access.EndInvitations(ctx, tx, company, pq.Int64Array{userID})
	if err != nil {
		return err
	}
	for _, mail := range mails {
		if mail.Valid {
			if _, err := tx.ExecContext(ctx, cancelInvitation, company, pq.StringArray{mail.String}, now); err != nil {
				return err
			}
		}
	}
	return nil
}

const sessionsOfUsers = `
SELECT s.*
FROM unnest($2::bigint[]) AS wanted(id)
CROSS JOIN LATERAL (
  SELECT s.user_id, s.session_hash, u.email, s.way, s.address, s.created_at, s.used_at, s.expires_at, s.ends_at
  FROM web_sessions s
  JOIN users u ON u.company_id = $1 AND u.user_id = s.user_id
  WHERE s.company_id = $1 AND s.user_id = wanted.id AND s.ended_at IS NULL AND s.expires_at > $3 AND NOT u.disabled
  ORDER BY s.used_at DESC, s.session_hash
  LIMIT $4
) s`

// SessionsOf implements signin.Accounts.
func (s *Store) SessionsOf(ctx context.Context, scope domain.Scope, users []int64) (map[int64][]*signin.Session, error) {
	if err := inventory.WholeCompany(scope, "sessions"); err != nil {
		return nil, err
	}
	rows, err := pg.SelectAll[sessionRow](ctx, s.pool, sessionsOfUsers, scope.Company, pq.Int64Array(users), s.Now(), signin.MaxSessions)
	if err != nil {
		return nil, err
	}
	all := make(map[int64][]*signin.Session, len(users))
	for _, row := range rows {
		all[row.UserID] = append(all[row.UserID], row.session())
	}
	return all, nil
}

// EndSessions implements signin.Accounts.
func (s *Store) EndSessions(ctx context.Context, caller *domain.Caller, email, id string) (*domain.User, int, error) {
	ended := 0
	user, err := s.changing(ctx, caller, email, func(tx *sqlx.Tx, user *domain.User) (_ *domain.AuditEntry, err error) {
		if id == "" {
			if err := endInvitation(ctx, tx, caller.Scope.Company, user.UserID, s.moment()); err != nil {
				return nil, err
			}
		}
		ended, err = s.endIn(ctx, tx, caller.Scope, user.Email, id)
		if err == nil && ended == 0 && id != "" {
			err = domain.NotFound("sessionId", "session", id)
		}
		if err != nil || id != "" {
			return nil, err
		}
		return withdrawn(user), nil
	})
	return user, ended, err
}

// noteSignIn notes that a user has signed in: what asked the user to is over.
func noteSignIn(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, userID int64, now time.Time) error {
	if _, err := tx.ExecContext(ctx, noteSignedIn, company, userID, now); err != nil {
		return err
	}
	if err := endRequest(ctx, tx, company, userID, now); err != nil {
		return err
	}
	return endInvitation(ctx, tx, company, userID, now)
}

const noteSignedIn = `UPDATE users SET signed_in_at = $3 WHERE company_id = $1 AND user_id = $2`
