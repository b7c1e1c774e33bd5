package replica

import (
	"sync"
	"time"

	"simgraph/domain"
)

// mostWriters bounds the memory for writers.
const mostWriters = 20_000

// writers remember up to where standbys must be for each writer.
type writers struct {
	keep time.Duration

	mu    sync.Mutex
	known map[writer]mark
	// everyone is what all writers need: what was there when the server started,
	// and the marks that there was no room for.
	everyone mark
}

// mark is what a writer needs: the position, and what the primary had at the
// first look at it after look, unless that is 0.
type mark struct {
	position domain.Position
	look     uint64
	until    time.Time
}

func newWriters(keep time.Duration) *writers {
	// The first look at the primary is after the migrations.
	return &writers{keep: keep, known: map[writer]mark{}, everyone: mark{look: 1}}
}

func (m mark) with(other mark) mark {
	return mark{max(m.position, other.position), max(m.look, other.look), m.until}
}

func (w *writers) wrote(who writer, position domain.Position) { w.add(who, mark{position: position}) }

func (w *writers) saw(who writer, look uint64) { w.add(who, mark{look: look}) }

func (w *writers) add(who writer, m mark) {
	now := time.Now()
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

// after tells what a writer needs; false while the primary has not been looked
// at since.
func (w *writers) after(who writer, p *primary) (domain.Position, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.everyone.resolved(p)
	w.everyone = all
	own, known := w.known[who]
	if !known {
		return all.position, all.look == 0
	}
	own = own.resolved(p)
	if own.until.Before(time.Now()) {
		delete(w.known, who)
	} else {
		w.known[who] = own
	}
	return max(all.position, own.position), all.look == 0 && own.look == 0
}

// resolved replaces the look by what it found, once. What later looks find would
// never be reached under steady writes.
func (m mark) resolved(p *primary) mark {
	if m.look == 0 {
		return m
	}
	if position, found := p.since(m.look); found {
		m.position, m.look = max(m.position, position), 0
	}
	return m
}
