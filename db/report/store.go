// Package report keeps reports, their answers, and who unsubscribed: see domain/report.
package report

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/audit"
	"simgraph/db/companies"
	"simgraph/db/keyset"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/query"
	"simgraph/domain/report"
)

// Store keeps reports in PostgreSQL.
type Store struct {
	pool *sqlx.DB
	// finder looks up what is sent as the owner of a report.
	finder report.Finder
	now    func() time.Time
	// Most is how many reports a user keeps: report.MaxReports, but in tests.
	Most int
}

var (
	_ report.Reports = (*Store)(nil)
	_ report.Queue   = (*Store)(nil)
)

// New returns the store on the pool; now is the clock.
func New(pool *sqlx.DB, finder report.Finder, now func() time.Time) *Store {
	return &Store{pool, finder, now, report.MaxReports}
}

func (s *Store) moment() time.Time { return pg.Moment(s.now()) }

func noReport(id string) error { return domain.NotFound("reportId", "report", id) }

const (
	columns = `r.report_id, r.question_id, r.dashboard_id, r.frequency, r.hour, r.recipients AS addresses, r.unsubscribed AS parted, r.is_paused, r.owner_id, r.owner,
  r.next_due_at, r.last_sent_at, nullif(r.last_failure, '') AS last_failure, r.ended_at, r.ended_reason, r.created_at, r.changed_at`
	// fromReports are those that a scope ($1) of a user ($3) shows, which is restricted ($2) or not.
	fromReports = `
FROM reports r
WHERE r.company_id = $1 AND (NOT $2::boolean OR r.owner_id = $3 AND $3 <> 0)`
	findReports = `SELECT ` + columns + fromReports + ` AND r.report_id = ANY($4::uuid[])`
	lockReport  = `SELECT ` + columns + fromReports + ` AND r.report_id = $4::uuid FOR UPDATE OF r`
)

// visibleTo are the parameters of fromReports after the company.
func visibleTo(scope domain.Scope) []any { return []any{scope.Restricted(), scope.UserID()} }

type row struct {
	report.Report
	Addresses, Parted pq.StringArray
}

func (r *row) report() *report.Report {
	r.Recipients = r.Addresses
	r.Unsubscribed = slices.DeleteFunc(slices.Clone(r.Parted), func(one string) bool { return !slices.Contains(r.Addresses, one) })
	r.CreatedAt, r.ChangedAt = r.CreatedAt.UTC(), r.ChangedAt.UTC()
	return &r.Report
}

// table is the list of report.Fields.
var table = keyset.Table{
	Key: query.Field{Name: "reportId", Type: query.Text}, Order: []query.Order{{Field: query.Field{Name: "createdAt", Type: query.Time}, Desc: true}},
	Select: columns, From: fromReports,
	Columns: map[string]keyset.Column{
		"reportId": {SQL: "r.report_id", UUID: true}, "questionId": {SQL: "r.question_id", UUID: true, Nullable: true}, "dashboardId": {SQL: "r.dashboard_id", UUID: true, Nullable: true}, "frequency": {SQL: "r.frequency"}, "owner": {SQL: "r.owner"},
		"isPaused": {SQL: "r.is_paused"}, "createdAt": {SQL: "r.created_at"}, "changedAt": {SQL: "r.changed_at"},
	},
}

type listedRow struct {
	row
	keyset.Keyed
}

// List implements report.Reports.
func (s *Store) List(ctx context.Context, scope domain.Scope, listing domain.Listing) (domain.Slice[*report.Report], error) {
	return keyset.Page(ctx, s.pool, table, scope, listing, func(r *listedRow) *report.Report { return r.report() }, visibleTo(scope)...)
}

// Count implements report.Reports.
func (s *Store) Count(ctx context.Context, scope domain.Scope, listing domain.Listing) (int, error) {
	return table.Count(ctx, s.pool, scope, listing, visibleTo(scope)...)
}

