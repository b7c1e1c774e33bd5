package model

import (
	"simgraph/domain"
	"simgraph/domain/bulk"
	"simgraph/domain/carrier"
)

// The answers of the mutations.
type (
	CreateSubscriberPayload    struct{ Subscriber *domain.Subscriber }
	EditSubscriberPayload      = Commanded
	MoveSubscriberPayload      struct{ Subscriber *domain.Subscriber }
	BarSubscriberPayload       = Commanded
	UnbarSubscriberPayload     = Commanded
	TerminateSubscriberPayload = Commanded

	CreateGroupPayload  struct{ Group *domain.Group }
	EditGroupPayload    struct{ Group *domain.Group }
	DeleteGroupPayload  struct{ Group *domain.Group }
	CreateTariffPayload struct{ Tariff *domain.Tariff }
	EditTariffPayload   struct{ Tariff *domain.Tariff }
	DeleteTariffPayload struct{ Tariff *domain.Tariff }
	CreateUserPayload   struct{ User *domain.User }
	EditUserPayload     struct{ User *domain.User }
	DeleteUserPayload   struct{ User *domain.User }

	WithdrawInvitationPayload struct{ User *domain.User }
	InviteUserPayload         struct {
		User     *domain.User
		IsMailed bool
		LinkCode *string
	}
	EndUserSessionsPayload struct {
		User  *domain.User
		Ended int
	}

	StartSubscriberChangePayload struct {
		Operation       *bulk.Operation
		IsInventoryOnly bool
	}
	CancelOperationPayload struct{ Operation *bulk.Operation }
	UndoOperationPayload   struct {
		Operation       *bulk.Operation
		IsInventoryOnly bool
	}

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
	EditAccessKeyPayload   struct{ AccessKey *domain.AccessKey }
	RotateAccessKeyPayload struct {
		AccessKey *domain.AccessKey
		Secret    string
		Old       *domain.AccessKey
	}
	RevokeAccessKeyPayload struct{ AccessKey *domain.AccessKey }
)

// Commanded is the answer of a change that a carrier may have to follow.
type Commanded struct {
	Subscriber      *domain.Subscriber
	Command         *carrier.Command
	IsInventoryOnly bool
}
