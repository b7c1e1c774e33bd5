package domain

import "time"

// AlertStatus reports whether an alert, or one of its thresholds, has fired.
type AlertStatus string

// The statuses.
const (
	// Armed: it has not fired, and does when what it notices happens.
	Armed AlertStatus = "ARMED"
	// Fired: it has fired in the billing period, or before and it lasts. A threshold does not
	// again before the next period or another threshold, also where usage has moved away since.
	Fired AlertStatus = "FIRED"
)

// StatusOf is the status of what has fired or has not: a threshold, one of the
// two of a subject, or one of any subject of an alert.
func StatusOf(fired bool) AlertStatus {
	if fired {
		return Fired
	}
	return Armed
}

// AlertState is where a subject stands against an alert of any kind: a *VolumeAlertState or
// a *condition.AlertState. Number is that of the alert.
type AlertState interface{ Number() int64 }

// VolumeAlertState is where the usage of one subject stands against the thresholds of
// an alert in a billing period.
type VolumeAlertState struct {
	Alert *VolumeAlert
	// SubscriberKey is the subject, or GroupID for a rule on combined usage.
	SubscriberKey *int64
	GroupID       *int64
	Period        Period
	// Usage is in bytes of both directions.
	Usage int64
	// LowerSince and UpperSince are the times of the entries of the log.
	LowerSince *time.Time
	UpperSince *time.Time
}

// BoundaryState is an AlertState for one threshold.
type BoundaryState struct {
	Boundary  Boundary
	Threshold int64
	Status    AlertStatus
	// Percent is usage against the threshold; nil for the threshold 0.
	Percent *float64
	// Since is when it fired; nil when it has not.
	Since *time.Time
}

// Status is Fired when either threshold is.
func (s *VolumeAlertState) Status() AlertStatus {
	return StatusOf(s.LowerSince != nil || s.UpperSince != nil)
}

// Since is when the first of the thresholds fired; nil while both are armed.
func (s *VolumeAlertState) Since() *time.Time {
	if s.LowerSince == nil || s.UpperSince != nil && s.UpperSince.Before(*s.LowerSince) {
		return s.UpperSince
	}
	return s.LowerSince
}

// Number implements AlertState.
func (s *VolumeAlertState) Number() int64 { return s.Alert.AlertID }

// Lower is the state of the lower threshold.
func (s *VolumeAlertState) Lower() *BoundaryState { return s.Boundary(Lower) }

// Upper is the state of the upper threshold.
func (s *VolumeAlertState) Upper() *BoundaryState { return s.Boundary(Upper) }

// Boundary is the state of one threshold.
func (s *VolumeAlertState) Boundary(b Boundary) *BoundaryState {
	since := s.LowerSince
	if b == Upper {
		since = s.UpperSince
	}
	state := &BoundaryState{Boundary: b, Threshold: s.Alert.Threshold(b), Status: StatusOf(since != nil), Since: since}
	if state.Threshold > 0 {
		state.Percent = new(100 * float64(s.Usage) / float64(state.Threshold))
	}
	return state
}

// AlertSubject names whose usage a question is about: a subscriber by its
// PhysicalID, or a group by its GroupID.
type AlertSubject struct {
	PhysicalID *string
	GroupID    *int64
}
