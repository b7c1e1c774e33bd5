package source

import (
	"context"
	"iter"

	"simgraph/domain"
)

// Snapshot is a company with its profiles as it is at one moment.
type Snapshot interface {
	domain.Snapshot
	// SourceProfiles are the newest versions of the profiles of the company, by name. Those
	// that come with the program are left out.
	SourceProfiles(ctx context.Context) iter.Seq2[*Profile, error]
}
