// Package silence keeps the silences of companies, and marks the entries that they silence
// in the transaction that logs them: see domain/silence.
package silence

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/audit"
	"simgraph/db/companies"
	"simgraph/db/kept"
	"simgraph/db/keyset"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/query"
	"simgraph/domain/silence"
)

// Store keeps silences in PostgreSQL.
type Store struct {
	kept.Store[int64, row, silence.Silence, *row]
}

var _ silence.Silences = (*Store)(nil)

// New returns the store on the pool; now is the clock.
func New(pool *sqlx.DB, now func() time.Time) *Store { return &Store{kept.New(pool, now, kindOf(now))} }

// kindOf is how silences are kept.
func kindOf(now func() time.Time) kept.Kind[int64, row, silence.Silence] {
	return kept.Kind[int64, row, silence.Silence]{
		Type: "Silence", Name: "silence", Table: table, Shown: func(domain.Scope) []any { return []any{pg.Moment(now())} },
		Read: (*row).silence, ID: func(of *silence.Silence) *int64 { return &of.SilenceID },
		Version: func(of *silence.Silence) string { return of.Version() }, Audited: audited,
		About: func(of *silence.Silence) []string { return of.PhysicalIDs }, None: &silence.Silence{},
	}
}

const (
	fromSilences = `
FROM silences n
JOIN companies own ON own.company_id = n.company_id
WHERE n.company_id = $1`
	silenceColumns = `n.silence_id, n.reason, n.alert_ids AS alerts, n.group_ids AS wanted, n.tag_names AS tags, n.physical_ids AS physicals,
  n.starts_at, n.ends_at, n.weekly AS windows, n.created_by, n.created_at, own.time_zone, own.billing_day`
	// countActive counts those that are not over at $2.
	countActive = `SELECT count(*)` + fromSilences + ` AND n.ends_at > $2`
)

type row struct {
	silence.Silence
	Alerts, Wanted  pq.Int64Array
	Tags, Physicals pq.StringArray
	Windows         []byte
	TimeZone        string
	BillingDay      int
	keyset.Keyed
}

func (r *row) silence() (*silence.Silence, error) {
	r.Matcher = silence.Matcher{AlertIDs: r.Alerts, GroupIDs: r.Wanted, TagNames: r.Tags, PhysicalIDs: r.Physicals}
	of := domain.Company{TimeZone: r.TimeZone, BillingDay: r.BillingDay}
	r.Zone = of.Billing().Zone
	return &r.Silence, json.Unmarshal(r.Windows, &r.Weekly)
}

// table is the list of silence.Fields; $2 is now.
var table = keyset.Table{
	Key: query.Field{Name: "silenceId", Type: query.Integer}, Select: silenceColumns, From: fromSilences + ` AND $2::timestamptz IS NOT NULL`, WholeOnly: "silences",
	Columns: map[string]keyset.Column{
		"silenceId": {SQL: "n.silence_id"}, "reason": {SQL: "n.reason"}, "isEnded": {SQL: "(n.ends_at <= $2)"},
		"startsAt": {SQL: "n.starts_at"}, "endsAt": {SQL: "n.ends_at"}, "createdBy": {SQL: "n.created_by"}, "createdAt": {SQL: "n.created_at"},
	},
}

const (
	pruneSilences = `DELETE FROM silences WHERE company_id = $1 AND ends_at < $2`
	insertSilence = `
INSERT INTO silences (company_id, reason, alert_ids, group_ids, tag_names, physical_ids, starts_at, ends_at, weekly, created_by, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
RETURNING silence_id`
)

// Create implements silence.Silences. It also removes those that ended long ago.
func (s *Store) Create(ctx context.Context, scope domain.Scope, spec silence.Spec) (*silence.Silence, error) {
	at := s.Moment()
	spec.Begin(at)
	if err := spec.Check(at); err != nil {
		return nil, err
	}
	return s.Store.Create(ctx, scope, func(tx *sqlx.Tx) (int64, error) { return insert(ctx, tx, scope, spec, at) },
		func(created *silence.Silence) *domain.AuditEntry {
			return s.Entry(domain.AuditSilenceCreate, nil, created)
		})
}

// Create makes a silence that begins now in a transaction, and returns the entry of the
// audit log about it. It takes the lock of the company.
func Create(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, spec silence.Spec, at time.Time) (*silence.Silence, *domain.AuditEntry, error) {
	if err := table.Check(scope); err != nil {
		return nil, nil, err
	}
	if err := spec.Check(at); err != nil {
		return nil, nil, err
	}
	if _, err := companies.Lock(ctx, tx, scope.Company); err != nil {
		return nil, nil, err
	}
	id, err := insert(ctx, tx, scope, spec, at)
	if err != nil {
		return nil, nil, err
	}
	kind := kindOf(func() time.Time { return at })
	created, err := kind.FindIn(ctx, tx, scope, id)
	if err != nil {
		return nil, nil, err
	}
	return created, kind.Entry(domain.AuditSilenceCreate, nil, created), nil
}

