package resolvers

import (
	"context"
	"time"

	"simgraph/domain"
	"simgraph/domain/document"
	"simgraph/domain/signin"
	"simgraph/graph/generated/input"
	"simgraph/graph/model"
)

func (q queryResolver) User(ctx context.Context, by input.UserKey) (*domain.User, error) {
	return lookUp[domain.User](ctx, q, "User", by.ID, by.Email)
}

func (q queryResolver) Users(ctx context.Context, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.UserConnection, error) {
	listing, err := listingOf(domain.UserFields, first, after, last, before, filter, orderBy)
	if err != nil {
		return nil, err
	}
	return listed(ctx, listing, wholeCompany("users"), q.Access.Users, q.Access.CountUsers)
}

func (q queryResolver) AccessKey(ctx context.Context, by input.AccessKeyKey) (*domain.AccessKey, error) {
	return lookUp[domain.AccessKey](ctx, q, "AccessKey", by.ID, by.AccessKeyID)
}

func (q queryResolver) AccessKeys(ctx context.Context, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.AccessKeyConnection, error) {
	listing, err := listingOf(domain.KeyFields, first, after, last, before, filter, orderBy)
	if err != nil {
		return nil, err
	}
	return listed(ctx, listing, wholeCompany("access keys"), q.Access.Keys, q.Access.CountKeys)
}

func (q queryResolver) TrustedDocument(ctx context.Context, by input.TrustedDocumentKey) (*document.Document, error) {
	return lookUp[document.Document](ctx, q, "TrustedDocument", by.ID, by.DocumentID)
}

func (q queryResolver) TrustedDocuments(ctx context.Context, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.TrustedDocumentConnection, error) {
	listing, err := listingOf(document.Fields, first, after, last, before, filter, orderBy)
	if err != nil {
		return nil, err
	}
	return listed(ctx, listing, wholeCompany("trusted documents"), q.Documents.List, q.Documents.Count)
}

func (d trustedDocumentResolver) ID(_ context.Context, of *document.Document) (string, error) {
	return globalID("TrustedDocument", of.DocumentID), nil
}

func (d trustedDocumentResolver) Problem(_ context.Context, of *document.Document) (*string, error) {
	problem := d.Documents.Runs(of)
	if problem == nil {
		return nil, nil
	}
	return new(problem.Error()), nil
}

const fieldCounts = "counts of field usage"

func (q queryResolver) FieldUsage(ctx context.Context, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.FieldUsageConnection, error) {
	listing, err := listingOf(domain.FieldUsageFields, first, after, last, before, filter, orderBy)
	if err != nil {
		return nil, err
	}
	return listed(ctx, listing, wholeCompany(fieldCounts), q.Ports.FieldUsage.List, q.Ports.FieldUsage.Count)
}

func (q queryResolver) FieldUsageTotals(ctx context.Context, first int32, filter map[string]any) ([]*domain.FieldUsageTotal, error) {
	scope, err := wholeCompany(fieldCounts)(ctx)
	if err != nil {
		return nil, err
	}
	if err := checkFirst(first); err != nil {
		return nil, err
	}
	counts, err := filterOf(filter, domain.FieldUsageFields)
	if err != nil {
		return nil, err
	}
	return q.Ports.FieldUsage.Totals(ctx, scope, counts, int(first))
}

func (f fieldUsageResolver) ID(_ context.Context, of *domain.FieldUsage) (string, error) {
	return globalID("FieldUsage", of.ID()), nil
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
	if err := mustSay(in.Scope.All, lengths{"permissions": length(in.Scope.Permissions)}); err != nil {
		return nil, err
	}
	scopes := in.Scope.Permissions.Value()
	if len(scopes) == 0 {
		scopes = caller.Permissions
	}
	if err := caller.Need(scopes...); err != nil {
		return nil, err
	}
	lifetime, err := keyLifetime(in.LifetimeDays)
	if err != nil {
		return nil, err
	}
	key, secret, err := m.Access.CreateKey(ctx, scope, domain.KeySpec{
		KeyLabel: domain.KeyLabel{Name: in.Name, Purpose: in.Purpose}, Email: in.UserEmail, Scopes: scopes, Lifetime: lifetime,
		DocumentsOnly: in.IsDocumentsOnly || caller.DocumentsOnly,
	})
	if err != nil {
		return nil, err
	}
	return &model.CreateAccessKeyPayload{AccessKey: key, Secret: string(secret)}, nil
}

