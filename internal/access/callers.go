package access

import (
	"context"
	"crypto/sha256"
	"errors"
	"sync"
	"time"

	"simgraph/domain"
	"simgraph/internal/flight"
)

const (
	// freshFor is how long a caller is believed without asking the store, so
	// that a revocation holds everywhere within 5 s.
	freshFor = 3 * time.Second
	// mostRemembered bounds the memory for callers.
	mostRemembered = 20_000
)

// callers turns credentials of one kind into callers. It remembers them for some
// seconds, so that a busy client costs the store one look-up every freshFor.
type callers struct {
	authenticate func(ctx context.Context, credential domain.Secret) (*domain.Caller, error)
	now          func() time.Time

	lookUps flight.Group[tokenHash, domain.Secret, *domain.Caller]
	mu      sync.RWMutex
	known   map[tokenHash]remembered
}

type tokenHash [sha256.Size]byte

type remembered struct {
	caller *domain.Caller
	until  time.Time
}

func newCallers(authenticate func(context.Context, domain.Secret) (*domain.Caller, error), now func() time.Time) *callers {
	c := &callers{authenticate: authenticate, now: now, known: map[tokenHash]remembered{}}
	c.lookUps.Run = c.lookUp
	return c
}

// find returns who holds the credential, or an InvalidToken error.
func (c *callers) find(ctx context.Context, credential domain.Secret) (*domain.Caller, error) {
	hash := tokenHash(sha256.Sum256([]byte(credential)))
	if caller, ok := c.believed(hash); ok {
		return caller, nil
	}
	caller, err := c.lookUps.Do(ctx, hash, credential)
	if err != nil && errors.Is(err, ctx.Err()) {
		return nil, domain.Unavailable(err)
	}
	return caller, err
}

// believed returns the caller of a token that was looked up not long ago.
func (c *callers) believed(hash tokenHash) (*domain.Caller, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	entry, ok := c.known[hash]
	return entry.caller, ok && c.now().Before(entry.until)
}

// lookUp asks the store for the caller of a token, unless a look-up has found it
// since it was asked for.
func (c *callers) lookUp(ctx context.Context, hash tokenHash, tokens []domain.Secret) []flight.Result[*domain.Caller] {
	caller, ok := c.believed(hash)
	var err error
	if !ok {
		asked := c.now()
		caller, err = c.authenticate(ctx, tokens[0])
		c.remember(hash, caller, asked)
	}
	return flight.Same(len(tokens), caller, err)
}

func (c *callers) remember(key tokenHash, caller *domain.Caller, asked time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if caller == nil {
		delete(c.known, key)
		return
	}
	if len(c.known) >= mostRemembered {
		c.forgetStale(asked)
	}
	until := asked.Add(freshFor)
	if caller.ExpiresAt.Before(until) {
		until = caller.ExpiresAt
	}
	c.known[key] = remembered{caller, until}
}

// forgetStale makes room; when all are fresh, all are forgotten.
func (c *callers) forgetStale(now time.Time) {
	for key, entry := range c.known {
		if !now.Before(entry.until) {
			delete(c.known, key)
		}
	}
	if len(c.known) >= mostRemembered {
		clear(c.known)
	}
}

// forget drops what is remembered of a credential, so that its end holds at once
// in this process.
func (c *callers) forget(credential domain.Secret) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.known, sha256.Sum256([]byte(credential)))
}
