package resolvers

import (
	"context"
	"time"

	"simgraph/domain"
	"simgraph/domain/silence"
	"simgraph/graph/generated/input"
	"simgraph/graph/model"
)

func (q queryResolver) Silences(ctx context.Context, ended *bool, first *int32, after *string, last *int32, before *string) (*model.SilenceConnection, error) {
	page, err := connectionPage(first, after, last, before)
	if err != nil {
		return nil, err
	}
	list := func(ctx context.Context, scope domain.Scope, page domain.Page) (domain.Slice[*silence.Silence], error) {
		return q.Ports.Silences.List(ctx, scope, ended, page)
	}
	count := func(ctx context.Context, scope domain.Scope) (int, error) {
		return q.Ports.Silences.Count(ctx, scope, ended)
	}
	return paged(ctx, page, scopeOf, list, count)
}

func (m mutationResolver) CreateSilence(ctx context.Context, in input.CreateSilenceInput) (*model.CreateSilencePayload, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	spec := silence.Spec{Reason: in.Reason, EndsAt: in.EndsAt.UTC(), Matcher: silence.Matcher{
		AlertIDs: widened(in.AlertIds.Value()), GroupIDs: widened(in.GroupIds.Value()), TagNames: in.TagNames.Value(), PhysicalIDs: in.PhysicalIds.Value(),
	}}
	if start := in.StartsAt.Value(); start != nil {
		spec.StartsAt = start.UTC()
	}
	if spec.Weekly, err = windowsOf(in.Weekly.Value()); err != nil {
		return nil, err
	}
	if err := m.mustMatch(ctx, scope, spec.Matcher); err != nil {
		return nil, err
	}
	created, err := m.Ports.Silences.Create(ctx, scope, spec)
	return &model.CreateSilencePayload{Silence: created}, err
}

func (m mutationResolver) EditSilence(ctx context.Context, in input.EditSilenceInput) (*model.EditSilencePayload, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	edit := silence.Edit{Reason: in.Reason.Value(), EndsAt: in.EndsAt.Value()}
	if in.Weekly.Value() != nil {
		windows, err := windowsOf(in.Weekly.Value())
		if err != nil {
			return nil, err
		}
		edit.Weekly = &windows
	}
	if in.AlertIds.Value() != nil {
		edit.AlertIDs = new(widened(in.AlertIds.Value()))
	}
	if in.GroupIds.Value() != nil {
		edit.GroupIDs = new(widened(in.GroupIds.Value()))
	}
	if in.TagNames.Value() != nil {
		edit.TagNames = new(in.TagNames.Value())
	}
	if in.PhysicalIds.Value() != nil {
		edit.PhysicalIDs = new(in.PhysicalIds.Value())
	}
	if err := m.mustMatch(ctx, scope, edit.Apply(silence.Spec{}).Matcher); err != nil {
		return nil, err
	}
	edited, err := m.Ports.Silences.Edit(ctx, scope, int64(in.SilenceID), edit)
	return &model.EditSilencePayload{Silence: edited}, err
}

// mustMatch returns NotFound for the first alert, group or subscriber of the matcher that
// the scope does not show.
func (g *Graph) mustMatch(ctx context.Context, scope domain.Scope, of silence.Matcher) error {
	if err := g.mustShow(ctx, scope, of.AlertIDs, of.GroupIDs); err != nil || len(of.PhysicalIDs) == 0 || len(of.PhysicalIDs) > silence.MaxMatches {
		return err
	}
	found, err := g.Ports.Subscribers.FindMany(ctx, scope, of.PhysicalIDs, domain.Projection{})
	if err != nil {
		return err
	}
	for _, id := range of.PhysicalIDs {
		if found[id] == nil {
			return domain.NotFound("physicalIds", "subscriber", id)
		}
	}
	return nil
}

func windowsOf(in []*input.SilenceWindowInput) (windows []silence.Window, err error) {
	windows = make([]silence.Window, len(in))
	for i, w := range in {
		if windows[i], err = silence.NewWindow(w.Weekday, w.From, w.Until); err != nil {
			return nil, err
		}
	}
	return windows, nil
}

func (m mutationResolver) EndSilence(ctx context.Context, in input.EndSilenceInput) (*model.EndSilencePayload, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	ended, err := m.Ports.Silences.End(ctx, scope, int64(in.SilenceID))
	return &model.EndSilencePayload{Silence: ended}, err
}

func (s silenceResolver) ID(_ context.Context, of *silence.Silence) (string, error) {
	return globalID("Silence", formatID(of.SilenceID)), nil
}

func (s silenceResolver) IsActive(_ context.Context, of *silence.Silence) (bool, error) {
	return of.Covers(s.now()), nil
}

func (s silenceResolver) Occurrences(_ context.Context, of *silence.Silence, from, until *time.Time) ([]*domain.Period, error) {
	start := s.now()
	if from != nil {
		start = *from
	}
	end := start.AddDate(0, 0, 7)
	if until != nil {
		end = *until
	}
	if end.Sub(start) > silence.MaxOccurrenceSpan {
		return nil, domain.Invalid("until", "occurrences are of at most %d days", int(silence.MaxOccurrenceSpan.Hours())/24)
	}
	return each(of.Occurrences(start, end), func(p domain.Period) *domain.Period { return &p }), nil
}

func (g *Graph) silenceNodes(ctx context.Context, scope domain.Scope, ids []string) (map[string]model.Node, error) {
	found, err := g.Ports.Silences.FindMany(ctx, scope, numbers(ids))
	return asNodes(found, formatID), err
}
