package replica

import (
	"slices"
	"sync"
	"time"
)

// remembered is how far back LSNs of the primary are kept.
const remembered = 10 * time.Minute

// primary has the LSNs of the primary over time. The lag of standbys is measured
// by them and needs no clock of theirs: a standby that has lost its connection
// takes itself for current.
type primary struct {
	mu         sync.Mutex
	count      uint64 // of looks that were begun
	looks      []look // oldest first
	lastFailed bool
}

// look is one at the primary: all that was committed before at is before lsn.
type look struct {
	number uint64
	at     time.Time
	lsn    LSN
}

// begin counts a look, which done ends when it succeeds.
func (p *primary) begin(at time.Time) (done func(LSN)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count++
	began := look{number: p.count, at: at}
	return func(lsn LSN) {
		began.lsn = lsn
		p.add(began)
	}
}

func (p *primary) add(l look) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.looks, p.lastFailed = append(p.looks, l), false
	// One older look is kept: after a long absence of the primary, lag is measured by it.
	recent := slices.IndexFunc(p.looks, func(kept look) bool { return l.at.Sub(kept.at) < remembered })
	p.looks = slices.Delete(p.looks, 0, max(0, recent-1))
}

// lose records that a look failed.
func (p *primary) lose() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lastFailed = true
}

// isLost reports whether the last look failed.
func (p *primary) isLost() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lastFailed
}

// clock returns the time, which stands still at the last look while the primary is lost:
// nobody can write then, so that standbys fall behind no further.
func (p *primary) clock() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lastFailed && len(p.looks) > 0 {
		return p.looks[len(p.looks)-1].at
	}
	return time.Now()
}

// begun returns a number that the next look has, or one after it.
func (p *primary) begun() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count + 1
}

// since returns the LSN of the first look of that number or later.
func (p *primary) since(number uint64) (LSN, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.looks {
		if l.number >= number {
			return l.lsn, true
		}
	}
	return 0, false
}

// lag returns for how long a standby lacks something that the primary has.
func (p *primary) lag(replayed LSN, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.looks {
		if l.lsn > replayed {
			return now.Sub(l.at)
		}
	}
	return 0
}
