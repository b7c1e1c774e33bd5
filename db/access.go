package db

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/domain"
	"simgraph/domain/query"
)

// Access keeps users, access keys and access tokens in PostgreSQL.
type Access struct{ pool *sqlx.DB }

var _ domain.Access = (*Access)(nil)

// NewAccess returns the store on the pool.
func NewAccess(pool *sqlx.DB) *Access { return &Access{pool} }

const userColumns = `u.user_id, u.email, u.permissions, u.disabled,
  ARRAY(SELECT ug.group_id FROM user_groups ug WHERE ug.company_id = u.company_id AND ug.user_id = u.user_id ORDER BY 1) AS groups`

type userRow struct {
	CompanyID   domain.CompanyID
	UserID      int64
	Email       string
	Permissions pq.StringArray
	Disabled    bool
	Groups      pq.Int64Array
}

func (r *userRow) user() *domain.User {
	return &domain.User{UserID: r.UserID, Email: r.Email, Permissions: permissionsOf(r.Permissions), Groups: r.Groups, Disabled: r.Disabled}
}

func permissionsOf(texts []string) []domain.Permission {
	permissions := make([]domain.Permission, len(texts))
	for i, text := range texts {
		permissions[i] = domain.Permission(text)
	}
	return permissions
}

// Users implements domain.Access.
func (a *Access) Users(ctx context.Context, scope domain.Scope, page domain.Page) (domain.Slice[*domain.User], error) {
	sql := `SELECT ` + userColumns + ` FROM users u WHERE u.company_id = $1`
	rows, err := listByKey(ctx, a.pool, sql, query.Field{Name: "email"}, "u.email", page,
		func(of *userRow) string { return of.Email }, scope.Company)
	return mapSlice(rows, (*userRow).user), err
}

const findUser = `
SELECT u.company_id, ` + userColumns + `
FROM user_lookup l
JOIN users u ON u.company_id = l.company_id AND u.user_id = l.user_id
WHERE l.email = $1`

// FindUser implements domain.Access.
func (a *Access) FindUser(ctx context.Context, email string) (domain.CompanyID, *domain.User, error) {
	row, err := getOne[userRow](ctx, a.pool, noUser(email), findUser, strings.ToLower(email))
	if err != nil {
		return 0, nil, err
	}
	return row.CompanyID, row.user(), nil
}

func noUser(email string) error { return domain.NotFound("userEmail", "user", email) }

const findCompanyUser = `SELECT ` + userColumns + ` FROM users u WHERE u.company_id = $1 AND u.email = $2`

func (a *Access) companyUser(ctx context.Context, scope domain.Scope, email string) (*domain.User, error) {
	row, err := getOne[userRow](ctx, a.pool, noUser(email), findCompanyUser, scope.Company, strings.ToLower(email))
	if err != nil {
		return nil, err
	}
	return row.user(), nil
}

const keyColumns = `k.company_id, k.access_key_id, u.email, k.secret_hash, k.scopes, k.created_at, k.expires_at, k.revoked_at, k.last_used_at,
  u.user_id, u.permissions, u.disabled`

const keysWithUsers = ` FROM access_keys k JOIN users u ON u.company_id = k.company_id AND u.user_id = k.user_id WHERE k.company_id = $1`

type keyRow struct {
	CompanyID   domain.CompanyID
	AccessKeyID string
	Email       string
	SecretHash  []byte
	Scopes      pq.StringArray
	CreatedAt   time.Time
	ExpiresAt   time.Time
	RevokedAt   *time.Time
	LastUsedAt  *time.Time
	UserID      int64
	Permissions pq.StringArray
	Disabled    bool
}

func (r *keyRow) key() *domain.AccessKey {
	return &domain.AccessKey{
		AccessKeyID: r.AccessKeyID, UserEmail: r.Email, Scopes: permissionsOf(r.Scopes),
		CreatedAt: r.CreatedAt, ExpiresAt: r.ExpiresAt, RevokedAt: r.RevokedAt, LastUsedAt: r.LastUsedAt,
	}
}

