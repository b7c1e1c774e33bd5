package model

import "simgraph/domain/dashboard"

// The connection of dashboards.
type (
	DashboardConnection = Connection[*dashboard.Dashboard]
	DashboardEdge       = Edge[*dashboard.Dashboard]
)

// The answers of the mutations on dashboards.
type (
	CreateDashboardPayload struct{ Dashboard *dashboard.Dashboard }
	EditDashboardPayload   struct{ Dashboard *dashboard.Dashboard }
	DeleteDashboardPayload struct{ Dashboard *dashboard.Dashboard }
)
