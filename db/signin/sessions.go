// Package signin keeps sessions of browsers, links that sign in once, and identities of
// users at providers.
package signin

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/access"
	"simgraph/db/audit"
	"simgraph/db/credential"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/signin"
	"simgraph/internal/seal"
)

const (
	// kept is how long ended sessions and links stay in the tables.
	kept = 24 * time.Hour
	// mostUsed bounds the memory for sessions in use.
	mostUsed = 100_000
)

// Options are how long sessions last.
type Options struct {
	// Idle is how long a session lasts without use, Most how long in any case.
	Idle, Most time.Duration
	// Key seals refresh tokens; none is needed without providers.
	Key seal.Key
	// NoKeys refuses access keys, and tokens that programs got: they are for
	// programs then.
	NoKeys bool
	// Mails is whether invitations go by mail. Otherwise who invites gets the link.
	Mails bool
	// Requests is whether users get the links that they ask for by mail.
	Requests bool
	Now      func() time.Time
}

// Store keeps sessions in PostgreSQL.
type Store struct {
	pool   *sqlx.DB
	access *access.Store
	Options

	mu       sync.Mutex
	used     map[string]time.Time
	refusals refusals
}

var (
	_ signin.Sessions = (*Store)(nil)
	_ signin.Logins   = (*Store)(nil)
)

// New returns the store on the pool. Access checks keys and tokens.
func New(pool *sqlx.DB, access *access.Store, options Options) *Store {
	if options.Now == nil {
		options.Now = time.Now
	}
	return &Store{pool: pool, access: access, Options: options, used: map[string]time.Time{}}
}

// origin is what a session is begun with.
type origin struct {
	company     domain.CompanyID
	userID      int64
	email       string
	way         string
	accessKeyID *string
	tokenHash   []byte
	scopes      []domain.Permission
	until       time.Time
	from        domain.Origin
	// login is set for sessions by a provider, and before is what it changed.
	login  *signin.Login
	before *domain.AuditEntry
}

func (o *origin) scope() domain.Scope {
	actor := &domain.Actor{UserID: o.userID, Name: o.email, Origin: o.from}
	if o.accessKeyID != nil {
		actor.AccessKeyID = *o.accessKeyID
	}
	return domain.Whole(o.company).By(actor)
}

// ByKey implements signin.Sessions.
func (s *Store) ByKey(ctx context.Context, from domain.Origin, accessKeyID string, secret domain.Secret) (*signin.Begun, error) {
	if s.NoKeys {
		return nil, noKeys()
	}
	holder, err := s.access.CheckKey(ctx, from, accessKeyID, secret)
	if err != nil {
		return nil, err
	}
	return s.begin(ctx, &origin{
		company: holder.Company, userID: holder.UserID, email: holder.Key.UserEmail, way: signin.ByKey, accessKeyID: &accessKeyID,
		scopes: holder.Key.Scopes, until: holder.Key.ExpiresAt, from: from,
	})
}

func noKeys() *domain.Error {
	return domain.Forbidden("access keys and tokens of programs do not sign in to this page")
}

// ByToken implements signin.Sessions.
func (s *Store) ByToken(ctx context.Context, from domain.Origin, token domain.Secret) (*signin.Begun, error) {
	caller, err := s.access.Authenticate(ctx, token)
	if err != nil {
		return nil, err
	}
	if s.NoKeys && caller.OfProgram {
		return nil, noKeys()
	}
	begun := &origin{
		company: caller.Scope.Company, userID: caller.UserID, email: caller.Email, way: signin.ByToken, tokenHash: credential.Hash(token),
		scopes: caller.Permissions, until: caller.ExpiresAt, from: from,
	}
	if caller.AccessKeyID != "" {
		begun.accessKeyID = &caller.AccessKeyID
	}
	return s.begin(ctx, begun)
}

const insertSession = `
INSERT INTO web_sessions (company_id, session_hash, user_id, way, access_key_id, token_hash, scopes, created_at, used_at, expires_at, ends_at,
  issuer, subject, refresh_token, check_at, address)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9, $10, $11, $12, $13, $14, $15)`

const touchKeyOfSession = `UPDATE access_keys SET last_used_at = $3 WHERE company_id = $1 AND access_key_id = $2`

const dropStaleSessions = `DELETE FROM web_sessions WHERE company_id = $1 AND (expires_at < $2 OR ended_at < $2)`

// endSurplus leaves room for one more session of the user.
const endSurplus = `
UPDATE web_sessions SET ended_at = $3, refresh_token = NULL
WHERE company_id = $1 AND session_hash IN (
  SELECT session_hash FROM web_sessions
  WHERE company_id = $1 AND user_id = $2 AND ended_at IS NULL AND expires_at > $3
  ORDER BY used_at DESC OFFSET $4)`

