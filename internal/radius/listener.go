package radius

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"

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
	conn    *net.UDPConn
	turns   chan struct{}
	answers answers
	clients clients
	running sync.WaitGroup
	// Observe, unless nil, is called for every packet with its result and how long
	// it took. Set it before Run.
	Observe func(result string, took time.Duration)
}

// Listen opens the address. It must name an IP address of this host: an answer
// leaves from the address that was asked, which a wildcard does not ensure.
func Listen(address string, cfg Config) (*Listener, error) {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, domain.Invalid("radius-addr", "an address is written as 127.0.0.1:1813, not %q", address)
	}
	if at.Addr().IsUnspecified() {
		return nil, domain.Invalid("radius-addr", "the address for RADIUS must be one of this host, not %s", at.Addr())
	}
	conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(at))
	if err != nil {
		return nil, err
	}
	_ = conn.SetReadBuffer(receiveBuffer) // the kernel grants what it is configured for
	if cfg.MaxWaiting == 0 {
		cfg.MaxWaiting = 8192
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Listener{cfg: cfg, conn: conn, turns: make(chan struct{}, cfg.MaxWaiting)}, nil
}

// Addr is the address that the listener is open at.
func (l *Listener) Addr() netip.AddrPort {
	return l.conn.LocalAddr().(*net.UDPAddr).AddrPort() //nolint:forcetypeassert // the address of a UDP socket
}

// Close ends Run.
func (l *Listener) Close() error { return l.conn.Close() }

// Run answers until ctx ends or the listener is closed, and then the requests that
// had come.
func (l *Listener) Run(ctx context.Context) error {
	storing, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	l.refresh(storing)
	go l.follow(storing)
	end := context.AfterFunc(ctx, func() { _ = l.conn.SetReadDeadline(time.Now()) })
	defer end()
	err := l.read(ctx, storing)
	drained := time.AfterFunc(drainTime, stop)
	defer drained.Stop()
	l.running.Wait()
	if ctx.Err() != nil {
		_ = l.conn.Close() // Run is over for good
	}
	return err
}

// read takes packets until the listener ends.
func (l *Listener) read(ctx, storing context.Context) error {
	buffer := make([]byte, radius.MaxPacketLength+1)
	for {
		n, from, err := l.conn.ReadFromUDPAddrPort(buffer)
		if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		l.take(storing, buffer[:n], netip.AddrPortFrom(from.Addr().Unmap(), from.Port()))
	}
}

// take drops what is not authentic and starts the work for the rest.
func (l *Listener) take(ctx context.Context, datagram []byte, from netip.AddrPort) {
	arrived := l.cfg.Now()
	packet, err := trim(datagram)
	if err != nil {
		l.observe(resultOf(err), arrived)
		return
	}
	key := newKey(from, packet)
	if done, answer := l.answers.find(key, arrived); done {
		l.repeat(from, answer, arrived)
		return
	}
	candidates := l.clients.at(from.Addr())
	if len(candidates) == 0 {
		l.observe(ResultUnknownClient, arrived)
		return
	}
	r, owners := authenticateAs(packet, candidates)
	if r == nil {
		l.observe(ResultForged, arrived)
		return
	}
	select {
	case l.turns <- struct{}{}:
	default:
		l.observe(ResultOverloaded, arrived)
		return
	}
	l.answers.begin(key, arrived)
	l.running.Go(func() {
		defer func() { <-l.turns }()
		l.serve(ctx, r, owners, from, key, arrived)
	})
}

func resultOf(err error) string {
	if errors.Is(err, errCode) {
		return ResultUnsupported
	}
	return ResultMalformed
}

// repeat sends the answer once more; nil while the first one is not there yet.
func (l *Listener) repeat(to netip.AddrPort, answer []byte, arrived time.Time) {
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
func (l *Listener) serve(ctx context.Context, r *request, owners []*domain.RADIUSClient, from netip.AddrPort, key packetKey, arrived time.Time) {
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	result, err := l.store(ctx, r, owners, arrived)
	var answer []byte
	if err == nil {
		answer, err = r.answer()
	}
	if err != nil {
		l.answers.forget(key)
		l.observe(ResultFailed, arrived)
		l.cfg.Log.Debug("an accounting request was not stored, and not answered", "client", owners[0].Name, "error", err)
		return
	}
	l.answers.keep(key, answer)
	l.send(from, answer)
	l.observe(result, arrived)
}

func (l *Listener) store(ctx context.Context, r *request, owners []*domain.RADIUSClient, arrived time.Time) (string, error) {
	if r.Code == radius.CodeStatusServer {
		return ResultStatus, l.cfg.Feed.Writable(ctx)
	}
	result, err := l.cfg.Feed.Account(ctx, owners, r.read(arrived))
	return string(result), err
}

func (l *Listener) send(to netip.AddrPort, answer []byte) {
	if _, err := l.conn.WriteToUDPAddrPort(answer, to); err != nil {
		l.cfg.Log.Debug("an answer could not be sent", "error", err)
	}
}

func (l *Listener) observe(result string, arrived time.Time) {
	if l.Observe != nil {
		l.Observe(result, l.cfg.Now().Sub(arrived))
	}
}
