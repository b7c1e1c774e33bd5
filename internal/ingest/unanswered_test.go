package ingest

import (
	"sync/atomic"
	"testing"

	"simgraph/internal/bundle"
)

// What streams hold of lines is bounded in bytes, over all of them; a stream whose client
// takes its answers goes on even where others hold all.
func TestStreamsTogetherHoldFewBytes(t *testing.T) {
	t.Parallel()
	var all atomic.Int64
	long := readLine{UsageLine: bundle.UsageLine{Bytes: bundle.MaxLine}}
	fill := func(a *readAhead) (lines int) {
		for a.add(long) {
			lines++
		}
		return lines
	}
	greedy := newReadAhead(batchSize, &all)
	if lines := fill(greedy); lines == 0 || all.Load() > mostHeld+bundle.MaxLine+heldOfLine {
		t.Fatalf("%d lines of %d bytes are held", lines, all.Load())
	}
	other := newReadAhead(batchSize, &all)
	for range 3 {
		if lines := fill(other); lines != 1 {
			t.Errorf("%d lines are read beside one that holds all", lines)
		}
		other.release(other.take(0))
	}
	greedy.release(greedy.take(0))
	if all.Load() != 0 {
		t.Errorf("%d bytes are held of nothing", all.Load())
	}
}
