package resolvers

import (
	"cmp"
	"context"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"simgraph/domain"
	"simgraph/domain/inventory"
	"simgraph/graph/generated/input"
	"simgraph/graph/model"
)

// assign sets a field of a record where the input has it; null is no value of it.
func assign[T any](name string, in graphql.Omittable[*T], to *T) error {
	value, set := in.ValueOK()
	switch {
	case !set:
		return nil
	case value == nil:
		return domain.Invalid(name, "%s must not be null; leave it out to keep it", name)
	}
	*to = *value
	return nil
}

// assignNew is assign for a field that is there but can be hidden, by a new value.
func assignNew[T, U any](name string, in graphql.Omittable[*T], to **U, read func(*T) *U) error {
	value := new(T)
	err := assign(name, in, value)
	if in.IsSet() && err == nil {
		*to = read(value)
	}
	return err
}

func same[T any](value *T) *T { return value }

// replaced sets a field of a record that can be missing where the input has it.
func replaced[T any](in graphql.Omittable[*T], to **T) {
	if value, set := in.ValueOK(); set {
		*to = value
	}
}

// wide returns an integer of the graph in another width.
func wide[T ~int | ~int64](n *int32) *T {
	if n == nil {
		return nil
	}
	v := T(*n)
	return &v
}

func (m mutationResolver) CreateSubscriber(ctx context.Context, in input.CreateSubscriberInput) (*model.CreateSubscriberPayload, error) {
	scope, err := scopeOfChange(ctx, in.Reason)
	if err != nil {
		return nil, err
	}
	nickname, err := domain.NewNickname(in.Nickname)
	if err != nil {
		return nil, err
	}
	address, err := fixedAddress(in.FixedIPAddress.Value())
	if err != nil {
		return nil, err
	}
	of := &domain.Subscriber{
		Kind: in.Kind, PhysicalID: in.PhysicalID, SubscriberID: in.SubscriberID, DataNumber: in.DataNumber.Value(), IMSI: in.Imsi, Nickname: nickname,
		FixedIPAddress: address, OperatorCode: in.OperatorCode, TariffName: &in.TariffName, ContractLength: wide[int](&in.ContractLength),
		ConnectionDate: in.ConnectionDate, ExpiryDate: in.ExpiryDate, IsBarred: in.IsBarred, IsActive: in.IsActive,
		GroupID: wide[int64](in.GroupID.Value()), SubscriberType: in.SubscriberType, EID: in.Eid.Value(), SMDPProvider: in.SmdpProvider.Value(),
	}
	setParent(of, in.Parent.Value())
	created, err := m.Inventory.CreateSubscriber(ctx, scope, of)
	return &model.CreateSubscriberPayload{Subscriber: created}, err
}

// fixedAddress returns a fixed address as it is stored; nil for none.
func fixedAddress(s *string) (*string, error) {
	if s == nil {
		return nil, nil
	}
	address, err := domain.NewFixedIPAddress(*s)
	return &address, err
}

func setParent(of *domain.Subscriber, parent *input.ParentInput) {
	of.ParentPhysicalID, of.IsEnabledOnParent = nil, nil
	if parent != nil {
		of.ParentPhysicalID, of.IsEnabledOnParent = &parent.PhysicalID, &parent.IsEnabledOnParent
	}
}

// anyVersion is for edits that are made from no version.
var anyVersion graphql.Omittable[*string]

// editInventory edits the subscriber.
func (m mutationResolver) editInventory(
	ctx context.Context, expectedVersion, reason graphql.Omittable[*string], physicalID string, edit func(*domain.Subscriber) error,
) (*model.Commanded, error) {
	scope, err := scopeOfChange(ctx, reason)
	if err != nil {
		return nil, err
	}
	scope.ExpectedVersion = expectedVersion.Value()
	if err := domain.CheckPhysicalID(physicalID); err != nil {
		return nil, err
	}
	if err := inventory.TrySubscriber(physicalID, edit); err != nil {
		return nil, err
	}
	edited, err := m.Inventory.EditSubscriber(ctx, scope, physicalID, edit)
	if err != nil {
		return nil, err
	}
	commanded := &model.Commanded{Subscriber: edited.Subscriber, IsInventoryOnly: edited.InventoryOnly}
	if len(edited.Commands) > 0 {
		commanded.Command = edited.Commands[0] // these mutations make one at most
	}
	return commanded, nil
}

