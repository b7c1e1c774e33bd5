package inventory

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"simgraph/domain"
)

// subscriberTexts are the fields of a subscriber as the audit log has them; nil for none.
var subscriberTexts = []struct {
	name string
	text func(*domain.Subscriber) *string
}{
	{"kind", func(s *domain.Subscriber) *string { return (*string)(&s.Kind) }},
	{"subscriberId", func(s *domain.Subscriber) *string { return &s.SubscriberID }},
	{"dataNumber", func(s *domain.Subscriber) *string { return s.DataNumber }},
	{"imsi", func(s *domain.Subscriber) *string { return &s.IMSI }},
	{"fixedIpAddress", func(s *domain.Subscriber) *string { return s.FixedIPAddress }},
	{"nickname", func(s *domain.Subscriber) *string { return &s.Nickname }},
	{"operatorCode", func(s *domain.Subscriber) *string { return &s.OperatorCode }},
	{"tariffName", func(s *domain.Subscriber) *string { return s.TariffName }},
	{"contractLength", func(s *domain.Subscriber) *string { return optional(s.ContractLength, strconv.Itoa) }},
	{"connectionDate", func(s *domain.Subscriber) *string { return optional(&s.ConnectionDate, formatTime) }},
	{"expiryDate", func(s *domain.Subscriber) *string { return optional(&s.ExpiryDate, formatTime) }},
	{"terminateDate", func(s *domain.Subscriber) *string { return optional(s.TerminateDate, formatTime) }},
	{"isBarred", func(s *domain.Subscriber) *string { return optional(&s.IsBarred, strconv.FormatBool) }},
	{"isActive", func(s *domain.Subscriber) *string { return optional(&s.IsActive, strconv.FormatBool) }},
	{"groupId", func(s *domain.Subscriber) *string { return optional(s.GroupID, formatInt) }},
	{"subscriberType", func(s *domain.Subscriber) *string { return (*string)(&s.SubscriberType) }},
	{"eid", func(s *domain.Subscriber) *string { return s.EID }},
	{"smdpProvider", func(s *domain.Subscriber) *string { return s.SMDPProvider }},
	{"parent", func(s *domain.Subscriber) *string { return s.ParentPhysicalID }},
	{"isEnabledOnParent", func(s *domain.Subscriber) *string { return optional(s.IsEnabledOnParent, strconv.FormatBool) }},
}

// Changes are the fields in which the records differ, for the audit log. Nothing was
// before a new subscriber.
func Changes(before, after *domain.Subscriber) (all []domain.AuditChange) {
	for _, field := range subscriberTexts {
		var old *string
		if before != nil {
			old = field.text(before)
		}
		all = append(all, changed(field.name, old, field.text(after))...)
	}
	return all
}

// UserChanges are the fields in which the accounts differ. Of the groups, which may be
// many, they have those that were left and those that were joined.
func UserChanges(before, after *domain.User) (all []domain.AuditChange) {
	for _, field := range []struct {
		name string
		text func(of, other *domain.User) string
	}{
		{"permissions", func(of, _ *domain.User) string {
			return joined(of.Permissions, func(p domain.Permission) string { return string(p) })
		}},
		{"groups", func(of, other *domain.User) string { return joined(without(of.Groups, other.Groups), formatInt) }},
		{"disabled", func(of, _ *domain.User) string { return strconv.FormatBool(of.Disabled) }},
	} {
		all = append(all, domain.Changed(field.name, field.text(before, after), field.text(after, before))...)
	}
	return all
}

func changed(field string, before, after *string) []domain.AuditChange {
	switch {
	case same(before, after):
		return nil
	case before == nil:
		return []domain.AuditChange{domain.Became(field, *after)}
	case after == nil:
		return []domain.AuditChange{domain.Was(field, *before)}
	}
	return domain.Changed(field, *before, *after)
}

func optional[T any](value *T, format func(T) string) *string {
	if value == nil {
		return nil
	}
	text := format(*value)
	return &text
}

func joined[T any](items []T, format func(T) string) string {
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = format(item)
	}
	slices.Sort(texts)
	return strings.Join(slices.Compact(texts), " ")
}

// without returns the items that are not among the others.
func without[T comparable](items, others []T) []T {
	return slices.DeleteFunc(slices.Clone(items), func(item T) bool { return slices.Contains(others, item) })
}

func formatTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

func formatInt(n int64) string { return strconv.FormatInt(n, 10) }

// Text returns a field of a subscriber, by its name in Changes, as a text; nil for none.
func Text(of *domain.Subscriber, name string) *string {
	for _, field := range subscriberTexts {
		if field.name == name {
			return field.text(of)
		}
	}
	return nil
}
