package domain

import "time"

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
