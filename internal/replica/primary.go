package replica

import (
	"slices"
	"sync"
	"time"

	"simgraph/domain"
)

// remembered is how far back positions of the primary are kept.
const remembered = 10 * time.Minute

// primary is where the primary was, from time to time. By it the lag of standbys
// is known without a clock of theirs, also of one that has lost its connection
// and believes to be up to date.
type primary struct {
	mu    sync.Mutex
	count uint64 // of looks that were begun
	looks []look // oldest first
}

// look is one at the primary: all that was committed before at is before
// position.
type look struct {
	number   uint64
	at       time.Time
	position domain.Position
}

// begin counts a look, which done ends when it succeeds.
func (p *primary) begin(at time.Time) (done func(domain.Position)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count++
	began := look{number: p.count, at: at}
	return func(position domain.Position) {
		began.position = position
		p.add(began)
	}
}

func (p *primary) add(l look) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.looks = append(p.looks, l)
	old := slices.IndexFunc(p.looks, func(kept look) bool { return l.at.Sub(kept.at) < remembered })
	p.looks = slices.Delete(p.looks, 0, old)
}

// begun is a number that the next look has, or one after it.
func (p *primary) begun() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count + 1
}

// since returns where the primary was at the first look of that number or later.
func (p *primary) since(number uint64) (domain.Position, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.looks {
		if l.number >= number {
			return l.position, true
		}
	}
	return 0, false
}

// lag is for how long a standby lacks something that the primary has.
func (p *primary) lag(replayed domain.Position, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.looks {
		if l.position > replayed {
			return now.Sub(l.at)
		}
	}
	return 0
}
