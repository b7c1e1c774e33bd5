package dbtest

import (
	"testing"
	"time"
)

// Seeds returns the seeds of random cases: one that no run has had before, and others
// unless only a short run is wanted. A seed that failed is repeated by adding it here.
func Seeds() (seeds []uint64, unseen uint64) {
	unseen = uint64(time.Now().UnixNano())
	if testing.Short() {
		return []uint64{unseen}, unseen
	}
	return []uint64{1, 2, unseen}, unseen
}
