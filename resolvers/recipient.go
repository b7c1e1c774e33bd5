package resolvers

import (
	"context"

	"simgraph/domain"
	"simgraph/graph/generated/input"
	"simgraph/graph/model"
)

func (q queryResolver) Recipient(ctx context.Context, by input.RecipientKey) (*domain.Recipient, error) {
	return lookUp[domain.Recipient](ctx, q, "Recipient", by.ID, by.RecipientID)
}

func (q queryResolver) Recipients(ctx context.Context, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.RecipientConnection, error) {
	listing, err := listingOf(domain.RecipientFields, first, after, last, before, filter, orderBy)
	if err != nil {
		return nil, err
	}
	return listed(ctx, listing, scopeOf, q.Ports.Recipients.List, q.Ports.Recipients.Count)
}

func (q queryResolver) RecipientList(ctx context.Context, limit, offset *int32) (*model.RecipientList, error) {
	page, err := offsetPage(limit, offset)
	if err != nil {
		return nil, err
	}
	return listedFrom(ctx, domain.Listing{Page: page}, q.Ports.Recipients.List, q.Ports.Recipients.Count)
}

func (m mutationResolver) CreateRecipient(ctx context.Context, in input.CreateRecipientInput) (*model.CreateRecipientPayload, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	if err := domain.CheckEmail("email", in.Email); err != nil {
		return nil, err
	}
	choice, err := m.choiceOf(ctx, scope, in.Scope)
	if err != nil {
		return nil, err
	}
	created, err := m.Ports.Recipients.Create(ctx, scope, in.Email, choice)
	return &model.CreateRecipientPayload{Recipient: created}, err
}

func (m mutationResolver) EditRecipient(ctx context.Context, in input.EditRecipientInput) (*model.EditRecipientPayload, error) {
	scope, err := scopeOfEdit(ctx, in.ExpectedVersion)
	if err != nil {
		return nil, err
	}
	edit := domain.RecipientEdit{Email: in.Email.Value()}
	if edit.Email != nil {
		if err := domain.CheckEmail("email", *edit.Email); err != nil {
			return nil, err
		}
	}
	if wanted := in.Scope.Value(); wanted != nil {
		choice, err := m.choiceOf(ctx, scope, wanted)
		if err != nil {
			return nil, err
		}
		edit.Choice = &choice
	}
	edited, err := m.Ports.Recipients.Edit(ctx, scope, int64(in.RecipientID), edit)
	return &model.EditRecipientPayload{Recipient: edited}, err
}

// choiceOf reads which alerts a recipient is notified of.
func (g *Graph) choiceOf(ctx context.Context, scope domain.Scope, in *input.RecipientScopeInput) (domain.Choice, error) {
	choice := domain.Choice{AlertIDs: widened(in.AlertIds.Value()), GroupIDs: widened(in.GroupIds.Value())}
	if err := mustSay(in.All, lengths{"alertIds": length(in.AlertIds), "groupIds": length(in.GroupIds)}); err != nil {
		return choice, err
	}
	if err := choice.Check(); err != nil {
		return choice, err
	}
	return choice, g.mustShow(ctx, scope, choice.AlertIDs, choice.GroupIDs)
}

func (m mutationResolver) RestoreRecipient(ctx context.Context, in input.RestoreRecipientInput) (*model.RestoreRecipientPayload, error) {
	return within(ctx, m.Ports.Recipients.Restore, int64(in.RecipientID))
}

func (m mutationResolver) DeleteRecipient(ctx context.Context, in input.DeleteRecipientInput) (*model.DeleteRecipientPayload, error) {
	removed, err := within(ctx, m.Ports.Recipients.Remove, int64(in.RecipientID))
	return &model.DeleteRecipientPayload{Recipient: removed}, err
}

func (m mutationResolver) SendTestAlert(ctx context.Context, in input.SendTestAlertInput) (*model.SendTestAlertPayload, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	if in.RecipientID.Value() == nil {
		if err := mustSay(in.All, lengths{"recipientId": -1}); err != nil {
			return nil, err
		}
	}
	var id *int64
	if recipient := in.RecipientID.Value(); recipient != nil {
		id = new(int64(*recipient))
	}
	mails, err := m.Ports.Recipients.SendTest(ctx, scope, id)
	return &model.SendTestAlertPayload{Mails: mails}, err
}

func (r recipientResolver) ID(_ context.Context, of *domain.Recipient) (string, error) {
	return globalID("Recipient", formatID(of.RecipientID)), nil
}

func (r recipientResolver) Mails(ctx context.Context, of *domain.Recipient, limit *int32) ([]*domain.Mail, error) {
	page, err := offsetPage(limit, nil)
	if err != nil {
		return nil, err
	}
	return items(mailsOfRecipient.with(ctx, of, page))
}

var _ = nodesByNumber("Recipient", func(g *Graph) finding[int64, *domain.Recipient] { return g.Ports.Recipients.FindMany })
