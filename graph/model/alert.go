package model

import "simgraph/domain"

// The connections and lists of alerts, their log and recipients.
type (
	AlertConnection     = Connection[domain.Alert]
	AlertEdge           = Edge[domain.Alert]
	AlertList           = List[*domain.VolumeAlert]
	AlertLogConnection  = Connection[domain.AlertLogEntry]
	AlertLogEdge        = Edge[domain.AlertLogEntry]
	AlertLogList        = List[*domain.VolumeLogEntry]
	RecipientConnection = Connection[*domain.Recipient]
	RecipientEdge       = Edge[*domain.Recipient]
	RecipientList       = List[*domain.Recipient]
)

// The answers of the mutations on alerts and recipients.
type (
	CreateAlertPayload      struct{ Alert *domain.VolumeAlert }
	EditAlertPayload        struct{ Alert *domain.VolumeAlert }
	DeleteAlertPayload      struct{ Alert *domain.VolumeAlert }
	CreateRecipientPayload  struct{ Recipient *domain.Recipient }
	EditRecipientPayload    struct{ Recipient *domain.Recipient }
	DeleteRecipientPayload  struct{ Recipient *domain.Recipient }
	RestoreRecipientPayload = domain.Restored
	SendTestAlertPayload    struct{ Mails []*domain.Mail }
)
