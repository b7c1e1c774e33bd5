package report

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/access"
	"simgraph/db/audit"
	"simgraph/db/companies"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/report"
)

const (
	isDue          = `r.next_due_at <= $2 AND (r.claimed_until IS NULL OR r.claimed_until <= $2)`
	pendingReports = `
SELECT DISTINCT r.company_id
FROM reports r
WHERE ($1::bigint[] IS NULL OR r.company_id = ANY($1)) AND ` + isDue + `
LIMIT 1000`
	// claimReport repeats its condition outside: the row may have changed between the subquery
	// and its lock.
	claimReport = `
UPDATE reports r SET claim = r.claim + 1, claimed_until = $3
WHERE r.company_id = $1 AND ` + isDue + ` AND r.report_id = (
  SELECT q.report_id FROM reports q
  WHERE q.company_id = $1 AND q.next_due_at <= $2 AND (q.claimed_until IS NULL OR q.claimed_until <= $2)
  ORDER BY q.next_due_at, q.report_id
  LIMIT 1
  FOR UPDATE SKIP LOCKED)
RETURNING ` + columns + `, r.claim, r.failures`
)

// Pending implements report.Queue.
func (s *Store) Pending(ctx context.Context) ([]domain.CompanyID, error) {
	return companies.With(ctx, s.Pool, pendingReports, s.Moment())
}

type claimedRow struct {
	row
	Claim    int64
	Failures int
}

// Claim implements report.Queue.
func (s *Store) Claim(ctx context.Context, company domain.CompanyID, lease time.Duration) (*report.Due, error) {
	at := s.Moment()
	claimed, err := pg.GetOne[claimedRow](ctx, s.Pool, nil, claimReport, company, at, at.Add(lease))
	if err != nil || claimed == nil {
		return nil, err
	}
	of := claimed.report()
	due := &report.Due{Report: *of, Claim: claimed.Claim, Failures: claimed.Failures}
	if due.Caller, err = access.CallerOfUser(ctx, s.Pool, company, of.OwnerID); err != nil || due.Caller == nil {
		return due, err
	}
	if due.Content, err = s.finder.Find(ctx, due.Caller.Scope, of.Topic); err != nil {
		return due, err
	}
	due.Recipients, err = pg.SelectValues[string](ctx, s.Pool, reachable, company, pq.StringArray(of.Wanted()), 0)
	return due, err
}

const (
	// whileClaimed is the condition that no other worker had the report since, and nobody changed it.
	whileClaimed = `company_id = $1 AND report_id = $2::uuid AND claim = $3 AND changed_at = $4 AND next_due_at = $5`
	finishReport = `
UPDATE reports SET next_due_at = $6, last_sent_at = $7, claimed_until = NULL, failures = 0, last_failure = ''
WHERE ` + whileClaimed
	endReport = `
UPDATE reports SET next_due_at = NULL, ended_at = $6, ended_reason = $7, claimed_until = NULL
WHERE ` + whileClaimed
	failReport = `
UPDATE reports SET next_due_at = $6, claimed_until = $7, failures = $8, last_failure = $9
WHERE ` + whileClaimed
	insertIssue = `
INSERT INTO report_issues (company_id, report_id, due_at, content, created_at) VALUES ($1, $2::uuid, $3, $4, $5)`
	insertMails = `
INSERT INTO mails (company_id, mail_id, recipient_id, email, kind, due_at, created_at, report_id, report_due_at)
SELECT own.company_id, w.mail_id, 0, w.email, 'report', $5, $5, $2::uuid, $3
FROM companies own
CROSS JOIN unnest($4::uuid[], $6::text[]) AS w(mail_id, email)
WHERE own.company_id = $1`
)

func (s *Store) claimOf(due *report.Due) []any {
	return []any{due.Caller.Scope.Company, due.ReportID, due.Claim, due.ChangedAt, due.NextDueAt}
}

// Issue implements report.Queue.
func (s *Store) Issue(ctx context.Context, due *report.Due, issue *report.Issue, next time.Time) (isOurs bool, err error) {
	content, err := json.Marshal(issue)
	if err != nil {
		return false, err
	}
	ids := pg.Pluck(due.Recipients, func(string) string { return uuid.Must(uuid.NewV7()).String() })
	company, at := due.Caller.Scope.Company, s.Moment()
	err = pg.InTx(ctx, s.Pool, func(tx *sqlx.Tx) error {
		n, err := pg.Affected(ctx, tx, finishReport, append(s.claimOf(due), next, at)...)
		if isOurs = n > 0; err != nil || !isOurs {
			return err
		}
		if _, err := pg.Affected(ctx, tx, insertIssue, company, due.ReportID, issue.DueAt, string(content), at); err != nil {
			return err
		}
		_, err = pg.Affected(ctx, tx, insertMails, company, due.ReportID, issue.DueAt, pq.StringArray(ids), at, pq.StringArray(due.Recipients))
		return err
	})
	return isOurs && err == nil, err
}

// End implements report.Queue.
func (s *Store) End(ctx context.Context, company domain.CompanyID, due *report.Due, reason report.Reason) error {
	return audit.Change(ctx, s.Pool, domain.Whole(company), func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
		after, at := due.Report, s.Moment()
		after.EndedReason = &reason
		n, err := pg.Affected(ctx, tx, endReport, company, due.ReportID, due.Claim, due.ChangedAt, due.NextDueAt, at, reason)
		if err != nil || n == 0 {
			return nil, err
		}
		return s.Entry("report.end", &due.Report, &after), nil
	})
}

// Fail implements report.Queue.
func (s *Store) Fail(ctx context.Context, company domain.CompanyID, due *report.Due, failure report.Failure) error {
	_, err := pg.Affected(ctx, s.Pool, failReport, company, due.ReportID, due.Claim, due.ChangedAt, due.NextDueAt,
		failure.NextDueAt, failure.Again, failure.Failures, failure.Reason)
	return err
}
