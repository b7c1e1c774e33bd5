// Package inventory has the rules of changes to the inventory and to the users of a
// company, and the ports that make them.
package inventory

import (
	"context"
	"slices"

	"simgraph/domain"
	"simgraph/domain/carrier"
)

// Inventory changes the records of a company one by one. An edit gets the record as
// it is and changes it; its error ends the change. What is edited must break no rule
// of an import. Groups and tariffs belong to the whole company: a restricted scope is
// Forbidden to change them.
type Inventory interface {
	// CreateSubscriber adds a subscriber; Forbidden for a restricted scope, from which
	// a number that is taken could not be hidden.
	CreateSubscriber(ctx context.Context, scope domain.Scope, s *domain.Subscriber) (*domain.Subscriber, error)
	// EditSubscriber changes one that the scope shows, as far as CheckEdit allows. A
	// change of the group counts from now on. What a carrier must do becomes commands
	// where the company has a provider.
	EditSubscriber(ctx context.Context, scope domain.Scope, physicalID string, edit func(*domain.Subscriber) error) (*Edited, error)
	// CreateGroup adds a group. GroupID 0 stands for the number after the highest.
	CreateGroup(ctx context.Context, scope domain.Scope, g domain.Group) (*domain.Group, error)
	EditGroup(ctx context.Context, scope domain.Scope, id int64, edit func(*domain.Group) error) (*domain.Group, error)
	// RemoveGroup removes a group that nothing names, also not the history of usage,
	// and returns it.
	RemoveGroup(ctx context.Context, scope domain.Scope, id int64) (*domain.Group, error)
	CreateTariff(ctx context.Context, scope domain.Scope, t domain.Tariff) (*domain.Tariff, error)
	EditTariff(ctx context.Context, scope domain.Scope, name string, edit func(*domain.Tariff) error) (*domain.Tariff, error)
	// RemoveTariff removes a tariff that no subscriber has, and returns it.
	RemoveTariff(ctx context.Context, scope domain.Scope, name string) (*domain.Tariff, error)
}

// Edited is a subscriber after an edit.
type Edited struct {
	Subscriber *domain.Subscriber
	// Commands are what its carrier was asked to do.
	Commands []*carrier.Command
	// InventoryOnly is set where the company has no provider, so that nothing goes further.
	InventoryOnly bool
}

// Users changes the accounts of a company, for callers of the whole company.
type Users interface {
	// CreateUser adds an account with at most the permissions of the caller.
	CreateUser(ctx context.Context, caller *domain.Caller, u domain.User) (*domain.User, error)
	// EditUser changes one, as far as CheckUserEdit allows. The last administrator of
	// the company stays one.
	EditUser(ctx context.Context, caller *domain.Caller, email string, edit func(*domain.User) error) (*domain.User, error)
	// RemoveUser removes one, with its keys, tokens, sessions and invitation, and returns
	// it. A caller is not removed, and has every permission of the account.
	RemoveUser(ctx context.Context, caller *domain.Caller, email string) (*domain.User, error)
}

// WholeCompany returns Forbidden for a restricted scope.
func WholeCompany(scope domain.Scope, what string) error {
	if scope.Restricted() {
		return domain.Forbidden("%s belong to the whole company, and this user is attached to groups", what)
	}
	return nil
}

// CheckEdit rejects a change of a subscriber that breaks a rule of its fields, or by
// which the user of a restricted scope would lose sight of it, would see or set what
// its group hides, or would get the usage of a subscriber of another group.
//
// A nickname that stays is not checked: it may be older than the rules of names.
func CheckEdit(scope domain.Scope, before, after *domain.Subscriber) error {
	checked := *after
	if after.Nickname == before.Nickname {
		checked.Nickname = ""
	}
	if err := checked.Check(); err != nil {
		return err
	}
	if !scope.Restricted() {
		return nil
	}
	if err := checkMove(scope, before.GroupID, after.GroupID); err != nil {
		return err
	}
	if before.IMSI != after.IMSI || before.SubscriberID != after.SubscriberID || !same(before.DataNumber, after.DataNumber) ||
		!same(before.FixedIPAddress, after.FixedIPAddress) || !before.ConnectionDate.Equal(after.ConnectionDate) {
		return domain.Forbidden("numbers, the fixed address and the connection date decide whose usage is reported, and this user is attached to groups")
	}
	if !same(before.ParentPhysicalID, after.ParentPhysicalID) || !same(before.IsEnabledOnParent, after.IsEnabledOnParent) {
		return domain.Forbidden("profiles may be of any group, and this user is attached to groups")
	}
	// The value that is hidden would show by what is rejected: setting it again is an edit too.
	if hides(scope, before.GroupID) && (before.TariffName != after.TariffName || before.ContractLength != after.ContractLength) {
		return domain.Forbidden("the group of the subscriber hides tariff details from this user")
	}
	return nil
}

// checkMove rejects a move by a user of groups out of them, or out of a group that
// hides tariff details into one that does not.
func checkMove(scope domain.Scope, from, to *int64) error {
	switch {
	case same(from, to):
		return nil
	case to == nil:
		return domain.Forbidden("this user is attached to groups, and would not see a subscriber in no group any more")
	case !slices.Contains(scope.Groups, *to):
		return domain.NotFound("groupId", "group", formatInt(*to))
	case hides(scope, from) && !hides(scope, to):
		return domain.Forbidden("the group of the subscriber hides tariff details from this user, and the other group would show them")
	}
	return nil
}

// hides reports whether the group hides tariff details from the users of the scope.
func hides(scope domain.Scope, group *int64) bool {
	return group != nil && slices.Contains(scope.Masked, *group)
}

func same[T comparable](a, b *T) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// Current returns the caller with the rights that the caller's account still has. It
// is Forbidden when the account may not change users any more.
func Current(caller *domain.Caller, account *domain.User) (*domain.Caller, error) {
	if account.Disabled || len(account.Groups) > 0 {
		return nil, domain.Forbidden("the account of the caller may not change users any more")
	}
	now := *caller
	now.Permissions = slices.DeleteFunc(slices.Clone(caller.Permissions), func(p domain.Permission) bool {
		return !slices.Contains(account.Permissions, p)
	})
	return &now, now.Need(domain.ViewUserDetails)
}

// CheckUserEdit rejects a change of an account that has, before or after, more
// permissions than the caller: nobody gives or takes what is not theirs.
func CheckUserEdit(caller *domain.Caller, before, after *domain.User) error {
	if err := CheckUser(caller, after); err != nil {
		return err
	}
	return caller.Need(before.Permissions...)
}

// maxGroups bounds the groups of a user.
const maxGroups = domain.MaxBatch

// CheckUser rejects an account that breaks a rule of its fields, or has permissions
// that the caller has not.
func CheckUser(caller *domain.Caller, u *domain.User) error {
	if err := checkAccount(u); err != nil {
		return err
	}
	return caller.Need(u.Permissions...)
}

// Administers reports whether the account can change others: one of the whole
// company that is enabled and has the permission for users.
func Administers(u *domain.User) bool {
	return !u.Disabled && len(u.Groups) == 0 && slices.Contains(u.Permissions, domain.ViewUserDetails)
}