// Keys implements domain.Access.
func (a *Access) Keys(ctx context.Context, scope domain.Scope, page domain.Page) (domain.Slice[*domain.AccessKey], error) {
	l := newList(func(field string) listColumn {
		return map[string]listColumn{"createdAt": {sql: "k.created_at"}, "accessKeyId": {sql: "k.access_key_id"}}[field]
	}, query.Field{Name: "accessKeyId"}, scope.Company)
	newest := []query.Order{{Field: query.Field{Name: "createdAt", Type: query.Time}, Desc: true}}
	p, err := l.pieces(domain.Listing{Order: newest, Page: page})
	if err != nil {
		return domain.Slice[*domain.AccessKey]{}, err
	}
	sql := "SELECT " + keyColumns + keysWithUsers + " AND " + p.where + " ORDER BY " + p.orderBy + " " + p.limit
	rows, err := selectAll[keyRow](ctx, a.pool, sql, l.args...)
	if err != nil {
		return domain.Slice[*domain.AccessKey]{}, err
	}
	keys := slice(page, rows, func(r *keyRow) string {
		return cursor{Order: p.order, Values: []*string{new(r.CreatedAt.UTC().Format(time.RFC3339Nano)), &r.AccessKeyID}}.String()
	})
	return mapSlice(keys, (*keyRow).key), nil
}

const createKey = `
INSERT INTO access_keys (company_id, access_key_id, user_id, secret_hash, scopes, created_at, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)`

// CreateKey implements domain.Access.
func (a *Access) CreateKey(ctx context.Context, scope domain.Scope, email string, scopes []domain.Permission, lifetime time.Duration) (*domain.AccessKey, domain.Secret, error) {
	if lifetime <= 0 || lifetime > domain.MaxKeyLifetime {
		return nil, "", domain.Invalid("lifetime", "a key lives at least a second and at most ten years")
	}
	user, err := a.companyUser(ctx, scope, email)
	if err != nil {
		return nil, "", err
	}
	scopes, err = grantable(scopes, user.Permissions)
	if err != nil {
		return nil, "", err
	}
	now := time.Now().UTC().Truncate(time.Microsecond)
	key := &domain.AccessKey{
		AccessKeyID: newCredential(keyPrefix, scope.Company, keyIDBytes), UserEmail: user.Email,
		Scopes: scopes, CreatedAt: now, ExpiresAt: now.Add(lifetime),
	}
	secret := newSecret()
	return key, secret, inTx(ctx, a.pool, func(tx *sqlx.Tx) error {
		if _, err := affected(ctx, tx, createKey, scope.Company, key.AccessKeyID, user.UserID, hash(secret), pq.Array(scopes), now, key.ExpiresAt); err != nil {
			return err
		}
		return auditKey(ctx, tx, scope, domain.AuditKeyCreate, key.AccessKeyID, grantChanges(user.Email, scopes, key.ExpiresAt)...)
	})
}

// grantable returns the wanted scopes, all of those held when none is wanted,
// or an error that names one that is not held.
func grantable(wanted, held []domain.Permission) ([]domain.Permission, error) {
	if len(wanted) == 0 {
		return held, nil
	}
	for _, p := range wanted {
		if !slices.Contains(held, p) {
			return nil, domain.Invalid("scope", "the permission %q is not held", p.Label())
		}
	}
	slices.Sort(wanted)
	return slices.Compact(wanted), nil
}

const revokeKey = `
UPDATE access_keys SET revoked_at = $3
WHERE company_id = $1 AND access_key_id = $2 AND revoked_at IS NULL`

// RevokeKey implements domain.Access. Its tokens end with it: Authenticate
// looks at the key.
func (a *Access) RevokeKey(ctx context.Context, scope domain.Scope, accessKeyID string) (*domain.AccessKey, error) {
	err := inTx(ctx, a.pool, func(tx *sqlx.Tx) error {
		n, err := affected(ctx, tx, revokeKey, scope.Company, accessKeyID, time.Now())
		if err != nil || n == 0 {
			return err
		}
		return auditKey(ctx, tx, scope, domain.AuditKeyRevoke, accessKeyID)
	})
	if err != nil {
		return nil, err
	}
	row, err := a.keyRow(ctx, scope.Company, accessKeyID)
	if err != nil {
		return nil, err
	}
	return row.key(), nil
}

