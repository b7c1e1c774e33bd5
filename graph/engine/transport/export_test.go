package transport

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

// DeprecatedUses are the deprecated coordinates of an operation.
var DeprecatedUses = deprecatedUses
