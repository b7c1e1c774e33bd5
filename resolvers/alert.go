package resolvers

import (
	"cmp"
	"context"
	"slices"

	"github.com/99designs/gqlgen/graphql"

	"simgraph/domain"
	"simgraph/domain/silence"
	"simgraph/graph/generated/input"
	"simgraph/graph/model"
)

func (q queryResolver) Alert(ctx context.Context, by input.AlertKey) (domain.Alert, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	numbers := alertNumbers(by)
	found, err := q.Ports.Alerts.FindMany(ctx, scope, numbers)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[numbers[0]], nil
}

// alertNumbers returns the number of the alert that a key names; none where it is no such key.
func alertNumbers(by input.AlertKey) []int64 {
	for _, kind := range []string{"VolumeAlert", "ConditionAlert"} {
		if name, known := naturalKey(kind, by.ID, by.AlertID); known {
			return numbers([]string{name})
		}
	}
	return nil
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
	expr, order, err := textListing(filter, orderBy, domain.VolumeAlertFields)
	if err != nil {
		return nil, err
	}
	return listedFrom(ctx, domain.Listing{Filter: expr, Order: order, Page: page}, q.Ports.VolumeAlerts.List, q.Ports.VolumeAlerts.Count)
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
	return q.Ports.VolumeAlerts.Preview(ctx, scope, alertSpec(in), over)
}

func (q queryResolver) ExplainAlert(ctx context.Context, alertID int32, physicalID *string, groupID *int32) (*domain.AlertExplanation, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	return q.Ports.VolumeAlerts.Explain(ctx, scope, int64(alertID), subjectNamed(physicalID, groupID))
}

func subjectNamed(physicalID *string, groupID *int32) domain.AlertSubject {
	subject := domain.AlertSubject{PhysicalID: physicalID}
	if groupID != nil {
		subject.GroupID = new(int64(*groupID))
	}
	return subject
}

func (m mutationResolver) CreateAlert(ctx context.Context, in input.CreateAlertInput) (*model.CreateAlertPayload, error) {
	created, err := within(ctx, m.Ports.VolumeAlerts.Create, alertSpec(in))
	return &model.CreateAlertPayload{Alert: created}, err
}

// alertSpec takes a missing target for a blank one.
func alertSpec(in input.CreateAlertInput) domain.AlertSpec {
	spec := domain.AlertSpec{RuleType: in.RuleType, LowerThreshold: in.LowerThreshold, UpperThreshold: in.UpperThreshold, AlertWords: alertWords(in.Name, in.Description)}
	if target := in.Target.Value(); target != nil {
		spec.Target = *target
	}
	return spec
}

func alertWords(name, description graphql.Omittable[*string]) domain.AlertWords {
	return domain.AlertWords{Name: name.Value(), Description: description.Value()}
}

func alertWordsEdit(name, description graphql.Omittable[*string]) domain.AlertWordsEdit {
	return domain.AlertWordsEdit{AlertWords: alertWords(name, description), SetName: name.IsSet(), SetDescription: description.IsSet()}
}

func (m mutationResolver) EditAlert(ctx context.Context, in input.EditAlertInput) (*model.EditAlertPayload, error) {
	scope, err := scopeOfEdit(ctx, in.ExpectedVersion)
	if err != nil {
		return nil, err
	}
	edit := domain.AlertEdit{
		LowerThreshold: in.LowerThreshold.Value(), UpperThreshold: in.UpperThreshold.Value(), AlertWordsEdit: alertWordsEdit(in.Name, in.Description),
	}
	if err := edit.Check(); err != nil {
		return nil, err
	}
	edited, err := m.Ports.VolumeAlerts.Edit(ctx, scope, int64(in.AlertID), edit)
	return &model.EditAlertPayload{Alert: edited}, err
}

func (m mutationResolver) DeleteAlert(ctx context.Context, in input.DeleteAlertInput) (*model.DeleteAlertPayload, error) {
	removed, err := within(ctx, m.Ports.VolumeAlerts.Remove, int64(in.AlertID))
	return &model.DeleteAlertPayload{Alert: removed}, err
}

func (a volumeAlertResolver) ID(_ context.Context, of *domain.VolumeAlert) (string, error) {
	return globalID("VolumeAlert", formatID(of.AlertID)), nil
}

func (a volumeAlertResolver) Subscriber(ctx context.Context, of *domain.VolumeAlert) (*domain.Subscriber, error) {
	return subscriberOfAlert.of(ctx, of)
}

func (a volumeAlertResolver) Group(ctx context.Context, of *domain.VolumeAlert) (*domain.Group, error) {
	return groupOfAlert.of(ctx, of)
}

func (a volumeAlertResolver) Company(ctx context.Context, of *domain.VolumeAlert) (*domain.Company, error) {
	return companyWatched(ctx, of.RuleType)
}

// companyWatched is the company of an alert on it; nil for other rules.
func companyWatched(ctx context.Context, rule domain.RuleType) (*domain.Company, error) {
	if rule != domain.RuleCompany {
		return nil, nil
	}
	caller, err := domain.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	return caller.Company, nil
}

func (a volumeAlertResolver) Status(ctx context.Context, of *domain.VolumeAlert) (*domain.AlertStatus, error) {
	n, err := firedOfAlert.of(ctx, of)
	return present(domain.StatusOf(n > 0), err)
}

func (a volumeAlertResolver) NumberFired(ctx context.Context, of *domain.VolumeAlert) (*int32, error) {
	return number(firedOfAlert.of(ctx, of))
}

