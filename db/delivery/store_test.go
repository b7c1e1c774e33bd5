package delivery_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"simgraph/db/delivery"
	"simgraph/db/fleettest"
	"simgraph/domain"
	"simgraph/domain/query"
	"simgraph/domain/webhook"
	"simgraph/internal/fatal"
)

// Mails and messages to webhooks are one list, of which every page goes on where the one
// before ended, both ways.
func TestMailsAndMessagesAreOneList(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
	f.Pool.MustExec(`INSERT INTO company_lookup (external_id, company_id) OVERRIDING SYSTEM VALUE VALUES ('rival', 2)`)
	f.Pool.MustExec(`INSERT INTO companies VALUES (2, 'rival', 'Rival', 1, 'UTC')`)
	f.Pool.MustExec(`
INSERT INTO mails (company_id, mail_id, recipient_id, email, kind, state, due_at, created_at)
SELECT company_id, gen_random_uuid(), 1, 'ops@acme.example', 'alerts', (ARRAY['queued', 'sent', 'failed', 'cancelled'])[1 + n % 4], $1, $1::timestamptz - make_interval(mins => n / 2)
FROM generate_series(0, 39) AS n CROSS JOIN companies`, f.Now)
	f.Pool.MustExec(`
INSERT INTO webhooks (company_id, webhook_id, name, url, format, event_types, alert_ids, group_ids, tag_names, secret, created_at, is_provider)
VALUES (1, 1, 'ops', 'https://example.com', 'cloudevents', '{}', '{}', '{}', '{}', '', $1, false), (1, 2, 'carrier', 'https://example.com', 'cloudevents', '{}', '{}', '{}', '{}', '', $1, true)`, f.Now)
	f.Pool.MustExec(`
INSERT INTO webhook_messages (company_id, message_id, webhook_id, event_type, event, state, due_at, created_at)
SELECT 1, gen_random_uuid(), 1 + n % 2, 'alert.fired', '{}', (ARRAY['queued', 'delivered', 'failed'])[1 + n / 2 % 3], '-infinity', $1::timestamptz - make_interval(mins => n / 3)
FROM generate_series(0, 59) AS n`, f.Now)
	deliveries := delivery.New(f.Pool)
	ids := func(slice domain.Slice[domain.Delivery]) (ids []string) {
		for _, one := range slice.Items {
			ids = append(ids, sentOf(one).id)
		}
		return ids
	}
	whole, err := deliveries.List(t.Context(), f.Whole(), domain.Listing{Page: domain.Page{Limit: 100}})
	fatal.If(t, err)
	fleettest.Same(t, len(whole.Items), 70) // 40 mails, and 30 messages that are no commands
	if !slices.IsSortedFunc(whole.Items, func(a, b domain.Delivery) int { return sentOf(b).at.Compare(sentOf(a).at) }) {
		t.Error("the list is in another order")
	}
	var forward, backward []string
	for page := (domain.Page{Limit: 7}); ; {
		part, err := deliveries.List(t.Context(), f.Whole(), domain.Listing{Page: page})
		fatal.If(t, err)
		forward = append(forward, ids(part)...)
		if !part.HasNext {
			break
		}
		page.Cursor = part.Cursor(len(part.Items) - 1)
	}
	for page := (domain.Page{Limit: 7, Backward: true}); ; {
		part, err := deliveries.List(t.Context(), f.Whole(), domain.Listing{Page: page})
		fatal.If(t, err)
		backward = append(ids(part), backward...)
		if !part.HasPrevious {
			break
		}
		page.Cursor = part.Cursor(0)
	}
	fleettest.Same(t, fmt.Sprint(forward), fmt.Sprint(ids(whole)))
	fleettest.Same(t, fmt.Sprint(backward), fmt.Sprint(ids(whole)))
	for _, of := range []struct {
		channel domain.Channel
		state   domain.DeliveryState
		want    int
	}{
		{"", "", 70}, {domain.ByMail, "", 40}, {domain.ByWebhook, "", 30}, {"", domain.Delivered, 20}, {"", domain.DeliveryCancelled, 10},
		{domain.ByWebhook, domain.DeliveryFailed, 10}, {domain.ByWebhook, domain.DeliveryCancelled, 0},
	} {
		var wanted query.And
		if of.channel != "" {
			wanted = append(wanted, fleettest.Equal(t, domain.DeliveryFields, "channel", string(of.channel)))
		}
		if of.state != "" {
			wanted = append(wanted, fleettest.Equal(t, domain.DeliveryFields, "state", string(of.state)))
		}
		n, err := deliveries.Count(t.Context(), f.Whole(), domain.Listing{Filter: wanted})
		fatal.If(t, err)
		list, err := deliveries.List(t.Context(), f.Whole(), domain.Listing{Filter: wanted, Page: domain.Page{Limit: 100}})
		fatal.If(t, err)
		if n != of.want || len(list.Items) != of.want {
			t.Errorf("%+v: %d and %d", of, n, len(list.Items))
		}
		for _, one := range list.Items {
			if of.channel != "" && one.Channel() != of.channel || of.state != "" && sentOf(one).state != of.state {
				t.Errorf("%+v has %+v", of, one)
			}
		}
	}
	var mails []string
	for _, one := range whole.Items {
		if mail, is := one.(*domain.Mail); is {
			mails = append(mails, mail.MailID)
		}
	}
	found, err := deliveries.FindMails(t.Context(), f.Whole(), append([]string{"none", "01900000-0000-7000-8000-000000000001"}, forward...))
	fatal.If(t, err)
	fleettest.Same(t, len(found), 40)
	found, err = deliveries.FindMails(t.Context(), domain.Whole(2), mails)
	fatal.If(t, err)
	fleettest.Same(t, len(found), 0)
	_, err = deliveries.List(t.Context(), fleettest.Only(fleettest.Boats), domain.Listing{Page: domain.Page{Limit: 1}})
	fleettest.Same(t, fleettest.KindOf(err), domain.KindForbidden)
	for _, one := range whole.Items {
		sent := sentOf(one)
		if one.Channel() == domain.ByMail && sent.state == domain.DeliveryQueued && (sent.next == nil || !sent.next.Equal(f.Now)) || one.Channel() == domain.ByWebhook && sent.next != nil {
			t.Errorf("%+v is tried at another time", one)
		}
		if message, is := one.(*webhook.Delivery); is && (message.WebhookName != "ops" || message.EventType != webhook.AlertFired) {
			t.Errorf("%+v is of another webhook", message)
		}
		if mail, is := one.(*domain.Mail); is && (mail.Email != "ops@acme.example" || mail.RecipientID != 1 || mail.Kind != domain.MailAlerts) {
			t.Errorf("%+v is another mail", mail)
		}
	}
}

// common is what mails and messages have.
type common struct {
	id    string
	state domain.DeliveryState
	at    time.Time
	next  *time.Time
}

func sentOf(of domain.Delivery) common {
	switch of := of.(type) {
	case *domain.Mail:
		return common{of.MailID, of.State, of.CreatedAt, of.NextAttemptAt()}
	case *webhook.Delivery:
		return common{of.DeliveryID, of.State, of.CreatedAt, of.NextAttemptAt}
	}
	return common{}
}
