package model

import "simgraph/domain"

// Node is any object with a global id.
type Node any

// Service is what a gateway composes of the graph.
type Service struct{ SDL string }

// NetworkState is what the network sees of a subscriber.
type NetworkState struct{ IsTransferring, IsOnline bool }

// ParentLink is where a profile is attached.
type ParentLink struct {
	PhysicalID        string
	IsEnabledOnParent bool
	// Key is the internal number of the eUICC.
	Key int64
}

// RelatedItems are the eUICC above a profile, or the profiles on an eUICC.
type RelatedItems struct {
	Parent   *ParentLink
	Profiles []*domain.Subscriber
}
