package webhook

import (
	"slices"

	"simgraph/domain"
)

// EventType is what happened.
type EventType string

// The types of events.
const (
	// AlertFired: usage exceeded a threshold of an alert.
	AlertFired EventType = "alert.fired"
	// AlertResolved: what an alert on a condition reported is over.
	AlertResolved EventType = "alert.resolved"
	// SourceSilent: a source of usage reports nothing.
	SourceSilent EventType = "source.silent"
	// SubscriberChanged: the record, the tags or the network state of subscribers changed.
	SubscriberChanged EventType = "subscriber.changed"
	// OperationFinished: a change of many subscribers ended.
	OperationFinished EventType = "operation.finished"
	// Test is sent on request, whatever the filter.
	Test EventType = "webhook.test"
	// CommandRequested asks the provider of a company to change something at a carrier.
	CommandRequested EventType = "command.requested"
)

// Types are the events that an endpoint can choose.
var Types = []EventType{AlertFired, AlertResolved, SourceSilent, SubscriberChanged, OperationFinished}

// Filter selects the events of an endpoint.
type Filter struct {
	EventTypes []EventType
	// AlertIDs, GroupIDs and TagNames restrict the events to those of one of the alerts,
	// of subscribers or groups that are in one of the groups, and of subscribers with one
	// of the tags. An empty one restricts nothing. AlertIDs concern AlertFired and AlertResolved.
	AlertIDs, GroupIDs []int64
	TagNames           []string
}

func (f *Filter) check() error {
	if len(f.EventTypes) == 0 {
		return domain.Invalid("eventTypes", "a webhook needs at least one event type")
	}
	for i, of := range f.EventTypes {
		if !slices.Contains(Types, of) {
			return domain.Invalid("eventTypes", "there is no event type %q", of)
		}
		if slices.Contains(f.EventTypes[:i], of) {
			return domain.At(domain.Item("eventTypes", i), domain.Invalid("", "the event type %q is named twice", of))
		}
	}
	for field, n := range map[string]int{"alertIds": len(f.AlertIDs), "groupIds": len(f.GroupIDs), "tagNames": len(f.TagNames)} {
		if n > MaxFilters {
			return domain.Invalid(field, "at most %d, not %d", MaxFilters, n)
		}
	}
	for i, name := range f.TagNames {
		tag, err := domain.NewTagName(name)
		if err != nil {
			return domain.At(domain.Item("tagNames", i), err)
		}
		f.TagNames[i] = string(tag)
	}
	return nil
}

// About is what a filter compares of an event.
type About struct {
	Type EventType
	// AlertID is that of the alert, 0 where it is about none, and OfCompany whether it
	// watches the whole company.
	AlertID   int64
	OfCompany bool
	// Groups are those of the subject and of the alert's target; a user of groups must
	// see all of them. Without any, only users of the whole company do.
	Groups []int64
	Tags   []string
}

// Selects reports whether the filter lets the event through.
func (f *Filter) Selects(event *About) bool {
	return slices.Contains(f.EventTypes, event.Type) &&
		(len(f.AlertIDs) == 0 || event.AlertID == 0 || slices.Contains(f.AlertIDs, event.AlertID)) &&
		(len(f.GroupIDs) == 0 || meet(f.GroupIDs, event.Groups)) &&
		(len(f.TagNames) == 0 || meet(f.TagNames, event.Tags))
}

func meet[T comparable](some, others []T) bool {
	return slices.ContainsFunc(some, func(one T) bool { return slices.Contains(others, one) })
}

// Sight is what the user of an endpoint may see: nil Groups are the whole company.
type Sight struct {
	Groups []int64
	// Current are the groups that the user is attached to now, which may be fewer than
	// those at the time of the endpoint; Blind is one who may not sign in any more.
	Current []int64
	Blind   bool
}

// Shows reports whether the event may be sent to an endpoint of that sight.
func (s *Sight) Shows(event *About) bool {
	if s.Groups == nil {
		return true
	}
	if s.Blind || event.OfCompany || len(event.Groups) == 0 {
		return false
	}
	for _, group := range event.Groups {
		if !slices.Contains(s.Groups, group) || len(s.Current) > 0 && !slices.Contains(s.Current, group) {
			return false
		}
	}
	return true
}
