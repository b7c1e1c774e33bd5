// Package access keeps users, access keys and access tokens.
package access

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

// Store keeps users, access keys and access tokens in PostgreSQL.
type Store struct {
	pool    *sqlx.DB
	refused refusals
}

var _ domain.Access = (*Store)(nil)

// New returns the store on the pool.
func New(pool *sqlx.DB) *Store { return &Store{pool: pool} }

const keyColumns = `k.company_id, k.access_key_id, k.name, k.purpose, k.rotated_from, u.email, k.secret_hash, k.scopes, k.is_documents_only AS documents_only, k.created_at, k.expires_at, k.revoked_at, k.last_used_at,
  u.user_id, u.permissions, u.disabled`

const keysWithUsers = ` FROM access_keys k JOIN users u ON u.company_id = k.company_id AND u.user_id = k.user_id WHERE k.company_id = $1`

type keyRow struct {
	CompanyID   domain.CompanyID
	AccessKeyID string
	domain.KeyLabel
	RotatedFrom   *string
	Email         string
	SecretHash    []byte
	Scopes        pq.StringArray
	DocumentsOnly bool
	CreatedAt     time.Time
	ExpiresAt     time.Time
	RevokedAt     *time.Time
	LastUsedAt    *time.Time
	UserID        int64
	Permissions   pq.StringArray
	Disabled      bool
}

func (r *keyRow) key() *domain.AccessKey {
	return &domain.AccessKey{
		AccessKeyID: r.AccessKeyID, KeyLabel: r.KeyLabel, RotatedFrom: r.RotatedFrom, UserEmail: r.Email, Scopes: permissionsOf(r.Scopes), DocumentsOnly: r.DocumentsOnly,
		CreatedAt: r.CreatedAt, ExpiresAt: r.ExpiresAt, RevokedAt: r.RevokedAt, LastUsedAt: r.LastUsedAt,
	}
}

// keysTable is the list of domain.KeyFields.
var keysTable = keyset.Table{
	Key: query.Field{Name: "accessKeyId"}, Order: keyset.Newest("createdAt"), Select: keyColumns, From: keysWithUsers,
	Columns: map[string]keyset.Column{
		"accessKeyId": {SQL: "k.access_key_id"}, "name": {SQL: "k.name"}, "purpose": {SQL: "k.purpose"}, "rotatedFrom": {SQL: "k.rotated_from", Nullable: true},
		"userEmail": {SQL: "u.email"}, "isDocumentsOnly": {SQL: "k.is_documents_only"}, "createdAt": {SQL: "k.created_at"}, "expiresAt": {SQL: "k.expires_at"},
		"revokedAt": {SQL: "k.revoked_at", Nullable: true}, "lastUsedAt": {SQL: "k.last_used_at", Nullable: true},
	},
}

type listedKey struct {
	keyRow
	keyset.Keyed
}

// Keys implements domain.Access.
func (a *Store) Keys(ctx context.Context, scope domain.Scope, listing domain.Listing) (domain.Slice[*domain.AccessKey], error) {
	return keyset.Page(ctx, a.pool, keysTable, scope, listing, func(r *listedKey) *domain.AccessKey { return r.key() })
}

// CountKeys implements domain.Access.
func (a *Store) CountKeys(ctx context.Context, scope domain.Scope, listing domain.Listing) (int, error) {
	return keysTable.Count(ctx, a.pool, scope, listing)
}

const findKeys = `SELECT ` + keyColumns + keysWithUsers + ` AND k.access_key_id = ANY($2)`

// FindKeys implements domain.Access.
func (a *Store) FindKeys(ctx context.Context, scope domain.Scope, ids []string) (map[string]*domain.AccessKey, error) {
	rows, err := pg.SelectAll[keyRow](ctx, a.pool, findKeys, scope.Company, pq.StringArray(ids))
	if err != nil {
		return nil, err
	}
	return pg.Keyed(pg.Pluck(rows, (*keyRow).key), func(of *domain.AccessKey) string { return of.AccessKeyID }), nil
}

const createKey = `
INSERT INTO access_keys (company_id, access_key_id, user_id, secret_hash, scopes, created_at, expires_at, name, purpose, rotated_from, is_documents_only)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`

// CreateKey implements domain.Access.
func (a *Store) CreateKey(ctx context.Context, scope domain.Scope, spec domain.KeySpec) (*domain.AccessKey, domain.Secret, error) {
	if err := domain.CheckKeyLifetime(spec.Lifetime); err != nil {
		return nil, "", err
	}
	if err := spec.KeyLabel.Check(); err != nil {
		return nil, "", err
	}
	user, err := a.companyUser(ctx, scope, spec.Email)
	if err != nil {
		return nil, "", err
	}
	scopes, err := Grantable(spec.Scopes, user.Permissions)
	if err != nil {
		return nil, "", err
	}
	key := newKey(scope, domain.AccessKey{KeyLabel: spec.KeyLabel, UserEmail: user.Email, Scopes: scopes, DocumentsOnly: spec.DocumentsOnly}, spec.Lifetime)
	secret := credential.NewSecret()
	return key, secret, pg.InTx(ctx, a.pool, func(tx *sqlx.Tx) error {
		if err := insertKey(ctx, tx, scope, key, user.UserID, secret); err != nil {
			return err
		}
		return auditKey(ctx, tx, scope, domain.AuditKeyCreate, key.AccessKeyID, append(grantChanges(user.Email, scopes, key.ExpiresAt), keyChanges(&domain.AccessKey{}, key)...)...)
	})
}

