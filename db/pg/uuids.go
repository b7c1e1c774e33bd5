package pg

import (
	"github.com/google/uuid"
	"github.com/lib/pq"
)

// IsUUID reports whether the text is a UUID as PostgreSQL writes it.
func IsUUID(text string) bool {
	id, err := uuid.Parse(text)
	return err == nil && id.String() == text
}

// UUIDs returns those of the texts that are UUIDs as PostgreSQL writes them; never nil.
func UUIDs(texts []string) pq.StringArray {
	ids := pq.StringArray{}
	for _, text := range texts {
		if IsUUID(text) {
			ids = append(ids, text)
		}
	}
	return ids
}
