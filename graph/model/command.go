package model

import "simgraph/domain/carrier"

// The connection of commands.
type (
	CommandConnection = Connection[*carrier.Command]
	CommandEdge       = Edge[*carrier.Command]
)

// The answers of the mutations on commands and their provider.
type (
	SetCommandProviderPayload struct {
		Provider *carrier.Provider
		Secret   *string
	}
	DeleteCommandProviderPayload struct{ Provider *carrier.Provider }
	ReportCommandPayload         struct{ Command *carrier.Command }
	RetryCommandPayload          struct{ Command *carrier.Command }
	CancelCommandPayload         struct{ Command *carrier.Command }
)