func keyLifetime(days int32) (time.Duration, error) {
	const day = 24 * time.Hour
	if days < 1 || days > int32(domain.MaxKeyLifetime/day) {
		return 0, domain.Invalid("lifetimeDays", "lifetimeDays must be 1 to %d, not %d", domain.MaxKeyLifetime/day, days)
	}
	return time.Duration(days) * day, nil
}

func (m mutationResolver) EditAccessKey(ctx context.Context, in input.EditAccessKeyInput) (*model.EditAccessKeyPayload, error) {
	scope, err := wholeCompany("access keys")(ctx)
	if err != nil {
		return nil, err
	}
	scope.ExpectedVersion = in.ExpectedVersion.Value()
	limited := in.IsDocumentsOnly.Value()
	if limited != nil && !*limited {
		if err := unlimited(ctx); err != nil {
			return nil, err
		}
		if err := m.checkRights(ctx, scope, in.AccessKeyID); err != nil {
			return nil, err
		}
	}
	key, err := m.Access.EditKey(ctx, scope, in.AccessKeyID, domain.KeyEdit{Name: in.Name.Value(), Purpose: in.Purpose.Value(), DocumentsOnly: limited})
	if err != nil {
		return nil, err
	}
	return &model.EditAccessKeyPayload{AccessKey: key}, nil
}

// checkRights refuses callers who may not do all that a key may do. A key that is not there
// is for the store to refuse.
func (m mutationResolver) checkRights(ctx context.Context, scope domain.Scope, accessKeyID string) error {
	caller, err := domain.CallerOf(ctx)
	if err != nil {
		return err
	}
	found, err := m.Access.FindKeys(ctx, scope, []string{accessKeyID})
	key := found[accessKeyID]
	if err != nil || key == nil {
		return err
	}
	if err := caller.Need(key.Scopes...); err != nil || key.DocumentsOnly {
		return err
	}
	return unlimited(ctx)
}

// unlimited refuses callers that are limited to trusted documents what would give them more.
func unlimited(ctx context.Context) error {
	caller, err := domain.CallerOf(ctx)
	if err == nil && caller.DocumentsOnly {
		err = domain.Forbidden("this access key is limited to trusted documents")
	}
	return err
}

