// Package limit bounds what callers may ask of the server: requests and cost
// per time, what they have open at once, and what runs at once altogether.
package limit

import (
	"context"
	"net/netip"
	"time"

	"simgraph/domain"
)

// Config are the limits; 0 stands for none.
type Config struct {
	// TokenRate is how many requests a second an access token may make for
	// long, TokenBurst how many at once.
	TokenRate, TokenBurst float64
	// AddressRate and AddressBurst are the same for an address, whatever tokens
	// come from it.
	AddressRate, AddressBurst float64
	// LinkRate is how many attempts to sign in by links, or to read them, an address may
	// make per second for long, LinkBurst at once.
	LinkRate, LinkBurst float64
	// LinkRequestRate is how many links by mail an address may ask for per second for long,
	// LinkRequestBurst at once.
	LinkRequestRate, LinkRequestBurst float64
	// CostRate is the cost of operations that a token may run per second for
	// long, CostBurst at once.
	CostRate, CostBurst float64
	// Running is how many operations run at once, Queue how many wait for that,
	// and Patience how long they do.
	Running, Queue int
	Patience       time.Duration
	// Subscriptions and Sockets are how many of them a token may have open, and
	// the …PerAddress how many an address.
	Subscriptions, SubscriptionsPerAddress int
	Sockets, SocketsPerAddress             int
	// Exports are how many of them a token may have running, and ExportsInAll all of them.
	Exports, ExportsInAll int
	// Refused, unless nil, is called with the limit that refused something.
	Refused func(Reason)
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Reason names the limit that refused something.
type Reason string

// The limits.
const (
	TokenRequests   Reason = "token_requests"
	AddressRequests Reason = "address_requests"
	LinkAttempts    Reason = "link_attempts"
	LinkRequests    Reason = "link_requests"
	TokenCost       Reason = "token_cost"
	Concurrency     Reason = "concurrency"
	Subscriptions   Reason = "subscriptions"
	Sockets         Reason = "websockets"
	Exports         Reason = "exports"
)

// Reasons are all of them.
var Reasons = []string{
	string(TokenRequests), string(AddressRequests), string(LinkAttempts), string(LinkRequests), string(TokenCost), string(Concurrency), string(Subscriptions), string(Sockets), string(Exports),
}

// openAgain is when one may try again what has too much open.
const openAgain = 5 * time.Second

// Limits hold callers to their limits. Every error is a domain.Error that says
// when to try again.
type Limits struct {
	refused              func(Reason)
	byToken, byAddress   *Buckets
	byLink, byRequest    *Buckets
	cost                 *Buckets
	slots                *Slots
	subscriptions, feeds *Counts
	sockets, peers       *Counts
	exports, allExports  *Counts
}

// New returns the limits.
func New(cfg Config) *Limits {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Refused == nil {
		cfg.Refused = func(Reason) {}
	}
	return &Limits{
		refused:       cfg.Refused,
		byToken:       NewBuckets(cfg.TokenRate, cfg.TokenBurst, cfg.Now),
		byAddress:     NewBuckets(cfg.AddressRate, cfg.AddressBurst, cfg.Now),
		byLink:        NewBuckets(cfg.LinkRate, cfg.LinkBurst, cfg.Now),
		byRequest:     NewBuckets(cfg.LinkRequestRate, cfg.LinkRequestBurst, cfg.Now),
		cost:          NewBuckets(cfg.CostRate, cfg.CostBurst, cfg.Now),
		slots:         NewSlots(cfg.Running, cfg.Queue, cfg.Patience),
		subscriptions: NewCounts(cfg.Subscriptions), feeds: NewCounts(cfg.SubscriptionsPerAddress),
		sockets: NewCounts(cfg.Sockets), peers: NewCounts(cfg.SocketsPerAddress),
		exports: NewCounts(cfg.Exports), allExports: NewCounts(cfg.ExportsInAll),
	}
}

// FromAddress counts a request of the address.
func (l *Limits) FromAddress(addr netip.Addr) error {
	return l.spend(AddressRequests, l.byAddress, household(addr), 1, "too many requests from this address")
}

// ByLink counts an attempt at a link from the address in the context.
func (l *Limits) ByLink(ctx context.Context) error {
	return l.spend(LinkAttempts, l.byLink, household(Address(ctx)), 1, "too many attempts to sign in by links from this address")
}

// ByLinkRequest counts a request for a link by mail from the address in the context.
func (l *Limits) ByLinkRequest(ctx context.Context) error {
	return l.spend(LinkRequests, l.byRequest, household(Address(ctx)), 1, "too many links were asked for from this address")
}

// ByCaller counts a request of the caller in the context.
func (l *Limits) ByCaller(ctx context.Context) error {
	return l.spend(TokenRequests, l.byToken, credential(ctx), 1, "too many requests with this access token")
}

// Charge books the cost of an operation on the caller in the context.
func (l *Limits) Charge(ctx context.Context, cost int) error {
	return l.spend(TokenCost, l.cost, credential(ctx), float64(cost), "too many or too costly operations")
}

func (l *Limits) spend(reason Reason, buckets *Buckets, key string, n float64, message string) error {
	if wait := buckets.Take(key, n); wait > 0 {
		return l.refuse(reason, domain.KindRateLimited, message, wait)
	}
	return nil
}

func (l *Limits) refuse(reason Reason, kind domain.ErrorKind, message string, wait time.Duration) error {
	l.refused(reason)
	return &domain.Error{Kind: kind, Message: message + ", try again later", RetryAfter: wait}
}

// Run waits its turn to run an operation. Call leave when that has ended.
func (l *Limits) Run(ctx context.Context) (leave func(), err error) {
	if !l.slots.Enter(ctx) {
		return nil, l.refuse(Concurrency, domain.KindUnavailable, "the service is busy", time.Second)
	}
	return l.slots.Leave, nil
}

// Subscribe counts a subscription of the caller in the context, until leave.
func (l *Limits) Subscribe(ctx context.Context) (leave func(), err error) {
	return l.open(Subscriptions, "too many subscriptions are open", held{l.subscriptions, credential(ctx)}, held{l.feeds, household(Address(ctx))})
}

// SocketFrom counts a WebSocket of the address in the context, until leave.
func (l *Limits) SocketFrom(ctx context.Context) (leave func(), err error) {
	return l.open(Sockets, "too many WebSockets are open from this address", held{l.peers, household(Address(ctx))})
}

// SocketBy counts a WebSocket of the caller in the context, until ctx ends.
func (l *Limits) SocketBy(ctx context.Context) error {
	leave, err := l.open(Sockets, "too many WebSockets are open with this access token", held{l.sockets, credential(ctx)})
	if err == nil {
		context.AfterFunc(ctx, leave)
	}
	return err
}

// Export counts an export of the caller in the context, until leave.
func (l *Limits) Export(ctx context.Context) (leave func(), err error) {
	return l.open(Exports, "too many exports are running", held{l.exports, credential(ctx)}, held{l.allExports, ""})
}

// held is a place among counts.
type held struct {
	counts *Counts
	key    string
}

// open takes all of the places or none.
func (l *Limits) open(reason Reason, message string, wanted ...held) (leave func(), err error) {
	var taken []func()
	leave = func() {
		for _, one := range taken {
			one()
		}
	}
	for _, w := range wanted {
		one, ok := w.counts.Enter(w.key)
		if !ok {
			leave()
			return nil, l.refuse(reason, domain.KindRateLimited, message, openAgain)
		}
		taken = append(taken, one)
	}
	return leave, nil
}

// credential is what stands for the caller's access token.
func credential(ctx context.Context) string {
	caller, err := domain.CallerOf(ctx)
	if err != nil {
		return ""
	}
	return caller.Credential
}
