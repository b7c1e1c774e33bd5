// Package report keeps reports, their answers, and who unsubscribed: see domain/report.
package report

import (
	"context"
	"slices"
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
	"simgraph/domain/report"
)

// Store keeps reports in PostgreSQL.
type Store struct {
	kept.Owned[row, report.Report, *row]
	// finder looks up what is sent as the owner of a report.
	finder report.Finder
	// Most is how many reports a user keeps: report.MaxReports, but in tests.
	Most int
}

var (
	_ report.Reports = (*Store)(nil)
	_ report.Queue   = (*Store)(nil)
)

// New returns the store on the pool; now is the clock.
func New(pool *sqlx.DB, finder report.Finder, now func() time.Time) *Store {
	return &Store{kept.Owned[row, report.Report, *row]{Store: kept.New(pool, now, kind), Made: made}, finder, report.MaxReports}
}

// kind is how reports are kept.
var kind = kept.Kind[string, row, report.Report]{
	Type: "Report", Name: "report", Table: table, Shown: visibleTo, Lock: ` FOR UPDATE OF r`,
	Read: func(r *row) (*report.Report, error) { return r.report(), nil },
	ID:   func(r *report.Report) *string { return &r.ReportID }, Version: (*report.Report).Version, Audited: report.Audited, None: &report.Report{},
}

func made(r *report.Report) kept.Made {
	return kept.Made{OwnerID: &r.OwnerID, Owner: &r.Owner, CreatedAt: &r.CreatedAt, ChangedAt: &r.ChangedAt}
}

func noReport(id string) error { return domain.NotFound("reportId", "report", id) }

const (
	columns = `r.report_id, r.question_id, r.dashboard_id, r.frequency, r.hour, r.recipients AS addresses, r.unsubscribed AS parted, r.is_paused, r.owner_id, r.owner,
  r.next_due_at, r.last_sent_at, nullif(r.last_failure, '') AS last_failure, r.ended_at, r.ended_reason, r.created_at, r.changed_at`
	// fromReports are those that a scope ($1) of a user ($3) shows, which is restricted ($2) or not.
	fromReports = `
FROM reports r
WHERE r.company_id = $1 AND (NOT $2::boolean OR r.owner_id = $3 AND $3 <> 0)`
)

// visibleTo are the parameters of fromReports after the company.
func visibleTo(scope domain.Scope) []any { return []any{scope.Restricted(), scope.UserID()} }

