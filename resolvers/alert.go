package resolvers

import (
	"context"
	"slices"

	"simgraph/domain"
	"simgraph/graph/generated/input"
	"simgraph/graph/model"
)

func (q queryRoot) Alert(ctx context.Context, alertID int32) (*domain.Alert, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	return q.Ports.Alerts.Find(ctx, scope, int64(alertID))
}

func (q queryRoot) Alerts(ctx context.Context, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.AlertConnection, error) {
	page, err := connectionPage(first, after, last, before)
	if err != nil {
		return nil, err
	}
	expr, err := filterOf(filter, domain.AlertFields)
	if err != nil {
		return nil, err
	}
	order, err := ordersOf(orderBy, domain.AlertFields)
	if err != nil {
		return nil, err
	}
	slice, total, err := q.listAlerts(ctx, domain.Listing{Filter: expr, Order: order, Page: page})
	if err != nil {
		return nil, err
	}
	loadersFrom(ctx).aheadOfAlerts(ctx, selected(ctx).nodes(), slice.Items)
	return connection(slice, total), nil
}

func (q queryRoot) AlertList(ctx context.Context, limit, offset *int32, filter, orderBy *string) (*model.AlertList, error) {
	page, err := offsetPage(limit, offset)
	if err != nil {
		return nil, err
	}
	expr, order, err := textListing(filter, orderBy, domain.AlertFields)
	if err != nil {
		return nil, err
	}
	slice, total, err := q.listAlerts(ctx, domain.Listing{Filter: expr, Order: order, Page: page})
	if err != nil {
		return nil, err
	}
	loadersFrom(ctx).aheadOfAlerts(ctx, selected(ctx).below("items"), slice.Items)
	return list(slice, total), nil
}

func (g *Graph) listAlerts(ctx context.Context, listing domain.Listing) (domain.Slice[*domain.Alert], func(context.Context) (int, error), error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return domain.Slice[*domain.Alert]{}, nil, err
	}
	slice, err := g.Ports.Alerts.List(ctx, scope, listing)
	total := func(ctx context.Context) (int, error) { return g.Ports.Alerts.Count(ctx, scope, listing) }
	return slice, total, err
}

func (q queryRoot) PreviewAlert(ctx context.Context, in input.CreateAlertInput, startDate, endDate string) (*domain.AlertPreview, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	over, err := domain.ParseRange(startDate, endDate)
	if err != nil {
		return nil, err
	}
	return q.Ports.Alerts.Preview(ctx, scope, alertSpec(in), over)
}

func (q queryRoot) ExplainAlert(ctx context.Context, alertID int32, physicalID *string, groupID *int32) (*domain.AlertExplanation, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	subject := domain.AlertSubject{PhysicalID: physicalID}
	if groupID != nil {
		subject.GroupID = new(int64(*groupID))
	}
	return q.Ports.Alerts.Explain(ctx, scope, int64(alertID), subject)
}

func (m mutation) CreateAlert(ctx context.Context, in input.CreateAlertInput) (*model.CreateAlertPayload, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	created, err := m.Ports.Alerts.Create(ctx, scope, alertSpec(in))
	return &model.CreateAlertPayload{Alert: created}, err
}

// alertSpec takes a missing target for a blank one.
func alertSpec(in input.CreateAlertInput) domain.AlertSpec {
	spec := domain.AlertSpec{RuleType: in.RuleType, LowerThreshold: in.LowerThreshold, UpperThreshold: in.UpperThreshold}
	if target := in.Target.Value(); target != nil {
		spec.Target = *target
	}
	return spec
}

func (m mutation) EditAlert(ctx context.Context, in input.EditAlertInput) (*model.EditAlertPayload, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	edit := domain.AlertEdit{LowerThreshold: in.LowerThreshold.Value(), UpperThreshold: in.UpperThreshold.Value()}
	edited, err := m.Ports.Alerts.Edit(ctx, scope, int64(in.AlertID), edit)
	return &model.EditAlertPayload{Alert: edited}, err
}

func (m mutation) DeleteAlert(ctx context.Context, alertID int32) (*model.DeleteAlertPayload, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	removed, err := m.Ports.Alerts.Remove(ctx, scope, int64(alertID))
	return &model.DeleteAlertPayload{Alert: removed}, err
}

