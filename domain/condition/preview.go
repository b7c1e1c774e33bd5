package condition

import (
	"cmp"
	"slices"
	"time"

	"simgraph/domain"
)

const (
	// MaxPreviewDays bounds how far back a preview looks.
	MaxPreviewDays = 90
	// MaxPreviewed bounds the subscribers that a preview looks at, and maxPreviewListed the
	// firings that it holds.
	MaxPreviewed     = 1000
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

// Report is what a session of a subscriber reported.
type Report struct {
	SubscriberKey int64
	At            time.Time
	Values        Values
}

// PastChange is another value of a subscriber.
type PastChange struct {
	SubscriberKey int64
	At            time.Time
	Trait         Trait
	Before, After string
}

// Changes returns the changes of the traits from a time on. The reports are in the order of
// subscribers and time; what is reported before is learned.
func Changes(reports []Report, traits []Trait, from time.Time) (changes []PastChange) {
	known := map[Trait]Known{}
	for i, r := range reports {
		if i > 0 && r.SubscriberKey != reports[i-1].SubscriberKey {
			clear(known)
		}
		for _, trait := range traits {
			value, reported := r.Values[trait]
			if !reported {
				continue
			}
			before := known[trait]
			learned, is := before.Learn(value)
			if known[trait] = learned; is && !r.At.Before(from) {
				changes = append(changes, PastChange{r.SubscriberKey, r.At, trait, before[0], value})
			}
		}
	}
	return changes
}
