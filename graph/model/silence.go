package model

import "simgraph/domain/silence"

// The connection of silences.
type (
	SilenceConnection = Connection[*silence.Silence]
	SilenceEdge       = Edge[*silence.Silence]
)

// The answers of the mutations on silences.
type (
	CreateSilencePayload struct{ Silence *silence.Silence }
	EditSilencePayload   struct{ Silence *silence.Silence }
	EndSilencePayload    struct{ Silence *silence.Silence }
)
