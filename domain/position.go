package domain

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Position is a place in the log of writes of the primary database (PostgreSQL's
// LSN): a standby that has replayed up to it has every write before it.
type Position uint64

// ParsePosition reads what String writes, such as 16/B374D848.
func ParsePosition(text string) (Position, error) {
	upper, lower, found := strings.Cut(text, "/")
	high, highErr := strconv.ParseUint(upper, 16, 32)
	low, lowErr := strconv.ParseUint(lower, 16, 32)
	if !found || highErr != nil || lowErr != nil {
		return 0, Invalid("", "%.40q is no position in the log of writes, such as 16/B374D848", text)
	}
	return Position(high<<32 | low), nil
}

// String writes the position as PostgreSQL does.
func (p Position) String() string { return fmt.Sprintf("%X/%X", uint64(p)>>32, uint32(p)) }

// MarshalText writes what String does.
func (p Position) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// Replica is how a standby of the database does.
type Replica struct {
	// Place is its address, without credentials.
	Place string
	// Used tells whether reads go to it.
	Used bool
	// Lag is how far it is behind the primary, at most ten minutes.
	Lag time.Duration
}
