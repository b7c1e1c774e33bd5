package model

import "simgraph/domain/upstream"

// The connections of upstreams.
type (
	UpstreamConnection = Connection[*upstream.Upstream]
	UpstreamEdge       = Edge[*upstream.Upstream]
)

// The answers of the mutations on upstreams.
type (
	CreateUpstreamPayload          struct{ Upstream *upstream.Upstream }
	EditUpstreamPayload            struct{ Upstream *upstream.Upstream }
	PauseUpstreamPayload           struct{ Upstream *upstream.Upstream }
	ResumeUpstreamPayload          struct{ Upstream *upstream.Upstream }
	SyncUpstreamPayload            struct{ Upstream *upstream.Upstream }
	ConfirmUpstreamRemovalsPayload struct{ Upstream *upstream.Upstream }
	DeleteUpstreamPayload          struct{ Upstream *upstream.Upstream }
)
