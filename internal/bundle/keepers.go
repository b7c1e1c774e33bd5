package bundle

import (
	"context"
	"errors"
	"strconv"

	"simgraph/domain"
	"simgraph/domain/dashboard"
	"simgraph/domain/note"
	"simgraph/domain/report"
	"simgraph/domain/source"
)

var errUnanswered = errors.New("a store did not answer for every line")

type keeper func(context.Context, Stores, domain.Scope, []entry) ([]domain.Imported, error)

var keepers = map[Type]keeper{
	Company: keepAs(func(ctx context.Context, s Stores, scope domain.Scope, v []*domain.Company) ([]domain.Imported, error) {
		return s.Importer.Companies(ctx, scope.Actor, v)
	}),
	Operator: keepAs(func(ctx context.Context, s Stores, scope domain.Scope, v []*domain.Operator) ([]domain.Imported, error) {
		return s.Importer.Operators(ctx, scope.Actor, v)
	}),
	Tariff: keepAs(func(ctx context.Context, s Stores, scope domain.Scope, v []*domain.Tariff) ([]domain.Imported, error) {
		return s.Importer.Tariffs(ctx, scope, v)
	}),
	Group: keepAs(func(ctx context.Context, s Stores, scope domain.Scope, v []*domain.Group) ([]domain.Imported, error) {
		return s.Importer.Groups(ctx, scope, v)
	}),
	User: keepAs(func(ctx context.Context, s Stores, scope domain.Scope, v []*domain.UserImport) ([]domain.Imported, error) {
		return s.Importer.Users(ctx, scope, v)
	}),
	Subscriber: keepAs(func(ctx context.Context, s Stores, scope domain.Scope, v []*domain.Subscriber) ([]domain.Imported, error) {
		return s.Importer.Subscribers(ctx, scope, v)
	}),
	Membership: keepAs(func(ctx context.Context, s Stores, scope domain.Scope, v []domain.Membership) ([]domain.Imported, error) {
		return s.Importer.Memberships(ctx, scope, v)
	}),
	Tag: keepAs(func(ctx context.Context, s Stores, scope domain.Scope, v []domain.TagImport) ([]domain.Imported, error) {
		return s.Importer.Tags(ctx, scope, v)
	}),
	Alert: keepAs(func(ctx context.Context, s Stores, scope domain.Scope, v []domain.AlertImport) ([]domain.Imported, error) {
		return s.Alerts.Keep(ctx, scope, v)
	}),
	Recipient: keepAs(func(ctx context.Context, s Stores, scope domain.Scope, v []string) ([]domain.Imported, error) {
		return s.Recipients.Keep(ctx, scope, v)
	}),
	Suppression: keepAs(func(ctx context.Context, s Stores, scope domain.Scope, v []domain.Suppression) ([]domain.Imported, error) {
		return s.Recipients.Suppress(ctx, scope, v)
	}),
	AlertLog: keepAs(func(ctx context.Context, s Stores, scope domain.Scope, v []domain.Firing) ([]domain.Imported, error) {
		return s.Alerts.KeepLog(ctx, scope, v)
	}),
	SourceProfile: keepAs(func(ctx context.Context, s Stores, scope domain.Scope, v []*source.Profile) ([]domain.Imported, error) {
		return s.Profiles.KeepProfiles(ctx, scope, v)
	}),
	Question: keepAs(func(ctx context.Context, s Stores, scope domain.Scope, v []*domain.Question) ([]domain.Imported, error) {
		return s.Importer.Questions(ctx, scope, v)
	}),
	Dashboard: keepAs(func(ctx context.Context, s Stores, scope domain.Scope, v []*dashboard.Dashboard) ([]domain.Imported, error) {
		return s.Dashboards.Keep(ctx, scope, v)
	}),
	Report: keepAs(func(ctx context.Context, s Stores, scope domain.Scope, v []*report.Report) ([]domain.Imported, error) {
		return s.Reports.Keep(ctx, scope, v)
	}),
	Note: keepAs(func(ctx context.Context, s Stores, scope domain.Scope, v []*note.Note) ([]domain.Imported, error) {
		return s.Notes.Keep(ctx, scope, v)
	}),
	Session: keepAs(func(ctx context.Context, s Stores, scope domain.Scope, v []*domain.SessionImport) ([]domain.Imported, error) {
		return s.Usage.KeepSessions(ctx, scope, v)
	}),
	Usage: keepAs(func(ctx context.Context, s Stores, scope domain.Scope, v []domain.UsageRecord) ([]domain.Imported, error) {
		return s.usage(ctx, scope, v)
	}),
}

// keepAs gives a store the values of its type.
func keepAs[T any](store func(context.Context, Stores, domain.Scope, []T) ([]domain.Imported, error)) keeper {
	return func(ctx context.Context, s Stores, scope domain.Scope, entries []entry) ([]domain.Imported, error) {
		values := make([]T, len(entries))
		for i, e := range entries {
			values[i] = e.Value.(T)
		}
		answers, err := store(ctx, s, scope, values)
		if err == nil && len(answers) != len(entries) {
			err = errUnanswered
		}
		return answers, err
	}
}

// usage books records: a duplicate is unchanged, and what the ledger does not
// keep is a bad line.
func (s Stores) usage(ctx context.Context, scope domain.Scope, records []domain.UsageRecord) ([]domain.Imported, error) {
	results, err := s.Usage.Record(ctx, scope, records)
	if err != nil {
		return nil, err
	}
	answers := make([]domain.Imported, len(results))
	for i, result := range results {
		if answers[i].Outcome = booked[result.Status]; answers[i].Outcome == 0 {
			answers[i].Err = result.Err
		}
	}
	return answers, s.noteUsage(ctx, scope, answers)
}

// noteUsage records in the audit log how much usage came in; the ledger itself keeps
// each record with its source.
func (s Stores) noteUsage(ctx context.Context, scope domain.Scope, answers []domain.Imported) error {
	counts := map[domain.Outcome]int{}
	for _, a := range answers {
		counts[a.Outcome]++
	}
	created, quarantined := counts[domain.Created], counts[domain.Quarantined]
	if s.Audit == nil || created+quarantined == 0 {
		return nil
	}
	return s.Audit.Note(ctx, scope, domain.AuditEntry{
		Action: domain.AuditImport + "usage", SubjectType: "Company",
		Changes: []domain.AuditChange{
			domain.Became("created", strconv.Itoa(created)), domain.Became("quarantined", strconv.Itoa(quarantined)),
		},
	})
}

var booked = map[domain.UsageStatus]domain.Outcome{
	domain.UsageAccepted: domain.Created, domain.UsageDuplicate: domain.Unchanged, domain.UsageQuarantined: domain.Quarantined,
}
