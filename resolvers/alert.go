package resolvers

import (
	"context"

	"simgraph/domain"
	"simgraph/graph/generated/input"
	"simgraph/graph/model"
)

func (q queryResolver) Alert(ctx context.Context, alertID int32) (*domain.Alert, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	return q.Ports.Alerts.Find(ctx, scope, int64(alertID))
}

func (q queryResolver) Alerts(ctx context.Context, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.AlertConnection, error) {
	listing, err := listingOf(domain.AlertFields, first, after, last, before, filter, orderBy)
	if err != nil {
		return nil, err
	}
	return listed(ctx, listing, scopeOf, q.Ports.Alerts.List, q.Ports.Alerts.Count)
}

func (q queryResolver) AlertList(ctx context.Context, limit, offset *int32, filter, orderBy *string) (*model.AlertList, error) {
	page, err := offsetPage(limit, offset)
	if err != nil {
		return nil, err
	}
	expr, order, err := textListing(filter, orderBy, domain.AlertFields)
	if err != nil {
		return nil, err
	}
	return listedFrom(ctx, domain.Listing{Filter: expr, Order: order, Page: page}, q.Ports.Alerts.List, q.Ports.Alerts.Count)
}

func (q queryResolver) PreviewAlert(ctx context.Context, in input.CreateAlertInput, startDate, endDate string) (*domain.AlertPreview, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	over, err := domain.ParseRange(startDate, endDate)
	if err != nil {
		return nil, err
	}
	end, err := q.previews.begin(ctx, scope.Company, previewWait)
	if err != nil {
		return nil, err
	}
	defer end()
	return q.Ports.Alerts.Preview(ctx, scope, alertSpec(in), over)
}

func (q queryResolver) ExplainAlert(ctx context.Context, alertID int32, physicalID *string, groupID *int32) (*domain.AlertExplanation, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	return q.Ports.Alerts.Explain(ctx, scope, int64(alertID), subjectNamed(physicalID, groupID))
}

func subjectNamed(physicalID *string, groupID *int32) domain.AlertSubject {
	subject := domain.AlertSubject{PhysicalID: physicalID}
	if groupID != nil {
		subject.GroupID = new(int64(*groupID))
	}
	return subject
}

func (m mutationResolver) CreateAlert(ctx context.Context, in input.CreateAlertInput) (*model.CreateAlertPayload, error) {
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

func (m mutationResolver) EditAlert(ctx context.Context, in input.EditAlertInput) (*model.EditAlertPayload, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	edit := domain.AlertEdit{LowerThreshold: in.LowerThreshold.Value(), UpperThreshold: in.UpperThreshold.Value()}
	if err := edit.Check(); err != nil {
		return nil, err
	}
	edited, err := m.Ports.Alerts.Edit(ctx, scope, int64(in.AlertID), edit)
	return &model.EditAlertPayload{Alert: edited}, err
}

func (m mutationResolver) DeleteAlert(ctx context.Context, in input.DeleteAlertInput) (*model.DeleteAlertPayload, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	removed, err := m.Ports.Alerts.Remove(ctx, scope, int64(in.AlertID))
	return &model.DeleteAlertPayload{Alert: removed}, err
}

func (a alertResolver) ID(_ context.Context, of *domain.Alert) (string, error) {
	return globalID("Alert", formatID(of.AlertID)), nil
}

func (a alertResolver) Subscriber(ctx context.Context, of *domain.Alert) (*domain.Subscriber, error) {
	return subscriberOfAlert.of(ctx, of)
}

func (a alertResolver) Group(ctx context.Context, of *domain.Alert) (*domain.Group, error) {
	return groupOfAlert.of(ctx, of)
}

func (a alertResolver) Company(ctx context.Context, of *domain.Alert) (*domain.Company, error) {
	if of.RuleType != domain.RuleCompany {
		return nil, nil
	}
	caller, err := domain.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	return caller.Company, nil
}

func (a alertResolver) Status(ctx context.Context, of *domain.Alert) (*domain.AlertStatus, error) {
	n, err := exceededOfAlert.of(ctx, of)
	return present(domain.StatusOf(n > 0), err)
}

func (a alertResolver) NumberExceeded(ctx context.Context, of *domain.Alert) (*int32, error) {
	return number(exceededOfAlert.of(ctx, of))
}

func (a alertResolver) Subjects(ctx context.Context, of *domain.Alert, limit, offset *int32) ([]*domain.AlertState, error) {
	page, err := offsetPage(limit, offset)
	if err != nil {
		return nil, err
	}
	return items(subjectsOfAlert.with(ctx, of, page))
}

func (s alertStateResolver) Subscriber(ctx context.Context, of *domain.AlertState) (*domain.Subscriber, error) {
	return subscriberOfState.of(ctx, of)
}

func (s alertStateResolver) Group(ctx context.Context, of *domain.AlertState) (*domain.Group, error) {
	return groupOfState.of(ctx, of)
}

func (f alertFiringResolver) Subscriber(ctx context.Context, of *domain.AlertFiring) (*domain.Subscriber, error) {
	return subscriberOfFiring.of(ctx, of)
}

func (f alertFiringResolver) Group(ctx context.Context, of *domain.AlertFiring) (*domain.Group, error) {
	return groupOfFiring.of(ctx, of)
}

func (s subscriberResolver) Alerts(ctx context.Context, of *domain.Subscriber) ([]*domain.AlertState, error) {
	return items(alertsOfSubscriber.of(ctx, of))
}

func (g groupResolver) Alerts(ctx context.Context, of *domain.Group) ([]*domain.Alert, error) {
	return items(alertsOfGroup.of(ctx, of))
}
