//go:build linux

package faults_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	codec "layeh.com/radius"
	"layeh.com/radius/rfc2866"
	"layeh.com/radius/rfc2869"

	"simgraph/db/dbtest"
	"simgraph/domain"
	"simgraph/domain/gatewaytest"
	"simgraph/internal/radius"
)

var (
	packetsOfSessions = flag.Int("packets", 100_000, "how many packets TestHostileSessionsAreExact sends")
	seedOfSessions    = flag.Uint64("seed", 31, "of its sessions")
)

const (
	sessionKills   = 10
	sessionSenders = 48
	// sessionsAgo is when the first session begins, by the clock of simgraph, which runs
	// through sessionStep at a time.
	sessionsAgo = 12 * time.Hour
	sessionStep = 30 * time.Second
)

// hostileGateway is a gateway that leaves more out of its reports.
type hostileGateway struct {
	gatewaytest.Gateway
	// varies is whether IMSI, NAS-Identifier and charging id are in some reports only, and
	// isShared whether a proxy reports the same.
	varies, isShared bool
}

func newHostileGateway(random *rand.Rand) hostileGateway {
	return hostileGateway{gatewaytest.Random(random), random.IntN(2) == 0, random.IntN(4) == 0}
}

// hostilePacket is a report with when it arrives, beside the begin of the test.
type hostilePacket struct {
	arrives, made time.Duration
	of            *hostileSession
	report        radius.Report
	hasTime       bool
	ofProxy       bool
}

// gatewayAddress is that of the network element.
var gatewayAddress = netip.MustParseAddr("192.0.2.1")

// hostileSession is what was reported of a session.
type hostileSession struct {
	hostileGateway
	id, imsi, msisdn string
	charging         uint32
	// bytes are the highest of each generation. isPlain is false where one may be hidden
	// by another: neither a Start nor a session time shows where it begins.
	bytes   int64
	isPlain bool
}

// packets are those of a session that begins then.
func (s *hostileSession) packets(random *rand.Rand, first time.Time, begins time.Duration) (packets []*hostilePacket) {
	generations, began := 1, begins
	if s.Crashes {
		generations += random.IntN(3)
	}
	s.isPlain = true
	for range generations {
		var most, count int64
		length, hasStart := 1+random.IntN(12), false
		for i := range length {
			elapsed := time.Duration(i) * 5 * time.Minute
			if random.IntN(8) > 0 {
				hasStart = hasStart || i == 0
				p := s.packet(random, first, begins, began+elapsed, elapsed)
				p.report.MobileOriginated, p.report.MobileTerminated = count, count/3
				for range 1 + random.IntN(2) {
					packets = append(packets, s.varied(random, *p))
					p.arrives += time.Duration(random.IntN(30)) * time.Second
				}
				if s.isShared {
					again := s.varied(random, *p)
					again.ofProxy = true
					packets = append(packets, again)
				}
				most = count + count/3
			}
			if count += random.Int64N(1 << 33); random.IntN(4) == 0 {
				count += 1 << 35
			}
		}
		s.isPlain = s.isPlain && (hasStart || s.SessionTime == "always")
		s.bytes += most
		began += time.Duration(length)*5*time.Minute + time.Duration(random.IntN(1500))*time.Second
	}
	s.isPlain = s.isPlain || generations == 1
	return packets
}

// varied is the packet with the attributes that it happens to have. What is shared is
// known by its charging id, and all is of an address and a number.
func (s *hostileSession) varied(random *rand.Rand, p hostilePacket) *hostilePacket {
	if s.varies && random.IntN(2) == 0 {
		p.report.IMSI = ""
	}
	if s.varies && random.IntN(2) == 0 {
		p.report.NAS = ""
	}
	if s.varies && !s.isShared && random.IntN(2) == 0 {
		p.report.Gateway = netip.Addr{}
	}
	return &p
}

// packet is the report of a time, so long after the begin.
func (s *hostileSession) packet(random *rand.Rand, first time.Time, begins, at, elapsed time.Duration) *hostilePacket {
	p := &hostilePacket{of: s, made: at, arrives: at + time.Duration(random.IntN(3))*time.Second}
	if random.IntN(100) < s.Waits {
		p.arrives += time.Duration(random.IntN(180)) * time.Minute
	}
	if s.Shuffles {
		p.arrives += time.Duration(random.IntN(20)) * time.Minute
	}
	own := at
	if at-begins >= s.StepAt {
		own += s.Step
	}
	p.report = radius.Report{Event: domain.SessionUpdated, NAS: "pgw1", NASAddress: gatewayAddress, SessionID: s.id, IMSI: s.imsi, MSISDN: s.msisdn,
		Gateway: gatewayAddress, ChargingID: s.charging, At: first.Add(own), BeganAt: first.Add(own)}
	if elapsed == 0 {
		p.report.Event = domain.SessionStarted
	}
	p.hasTime = s.SessionTime == "always" || s.SessionTime == "zero" || s.SessionTime == "some" && random.IntN(2) == 0
	if s.SessionTime != "zero" {
		p.report.BeganAt = p.report.At.Add(-elapsed)
	}
	return p
}

