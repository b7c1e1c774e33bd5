package model

import "simgraph/domain/webhook"

// The connections of webhooks and of the messages to them.
type (
	WebhookConnection         = Connection[*webhook.Endpoint]
	WebhookEdge               = Edge[*webhook.Endpoint]
	WebhookDeliveryConnection = Connection[*webhook.Delivery]
	WebhookDeliveryEdge       = Edge[*webhook.Delivery]
)

// The answers of the mutations on webhooks.
type (
	CreateWebhookPayload struct {
		Webhook *webhook.Endpoint
		Secret  string
	}
	RotateWebhookSecretPayload struct {
		Webhook *webhook.Endpoint
		Secret  string
	}
	EditWebhookPayload                  struct{ Webhook *webhook.Endpoint }
	EnableWebhookPayload                struct{ Webhook *webhook.Endpoint }
	DisableWebhookPayload               struct{ Webhook *webhook.Endpoint }
	DeleteWebhookPayload                struct{ Webhook *webhook.Endpoint }
	TestWebhookPayload                  struct{ Delivery *webhook.Delivery }
	ReplayWebhookDeliveryPayload        struct{ Delivery *webhook.Delivery }
	ReplayWebhookDeliveriesSincePayload struct{ Replayed int }
)
