package resolvers

import (
	"context"

	"simgraph/domain/upstream"
	"simgraph/graph/generated/input"
	"simgraph/graph/model"
)

func (q queryResolver) Upstream(ctx context.Context, by input.UpstreamKey) (*upstream.Upstream, error) {
	return lookUp[upstream.Upstream](ctx, q, "Upstream", by.ID, by.UpstreamID)
}

func (q queryResolver) Upstreams(ctx context.Context, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.UpstreamConnection, error) {
	listing, err := listingOf(upstream.Fields, first, after, last, before, filter, orderBy)
	if err != nil {
		return nil, err
	}
	return listed(ctx, listing, scopeOf, q.Ports.Upstreams.List, q.Ports.Upstreams.Count)
}

func (m mutationResolver) CreateUpstream(ctx context.Context, in input.CreateUpstreamInput) (*model.CreateUpstreamPayload, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	key, err := upstream.ParseKey(in.Key)
	if err != nil {
		return nil, err
	}
	spec := upstream.Spec{Name: in.Name, BaseURL: in.BaseURL, Labels: in.NicknamesAndTags, Days: int(in.Days), Currency: in.Currency, IsCopyingAlerts: in.IsCopyingAlerts}
	if source := in.SourceName.Value(); source != nil {
		spec.SourceName = *source
	}
	if copies := in.IsCopyingRecipients.Value(); copies != nil {
		spec.IsCopyingRecipients = *copies
	}
	created, err := m.Ports.Upstreams.Create(ctx, scope, spec, key)
	return &model.CreateUpstreamPayload{Upstream: created}, err
}

func (m mutationResolver) EditUpstream(ctx context.Context, in input.EditUpstreamInput) (*model.EditUpstreamPayload, error) {
	scope, err := scopeOfEdit(ctx, in.ExpectedVersion)
	if err != nil {
		return nil, err
	}
	edit := upstream.Edit{
		Name: in.Name.Value(), BaseURL: in.BaseURL.Value(), Labels: in.NicknamesAndTags.Value(), Currency: in.Currency.Value(),
		IsCopyingAlerts: in.IsCopyingAlerts.Value(), IsCopyingRecipients: in.IsCopyingRecipients.Value(),
	}
	if days := in.Days.Value(); days != nil {
		edit.Days = new(int(*days))
	}
	if text := in.Key.Value(); text != nil {
		key, err := upstream.ParseKey(*text)
		if err != nil {
			return nil, err
		}
		edit.Key = &key
	}
	edited, err := m.Ports.Upstreams.Edit(ctx, scope, int64(in.UpstreamID), edit)
	return &model.EditUpstreamPayload{Upstream: edited}, err
}

func (m mutationResolver) PauseUpstream(ctx context.Context, in input.PauseUpstreamInput) (*model.PauseUpstreamPayload, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	paused, err := m.Ports.Upstreams.Switch(ctx, scope, int64(in.UpstreamID), true)
	return &model.PauseUpstreamPayload{Upstream: paused}, err
}

func (m mutationResolver) ResumeUpstream(ctx context.Context, in input.ResumeUpstreamInput) (*model.ResumeUpstreamPayload, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	resumed, err := m.Ports.Upstreams.Switch(ctx, scope, int64(in.UpstreamID), false)
	return &model.ResumeUpstreamPayload{Upstream: resumed}, err
}

func (m mutationResolver) SyncUpstream(ctx context.Context, in input.SyncUpstreamInput) (*model.SyncUpstreamPayload, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	due, err := m.Ports.Upstreams.Request(ctx, scope, int64(in.UpstreamID), in.Sweep)
	return &model.SyncUpstreamPayload{Upstream: due}, err
}

func (m mutationResolver) ConfirmUpstreamRemovals(ctx context.Context, in input.ConfirmUpstreamRemovalsInput) (*model.ConfirmUpstreamRemovalsPayload, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	confirmed, err := m.Ports.Upstreams.ConfirmRemovals(ctx, scope, int64(in.UpstreamID), in.Subscribers)
	return &model.ConfirmUpstreamRemovalsPayload{Upstream: confirmed}, err
}

func (m mutationResolver) DeleteUpstream(ctx context.Context, in input.DeleteUpstreamInput) (*model.DeleteUpstreamPayload, error) {
	removed, err := within(ctx, m.Ports.Upstreams.Remove, int64(in.UpstreamID))
	return &model.DeleteUpstreamPayload{Upstream: removed}, err
}

func (u upstreamResolver) ID(_ context.Context, of *upstream.Upstream) (string, error) {
	return globalID("Upstream", formatID(of.UpstreamID)), nil
}

var _ = nodesByNumber("Upstream", func(g *Graph) finding[int64, *upstream.Upstream] { return g.Ports.Upstreams.FindMany })
