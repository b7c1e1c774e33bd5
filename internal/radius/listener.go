package radius

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
	"layeh.com/radius"

	"simgraph/domain"
)

const (
	// receiveBuffer is what the kernel keeps of a burst, in bytes.
	receiveBuffer = 8 << 20
	// RefreshClients is how often the clients are read.
	RefreshClients = 2 * time.Second
	// storeTime bounds how long a request waits for the ledger. Senders have tried
	// again by then.
	storeTime = 20 * time.Second
	// drainTime bounds how long requests are answered after the listener was closed.
	drainTime = 5 * time.Second
	// mostWaiting bounds the requests that wait for the ledger, in bytes: far below the
	// 64 MB that are promised, since garbage is collected when the heap has grown to
	// several times of what is held.
	mostWaiting = 16 << 20
	// waitingSize is about what a request takes while it waits, beside its answer: a
	// goroutine and the texts that were read.
	waitingSize = 6 << 10
)

// The results of packets beside those of domain.AccountingResult.
const (
	ResultStatus        = "status"
	ResultRepeated      = "repeated"
	ResultInFlight      = "in_flight"
	ResultUnknownClient = "unknown_client"
	ResultForged        = "bad_authenticator"
	ResultMalformed     = "malformed"
	ResultUnsupported   = "unsupported"
	ResultOverloaded    = "overloaded"
	ResultFailed        = "failed"
)

// Results are all results of packets. Only a packet that was stored, a repeated
// one and a Status-Server are answered.
var Results = []string{
	string(domain.AccountingBooked), string(domain.AccountingNothingNew), string(domain.AccountingQuarantined),
	string(domain.AccountingRestarted), string(domain.AccountingUnusable), ResultStatus, ResultRepeated, ResultInFlight,
	ResultUnknownClient, ResultForged, ResultMalformed, ResultUnsupported, ResultOverloaded, ResultFailed,
}

// Stored are the results of requests that were stored.
var Stored = Results[:5]

// Config are the settings of a Listener.
type Config struct {
	Feed domain.Feed
	Log  *slog.Logger
	// MaxWaiting bounds the requests that wait for the ledger; default 8,192. What
	// comes beyond is dropped, and sent again.
	MaxWaiting int
	// Now returns the time; default time.Now.
	Now func() time.Time
}

// Listener answers accounting requests over UDP.
type Listener struct {
	cfg     Config
	sockets []*socket
	// waiting and waitingBytes are of the requests that wait for the ledger.
	waiting, waitingBytes atomic.Int64
	answers               answers
	clients               clients
	running               sync.WaitGroup
	// Observe, unless nil, is called for every packet with its result and how long
	// it took. Set it before Run.
	Observe func(result string, took time.Duration)
}

