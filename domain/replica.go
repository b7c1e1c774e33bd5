package domain

import "time"

// Replica is the state of a standby of the database.
type Replica struct {
	// Place is its address, without credentials.
	Place string
	// Used reports whether reads go to it.
	Used bool
	// Lag is how far it is behind the primary, at most ten minutes.
	Lag time.Duration
}
