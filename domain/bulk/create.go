package bulk

import (
	"slices"
	"strings"
	"time"

	"simgraph/domain"
	"simgraph/domain/inventory"
)

// Stated is what a row says of a subscriber beside what operations change. A row that
// creates needs some of it, and one of a subscriber that exists must agree with it. What is
// nil is not said.
type Stated struct {
	Kind                                *domain.Kind
	SubscriberID, DataNumber, IMSI      *string
	FixedIPAddress                      *string
	OperatorCode                        *string
	ContractLength                      *int
	ConnectionDate, ExpiryDate          *time.Time
	IsActive                            *bool
	SubscriberType                      *domain.SubscriberType
	EID, SMDPProvider, ParentPhysicalID *string
	IsEnabledOnParent                   *bool
}

// IsEmpty reports whether nothing is said.
func (s Stated) IsEmpty() bool { return s == Stated{} }

// on writes what is said onto a record.
func (s Stated) on(of *domain.Subscriber) {
	put(s.Kind, &of.Kind)
	put(s.SubscriberID, &of.SubscriberID)
	put(s.IMSI, &of.IMSI)
	put(s.OperatorCode, &of.OperatorCode)
	put(s.ConnectionDate, &of.ConnectionDate)
	put(s.ExpiryDate, &of.ExpiryDate)
	put(s.IsActive, &of.IsActive)
	put(s.SubscriberType, &of.SubscriberType)
	of.DataNumber, of.FixedIPAddress = either(s.DataNumber, of.DataNumber), either(s.FixedIPAddress, of.FixedIPAddress)
	of.ContractLength = either(s.ContractLength, of.ContractLength)
	of.EID, of.SMDPProvider = either(s.EID, of.EID), either(s.SMDPProvider, of.SMDPProvider)
	of.ParentPhysicalID, of.IsEnabledOnParent = either(s.ParentPhysicalID, of.ParentPhysicalID), either(s.IsEnabledOnParent, of.IsEnabledOnParent)
}

func put[T any](value, to *T) {
	if value != nil {
		*to = *value
	}
}

// check rejects what no subscriber can have.
func (s Stated) check(physicalID string) error {
	return inventory.TrySubscriber(physicalID, func(of *domain.Subscriber) error {
		s.on(of)
		return nil
	})
}

// Agrees returns an error where the record is not as is said.
func (s Stated) Agrees(scope domain.Scope, of *domain.Subscriber) error {
	if s.IsEmpty() {
		return nil
	}
	after := *of
	s.on(&after)
	// A value that the scope hides must not show by the outcome.
	if scope.Restricted() {
		if err := inventory.CheckEdit(scope, of, &after); err != nil {
			return err
		}
	}
	if differ := inventory.Changes(of, &after); len(differ) > 0 {
		d := differ[0]
		return domain.Invalid(d.Field, "%s of the subscriber is %s, not %s: an operation does not change it", d.Field, quoted(d.Before), quoted(d.After))
	}
	return nil
}

// needed are the columns without which no subscriber is created.
func (s Stated) needed(c Change) []struct {
	name  string
	there bool
} {
	return []struct {
		name  string
		there bool
	}{
		{"subscriberId", s.SubscriberID != nil}, {"operatorCode", s.OperatorCode != nil}, {"tariffName", c.TariffName != nil},
		{"contractLength", s.ContractLength != nil}, {"connectionDate", s.ConnectionDate != nil}, {"expiryDate", s.ExpiryDate != nil},
	}
}

// Needed are the names of what a row that creates must have beside the physicalId.
func Needed() (names []string) {
	for _, field := range (Stated{}).needed(Change{}) {
		names = append(names, field.name)
	}
	return names
}

// CreatePermission is what creating subscribers needs, as it does one by one.
const CreatePermission = domain.ManageInventory

// MayCreate rejects a caller that may not create subscribers: it must see the whole company,
// since a number that is taken could not be hidden.
func MayCreate(caller *domain.Caller) error {
	if err := caller.Need(CreatePermission); err != nil {
		return err
	}
	return inventory.WholeCompany(caller.Scope, "new subscribers")
}

