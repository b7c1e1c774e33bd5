package model

import "simgraph/domain/condition"

// The answers of the mutations on alerts on conditions.
type (
	CreateConditionAlertPayload struct{ Alert *condition.Alert }
	EditConditionAlertPayload   struct{ Alert *condition.Alert }
	DeleteConditionAlertPayload struct{ Alert *condition.Alert }
)
