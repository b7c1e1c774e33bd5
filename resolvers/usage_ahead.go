package resolvers

import (
	"context"
	"time"

	"github.com/vektah/gqlparser/v2/ast"

	"simgraph/domain"
)

// aheadOfUsage loads the selected totals of usage of all the subjects, unless
// the caller will be refused them.
func (l *loaders) aheadOfUsage(ctx context.Context, s selection, of []domain.Subject) {
	caller, err := domain.CallerOf(ctx)
	if err != nil || len(of) == 0 || !caller.May(domain.ViewStatisticsOverview) {
		return
	}
	for _, field := range s.fields("usage") {
		args := field.ArgumentMap(s.op.Variables)
		usage, err := l.graph.usageIn(ctx, of[0], timeArgument(args["start"]), timeArgument(args["end"]))
		below := selection{s.op, []ast.SelectionSet{field.Selections}}
		if err != nil || !below.has("totals") {
			continue
		}
		alike := newUsageKey(usage)
		l.usageTotals.ahead(ctx, each(of, alike.on))
	}
}

// timeArgument returns nil for what the field itself refuses.
func timeArgument(value any) *time.Time {
	text, _ := value.(string)
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return nil
	}
	return &t
}

func subjects[T any](kind domain.SubjectKind, of []T, id func(T) int64) []domain.Subject {
	return each(of, func(item T) domain.Subject { return domain.Subject{Kind: kind, ID: id(item)} })
}