func (s *Store) begin(ctx context.Context, of *origin) (begun *signin.Begun, err error) {
	err = pg.InTx(ctx, s.pool, func(tx *sqlx.Tx) error {
		begun, err = s.beginIn(ctx, tx, of)
		return err
	})
	return begun, err
}

// beginIn stores a session and its entry of the audit log.
func (s *Store) beginIn(ctx context.Context, tx *sqlx.Tx, of *origin) (*signin.Begun, error) {
	now := pg.Moment(s.Now())
	ends := now.Add(s.Most)
	if !of.until.IsZero() && of.until.Before(ends) {
		ends = of.until
	}
	begun := &signin.Begun{Secret: domain.Secret(credential.New(credential.Session, of.company, credential.SecretBytes))}
	hash := credential.Hash(begun.Secret)
	begun.Session = signin.Session{
		ID: credential.FormatHash(hash), Email: of.email, Way: of.way, Address: of.from.Address, CreatedAt: now, UsedAt: now,
		ExpiresAt: domain.EarlierOf(now.Add(s.Idle), ends), EndsAt: ends,
	}
	if err := noteSignIn(ctx, tx, of.company, of.userID, now); err != nil {
		return nil, err
	}
	if _, err := tx.ExecContext(ctx, dropStaleSessions, of.company, now.Add(-kept)); err != nil {
		return nil, err
	}
	if _, err := tx.ExecContext(ctx, endSurplus, of.company, of.userID, now, signin.MaxSessions-1); err != nil {
		return nil, err
	}
	if of.accessKeyID != nil {
		if _, err := tx.ExecContext(ctx, touchKeyOfSession, of.company, *of.accessKeyID, now); err != nil {
			return nil, err
		}
	}
	at, err := s.provided(of, hash)
	if err != nil {
		return nil, err
	}
	if _, err := tx.ExecContext(ctx, insertSession, of.company, hash, of.userID, of.way, of.accessKeyID, of.tokenHash, pq.Array(of.scopes),
		now, begun.ExpiresAt, ends, at.issuer, at.subject, at.refreshToken, at.checkAt, of.from.Address); err != nil {
		return nil, err
	}
	entry := &domain.AuditEntry{
		Action: domain.AuditSessionBegin, SubjectType: "User", SubjectID: of.email, Changes: []domain.AuditChange{
			domain.Became("session", begun.ID), domain.Became("way", of.way), domain.Became("endsAt", ends.UTC().Format(time.RFC3339)),
		},
	}
	if of.login != nil {
		entry.Changes = append(entry.Changes, domain.Became("issuer", of.login.Issuer), domain.Became("subject", of.login.Subject))
	}
	return begun, record(ctx, tx, of.scope(), of.before, entry)
}

// provided are the columns of a session by a provider; nil in others.
type provided struct {
	issuer, subject *string
	refreshToken    []byte
	checkAt         *time.Time
}

func (s *Store) provided(of *origin, hash []byte) (at provided, err error) {
	if of.login == nil {
		return at, nil
	}
	at.issuer, at.subject = &of.login.Issuer, &of.login.Subject
	if of.login.RefreshToken != "" {
		at.checkAt = &of.login.CheckAt
		at.refreshToken, err = s.Key.Seal([]byte(of.login.RefreshToken), sealedFor(of.company, hash))
	}
	return at, err
}

const authenticateSession = `
SELECT ` + access.CallerColumns + `, COALESCE(s.scopes, u.permissions) AS scopes, s.expires_at, COALESCE(s.access_key_id, '') AS access_key_id,
       array_agg(g.group_id ORDER BY g.group_id) FILTER (WHERE g.group_id IS NOT NULL) AS groups,
       array_agg(g.group_id ORDER BY g.group_id) FILTER (WHERE g.hide_tariff_details) AS masked
FROM web_sessions s
JOIN users u ON u.company_id = s.company_id AND u.user_id = s.user_id
JOIN companies c ON c.company_id = s.company_id
LEFT JOIN access_keys k ON k.company_id = s.company_id AND k.access_key_id = s.access_key_id
LEFT JOIN access_tokens t ON t.company_id = s.company_id AND t.token_hash = s.token_hash
LEFT JOIN user_groups ug ON ug.company_id = u.company_id AND ug.user_id = u.user_id
LEFT JOIN groups g ON g.company_id = ug.company_id AND g.group_id = ug.group_id
WHERE s.company_id = $1 AND s.session_hash = $2 AND s.expires_at > $3 AND s.ended_at IS NULL AND NOT u.disabled
  AND (s.access_key_id IS NULL OR (k.revoked_at IS NULL AND k.expires_at > $3))
  AND (s.token_hash IS NULL OR (t.revoked_at IS NULL AND t.expires_at > $3))
GROUP BY s.company_id, s.session_hash, u.company_id, u.user_id, c.company_id, k.company_id, k.access_key_id`

