// Package silence holds the rules of silences: spans of time in which alerts that fire are
// logged, and nobody is notified of them.
package silence

import (
	"context"
	"slices"
	"time"

	"simgraph/domain"
	"simgraph/domain/query"
)

const (
	// MaxSilences bounds the silences of a company that are not over.
	MaxSilences = 100
	// MaxSpan is how long a silence lasts at most.
	MaxSpan = 366 * 24 * time.Hour
	// Kept is how long a silence is kept after its end.
	Kept = 366 * 24 * time.Hour
	// MaxOccurrenceSpan is the longest span that occurrences are computed of.
	MaxOccurrenceSpan = 92 * 24 * time.Hour
	// MaxMatches bounds how many alerts, groups, tags or subscribers a silence names.
	MaxMatches = 100
)

// Matcher selects what is silenced: entries of the logs of alerts with one of the alerts, on
// one of the groups or a subscriber in one, about a subscriber with one of the tags, and
// about one of the subscribers. An empty list restricts nothing.
type Matcher struct {
	AlertIDs, GroupIDs    []int64
	TagNames, PhysicalIDs []string
}

func (m *Matcher) check() error {
	for _, list := range []struct {
		field string
		n     int
	}{{"alertIds", len(m.AlertIDs)}, {"groupIds", len(m.GroupIDs)}, {"tagNames", len(m.TagNames)}, {"physicalIds", len(m.PhysicalIDs)}} {
		if list.n > MaxMatches {
			return domain.Invalid(list.field, "at most %d, not %d", MaxMatches, list.n)
		}
	}
	for i, name := range m.TagNames {
		tag, err := domain.NewTagName(name)
		if err != nil {
			return domain.At(domain.Item("tagNames", i), err)
		}
		m.TagNames[i] = string(tag)
	}
	return nil
}

// Spec is a silence to be made.
type Spec struct {
	// Reason says why, for people.
	Reason string
	Matcher
	// StartsAt and EndsAt are the half-open span that the silence is in force.
	StartsAt, EndsAt time.Time
	// Weekly are the windows of a week outside of which it silences nothing; it always
	// silences where there are none.
	Weekly []Window
}

// Version changes with what can be edited.
func (s *Spec) Version() string {
	return domain.VersionOf(s.Reason, s.AlertIDs, s.GroupIDs, s.TagNames, s.PhysicalIDs, s.StartsAt.UTC(), s.EndsAt.UTC(), s.Weekly)
}

// Check rejects what no silence can be at the time. Whether alerts, groups and subscribers
// exist is for the caller to find.
func (s *Spec) Check(at time.Time) error {
	if err := domain.CheckName("reason", s.Reason); err != nil {
		return err
	}
	switch {
	case !s.EndsAt.After(s.StartsAt):
		return domain.Invalid("endsAt", "a silence must end after it begins")
	case !s.EndsAt.After(at):
		return domain.Invalid("endsAt", "a silence must end in the future")
	case s.EndsAt.Sub(s.StartsAt) > MaxSpan:
		return domain.Invalid("endsAt", "a silence lasts at most %d days", int(MaxSpan.Hours())/24)
	}
	if err := checkWindows(s.Weekly); err != nil {
		return err
	}
	return s.check()
}

// Begin lets a silence begin at the time that has no begin, or one before that.
func (s *Spec) Begin(at time.Time) {
	if s.StartsAt.Before(at) {
		s.StartsAt = at
	}
}

// Same reports whether the other one silences the same, for the same reason.
func (s *Spec) Same(other *Spec) bool {
	return s.Reason == other.Reason && s.StartsAt.Equal(other.StartsAt) && s.EndsAt.Equal(other.EndsAt) && slices.Equal(s.Weekly, other.Weekly) &&
		slices.Equal(s.AlertIDs, other.AlertIDs) && slices.Equal(s.GroupIDs, other.GroupIDs) &&
		slices.Equal(s.TagNames, other.TagNames) && slices.Equal(s.PhysicalIDs, other.PhysicalIDs)
}

// Silence keeps alerts from notifying anybody.
type Silence struct {
	SilenceID int64
	Spec
	// CreatedBy names the user who made it; "" for the program itself.
	CreatedBy string
	CreatedAt time.Time
	// Zone is where the windows of a week are: that of the company.
	Zone *time.Location
}

// Covers reports whether the silence silences at the time what it matches.
func (s *Silence) Covers(at time.Time) bool {
	if at.Before(s.StartsAt) || !at.Before(s.EndsAt) {
		return false
	}
	return len(s.Weekly) == 0 || slices.ContainsFunc(s.Weekly, func(w Window) bool { return w.covers(at, s.Zone) })
}

// Occurrences returns the spans between two times in which the silence silences, in their
// order. Those that meet are one.
func (s *Silence) Occurrences(from, until time.Time) []domain.Period {
	if from.Before(s.StartsAt) {
		from = s.StartsAt
	}
	if until.After(s.EndsAt) {
		until = s.EndsAt
	}
	if !until.After(from) {
		return nil
	}
	if len(s.Weekly) == 0 {
		return []domain.Period{{Start: from.UTC(), End: until.UTC()}}
	}
	return merged(occurrences(s.Weekly, s.Zone, from, until))
}

// Edit is what changes on a silence; nil stays as it is.
type Edit struct {
	Reason  *string
	EndsAt  *time.Time
	Weekly  *[]Window
	Matcher *Matcher
}

// Apply returns the specification after the edit.
func (e Edit) Apply(spec Spec) Spec {
	set(&spec.Reason, e.Reason)
	set(&spec.EndsAt, e.EndsAt)
	set(&spec.Weekly, e.Weekly)
	set(&spec.Matcher, e.Matcher)
	return spec
}

// Check refuses an edit that no silence can take at the time.
func (e Edit) Check(at time.Time) error {
	spec := e.Apply(Spec{Reason: "reason", EndsAt: at.Add(time.Minute)})
	spec.StartsAt = spec.EndsAt.Add(-time.Second)
	return spec.Check(at)
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// Silences keeps the silences of a company. They concern everybody, so every method is
// Forbidden to a restricted scope.
type Silences interface {
	// List returns the silences, ordered by id unless the listing has another order.
	List(ctx context.Context, scope domain.Scope, listing domain.Listing) (domain.Slice[*Silence], error)
	Count(ctx context.Context, scope domain.Scope, listing domain.Listing) (int, error)
	// FindMany answers for a batch at once, keyed by id.
	FindMany(ctx context.Context, scope domain.Scope, ids []int64) (map[int64]*Silence, error)
	// Create makes a silence. One without a start begins now, as does one that would have begun before.
	Create(ctx context.Context, scope domain.Scope, spec Spec) (*Silence, error)
	// Edit changes a silence that is not over.
	Edit(ctx context.Context, scope domain.Scope, id int64, edit Edit) (*Silence, error)
	// End ends a silence now, and removes one that has not begun. One that is over stays as it is.
	End(ctx context.Context, scope domain.Scope, id int64) (*Silence, error)
}

// Fields are what silences can be filtered and ordered by.
var Fields = query.NewFields(
	query.Field{Name: "silenceId", Type: query.Integer},
	query.Field{Name: "reason", Type: query.Text},
	query.Field{Name: "isEnded", Type: query.Boolean},
	query.Field{Name: "startsAt", Type: query.Time},
	query.Field{Name: "endsAt", Type: query.Time},
	query.Field{Name: "createdBy", Type: query.Text},
	query.Field{Name: "createdAt", Type: query.Time},
)
