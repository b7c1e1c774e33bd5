package db

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
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

// auditNames is the change of what has many names, of which it lists some.
func auditNames(field string, names []string) domain.AuditChange {
	listed := names[:min(len(names), domain.MaxAuditNames)]
	text := strings.Join(listed, " ")
	if more := len(names) - len(listed); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return domain.AuditChange{Field: field, After: &text}
}

// auditImport notes what a part of an import changed, if anything.
func auditImport(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, what string, counts map[domain.Outcome]int) error {
	var changes []domain.AuditChange
	for _, of := range []struct {
		field   string
		outcome domain.Outcome
	}{{"created", domain.Created}, {"updated", domain.Updated}} {
		if n := counts[of.outcome]; n > 0 {
			changes = append(changes, domain.Became(of.field, formatInt(int64(n))))
		}
	}
	if len(changes) == 0 {
		return nil
	}
	return audit(ctx, tx, scope, domain.AuditEntry{Action: domain.AuditImport + what, SubjectType: "Company", Changes: changes})
}

// tally counts verdicts by their outcomes, but for those that others counted.
func tally(verdicts map[string]string, others map[string]string) map[domain.Outcome]int {
	counts := map[domain.Outcome]int{}
	for item, verdict := range verdicts {
		if outcomes[others[item]] == 0 {
			counts[outcomes[verdict]]++
		}
	}
	return counts
}

func tallyImported(answers []domain.Imported) map[domain.Outcome]int {
	counts := map[domain.Outcome]int{}
	for _, a := range answers {
		counts[a.Outcome]++
	}
	return counts
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

// auditBatch is how many entries are read at once.
const auditBatch = 1000

const auditAfter = `SELECT ` + auditSelect + `
FROM audit_log a
WHERE a.company_id = $1 AND a.sequence > $2
ORDER BY a.sequence
LIMIT $3`

// All implements domain.AuditLog.
func (a *AuditLog) All(ctx context.Context, scope domain.Scope, after int64) iter.Seq2[*domain.AuditEntry, error] {
	return allAudit(ctx, a.pool, scope, after)
}

func allAudit(ctx context.Context, in sqlx.QueryerContext, scope domain.Scope, after int64) iter.Seq2[*domain.AuditEntry, error] {
	return func(yield func(*domain.AuditEntry, error) bool) {
		if err := auditWholeOnly(scope); err != nil {
			yield(nil, err)
			return
		}
		for {
			rows, err := selectAll[auditRow](ctx, in, auditAfter, scope.Company, after, auditBatch)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, row := range rows {
				if after = row.Sequence; !yield(row.entry(), nil) {
					return
				}
			}
			if len(rows) < auditBatch {
				return
			}
		}
	}
}

const auditHead = `SELECT sequence, encode(hash, 'hex') AS hash FROM audit_heads WHERE company_id = $1`

// Head implements domain.AuditLog.
func (a *AuditLog) Head(ctx context.Context, scope domain.Scope) (domain.AuditMark, error) {
	if err := auditWholeOnly(scope); err != nil {
		return domain.AuditMark{}, err
	}
	heads, err := selectAll[domain.AuditMark](ctx, a.pool, auditHead, scope.Company)
	if err != nil || len(heads) == 0 {
		return domain.AuditMark{}, err
	}
	return *heads[0], nil
}