func (a alertOf) ID(_ context.Context, of *domain.Alert) (string, error) {
	return globalID("Alert", formatID(of.AlertID)), nil
}

func (a alertOf) Subscriber(ctx context.Context, of *domain.Alert) (*domain.Subscriber, error) {
	return subscriberOfKey(ctx, of.SubscriberKey)
}

func (a alertOf) Group(ctx context.Context, of *domain.Alert) (*domain.Group, error) {
	return groupOfID(ctx, of.GroupID)
}

func (a alertOf) Company(ctx context.Context, of *domain.Alert) (*domain.Company, error) {
	if of.RuleType != domain.RuleCompany {
		return nil, nil
	}
	caller, err := domain.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	return caller.Company, nil
}

func (a alertOf) Status(ctx context.Context, of *domain.Alert) (domain.AlertStatus, error) {
	n, err := loadersFrom(ctx).exceeded.of(ctx, of.AlertID)
	return domain.StatusOf(n > 0), err
}

func (a alertOf) NumberExceeded(ctx context.Context, of *domain.Alert) (int32, error) {
	n, err := loadersFrom(ctx).exceeded.of(ctx, of.AlertID)
	return int32(n), err
}

func (a alertOf) Subjects(ctx context.Context, of *domain.Alert, limit, offset *int32) ([]*domain.AlertState, error) {
	page, err := offsetPage(limit, offset)
	if err != nil {
		return nil, err
	}
	return loadersFrom(ctx).subjects.of(ctx, page, of.AlertID)
}

func (s alertStateOf) Subscriber(ctx context.Context, of *domain.AlertState) (*domain.Subscriber, error) {
	return subscriberOfKey(ctx, of.SubscriberKey)
}

func (s alertStateOf) Group(ctx context.Context, of *domain.AlertState) (*domain.Group, error) {
	return groupOfID(ctx, of.GroupID)
}

func (f alertFiringOf) Subscriber(ctx context.Context, of *domain.AlertFiring) (*domain.Subscriber, error) {
	return subscriberOfKey(ctx, of.SubscriberKey)
}

func (f alertFiringOf) Group(ctx context.Context, of *domain.AlertFiring) (*domain.Group, error) {
	return groupOfID(ctx, of.GroupID)
}

func (s subscriberOf) Alerts(ctx context.Context, of *domain.Subscriber) ([]*domain.AlertState, error) {
	return loadersFrom(ctx).watching.of(ctx, of.Key)
}

func (g groupOf) Alerts(ctx context.Context, of *domain.Group) ([]*domain.Alert, error) {
	return loadersFrom(ctx).groupAlerts.of(ctx, of.GroupID)
}

// subscriberOfKey is nil also for one that the caller does not see.
func subscriberOfKey(ctx context.Context, key *int64) (*domain.Subscriber, error) {
	if key == nil {
		return nil, nil
	}
	return loadersFrom(ctx).subscriber.of(ctx, *key)
}

func groupOfID(ctx context.Context, id *int64) (*domain.Group, error) {
	if id == nil {
		return nil, nil
	}
	return loadersFrom(ctx).group.of(ctx, *id)
}

// aheadOfAlerts loads the selected relations of all the alerts.
func (l *loaders) aheadOfAlerts(ctx context.Context, s selection, of []*domain.Alert) {
	if len(of) == 0 || s.empty() {
		return
	}
	l.aheadOfSubjects(ctx, s, present(of, func(a *domain.Alert) *int64 { return a.SubscriberKey }),
		present(of, func(a *domain.Alert) *int64 { return a.GroupID }))
	if s.has("status") || s.has("numberExceeded") {
		l.exceeded.ahead(ctx, each(of, func(a *domain.Alert) int64 { return a.AlertID }))
	}
}

// aheadOfSubjects loads what is selected of subscribers and groups.
func (l *loaders) aheadOfSubjects(ctx context.Context, s selection, keys, groups []int64) {
	if below := s.below("subscriber"); !below.empty() {
		l.aheadOfSubscribers(ctx, below, found(l.subscriber.aheadValues(ctx, keys)))
	}
	if below := s.below("group"); !below.empty() {
		l.aheadOfGroups(ctx, below, found(l.group.aheadValues(ctx, groups)))
	}
}

// found returns the values that are there.
func found[V any](loaded []*V) []*V {
	return slices.DeleteFunc(loaded, func(v *V) bool { return v == nil })
}
