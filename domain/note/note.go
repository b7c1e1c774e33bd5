// Package note is about notes: texts that people pin to a moment of a time axis.
package note

import (
	"context"
	"time"

	"simgraph/domain"
	"simgraph/domain/query"
)

const (
	// MaxNotes bounds the notes of a company.
	MaxNotes = 10_000
	// MaxText is the longest text of a note in characters.
	MaxText = 500
	// firstYear and lastYear bound the moments, as those of usage.
	firstYear = 1970
	lastYear  = 2200
)

// Note is a text at a moment, or over a span. It is about a group, about a subscriber, or, where
// both are nil, about the company.
type Note struct {
	// NoteID is a UUID, which bundles keep.
	NoteID string
	Text   string
	// StartsAt is the moment. EndsAt is nil for a moment alone; the span is half-open.
	StartsAt time.Time
	EndsAt   *time.Time
	// At most one of these is there.
	GroupID    *int64
	PhysicalID *string
	// OwnerID is 0 for a user who is not known here. Owner is the e-mail address.
	OwnerID   int64
	Owner     string
	CreatedAt time.Time
	ChangedAt time.Time
}

// Version changes with what can be edited.
func (n *Note) Version() string { return domain.VersionOf(n.Text, n.StartsAt.UTC(), utc(n.EndsAt)) }

func utc(at *time.Time) *time.Time {
	if at == nil {
		return nil
	}
	return new(at.UTC())
}

// Checked returns the note with its text in NFC, or an error that says which rule of its fields
// it breaks. Whether the group or the subscriber exists is for the caller to find.
func (n Note) Checked() (Note, error) {
	var err error
	if n.Text, err = domain.NewText("text", n.Text, MaxText); err != nil {
		return n, err
	}
	if err := checkMoment("startsAt", n.StartsAt); err != nil {
		return n, err
	}
	if n.EndsAt != nil {
		if err := checkMoment("endsAt", *n.EndsAt); err != nil {
			return n, err
		}
		if !n.EndsAt.After(n.StartsAt) {
			return n, domain.Invalid("endsAt", "a note must end after it begins")
		}
	}
	if n.GroupID != nil {
		if n.PhysicalID != nil {
			return n, domain.Invalid("groupId", "a note is about a group or about a subscriber: name one of them")
		}
		return n, domain.CheckGroupID(*n.GroupID)
	}
	if n.PhysicalID != nil {
		return n, domain.CheckPhysicalID(*n.PhysicalID)
	}
	return n, nil
}

func checkMoment(field string, at time.Time) error {
	if year := at.UTC().Year(); year < firstYear || year >= lastYear {
		return domain.Invalid(field, "%s must be in the years %d to %d", field, firstYear, lastYear-1)
	}
	return nil
}

// IsEditable reports whether the scope, which sees the note, may change it: who made it, and
// users of the whole company.
func (n *Note) IsEditable(scope domain.Scope) bool { return scope.MayEditKept(n.OwnerID, true) }

// MayPin refuses a note about the whole company to users of groups.
func (n *Note) MayPin(scope domain.Scope) error {
	if scope.Restricted() && n.GroupID == nil && n.PhysicalID == nil {
		return domain.Forbidden("users of groups pin notes to a group or to a subscriber")
	}
	return nil
}

// Edit is what changes on a note; nil stays as it is. Where SetEnd is true, EndsAt takes the
// place of the end, and nil makes it a moment. What it is about stays.
type Edit struct {
	Text     *string
	StartsAt *time.Time
	SetEnd   bool
	EndsAt   *time.Time
}

// Apply changes the note for the scope, and refuses what it may not change.
func (e Edit) Apply(scope domain.Scope, n Note) (Note, error) {
	if !n.IsEditable(scope) {
		return n, domain.Forbidden("a note is changed by who made it, and by users of the whole company")
	}
	if e.Text != nil {
		n.Text = *e.Text
	}
	if e.StartsAt != nil {
		n.StartsAt = *e.StartsAt
	}
	if e.SetEnd {
		n.EndsAt = e.EndsAt
	}
	return n.Checked()
}

// Notes keeps notes. A scope sees those about the company, and those about the groups and the
// subscribers that it sees.
type Notes interface {
	// List returns the notes, the latest moment first unless the listing has another order.
	List(ctx context.Context, scope domain.Scope, listing domain.Listing) (domain.Slice[*Note], error)
	Count(ctx context.Context, scope domain.Scope, listing domain.Listing) (int, error)
	// FindMany answers for a batch at once, keyed by id. What is no UUID names none.
	FindMany(ctx context.Context, scope domain.Scope, ids []string) (map[string]*Note, error)
	// Create keeps a note of the user of the scope.
	Create(ctx context.Context, scope domain.Scope, note Note) (*Note, error)
	Edit(ctx context.Context, scope domain.Scope, id string, edit Edit) (*Note, error)
	// Remove returns the note as it was.
	Remove(ctx context.Context, scope domain.Scope, id string) (*Note, error)
}

// Fields are what notes can be filtered and ordered by.
var Fields = query.NewFields(
	query.Field{Name: "noteId", Type: query.Text},
	query.Field{Name: "text", Type: query.Text},
	query.Field{Name: "startsAt", Type: query.Time},
	query.Field{Name: "endsAt", Type: query.Time},
	query.Field{Name: "groupId", Type: query.Integer},
	query.Field{Name: "physicalId", Type: query.Text},
	query.Field{Name: "owner", Type: query.Text},
	query.Field{Name: "createdAt", Type: query.Time},
	query.Field{Name: "changedAt", Type: query.Time},
)
