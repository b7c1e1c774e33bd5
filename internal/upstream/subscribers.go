package upstream

import (
	"context"
	"maps"
	"slices"

	"simgraph/domain"
	"simgraph/domain/upstream"
)

// orderOfSubscribers is one that new subscribers come last in.
const orderOfSubscribers = "connectionDate ASC"

// copySubscribers reads the list once, and again for profiles of eUICCs, if there are some:
// they come after those that they belong to.
func (m *Mover) copySubscribers(ctx context.Context) error {
	cursor := m.cursor
	if cursor.IsDone(upstream.Subscribers) {
		return nil
	}
	if !cursor.IsSecond {
		if err := m.copyRound(ctx); err != nil {
			return err
		}
		cursor.IsSecond, cursor.Subscribers = true, upstream.Place{}
		if err := m.reach(ctx); err != nil {
			return err
		}
	}
	if cursor.HasProfiles {
		if err := m.copyRound(ctx); err != nil {
			return err
		}
	}
	if err := m.Usage.Reconcile(ctx, []domain.CompanyID{m.Company.CompanyID}); err != nil {
		return err
	}
	return m.finish(ctx, upstream.Subscribers)
}

// copyRound reads the list from where the cursor stands.
func (m *Mover) copyRound(ctx context.Context) error {
	cursor := m.cursor
	return from(ctx, m.From, []string{"subscribers"}, orderOfSubscribers, cursor.Subscribers, func(page []subscriber, _, next upstream.Place) error {
		var part []subscriber
		for i := range page {
			isProfile := page[i].Related.Parent != nil
			cursor.HasProfiles = cursor.HasProfiles || isProfile
			if isProfile == cursor.IsSecond {
				part = append(part, page[i])
			}
		}
		batch, err := m.usable(ctx, part)
		if err != nil {
			return err
		}
		if err := m.storeSubscribers(ctx, batch); err != nil {
			return err
		}
		cursor.Subscribers = next
		m.count(upstream.Subscribers, len(batch))
		return m.reach(ctx)
	})
}

// usable returns those of a page that can be stored.
func (m *Mover) usable(ctx context.Context, page []subscriber) (batch []*domain.Subscriber, err error) {
	owned, err := m.own(ctx, page)
	if err != nil {
		return nil, err
	}
	for i := range page {
		of, err := page[i].domain()
		if err == nil {
			err = m.place(of, owned)
		}
		if err != nil {
			m.refuse("subscriber "+clip(page[i].PhysicalID), err)
			continue
		}
		batch = append(batch, of)
	}
	return batch, nil
}

func (m *Mover) storeSubscribers(ctx context.Context, batch []*domain.Subscriber) error {
	if len(batch) == 0 {
		return nil
	}
	if err := m.storeOperators(ctx, batch); err != nil {
		return err
	}
	if err := m.storeTariffs(ctx, batch); err != nil {
		return err
	}
	ours, err := m.find(ctx, batch)
	if err != nil {
		return err
	}
	for _, s := range batch {
		m.note(s)
		if here := ours[s.PhysicalID]; here != nil { // what the other server does not return stays
			s.Kind, s.FixedIPAddress = here.Kind, here.FixedIPAddress
			if m.labelsAreOurs() {
				s.Nickname = here.Nickname
			}
		}
	}
	answers, err := m.Importer.Subscribers(ctx, m.scope(), batch)
	return m.answered("subscriber", answers, func(i int) string { return batch[i].PhysicalID }, err)
}

func (m *Mover) note(s *domain.Subscriber) {
	m.noteCard(s.SubscriberID, s.PhysicalID, s.TerminateDate != nil)
}

// noteCard keeps which card has a subscriberId. A list that changes can have it twice.
func (m *Mover) noteCard(subscriberID, physicalID string, isTerminated bool) {
	cards := m.cards[subscriberID]
	switch {
	case slices.Contains(cards, physicalID):
	case isTerminated:
		m.cards[subscriberID] = slices.Insert(cards, 0, physicalID)
	default:
		m.cards[subscriberID] = append(cards, physicalID)
	}
}

// holder returns the card that has a subscriberId now; "" for none.
func (m *Mover) holder(subscriberID string) string {
	cards := m.cards[subscriberID]
	if len(cards) == 0 {
		return ""
	}
	return cards[len(cards)-1]
}

func (m *Mover) find(ctx context.Context, batch []*domain.Subscriber) (map[string]*domain.Subscriber, error) {
	ids := make([]string, len(batch))
	for i, s := range batch {
		ids[i] = s.PhysicalID
	}
	return m.Subscribers.FindMany(ctx, m.scope(), ids, domain.Projection{Fields: domain.AllFields})
}

// storeOperators adds those that are missing. All companies share them, so that those that
// are here keep their names.
func (m *Mover) storeOperators(ctx context.Context, batch []*domain.Subscriber) error {
	fresh := map[string]*domain.Operator{}
	for _, s := range batch {
		if !m.operators[s.OperatorCode] {
			fresh[s.OperatorCode] = m.operatorOf(s)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	known, err := m.Operators.OperatorsOf(ctx, m.scope(), slices.Collect(maps.Keys(fresh)))
	if err != nil {
		return err
	}
	var missing []*domain.Operator
	for code, of := range fresh {
		m.operators[code] = true
		if known[code] == nil {
			if err := of.Check(); err != nil {
				m.refuse("operator "+code, err)
				continue
			}
			missing = append(missing, of)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	answers, err := m.Importer.Operators(ctx, m.By, missing)
	return m.answered("operator", answers, func(i int) string { return missing[i].Code }, err)
}

// storeTariffs stores each as the first subscriber shows it.
func (m *Mover) storeTariffs(ctx context.Context, batch []*domain.Subscriber) error {
	var fresh []*domain.Tariff
	for _, s := range batch {
		if s.LineRental == nil {
			continue
		}
		of := domain.Tariff{Name: *s.TariffName, LineRental: *s.LineRental, Currency: m.Currency}
		if m.tariffs[of.Name] {
			continue
		}
		m.tariffs[of.Name] = true
		if err := of.Check(); err != nil {
			m.refuse("tariff "+of.Name, err)
			continue
		}
		fresh = append(fresh, &of)
	}
	if len(fresh) == 0 {
		return nil
	}
	answers, err := m.Importer.Tariffs(ctx, m.scope(), fresh)
	return m.answered("tariff", answers, func(i int) string { return fresh[i].Name }, err)
}
