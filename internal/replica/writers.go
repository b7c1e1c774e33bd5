package replica

import (
	"sync"
	"time"
)

// mostWriters bounds the memory for writers.
const mostWriters = 20_000

// writers have the LSN that standbys must have replayed for each writer.
type writers struct {
	keep time.Duration
	// clock stands still while standbys cannot catch up, so that nothing is forgotten.
	clock func() time.Time

	mu    sync.Mutex
	known map[writer]mark
	// everyone is what all writers need: what was there when the server started,
	// and the marks that there was no room for.
	everyone mark
}

// mark is what a writer needs: the LSN, and the one of the primary at look or the
// first look after it, unless look is 0.
type mark struct {
	lsn   LSN
	look  uint64
	until time.Time
}

func newWriters(keep time.Duration, clock func() time.Time) *writers {
	// The first look at the primary is after the migrations.
	return &writers{keep: keep, clock: clock, known: map[writer]mark{}, everyone: mark{look: 1}}
}

func (m mark) with(other mark) mark {
	return mark{max(m.lsn, other.lsn), max(m.look, other.look), m.until}
}

func (w *writers) recordWrite(who writer, lsn LSN) { w.add(who, mark{lsn: lsn}) }

func (w *writers) recordObserved(who writer, look uint64) { w.add(who, mark{look: look}) }

func (w *writers) add(who writer, m mark) {
	now := w.clock()
	w.mu.Lock()
	defer w.mu.Unlock()
	old, known := w.known[who]
	if !known && len(w.known) >= mostWriters {
		w.makeRoom(now)
	}
	m = m.with(old)
	m.until = now.Add(w.keep)
	w.known[who] = m
}

// makeRoom forgets what every standby in use has; when all is newer, it is kept
// for all writers together.
func (w *writers) makeRoom(now time.Time) {
	for who, m := range w.known {
		if m.until.Before(now) {
			delete(w.known, who)
		}
	}
	if len(w.known) < mostWriters {
		return
	}
	for _, m := range w.known {
		w.everyone = w.everyone.with(m)
	}
	clear(w.known)
}

// after returns what a writer needs; false while the primary has not been looked
// at since.
func (w *writers) after(who writer, p *primary) (LSN, bool) {
	now := w.clock()
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.everyone.resolved(p)
	w.everyone = all
	own, known := w.known[who]
	if !known {
		return all.lsn, all.look == 0
	}
	own = own.resolved(p)
	if own.until.Before(now) {
		delete(w.known, who)
	} else {
		w.known[who] = own
	}
	return max(all.lsn, own.lsn), all.look == 0 && own.look == 0
}

// resolved replaces the look by what it found, once. What later looks find would
// never be reached under steady writes.
func (m mark) resolved(p *primary) mark {
	if m.look == 0 {
		return m
	}
	if lsn, found := p.since(m.look); found {
		m.lsn, m.look = max(m.lsn, lsn), 0
	}
	return m
}
