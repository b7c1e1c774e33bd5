// Package bundle reads and writes companies as text: UTF-8 NDJSON, one object a
// line, distinguished by its field "type". Usage may also come as CSV.
//
// A field that may be null may also be left out, which means null. Every other
// field must be there, except billingDay (1), timeZone ("UTC"),
// hideTariffDetails (false), imsi (""), permissions, groups (none), of a user
// disabled (as it is) and, of a profile, what has a default. Unknown fields, repeated fields, texts with lone
// surrogates and lines over a megabyte are refused. Blank lines are skipped.
//
// Lines may come in any order of types in which a line follows those that it
// names: the company before all that is in it, operators, tariffs and groups
// before subscribers, an eUICC before its profiles, subscribers before their
// tags and alerts. Usage may come before its subscriber: it waits for it.
package bundle

import "simgraph/domain"

// Type is what a line holds.
type Type string

// The types of lines.
const (
	Company    Type = "company"
	Operator   Type = "operator"
	Tariff     Type = "tariff"
	Group      Type = "group"
	User       Type = "user"
	Subscriber Type = "subscriber"
	// Membership reports a group that a subscriber was in from a moment on,
	// for those that changed it: usage counts for the group of its time.
	Membership Type = "membership"
	Tag        Type = "tag"
	Alert      Type = "alert"
	Recipient  Type = "recipient"
	// Suppression reports a recipient that gets no mail any more.
	Suppression Type = "suppression"
	// AlertLog is an alert that fired, so that it does not again.
	AlertLog Type = "alert-log"
	// SourceProfile describes how the records of a sender are read.
	SourceProfile Type = "source-profile"
	// Question is a shared question about usage.
	Question Type = "question"
	// Dashboard is a shared dashboard.
	Dashboard Type = "dashboard"
	// Report is a report of a shared question or dashboard.
	Report Type = "report"
	// Note is a text that people pinned to a moment.
	Note Type = "note"
	// Session is a session that counters reported, with its highest reading, so
	// that its next report books no more than is above that.
	Session Type = "session"
	Usage   Type = "usage"
)

// Types returns the types in an order in which every line follows those that it
// names.
func Types() []Type {
	return []Type{Company, Operator, Tariff, Group, User, Subscriber, Membership, Tag, Alert, Recipient, Suppression, AlertLog, SourceProfile, Question, Dashboard, Report, Note, Session, Usage}
}

// Item is the content of one line, checked by the rules of the domain.
type Item struct {
	Type Type
	// Company is the external id of the company that the line belongs to; ""
	// for an operator.
	Company string
	// Value is, by Type, a *domain.Company, *domain.Operator, *domain.Tariff,
	// *domain.Group, *domain.UserImport, *domain.Subscriber, domain.Membership,
	// domain.TagImport, domain.AlertSpec, the e-mail address of a recipient as a
	// string, a domain.Suppression, domain.Firing, *source.Profile,
	// *domain.Question, *dashboard.Dashboard, *report.Report, *note.Note, *domain.SessionImport or domain.UsageRecord.
	Value any
}

// fields notes the first field that a line lacks.
type fields struct{ missing string }

// need returns the value of a field that must be there.
func need[T any](f *fields, name string, value *T) (v T) {
	if value != nil {
		return *value
	}
	if f.missing == "" {
		f.missing = name
	}
	return v
}

// check refuses a line that lacks a field or breaks a rule of the domain.
func (f *fields) check(rules func() error) error {
	if f.missing != "" {
		return domain.Invalid(f.missing, "%s is missing", f.missing)
	}
	return rules()
}

// either returns the value of a field that may be left out.
func either[T any](value *T, otherwise T) T {
	if value != nil {
		return *value
	}
	return otherwise
}
