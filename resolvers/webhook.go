package resolvers

import (
	"context"

	"simgraph/domain"
	"simgraph/domain/webhook"
	"simgraph/graph/generated/input"
	"simgraph/graph/model"
)

func (q queryResolver) Webhook(ctx context.Context, by input.WebhookKey) (*webhook.Endpoint, error) {
	return lookUp[webhook.Endpoint](ctx, q, "Webhook", by.ID, by.WebhookID)
}

func (q queryResolver) Webhooks(ctx context.Context, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.WebhookConnection, error) {
	listing, err := listingOf(webhook.Fields, first, after, last, before, filter, orderBy)
	if err != nil {
		return nil, err
	}
	return listed(ctx, listing, scopeOf, q.Ports.Webhooks.List, q.Ports.Webhooks.Count)
}

func (q queryResolver) WebhookDeliveries(ctx context.Context, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.WebhookDeliveryConnection, error) {
	listing, err := listingOf(webhook.DeliveryFields, first, after, last, before, filter, orderBy)
	if err != nil {
		return nil, err
	}
	return listed(ctx, listing, scopeOf, q.Ports.Webhooks.Deliveries, q.Ports.Webhooks.CountDeliveries)
}

func (m mutationResolver) CreateWebhook(ctx context.Context, in input.CreateWebhookInput) (*model.CreateWebhookPayload, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	filter, err := filterIn(in.Scope)
	if err != nil {
		return nil, err
	}
	filter.EventTypes = in.EventTypes
	spec := webhook.Spec{Name: in.Name, URL: in.URL, Format: in.Format, Filter: filter}
	err = m.mustTake(ctx, scope, webhook.Edit{
		Name: &spec.Name, URL: &spec.URL, Format: &spec.Format, EventTypes: &filter.EventTypes, AlertIDs: &filter.AlertIDs, GroupIDs: &filter.GroupIDs, TagNames: &filter.TagNames,
	})
	if err != nil {
		return nil, err
	}
	created, secret, err := m.Ports.Webhooks.Create(ctx, scope, spec)
	return &model.CreateWebhookPayload{Webhook: created, Secret: secret.String()}, err
}

func (m mutationResolver) EditWebhook(ctx context.Context, in input.EditWebhookInput) (*model.EditWebhookPayload, error) {
	scope, err := scopeOfEdit(ctx, in.ExpectedVersion)
	if err != nil {
		return nil, err
	}
	edit := webhook.Edit{Name: in.Name.Value(), URL: in.URL.Value(), Format: in.Format.Value()}
	if in.EventTypes.Value() != nil {
		edit.EventTypes = new(in.EventTypes.Value())
	}
	if wanted := in.Scope.Value(); wanted != nil {
		filter, err := filterIn(wanted)
		if err != nil {
			return nil, err
		}
		edit.AlertIDs, edit.GroupIDs, edit.TagNames = &filter.AlertIDs, &filter.GroupIDs, &filter.TagNames
	}
	if err := m.mustTake(ctx, scope, edit); err != nil {
		return nil, err
	}
	edited, err := m.Ports.Webhooks.Edit(ctx, scope, int64(in.WebhookID), edit)
	return &model.EditWebhookPayload{Webhook: edited}, err
}

// filterIn reads what the events of a webhook are about.
func filterIn(in *input.WebhookScopeInput) (webhook.Filter, error) {
	filter := webhook.Filter{AlertIDs: widened(in.AlertIds.Value()), GroupIDs: widened(in.GroupIds.Value()), TagNames: in.TagNames.Value()}
	return filter, mustSay(in.All, lengths{"alertIds": length(in.AlertIds), "groupIds": length(in.GroupIds), "tagNames": length(in.TagNames)})
}

// mustTake refuses an edit that no webhook can take, and then one that names an alert or a
// group that the scope does not show.
func (g *Graph) mustTake(ctx context.Context, scope domain.Scope, edit webhook.Edit) error {
	if err := g.Ports.Webhooks.Check(edit); err != nil || edit.AlertIDs == nil {
		return err
	}
	return g.mustShow(ctx, scope, *edit.AlertIDs, *edit.GroupIDs)
}

// mustShow returns NotFound for the first alert or group that the scope does not show.
func (g *Graph) mustShow(ctx context.Context, scope domain.Scope, alerts, groups []int64) error {
	if len(alerts) > webhook.MaxFilters || len(groups) > webhook.MaxFilters {
		return nil // refused below
	}
	if len(alerts) > 0 {
		if err := g.mustShowAlerts(ctx, scope, alerts); err != nil {
			return err
		}
	}
	if len(groups) == 0 {
		return nil
	}
	found, err := g.Ports.Groups.FindMany(ctx, scope, groups)
	return missing("groupIds", "group", groups, found, err)
}