func (a volumeAlertResolver) Subjects(ctx context.Context, of *domain.VolumeAlert, limit, offset *int32) ([]*domain.VolumeAlertState, error) {
	page, err := offsetPage(limit, offset)
	if err != nil {
		return nil, err
	}
	return items(subjectsOfAlert.with(ctx, of, page))
}

func (s volumeAlertStateResolver) Subscriber(ctx context.Context, of *domain.VolumeAlertState) (*domain.Subscriber, error) {
	return subscriberOfState.of(ctx, of)
}

func (s volumeAlertStateResolver) Group(ctx context.Context, of *domain.VolumeAlertState) (*domain.Group, error) {
	return groupOfState.of(ctx, of)
}

func (f alertFiringResolver) Subscriber(ctx context.Context, of *domain.AlertFiring) (*domain.Subscriber, error) {
	return subscriberOfFiring.of(ctx, of)
}

func (f alertFiringResolver) Group(ctx context.Context, of *domain.AlertFiring) (*domain.Group, error) {
	return groupOfFiring.of(ctx, of)
}

func (s subscriberResolver) Alerts(ctx context.Context, of *domain.Subscriber) ([]domain.AlertState, error) {
	return items(alertsOfSubscriber.of(ctx, of))
}

// statesOfSubscribers are the states of the alerts of all kinds, by number, at most
// domain.MaxLimit of each subscriber.
func statesOfSubscribers(ctx context.Context, l *loaders, subscribers []int64) (map[int64][]domain.AlertState, error) {
	onVolume, err := l.graph.VolumeAlerts.WatchingSubscribers(ctx, l.scope, subscribers)
	if err != nil {
		return nil, err
	}
	onConditions, err := l.graph.Conditions.WatchingSubscribers(ctx, l.scope, subscribers)
	states := make(map[int64][]domain.AlertState, len(subscribers))
	for _, key := range subscribers {
		all := make([]domain.AlertState, 0, len(onVolume[key])+len(onConditions[key]))
		for _, state := range onVolume[key] {
			all = append(all, state)
		}
		for _, state := range onConditions[key] {
			all = append(all, state)
		}
		slices.SortFunc(all, func(a, b domain.AlertState) int { return cmp.Compare(a.Number(), b.Number()) })
		states[key] = all[:min(len(all), domain.MaxLimit)]
	}
	return states, err
}

func (g groupResolver) Alerts(ctx context.Context, of *domain.Group, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.AlertConnection, error) {
	listing, err := listingOf(domain.AlertFields, first, after, last, before, filter, orderBy)
	if err != nil {
		return nil, err
	}
	return partConnection(ctx, of, listing, alertsOfGroup, alertTotalsByGroup)
}

func (q queryResolver) AlertLog(ctx context.Context, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.AlertLogConnection, error) {
	listing, err := listingOf(domain.AlertLogFields, first, after, last, before, filter, orderBy)
	if err != nil {
		return nil, err
	}
	return listed(ctx, listing, scopeOf, q.Ports.AlertLog.List, q.Ports.AlertLog.Count)
}

func (q queryResolver) AlertLogList(ctx context.Context, limit, offset *int32, filter, orderBy *string) (*model.AlertLogList, error) {
	page, err := logPage(limit, offset)
	if err != nil {
		return nil, err
	}
	expr, order, err := textListing(filter, orderBy, domain.VolumeLogFields)
	if err != nil {
		return nil, err
	}
	return listedFrom(ctx, domain.Listing{Filter: expr, Order: order, Page: page}, q.Ports.VolumeLog.List, q.Ports.VolumeLog.Count)
}

// logPage is offsetPage for the list that has no paging in the spec: without a
// limit it is as long as a list may be.
func logPage(limit, offset *int32) (domain.Page, error) {
	page, err := offsetPage(limit, offset)
	page.Limit = domain.MaxLogList
	if limit != nil && *limit > 0 {
		page.Limit = min(int(*limit), domain.MaxLogList)
	}
	return page, err
}

func (e volumeLogEntryResolver) ID(_ context.Context, of *domain.VolumeLogEntry) (string, error) {
	return globalID("VolumeLogEntry", formatID(of.EntryID)), nil
}

func (e volumeLogEntryResolver) Alert(ctx context.Context, of *domain.VolumeLogEntry) (*domain.VolumeAlert, error) {
	return alertOfEntry.of(ctx, of)
}

func (e volumeLogEntryResolver) Subscriber(ctx context.Context, of *domain.VolumeLogEntry) (*domain.Subscriber, error) {
	return subscriberOfEntry.of(ctx, of)
}

func (e volumeLogEntryResolver) Group(ctx context.Context, of *domain.VolumeLogEntry) (*domain.Group, error) {
	return groupOfEntry.of(ctx, of)
}

func (e volumeLogEntryResolver) IsNotified(_ context.Context, of *domain.VolumeLogEntry) (bool, error) {
	return of.NotificationID != nil, nil
}

func (e volumeLogEntryResolver) Silence(ctx context.Context, of *domain.VolumeLogEntry) (*silence.Silence, error) {
	return silenceOfEntry.of(ctx, of)
}

func (e volumeLogEntryResolver) Deliveries(ctx context.Context, of *domain.VolumeLogEntry) ([]*domain.AlertDelivery, error) {
	return items(deliveriesOfEntry.of(ctx, of))
}

var _ = nodesByNumber("VolumeAlert", func(g *Graph) finding[int64, *domain.VolumeAlert] { return g.Ports.VolumeAlerts.FindMany })

var _ = nodesByNumber("VolumeLogEntry", func(g *Graph) finding[int64, *domain.VolumeLogEntry] { return g.Ports.VolumeLog.FindMany })
