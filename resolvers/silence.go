package resolvers

import (
	"context"
	"time"

	"simgraph/domain"
	"simgraph/domain/silence"
	"simgraph/graph/generated/input"
	"simgraph/graph/model"
)

func (q queryResolver) Silence(ctx context.Context, by input.SilenceKey) (*silence.Silence, error) {
	return lookUp[silence.Silence](ctx, q, "Silence", by.ID, by.SilenceID)
}

func (q queryResolver) Silences(ctx context.Context, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.SilenceConnection, error) {
	listing, err := listingOf(silence.Fields, first, after, last, before, filter, orderBy)
	if err != nil {
		return nil, err
	}
	return listed(ctx, listing, scopeOf, q.Ports.Silences.List, q.Ports.Silences.Count)
}

func (m mutationResolver) CreateSilence(ctx context.Context, in input.CreateSilenceInput) (*model.CreateSilencePayload, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	spec := silence.Spec{Reason: in.Reason, EndsAt: in.EndsAt.UTC()}
	if start := in.StartsAt.Value(); start != nil {
		spec.StartsAt = start.UTC()
	}
	if spec.Weekly, err = windowsOf(in.Times.Value()); err != nil {
		return nil, err
	}
	if spec.Matcher, err = matcherOf(in.Scope); err != nil {
		return nil, err
	}
	now := m.now()
	spec.Begin(now)
	if err := spec.Check(now); err != nil {
		return nil, err
	}
	if err := m.mustMatch(ctx, scope, spec.Matcher); err != nil {
		return nil, err
	}
	created, err := m.Ports.Silences.Create(ctx, scope, spec)
	return &model.CreateSilencePayload{Silence: created}, err
}

func (m mutationResolver) EditSilence(ctx context.Context, in input.EditSilenceInput) (*model.EditSilencePayload, error) {
	scope, err := scopeOfEdit(ctx, in.ExpectedVersion)
	if err != nil {
		return nil, err
	}
	edit := silence.Edit{Reason: in.Reason.Value(), EndsAt: in.EndsAt.Value()}
	if times := in.Times.Value(); times != nil {
		windows, err := windowsOf(times)
		if err != nil {
			return nil, err
		}
		edit.Weekly = &windows
	}
	if wanted := in.Scope.Value(); wanted != nil {
		matcher, err := matcherOf(wanted)
		if err != nil {
			return nil, err
		}
		edit.Matcher = &matcher
	}
	if err := edit.Check(m.now()); err != nil {
		return nil, err
	}
	if edit.Matcher != nil {
		if err := m.mustMatch(ctx, scope, *edit.Matcher); err != nil {
			return nil, err
		}
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
	for i, id := range of.PhysicalIDs {
		if found[id] == nil {
			return domain.At(domain.Item("physicalIds", i), domain.NotFound("", "subscriber", id))
		}
	}
	return nil
}

// matcherOf reads what a silence silences.
func matcherOf(in *input.SilenceScopeInput) (silence.Matcher, error) {
	of := silence.Matcher{
		AlertIDs: widened(in.AlertIds.Value()), GroupIDs: widened(in.GroupIds.Value()), TagNames: in.TagNames.Value(), PhysicalIDs: in.PhysicalIds.Value(),
	}
	return of, mustSay(in.All, lengths{"alertIds": length(in.AlertIds), "groupIds": length(in.GroupIds), "tagNames": length(in.TagNames), "physicalIds": length(in.PhysicalIds)})
}

// windowsOf reads the windows of a week; none for all times.
func windowsOf(in *input.SilenceTimesInput) (windows []silence.Window, err error) {
	if in == nil {
		return nil, nil
	}
	if err := mustSay(in.All, lengths{"weekly": length(in.Weekly)}); err != nil {
		return nil, err
	}
	windows = make([]silence.Window, len(in.Weekly.Value()))
	for i, w := range in.Weekly.Value() {
		if windows[i], err = silence.NewWindow(w.Weekday, w.From, w.Until); err != nil {
			return nil, domain.Within(domain.Item("weekly", i), err)
		}
	}
	return windows, nil
}

func (m mutationResolver) EndSilence(ctx context.Context, in input.EndSilenceInput) (*model.EndSilencePayload, error) {
	ended, err := within(ctx, m.Ports.Silences.End, int64(in.SilenceID))
	return &model.EndSilencePayload{Silence: ended}, err
}

func (s silenceResolver) ID(_ context.Context, of *silence.Silence) (string, error) {
	return globalID("Silence", formatID(of.SilenceID)), nil
}

func (s silenceResolver) IsActive(_ context.Context, of *silence.Silence) (bool, error) {
	return of.Covers(s.now()), nil
}

func (s silenceResolver) IsEnded(_ context.Context, of *silence.Silence) (bool, error) {
	return !of.EndsAt.After(s.now()), nil
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

var _ = nodesByNumber("Silence", func(g *Graph) finding[int64, *silence.Silence] { return g.Ports.Silences.FindMany })
