package inventory

import (
	"simgraph/domain"
)

// An edit is tried on a record that breaks no rule before the one that it is for is looked
// up. What no record could take is Invalid, whether or not there is one with the
// identifier. A later check would reveal which records exist, because the errors would differ.

// TrySubscriber tries an edit of the subscriber with the physicalId.
func TrySubscriber(physicalID string, edit func(*domain.Subscriber) error) error {
	trial := domain.Subscriber{
		Kind: domain.Cellular, SubscriberType: domain.Physical, PhysicalID: physicalID, SubscriberID: "1", OperatorCode: "1",
		TariffName: new("tariff"), ContractLength: new(0),
	}
	if err := edit(&trial); err != nil {
		return err
	}
	if trial.ExpiryDate.IsZero() { // it is the record's, which the edit leaves as it is
		trial.ExpiryDate = trial.ConnectionDate
	}
	return trial.Check()
}

// TryGroup tries an edit of a group.
func TryGroup(edit func(*domain.Group) error) error {
	trial := domain.Group{GroupID: 1, Name: "group"}
	if err := edit(&trial); err != nil {
		return err
	}
	return trial.Check()
}

// TryTariff tries an edit of a tariff.
func TryTariff(edit func(*domain.Tariff) error) error {
	trial := domain.Tariff{Name: "tariff", Currency: "GBP"}
	if err := edit(&trial); err != nil {
		return err
	}
	return trial.Check()
}

// TryUser tries an edit of a user.
func TryUser(edit func(*domain.User) error) error {
	trial := domain.User{Email: "user@company.example"}
	if err := edit(&trial); err != nil {
		return err
	}
	return checkAccount(&trial)
}

// checkAccount rejects an account that breaks a rule of its fields.
func checkAccount(u *domain.User) error {
	if err := u.Check(); err != nil {
		return err
	}
	if len(u.Groups) > maxGroups {
		return domain.Invalid(domain.UserGroupsField, "a user is attached to at most %d groups, not %d", maxGroups, len(u.Groups))
	}
	return nil
}
