package model

import (
	"simgraph/domain"
	"simgraph/domain/bulk"
)

// The answers of the mutations.
type (
	EditSubscriberPayload struct{ Subscriber *domain.Subscriber }
	EditGroupPayload      struct{ Group *domain.Group }

	CreateSubscriberPayload        struct{ Subscriber *domain.Subscriber }
	EditSubscriberInventoryPayload struct{ Subscriber *domain.Subscriber }
	MoveSubscriberPayload          struct{ Subscriber *domain.Subscriber }
	BarSubscriberPayload           struct{ Subscriber *domain.Subscriber }
	UnbarSubscriberPayload         struct{ Subscriber *domain.Subscriber }
	TerminateSubscriberPayload     struct{ Subscriber *domain.Subscriber }

	CreateGroupPayload        struct{ Group *domain.Group }
	EditGroupInventoryPayload struct{ Group *domain.Group }
	RemoveGroupPayload        struct{ Group *domain.Group }
	CreateTariffPayload       struct{ Tariff *domain.Tariff }
	EditTariffPayload         struct{ Tariff *domain.Tariff }
	RemoveTariffPayload       struct{ Tariff *domain.Tariff }
	CreateUserPayload         struct{ User *domain.User }
	EditUserPayload           struct{ User *domain.User }

	StartSubscriberChangePayload struct{ Operation *bulk.Operation }
	CancelOperationPayload       struct{ Operation *bulk.Operation }
	UndoOperationPayload         struct{ Operation *bulk.Operation }

	AttachTagPayload struct {
		Tag         domain.TagName
		Subscribers []*domain.Subscriber
		Attached    int
	}
	DetachTagPayload       struct{ Subscribers []*domain.Subscriber }
	CreateAccessKeyPayload struct {
		AccessKey *domain.AccessKey
		Secret    string
	}
	RevokeAccessKeyPayload struct{ AccessKey *domain.AccessKey }
)
