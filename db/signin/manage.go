package signin

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/audit"
	"simgraph/db/credential"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/ascii"
	"simgraph/domain/signin"
)

const listSignedIn = `
SELECT s.user_id, s.session_hash, u.email, s.way, s.address, s.created_at, s.used_at, s.expires_at, s.ends_at
FROM web_sessions s
JOIN users u ON u.company_id = s.company_id AND u.user_id = s.user_id
WHERE s.company_id = $1 AND s.ended_at IS NULL AND s.expires_at > $2 AND ($3 = '' OR u.email = $3) AND NOT u.disabled
ORDER BY s.used_at DESC
LIMIT $4`

type sessionRow struct {
	UserID                               int64
	SessionHash                          []byte
	Email, Way, Address                  string
	CreatedAt, UsedAt, ExpiresAt, EndsAt time.Time
}

func (r *sessionRow) session() *signin.Session {
	return &signin.Session{
		ID: credential.FormatHash(r.SessionHash), Email: r.Email, Way: r.Way, Address: r.Address,
		CreatedAt: r.CreatedAt, UsedAt: r.UsedAt, ExpiresAt: r.ExpiresAt, EndsAt: r.EndsAt,
	}
}

// List implements signin.Sessions.
func (s *Store) List(ctx context.Context, scope domain.Scope, email string) ([]*signin.Session, error) {
	rows, err := pg.SelectAll[sessionRow](ctx, s.pool, listSignedIn, scope.Company, s.Now(), ascii.Lower(email), signin.MaxListed)
	return pg.Pluck(rows, (*sessionRow).session), err
}

const endSessions = `
UPDATE web_sessions s SET ended_at = $2, refresh_token = NULL
FROM users u
WHERE s.company_id = $1 AND u.company_id = s.company_id AND u.user_id = s.user_id AND s.ended_at IS NULL AND s.expires_at > $2
  AND ($3 = '' OR u.email = $3) AND ($4 = '' OR encode(substring(s.session_hash FROM 1 FOR 8), 'hex') = $4)
RETURNING u.email`

// EndAll implements signin.Sessions. The audit log gets one entry for each user.
func (s *Store) EndAll(ctx context.Context, scope domain.Scope, email, id string) (ended int, err error) {
	return ended, pg.InTx(ctx, s.pool, func(tx *sqlx.Tx) error {
		ended, err = s.endIn(ctx, tx, scope, email, id)
		return err
	})
}

func (s *Store) endIn(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, email, id string) (int, error) {
	if id == "" { // first, since a link that is being used begins a session
		if err := endLinksOf(ctx, tx, scope.Company, email, s.moment()); err != nil {
			return 0, err
		}
	}
	var emails []string
	if err := tx.SelectContext(ctx, &emails, endSessions, scope.Company, s.Now(), ascii.Lower(email), id); err != nil {
		return 0, err
	}
	return len(emails), recordEnds(ctx, tx, scope, emails, id)
}

func recordEnds(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, emails []string, id string) error {
	sessions := map[string]int{}
	for _, email := range emails {
		sessions[email]++
	}
	for email, n := range sessions {
		changes := []domain.AuditChange{domain.Was("sessions", pg.FormatInt(int64(n)))}
		if id != "" {
			changes = append(changes, domain.Was("session", id))
		}
		err := audit.Record(ctx, tx, scope, domain.AuditEntry{Action: domain.AuditSessionEnd, SubjectType: "User", SubjectID: email, Changes: changes})
		if err != nil {
			return err
		}
	}
	return nil
}
