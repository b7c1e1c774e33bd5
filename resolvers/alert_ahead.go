package resolvers

import (
	"context"
	"slices"

	"simgraph/domain"
)

// aheadOfWatching loads where the subscribers stand against alerts, unless the
// caller will be refused that.
func (l *loaders) aheadOfWatching(ctx context.Context, s selection, of []*domain.Subscriber) {
	below := s.below("alerts")
	if below.empty() || !mayMonitor(ctx) {
		return
	}
	states := slices.Concat(l.watching.aheadValues(ctx, subscriberKeys(of))...)
	l.aheadOfAlerts(ctx, below.below("alert"), each(states, func(s *domain.AlertState) *domain.Alert { return s.Alert }))
}

// aheadOfGroupAlerts loads the alerts of the groups in the same way.
func (l *loaders) aheadOfGroupAlerts(ctx context.Context, s selection, groups []int64) {
	below := s.below("alerts")
	if below.empty() || !mayMonitor(ctx) {
		return
	}
	l.aheadOfAlerts(ctx, below, slices.Concat(l.groupAlerts.aheadValues(ctx, groups)...))
}

func mayMonitor(ctx context.Context) bool {
	caller, err := domain.CallerOf(ctx)
	return err == nil && caller.May(monitoring...)
}
