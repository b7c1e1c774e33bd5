package resolvers

import (
	"context"

	"simgraph/domain"
	"simgraph/graph/generated/input"
	"simgraph/graph/model"
)

func (q queryResolver) Recipients(ctx context.Context, first *int32, after *string, last *int32, before *string) (*model.RecipientConnection, error) {
	page, err := connectionPage(first, after, last, before)
	if err != nil {
		return nil, err
	}
	slice, total, err := q.listRecipients(ctx, page)
	if err != nil {
		return nil, err
	}
	return connection(slice, total), nil
}

func (q queryResolver) RecipientList(ctx context.Context, limit, offset *int32) (*model.RecipientList, error) {
	page, err := offsetPage(limit, offset)
	if err != nil {
		return nil, err
	}
	slice, total, err := q.listRecipients(ctx, page)
	if err != nil {
		return nil, err
	}
	return list(slice, total), nil
}

func (g *Graph) listRecipients(ctx context.Context, page domain.Page) (domain.Slice[*domain.Recipient], func(context.Context) (int, error), error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return domain.Slice[*domain.Recipient]{}, nil, err
	}
	slice, err := g.Ports.Recipients.List(ctx, scope, page)
	total := func(ctx context.Context) (int, error) { return g.Ports.Recipients.Count(ctx, scope) }
	return slice, total, err
}

func (m mutationResolver) CreateRecipient(ctx context.Context, in input.CreateRecipientInput) (*model.CreateRecipientPayload, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	created, err := m.Ports.Recipients.Create(ctx, scope, in.Email)
	return &model.CreateRecipientPayload{Recipient: created}, err
}

func (m mutationResolver) EditRecipient(ctx context.Context, in input.EditRecipientInput) (*model.EditRecipientPayload, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	edited, err := m.Ports.Recipients.Edit(ctx, scope, int64(in.RecipientID), in.Email)
	return &model.EditRecipientPayload{Recipient: edited}, err
}

func (m mutationResolver) ChooseRecipientAlerts(ctx context.Context, in input.ChooseRecipientAlertsInput) (*model.ChooseRecipientAlertsPayload, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	choice := domain.Choice{AlertIDs: widened(in.AlertIds.Value()), GroupIDs: widened(in.GroupIds.Value())}
	if err := m.mustShow(ctx, scope, choice.AlertIDs, choice.GroupIDs); err != nil {
		return nil, err
	}
	chosen, err := m.Ports.Recipients.Choose(ctx, scope, int64(in.RecipientID), choice)
	return &model.ChooseRecipientAlertsPayload{Recipient: chosen}, err
}

func (m mutationResolver) RestoreRecipient(ctx context.Context, in input.RestoreRecipientInput) (*model.RestoreRecipientPayload, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	return m.Ports.Recipients.Restore(ctx, scope, int64(in.RecipientID))
}

func (m mutationResolver) DeleteRecipient(ctx context.Context, in input.DeleteRecipientInput) (*model.DeleteRecipientPayload, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	removed, err := m.Ports.Recipients.Remove(ctx, scope, int64(in.RecipientID))
	return &model.DeleteRecipientPayload{Recipient: removed}, err
}

func (m mutationResolver) SendTestAlert(ctx context.Context, in input.SendTestAlertInput) (*model.SendTestAlertPayload, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
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