// FindKey implements domain.Access.
func (a *Access) FindKey(ctx context.Context, accessKeyID string) (domain.CompanyID, *domain.AccessKey, error) {
	company, ok := companyOf(keyPrefix, accessKeyID)
	if !ok {
		return 0, nil, noKey(accessKeyID)
	}
	row, err := a.keyRow(ctx, company, accessKeyID)
	if err != nil {
		return 0, nil, err
	}
	return company, row.key(), nil
}

func noKey(id string) error { return domain.NotFound("accessKeyId", "access key", id) }

func (a *Access) keyRow(ctx context.Context, company domain.CompanyID, id string) (*keyRow, error) {
	return getOne[keyRow](ctx, a.pool, noKey(id), "SELECT "+keyColumns+keysWithUsers+" AND k.access_key_id = $2", company, id)
}

// liveKey returns the key when id and secret are right and it may be used.
func (a *Access) liveKey(ctx context.Context, id string, secret domain.Secret) (*keyRow, error) {
	wrong := &domain.Error{Kind: domain.KindInvalidToken, Message: "the access key is unknown, expired or revoked, or its secret is wrong"}
	company, ok := companyOf(keyPrefix, id)
	if !ok {
		return nil, wrong
	}
	row, err := a.keyRow(ctx, company, id)
	if known, is := domain.AsError(err); is && known.Kind == domain.KindNotFound {
		return nil, wrong
	}
	if err != nil {
		return nil, err
	}
	right := subtle.ConstantTimeCompare(row.SecretHash, hash(secret)) == 1
	if !right || row.RevokedAt != nil || row.Disabled || !time.Now().Before(row.ExpiresAt) {
		return nil, wrong
	}
	return row, nil
}

const insertToken = `
INSERT INTO access_tokens (company_id, token_hash, user_id, access_key_id, scopes, expires_at)
VALUES ($1, $2, $3, $4, $5, $6)`

const touchKey = `UPDATE access_keys SET last_used_at = $3 WHERE company_id = $1 AND access_key_id = $2`

// dropStaleTokens keeps the table small: what ended a day ago tells nobody anything.
const dropStaleTokens = `DELETE FROM access_tokens WHERE company_id = $1 AND expires_at < $2`

