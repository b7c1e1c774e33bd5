package resolvers

import (
	"context"
	"time"

	"simgraph/domain"
	"simgraph/graph/generated/input"
	"simgraph/graph/model"
)

func (q queryResolver) Users(ctx context.Context, first *int32, after *string, last *int32, before *string) (*model.UserConnection, error) {
	page, err := connectionPage(first, after, last, before)
	if err != nil {
		return nil, err
	}
	return paged(ctx, page, wholeCompany("users"), q.Access.Users, q.Access.CountUsers)
}

func (q queryResolver) AccessKeys(ctx context.Context, first *int32, after *string, last *int32, before *string) (*model.AccessKeyConnection, error) {
	page, err := connectionPage(first, after, last, before)
	if err != nil {
		return nil, err
	}
	return paged(ctx, page, wholeCompany("access keys"), q.Access.Keys, q.Access.CountKeys)
}

// wholeCompany returns the caller's scope, or Forbidden when it is restricted
// to groups: what belongs to the company as a whole is not for it.
func wholeCompany(what string) func(context.Context) (domain.Scope, error) {
	return func(ctx context.Context) (domain.Scope, error) {
		scope, err := scopeOf(ctx)
		if err == nil && scope.Restricted() {
			err = domain.Forbidden("%s belong to the whole company, and this user is attached to groups", what)
		}
		return scope, err
	}
}

func (m mutationResolver) CreateAccessKey(ctx context.Context, in input.CreateAccessKeyInput) (*model.CreateAccessKeyPayload, error) {
	caller, err := domain.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	scope, err := wholeCompany("access keys")(ctx)
	if err != nil {
		return nil, err
	}
	scopes := in.Scopes.Value()
	if len(scopes) == 0 {
		scopes = caller.Permissions
	}
	if err := caller.Need(scopes...); err != nil {
		return nil, err
	}
	const day = 24 * time.Hour
	if in.LifetimeDays < 1 || in.LifetimeDays > int32(domain.MaxKeyLifetime/day) {
		return nil, domain.Invalid("lifetimeDays", "lifetimeDays must be 1 to %d, not %d", domain.MaxKeyLifetime/day, in.LifetimeDays)
	}
	key, secret, err := m.Access.CreateKey(ctx, scope, in.UserEmail, scopes, time.Duration(in.LifetimeDays)*day)
	if err != nil {
		return nil, err
	}
	return &model.CreateAccessKeyPayload{AccessKey: key, Secret: string(secret)}, nil
}

func (m mutationResolver) RevokeAccessKey(ctx context.Context, in input.RevokeAccessKeyInput) (*model.RevokeAccessKeyPayload, error) {
	scope, err := wholeCompany("access keys")(ctx)
	if err != nil {
		return nil, err
	}
	key, err := m.Access.RevokeKey(ctx, scope, in.AccessKeyID)
	if err != nil {
		return nil, err
	}
	return &model.RevokeAccessKeyPayload{AccessKey: key}, nil
}

func (u userResolver) Groups(ctx context.Context, of *domain.User) ([]*domain.Group, error) {
	return groupsOfUser.of(ctx, of)
}

func (u userResolver) ID(_ context.Context, of *domain.User) (string, error) {
	return globalID("User", of.Email), nil
}

func (k accessKeyResolver) ID(_ context.Context, of *domain.AccessKey) (string, error) {
	return globalID("AccessKey", of.AccessKeyID), nil
}
