package resolvers

import (
	"context"
	"sync"
	"time"

	"simgraph/domain"
)

const (
	// maxPreviews bounds the previews of a company that run at once: each reads the usage
	// of many subscribers over weeks.
	maxPreviews = 2
	// previewWait is how long one more waits for its turn.
	previewWait = 5 * time.Second
)

// previews has the turns of each company whose previews run or wait.
type previews struct {
	mu   sync.Mutex
	used map[domain.CompanyID]*turns
}

// turns are the free ones, and how many callers hold or want one.
type turns struct {
	free    chan struct{}
	callers int
}

// begin waits for a turn of the company, and returns what gives it back. The error is
// RateLimited where none became free in time.
func (p *previews) begin(ctx context.Context, company domain.CompanyID, wait time.Duration) (end func(), err error) {
	of := p.join(company)
	ctx, cancel := context.WithTimeoutCause(ctx, wait, &domain.Error{
		Kind: domain.KindRateLimited, Message: "two previews of the company run already, try again when one has ended", RetryAfter: wait,
	})
	defer cancel()
	select {
	case of.free <- struct{}{}:
		return func() { <-of.free; p.leave(company) }, nil
	case <-ctx.Done():
		p.leave(company)
		return nil, context.Cause(ctx)
	}
}

func (p *previews) join(company domain.CompanyID) *turns {
	p.mu.Lock()
	defer p.mu.Unlock()
	of := p.used[company]
	if of == nil {
		if p.used == nil {
			p.used = map[domain.CompanyID]*turns{}
		}
		of = &turns{free: make(chan struct{}, maxPreviews)}
		p.used[company] = of
	}
	of.callers++
	return of
}

func (p *previews) leave(company domain.CompanyID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.used[company].callers--; p.used[company].callers == 0 {
		delete(p.used, company)
	}
}
