package resolvers

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"simgraph/domain"
	"simgraph/domain/bulk"
	"simgraph/domain/silence"
	"simgraph/graph/generated/input"
	"simgraph/graph/model"
)

func (q queryResolver) Operation(ctx context.Context, by input.OperationKey) (*bulk.Operation, error) {
	return lookUp[bulk.Operation](ctx, q, "Operation", by.ID, by.OperationID)
}

func (q queryResolver) Operations(ctx context.Context, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.OperationConnection, error) {
	listing, err := listingOf(bulk.Fields, first, after, last, before, filter, orderBy)
	if err != nil {
		return nil, err
	}
	return listed(ctx, listing, scopeOf, q.Ports.Operations.List, q.Ports.Operations.Count)
}

// maxNamed bounds the subscribers that a request names.
const maxNamed = 10_000

func (m mutationResolver) StartSubscriberChange(ctx context.Context, in input.StartSubscriberChangeInput) (*model.StartSubscriberChangePayload, error) {
	caller, err := callerOfChange(ctx, in.Reason)
	if err != nil {
		return nil, err
	}
	start, err := m.operationStart(ctx, in)
	if err != nil {
		return nil, err
	}
	has, err := m.Commands.HasProvider(ctx, caller.Scope)
	if err != nil {
		return nil, err
	}
	started, err := m.Ports.Operations.Start(ctx, caller, start)
	return &model.StartSubscriberChangePayload{Operation: started, IsInventoryOnly: !has}, err
}

func (g *Graph) operationStart(ctx context.Context, in input.StartSubscriberChangeInput) (start bulk.Start, err error) {
	start = bulk.Start{ErrorPolicy: in.ErrorPolicy, ValidateOnly: in.ValidateOnly, Expect: wide[int](in.Expect.Value()), Silence: in.Silence, Create: in.Create}
	if digest := in.Digest.Value(); digest != nil {
		start.Digest = *digest
	}
	if dryRun := in.DryRunOf.Value(); dryRun != nil {
		start.DryRunOf = *dryRun
	}
	where := in.Where.Value()
	start.ByFilter = in.All || where != nil
	switch {
	case in.All && where != nil:
		return start, domain.Invalid("where", "%s", bulk.OneChoice)
	case where != nil:
		start.PeriodStart = g.projection(ctx).PeriodStart
		if start.Filter, err = conditionsOf(where, domain.SubscriberFields); err != nil {
			return start, err
		}
	}
	start.PhysicalIDs = in.PhysicalIds.Value()
	rows := in.Rows.Value()
	if n := len(start.PhysicalIDs) + len(rows); n > maxNamed {
		return start, domain.Invalid("physicalIds", "a request names at most %d subscribers, not %d", maxNamed, n)
	}
	if change := in.Change.Value(); change != nil {
		if start.Change, err = commonChange(change); err != nil {
			return start, domain.Within("change", err)
		}
	}
	for i, row := range rows {
		change, err := rowChange(row)
		if err != nil {
			return start, domain.Within(domain.Item("rows", i), err)
		}
		stated, err := rowStated(row)
		if err != nil {
			return start, domain.Within(domain.Item("rows", i), err)
		}
		start.Rows = append(start.Rows, bulk.Row{PhysicalID: row.PhysicalID, Change: change, Stated: stated})
	}
	return start, nil
}

func commonChange(in *input.SubscriberChange) (c bulk.Change, err error) {
	c = bulk.Change{
		NicknamePattern: in.NicknamePattern.Value(), IsBarred: in.IsBarred.Value(), TerminateDate: in.TerminateDate.Value(),
		TariffName: in.TariffName.Value(), Move: moveOf(in.GroupID),
	}
	if pattern := c.NicknamePattern; pattern != nil {
		normal, err := domain.NewNickname(*pattern)
		if err != nil {
			return c, domain.At("nicknamePattern", err)
		}
		c.NicknamePattern = &normal
	}
	return c, readTags(&c, in.AddTags.Value(), in.RemoveTags.Value())
}

func rowChange(in *input.SubscriberChangeRow) (c bulk.Change, err error) {
	c = bulk.Change{
		IsBarred: in.IsBarred.Value(), TerminateDate: in.TerminateDate.Value(), TariffName: in.TariffName.Value(), Move: moveOf(in.GroupID),
	}
	if given := in.Nickname.Value(); given != nil {
		nickname, err := domain.NewNickname(*given)
		if err != nil {
			return c, err
		}
		c.Nickname = &nickname
	}
	return c, readTags(&c, in.AddTags.Value(), in.RemoveTags.Value())
}

// rowStated reads what a row says of a subscriber beside its change.
func rowStated(in *input.SubscriberChangeRow) (s bulk.Stated, err error) {
	s = bulk.Stated{
		Kind: in.Kind.Value(), SubscriberID: in.SubscriberID.Value(), DataNumber: in.DataNumber.Value(), IMSI: in.Imsi.Value(),
		OperatorCode: in.OperatorCode.Value(), ContractLength: wide[int](in.ContractLength.Value()), ConnectionDate: in.ConnectionDate.Value(),
		ExpiryDate: in.ExpiryDate.Value(), IsActive: in.IsActive.Value(), SubscriberType: in.SubscriberType.Value(), EID: in.Eid.Value(),
		SMDPProvider: in.SmdpProvider.Value(),
	}
	if parent := in.Parent.Value(); parent != nil {
		s.ParentPhysicalID, s.IsEnabledOnParent = &parent.PhysicalID, &parent.IsEnabledOnParent
	}
	s.FixedIPAddress, err = fixedAddress(in.FixedIPAddress.Value())
	return s, err
}

