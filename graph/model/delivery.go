package model

import "simgraph/domain"

// The connection of deliveries.
type (
	DeliveryConnection = Connection[domain.Delivery]
	DeliveryEdge       = Edge[domain.Delivery]
)
