package model

import (
	"simgraph/domain"
	"simgraph/graph/scalar"
)

// Usage is the usage of a subject in a span.
type Usage struct {
	Of   domain.Subject
	Span domain.Range
	// Period is the billing period that was asked for; nil for other spans.
	Period *domain.Period
}

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
	DataUsageByDirection       struct{ MobileTerminated, MobileOriginated *scalar.UsageMap }
	SessionCount               struct{ Sessions *scalar.UsageMap }
	DataUsageByNetworkProtocol struct{ Usage *scalar.UsageMap }
	DataUsageBySubscriber      struct {
		SubscriberDataUsage *scalar.UsageMap
		TotalDataUsage      int64
	}
	DataUsageByIPAddress struct {
		DataUsageByIP *scalar.UsageMap
		TotalData     int64
	}
)
