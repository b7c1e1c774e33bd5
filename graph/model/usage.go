package model

import (
	"time"

	"simgraph/domain"
)

// Usage is the usage of a subject in a span.
type Usage struct {
	Of   domain.Subject
	Span domain.Range
	// Period is the billing period that was requested; nil for other spans.
	Period *domain.Period
}

// The usage over time of one value of a dimension. Sessions are nil where they are not counted by it.
type (
	UsageSeries struct {
		Value, Label *string
		IsOthers     bool
		domain.Volume
		Sessions *int64
		Points   []UsageSeriesPoint
	}
	UsageSeriesPoint struct {
		Start time.Time
		domain.Volume
		Sessions *int64
	}
)

// The answer of recordUsage.
type (
	RecordUsagePayload struct{ Results []RecordedUsage }
	RecordedUsage      struct {
		Status        domain.UsageStatus
		Reason, Field *string
	}
)

// The documented shapes of analytics (spec §2.8).
type (
	DataUsageByDirection       struct{ MobileTerminated, MobileOriginated *UsageMap }
	SessionCount               struct{ Sessions *UsageMap }
	DataUsageByNetworkProtocol struct{ Usage *UsageMap }
	DataUsageBySubscriber      struct {
		SubscriberDataUsage *UsageMap
		TotalDataUsage      int64
	}
	DataUsageByIPAddress struct {
		DataUsageByIP *UsageMap
		TotalData     int64
	}
)