// Listen opens the addresses: of this host, names of it, or 0.0.0.0 and [::] for all.
func Listen(ctx context.Context, addresses []string, cfg Config) (*Listener, error) {
	if cfg.MaxWaiting == 0 {
		cfg.MaxWaiting = 8192
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	found, err := resolve(ctx, addresses)
	if err != nil {
		return nil, err
	}
	l := &Listener{cfg: cfg}
	for _, address := range found {
		s, err := openSocket(address)
		if address.Addr() == netip.IPv6Unspecified() && len(l.sockets) > 0 && errors.Is(err, syscall.EAFNOSUPPORT) {
			continue // a host without IPv6
		}
		if err != nil {
			return nil, errors.Join(err, l.Close())
		}
		l.sockets = append(l.sockets, s)
	}
	return l, nil
}

// Addrs are the addresses that the listener is open at.
func (l *Listener) Addrs() []netip.AddrPort {
	addresses := make([]netip.AddrPort, len(l.sockets))
	for i, s := range l.sockets {
		addresses[i] = s.addr()
	}
	return addresses
}

// Close ends Run.
func (l *Listener) Close() error {
	var failures []error
	for _, s := range l.sockets {
		failures = append(failures, s.conn.Close())
	}
	return errors.Join(failures...)
}

// Run answers until ctx ends or the listener is closed, and then the requests that
// had come.
func (l *Listener) Run(ctx context.Context) error {
	storing, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	l.refresh(storing)
	go l.follow(storing)
	var reading errgroup.Group
	for _, s := range l.sockets {
		end := context.AfterFunc(ctx, func() { _ = s.conn.SetReadDeadline(time.Now()) })
		defer end()
		reading.Go(func() error { return l.read(ctx, storing, s) })
	}
	err := reading.Wait()
	drained := time.AfterFunc(drainTime, stop)
	defer drained.Stop()
	l.running.Wait()
	if ctx.Err() != nil {
		_ = l.Close() // Run is over for good
	}
	return err
}

// read takes packets until the listener ends.
func (l *Listener) read(ctx, storing context.Context, s *socket) error {
	buffer, control := make([]byte, radius.MaxPacketLength+1), make([]byte, controlSize)
	for {
		n, peer, err := s.read(buffer, control)
		if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		l.take(storing, buffer[:n], peer)
	}
}

// pending is a request that waits for the ledger. It holds nothing of the packet but
// what is stored and answered.
type pending struct {
	peer
	key        packetKey
	owners     []*domain.RADIUSClient
	accounting domain.Accounting
	isStatus   bool
	answer     []byte
	arrived    time.Time
}

// size is about what it takes.
func (p *pending) size() int64 { return waitingSize + int64(len(p.answer)) }

// take drops what is not authentic and starts the work for the rest.
func (l *Listener) take(ctx context.Context, datagram []byte, from peer) {
	arrived := l.cfg.Now()
	packet, err := trim(datagram)
	if err != nil {
		l.observe(resultOf(err), arrived)
		return
	}
	key := newKey(from.AddrPort, packet)
	if done, answer := l.answers.find(key, arrived); done {
		l.repeat(from, answer, arrived)
		return
	}
	candidates := l.clients.at(from.Addr())
	if len(candidates) == 0 {
		l.refuse(from, packet, nil)
		l.observe(ResultUnknownClient, arrived)
		return
	}
	r, owners := authenticateAs(packet, candidates)
	if r == nil {
		l.refuse(from, packet, candidates)
		l.observe(ResultForged, arrived)
		return
	}
	p := &pending{peer: from, key: key, owners: owners, isStatus: r.Code == radius.CodeStatusServer, arrived: arrived}
	if p.answer, err = r.answer(); err != nil {
		l.observe(ResultMalformed, arrived)
		return
	}
	if !l.enter(p) {
		l.observe(ResultOverloaded, arrived)
		return
	}
	if !p.isStatus {
		p.accounting = r.read(arrived)
	}
	l.answers.begin(key, arrived)
	l.running.Go(func() {
		defer l.leave(p)
		l.serve(ctx, p)
	})
}

// refuse counts a packet of an unknown sender, or one that is made with another secret.
// Before the clients were read, nobody can be said to be unknown.
func (l *Listener) refuse(from peer, packet []byte, candidates []*domain.RADIUSClient) {
	if !l.clients.areRead() {
		return
	}
	l.cfg.Feed.Refuse(domain.FeedRefusal{Address: from.Addr(), NAS: claimedNAS(packet), Clients: candidates})
}

// enter takes a place among the requests that wait, unless all are taken.
func (l *Listener) enter(p *pending) bool {
	requests, bytes := l.waiting.Add(1), l.waitingBytes.Add(p.size())
	if requests > int64(l.cfg.MaxWaiting) || bytes > mostWaiting {
		l.leave(p)
		return false
	}
	return true
}

func (l *Listener) leave(p *pending) {
	l.waiting.Add(-1)
	l.waitingBytes.Add(-p.size())
}

func resultOf(err error) string {
	if errors.Is(err, errCode) {
		return ResultUnsupported
	}
	return ResultMalformed
}

// repeat sends the answer once more; nil while the first one is not there yet.
func (l *Listener) repeat(to peer, answer []byte, arrived time.Time) {
	if answer == nil {
		l.observe(ResultInFlight, arrived)
		return
	}
	l.send(to, answer)
	l.observe(ResultRepeated, arrived)
}

// authenticateAs returns the packet with the clients whose secret made it.
func authenticateAs(packet []byte, candidates []*domain.RADIUSClient) (*request, []*domain.RADIUSClient) {
	for i, c := range candidates {
		r, err := authenticate(packet, c.Secret)
		if err != nil {
			continue
		}
		owners := []*domain.RADIUSClient{c}
		for _, other := range candidates[i+1:] {
			if sameSecret(c.Secret, other.Secret) {
				owners = append(owners, other)
			}
		}
		return r, owners
	}
	return nil, nil
}

// serve stores a request and answers it.
func (l *Listener) serve(ctx context.Context, p *pending) {
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	result, err := l.store(ctx, p)
	if err != nil {
		l.answers.forget(p.key)
		l.observe(ResultFailed, p.arrived)
		l.cfg.Log.Debug("an accounting request was not stored, and not answered", "client", p.owners[0].Name, "error", err)
		return
	}
	l.answers.keep(p.key, p.answer)
	l.send(p.peer, p.answer)
	l.observe(result, p.arrived)
}

func (l *Listener) store(ctx context.Context, p *pending) (string, error) {
	if p.isStatus {
		return ResultStatus, l.cfg.Feed.Writable(ctx)
	}
	result, err := l.cfg.Feed.Account(ctx, p.owners, p.accounting)
	return string(result), err
}

func (l *Listener) send(to peer, answer []byte) {
	if err := to.answer(answer); err != nil {
		l.cfg.Log.Debug("an answer could not be sent", "error", err)
	}
}

func (l *Listener) observe(result string, arrived time.Time) {
	if l.Observe != nil {
		l.Observe(result, l.cfg.Now().Sub(arrived))
	}
}
