package transport

import "github.com/vektah/gqlparser/v2/ast"

// Read reads a document as one of a client, not remembering it, and returns the
// messages of its errors.
func (s *Server) Read(text string) (valid bool, messages []string) {
	_, errs := s.read(text, s.cfg.Limits.Limits)
	for _, err := range errs {
		messages = append(messages, err.Message)
	}
	return len(errs) == 0, messages
}

// Remembered is the number of documents that need no second reading.
func (s *Server) Remembered() int { return s.documents.byUse.Len() }

// Uses are the coordinates of an operation, and those that are deprecated.
func Uses(schema *ast.Schema, def *ast.OperationDefinition) (all, deprecated []string) {
	of := usesOf(schema, "", def)
	return of.fields.Coordinates, of.deprecated
}
