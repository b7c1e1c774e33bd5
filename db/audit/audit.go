// Package audit keeps the audit log: entries that each hold the digest of the one
// before, written in the transaction of the change.
package audit

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/keyset"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/query"
)

// Log reads the audit log in PostgreSQL.
type Log struct {
	pool *sqlx.DB
	// read and pruned are how many entries are read and removed at once: the constants, but
	// in tests.
	read, pruned int
}

var _ domain.AuditLog = (*Log)(nil)

// NewLog returns the store on the pool.
func NewLog(pool *sqlx.DB) *Log { return &Log{pool, readAtOnce, prunedAtOnce} }

// moveHead moves the head of the company's log, which no other transaction can until this one
// ends: so it and appendEntry are the last statements before the commit. They are two, each of
// one row: Citus sends those on without a plan of its own, and takes ten times as long for one
// statement that does both.
const moveHead = `
UPDATE audit_heads h
SET sequence = h.sequence + 1, hash = sha256(h.hash || int8send(h.sequence + 1) || $2::bytea)
WHERE h.company_id = $1
RETURNING h.sequence, h.hash`

// appendEntry names no reason and no subscribers, so that migrations are recorded also where the
// columns are not there yet, or not any more.
const appendEntry = `
INSERT INTO audit_log (company_id, sequence, hash, at, action, subject_type, subject_id, changes,
  user_id, actor, access_key_id, door, address, request_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`

// appendWhole is appendEntry of an entry with a reason, or about subscribers beside its subject.
const appendWhole = `
INSERT INTO audit_log (company_id, sequence, hash, at, action, subject_type, subject_id, changes,
  user_id, actor, access_key_id, door, address, request_id, reason, physical_ids)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`

// beginAudit makes the head before the first entry.
const beginAudit = `
INSERT INTO audit_heads (company_id, sequence, hash)
VALUES ($1, 0, decode(repeat('00', 32), 'hex'))
ON CONFLICT (company_id) DO NOTHING`

// Record notes what the transaction did, with the reason of the scope; it has to be the last
// that it does.
func Record(ctx context.Context, tx sqlx.ExtContext, scope domain.Scope, entry domain.AuditEntry) error {
	entry.At = pg.Moment(time.Now())
	if scope.Actor != nil {
		entry.Actor = *scope.Actor
	}
	entry.Reason = scope.Reason
	changes, err := json.Marshal(entry.Changes)
	if err != nil {
		return err
	}
	at, err := move(ctx, tx, scope.Company, entry.Content(scope.Company))
	if err != nil {
		return err
	}
	statement, args := appendEntry, []any{
		scope.Company, at.Sequence, at.Hash, entry.At, entry.Action, entry.SubjectType, entry.SubjectID, string(changes),
		entry.UserID, entry.Name, entry.AccessKeyID, entry.Door, entry.Address, entry.RequestID,
	}
	if entry.Reason != "" || len(entry.PhysicalIDs) > 0 {
		statement, args = appendWhole, append(args, entry.Reason, pq.StringArray(entry.PhysicalIDs))
	}
	_, err = pg.Affected(ctx, tx, statement, args...)
	return err
}

// head is where a log ends.
type head struct {
	Sequence int64
	Hash     []byte
}

// move moves the head of a log by an entry, and makes it before the first.
func move(ctx context.Context, tx sqlx.ExtContext, company domain.CompanyID, content []byte) (*head, error) {
	absent := errors.New("the audit log has no head")
	to, err := pg.GetOne[head](ctx, tx, absent, moveHead, company, content)
	if !errors.Is(err, absent) {
		return to, err
	}
	if _, err := pg.Affected(ctx, tx, beginAudit, company); err != nil {
		return nil, err
	}
	return pg.GetOne[head](ctx, tx, absent, moveHead, company, content)
}

// Note implements domain.AuditLog.
func (a *Log) Note(ctx context.Context, scope domain.Scope, entry domain.AuditEntry) error {
	return pg.InTx(ctx, a.pool, func(tx *sqlx.Tx) error { return Record(ctx, tx, scope, entry) })
}

const auditSelect = `a.sequence, a.at, a.action, a.subject_type, a.subject_id, a.physical_ids, a.changes::text AS changes_json,
  a.user_id, a.actor AS name, a.access_key_id, a.door, a.address, a.request_id, a.reason, encode(a.hash, 'hex') AS hash`

// entries is the list of domain.AuditFields.
var entries = keyset.Table{
	Key: sequence, Order: []query.Order{{Field: sequence, Desc: true}}, Select: auditSelect, From: ` FROM audit_log a WHERE a.company_id = $1`,
	WholeOnly: "the audit log",
	Columns: map[string]keyset.Column{
		"sequence": {SQL: "a.sequence"}, "at": {SQL: "a.at"}, "action": {SQL: "a.action"}, "subjectType": {SQL: "a.subject_type"}, "subjectId": {SQL: "a.subject_id"},
		// The index has the entries about subscribers alone.
		"physicalIds": {SQL: "(a.physical_ids IS NOT NULL AND a.physical_ids && {values})"},
		"actor":       {SQL: "a.actor"}, "accessKeyId": {SQL: "a.access_key_id"}, "door": {SQL: "a.door"}, "address": {SQL: "a.address"}, "requestId": {SQL: "a.request_id"}, "reason": {SQL: "a.reason"},
	},
}

var sequence, _ = domain.AuditFields.Find("sequence")

type auditRow struct {
	domain.AuditEntry
	PhysicalIDs pg.TextList[string] `db:"physical_ids"`
	ChangesJSON string
	keyset.Keyed
}

func (r *auditRow) entry() *domain.AuditEntry {
	r.At = r.At.UTC()
	r.AuditEntry.PhysicalIDs = r.PhysicalIDs
	_ = json.Unmarshal([]byte(r.ChangesJSON), &r.Changes) // what cannot be read does not verify
	return &r.AuditEntry
}

// List implements domain.AuditLog.
func (a *Log) List(ctx context.Context, scope domain.Scope, listing domain.Listing) (domain.Slice[*domain.AuditEntry], error) {
	return keyset.Page(ctx, a.pool, entries, scope, listing, (*auditRow).entry)
}

// Count implements domain.AuditLog.
func (a *Log) Count(ctx context.Context, scope domain.Scope, listing domain.Listing) (int, error) {
	return entries.Count(ctx, a.pool, scope, listing)
}
