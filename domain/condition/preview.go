package condition

import (
	"cmp"
	"slices"
	"time"

	"simgraph/domain"
)

const (
	// MaxPreviewDays is how many days back a preview looks.
	MaxPreviewDays = 90
	// MaxPreviewed bounds the subscribers that a preview looks at.
	MaxPreviewed = 1000
	// maxPreviewListed bounds the firings that a preview holds.
	maxPreviewListed = 100
)

// Preview is what an alert would have noticed in the past.
type Preview struct {
	// Total counts all firings, of which Firings holds the first hundred in the order of time.
	Total   int
	Firings []*Firing
	// Subjects counts for how many subscribers or groups it would have fired, and Subscribers
	// how many were looked at. IsSample is set where there are more than these.
	Subjects, Subscribers int
	IsSample              bool
	// Days counts the firings of each day by the clock of the company.
	Days []*PreviewDay
}

// Firing is one of a preview.
type Firing struct {
	// SubscriberKey or GroupID is present.
	SubscriberKey, GroupID *int64
	At                     time.Time
	// Text is what happened, as a sentence without its subject.
	Text string
}

// PreviewDay is how often an alert would have fired on a day.
type PreviewDay struct {
	Start   time.Time
	Firings int
}

// NewPreview counts entries that would have been made from from on until until, at their
// DateCreated.
func NewPreview(entries []*Entry, zone *time.Location, from, until time.Time) *Preview {
	slices.SortFunc(entries, func(a, b *Entry) int {
		return cmp.Or(a.DateCreated.Compare(b.DateCreated), cmp.Compare(subject(a), subject(b)), cmp.Compare(a.Trait, b.Trait))
	})
	preview := &Preview{Total: len(entries)}
	year, month, date := from.In(zone).Date()
	for ; ; date++ {
		start := time.Date(year, month, date, 0, 0, 0, 0, zone)
		if !start.Before(until) {
			break
		}
		preview.Days = append(preview.Days, &PreviewDay{Start: start.UTC()})
	}
	subjects := map[int64]bool{}
	last := 0
	for _, e := range entries {
		for last+1 < len(preview.Days) && !e.DateCreated.Before(preview.Days[last+1].Start) {
			last++
		}
		preview.Days[last].Firings++
		subjects[subject(e)] = true
		if len(preview.Firings) < maxPreviewListed {
			preview.Firings = append(preview.Firings, &Firing{SubscriberKey: e.SubscriberKey, GroupID: e.GroupID, At: e.DateCreated.UTC(), Text: e.Describe()})
		}
	}
	preview.Subjects = len(subjects)
	return preview
}

// subject identifies what the entry of one alert is about.
func subject(e *Entry) int64 {
	for _, key := range []*int64{e.SubscriberKey, e.GroupID} {
		if key != nil {
			return *key
		}
	}
	return 0
}

// PastUsage is the usage of a subject by UTC days, in bytes of both directions.
type PastUsage struct {
	// Days are by the midnight that they begin at, in seconds of the Unix epoch.
	Days        map[int64]int64
	ConnectedAt time.Time
}

// PastForecast is a forecast above a bound, made at a midnight.
type PastForecast struct {
	At     time.Time
	Period domain.Period
	Total  int64
}

// Forecasts returns the first forecast above the bound in each billing period, of those
// made at each midnight (UTC) from from on until until. A period counts by whole UTC days.
func (u *PastUsage) Forecasts(billing domain.Billing, bound int64, from, until time.Time) (above []PastForecast) {
	var fired time.Time
	at := from.UTC().Truncate(day)
	if at.Before(from) {
		at = at.Add(day)
	}
	for ; at.Before(until); at = at.Add(day) {
		period := billing.PeriodAt(at)
		if period.Start.Equal(fired) {
			continue
		}
		history := History{ConnectedAt: u.ConnectedAt}
		for i := range history.Days {
			history.Days[i] = u.Days[at.Add(-time.Duration(i+1)*day).Unix()]
		}
		for of := period.Start.Truncate(day); of.Before(at); of = of.Add(day) {
			history.Used += u.Days[of.Unix()]
		}
		if total := history.Total(at, period); total > bound && history.Enough(at) {
			fired = period.Start
			above = append(above, PastForecast{at, period, total})
		}
	}
	return above
}

// TraitChanges finds the changes of traits in reports, from a time on. What is reported before is
// learned.
type TraitChanges struct {
	traits []Trait
	from   time.Time
	// subscriber is that of the last report, memory what is known of it, and found what it
	// changed to.
	subscriber int64
	memory     Memory
	found      map[reportedChange]bool
}

// reportedChange identifies a change of a subscriber: the log has each once.
type reportedChange struct {
	at    int64
	trait Trait
	after string
}

// NewTraitChanges returns one that has seen no report.
func NewTraitChanges(traits []Trait, from time.Time) *TraitChanges {
	return &TraitChanges{traits: traits, from: from}
}

// Learn returns the changes that a report makes. The reports of a subscriber follow one
// another, in the order in which they were booked.
func (t *TraitChanges) Learn(r *Report) []Changed {
	if t.memory == nil || r.SubscriberKey != t.subscriber {
		t.subscriber, t.memory, t.found = r.SubscriberKey, Memory{}, map[reportedChange]bool{}
	}
	return slices.DeleteFunc(t.memory.Learn(r), func(c Changed) bool {
		change := reportedChange{r.At.UnixMicro(), c.Trait, c.After}
		if r.At.Before(t.from) || !slices.Contains(t.traits, c.Trait) || t.found[change] {
			return true
		}
		t.found[change] = true
		return false
	})
}
