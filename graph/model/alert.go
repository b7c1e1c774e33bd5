package model

import "simgraph/domain"

// The connections and lists of alerts, their log and recipients.
type (
	AlertConnection     = Connection[*domain.Alert]
	AlertEdge           = Edge[*domain.Alert]
	AlertList           = List[*domain.Alert]
	AlertLogConnection  = Connection[*domain.AlertLogEntry]
	AlertLogEdge        = Edge[*domain.AlertLogEntry]
	AlertLogList        = List[*domain.AlertLogEntry]
	RecipientConnection = Connection[*domain.Recipient]
	RecipientEdge       = Edge[*domain.Recipient]
	RecipientList       = List[*domain.Recipient]
)

// The answers of the mutations on alerts and recipients.
type (
	CreateAlertPayload      struct{ Alert *domain.Alert }
	EditAlertPayload        struct{ Alert *domain.Alert }
	DeleteAlertPayload      struct{ Alert *domain.Alert }
	CreateRecipientPayload  struct{ Recipient *domain.Recipient }
	EditRecipientPayload    struct{ Recipient *domain.Recipient }
	DeleteRecipientPayload  struct{ Recipient *domain.Recipient }
	RestoreRecipientPayload = domain.Restored
	SendTestAlertPayload    struct{ Mails []*domain.Mail }
)
