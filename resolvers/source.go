package resolvers

import (
	"context"

	"simgraph/domain"
	sources "simgraph/domain/source"
	"simgraph/graph/generated/input"
	"simgraph/graph/model"
)

func (q queryResolver) Source(ctx context.Context, by input.SourceKey) (*sources.Source, error) {
	return lookUp[sources.Source](ctx, q, "Source", by.ID, by.Name)
}

func (q queryResolver) Sources(ctx context.Context, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.SourceConnection, error) {
	listing, err := listingOf(sources.ListFields, first, after, last, before, filter, orderBy)
	if err != nil {
		return nil, err
	}
	return listed(ctx, listing, scopeOf, q.Ports.Sources.List, q.Ports.Sources.Count)
}

func (q queryResolver) SourceRejects(ctx context.Context, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.SourceRejectConnection, error) {
	listing, err := listingOf(sources.RejectFields, first, after, last, before, filter, orderBy)
	if err != nil {
		return nil, err
	}
	return listed(ctx, listing, scopeOf, q.Ports.Sources.Rejects, q.Ports.Sources.CountRejects)
}

func (q queryResolver) SourceProfiles(ctx context.Context) ([]*sources.Profile, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	return q.Ports.Sources.Profiles(ctx, scope)
}

func (q queryResolver) SourceProfileVersions(ctx context.Context, profileName string) ([]*sources.Profile, error) {
	return within(ctx, q.Ports.Sources.ProfileVersions, profileName)
}

func (q queryResolver) SourceProfile(ctx context.Context, name string) (*sources.Profile, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	return orNull(q.Ports.Sources.Profile(ctx, scope, name))
}

func (q queryResolver) PreviewSourceProfile(ctx context.Context, by input.SourceProfileChoice, sample string) ([]*sources.Previewed, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	if profile := by.Profile.Value(); profile != nil {
		return q.Intake.Preview(ctx, scope, profileOf(*profile), sample)
	}
	found, err := q.Ports.Sources.Profile(ctx, scope, *by.Name.Value())
	if err != nil {
		return nil, err
	}
	return q.Intake.Preview(ctx, scope, *found, sample)
}

func profileOf(in input.SourceProfileInput) sources.Profile {
	return sources.Profile{
		Name: in.Name, Description: in.Description, Format: in.Format, Records: in.Records, Delimiter: in.Delimiter, Skip: in.Skip,
		Counters: in.Counters, Unit: in.Unit, Direction: in.Direction, TimeZone: in.TimeZone, DateFormats: in.DateFormats,
		Fields: each(in.Fields, func(f *input.SourceFieldExpressionInput) sources.FieldExpression {
			return sources.FieldExpression{Field: f.Field, Expression: f.Expression}
		}),
	}
}

func (m mutationResolver) SetSourceProfile(ctx context.Context, in input.SetSourceProfileInput) (*model.SetSourceProfilePayload, error) {
	saved, err := within(ctx, m.Ports.Sources.SaveProfile, profileOf(*in.Profile))
	return &model.SetSourceProfilePayload{Profile: saved}, domain.Within("profile", err)
}

func (m mutationResolver) DeleteSourceProfile(ctx context.Context, in input.DeleteSourceProfileInput) (*model.DeleteSourceProfilePayload, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	err = m.Ports.Sources.RemoveProfile(ctx, scope, in.ProfileName)
	return &model.DeleteSourceProfilePayload{ProfileName: in.ProfileName}, err
}

func (m mutationResolver) CreateSource(ctx context.Context, in input.CreateSourceInput) (*model.CreateSourcePayload, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	spec := sources.Spec{Name: in.Name, Profile: in.ProfileName, Authentication: in.Authentication}
	if header := in.SignatureHeader.Value(); header != nil {
		spec.SignatureHeader = *header
	}
	created, secret, err := m.Ports.Sources.Create(ctx, scope, spec)
	return &model.CreateSourcePayload{Source: created, Secret: string(secret)}, err
}

func (m mutationResolver) EditSource(ctx context.Context, in input.EditSourceInput) (*model.EditSourcePayload, error) {
	scope, err := scopeOfEdit(ctx, in.ExpectedVersion)
	if err != nil {
		return nil, err
	}
	edited, err := m.Ports.Sources.Edit(ctx, scope, in.SourceName, sources.Edit{
		Profile: in.ProfileName.Value(), Authentication: in.Authentication.Value(), SignatureHeader: in.SignatureHeader.Value(),
	})
	return &model.EditSourcePayload{Source: edited}, err
}

func (m mutationResolver) RotateSourceSecret(ctx context.Context, in input.RotateSourceSecretInput) (*model.RotateSourceSecretPayload, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	rotated, secret, err := m.Ports.Sources.Rotate(ctx, scope, in.SourceName)
	return &model.RotateSourceSecretPayload{Source: rotated, Secret: string(secret)}, err
}

func (m mutationResolver) PauseSource(ctx context.Context, in input.PauseSourceInput) (*model.PauseSourcePayload, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	paused, err := m.Ports.Sources.Switch(ctx, scope, in.SourceName, true)
	return &model.PauseSourcePayload{Source: paused}, err
}

func (m mutationResolver) ResumeSource(ctx context.Context, in input.ResumeSourceInput) (*model.ResumeSourcePayload, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	resumed, err := m.Ports.Sources.Switch(ctx, scope, in.SourceName, false)
	return &model.ResumeSourcePayload{Source: resumed}, err
}

func (m mutationResolver) DeleteSource(ctx context.Context, in input.DeleteSourceInput) (*model.DeleteSourcePayload, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	err = m.Ports.Sources.Remove(ctx, scope, in.SourceName)
	return &model.DeleteSourcePayload{SourceName: in.SourceName}, err
}

func (m mutationResolver) ReplaySourceRejects(ctx context.Context, in input.ReplaySourceRejectsInput) (*model.ReplaySourceRejectsPayload, error) {
	counts, err := within(ctx, m.Intake.Replay, in.SourceName)
	return &model.ReplaySourceRejectsPayload{Counts: &counts}, err
}

func (s sourceResolver) ID(_ context.Context, of *sources.Source) (string, error) {
	return globalID("Source", of.Name), nil
}

func (s sourceRejectResolver) ID(_ context.Context, of *sources.Reject) (string, error) {
	return globalID("SourceReject", of.ID()), nil
}

var _ = nodesByText("Source", func(g *Graph) finding[string, *sources.Source] { return g.Ports.Sources.FindMany })

var _ = nodesByText("SourceReject", func(g *Graph) finding[string, *sources.Reject] { return g.Ports.Sources.FindRejects })
