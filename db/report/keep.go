package report

import (
	"context"
	"slices"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/imported"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/report"
)

// ExportReports reads those of questions and dashboards that a company shares, with all who
// unsubscribed.
const ExportReports = `
SELECT ` + columns + `
FROM reports r
WHERE r.company_id = $1
  AND (EXISTS (SELECT FROM questions q WHERE q.company_id = $1 AND q.question_id = r.question_id AND q.is_shared)
    OR EXISTS (SELECT FROM dashboards d WHERE d.company_id = $1 AND d.dashboard_id = r.dashboard_id AND d.is_shared))
ORDER BY r.report_id`

// Row is a report as its table has it.
type Row = row

// Exported is the report with all who unsubscribed, also those who are no recipients now.
func (r *row) Exported() *report.Report {
	of := r.report()
	of.Unsubscribed = r.Parted
	return of
}

const (
	importedReport = `SELECT ` + columns + ` FROM reports r WHERE r.company_id = $1 AND r.report_id = $2::uuid FOR UPDATE`
	importReport   = `
INSERT INTO reports (company_id, report_id, question_id, dashboard_id, frequency, hour, recipients, unsubscribed, is_paused, owner_id, owner, created_at, changed_at)
VALUES ($1, $2::uuid, $3::uuid, $4::uuid, $5, $6, $7, $8, true, $9, $10, $11, $11)`
	updateReport = `
UPDATE reports SET question_id = $3::uuid, dashboard_id = $4::uuid, frequency = $5, hour = $6, recipients = $7, unsubscribed = $8, is_paused = true, next_due_at = NULL,
  owner_id = $9, owner = $10, changed_at = $11
WHERE company_id = $1 AND report_id = $2::uuid`
)

// Keep stores reports of a bundle. They are paused, since the server that they come from sends
// them, too; their owner, the user of the company who has the address, goes on with them. Who
// unsubscribed here or there gets no mail.
func (s *Store) Keep(ctx context.Context, scope domain.Scope, all []*report.Report) ([]domain.Imported, error) {
	return imported.Keep(ctx, s.Pool, scope, "reports", len(all), func(tx *sqlx.Tx, i int) (domain.Imported, error) {
		return s.keep(ctx, tx, scope, *all[i])
	})
}

func (s *Store) keep(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, of report.Report) (domain.Imported, error) {
	owner, err := imported.Owner(ctx, tx, scope, of.Owner)
	if err != nil {
		return domain.Imported{}, err
	}
	rows, err := pg.SelectAll[row](ctx, tx, importedReport, scope.Company, of.ReportID)
	if err != nil {
		return domain.Imported{}, err
	}
	statement, outcome := importReport, domain.Created
	if len(rows) > 0 {
		before := rows[0].Exported()
		of.Unsubscribed = joined(before.Unsubscribed, of.Unsubscribed)
		// Whether it is paused here is not of the bundle, and what is as it was goes on.
		of.IsPaused, of.EndedReason = before.IsPaused, before.EndedReason
		if before.Owner == of.Owner && len(domain.Differences(before, &of, report.Audited)) == 0 {
			return domain.Imported{Outcome: domain.Unchanged}, nil
		}
		statement, outcome = updateReport, domain.Updated
	}
	_, err = pg.Affected(ctx, tx, statement, scope.Company, of.ReportID, of.QuestionID, of.DashboardID, of.Frequency, of.Hour, pq.StringArray(of.Recipients),
		append(pq.StringArray{}, of.Unsubscribed...), owner, of.Owner, s.Moment())
	return domain.Imported{Outcome: outcome}, err
}

// joined are the addresses of both, those of the first before the others.
func joined(a, b []string) []string {
	all := slices.Clone(a)
	for _, one := range b {
		if !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	return all
}
