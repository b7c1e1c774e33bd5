package ingest

import "sync/atomic"

const (
	// mostHeld bounds what all streams hold of lines that are not answered yet, in bytes:
	// far below the memory of a small machine.
	mostHeld = 32 << 20
	// ownHeld is what each stream may hold even so, so that clients that take no answers
	// stop no others.
	ownHeld = 64 << 10
	// heldOfLine is about what a line takes beside its texts: a record and its result.
	heldOfLine = 512
)

// unanswered counts the bytes of a stream among those of all.
type unanswered struct {
	all *atomic.Int64
	own atomic.Int64
}

func (h *unanswered) hasRoom() bool { return h.all.Load() < mostHeld || h.own.Load() < ownHeld }

func (h *unanswered) add(bytes int64) {
	h.all.Add(bytes)
	h.own.Add(bytes)
}

func sizeOf(line *readLine) int64 { return heldOfLine + int64(line.Bytes) }
