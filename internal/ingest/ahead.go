package ingest

import (
	"sync"
	"sync/atomic"
	"time"
)

// readAhead is what was read of a stream and is not yet booked, up to a batch, and what is
// held of all streams. It takes the memory of the lines that came, not of a whole batch: most
// requests have few.
type readAhead struct {
	limit int
	held  unanswered

	mu    sync.Mutex
	lines []readLine
	ended bool
	// grown and taken have room for one sign each that there is more to take, and room
	// to put.
	grown, taken chan struct{}
}

func newReadAhead(limit int, all *atomic.Int64) *readAhead {
	return &readAhead{limit: limit, held: unanswered{all: all}, grown: make(chan struct{}, 1), taken: make(chan struct{}, 1)}
}

// put waits for room; false when stop is closed before.
func (a *readAhead) put(line readLine, stop <-chan struct{}) bool {
	for !a.add(line) {
		select {
		case <-a.taken:
		case <-stop:
			return false
		}
	}
	return true
}

func (a *readAhead) add(line readLine) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.lines) == a.limit || !a.held.hasRoom() {
		return false
	}
	a.held.add(sizeOf(&line))
	a.lines = append(a.lines, line)
	// A batch that lingers wakes up for the first line and for the last, not for each.
	if n := len(a.lines); n == 1 || n == a.limit {
		signal(a.grown)
	}
	return true
}

// release gives the room of lines back that were answered, or never will be.
func (a *readAhead) release(lines []readLine) {
	for i := range lines {
		a.held.add(-sizeOf(&lines[i]))
	}
	signal(a.taken)
}

// end reports that no more lines come.
func (a *readAhead) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
	signal(a.grown)
}

// take returns the lines of a batch, for which it waits up to linger.
func (a *readAhead) take(linger time.Duration) []readLine {
	enough := time.NewTimer(linger)
	defer enough.Stop()
	for a.awaits(a.limit) {
		select {
		case <-a.grown:
			continue
		case <-enough.C:
		}
		break
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	batch := a.lines
	a.lines = nil
	signal(a.taken)
	return batch
}

// awaits reports whether there are fewer lines than that, and more may come.
func (a *readAhead) awaits(lines int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.lines) < lines && !a.ended
}

// over reports whether every line was taken, and no more come.
func (a *readAhead) over() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ended && len(a.lines) == 0
}

func signal(to chan<- struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}