func (m mutationResolver) EditSubscriber(ctx context.Context, in input.EditSubscriberInput) (*model.EditSubscriberPayload, error) {
	if in == (input.EditSubscriberInput{PhysicalID: in.PhysicalID, Nickname: in.Nickname, ExpectedVersion: in.ExpectedVersion, Reason: in.Reason}) && in.Nickname.IsSet() {
		return m.editNickname(ctx, in)
	}
	return m.editInventory(ctx, in.ExpectedVersion, in.Reason, in.PhysicalID, func(of *domain.Subscriber) error {
		replaced(in.DataNumber, &of.DataNumber)
		replaced(in.TerminateDate, &of.TerminateDate)
		replaced(in.Eid, &of.EID)
		replaced(in.SmdpProvider, &of.SMDPProvider)
		if address, set := in.FixedIPAddress.ValueOK(); set {
			fixed, err := fixedAddress(address)
			if err != nil {
				return err
			}
			of.FixedIPAddress = fixed
		}
		if parent, set := in.Parent.ValueOK(); set {
			setParent(of, parent)
		}
		return cmp.Or(
			assignNickname(in.Nickname, &of.Nickname), assign("kind", in.Kind, &of.Kind), assign("subscriberId", in.SubscriberID, &of.SubscriberID), assign("imsi", in.Imsi, &of.IMSI),
			assign("operatorCode", in.OperatorCode, &of.OperatorCode), assignNew("tariffName", in.TariffName, &of.TariffName, same),
			assignNew("contractLength", in.ContractLength, &of.ContractLength, wide[int]), assign("connectionDate", in.ConnectionDate, &of.ConnectionDate),
			assign("expiryDate", in.ExpiryDate, &of.ExpiryDate), assign("isActive", in.IsActive, &of.IsActive),
			assign("subscriberType", in.SubscriberType, &of.SubscriberType))
	})
}

// assignNickname is assign for a nickname, which it checks.
func assignNickname(in graphql.Omittable[*string], to *string) error {
	text := *to
	err := assign("nickname", in, &text)
	if err != nil || !in.IsSet() {
		return err
	}
	*to, err = domain.NewNickname(text)
	return err
}

// editNickname edits the nickname alone.
func (m mutationResolver) editNickname(ctx context.Context, in input.EditSubscriberInput) (*model.EditSubscriberPayload, error) {
	scope, err := scopeOfChange(ctx, in.Reason)
	if err != nil {
		return nil, err
	}
	scope.ExpectedVersion = in.ExpectedVersion.Value()
	var nickname string
	if err := cmp.Or(domain.CheckPhysicalID(in.PhysicalID), assignNickname(in.Nickname, &nickname)); err != nil {
		return nil, err
	}
	edited, err := m.Ports.Subscribers.EditNickname(ctx, scope, in.PhysicalID, nickname)
	return &model.EditSubscriberPayload{Subscriber: edited, IsInventoryOnly: true}, err
}

