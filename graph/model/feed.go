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
	Source, NAS                 string
	CompleteUntil, LastPacketAt *time.Time
	LagSeconds                  *int64
	Packets                     []domain.FeedPackets
}

// NewFeedElement returns what the graph shows of a source or network element.
func NewFeedElement(e *domain.FeedElement) *FeedElement {
	return &FeedElement{
		Identity: e.ID(), Key: e.Key(), Source: e.Source, NAS: e.NAS, CompleteUntil: e.CompleteUntil, LagSeconds: e.LagSeconds, LastPacketAt: e.LastPacketAt(), Packets: e.Packets,
	}
}
