package resolvers

import (
	"context"
	"slices"
	"strings"

	"simgraph/domain"
	"simgraph/domain/condition"
	"simgraph/graph/model"
)

func (q queryResolver) Deliveries(ctx context.Context, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.DeliveryConnection, error) {
	listing, err := listingOf(domain.DeliveryFields, first, after, last, before, filter, orderBy)
	if err != nil {
		return nil, err
	}
	return listed(ctx, listing, scopeOf, q.Ports.Deliveries.List, q.Ports.Deliveries.Count)
}

func (m mailDeliveryResolver) ID(_ context.Context, of *domain.Mail) (string, error) {
	return globalID("MailDelivery", of.MailID), nil
}

func (m mailDeliveryResolver) Recipient(ctx context.Context, of *domain.Mail) (*domain.Recipient, error) {
	return recipientOfMail.of(ctx, of)
}

func (a alertDeliveryResolver) ID(_ context.Context, of *domain.AlertDelivery) (string, error) {
	return globalID("AlertDelivery", alertDeliveryID(of)), nil
}

func (a alertDeliveryResolver) Recipient(ctx context.Context, of *domain.AlertDelivery) (*domain.Recipient, error) {
	return recipientOfDelivery.of(ctx, of)
}

// alertDeliveryID names the entry, its notification and the recipient.
func alertDeliveryID(of *domain.AlertDelivery) string {
	return formatID(of.EntryID) + ":" + of.NotificationID + ":" + formatID(of.RecipientID)
}

var _ = nodesByText("MailDelivery", func(g *Graph) finding[string, *domain.Mail] { return g.Ports.Deliveries.FindMails })

var _ = nodes("AlertDelivery", (*Graph).alertDeliveryNodes)

// alertDeliveryNodes finds the entries of both logs first, which know whether a silence
// covered them.
func (g *Graph) alertDeliveryNodes(ctx context.Context, scope domain.Scope, ids []string) (map[string]model.Node, error) {
	entries := numbers(each(ids, func(id string) string {
		entry, _, _ := strings.Cut(id, ":")
		return entry
	}))
	onVolume, err := g.Ports.VolumeLog.FindMany(ctx, scope, entries)
	if err != nil {
		return nil, err
	}
	onConditions, err := g.Conditions.FindEntries(ctx, scope, entries)
	if err != nil {
		return nil, err
	}
	notified := slices.Concat(notifiedOf(onVolume, (*domain.VolumeLogEntry).Notified), notifiedOf(onConditions, (*condition.Entry).Notified))
	found, err := g.Ports.VolumeLog.Deliveries(ctx, scope, notified)
	nodes := map[string]model.Node{}
	for _, deliveries := range found {
		for _, of := range deliveries {
			nodes[alertDeliveryID(of)] = of
		}
	}
	return nodes, err
}

// notifiedOf returns the entries that are part of a notification.
func notifiedOf[E any](entries map[int64]E, of func(E) (domain.Notified, bool)) []domain.Notified {
	found := make([]domain.Notified, 0, len(entries))
	for _, entry := range entries {
		if notified, is := of(entry); is {
			found = append(found, notified)
		}
	}
	return found
}
