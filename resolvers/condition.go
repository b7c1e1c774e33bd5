package resolvers

import (
	"context"

	"simgraph/domain"
	"simgraph/domain/condition"
	"simgraph/domain/silence"
	"simgraph/graph/generated/input"
	"simgraph/graph/model"
)

func (q queryResolver) PreviewConditionAlert(ctx context.Context, in input.CreateConditionAlertInput, days int32) (*condition.Preview, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	end, err := q.previews.begin(ctx, scope.Company, previewWait)
	if err != nil {
		return nil, err
	}
	defer end()
	return q.Conditions.Preview(ctx, scope, conditionSpec(in), int(days))
}

func (q queryResolver) ExplainConditionAlert(ctx context.Context, alertID int32, physicalID *string, groupID *int32) (*condition.Explanation, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	return q.Conditions.Explain(ctx, scope, int64(alertID), subjectNamed(physicalID, groupID))
}

func (m mutationResolver) CreateConditionAlert(ctx context.Context, in input.CreateConditionAlertInput) (*model.CreateConditionAlertPayload, error) {
	created, err := within(ctx, m.Conditions.Create, conditionSpec(in))
	return &model.CreateConditionAlertPayload{Alert: created}, err
}

func (m mutationResolver) EditConditionAlert(ctx context.Context, in input.EditConditionAlertInput) (*model.EditConditionAlertPayload, error) {
	scope, err := scopeOfEdit(ctx, in.ExpectedVersion)
	if err != nil {
		return nil, err
	}
	edit := condition.Edit{AlertWordsEdit: alertWordsEdit(in.Name, in.Description)}
	if to := in.Condition.Value(); to != nil {
		edit.Condition = new(conditionOf(*to))
	}
	edited, err := m.Conditions.Edit(ctx, scope, int64(in.AlertID), edit)
	return &model.EditConditionAlertPayload{Alert: edited}, err
}

func (m mutationResolver) DeleteConditionAlert(ctx context.Context, in input.DeleteConditionAlertInput) (*model.DeleteConditionAlertPayload, error) {
	removed, err := within(ctx, m.Conditions.Remove, int64(in.AlertID))
	return &model.DeleteConditionAlertPayload{Alert: removed}, err
}

func conditionSpec(in input.CreateConditionAlertInput) condition.Spec {
	spec := condition.Spec{RuleType: in.RuleType, Condition: conditionOf(*in.Condition), AlertWords: alertWords(in.Name, in.Description)}
	if target := in.Target.Value(); target != nil {
		spec.Target = *target
	}
	return spec
}

// conditionOf reads the one condition that the input names.
func conditionOf(in input.ConditionInput) condition.Condition {
	switch {
	case in.SilentHours.Value() != nil:
		return condition.Condition{Kind: condition.Silent, Bound: int64(*in.SilentHours.Value())}
	case in.SourceSilentMinutes.Value() != nil:
		return condition.Condition{Kind: condition.SourceSilent, Bound: int64(*in.SourceSilentMinutes.Value())}
	case in.SessionsPerHour.Value() != nil:
		return condition.Condition{Kind: condition.Storm, Bound: int64(*in.SessionsPerHour.Value())}
	case in.ForecastBytes.Value() != nil:
		return condition.Condition{Kind: condition.Forecast, Bound: *in.ForecastBytes.Value()}
	}
	return condition.Condition{Kind: condition.Change, Traits: in.ChangesOf.Value()}
}

func (c conditionAlertResolver) ID(_ context.Context, of *condition.Alert) (string, error) {
	return globalID("ConditionAlert", formatID(of.AlertID)), nil
}

func (c conditionAlertResolver) SilentHours(_ context.Context, of *condition.Alert) (*int32, error) {
	return boundOf(of, condition.Silent, func(n int64) int32 { return int32(n) }), nil
}

func (c conditionAlertResolver) SourceSilentMinutes(_ context.Context, of *condition.Alert) (*int32, error) {
	return boundOf(of, condition.SourceSilent, func(n int64) int32 { return int32(n) }), nil
}

func (c conditionAlertResolver) SessionsPerHour(_ context.Context, of *condition.Alert) (*int32, error) {
	return boundOf(of, condition.Storm, func(n int64) int32 { return int32(n) }), nil
}