// encode is the packet as it is sent at a time.
func (p *hostilePacket) encode(now time.Duration) *codec.Packet {
	report := p.report
	report.Delay = max(0, now-p.made)
	packet := report.Packet([]byte(radiusSecret))
	for of, has := range map[codec.Type]bool{
		rfc2869.EventTimestamp_Type: p.of.EventTime, rfc2866.AcctDelayTime_Type: p.of.DelayTime, rfc2866.AcctSessionTime_Type: p.hasTime,
	} {
		if !has {
			packet.Del(of)
		}
	}
	return packet
}

// hostileSessions makes up sessions of so many packets, in the order in which those arrive.
func hostileSessions(random *rand.Rand, first time.Time, of []namedSubscriber, n int) (sessions []*hostileSession, packets []*hostilePacket) {
	for len(packets) < n {
		s := &hostileSession{hostileGateway: newHostileGateway(random), id: fmt.Sprint("s", len(sessions)), charging: uint32(len(sessions))}
		s.imsi, s.msisdn = of[len(sessions)%len(of)].IMSI, of[len(sessions)%len(of)].MSISDN
		sessions = append(sessions, s)
		packets = append(packets, s.packets(random, first, time.Duration(random.IntN(180))*time.Minute)...)
	}
	slices.SortStableFunc(packets, func(x, y *hostilePacket) int { return int(x.arrives - y.arrives) })
	return sessions, packets
}

// namedSubscriber is one as gateways name it.
type namedSubscriber struct {
	IMSI   string `db:"imsi"`
	MSISDN string `db:"msisdn"`
}

// Gateways leave out times and names, have clocks that are set, crash, and repeat, delay and shuffle
// their reports, while simgraph is killed ten times: what is booked are the highest
// readings. Where it is less, the session is flagged.
func TestHostileSessionsAreExact(t *testing.T) {
	url, port := dbtest.URL(t), freePort(t)
	pool := open(t, url)
	var subscribers []namedSubscriber
	if err := pool.Select(&subscribers, `SELECT imsi, subscriber_id AS msisdn FROM subscribers WHERE imsi <> '' AND subscriber_id <> '' ORDER BY key LIMIT 200`); err != nil || len(subscribers) == 0 {
		t.Fatal(subscribers, err)
	}
	first := time.Now().Add(-sessionsAgo).Truncate(time.Second)
	sessions, packets := hostileSessions(rand.New(rand.NewPCG(*seedOfSessions, 31)), first, subscribers, *packetsOfSessions)
	f := newSimulated(t, url, port, first)
	began := time.Now()
	f.send(packets)
	t.Logf("%d packets of %d sessions in %v", len(packets), len(sessions), time.Since(began).Round(time.Second))
	checkHostile(t, pool, sessions)
	if report := run(t, append([]string{"rebuild"}, f.launch.database()...)...); !strings.Contains(report, "all totals agree with the ledger") {
		t.Errorf("rebuild: %s", report)
	}
}

// simulated is a simgraph that takes accounting, with a clock that a test moves on.
type simulated struct {
	*testing.T
	*serving
	launch launch
	clock  string
	first  time.Time
	to     string
}

// proxyAddress is that of a client that reports the same as the gateway.
const proxyAddress = "127.0.0.2"

func newSimulated(t *testing.T, url string, port int, first time.Time, environment ...string) *simulated {
	t.Helper()
	f := &simulated{T: t, clock: filepath.Join(t.TempDir(), "clock"), first: first, to: fmt.Sprintf("127.0.0.1:%d", port)}
	f.launch = launch{
		program: jumpingProgram(t), databaseURL: url, dataDir: t.TempDir(), environment: append(environment, "FAULTS_CLOCK="+f.clock), extra: []string{"--radius-addr", f.to},
	}
	f.reach(0)
	addRadiusClient(t, f.launch, "pgw")
	addRadiusClientAt(t, f.launch, "proxy", proxyAddress)
	f.serving = serve(t, f.launch)
	return f
}

// reach sets the clock to so long after the first session.
func (f *simulated) reach(at time.Duration) {
	f.Helper()
	set(f.T, f.clock, time.Until(f.first.Add(at)))
}