// mustShowAlerts returns NotFound for the first number that is none of an alert, on volume
// or on a condition, which the scope shows.
func (g *Graph) mustShowAlerts(ctx context.Context, scope domain.Scope, alerts []int64) error {
	onVolume, err := g.Ports.VolumeAlerts.FindMany(ctx, scope, alerts)
	if err != nil {
		return err
	}
	found, err := g.Conditions.FindMany(ctx, scope, alerts)
	if err != nil {
		return err
	}
	shown := make(map[int64]bool, len(alerts))
	for id := range onVolume {
		shown[id] = true
	}
	for id := range found {
		shown[id] = true
	}
	return missing("alertIds", "alert", alerts, shown, nil)
}

func missing[T any](field, noun string, ids []int64, found map[int64]T, err error) error {
	if err != nil {
		return err
	}
	for i, id := range ids {
		if _, shown := found[id]; !shown {
			return domain.At(domain.Item(field, i), domain.NotFound("", noun, formatID(id)))
		}
	}
	return nil
}

func widened(ids []int32) []int64 {
	return each(ids, func(id int32) int64 { return int64(id) })
}

func (m mutationResolver) RotateWebhookSecret(ctx context.Context, in input.RotateWebhookSecretInput) (*model.RotateWebhookSecretPayload, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	rotated, secret, err := m.Ports.Webhooks.Rotate(ctx, scope, int64(in.WebhookID))
	return &model.RotateWebhookSecretPayload{Webhook: rotated, Secret: secret.String()}, err
}

func (m mutationResolver) TestWebhook(ctx context.Context, in input.TestWebhookInput) (*model.TestWebhookPayload, error) {
	queued, err := within(ctx, m.Ports.Webhooks.SendTest, int64(in.WebhookID))
	return &model.TestWebhookPayload{Delivery: queued}, err
}

func (m mutationResolver) EnableWebhook(ctx context.Context, in input.EnableWebhookInput) (*model.EnableWebhookPayload, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	enabled, err := m.Ports.Webhooks.Switch(ctx, scope, int64(in.WebhookID), true)
	return &model.EnableWebhookPayload{Webhook: enabled}, err
}

func (m mutationResolver) DisableWebhook(ctx context.Context, in input.DisableWebhookInput) (*model.DisableWebhookPayload, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	disabled, err := m.Ports.Webhooks.Switch(ctx, scope, int64(in.WebhookID), false)
	return &model.DisableWebhookPayload{Webhook: disabled}, err
}

func (m mutationResolver) DeleteWebhook(ctx context.Context, in input.DeleteWebhookInput) (*model.DeleteWebhookPayload, error) {
	removed, err := within(ctx, m.Ports.Webhooks.Remove, int64(in.WebhookID))
	return &model.DeleteWebhookPayload{Webhook: removed}, err
}

func (m mutationResolver) ReplayWebhookDelivery(ctx context.Context, in input.ReplayWebhookDeliveryInput) (*model.ReplayWebhookDeliveryPayload, error) {
	replayed, err := within(ctx, m.Ports.Webhooks.Replay, in.DeliveryID)
	return &model.ReplayWebhookDeliveryPayload{Delivery: replayed}, err
}

func (m mutationResolver) ReplayWebhookDeliveriesSince(ctx context.Context, in input.ReplayWebhookDeliveriesSinceInput) (*model.ReplayWebhookDeliveriesSincePayload, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	n, err := m.Ports.Webhooks.ReplaySince(ctx, scope, int64(in.WebhookID), in.Since)
	return &model.ReplayWebhookDeliveriesSincePayload{Replayed: n}, err
}

func (w webhookResolver) ID(_ context.Context, of *webhook.Endpoint) (string, error) {
	return globalID("Webhook", formatID(of.WebhookID)), nil
}

func (d webhookDeliveryResolver) ID(_ context.Context, of *webhook.Delivery) (string, error) {
	return globalID("WebhookDelivery", of.DeliveryID), nil
}

func (d webhookDeliveryResolver) Webhook(ctx context.Context, of *webhook.Delivery) (*webhook.Endpoint, error) {
	return webhookOfDelivery.of(ctx, of)
}

var _ = nodesByNumber("Webhook", func(g *Graph) finding[int64, *webhook.Endpoint] { return g.Ports.Webhooks.FindMany })

var _ = nodesByText("WebhookDelivery", func(g *Graph) finding[string, *webhook.Delivery] { return g.Ports.Webhooks.FindDeliveries })