// moveOf takes a group that is null for none.
func moveOf(group graphql.Omittable[*int32]) *bulk.Move {
	if !group.IsSet() {
		return nil
	}
	return &bulk.Move{GroupID: wide[int64](group.Value())}
}

func readTags(c *bulk.Change, add, remove []string) error {
	for _, list := range []struct {
		field string
		names []string
		to    *[]domain.TagName
	}{{"addTags", add, &c.AddTags}, {"removeTags", remove, &c.RemoveTags}} {
		for i, name := range list.names {
			tag, err := domain.NewTagName(name)
			if err != nil {
				return domain.At(domain.Item(list.field, i), err)
			}
			*list.to = append(*list.to, tag)
		}
	}
	return nil
}

func (m mutationResolver) CancelOperation(ctx context.Context, in input.CancelOperationInput) (*model.CancelOperationPayload, error) {
	caller, err := callerOfChange(ctx, in.Reason)
	if err != nil {
		return nil, err
	}
	cancelled, err := m.Ports.Operations.Cancel(ctx, caller, in.OperationID)
	return &model.CancelOperationPayload{Operation: cancelled}, err
}

func (m mutationResolver) UndoOperation(ctx context.Context, in input.UndoOperationInput) (*model.UndoOperationPayload, error) {
	caller, err := callerOfChange(ctx, in.Reason)
	if err != nil {
		return nil, err
	}
	has, err := m.Commands.HasProvider(ctx, caller.Scope)
	if err != nil {
		return nil, err
	}
	started, err := m.Ports.Operations.Undo(ctx, caller, in.OperationID)
	return &model.UndoOperationPayload{Operation: started, IsInventoryOnly: !has}, err
}

func (s subscriptionResolver) OperationChanged(ctx context.Context, operationID *string) (<-chan *bulk.Operation, error) {
	return followed(ctx, func(scope domain.Scope) (*domain.Stream[*bulk.Operation], error) {
		if operationID == nil {
			return s.LiveOperations.OperationChanged(ctx, scope, "")
		}
		if *operationID == "" {
			return nil, bulk.NotFound("")
		}
		return s.LiveOperations.OperationChanged(ctx, scope, *operationID)
	})
}

func (o operationResolver) ID(_ context.Context, of *bulk.Operation) (string, error) {
	return globalID("Operation", of.OperationID), nil
}

func (o operationResolver) Silence(ctx context.Context, of *bulk.Operation) (*silence.Silence, error) {
	return silenceOfOperation.of(ctx, of)
}

func (o operationResolver) DryRunOf(ctx context.Context, of *bulk.Operation) (*bulk.Operation, error) {
	return dryRunOfOperation.of(ctx, of)
}

func (o operationResolver) StartedAs(ctx context.Context, of *bulk.Operation) (*bulk.Operation, error) {
	return startedOfDryRun.of(ctx, of)
}

func (e operationEffectsResolver) Recipients(ctx context.Context, of *bulk.Effects) (*int32, error) {
	return ofWholeCompany(ctx, of.Recipients)
}

func (e operationEffectsResolver) WebhookMessages(ctx context.Context, of *bulk.Effects) (*int32, error) {
	return ofWholeCompany(ctx, of.Messages)
}

// ofWholeCompany is a number that users of groups do not see.
func ofWholeCompany(ctx context.Context, number int) (*int32, error) {
	scope, err := scopeOf(ctx)
	if err != nil || scope.Restricted() {
		return nil, err
	}
	return new(int32(number)), nil
}

func (o operationResolver) Results(ctx context.Context, of *bulk.Operation, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.OperationResultConnection, error) {
	listing, err := listingOf(bulk.ResultFields, first, after, last, before, filter, orderBy)
	if err != nil {
		return nil, err
	}
	return partConnection(ctx, of, listing, resultsOfOperation, resultTotalsByOperation)
}

func (r operationResultResolver) ID(_ context.Context, of *bulk.Result) (string, error) {
	return globalID("OperationResult", of.ID()), nil
}

func (r operationResultResolver) Operation(ctx context.Context, of *bulk.Result) (*bulk.Operation, error) {
	return operationOfResult.of(ctx, of)
}

// OperationResults answers Subscriber.operationResults.
func (s subscriberResolver) OperationResults(ctx context.Context, of *domain.Subscriber, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.OperationResultConnection, error) {
	listing, err := listingOf(bulk.ResultFields, first, after, last, before, filter, orderBy)
	if err != nil {
		return nil, err
	}
	return partConnection(ctx, of, listing, changesOfSubscriber, changeTotalsBySubscriber)
}

func (r operationResultResolver) Subscriber(ctx context.Context, of *bulk.Result) (*domain.Subscriber, error) {
	return subscriberOfResult.of(ctx, of)
}

var _ = nodesByText("Operation", func(g *Graph) finding[string, *bulk.Operation] { return g.Ports.Operations.FindMany })

var _ = nodesByText("OperationResult", func(g *Graph) finding[string, *bulk.Result] { return g.Ports.Operations.FindResults })
