package domain

import (
	"fmt"
	"time"
)

// AlertReason is why a threshold has or has not fired.
type AlertReason string

// The reasons.
const (
	// ReasonFired: usage was above the threshold, and the log has an entry of it.
	ReasonFired AlertReason = "FIRED"
	// ReasonBelow: usage is not above the threshold.
	ReasonBelow AlertReason = "BELOW_THRESHOLD"
	// ReasonNotWatched: the subject is none of the alert's.
	ReasonNotWatched AlertReason = "NOT_WATCHED"
	// ReasonPending: usage is above the threshold, but it was not evaluated
	// since the subject came under the alert; the next usage does it. Until then
	// the status is Armed.
	ReasonPending AlertReason = "PENDING"
)

// AlertExplanation explains why an alert has or has not fired for a subject in a
// billing period.
type AlertExplanation struct {
	State *VolumeAlertState
	Lower *BoundaryExplanation
	Upper *BoundaryExplanation
}

// BoundaryExplanation is an AlertExplanation for one threshold.
type BoundaryExplanation struct {
	State  *BoundaryState
	Reason AlertReason
	// Remaining is how many more bytes of usage make it fire; nil when it has
	// fired or never will.
	Remaining *int64
	// Text returns the explanation as a sentence.
	Text string
	// Entry is the log's, when it fired.
	Entry *VolumeLogEntry
}

// Explain explains the state of a subject: whether the alert watches it, and
// the entries that the log has of it for the thresholds as they are.
func Explain(state *VolumeAlertState, watched bool, entries map[Boundary]*VolumeLogEntry) *AlertExplanation {
	if lower := entries[Lower]; lower != nil {
		state.LowerSince = &lower.DateCreated
	}
	if upper := entries[Upper]; upper != nil {
		state.UpperSince = &upper.DateCreated
	}
	return &AlertExplanation{
		State: state,
		Lower: explainBoundary(state, Lower, watched, entries[Lower]),
		Upper: explainBoundary(state, Upper, watched, entries[Upper]),
	}
}

func explainBoundary(state *VolumeAlertState, b Boundary, watched bool, entry *VolumeLogEntry) *BoundaryExplanation {
	e := &BoundaryExplanation{State: state.Boundary(b), Entry: entry}
	period := fmt.Sprintf("the billing period from %s", state.Period.Start.Format("2006-01-02T15:04:05Z"))
	threshold := e.State.Threshold
	switch {
	case entry != nil:
		e.Reason = ReasonFired
		e.Text = fmt.Sprintf("Usage of %d bytes was above the %s threshold of %d at %s. It fires once in %s.",
			entry.Usage, b, threshold, entry.DateCreated.UTC().Format("2006-01-02T15:04:05Z"), period)
	case !watched:
		e.Reason = ReasonNotWatched
		e.Text = fmt.Sprintf("The alert watches %s, which this is not.", watchedBy(state.Alert))
	case state.Usage > threshold:
		e.Reason = ReasonPending
		e.Text = fmt.Sprintf("Usage of %d bytes is above the %s threshold of %d, and was when the alert came to watch it; "+
			"it is evaluated with its next usage.", state.Usage, b, threshold)
	default:
		e.Reason, e.Remaining = ReasonBelow, new(remaining(threshold, state.Usage))
		e.Text = fmt.Sprintf("Usage of %d bytes in %s is not above the %s threshold of %d.", state.Usage, period, b, threshold)
	}
	return e
}

// remaining is the least usage that goes above the threshold; at the largest of
// all there is none, and it stays at the largest number.
func remaining(threshold, usage int64) int64 {
	left := threshold - usage
	return max(left, left+1)
}

func watchedBy(a *VolumeAlert) string {
	switch a.RuleType {
	case RuleSIM:
		return "the subscriber " + a.Target
	case RuleCompany:
		return "each subscriber of the company"
	case RuleGroup:
		return "the combined usage of the group " + a.Target
	}
	return "each subscriber that is in the group " + a.Target + " now"
}

// AlertPreview is how often an alert would have fired.
type AlertPreview struct {
	// Total counts all firings, also those beyond the first MaxLimit that
	// Firings holds in the order of time.
	Total   int
	Firings []*AlertFiring
	// Subjects counts for how many subscribers or groups it would have fired.
	Subjects int
	// IsSample is true when there were too many to look at each hour of all. Then
	// Total and Subjects count who went above the thresholds in the billing
	// periods that the range touches, also outside of the range, and Firings are
	// those of the first 5,000 of them.
	IsSample bool
}

// AlertFiring is a threshold that past usage exceeded.
type AlertFiring struct {
	Boundary Boundary
	// SubscriberKey is the subject, or GroupID for a rule on combined usage.
	SubscriberKey *int64
	GroupID       *int64
	Period        Period
	// At is the hour in which usage exceeded the threshold.
	At time.Time
	// Usage is what it was after that hour, in bytes since the period began.
	Usage int64
}
