package condition

import (
	"fmt"
	"strings"
	"time"

	"simgraph/domain"
)

// Reason is why an alert on a condition has or has not fired for a subject.
type Reason string

// The reasons.
const (
	// HasFired: the log has an entry of what there is now.
	HasFired Reason = "FIRED"
	// NotReached: what the alert notices is not so now.
	NotReached Reason = "NOT_REACHED"
	// NotWatched: the subject is none of the alert's.
	NotWatched Reason = "NOT_WATCHED"
	// NotInUse: the subscriber is not active, barred, terminated or a profile that is not
	// enabled. Neither silences nor forecasts of it mean anything.
	NotInUse Reason = "NOT_IN_USE"
	// Unconfirmed: the source of the subject has not reported for long enough.
	Unconfirmed Reason = "UNCONFIRMED"
	// LittleHistory: the subject has been connected for too short a time.
	LittleHistory Reason = "LITTLE_HISTORY"
	// Pending: the next evaluation fires.
	Pending Reason = "PENDING"
)

// Standing is where a subject stands now, as far as its alert compares that.
type Standing struct {
	At time.Time
	// IsWatched and IsInUse are whether the alert watches the subject at all.
	IsWatched, IsInUse bool
	// Since is when the subject was seen last, the begin of the current hour or of the
	// billing period.
	Since time.Time
	// FeedKey is where a silent subject came from last, empty where that is not known, and
	// Feeds are how far the sources report.
	domain.FeedKey
	Feeds Feeds
	// Value is the sessions of the current hour, or the forecast in bytes.
	Value int64
	// EnoughFrom is from when on a forecast can be made.
	EnoughFrom time.Time
	// Known are the values of its traits.
	Known Memory
	// Entry is the newest that reports a begin under the alert as it is now; nil for none.
	Entry *Entry
}

// Explanation is why an alert has or has not fired for a subject.
type Explanation struct {
	Reason Reason
	// Text is the reason in sentences.
	Text string
	// Since and Value are as in Standing; DueAt is when a silence fires.
	Since *time.Time
	DueAt *time.Time
	Value *int64
	// Source, NAS and KnownUntil are where a silent subject came from, and until when usage
	// of that is known; "" and nil where that does not matter.
	Source, NAS string
	KnownUntil  *time.Time
	Entry       *Entry
}

const momentText = "2 Jan 2006 15:04 UTC"

func at(t time.Time) string { return t.UTC().Format(momentText) }

// Explain explains where the subject stands.
func (a *Alert) Explain(s *Standing) *Explanation {
	e := &Explanation{Entry: s.Entry}
	switch {
	case !s.IsWatched:
		e.Reason, e.Text = NotWatched, "The alert does not watch this."
	case !s.IsInUse && (a.Kind == Silent || a.Kind == Forecast):
		e.Reason, e.Text = NotInUse, "It is not active, barred, terminated or a profile that is not enabled, so it is neither missed nor forecast."
	case a.Kind == Silent:
		a.explainSilence(s, e)
	case a.Kind == Storm:
		a.explainStorm(s, e)
	case a.Kind == Forecast:
		a.explainForecast(s, e)
	default:
		a.explainChange(s, e)
	}
	return e
}

func (e *Explanation) because(reason Reason, format string, args ...any) {
	e.Reason, e.Text = reason, fmt.Sprintf(format, args...)
}

func (a *Alert) explainSilence(s *Standing, e *Explanation) {
	due := a.Due(s.Since)
	e.Since, e.DueAt, e.Source, e.NAS = &s.Since, &due, s.Source, s.NAS
	if feed, known := s.Feeds[s.FeedKey]; known {
		e.KnownUntil = &feed.Until
	}
	switch {
	case s.Entry != nil && !s.Entry.Since.Before(s.Since):
		e.because(HasFired, "It was seen last at %s. Its silence was reported at %s, and is reported once.", at(s.Since), at(s.Entry.DateCreated))
	case due.After(s.At):
		e.because(NotReached, "It was seen last at %s. It is silent for %s at %s.", at(s.Since), hours(a.Bound), at(due))
	case !s.Feeds.Covers(s.FeedKey, due):
		e.because(Unconfirmed, "It was seen last at %s, and its silence was due at %s. %s", at(s.Since), at(due), unconfirmed(s))
	default:
		e.because(Pending, "It was seen last at %s, and its silence was due at %s. It is reported within a minute.", at(s.Since), at(due))
	}
}

func unconfirmed(s *Standing) string {
	_, known := s.Feeds[s.FeedKey]
	feed := s.Feeds.Of(s.FeedKey)
	switch {
	case len(s.Feeds) == 0:
		return "No source has reported usage yet, so it is not known to be silent."
	case feed.IsCatchingUp || feed.WasLate:
		return "Reports arrive late, so it is not known to be silent until its source has caught up."
	case !known:
		return "No source has reported until then, so it is not known to be silent."
	}
	return fmt.Sprintf("Its %s has reported until %s only, so it is not known to be silent.", feedName(s.FeedKey), at(feed.Until))
}

func (a *Alert) explainStorm(s *Standing, e *Explanation) {
	e.Since, e.Value = &s.Since, &s.Value
	sessions := fmt.Sprintf("%d sessions began in the hour from %s", s.Value, at(s.Since))
	switch {
	case s.Entry != nil && s.Entry.Since.Equal(s.Since):
		e.because(HasFired, "%s, more than %d. That is reported once in an hour.", sessions, a.Bound)
	case s.Value > a.Bound:
		e.because(Pending, "%s, more than %d. It is reported within a minute.", sessions, a.Bound)
	default:
		e.because(NotReached, "%s, not more than %d.", sessions, a.Bound)
	}
}

func (a *Alert) explainForecast(s *Standing, e *Explanation) {
	e.Since, e.Value = &s.Since, &s.Value
	forecast := fmt.Sprintf("The forecast of the billing period from %s is %d bytes", at(s.Since), s.Value)
	switch {
	case s.Entry != nil && s.Entry.Since.Equal(s.Since):
		e.because(HasFired, "A forecast of %d bytes was reported at %s. That is reported once in a billing period.", s.Entry.Value, at(s.Entry.DateCreated))
	case s.EnoughFrom.After(s.At):
		e.Value = nil
		e.because(LittleHistory, "A forecast needs three weeks of history, which there are at %s.", at(s.EnoughFrom))
	case s.Value > a.Bound:
		e.because(Pending, "%s, more than %d. It is reported when its turn comes: 2,000 subscribers are looked at in a minute.", forecast, a.Bound)
	default:
		e.because(NotReached, "%s, not more than %d.", forecast, a.Bound)
	}
}

func (a *Alert) explainChange(s *Standing, e *Explanation) {
	var known []string
	for _, trait := range a.Traits {
		if values := s.Known.Values(trait); len(values) > 0 {
			quotes := make([]string, len(values))
			for i, value := range values {
				quotes[i] = quoted(value)
			}
			known = append(known, fmt.Sprintf("%s: %s", traitNames[trait], strings.Join(quotes, ", ")))
		}
	}
	values := "Sessions have reported none of its values yet; the first is learned."
	if len(known) > 0 {
		values = "Known are " + strings.Join(known, "; ") + ". Another value fires."
	}
	if s.Entry != nil {
		e.Since = &s.Entry.Since
		e.because(HasFired, "It %s, reported at %s. %s", s.Entry.Describe(), at(s.Entry.DateCreated), values)
		return
	}
	e.because(NotReached, "Nothing has changed since the alert is as it is. %s", values)
}
