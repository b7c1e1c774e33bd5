package domain

import (
	"context"
	"time"
)

// UserImport is a user as an import sets it.
type UserImport struct {
	User
	// KeepDisabled leaves a user disabled or not as it is; User.Disabled then
	// counts for a new user only.
	KeepDisabled bool
}

// TagImport is a tag on a subscriber.
type TagImport struct {
	PhysicalID string
	TagName    TagName
}

// Membership is the group of a subscriber from a moment on, until its
// next membership.
type Membership struct {
	PhysicalID string
	Since      time.Time
	// GroupID is nil for none.
	GroupID *int64
}

// Check refuses an impossible subscriber or group.
func (m *Membership) Check() error {
	if m.GroupID != nil {
		if err := CheckGroupID(*m.GroupID); err != nil {
			return err
		}
	}
	return CheckPhysicalID(m.PhysicalID)
}

// Outcome is what an import did with an item.
type Outcome int

// The outcomes. The zero value is none: the item was refused.
const (
	Created Outcome = iota + 1
	Updated
	Unchanged
	// Quarantined usage waits for its subscriber to appear.
	Quarantined
)

// Imported is what became of one item: an outcome, or why it was refused.
type Imported struct {
	Outcome Outcome
	Err     *Error
}

// Importer creates or replaces what bundles hold. Every method takes checked
// items with different identities and answers in their order. A refused item,
// one that names what the company does not have, spoils no other; an error
// means that none was stored. To import the same again changes nothing.
type Importer interface {
	// Companies creates or changes tenants by their ExternalID. Usage is booked
	// anew where the billing period changes.
	Companies(ctx context.Context, by *Actor, items []*Company) ([]Imported, error)
	// Operators are shared by all companies; the audit log of the Installation
	// keeps by whom they were imported.
	Operators(ctx context.Context, by *Actor, items []*Operator) ([]Imported, error)
	Tariffs(ctx context.Context, scope Scope, items []*Tariff) ([]Imported, error)
	Groups(ctx context.Context, scope Scope, items []*Group) ([]Imported, error)
	// Users refuses an e-mail address that a user of another company has.
	Users(ctx context.Context, scope Scope, items []*UserImport) ([]Imported, error)
	// Subscribers finds the parents of profiles among the items too. A change
	// of the group counts from now on. Of many items a part may be stored when
	// there is an error.
	Subscribers(ctx context.Context, scope Scope, items []*Subscriber) ([]Imported, error)
	// Memberships adds to the history of groups; one in the future is refused.
	Memberships(ctx context.Context, scope Scope, items []Membership) ([]Imported, error)
	// Questions keeps questions as shared ones.
	Questions(ctx context.Context, scope Scope, items []*Question) ([]Imported, error)
	// Tags attaches tags to subscribers.
	Tags(ctx context.Context, scope Scope, items []TagImport) ([]Imported, error)
}