func (m mutationResolver) RotateAccessKey(ctx context.Context, in input.RotateAccessKeyInput) (*model.RotateAccessKeyPayload, error) {
	scope, err := wholeCompany("access keys")(ctx)
	if err != nil {
		return nil, err
	}
	lifetime, err := keyLifetime(in.LifetimeDays)
	if err != nil {
		return nil, err
	}
	if err := m.checkRights(ctx, scope, in.AccessKeyID); err != nil {
		return nil, err
	}
	old, made, secret, err := m.Access.RotateKey(ctx, scope, in.AccessKeyID, domain.KeyRotation{OldEndsAt: in.OldEndsAt, Lifetime: lifetime})
	if err != nil {
		return nil, err
	}
	return &model.RotateAccessKeyPayload{AccessKey: made, Secret: string(secret), Old: old}, nil
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

func (u userResolver) Groups(ctx context.Context, of *domain.User, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.GroupConnection, error) {
	listing, err := listingOf(domain.GroupFields, first, after, last, before, filter, orderBy)
	if err != nil {
		return nil, err
	}
	return partConnection(ctx, of, listing, groupsOfUser, groupTotalsByUser)
}

// callerOf returns the caller and an address as the ports take it, or the error of one
// that no user can have.
func callerOf(ctx context.Context, email string) (*domain.Caller, string, error) {
	caller, err := domain.CallerOf(ctx)
	if err != nil {
		return nil, "", err
	}
	if _, err := wholeCompany("users")(ctx); err != nil {
		return nil, "", err
	}
	address, err := domain.ParseEmail("userEmail", email)
	if err != nil {
		return nil, "", domain.NotFound("userEmail", "user", email)
	}
	return caller, address.String(), nil
}

func (m mutationResolver) InviteUser(ctx context.Context, in input.InviteUserInput) (*model.InviteUserPayload, error) {
	caller, email, err := callerOf(ctx, in.UserEmail)
	if err != nil {
		return nil, err
	}
	if err := unlimited(ctx); err != nil {
		return nil, err
	}
	made, err := m.Accounts.Invite(ctx, caller, email)
	if err != nil {
		return nil, err
	}
	payload := &model.InviteUserPayload{User: made.User, IsMailed: made.Code == ""}
	if made.Code != "" {
		code := string(made.Code)
		payload.LinkCode = &code
	}
	return payload, nil
}

func (m mutationResolver) WithdrawInvitation(ctx context.Context, in input.WithdrawInvitationInput) (*model.WithdrawInvitationPayload, error) {
	caller, email, err := callerOf(ctx, in.UserEmail)
	if err != nil {
		return nil, err
	}
	user, err := m.Accounts.Withdraw(ctx, caller, email)
	return &model.WithdrawInvitationPayload{User: user}, err
}

func (m mutationResolver) EndUserSessions(ctx context.Context, in input.EndUserSessionsInput) (*model.EndUserSessionsPayload, error) {
	caller, email, err := callerOf(ctx, in.UserEmail)
	if err != nil {
		return nil, err
	}
	id, set := in.SessionID.ValueOK()
	if set && (id == nil || *id == "") {
		return nil, domain.Invalid("sessionId", "sessionId must name a session; leave it out to end all of the user")
	}
	if id == nil {
		id = new(string)
	}
	user, ended, err := m.Accounts.EndSessions(ctx, caller, email, *id)
	return &model.EndUserSessionsPayload{User: user, Ended: ended}, err
}

func (m mutationResolver) DeleteUser(ctx context.Context, in input.DeleteUserInput) (*model.DeleteUserPayload, error) {
	caller, email, err := callerOf(ctx, in.UserEmail)
	if err != nil {
		return nil, err
	}
	removed, err := m.Ports.Users.RemoveUser(ctx, caller, email)
	return &model.DeleteUserPayload{User: removed}, err
}

func (u userResolver) Sessions(ctx context.Context, of *domain.User) ([]*signin.Session, error) {
	return items(sessionsOfUser.of(ctx, of))
}

func (s userSessionResolver) Address(_ context.Context, of *signin.Session) (*string, error) {
	if of.Address == "" {
		return nil, nil
	}
	return &of.Address, nil
}

func (s userSessionResolver) IsCurrent(ctx context.Context, of *signin.Session) (bool, error) {
	caller, err := domain.CallerOf(ctx)
	return err == nil && caller.Credential == of.ID, err
}

func (u userResolver) ID(_ context.Context, of *domain.User) (string, error) {
	return globalID("User", of.Email), nil
}

func (k accessKeyResolver) ID(_ context.Context, of *domain.AccessKey) (string, error) {
	return globalID("AccessKey", of.AccessKeyID), nil
}

var _ = nodesByText("TrustedDocument", func(g *Graph) finding[string, *document.Document] { return g.Documents.FindMany })

var _ = nodesByText("FieldUsage", func(g *Graph) finding[string, *domain.FieldUsage] { return g.Ports.FieldUsage.FindMany })