// FindMany implements report.Reports.
func (s *Store) FindMany(ctx context.Context, scope domain.Scope, ids []string) (map[string]*report.Report, error) {
	known := pg.UUIDs(ids)
	rows, err := pg.SelectAll[row](ctx, s.pool, findReports, append(append([]any{scope.Company}, visibleTo(scope)...), known)...)
	return pg.Keyed(pg.Pluck(rows, (*row).report), func(of *report.Report) string { return of.ReportID }), err
}

func entryOf(action, id string, before, after *report.Report) *domain.AuditEntry {
	return &domain.AuditEntry{Action: action, SubjectType: "Report", SubjectID: id, Changes: domain.Differences(before, after, report.Audited)}
}

const (
	countOwn     = `SELECT count(*) FROM reports WHERE company_id = $1 AND owner_id = $2`
	insertReport = `
INSERT INTO reports (company_id, report_id, question_id, dashboard_id, frequency, hour, recipients, is_paused, owner_id, owner, next_due_at, created_at, changed_at)
VALUES ($1, $2::uuid, $3::uuid, $12::uuid, $4, $5, $6, $7, $8, $9, $10, $11, $11)`
)

// Create implements report.Reports.
func (s *Store) Create(ctx context.Context, scope domain.Scope, of report.Report) (created *report.Report, err error) {
	if err := of.Check(); err != nil {
		return nil, err
	}
	content, err := s.finder.Find(ctx, scope, of.Topic)
	if err != nil {
		return nil, err
	}
	if content == nil {
		return nil, of.Missing()
	}
	id, err := uuid.NewV7()
	if err != nil {
		return nil, err
	}
	if scope.Actor != nil {
		of.OwnerID, of.Owner = scope.Actor.UserID, scope.Actor.Name
	}
	at := s.moment()
	of.ReportID, of.CreatedAt, of.ChangedAt = id.String(), at, at
	err = audit.ChangeLocked(ctx, s.pool, scope, func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
		n, err := pg.Count(ctx, tx, countOwn, scope.Company, of.OwnerID)
		if err != nil {
			return nil, err
		}
		if n >= s.Most {
			return nil, domain.Invalid("questionId", "a user keeps at most %d reports: delete some", s.Most)
		}
		if err := checkAddresses(ctx, tx, scope, of.Recipients, nil); err != nil {
			return nil, err
		}
		company, err := companies.Find(ctx, tx, scope.Company)
		if err != nil {
			return nil, err
		}
		of.Plan(at, company.Billing())
		_, err = pg.Affected(ctx, tx, insertReport, scope.Company, of.ReportID, of.QuestionID, of.Frequency, of.Hour, pq.StringArray(of.Recipients), of.IsPaused,
			of.OwnerID, of.Owner, of.NextDueAt, at, of.DashboardID)
		return entryOf(domain.AuditReportCreate, of.ReportID, &report.Report{}, &of), err
	})
	return &of, err
}

// reachable are the addresses that the company may mail reports to: those of its users, and of
// its recipients of alerts, but none that a mail server has refused. A user of groups, whose
// number is $3 and else 0, does not learn who else there is, and has the own address alone.
const reachable = `
SELECT w.email
FROM unnest($2::text[]) WITH ORDINALITY AS w(email, place)
WHERE (EXISTS (SELECT FROM users u WHERE u.company_id = $1 AND u.email = w.email AND NOT u.disabled AND ($3::bigint = 0 OR u.user_id = $3))
    OR $3 = 0 AND EXISTS (SELECT FROM alert_recipients a WHERE a.company_id = $1 AND a.email_key = w.email))
  AND NOT EXISTS (SELECT FROM alert_recipients a WHERE a.company_id = $1 AND a.email_key = w.email AND a.suppressed_reason = 'refused')
ORDER BY w.place`

