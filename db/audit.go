package db

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/domain"
	"simgraph/domain/query"
)

// AuditLog reads the audit log in PostgreSQL.
type AuditLog struct{ pool *sqlx.DB }

var _ domain.AuditLog = (*AuditLog)(nil)

// NewAuditLog returns the store on the pool.
func NewAuditLog(pool *sqlx.DB) *AuditLog { return &AuditLog{pool} }

// appendAudit moves the head of the company's log, which no other transaction
// can until this one ends: so it is the last statement before the commit, and
// one round trip.
const appendAudit = `
WITH head AS (
  INSERT INTO audit_heads AS h (company_id, sequence, hash)
  VALUES ($1, 1, sha256(decode(repeat('00', 32), 'hex') || int8send(1) || $2::bytea))
  ON CONFLICT (company_id) DO UPDATE
  SET sequence = h.sequence + 1, hash = sha256(h.hash || int8send(h.sequence + 1) || $2::bytea)
  RETURNING company_id, sequence, hash
)
INSERT INTO audit_log (company_id, sequence, at, action, subject_type, subject_id, changes,
  user_id, actor, access_key_id, door, address, request_id, hash)
SELECT company_id, sequence, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, hash
FROM head`

// audit notes what the transaction did; it has to be the last statement of it.
func audit(ctx context.Context, tx sqlx.ExecerContext, scope domain.Scope, entry domain.AuditEntry) error {
	entry.At = time.Now().UTC().Truncate(time.Microsecond)
	if scope.Actor != nil {
		entry.Actor = *scope.Actor
	}
	changes, err := json.Marshal(entry.Changes)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, appendAudit, scope.Company, entry.Content(scope.Company), entry.At, entry.Action,
		entry.SubjectType, entry.SubjectID, string(changes), entry.UserID, entry.Name, entry.AccessKeyID,
		entry.Door, entry.Address, entry.RequestID)
	return err
}

// Note implements domain.AuditLog.
func (a *AuditLog) Note(ctx context.Context, scope domain.Scope, entry domain.AuditEntry) error {
	return inTx(ctx, a.pool, func(tx *sqlx.Tx) error { return audit(ctx, tx, scope, entry) })
}

const auditSelect = `a.sequence, a.at, a.action, a.subject_type, a.subject_id, a.changes::text AS changes_json,
  a.user_id, a.actor AS name, a.access_key_id, a.door, a.address, a.request_id, encode(a.hash, 'hex') AS hash`

// auditColumns are where the fields of domain.AuditFields live.
var auditColumns = map[string]listColumn{
	"sequence":    {sql: "a.sequence"},
	"at":          {sql: "a.at"},
	"action":      {sql: "a.action"},
	"subjectType": {sql: "a.subject_type"},
	"subjectId":   {sql: "a.subject_id"},
	"actor":       {sql: "a.actor"},
	"accessKeyId": {sql: "a.access_key_id"},
	"door":        {sql: "a.door"},
	"address":     {sql: "a.address"},
	"requestId":   {sql: "a.request_id"},
}

type auditRow struct {
	domain.AuditEntry
	ChangesJSON string
	CursorKeys  nullableTexts
}

func (r *auditRow) keys() nullableTexts { return r.CursorKeys }

func (r *auditRow) entry() *domain.AuditEntry {
	r.At = r.At.UTC()
	_ = json.Unmarshal([]byte(r.ChangesJSON), &r.Changes) // what cannot be read does not verify
	return &r.AuditEntry
}

func newAuditList(scope domain.Scope) *list {
	sequence, _ := domain.AuditFields.Find("sequence")
	return newList(func(field string) listColumn { return auditColumns[field] }, sequence, scope.Company)
}

func auditWholeOnly(scope domain.Scope) error {
	if scope.Restricted() {
		return wholeCompanyOnly("the audit log")
	}
	return nil
}

// List implements domain.AuditLog.
func (a *AuditLog) List(ctx context.Context, scope domain.Scope, listing domain.Listing) (domain.Slice[*domain.AuditEntry], error) {
	if err := auditWholeOnly(scope); err != nil {
		return domain.Slice[*domain.AuditEntry]{}, err
	}
	sequence, _ := domain.AuditFields.Find("sequence")
	listing.Order = []query.Order{{Field: sequence, Desc: true}}
	sql := `SELECT ` + auditSelect + `, %s AS cursor_keys FROM audit_log a WHERE a.company_id = $1`
	return listRows(ctx, a.pool, newAuditList(scope), sql, listing, (*auditRow).entry)
}

// Count implements domain.AuditLog.
func (a *AuditLog) Count(ctx context.Context, scope domain.Scope, listing domain.Listing) (int, error) {
	if err := auditWholeOnly(scope); err != nil {
		return 0, err
	}
	l := newAuditList(scope)
	return count(ctx, a.pool, `SELECT count(*) FROM audit_log a WHERE a.company_id = $1 AND `+l.filter(listing.Filter), l.args...)
}
