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

// SetBehind bounds what waits for followers who are behind; 0 leaves a bound as it is.
func (s *Server) SetBehind(events, bytes, together int) {
	most := &s.broadcasts.most
	for bound, n := range map[*int]int{&most.events: events, &most.bytes: bytes, &most.together: together} {
		if n > 0 {
			*bound = n
		}
	}
}

// Waiting is what waits in the broadcasts, and how many there are.
func (s *Server) Waiting() (events, bytes, of int) {
	all := &s.broadcasts
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, named := range all.named {
		for _, b := range named {
			b.mu.Lock()
			events, of = events+b.waiting, of+1
			b.mu.Unlock()
		}
	}
	return events, int(all.bytes.Load()), of
}

// Lead is how far a broadcast is ahead of its fastest follower at most.
const Lead = lead
