// Package silence keeps the silences of companies, and marks the entries that they silence
// in the transaction that logs them: see domain/silence.
package silence

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/audit"
	"simgraph/db/companies"
	"simgraph/db/keyset"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/query"
	"simgraph/domain/silence"
)

// Store keeps silences in PostgreSQL.
type Store struct {
	pool *sqlx.DB
	now  func() time.Time
}

var _ silence.Silences = (*Store)(nil)

// New returns the store on the pool; now is the clock.
func New(pool *sqlx.DB, now func() time.Time) *Store { return &Store{pool, now} }

// moment is now, as the database keeps it.
func (s *Store) moment() time.Time { return pg.Moment(s.now()) }

func noSilence(id int64) error { return domain.NotFound("silenceId", "silence", pg.FormatInt(id)) }

const (
	fromSilences = `
FROM silences n
JOIN companies own ON own.company_id = n.company_id
WHERE n.company_id = $1`
	silenceColumns = `n.silence_id, n.reason, n.alert_ids AS alerts, n.group_ids AS wanted, n.tag_names AS tags, n.physical_ids AS physicals,
  n.starts_at, n.ends_at, n.weekly AS windows, n.created_by, n.created_at, own.time_zone, own.billing_day`
	selectSilences = `SELECT ` + silenceColumns + fromSilences
	findSilences   = selectSilences + ` AND n.silence_id = ANY($2)`
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
}

func (r *row) silence() (*silence.Silence, error) {
	r.Matcher = silence.Matcher{AlertIDs: r.Alerts, GroupIDs: r.Wanted, TagNames: r.Tags, PhysicalIDs: r.Physicals}
	of := domain.Company{TimeZone: r.TimeZone, BillingDay: r.BillingDay}
	r.Zone = of.Billing().Zone
	return &r.Silence, json.Unmarshal(r.Windows, &r.Weekly)
}

// silences are shown to scopes of a whole company only.
const silences = "silences"

// table is the list of silence.Fields; $2 is now.
var table = keyset.Table{
	Key: query.Field{Name: "silenceId", Type: query.Integer}, Select: silenceColumns, From: fromSilences + ` AND $2::timestamptz IS NOT NULL`, WholeOnly: silences,
	Columns: map[string]keyset.Column{
		"silenceId": {SQL: "n.silence_id"}, "reason": {SQL: "n.reason"}, "isEnded": {SQL: "(n.ends_at <= $2)"},
		"startsAt": {SQL: "n.starts_at"}, "endsAt": {SQL: "n.ends_at"}, "createdBy": {SQL: "n.created_by"}, "createdAt": {SQL: "n.created_at"},
	},
}

type listedRow struct {
	row
	keyset.Keyed
}

// List implements silence.Silences.
func (s *Store) List(ctx context.Context, scope domain.Scope, listing domain.Listing) (slice domain.Slice[*silence.Silence], err error) {
	var broken error
	slice, err = keyset.Page(ctx, s.pool, table, scope, listing, func(r *listedRow) *silence.Silence {
		of, err := r.silence()
		if err != nil {
			broken = err
		}
		return of
	}, s.moment())
	return slice, cmp.Or(err, broken)
}

// Count implements silence.Silences.
func (s *Store) Count(ctx context.Context, scope domain.Scope, listing domain.Listing) (int, error) {
	return table.Count(ctx, s.pool, scope, listing, s.moment())
}

// FindMany implements silence.Silences.
func (s *Store) FindMany(ctx context.Context, scope domain.Scope, ids []int64) (map[int64]*silence.Silence, error) {
	if err := pg.WholeCompanyOnly(scope, silences); err != nil {
		return nil, err
	}
	found, err := selectAll(ctx, s.pool, findSilences, scope.Company, pq.Int64Array(ids))
	return pg.Keyed(found, func(of *silence.Silence) int64 { return of.SilenceID }), err
}