// newKey returns the key with an id of its own, which lives from now on.
func newKey(scope domain.Scope, key domain.AccessKey, lifetime time.Duration) *domain.AccessKey {
	key.AccessKeyID = credential.New(credential.Key, scope.Company, credential.KeyIDBytes)
	key.CreatedAt = pg.Moment(time.Now())
	key.ExpiresAt = key.CreatedAt.Add(lifetime)
	return &key
}

func insertKey(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, key *domain.AccessKey, userID int64, secret domain.Secret) error {
	_, err := pg.Affected(ctx, tx, createKey, scope.Company, key.AccessKeyID, userID, credential.Hash(secret), pq.Array(key.Scopes), key.CreatedAt, key.ExpiresAt,
		key.Name, key.Purpose, key.RotatedFrom, key.DocumentsOnly)
	return err
}

const editKey = `UPDATE access_keys SET name = $3, purpose = $4, is_documents_only = $5 WHERE company_id = $1 AND access_key_id = $2`

// EditKey implements domain.Access.
func (a *Store) EditKey(ctx context.Context, scope domain.Scope, accessKeyID string, edit domain.KeyEdit) (*domain.AccessKey, error) {
	if err := edit.Apply(domain.KeyLabel{}).Check(); err != nil {
		return nil, err
	}
	var key *domain.AccessKey
	err := pg.InTx(ctx, a.pool, func(tx *sqlx.Tx) error {
		row, err := lockedKey(ctx, tx, scope, accessKeyID)
		if err != nil {
			return err
		}
		key = row.key()
		before := row.key()
		if err := scope.CheckVersion(before.Version()); err != nil {
			return err
		}
		key.KeyLabel = edit.Apply(before.KeyLabel)
		if edit.DocumentsOnly != nil {
			key.DocumentsOnly = *edit.DocumentsOnly
		}
		changes := keyChanges(before, key)
		if len(changes) == 0 {
			return nil
		}
		if _, err := pg.Affected(ctx, tx, editKey, scope.Company, accessKeyID, key.Name, key.Purpose, key.DocumentsOnly); err != nil {
			return err
		}
		return auditKey(ctx, tx, scope, domain.AuditKeyEdit, accessKeyID, changes...)
	})
	return key, err
}

const endKeyAt = `UPDATE access_keys SET expires_at = $3 WHERE company_id = $1 AND access_key_id = $2`

// RotateKey implements domain.Access. The new key passes on what the old one passes on
// and the user still has.
func (a *Store) RotateKey(ctx context.Context, scope domain.Scope, accessKeyID string, rotation domain.KeyRotation) (old, made *domain.AccessKey, secret domain.Secret, err error) {
	now := time.Now()
	if err := rotation.Check(now); err != nil {
		return nil, nil, "", err
	}
	secret = credential.NewSecret()
	err = pg.InTx(ctx, a.pool, func(tx *sqlx.Tx) error {
		row, err := lockedKey(ctx, tx, scope, accessKeyID)
		if err != nil {
			return err
		}
		if row.RevokedAt != nil || !now.Before(row.ExpiresAt) {
			return domain.Invalid("accessKeyId", "the access key has ended: make another")
		}
		old = row.key()
		old.ExpiresAt = domain.EarlierOf(old.ExpiresAt, pg.Moment(rotation.OldEndsAt))
		made = newKey(scope, domain.AccessKey{
			KeyLabel: old.KeyLabel, RotatedFrom: &old.AccessKeyID, UserEmail: old.UserEmail, DocumentsOnly: old.DocumentsOnly,
			Scopes: slices.DeleteFunc(slices.Clone(old.Scopes), func(p domain.Permission) bool { return !slices.Contains(row.Permissions, string(p)) }),
		}, rotation.Lifetime)
		if err := insertKey(ctx, tx, scope, made, row.UserID, secret); err != nil {
			return err
		}
		if _, err := pg.Affected(ctx, tx, endKeyAt, scope.Company, accessKeyID, old.ExpiresAt); err != nil {
			return err
		}
		changes := append(grantChanges(made.UserEmail, made.Scopes, made.ExpiresAt), domain.Became("rotatedFrom", accessKeyID), domain.Became("oldEndsAt", old.ExpiresAt.UTC().Format(time.RFC3339)))
		return auditKey(ctx, tx, scope, domain.AuditKeyRotate, made.AccessKeyID, changes...)
	})
	return old, made, secret, err
}

const lockKey = `SELECT ` + keyColumns + keysWithUsers + ` AND k.access_key_id = $2 FOR UPDATE OF k`

// lockedKey returns a key that nothing else changes until the transaction is over.
func lockedKey(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, id string) (*keyRow, error) {
	return pg.GetOne[keyRow](ctx, tx, noKey(id), lockKey, scope.Company, id)
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
func (a *Store) RevokeKey(ctx context.Context, scope domain.Scope, accessKeyID string) (*domain.AccessKey, error) {
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
func (a *Store) FindKey(ctx context.Context, accessKeyID string) (domain.CompanyID, *domain.AccessKey, error) {
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

func (a *Store) keyRow(ctx context.Context, company domain.CompanyID, id string) (*keyRow, error) {
	return pg.GetOne[keyRow](ctx, a.pool, noKey(id), "SELECT "+keyColumns+keysWithUsers+" AND k.access_key_id = $2", company, id)
}

// liveKey returns the key when id and secret are right and it may be used.
func (a *Store) liveKey(ctx context.Context, from domain.Origin, id string, secret domain.Secret) (*keyRow, error) {
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
func (a *Store) CheckKey(ctx context.Context, from domain.Origin, id string, secret domain.Secret) (*KeyHolder, error) {
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
