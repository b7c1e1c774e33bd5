package db

import (
	"context"
	"crypto/subtle"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/credential"
	"simgraph/db/keyset"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/query"
)

// Access keeps users, access keys and access tokens in PostgreSQL.
type Access struct {
	pool    *sqlx.DB
	refused refusals
}

var _ domain.Access = (*Access)(nil)

// NewAccess returns the store on the pool.
func NewAccess(pool *sqlx.DB) *Access { return &Access{pool: pool} }

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
	l := keyset.New(func(field string) keyset.Column {
		return map[string]keyset.Column{"createdAt": {SQL: "k.created_at"}, "accessKeyId": {SQL: "k.access_key_id"}}[field]
	}, query.Field{Name: "accessKeyId"}, scope.Company)
	newest := []query.Order{{Field: query.Field{Name: "createdAt", Type: query.Time}, Desc: true}}
	p, err := l.Pieces(domain.Listing{Order: newest, Page: page})
	if err != nil {
		return domain.Slice[*domain.AccessKey]{}, err
	}
	sql := "SELECT " + keyColumns + keysWithUsers + " AND " + p.Where + " ORDER BY " + p.OrderBy + " " + p.Limit
	rows, err := pg.SelectAll[keyRow](ctx, a.pool, sql, l.Args...)
	if err != nil {
		return domain.Slice[*domain.AccessKey]{}, err
	}
	keys := keyset.Cut(page, rows, func(r *keyRow) string {
		return keyset.Cursor{Order: p.Order, Values: []*string{new(r.CreatedAt.UTC().Format(keyset.CursorTime)), &r.AccessKeyID}}.String()
	})
	return pg.MapSlice(keys, (*keyRow).key), nil
}

const countKeys = `SELECT count(*)` + keysWithUsers

// CountKeys implements domain.Access.
func (a *Access) CountKeys(ctx context.Context, scope domain.Scope) (int, error) {
	return pg.Count(ctx, a.pool, countKeys, scope.Company)
}

const findKeys = `SELECT ` + keyColumns + keysWithUsers + ` AND k.access_key_id = ANY($2)`

// FindKeys implements domain.Access.
func (a *Access) FindKeys(ctx context.Context, scope domain.Scope, ids []string) (map[string]*domain.AccessKey, error) {
	rows, err := pg.SelectAll[keyRow](ctx, a.pool, findKeys, scope.Company, pq.StringArray(ids))
	if err != nil {
		return nil, err
	}
	return pg.Keyed(pg.Pluck(rows, (*keyRow).key), func(of *domain.AccessKey) string { return of.AccessKeyID }), nil
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
	scopes, err = Grantable(scopes, user.Permissions)
	if err != nil {
		return nil, "", err
	}
	now := time.Now().UTC().Truncate(time.Microsecond)
	key := &domain.AccessKey{
		AccessKeyID: credential.New(credential.Key, scope.Company, credential.KeyIDBytes), UserEmail: user.Email,
		Scopes: scopes, CreatedAt: now, ExpiresAt: now.Add(lifetime),
	}
	secret := credential.NewSecret()
	return key, secret, pg.InTx(ctx, a.pool, func(tx *sqlx.Tx) error {
		if _, err := pg.Affected(ctx, tx, createKey, scope.Company, key.AccessKeyID, user.UserID, credential.Hash(secret), pq.Array(scopes), now, key.ExpiresAt); err != nil {
			return err
		}
		return auditKey(ctx, tx, scope, domain.AuditKeyCreate, key.AccessKeyID, grantChanges(user.Email, scopes, key.ExpiresAt)...)
	})
}

// Grantable returns the wanted scopes, all of those held when none is wanted,
// or an error that names one that is not held.
func Grantable(wanted, held []domain.Permission) ([]domain.Permission, error) {
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
	err := pg.InTx(ctx, a.pool, func(tx *sqlx.Tx) error {
		n, err := pg.Affected(ctx, tx, revokeKey, scope.Company, accessKeyID, time.Now())
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
	company, ok := credential.CompanyOf(credential.Key, accessKeyID)
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
	return pg.GetOne[keyRow](ctx, a.pool, noKey(id), "SELECT "+keyColumns+keysWithUsers+" AND k.access_key_id = $2", company, id)
}

// liveKey returns the key when id and secret are right and it may be used.
func (a *Access) liveKey(ctx context.Context, from domain.Origin, id string, secret domain.Secret) (*keyRow, error) {
	wrong := &domain.Error{Kind: domain.KindInvalidToken, Message: "the access key is unknown, expired or revoked, or its secret is wrong"}
	company, ok := credential.CompanyOf(credential.Key, id)
	if !ok {
		a.refused.note(refusedKey{}, from, domain.RefusedUnknownKey)
		return nil, wrong
	}
	row, err := a.keyRow(ctx, company, id)
	if known, is := domain.AsError(err); is && known.Kind == domain.KindNotFound {
		a.refused.note(refusedKey{company: company}, from, domain.RefusedUnknownKey)
		return nil, wrong
	}
	if err != nil {
		return nil, err
	}
	if why := row.refusal(secret, time.Now()); why != "" {
		a.refused.note(row.refused(), from, why)
		return nil, wrong
	}
	return row, nil
}

// KeyHolder is an access key with whose it is.
type KeyHolder struct {
	Company domain.CompanyID
	UserID  int64
	Key     *domain.AccessKey
}

// CheckKey returns the key when id and secret are right and it may be used, else
// InvalidToken, which is counted as a refusal.
func (a *Access) CheckKey(ctx context.Context, from domain.Origin, id string, secret domain.Secret) (*KeyHolder, error) {
	row, err := a.liveKey(ctx, from, id, secret)
	if err != nil {
		return nil, err
	}
	return &KeyHolder{row.CompanyID, row.UserID, row.key()}, nil
}

func (r *keyRow) refused() refusedKey { return refusedKey{r.CompanyID, r.AccessKeyID} }

// refusal says why the key with that secret does not work, "" when it does.
func (r *keyRow) refusal(secret domain.Secret, now time.Time) domain.Refusal {
	switch {
	case subtle.ConstantTimeCompare(r.SecretHash, credential.Hash(secret)) != 1:
		return domain.RefusedWrongSecret
	case r.RevokedAt != nil:
		return domain.RefusedRevoked
	case r.Disabled:
		return domain.RefusedDisabledUser
	case !now.Before(r.ExpiresAt):
		return domain.RefusedExpired
	}
	return ""
}
