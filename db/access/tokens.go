package access

import (
	"context"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/audit"
	"simgraph/db/credential"
	"simgraph/db/pg"
	"simgraph/domain"
)

const insertToken = `
INSERT INTO access_tokens (company_id, token_hash, user_id, access_key_id, scopes, expires_at, of_program)
VALUES ($1, $2, $3, $4, $5, $6, $7)`

const touchKey = `UPDATE access_keys SET last_used_at = $3 WHERE company_id = $1 AND access_key_id = $2`

// dropStaleTokens keeps the table small: what ended a day ago is of no use.
const dropStaleTokens = `DELETE FROM access_tokens WHERE company_id = $1 AND expires_at < $2`

// Exchange implements domain.Access.
func (a *Store) Exchange(ctx context.Context, from domain.Origin, accessKeyID string, secret domain.Secret, wanted []domain.Permission) (*domain.Grant, error) {
	key, err := a.liveKey(ctx, from, accessKeyID, secret)
	if err != nil {
		return nil, err
	}
	scopes, err := Grantable(wanted, key.key().Scopes)
	if err != nil {
		a.refused.note(key.refused(), from, domain.RefusedScope)
		return nil, err
	}
	now := time.Now()
	grant := &domain.Grant{
		Token: domain.Secret(credential.New(credential.Token, key.CompanyID, credential.SecretBytes)), Scopes: scopes,
		ExpiresAt: domain.EarlierOf(now.Add(domain.TokenLifetime), key.ExpiresAt),
	}
	return grant, pg.InTx(ctx, a.pool, func(tx *sqlx.Tx) error {
		if _, err := pg.Affected(ctx, tx, dropStaleTokens, key.CompanyID, now.Add(-24*time.Hour)); err != nil {
			return err
		}
		if _, err := pg.Affected(ctx, tx, touchKey, key.CompanyID, accessKeyID, now); err != nil {
			return err
		}
		if _, err := pg.Affected(ctx, tx, insertToken, key.CompanyID, credential.Hash(grant.Token), key.UserID, accessKeyID, pq.Array(scopes), grant.ExpiresAt, true); err != nil {
			return err
		}
		return auditKey(ctx, tx, key.scope(from), domain.AuditKeyExchange, accessKeyID, grantChanges(key.Email, scopes, grant.ExpiresAt)...)
	})
}

// Issue implements domain.Access.
func (a *Store) Issue(ctx context.Context, scope domain.Scope, email string, lifetime time.Duration) (grant *domain.Grant, err error) {
	if lifetime <= 0 || lifetime > domain.MaxKeyLifetime {
		return nil, domain.Invalid("ttl", "a token lives at least a moment and at most ten years")
	}
	user, err := a.companyUser(ctx, scope, email)
	if err != nil {
		return nil, err
	}
	if user.Disabled {
		return nil, domain.Invalid("user", "the user %s is disabled", user.Email)
	}
	err = pg.InTx(ctx, a.pool, func(tx *sqlx.Tx) error {
		grant, err = IssueToken(ctx, tx, scope, user, user.Permissions, time.Now().Add(lifetime), false)
		return err
	})
	return grant, err
}

// IssueToken makes a token of a user that no access key stands behind, within a
// transaction. ofProgram is whether a program got it by itself. The audit log keeps more
// beside the rights.
func IssueToken(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, user *domain.User, scopes []domain.Permission, until time.Time, ofProgram bool, more ...domain.AuditChange) (*domain.Grant, error) {
	grant := &domain.Grant{
		Token: domain.Secret(credential.New(credential.Token, scope.Company, credential.SecretBytes)), Scopes: scopes, ExpiresAt: until,
	}
	if _, err := pg.Affected(ctx, tx, dropStaleTokens, scope.Company, time.Now().Add(-24*time.Hour)); err != nil {
		return nil, err
	}
	if _, err := pg.Affected(ctx, tx, insertToken, scope.Company, credential.Hash(grant.Token), user.UserID, nil, pq.Array(scopes), until, ofProgram); err != nil {
		return nil, err
	}
	return grant, audit.Record(ctx, tx, scope, domain.AuditEntry{
		Action: domain.AuditTokenIssue, SubjectType: "User", SubjectID: user.Email, Changes: append(grantChanges(user.Email, scopes, until), more...),
	})
}

const revokeToken = `
UPDATE access_tokens SET revoked_at = $4
WHERE company_id = $1 AND token_hash = $2 AND access_key_id = $3 AND revoked_at IS NULL`

// RevokeToken implements domain.Access. A token that is unknown or of another
// key is left alone without an error (RFC 7009 §2.2).
func (a *Store) RevokeToken(ctx context.Context, from domain.Origin, accessKeyID string, secret, token domain.Secret) error {
	key, err := a.liveKey(ctx, from, accessKeyID, secret)
	if err != nil {
		return err
	}
	return pg.InTx(ctx, a.pool, func(tx *sqlx.Tx) error {
		n, err := pg.Affected(ctx, tx, revokeToken, key.CompanyID, credential.Hash(token), accessKeyID, time.Now())
		if err != nil || n == 0 {
			return err
		}
		return auditKey(ctx, tx, key.scope(from), domain.AuditTokenRevoke, accessKeyID)
	})
}

const endToken = `UPDATE access_tokens SET revoked_at = $3 WHERE company_id = $1 AND token_hash = $2 AND revoked_at IS NULL`