type row struct {
	report.Report
	Addresses, Parted pq.StringArray
	keyset.Keyed
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

const (
	countOwn     = `SELECT count(*) FROM reports WHERE company_id = $1 AND owner_id = $2`
	insertReport = `
INSERT INTO reports (company_id, report_id, question_id, dashboard_id, frequency, hour, recipients, is_paused, owner_id, owner, next_due_at, created_at, changed_at)
VALUES ($1, $2::uuid, $3::uuid, $12::uuid, $4, $5, $6, $7, $8, $9, $10, $11, $11)`
)

// Create implements report.Reports.
func (s *Store) Create(ctx context.Context, scope domain.Scope, of report.Report) (*report.Report, error) {
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
	return s.Owned.Create(ctx, scope, &of, func(tx *sqlx.Tx) error {
		n, err := pg.Count(ctx, tx, countOwn, scope.Company, of.OwnerID)
		if err != nil {
			return err
		}
		if n >= s.Most {
			return domain.Invalid("questionId", "a user keeps at most %d reports: delete some", s.Most)
		}
		if err := checkAddresses(ctx, tx, scope, of.Recipients, nil); err != nil {
			return err
		}
		company, err := companies.Find(ctx, tx, scope.Company)
		if err != nil {
			return err
		}
		of.Plan(of.CreatedAt, company.Billing())
		_, err = pg.Affected(ctx, tx, insertReport, scope.Company, of.ReportID, of.QuestionID, of.Frequency, of.Hour, pq.StringArray(of.Recipients), of.IsPaused,
			of.OwnerID, of.Owner, of.NextDueAt, of.CreatedAt, of.DashboardID)
		return err
	})
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

const writeReport = `
UPDATE reports SET frequency = $3, hour = $4, recipients = $5, is_paused = $6, next_due_at = $7, ended_at = $8, ended_reason = $9, changed_at = $10,
  failures = 0, claimed_until = NULL
WHERE company_id = $1 AND report_id = $2::uuid`

// Edit implements report.Reports.
func (s *Store) Edit(ctx context.Context, scope domain.Scope, id string, edit report.Edit) (*report.Report, error) {
	if err := edit.Check(); err != nil {
		return nil, err
	}
	return s.Owned.Edit(ctx, scope, id, func(of report.Report) (report.Report, error) { return edit.Apply(scope, of) },
		func(tx *sqlx.Tx, before, after *report.Report) error {
			if err := checkAddresses(ctx, tx, scope, after.Recipients, before.Recipients); err != nil {
				return err
			}
			company, err := companies.Find(ctx, tx, scope.Company)
			if err != nil {
				return err
			}
			// Other recipients leave the time at which it is due.
			if after.Schedule != before.Schedule || after.IsPaused != before.IsPaused || (after.EndedAt == nil) != (before.EndedAt == nil) {
				after.Plan(after.ChangedAt, company.Billing())
			}
			_, err = pg.Affected(ctx, tx, writeReport, scope.Company, id, after.Frequency, after.Hour, pq.StringArray(after.Recipients), after.IsPaused,
				after.NextDueAt, after.EndedAt, after.EndedReason, after.ChangedAt)
			return err
		})
}

const sendReport = `UPDATE reports SET next_due_at = $3, failures = 0, claimed_until = NULL WHERE company_id = $1 AND report_id = $2::uuid`

// Send implements report.Reports.
func (s *Store) Send(ctx context.Context, scope domain.Scope, id string) (*report.Report, error) {
	return s.Locked(ctx, scope, id, func(tx *sqlx.Tx, of *report.Report) (*domain.AuditEntry, error) {
		at := s.Moment()
		switch {
		case !of.IsEditable(scope):
			return nil, domain.Forbidden("a report is sent by its owner")
		case of.NextDueAt == nil:
			return nil, domain.Invalid("reportId", "the report is paused or has ended")
		case of.LastSentAt != nil && at.Before(of.LastSentAt.Add(report.SendAgain)) && at.After(*of.LastSentAt):
			return nil, domain.Invalid("reportId", "the report was sent less than %d minutes ago", int(report.SendAgain.Minutes()))
		}
		if !of.NextDueAt.After(at) { // it is being sent
			return nil, nil
		}
		of.NextDueAt = &at
		_, err := pg.Affected(ctx, tx, sendReport, scope.Company, id, at)
		return s.Entry("report.send", of, of), err
	})
}

const (
	removeReport = `DELETE FROM reports WHERE company_id = $1 AND report_id = $2::uuid`
	cancelMails  = `
UPDATE mails SET state = 'cancelled', finished_at = $3
WHERE company_id = $1 AND report_id = $2::uuid AND state = 'queued' AND ($4::text IS NULL OR email = $4)`
)

// Remove implements report.Reports.
func (s *Store) Remove(ctx context.Context, scope domain.Scope, id string) (*report.Report, error) {
	return s.Locked(ctx, scope, id, func(tx *sqlx.Tx, of *report.Report) (*domain.AuditEntry, error) {
		if _, err := pg.Affected(ctx, tx, removeReport, scope.Company, id); err != nil {
			return nil, err
		}
		_, err := pg.Affected(ctx, tx, cancelMails, scope.Company, id, s.Moment(), nil)
		return s.Entry("report.delete", of, nil), err
	})
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
	if err := s.Pool.SelectContext(ctx, &secrets, findKey, company); err != nil {
		return pg.Translate(err)
	}
	if len(secrets) == 0 {
		return noReport(id)
	}
	found, err := pg.SelectAll[row](ctx, s.Pool, `SELECT `+columns+` FROM reports r WHERE r.company_id = $1 AND r.report_id = $2::uuid`, company, id)
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
	return audit.Change(ctx, s.Pool, scope, func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
		locked, err := pg.GetOne[row](ctx, tx, noReport(id), lockAnyReport, company, id)
		if err != nil {
			return nil, err
		}
		before := locked.report()
		if slices.Contains(locked.Parted, email) {
			return nil, nil
		}
		after, at := *before, s.Moment()
		after.Unsubscribed = append(append([]string{}, before.Unsubscribed...), email)
		if _, err := pg.Affected(ctx, tx, addUnwilling, company, id, email, at); err != nil {
			return nil, err
		}
		_, err = pg.Affected(ctx, tx, cancelMails, company, id, at, email)
		return s.Entry("report.unsubscribe", before, &after), err
	})
}