func selectAll(ctx context.Context, in sqlx.QueryerContext, sql string, args ...any) ([]*silence.Silence, error) {
	rows, err := pg.SelectAll[row](ctx, in, sql, args...)
	if err != nil {
		return nil, err
	}
	found := make([]*silence.Silence, len(rows))
	for i, r := range rows {
		if found[i], err = r.silence(); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func find(ctx context.Context, in sqlx.QueryerContext, company domain.CompanyID, id int64) (*silence.Silence, error) {
	found, err := selectAll(ctx, in, findSilences, company, pq.Int64Array{id})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, noSilence(id)
	}
	return found[0], nil
}

func (s *Store) changing(ctx context.Context, scope domain.Scope, do func(*sqlx.Tx) (*domain.AuditEntry, error)) error {
	if err := pg.WholeCompanyOnly(scope, silences); err != nil {
		return err
	}
	return audit.ChangeLocked(ctx, s.pool, scope, do)
}

const (
	pruneSilences = `DELETE FROM silences WHERE company_id = $1 AND ends_at < $2`
	insertSilence = `
INSERT INTO silences (company_id, reason, alert_ids, group_ids, tag_names, physical_ids, starts_at, ends_at, weekly, created_by, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
RETURNING silence_id`
)

// Create implements silence.Silences. It also removes those that ended long ago.
func (s *Store) Create(ctx context.Context, scope domain.Scope, spec silence.Spec) (created *silence.Silence, err error) {
	at := s.moment()
	spec.Begin(at)
	if err := spec.Check(at); err != nil {
		return nil, err
	}
	err = s.changing(ctx, scope, func(tx *sqlx.Tx) (entry *domain.AuditEntry, err error) {
		created, entry, err = create(ctx, tx, scope, spec, at)
		return entry, err
	})
	return created, err
}

// Create makes a silence that begins now in a transaction, and returns the entry of the
// audit log about it. It takes the lock of the company.
func Create(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, spec silence.Spec, at time.Time) (*silence.Silence, *domain.AuditEntry, error) {
	if err := pg.WholeCompanyOnly(scope, silences); err != nil {
		return nil, nil, err
	}
	if err := spec.Check(at); err != nil {
		return nil, nil, err
	}
	if _, err := companies.Lock(ctx, tx, scope.Company); err != nil {
		return nil, nil, err
	}
	return create(ctx, tx, scope, spec, at)
}

func create(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, spec silence.Spec, at time.Time) (*silence.Silence, *domain.AuditEntry, error) {
	if _, err := pg.Affected(ctx, tx, pruneSilences, scope.Company, at.Add(-silence.Kept)); err != nil {
		return nil, nil, err
	}
	n, err := pg.Count(ctx, tx, countActive, scope.Company, at)
	if err != nil {
		return nil, nil, err
	}
	if n >= silence.MaxSilences {
		return nil, nil, domain.Invalid("endsAt", "a company has at most %d silences that are not over", silence.MaxSilences)
	}
	weekly, err := json.Marshal(append([]silence.Window{}, spec.Weekly...))
	if err != nil {
		return nil, nil, err
	}
	var id int64
	err = tx.GetContext(ctx, &id, insertSilence, scope.Company, spec.Reason, pg.Numbers(spec.AlertIDs), pg.Numbers(spec.GroupIDs),
		pg.Texts(spec.TagNames), pg.Texts(spec.PhysicalIDs), spec.StartsAt, spec.EndsAt, weekly, author(scope), at)
	if err != nil {
		return nil, nil, pg.Translate(err)
	}
	created, err := find(ctx, tx, scope.Company, id)
	if err != nil {
		return nil, nil, err
	}
	return created, entryOf(domain.AuditSilenceCreate, id, created.PhysicalIDs, domain.Differences(&silence.Spec{}, &created.Spec, audited)), nil
}

// author names who acts.
func author(scope domain.Scope) string {
	if scope.Actor == nil {
		return ""
	}
	return scope.Actor.Name
}

func entryOf(action string, id int64, physicalIDs []string, changes []domain.AuditChange) *domain.AuditEntry {
	entry := audit.Entry(action, "Silence", id, changes...)
	entry.PhysicalIDs = physicalIDs
	return entry
}

var audited = []domain.AuditField[silence.Spec]{
	{Name: "reason", Text: func(s *silence.Spec) string { return s.Reason }},
	{Name: "startsAt", Text: func(s *silence.Spec) string { return moment(s.StartsAt) }},
	{Name: "endsAt", Text: func(s *silence.Spec) string { return moment(s.EndsAt) }},
	{Name: "weekly", Text: func(s *silence.Spec) string { return audit.List(s.Weekly) }},
	{Name: "alertIds", Text: func(s *silence.Spec) string { return audit.List(s.AlertIDs) }},
	{Name: "groupIds", Text: func(s *silence.Spec) string { return audit.List(s.GroupIDs) }},
	{Name: "tagNames", Text: func(s *silence.Spec) string { return audit.List(s.TagNames) }},
	{Name: "physicalIds", Text: func(s *silence.Spec) string { return audit.List(s.PhysicalIDs) }},
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
func (s *Store) Edit(ctx context.Context, scope domain.Scope, id int64, edit silence.Edit) (edited *silence.Silence, err error) {
	err = s.changing(ctx, scope, func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
		at := s.moment()
		before, err := find(ctx, tx, scope.Company, id)
		if err != nil {
			return nil, err
		}
		if err := scope.CheckVersion(before.Version()); err != nil {
			return nil, err
		}
		if !before.EndsAt.After(at) {
			return nil, domain.Invalid("silenceId", "silence %d is over", id)
		}
		after := edit.Apply(before.Spec)
		if err := after.Check(at); err != nil {
			return nil, err
		}
		weekly, err := json.Marshal(append([]silence.Window{}, after.Weekly...))
		if err != nil {
			return nil, err
		}
		if before.Same(&after) {
			edited = before
			return nil, nil
		}
		_, err = pg.Affected(ctx, tx, writeSilence, scope.Company, id, after.Reason, pg.Numbers(after.AlertIDs), pg.Numbers(after.GroupIDs),
			pg.Texts(after.TagNames), pg.Texts(after.PhysicalIDs), after.EndsAt, weekly)
		if err != nil {
			return nil, err
		}
		if edited, err = find(ctx, tx, scope.Company, id); err != nil {
			return nil, err
		}
		return entryOf(domain.AuditSilenceEdit, id, audit.About(before.PhysicalIDs, after.PhysicalIDs), domain.Differences(&before.Spec, &after, audited)), nil
	})
	return edited, err
}

const (
	endSilence    = `UPDATE silences SET ends_at = $3 WHERE company_id = $1 AND silence_id = $2`
	removeSilence = `DELETE FROM silences WHERE company_id = $1 AND silence_id = $2`
)

// End implements silence.Silences.
func (s *Store) End(ctx context.Context, scope domain.Scope, id int64) (ended *silence.Silence, err error) {
	err = s.changing(ctx, scope, func(tx *sqlx.Tx) (entry *domain.AuditEntry, err error) {
		ended, entry, err = end(ctx, tx, scope.Company, id, s.moment())
		return entry, err
	})
	return ended, err
}

// End ends a silence in a transaction, and returns the entry of the audit log about it; nil
// for one that is over, or not kept any more.
func End(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, id int64, at time.Time) (*domain.AuditEntry, error) {
	_, entry, err := end(ctx, tx, company, id, at)
	if fault, is := domain.AsError(err); is && fault.Kind == domain.KindNotFound {
		return nil, nil
	}
	return entry, err
}

func end(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, id int64, at time.Time) (ended *silence.Silence, entry *domain.AuditEntry, err error) {
	if ended, err = find(ctx, tx, company, id); err != nil || !ended.EndsAt.After(at) {
		return ended, nil, err
	}
	before := ended.EndsAt
	if at.Before(ended.StartsAt) {
		_, err = pg.Affected(ctx, tx, removeSilence, company, id)
	} else {
		ended.EndsAt = at
		_, err = pg.Affected(ctx, tx, endSilence, company, id, at)
	}
	if err != nil {
		return nil, nil, err
	}
	return ended, entryOf(domain.AuditSilenceEnd, id, ended.PhysicalIDs, domain.Changed("endsAt", moment(before), moment(at))), nil
}