// checkAddresses refuses addresses that the company may not mail reports to, but those of before.
func checkAddresses(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, addresses, before []string) error {
	var alone int64
	if scope.Restricted() {
		alone = scope.UserID()
	}
	known, err := pg.SelectValues[string](ctx, tx, reachable, scope.Company, pq.StringArray(addresses), alone)
	if err != nil {
		return err
	}
	allowed := map[string]bool{}
	for _, one := range append(known, before...) {
		allowed[one] = true
	}
	for i, one := range addresses {
		if !allowed[one] && alone != 0 {
			return domain.Invalid(domain.Item("recipients", i), "%s is not your address: a user of groups has reports sent to themselves", one)
		}
		if !allowed[one] {
			return domain.Invalid(domain.Item("recipients", i), "%s is no enabled user of the company and no recipient of alerts that takes mail: reports go to those", one)
		}
	}
	return nil
}

// change runs do on a report that the scope shows, which is locked until the end.
func (s *Store) change(ctx context.Context, scope domain.Scope, id string, do func(*sqlx.Tx, *report.Report) (*domain.AuditEntry, error)) error {
	if !pg.IsUUID(id) {
		return noReport(id)
	}
	return audit.Change(ctx, s.pool, scope, func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
		row, err := pg.GetOne[row](ctx, tx, noReport(id), lockReport, append(append([]any{scope.Company}, visibleTo(scope)...), id)...)
		if err != nil {
			return nil, err
		}
		return do(tx, row.report())
	})
}

const writeReport = `
UPDATE reports SET frequency = $3, hour = $4, recipients = $5, is_paused = $6, next_due_at = $7, ended_at = $8, ended_reason = $9, changed_at = $10,
  failures = 0, claimed_until = NULL
WHERE company_id = $1 AND report_id = $2::uuid`

// Edit implements report.Reports.
func (s *Store) Edit(ctx context.Context, scope domain.Scope, id string, edit report.Edit) (edited *report.Report, err error) {
	if err := edit.Check(); err != nil {
		return nil, err
	}
	err = s.change(ctx, scope, id, func(tx *sqlx.Tx, before *report.Report) (*domain.AuditEntry, error) {
		if err := scope.CheckVersion(before.Version()); err != nil {
			return nil, err
		}
		after, err := edit.Apply(scope, *before)
		if err != nil {
			return nil, err
		}
		entry := entryOf(domain.AuditReportEdit, after.ReportID, before, &after)
		if edited = before; len(entry.Changes) == 0 {
			return nil, nil
		}
		if err := checkAddresses(ctx, tx, scope, after.Recipients, before.Recipients); err != nil {
			return nil, err
		}
		company, err := companies.Find(ctx, tx, scope.Company)
		if err != nil {
			return nil, err
		}
		after.ChangedAt = s.moment()
		// Other recipients leave the time at which it is due.
		if after.Schedule != before.Schedule || after.IsPaused != before.IsPaused || (after.EndedAt == nil) != (before.EndedAt == nil) {
			after.Plan(after.ChangedAt, company.Billing())
		}
		edited = &after
		_, err = pg.Affected(ctx, tx, writeReport, scope.Company, id, after.Frequency, after.Hour, pq.StringArray(after.Recipients), after.IsPaused,
			after.NextDueAt, after.EndedAt, after.EndedReason, after.ChangedAt)
		return entry, err
	})
	return edited, err
}

const sendReport = `UPDATE reports SET next_due_at = $3, failures = 0, claimed_until = NULL WHERE company_id = $1 AND report_id = $2::uuid`

