package model

import (
	"time"

	"simgraph/domain"
)

// FeedElement is a source or network element as the graph shows it.
type FeedElement struct {
	// Identity identifies it within the company.
	Identity                    string
	Key                         domain.FeedKey
	Source                      string
	NAS                         *string
	CompleteUntil, LastPacketAt *time.Time
	LagSeconds                  *int64
	Packets                     []domain.FeedPackets
}

// NewFeedElement returns what the graph shows of a source or network element.
func NewFeedElement(e *domain.FeedElement) *FeedElement {
	return &FeedElement{
		Identity: e.ID(), Key: e.Key(), Source: e.Source, NAS: reported(e.NAS), CompleteUntil: e.CompleteUntil, LagSeconds: e.LagSeconds, LastPacketAt: e.LastPacketAt(), Packets: e.Packets,
	}
}

// FeedReject is a reason for which requests could not be used.
type FeedReject struct {
	domain.FeedReject
	NAS *string
}

// NewFeedReject returns what the graph shows of it.
func NewFeedReject(r *domain.FeedReject) *FeedReject { return &FeedReject{*r, reported(r.NAS)} }

// WaitingUsage is usage that waits for its subscriber: null for the identifiers that
// its source does not use.
type WaitingUsage struct {
	domain.WaitingUsage
	PhysicalID, IMSI, MSISDN *string
}

// NewWaitingUsage returns what the graph shows of it.
func NewWaitingUsage(w *domain.WaitingUsage) *WaitingUsage {
	return &WaitingUsage{*w, reported(w.PhysicalID), reported(w.IMSI), reported(w.MSISDN)}
}
