package model

import "simgraph/domain/condition"

// The connections of alerts on conditions and of their log.
type (
	ConditionAlertConnection = Connection[*condition.Alert]
	ConditionAlertEdge       = Edge[*condition.Alert]
	ConditionLogConnection   = Connection[*condition.Entry]
	ConditionLogEdge         = Edge[*condition.Entry]
)

// The answers of the mutations on alerts on conditions.
type (
	CreateConditionAlertPayload struct{ Alert *condition.Alert }
	EditConditionAlertPayload   struct{ Alert *condition.Alert }
	DeleteConditionAlertPayload struct{ Alert *condition.Alert }
)