// send sends the packets when they arrive, by the clock of simgraph, until each is
// answered, while simgraph is killed and started again.
func (f *simulated) send(packets []*hostilePacket) {
	f.Helper()
	var sent, kills atomic.Int64
	var killing sync.WaitGroup
	ctx, stop := context.WithCancel(f.Context())
	killing.Go(func() {
		for n := range sessionKills {
			for due := int64(len(packets) * (2*n + 1) / (2 * sessionKills)); sent.Load() < due; {
				if ctx.Err() != nil {
					return
				}
				time.Sleep(5 * time.Millisecond)
			}
			f.serving.kill()
			f.serving = serve(f.T, f.launch)
			kills.Add(1)
		}
	})
	for len(packets) > 0 {
		now := packets[0].arrives.Truncate(sessionStep) + sessionStep
		n, _ := slices.BinarySearchFunc(packets, now, func(p *hostilePacket, now time.Duration) int { return int(p.arrives - now) })
		f.reach(now)
		f.account(packets[:n], now, &sent)
		packets = packets[n:]
	}
	stop()
	killing.Wait()
	if kills.Load() != sessionKills {
		f.Errorf("simgraph was killed %d times", kills.Load())
	}
}

// account sends packets side by side.
func (f *simulated) account(packets []*hostilePacket, now time.Duration, sent *atomic.Int64) {
	f.Helper()
	due := make(chan *hostilePacket, len(packets))
	for _, p := range packets {
		due <- p
	}
	close(due)
	client := codec.Client{Retry: time.Second}
	proxy := codec.Client{Retry: time.Second, Dialer: net.Dialer{LocalAddr: &net.UDPAddr{IP: net.ParseIP(proxyAddress)}}}
	var sending sync.WaitGroup
	for range min(sessionSenders, len(packets)) {
		sending.Go(func() {
			for p := range due {
				ctx, cancel := context.WithTimeout(f.Context(), patience)
				from := &client
				if p.ofProxy {
					from = &proxy
				}
				_, err := from.Exchange(ctx, p.encode(now), f.to)
				for errors.Is(err, syscall.ECONNREFUSED) { // nothing listens while simgraph starts again
					time.Sleep(50 * time.Millisecond)
					_, err = from.Exchange(ctx, p.encode(now), f.to)
				}
				if err != nil {
					f.Error(err)
				}
				cancel()
				sent.Add(1)
			}
		})
	}
	sending.Wait()
}

// checkHostile compares what is booked of the sessions with what was reported.
func checkHostile(t *testing.T, pool *sqlx.DB, sessions []*hostileSession) {
	t.Helper()
	type row struct {
		ID        string `db:"id"`
		Bytes     int64  `db:"bytes"`
		IsFlagged bool   `db:"is_flagged"`
	}
	var rows []row
	if err := pool.Select(&rows, `
SELECT CASE WHEN charging_id = '' THEN split_part(session_id, '/', 2) ELSE 's' || ('x' || lpad(split_part(charging_id, '/', 2), 8, '0'))::bit(32)::int END AS id,
  sum(mobile_originated + mobile_terminated)::bigint AS bytes, bool_or(decreased) AS is_flagged
FROM sessions WHERE source IN ('pgw', 'proxy') GROUP BY 1`); err != nil {
		t.Fatal(err)
	}
	got := map[string]row{}
	var sum, ledger int64
	for _, r := range rows {
		got[r.ID], sum = r, sum+r.Bytes
	}
	exact, less, more := 0, 0, 0
	for _, s := range sessions {
		switch r, known := got[s.id]; {
		case !known && s.bytes == 0: // each report was lost
		case r.Bytes == s.bytes:
			exact++
		case !s.Crashes:
			t.Errorf("booked %d, %d were reported, by a gateway that never crashed: %+v", r.Bytes, s.bytes, s)
		case !r.IsFlagged && (s.isPlain || r.Bytes > s.bytes):
			t.Errorf("booked %d, %d were reported, and nothing is flagged: %+v", r.Bytes, s.bytes, s)
		case r.Bytes > s.bytes:
			more++
		default:
			less++
		}
	}
	t.Logf("of %d sessions %d are exact, %d have less and %d have more", len(sessions), exact, less, more)
	if more > len(sessions)/1000 {
		t.Errorf("of %d sessions too much is booked", more)
	}
	if err := pool.Get(&ledger, `SELECT sum(mobile_originated + mobile_terminated)::bigint FROM usage_records WHERE source IN ('pgw', 'proxy')`); err != nil || ledger != sum {
		t.Errorf("the ledger has %d bytes, the sessions %d: %v", ledger, sum, err)
	}
}