func noSession() *domain.Error {
	return &domain.Error{Kind: domain.KindInvalidToken, Message: "the session has ended"}
}

// Authenticate implements signin.Sessions.
func (s *Store) Authenticate(ctx context.Context, session domain.Secret) (*domain.Caller, error) {
	company, ok := credential.CompanyOf(credential.Session, string(session))
	if !ok {
		return nil, noSession()
	}
	hash := credential.Hash(session)
	row, err := pg.GetOne[access.CallerRow](ctx, s.pool, noSession(), authenticateSession, company, hash, s.Now())
	if err != nil {
		return nil, err
	}
	return row.Caller(hash), nil
}

// Used implements signin.Sessions.
func (s *Store) Used(session domain.Secret, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.used[string(session)]; known || len(s.used) < mostUsed {
		s.used[string(session)] = at
	}
}

const renewSessions = `
UPDATE web_sessions s SET used_at = l.at, expires_at = LEAST(s.ends_at, l.expires_at)
FROM unnest($2::bytea[], $3::timestamptz[], $4::timestamptz[]) AS l(session_hash, at, expires_at)
WHERE s.company_id = $1 AND s.session_hash = l.session_hash AND s.ended_at IS NULL AND s.used_at < l.at`

// Renew implements signin.Sessions. What could not be stored is stored next time; a
// company whose node is away does not stop the others.
func (s *Store) Renew(ctx context.Context) error {
	s.mu.Lock()
	used := s.used
	s.used = map[string]time.Time{}
	s.mu.Unlock()
	byCompany := map[domain.CompanyID]map[string]time.Time{}
	for session, at := range used {
		company, _ := credential.CompanyOf(credential.Session, session)
		if byCompany[company] == nil {
			byCompany[company] = map[string]time.Time{}
		}
		byCompany[company][session] = at
	}
	err := domain.TryCompanies(ctx, slices.Sorted(maps.Keys(byCompany)), func(company domain.CompanyID) error {
		if err := s.renew(ctx, company, byCompany[company]); err != nil {
			return err
		}
		for session := range byCompany[company] {
			delete(used, session)
		}
		return nil
	})
	s.putBack(used)
	return err
}

// renew stores when sessions of a company were used.
func (s *Store) renew(ctx context.Context, company domain.CompanyID, used map[string]time.Time) error {
	var hashes pq.ByteaArray
	var at, expires pq.StringArray
	for session, last := range used {
		hashes = append(hashes, credential.Hash(domain.Secret(session)))
		at = append(at, last.UTC().Format(time.RFC3339Nano))
		expires = append(expires, last.Add(s.Idle).UTC().Format(time.RFC3339Nano))
	}
	_, err := pg.Affected(ctx, s.pool, renewSessions, company, hashes, at, expires)
	return err
}

func (s *Store) putBack(used map[string]time.Time) {
	for session, at := range used {
		s.mu.Lock()
		if s.used[session].Before(at) && len(s.used) < mostUsed {
			s.used[session] = at
		}
		s.mu.Unlock()
	}
}

const endSession = `
UPDATE web_sessions SET ended_at = $3, refresh_token = NULL
WHERE company_id = $1 AND session_hash = $2 AND ended_at IS NULL
RETURNING token_hash`

const endTokenOfSession = `UPDATE access_tokens SET revoked_at = $3 WHERE company_id = $1 AND token_hash = $2 AND revoked_at IS NULL`

// End implements signin.Sessions.
func (s *Store) End(ctx context.Context, from domain.Origin, session domain.Secret, tokenToo bool) error {
	caller, err := s.Authenticate(ctx, session)
	if fault, is := domain.AsError(err); is && fault.Kind == domain.KindInvalidToken {
		return nil
	}
	if err != nil {
		return err
	}
	scope := domain.Whole(caller.Scope.Company).By(&domain.Actor{UserID: caller.UserID, Name: caller.Email, AccessKeyID: caller.AccessKeyID, Origin: from})
	return pg.InTx(ctx, s.pool, func(tx *sqlx.Tx) error {
		var tokens [][]byte
		if err := tx.SelectContext(ctx, &tokens, endSession, scope.Company, credential.Hash(session), s.Now()); err != nil || len(tokens) == 0 {
			return err
		}
		if tokenToo && tokens[0] != nil {
			if _, err := tx.ExecContext(ctx, endTokenOfSession, scope.Company, tokens[0], s.Now()); err != nil {
				return err
			}
		}
		return audit.Record(ctx, tx, scope, domain.AuditEntry{
			Action: domain.AuditSessionEnd, SubjectType: "User", SubjectID: caller.Email, Changes: []domain.AuditChange{domain.Was("session", caller.Credential)},
		})
	})
}