func (c conditionAlertResolver) ForecastBytes(_ context.Context, of *condition.Alert) (*int64, error) {
	return boundOf(of, condition.Forecast, func(n int64) int64 { return n }), nil
}

// boundOf returns the bound of an alert of the kind; nil for other kinds.
func boundOf[N any](of *condition.Alert, kind condition.Kind, convert func(int64) N) *N {
	if of.Kind != kind {
		return nil
	}
	return new(convert(of.Bound))
}

func (c conditionAlertResolver) Subscriber(ctx context.Context, of *condition.Alert) (*domain.Subscriber, error) {
	return subscriberOfCondition.of(ctx, of)
}

func (c conditionAlertResolver) Group(ctx context.Context, of *condition.Alert) (*domain.Group, error) {
	return groupOfCondition.of(ctx, of)
}

func (c conditionAlertResolver) Company(ctx context.Context, of *condition.Alert) (*domain.Company, error) {
	return companyWatched(ctx, of.RuleType)
}

func (c conditionAlertResolver) Status(ctx context.Context, of *condition.Alert) (*domain.AlertStatus, error) {
	n, err := firedOfCondition.of(ctx, of)
	return present(domain.StatusOf(n > 0), err)
}

func (c conditionAlertResolver) NumberFired(ctx context.Context, of *condition.Alert) (*int32, error) {
	return number(firedOfCondition.of(ctx, of))
}

func (s conditionAlertStateResolver) Subscriber(ctx context.Context, of *condition.AlertState) (*domain.Subscriber, error) {
	return subscriberOfConditionState.of(ctx, of)
}

// Group is null: an alert on a group as a whole does not watch its subscribers.
func (conditionAlertStateResolver) Group(context.Context, *condition.AlertState) (*domain.Group, error) {
	return nil, nil
}

func (f conditionFiringResolver) Subscriber(ctx context.Context, of *condition.Firing) (*domain.Subscriber, error) {
	return subscriberOfConditionFiring.of(ctx, of)
}

func (f conditionFiringResolver) Group(ctx context.Context, of *condition.Firing) (*domain.Group, error) {
	return groupOfConditionFiring.of(ctx, of)
}

func (e conditionLogEntryResolver) ID(_ context.Context, of *condition.Entry) (string, error) {
	return globalID("ConditionLogEntry", formatID(of.EntryID)), nil
}

func (e conditionLogEntryResolver) AlertID(_ context.Context, of *condition.Entry) (*int32, error) {
	if of.AlertID == 0 {
		return nil, nil
	}
	return new(int32(of.AlertID)), nil
}

func (e conditionLogEntryResolver) Alert(ctx context.Context, of *condition.Entry) (*condition.Alert, error) {
	return alertOfConditionEntry.of(ctx, of)
}

func (e conditionLogEntryResolver) Trait(_ context.Context, of *condition.Entry) (*condition.Trait, error) {
	if of.Trait == "" {
		return nil, nil
	}
	return &of.Trait, nil
}

func (e conditionLogEntryResolver) Subscriber(ctx context.Context, of *condition.Entry) (*domain.Subscriber, error) {
	return subscriberOfConditionEntry.of(ctx, of)
}

func (e conditionLogEntryResolver) Group(ctx context.Context, of *condition.Entry) (*domain.Group, error) {
	return groupOfConditionEntry.of(ctx, of)
}

func (e conditionLogEntryResolver) Silence(ctx context.Context, of *condition.Entry) (*silence.Silence, error) {
	return silenceOfConditionEntry.of(ctx, of)
}

func (e conditionLogEntryResolver) Deliveries(ctx context.Context, of *condition.Entry) ([]*domain.AlertDelivery, error) {
	return items(deliveriesOfConditionEntry.of(ctx, of))
}

var _ = nodesByNumber("ConditionAlert", func(g *Graph) finding[int64, *condition.Alert] { return g.Conditions.FindMany })

var _ = nodesByNumber("ConditionLogEntry", func(g *Graph) finding[int64, *condition.Entry] { return g.Conditions.FindEntries })