func insert(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, spec silence.Spec, at time.Time) (id int64, err error) {
	if _, err := pg.Affected(ctx, tx, pruneSilences, scope.Company, at.Add(-silence.Kept)); err != nil {
		return 0, err
	}
	n, err := pg.Count(ctx, tx, countActive, scope.Company, at)
	if err != nil {
		return 0, err
	}
	if n >= silence.MaxSilences {
		return 0, domain.Invalid("endsAt", "a company has at most %d silences that are not over", silence.MaxSilences)
	}
	weekly, err := json.Marshal(append([]silence.Window{}, spec.Weekly...))
	if err != nil {
		return 0, err
	}
	err = tx.GetContext(ctx, &id, insertSilence, scope.Company, spec.Reason, pg.Numbers(spec.AlertIDs), pg.Numbers(spec.GroupIDs),
		pg.Texts(spec.TagNames), pg.Texts(spec.PhysicalIDs), spec.StartsAt, spec.EndsAt, weekly, author(scope), at)
	return id, pg.Translate(err)
}

// author names who acts.
func author(scope domain.Scope) string {
	if scope.Actor == nil {
		return ""
	}
	return scope.Actor.Name
}

var audited = []domain.AuditField[silence.Silence]{
	{Name: "reason", Text: func(s *silence.Silence) string { return s.Reason }},
	{Name: "startsAt", Text: func(s *silence.Silence) string { return moment(s.StartsAt) }},
	{Name: "endsAt", Text: func(s *silence.Silence) string { return moment(s.EndsAt) }},
	{Name: "weekly", Text: func(s *silence.Silence) string { return audit.List(s.Weekly) }},
	{Name: "alertIds", Text: func(s *silence.Silence) string { return audit.List(s.AlertIDs) }},
	{Name: "groupIds", Text: func(s *silence.Silence) string { return audit.List(s.GroupIDs) }},
	{Name: "tagNames", Text: func(s *silence.Silence) string { return audit.List(s.TagNames) }},
	{Name: "physicalIds", Text: func(s *silence.Silence) string { return audit.List(s.PhysicalIDs) }},
}

func moment(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339Nano)
}

const writeSilence = `
UPDATE silences SET reason = $3, alert_ids = $4, group_ids = $5, tag_names = $6, physical_ids = $7, ends_at = $8, weekly = $9
WHERE company_id = $1 AND silence_id = $2`

// Edit implements silence.Silences.
func (s *Store) Edit(ctx context.Context, scope domain.Scope, id int64, edit silence.Edit) (*silence.Silence, error) {
	return s.Store.Edit(ctx, scope, id, func(tx *sqlx.Tx, before *silence.Silence) (*domain.AuditEntry, error) {
		at := s.Moment()
		if !before.EndsAt.After(at) {
			return nil, domain.Invalid("silenceId", "silence %d is over", id)
		}
		after := *before
		after.Spec = edit.Apply(before.Spec)
		if err := after.Check(at); err != nil || before.Same(&after.Spec) {
			return nil, err
		}
		weekly, err := json.Marshal(append([]silence.Window{}, after.Weekly...))
		if err != nil {
			return nil, err
		}
		_, err = pg.Affected(ctx, tx, writeSilence, scope.Company, id, after.Reason, pg.Numbers(after.AlertIDs), pg.Numbers(after.GroupIDs),
			pg.Texts(after.TagNames), pg.Texts(after.PhysicalIDs), after.EndsAt, weekly)
		return s.Entry(domain.AuditSilenceEdit, before, &after), err
	})
}

const (
	endSilence    = `UPDATE silences SET ends_at = $3 WHERE company_id = $1 AND silence_id = $2`
	removeSilence = `DELETE FROM silences WHERE company_id = $1 AND silence_id = $2`
)

// End implements silence.Silences.
func (s *Store) End(ctx context.Context, scope domain.Scope, id int64) (*silence.Silence, error) {
	return s.Locked(ctx, scope, id, func(tx *sqlx.Tx, of *silence.Silence) (*domain.AuditEntry, error) {
		return end(ctx, tx, scope.Company, of, s.Moment())
	})
}

// End ends a silence in a transaction, and returns the entry of the audit log about it; nil
// for one that is over, or not kept any more.
func End(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, id int64, at time.Time) (*domain.AuditEntry, error) {
	kind := kindOf(func() time.Time { return at })
	of, err := kind.FindIn(ctx, tx, domain.Whole(company), id)
	if fault, is := domain.AsError(err); is && fault.Kind == domain.KindNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return end(ctx, tx, company, of, at)
}

func end(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, of *silence.Silence, at time.Time) (entry *domain.AuditEntry, err error) {
	if !of.EndsAt.After(at) {
		return nil, nil
	}
	before := of.EndsAt
	if at.Before(of.StartsAt) {
		_, err = pg.Affected(ctx, tx, removeSilence, company, of.SilenceID)
	} else {
		of.EndsAt = at
		_, err = pg.Affected(ctx, tx, endSilence, company, of.SilenceID, at)
	}
	entry = audit.Entry(domain.AuditSilenceEnd, "Silence", of.SilenceID, domain.Changed("endsAt", moment(before), moment(at))...)
	entry.PhysicalIDs = of.PhysicalIDs
	return entry, err
}