// Send implements report.Reports.
func (s *Store) Send(ctx context.Context, scope domain.Scope, id string) (sent *report.Report, err error) {
	err = s.change(ctx, scope, id, func(tx *sqlx.Tx, of *report.Report) (*domain.AuditEntry, error) {
		at := s.moment()
		switch {
		case !of.IsEditable(scope):
			return nil, domain.Forbidden("a report is sent by its owner")
		case of.NextDueAt == nil:
			return nil, domain.Invalid("reportId", "the report is paused or has ended")
		case of.LastSentAt != nil && at.Before(of.LastSentAt.Add(report.SendAgain)) && at.After(*of.LastSentAt):
			return nil, domain.Invalid("reportId", "the report was sent less than %d minutes ago", int(report.SendAgain.Minutes()))
		}
		if sent = of; !of.NextDueAt.After(at) { // it is being sent
			return nil, nil
		}
		of.NextDueAt = &at
		_, err := pg.Affected(ctx, tx, sendReport, scope.Company, id, at)
		return entryOf(domain.AuditReportSend, id, of, of), err
	})
	return sent, err
}

const (
	removeReport = `DELETE FROM reports WHERE company_id = $1 AND report_id = $2::uuid`
	cancelMails  = `
UPDATE mails SET state = 'cancelled', finished_at = $3
WHERE company_id = $1 AND report_id = $2::uuid AND state = 'queued' AND ($4::text IS NULL OR email = $4)`
)

// Remove implements report.Reports.
func (s *Store) Remove(ctx context.Context, scope domain.Scope, id string) (removed *report.Report, err error) {
	err = s.change(ctx, scope, id, func(tx *sqlx.Tx, of *report.Report) (*domain.AuditEntry, error) {
		removed = of
		if _, err := pg.Affected(ctx, tx, removeReport, scope.Company, id); err != nil {
			return nil, err
		}
		_, err := pg.Affected(ctx, tx, cancelMails, scope.Company, id, s.moment(), nil)
		return entryOf(domain.AuditReportDelete, id, of, &report.Report{}), err
	})
	return removed, err
}

const (
	findKey       = `SELECT secret FROM mail_keys WHERE company_id = $1`
	lockAnyReport = `SELECT ` + columns + ` FROM reports r WHERE r.company_id = $1 AND r.report_id = $2::uuid FOR UPDATE`
	addUnwilling  = `UPDATE reports SET unsubscribed = array_append(unsubscribed, $3::text), changed_at = $4 WHERE company_id = $1 AND report_id = $2::uuid`
)

// Unsubscribe stops mail of a report to the recipient that verify accepts the address and the
// company's secret of. Who has the link of a mail is taken for its recipient. Doing it again
// changes nothing.
func (s *Store) Unsubscribe(ctx context.Context, company domain.CompanyID, id string, verify func(email string, secret []byte) bool) error {
	if !pg.IsUUID(id) {
		return noReport(id)
	}
	var secrets [][]byte
	if err := s.pool.SelectContext(ctx, &secrets, findKey, company); err != nil {
		return pg.Translate(err)
	}
	if len(secrets) == 0 {
		return noReport(id)
	}
	found, err := pg.SelectAll[row](ctx, s.pool, `SELECT `+columns+` FROM reports r WHERE r.company_id = $1 AND r.report_id = $2::uuid`, company, id)
	if err != nil {
		return err
	}
	email := ""
	for _, one := range found {
		for _, address := range append(one.Addresses, one.Parted...) {
			if verify(address, secrets[0]) {
				email = address
			}
		}
	}
	if email == "" {
		return noReport(id)
	}
	scope := domain.Whole(company).By(&domain.Actor{Name: email, Origin: domain.OriginOf(ctx)})
	return audit.Change(ctx, s.pool, scope, func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
		locked, err := pg.GetOne[row](ctx, tx, noReport(id), lockAnyReport, company, id)
		if err != nil {
			return nil, err
		}
		before := locked.report()
		if slices.Contains(locked.Parted, email) {
			return nil, nil
		}
		after, at := *before, s.moment()
		after.Unsubscribed = append(append([]string{}, before.Unsubscribed...), email)
		if _, err := pg.Affected(ctx, tx, addUnwilling, company, id, email, at); err != nil {
			return nil, err
		}
		_, err = pg.Affected(ctx, tx, cancelMails, company, id, at, email)
		return entryOf(domain.AuditReportUnsubscribe, id, before, &after), err
	})
}
