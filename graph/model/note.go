package model

import "simgraph/domain/note"

// The connection of notes.
type (
	NoteConnection = Connection[*note.Note]
	NoteEdge       = Edge[*note.Note]
)

// The answers of the mutations on notes.
type (
	CreateNotePayload struct{ Note *note.Note }
	EditNotePayload   struct{ Note *note.Note }
	DeleteNotePayload struct{ Note *note.Note }
)