// errNoSubscriber is the error for a subscriber that is not there where none is created.
func errNoSubscriber(physicalID string, stated Stated) error {
	err := domain.NotFound("physicalId", "subscriber", physicalID)
	if !stated.IsEmpty() {
		err.Message += ": it is created only where the operation says create"
	}
	return err
}

// Create makes the subscriber of a row that does not exist; it is all made, or nothing of it.
// What the row names, such as its tariff, is for the store to find.
func (r Row) Create(scope domain.Scope, position int, creates bool) (e Edited, err error) {
	if !creates {
		return e, errNoSubscriber(r.PhysicalID, r.Stated)
	}
	if err := inventory.WholeCompany(scope, "new subscribers"); err != nil {
		return e, err
	}
	var missing []string
	for _, field := range r.needed(r.Change) {
		if !field.there {
			missing = append(missing, field.name)
		}
	}
	if len(missing) > 0 {
		return e, domain.Invalid(missing[0], "there is no subscriber %q, and to create it the row lacks %s", r.PhysicalID, strings.Join(missing, ", "))
	}
	of := &e.Subscriber
	*of = domain.Subscriber{PhysicalID: r.PhysicalID, Kind: domain.Cellular, SubscriberType: domain.Physical, IsActive: true, TariffName: r.TariffName}
	r.on(of)
	put(r.IsBarred, &of.IsBarred)
	if r.Move != nil {
		of.GroupID = r.Move.GroupID
	}
	if r.Nickname != nil {
		of.Nickname = *r.Nickname
	} else if r.NicknamePattern != nil {
		of.Nickname = nickname(*r.NicknamePattern, of, position)
	}
	if at := r.TerminateDate; at != nil {
		if of.TerminateDate, of.IsActive = at, false; at.Before(of.ConnectionDate) {
			return e, domain.Invalid("terminateDate", "terminateDate must not be before connectionDate")
		}
	}
	e.Tags = slices.Clone(r.AddTags)
	e.Changes = created(e.Record)
	return e, of.Check()
}

// created are the changes that made a record.
func created(of Record) []domain.AuditChange {
	changes := inventory.Changes(nil, &of.Subscriber)
	for _, tag := range of.Tags {
		changes = append(changes, domain.Became(TagsField, string(tag)))
	}
	return changes
}

// Removal takes the creation of a record back, which has all its tags. It returns an error
// where the record is not any more as it was created, or where that is not possible in the
// scope.
func Removal(scope domain.Scope, now Record, made []domain.AuditChange) (changes []domain.AuditChange, changedSince bool, err error) {
	if err := inventory.WholeCompany(scope, "subscribers that were created"); err != nil {
		return nil, false, err
	}
	all := inventory.Changes(nil, &now.Subscriber)
	for _, field := range fieldsOf(made, all) {
		if was, is := valueOf(made, field), valueOf(all, field); !same(was, is) {
			return nil, true, domain.Invalid(field, "%s was changed since: it is %s, not %s", field, quoted(is), quoted(was))
		}
	}
	tags := TagsOf(made)
	for _, tag := range slices.Concat(tags, now.Tags) {
		if slices.Contains(tags, tag) != slices.Contains(now.Tags, tag) {
			return nil, true, domain.Invalid(TagsField, "the tag %q was added or removed since", tag)
		}
	}
	for _, c := range made {
		changes = append(changes, domain.Was(c.Field, *c.After))
	}
	return changes, false, nil
}

// fieldsOf are the fields of both but for tags, each once.
func fieldsOf(one, other []domain.AuditChange) (names []string) {
	for _, c := range slices.Concat(one, other) {
		if c.Field != TagsField && !slices.Contains(names, c.Field) {
			names = append(names, c.Field)
		}
	}
	return names
}

func valueOf(changes []domain.AuditChange, field string) *string {
	for _, c := range changes {
		if c.Field == field {
			return c.After
		}
	}
	return nil
}
