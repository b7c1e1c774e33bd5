package model

import "simgraph/domain"

// Usage is the usage of a subject in a span.
type Usage struct {
	Of   domain.Subject
	Span domain.Range
	// Period is the billing period that was requested; nil for other spans.
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
