package replica

import (
	"fmt"
	"strconv"
	"strings"

	"simgraph/domain"
)

// LSN is a position in the write-ahead log of the primary database: a standby that
// has replayed up to it has every write before it.
type LSN uint64

// ParseLSN reads what PostgreSQL writes, such as 16/B374D848.
func ParseLSN(text string) (LSN, error) {
	upper, lower, found := strings.Cut(text, "/")
	high, highErr := strconv.ParseUint(upper, 16, 32)
	low, lowErr := strconv.ParseUint(lower, 16, 32)
	if !found || highErr != nil || lowErr != nil {
		return 0, domain.Invalid("", "%.40q is no position in the log of writes, such as 16/B374D848", text)
	}
	return LSN(high<<32 | low), nil
}

// String writes the LSN as PostgreSQL does.
func (l LSN) String() string { return fmt.Sprintf("%X/%X", uint64(l)>>32, uint32(l)) }

// MarshalText implements encoding.TextMarshaler.
func (l LSN) MarshalText() ([]byte, error) { return []byte(l.String()), nil }
