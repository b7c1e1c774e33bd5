package bundle

import (
	"context"
	"errors"
	"strconv"

	"simgraph/domain"
)

var errUnanswered = errors.New("a store did not answer for every line")

type keeper func(context.Context, Stores, domain.Scope, []entry) ([]domain.Imported, error)

// keeping is how a store keeps what its lines hold.
type keeping[T any] = func(context.Context, domain.Scope, []T) ([]domain.Imported, error)

// keeps gives a store the values of its type.
func keeps[T any](store func(Stores) keeping[T]) keeper {
	return func(ctx context.Context, s Stores, scope domain.Scope, entries []entry) ([]domain.Imported, error) {
		values := make([]T, len(entries))
		for i, e := range entries {
			values[i] = e.Value.(T)
		}
		answers, err := store(s)(ctx, scope, values)
		if err == nil && len(answers) != len(entries) {
			err = errUnanswered
		}
		return answers, err
	}
}

// byActor keeps what belongs to no company.
func byActor[T any](keep func(context.Context, *domain.Actor, []T) ([]domain.Imported, error)) keeping[T] {
	return func(ctx context.Context, scope domain.Scope, values []T) ([]domain.Imported, error) {
		return keep(ctx, scope.Actor, values)
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
