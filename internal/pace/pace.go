// Package pace lets workers look for work less often while nobody uses the service.
package pace

import (
	"sync"
	"time"
)

const (
	// Quiet is how long nobody has used a service that is at rest: longer than mails are
	// collected before they are sent.
	Quiet = time.Minute
	// Rest is the time between two looks of a worker of a service at rest. So much later comes
	// what was due at a time, or is due by another instance.
	Rest = 15 * time.Second
)

// Pace says how long workers wait. The zero value is at rest.
type Pace struct {
	mu sync.Mutex
	// used is when the service was used last, and woken is closed when that ends a rest.
	used  time.Time
	woken chan struct{}
}

// Use says that somebody uses the service, which ends the pauses of workers at rest.
func (p *Pace) Use() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used = time.Now()
	if p.woken != nil {
		close(p.woken)
		p.woken = nil
	}
}

// After is time.After; while the service is at rest its pauses last Rest instead, and end when
// somebody uses the service.
func (p *Pace) After(pause time.Duration) <-chan time.Time {
	woken := p.rest()
	if woken == nil || pause >= Rest {
		return time.After(pause)
	}
	ended := make(chan time.Time, 1)
	go func() {
		select {
		case <-woken:
			ended <- time.Now()
		case at := <-time.After(Rest):
			ended <- at
		}
	}()
	return ended
}

// rest returns what is closed when the rest ends, nil while there is none.
func (p *Pace) rest() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.used) < Quiet {
		return nil
	}
	if p.woken == nil {
		p.woken = make(chan struct{})
	}
	return p.woken
}
