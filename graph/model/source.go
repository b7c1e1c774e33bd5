package model

import "simgraph/domain/source"

// The connections of sources and of their rejects.
type (
	SourceConnection       = Connection[*source.Source]
	SourceEdge             = Edge[*source.Source]
	SourceRejectConnection = Connection[*source.Reject]
	SourceRejectEdge       = Edge[*source.Reject]
)

// The answers of the mutations on sources and profiles.
type (
	CreateSourcePayload struct {
		Source *source.Source
		Secret string
	}
	RotateSourceSecretPayload struct {
		Source *source.Source
		Secret string
	}
	EditSourcePayload          struct{ Source *source.Source }
	PauseSourcePayload         struct{ Source *source.Source }
	ResumeSourcePayload        struct{ Source *source.Source }
	DeleteSourcePayload        struct{ SourceName string }
	ReplaySourceRejectsPayload struct{ Counts *source.Counts }
	SetSourceProfilePayload    struct{ Profile *source.Profile }
	DeleteSourceProfilePayload struct{ ProfileName string }
)
