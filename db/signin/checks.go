package signin

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/audit"
	"simgraph/db/companies"
	"simgraph/db/credential"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/signin"
)

const (
	// claimedFor is for how long a check belongs to who claimed it. A provider that
	// does not answer is asked again after that.
	claimedFor = time.Minute
	// mostClaimed bounds how many checks are claimed at once: all of them are made at
	// the same time, well within claimedFor.
	mostClaimed = 16
)

const companiesToCheck = `
SELECT DISTINCT s.company_id
FROM web_sessions s
WHERE ($1::bigint[] IS NULL OR s.company_id = ANY($1)) AND s.check_at <= $2 AND s.ended_at IS NULL AND s.expires_at > $2
LIMIT 1000`

const claimChecks = `
UPDATE web_sessions s SET check_at = $3
WHERE s.company_id = $1 AND s.session_hash IN (
  SELECT due.session_hash FROM web_sessions due
  WHERE due.company_id = $1 AND due.check_at <= $2 AND due.ended_at IS NULL AND due.expires_at > $2
  ORDER BY due.check_at LIMIT $4
  FOR UPDATE SKIP LOCKED)
RETURNING s.company_id, s.session_hash, s.way, s.issuer, s.subject, s.refresh_token`

type checkRow struct {
	CompanyID            domain.CompanyID
	SessionHash          []byte
	Way, Issuer, Subject string
	RefreshToken         []byte
}

// Due implements signin.Logins.
func (s *Store) Due(ctx context.Context) ([]*signin.Check, error) {
	now := s.moment()
	found, err := companies.With(ctx, s.pool, companiesToCheck, now)
	if err != nil {
		return nil, err
	}
	var due []*signin.Check
	for _, company := range found {
		rows, err := pg.SelectAll[checkRow](ctx, s.pool, claimChecks, company, now, now.Add(claimedFor), mostClaimed-len(due))
		if err != nil {
			return nil, err
		}
		due = append(due, pg.Pluck(rows, s.check)...)
		if len(due) == mostClaimed {
			break
		}
	}
	return due, nil
}

func (s *Store) check(row *checkRow) *signin.Check {
	check := &signin.Check{
		Identity: signin.Identity{Issuer: row.Issuer, Subject: row.Subject}, Company: row.CompanyID, Session: row.SessionHash, Provider: row.Way,
	}
	if token, err := s.Key.Open(row.RefreshToken, sealedFor(row.CompanyID, row.SessionHash)); err == nil {
		check.RefreshToken = domain.Secret(token)
	}
	return check
}

const confirmSession = `
UPDATE web_sessions SET refresh_token = $3, check_at = $4
WHERE company_id = $1 AND session_hash = $2 AND ended_at IS NULL`

// Confirm implements signin.Logins.
func (s *Store) Confirm(ctx context.Context, check *signin.Check, all []signin.Rights, refreshToken domain.Secret, next time.Time) error {
	sealed, err := s.Key.Seal([]byte(refreshToken), sealedFor(check.Company, check.Session))
	if err != nil {
		return err
	}
	var rights *signin.Rights
	if all != nil {
		if rights, err = s.rightsIn(ctx, check.Company, all); err != nil {
			return err
		}
	}
	return pg.Retry(ctx, func() error {
		return pg.InTx(ctx, s.pool, func(tx *sqlx.Tx) error {
			if _, err := tx.ExecContext(ctx, confirmSession, check.Company, check.Session, sealed, next); err != nil || rights == nil {
				return err
			}
			scope := checkScope(check)
			_, entry, err := s.account(ctx, tx, scope, &signin.Login{Identity: check.Identity, Provider: check.Provider, Rights: *rights})
			if err != nil {
				return err
			}
			return record(ctx, tx, scope, entry)
		})
	})
}

// rightsIn returns those of the rights that are of the company, or a refusal. Rules may
// name companies that there are not.
func (s *Store) rightsIn(ctx context.Context, company domain.CompanyID, all []signin.Rights) (*signin.Rights, error) {
	companies, refusal, err := unrefused(all, func(of signin.Rights) (*domain.Company, error) { return s.companyOf(ctx, of.Company) })
	if err != nil {
		return nil, err
	}
	for n := range all {
		if of := companies[n]; of != nil && of.CompanyID == company {
			return &all[n], nil
		}
	}
	return nil, cmp.Or(refusal, &signin.Refusal{Why: signin.RefusedRule, Message: "You have access to another company now. Sign in again.", Company: company})
}

// unrefused returns what look returns for each of the rights, nil for one that it
// refuses, and the first refusal. It stops at another error.
func unrefused[T any](all []signin.Rights, look func(signin.Rights) (*T, error)) (found []*T, first *signin.Refusal, err error) {
	for _, of := range all {
		one, err := look(of)
		refusal, is := errors.AsType[*signin.Refusal](err)
		if err != nil && !is {
			return nil, nil, err
		}
		found, first = append(found, one), cmp.Or(first, refusal)
	}
	return found, first, nil
}

// checkScope has the service act, by what a provider has answered.
func checkScope(check *signin.Check) domain.Scope {
	return domain.Whole(check.Company).By(&domain.Actor{Name: "provider " + check.Provider})
}

const endChecked = `
UPDATE web_sessions s SET ended_at = $2, refresh_token = NULL
FROM users u
WHERE s.company_id = $1 AND u.company_id = s.company_id AND u.user_id = s.user_id AND s.ended_at IS NULL
  AND (s.session_hash = $3 OR $4 AND s.issuer = $5 AND s.subject = $6)
RETURNING u.email`

// EndChecked implements signin.Logins.
func (s *Store) EndChecked(ctx context.Context, check *signin.Check, why signin.RefusalReason, allOfPerson bool) error {
	return pg.InTx(ctx, s.pool, func(tx *sqlx.Tx) error {
		var emails []string
		if err := tx.SelectContext(ctx, &emails, endChecked, check.Company, s.moment(), check.Session, allOfPerson, check.Issuer, check.Subject); err != nil || len(emails) == 0 {
			return err
		}
		return audit.Record(ctx, tx, checkScope(check), domain.AuditEntry{
			Action: domain.AuditSessionEnd, SubjectType: "User", SubjectID: emails[0], Changes: []domain.AuditChange{
				domain.Was("sessions", pg.FormatInt(int64(len(emails)))), domain.Was("session", credential.FormatHash(check.Session)), domain.Became("because", string(why)),
			},
		})
	})
}