func (m mutationResolver) MoveSubscriber(ctx context.Context, in input.MoveSubscriberInput) (*model.MoveSubscriberPayload, error) {
	edited, err := m.editInventory(ctx, anyVersion, in.Reason, in.PhysicalID, func(of *domain.Subscriber) error {
		group, set := in.GroupID.ValueOK()
		if !set {
			return domain.Invalid("groupId", "groupId is missing: the number of a group, or null for none")
		}
		of.GroupID = wide[int64](group)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &model.MoveSubscriberPayload{Subscriber: edited.Subscriber}, nil
}

func (m mutationResolver) BarSubscriber(ctx context.Context, in input.BarSubscriberInput) (*model.BarSubscriberPayload, error) {
	return m.editInventory(ctx, anyVersion, in.Reason, in.PhysicalID, func(of *domain.Subscriber) error {
		of.IsBarred = true
		return nil
	})
}

func (m mutationResolver) UnbarSubscriber(ctx context.Context, in input.UnbarSubscriberInput) (*model.UnbarSubscriberPayload, error) {
	return m.editInventory(ctx, anyVersion, in.Reason, in.PhysicalID, func(of *domain.Subscriber) error {
		of.IsBarred = false
		return nil
	})
}

func (m mutationResolver) TerminateSubscriber(ctx context.Context, in input.TerminateSubscriberInput) (*model.TerminateSubscriberPayload, error) {
	now := m.now().UTC().Truncate(time.Second)
	at := now
	if wanted := in.TerminateDate.Value(); wanted != nil {
		at = *wanted
	}
	return m.editInventory(ctx, anyVersion, in.Reason, in.PhysicalID, func(of *domain.Subscriber) error {
		switch {
		case at.After(now.Add(domain.ClockTolerance)):
			return domain.Invalid("terminateDate", "terminateDate is in the future")
		case at.Before(of.ConnectionDate):
			return domain.Invalid("terminateDate", "terminateDate must not be before connectionDate")
		}
		of.TerminateDate, of.IsActive = &at, false
		return nil
	})
}

func (m mutationResolver) CreateGroup(ctx context.Context, in input.CreateGroupInput) (*model.CreateGroupPayload, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	g := domain.Group{Name: in.Name, HideTariffDetails: in.IsTariffHidden}
	if id := in.GroupID.Value(); id != nil {
		if err := domain.CheckGroupID(int64(*id)); err != nil {
			return nil, err
		}
		g.GroupID = int64(*id)
	}
	created, err := m.Inventory.CreateGroup(ctx, scope, g)
	return &model.CreateGroupPayload{Group: created}, err
}

func (m mutationResolver) EditGroup(ctx context.Context, in input.EditGroupInput) (*model.EditGroupPayload, error) {
	scope, err := scopeOfEdit(ctx, in.ExpectedVersion)
	if err != nil {
		return nil, err
	}
	edit := func(g *domain.Group) error {
		return cmp.Or(assign("name", in.Name, &g.Name), assign("isTariffHidden", in.IsTariffHidden, &g.HideTariffDetails))
	}
	if err := inventory.TryGroup(edit); err != nil {
		return nil, err
	}
	var edited *domain.Group
	if name, set := in.Name.ValueOK(); set && !in.IsTariffHidden.IsSet() {
		edited, err = m.Ports.Groups.Rename(ctx, scope, int64(in.GroupID), *name) // users of groups may do that
	} else {
		edited, err = m.Inventory.EditGroup(ctx, scope, int64(in.GroupID), edit)
	}
	return &model.EditGroupPayload{Group: edited}, err
}

func (m mutationResolver) DeleteGroup(ctx context.Context, in input.DeleteGroupInput) (*model.DeleteGroupPayload, error) {
	removed, err := within(ctx, m.Inventory.RemoveGroup, int64(in.GroupID))
	return &model.DeleteGroupPayload{Group: removed}, err
}

func (m mutationResolver) CreateTariff(ctx context.Context, in input.CreateTariffInput) (*model.CreateTariffPayload, error) {
	created, err := within(ctx, m.Inventory.CreateTariff, domain.Tariff{Name: in.Name, LineRental: int(in.LineRental), Currency: in.Currency})
	return &model.CreateTariffPayload{Tariff: created}, err
}

func (m mutationResolver) EditTariff(ctx context.Context, in input.EditTariffInput) (*model.EditTariffPayload, error) {
	scope, err := scopeOfEdit(ctx, in.ExpectedVersion)
	if err != nil {
		return nil, err
	}
	edit := func(t *domain.Tariff) error {
		rental := int32(t.LineRental)
		err := cmp.Or(assign("lineRental", in.LineRental, &rental), assign("currency", in.Currency, &t.Currency))
		t.LineRental = int(rental)
		return err
	}
	if err := inventory.TryTariff(edit); err != nil {
		return nil, err
	}
	edited, err := m.Inventory.EditTariff(ctx, scope, in.Name, edit)
	return &model.EditTariffPayload{Tariff: edited}, err
}

func (m mutationResolver) DeleteTariff(ctx context.Context, in input.DeleteTariffInput) (*model.DeleteTariffPayload, error) {
	removed, err := within(ctx, m.Inventory.RemoveTariff, in.Name)
	return &model.DeleteTariffPayload{Tariff: removed}, err
}

func (m mutationResolver) CreateUser(ctx context.Context, in input.CreateUserInput) (*model.CreateUserPayload, error) {
	caller, err := domain.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	groups, err := groupsOf(in.Scope)
	if err != nil {
		return nil, err
	}
	created, err := m.Ports.Users.CreateUser(ctx, caller, domain.User{Email: in.Email, Permissions: in.Permissions, Groups: groups, Disabled: in.IsDisabled})
	return &model.CreateUserPayload{User: created}, err
}

func (m mutationResolver) EditUser(ctx context.Context, in input.EditUserInput) (*model.EditUserPayload, error) {
	caller, err := domain.CallerOf(ctx)
	if err != nil {
		return nil, err
	}
	edit := func(u *domain.User) error {
		if permissions, set := in.Permissions.ValueOK(); set {
			if permissions == nil {
				return domain.Invalid("permissions", "permissions must not be null; leave it out to keep it")
			}
			u.Permissions = permissions
		}
		if scope := in.Scope.Value(); scope != nil {
			var err error
			if u.Groups, err = groupsOf(scope); err != nil {
				return err
			}
		}
		return assign("isDisabled", in.IsDisabled, &u.Disabled)
	}
	if err := inventory.TryUser(edit); err != nil {
		return nil, err
	}
	by := *caller
	by.Scope.ExpectedVersion = in.ExpectedVersion.Value()
	edited, err := m.Ports.Users.EditUser(ctx, &by, in.UserEmail, edit)
	return &model.EditUserPayload{User: edited}, err
}

// groupsOf reads the groups that a user is attached to; none for the whole company.
func groupsOf(in *input.UserScopeInput) ([]int64, error) {
	return widened(in.GroupIds.Value()), mustSay(in.All, lengths{"groupIds": length(in.GroupIds)})
}