// Exchange implements domain.Access.
func (a *Access) Exchange(ctx context.Context, from domain.Origin, accessKeyID string, secret domain.Secret, wanted []domain.Permission) (*domain.Grant, error) {
	key, err := a.liveKey(ctx, accessKeyID, secret)
	if err != nil {
		return nil, err
	}
	scopes, err := grantable(wanted, key.key().Scopes)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	grant := &domain.Grant{
		Token: domain.Secret(newCredential(tokenPrefix, key.CompanyID, secretBytes)), Scopes: scopes,
		ExpiresAt: earlier(now.Add(domain.TokenLifetime), key.ExpiresAt),
	}
	return grant, inTx(ctx, a.pool, func(tx *sqlx.Tx) error {
		if _, err := affected(ctx, tx, dropStaleTokens, key.CompanyID, now.Add(-24*time.Hour)); err != nil {
			return err
		}
		if _, err := affected(ctx, tx, touchKey, key.CompanyID, accessKeyID, now); err != nil {
			return err
		}
		if _, err := affected(ctx, tx, insertToken, key.CompanyID, hash(grant.Token), key.UserID, accessKeyID, pq.Array(scopes), grant.ExpiresAt); err != nil {
			return err
		}
		return auditKey(ctx, tx, key.scope(from), domain.AuditKeyExchange, accessKeyID, grantChanges(key.Email, scopes, grant.ExpiresAt)...)
	})
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// Issue implements domain.Access.
func (a *Access) Issue(ctx context.Context, scope domain.Scope, email string, lifetime time.Duration) (*domain.Grant, error) {
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
	grant := &domain.Grant{
		Token: domain.Secret(newCredential(tokenPrefix, scope.Company, secretBytes)), Scopes: user.Permissions,
		ExpiresAt: time.Now().Add(lifetime),
	}
	return grant, inTx(ctx, a.pool, func(tx *sqlx.Tx) error {
		if _, err := affected(ctx, tx, insertToken, scope.Company, hash(grant.Token), user.UserID, nil, pq.Array(grant.Scopes), grant.ExpiresAt); err != nil {
			return err
		}
		return audit(ctx, tx, scope, domain.AuditEntry{
			Action: domain.AuditTokenIssue, SubjectType: "User", SubjectID: user.Email, Changes: grantChanges(user.Email, grant.Scopes, grant.ExpiresAt),
		})
	})
}

const revokeToken = `
UPDATE access_tokens SET revoked_at = $4
WHERE company_id = $1 AND token_hash = $2 AND access_key_id = $3 AND revoked_at IS NULL`

// RevokeToken implements domain.Access. A token that is unknown or of another
// key is left alone without an error (RFC 7009 §2.2).
func (a *Access) RevokeToken(ctx context.Context, from domain.Origin, accessKeyID string, secret, token domain.Secret) error {
	key, err := a.liveKey(ctx, accessKeyID, secret)
	if err != nil {
		return err
	}
	return inTx(ctx, a.pool, func(tx *sqlx.Tx) error {
		n, err := affected(ctx, tx, revokeToken, key.CompanyID, hash(token), accessKeyID, time.Now())
		if err != nil || n == 0 {
			return err
		}
		return auditKey(ctx, tx, key.scope(from), domain.AuditTokenRevoke, accessKeyID)
	})
}

const authenticate = `
SELECT u.user_id, u.email, u.permissions, t.scopes, k.scopes AS key_scopes, t.expires_at, COALESCE(t.access_key_id, '') AS access_key_id,
       c.company_id, c.external_id, c.name, c.billing_day, c.time_zone,
       array_agg(g.group_id ORDER BY g.group_id) FILTER (WHERE g.group_id IS NOT NULL) AS groups,
       array_agg(g.group_id ORDER BY g.group_id) FILTER (WHERE g.hide_tariff_details) AS masked
FROM access_tokens t
JOIN users u ON u.company_id = t.company_id AND u.user_id = t.user_id
JOIN companies c ON c.company_id = t.company_id
LEFT JOIN access_keys k ON k.company_id = t.company_id AND k.access_key_id = t.access_key_id
LEFT JOIN user_groups ug ON ug.company_id = u.company_id AND ug.user_id = u.user_id
LEFT JOIN groups g ON g.company_id = ug.company_id AND g.group_id = ug.group_id
WHERE t.company_id = $1 AND t.token_hash = $2 AND t.expires_at > $3 AND t.revoked_at IS NULL AND NOT u.disabled
  AND (t.access_key_id IS NULL OR (k.revoked_at IS NULL AND k.expires_at > $3))
GROUP BY t.company_id, t.token_hash, u.company_id, u.user_id, c.company_id, k.company_id, k.access_key_id`

type callerRow struct {
	UserID      int64
	Email       string
	Permissions pq.StringArray
	Scopes      pq.StringArray
	KeyScopes   pq.StringArray
	ExpiresAt   time.Time
	AccessKeyID string
	Groups      pq.Int64Array
	Masked      pq.Int64Array
	domain.Company
}

// Authenticate implements domain.Access.
func (a *Access) Authenticate(ctx context.Context, token domain.Secret) (*domain.Caller, error) {
	bad := &domain.Error{Kind: domain.KindInvalidToken, Message: "the access token is unknown, expired or revoked"}
	company, ok := companyOf(tokenPrefix, string(token))
	if !ok {
		return nil, bad
	}
	hashed := hash(token)
	row, err := getOne[callerRow](ctx, a.pool, bad, authenticate, company, hashed, time.Now())
	if err != nil {
		return nil, err
	}
	return row.caller(hashed), nil
}

func (r *callerRow) caller(tokenHash []byte) *domain.Caller {
	held := permissionsOf(r.Permissions)
	scopes := permissionsOf(r.Scopes)
	passes := func(p domain.Permission) bool {
		return slices.Contains(scopes, p) && (r.KeyScopes == nil || slices.Contains(r.KeyScopes, string(p)))
	}
	held = slices.DeleteFunc(held, func(p domain.Permission) bool { return !passes(p) })
	return &domain.Caller{
		UserID: r.UserID, Email: r.Email, Company: &r.Company, Permissions: held,
		Scope:       domain.Scope{Company: r.CompanyID, Groups: r.Groups, Masked: r.Masked},
		AccessKeyID: r.AccessKeyID, Credential: formatHash(tokenHash), ExpiresAt: r.ExpiresAt,
	}
}

func hash(secret domain.Secret) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}
