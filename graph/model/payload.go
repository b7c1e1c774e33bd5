package model

import "simgraph/domain"

// The answers of the mutations.
type (
	EditSubscriberPayload struct{ Subscriber *domain.Subscriber }
	EditGroupPayload      struct{ Group *domain.Group }
	AttachTagPayload      struct {
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