// EndToken implements domain.Access.
func (a *Store) EndToken(ctx context.Context, from domain.Origin, token domain.Secret) error {
	caller, err := a.Authenticate(ctx, token)
	if fault, is := domain.AsError(err); is && fault.Kind == domain.KindInvalidToken {
		return nil
	}
	if err != nil {
		return err
	}
	scope := domain.Whole(caller.Scope.Company).By(&domain.Actor{UserID: caller.UserID, Name: caller.Email, AccessKeyID: caller.AccessKeyID, Origin: from})
	return pg.InTx(ctx, a.pool, func(tx *sqlx.Tx) error {
		n, err := pg.Affected(ctx, tx, endToken, scope.Company, credential.Hash(token), time.Now())
		if err != nil || n == 0 {
			return err
		}
		return audit.Record(ctx, tx, scope, domain.AuditEntry{Action: domain.AuditTokenRevoke, SubjectType: "User", SubjectID: caller.Email})
	})
}

// CallerColumns are what a CallerRow has of the user, the key and the company, whatever the
// credential is: a right or limit of a key that stands here holds for sessions as well.
const CallerColumns = `u.user_id, u.email, u.permissions, k.scopes AS key_scopes, COALESCE(k.is_documents_only, false) AS documents_only,
       c.company_id, c.external_id, c.name, c.billing_day, c.time_zone, c.country_code`

// visibleGroups are the groups of the user u of the company $1.
const visibleGroups = `
  SELECT array_agg(g.group_id ORDER BY g.group_id) AS groups, array_agg(g.group_id ORDER BY g.group_id) FILTER (WHERE g.hide_tariff_details) AS masked
  FROM user_groups ug
  JOIN groups g ON g.company_id = ug.company_id AND g.group_id = ug.group_id
  WHERE ug.company_id = $1 AND ug.user_id = u.user_id`

const authenticate = `
SELECT ` + CallerColumns + `, t.scopes, t.expires_at, COALESCE(t.access_key_id, '') AS access_key_id, t.of_program,
       visible.groups, visible.masked
FROM access_tokens t
JOIN users u ON u.company_id = t.company_id AND u.user_id = t.user_id
JOIN companies c ON c.company_id = t.company_id
LEFT JOIN access_keys k ON k.company_id = t.company_id AND k.access_key_id = t.access_key_id
CROSS JOIN LATERAL (` + visibleGroups + `) visible
WHERE t.company_id = $1 AND t.token_hash = $2 AND t.expires_at > $3 AND t.revoked_at IS NULL AND NOT u.disabled
  AND (t.access_key_id IS NULL OR (k.revoked_at IS NULL AND k.expires_at > $3))`

const callerOfUser = `
SELECT ` + CallerColumns + `, u.permissions AS scopes, now() AS expires_at, '' AS access_key_id, false AS of_program, visible.groups, visible.masked
FROM users u
JOIN companies c ON c.company_id = u.company_id
LEFT JOIN access_keys k ON k.company_id = u.company_id AND k.user_id = u.user_id AND k.access_key_id = ''
CROSS JOIN LATERAL (` + visibleGroups + `) visible
WHERE u.company_id = $1 AND u.user_id = $2 AND NOT u.disabled`

// noCredential is of callers who did not sign in.
var noCredential [32]byte

// CallerOfUser is a user as they would sign in now, for what the program does in their name;
// nil where there is none, or it is disabled.
func CallerOfUser(ctx context.Context, in sqlx.QueryerContext, company domain.CompanyID, userID int64) (*domain.Caller, error) {
	row, err := pg.GetOne[CallerRow](ctx, in, nil, callerOfUser, company, userID)
	if err != nil || row == nil {
		return nil, err
	}
	return row.Caller(noCredential[:]).At(domain.Origin{}), nil
}

// CallerRow is a caller as authenticating statements select it.
type CallerRow struct {
	UserID        int64
	Email         string
	Permissions   pq.StringArray
	Scopes        pq.StringArray
	KeyScopes     pq.StringArray
	DocumentsOnly bool
	ExpiresAt     time.Time
	AccessKeyID   string
	OfProgram     bool
	Groups        pq.Int64Array
	Masked        pq.Int64Array
	domain.Company
}

// Authenticate implements domain.Access.
func (a *Store) Authenticate(ctx context.Context, token domain.Secret) (*domain.Caller, error) {
	bad := &domain.Error{Kind: domain.KindInvalidToken, Message: "the access token is unknown, expired or revoked"}
	company, ok := credential.CompanyOf(credential.Token, string(token))
	if !ok {
		return nil, bad
	}
	hashed := credential.Hash(token)
	row, err := pg.GetOne[CallerRow](ctx, a.pool, bad, authenticate, company, hashed, time.Now())
	if err != nil {
		return nil, err
	}
	return row.Caller(hashed), nil
}

// Caller is who holds the credential of that hash, with the rights that hold now.
func (r *CallerRow) Caller(hash []byte) *domain.Caller {
	held := permissionsOf(r.Permissions)
	scopes := permissionsOf(r.Scopes)
	passes := func(p domain.Permission) bool {
		return slices.Contains(scopes, p) && (r.KeyScopes == nil || slices.Contains(r.KeyScopes, string(p)))
	}
	held = slices.DeleteFunc(held, func(p domain.Permission) bool { return !passes(p) })
	billing := r.Billing()
	return &domain.Caller{
		UserID: r.UserID, Email: r.Email, Company: &r.Company, Permissions: held,
		Scope:       domain.Scope{Company: r.CompanyID, Groups: r.Groups, Masked: r.Masked, Billing: &billing},
		AccessKeyID: r.AccessKeyID, DocumentsOnly: r.DocumentsOnly, OfProgram: r.OfProgram || r.AccessKeyID != "", Credential: credential.FormatHash(hash), ExpiresAt: r.ExpiresAt,
	}
}
