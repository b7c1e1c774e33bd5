package radius_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	codec "layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
	"layeh.com/radius/rfc2869"

	"simgraph/domain"
	"simgraph/internal/fatal"
	"simgraph/internal/radius"
)

var secret = []byte("a secret of a test")

// ledger is a feed that keeps what it is given in memory.
type ledger struct {
	mu      sync.Mutex
	got     []domain.Accounting
	down    error
	hold    chan struct{}
	results []string
	refused []domain.FeedRefusal
}

func (l *ledger) Clients(context.Context) ([]*domain.RADIUSClient, error) {
	return []*domain.RADIUSClient{{CompanyID: 1, Name: "gateway", Network: netip.MustParsePrefix("127.0.0.0/8"), Secret: secret}}, nil
}

func (l *ledger) Account(_ context.Context, _ []*domain.RADIUSClient, a domain.Accounting) (domain.AccountingResult, error) {
	if l.hold != nil {
		<-l.hold
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down != nil {
		return "", l.down
	}
	l.got = append(l.got, a)
	if a.Unusable != "" {
		return domain.AccountingUnusable, nil
	}
	return domain.AccountingBooked, nil
}

func (l *ledger) Writable(context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.down
}

func (l *ledger) Refuse(of domain.FeedRefusal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refused = append(l.refused, of)
}

func (l *ledger) observe(result string, _ time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.results = append(l.results, result)
}

func (l *ledger) accounted() []domain.Accounting {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.got)
}

// listening runs a listener on the feed and returns a connection to it.
func listening(t *testing.T, l *ledger) *net.UDPConn {
	t.Helper()
	return listeningOn(t, l, l)
}

func listeningOn(t *testing.T, feed domain.Feed, l *ledger) *net.UDPConn {
	t.Helper()
	listener, err := radius.Listen(t.Context(), []string{"127.0.0.1:0"}, radius.Config{Feed: feed, Log: slog.New(slog.DiscardHandler)})
	fatal.If(t, err)
	listener.Observe = l.observe
	ended := make(chan error, 1)
	go func() { ended <- listener.Run(context.WithoutCancel(t.Context())) }()
	t.Cleanup(func() {
		_ = listener.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(listener.Addrs()[0]))
	fatal.If(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func encoded(t *testing.T, p *codec.Packet) []byte {
	t.Helper()
	b, err := p.Encode()
	fatal.If(t, err)
	return b
}

// answered sends a packet and returns the answer.
func answered(t *testing.T, conn *net.UDPConn, packet []byte) []byte {
	t.Helper()
	_, err := conn.Write(packet)
	fatal.If(t, err)
	_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
	b := make([]byte, 4096)
	n, err := conn.Read(b)
	fatal.If(t, err)
	return b[:n]
}

var at = time.Now().Truncate(time.Second)

func report() *radius.Report {
	return &radius.Report{
		Event: domain.SessionUpdated, NAS: "pgw1", SessionID: "s1", IMSI: "234150000000001", MSISDN: "+447700900001", IMEI: "3534560700000001",
		APN: "iot.example", Network: "23415", RATType: 6, Address: netip.MustParseAddr("10.0.0.7"), BeganAt: at.Add(-5 * time.Minute), At: at,
		MobileOriginated: 5<<32 + 17, MobileTerminated: 3,
	}
}

func TestARequestIsStoredAndAnsweredWithItsProxyState(t *testing.T) {
	t.Parallel()
	var l ledger
	conn := listening(t, &l)
	p := report().Packet(secret)
	_ = rfc2865.ProxyState_Add(p, []byte("first"))
	_ = rfc2865.ProxyState_Add(p, []byte("second"))
	packet := encoded(t, p)
	answer := answered(t, conn, packet)
	if !codec.IsAuthenticResponse(answer, packet, secret) {
		t.Fatal("the answer is not authentic")
	}
	got, err := codec.Parse(answer, secret)
	if err != nil || got.Code != codec.CodeAccountingResponse {
		t.Fatal(got, err)
	}
	if states, _ := rfc2865.ProxyState_Gets(got); len(states) != 2 || string(states[0]) != "first" || string(states[1]) != "second" {
		t.Errorf("the answer has the proxy states %q", states)
	}
	a := l.accounted()[0]
	want := domain.UsageRecord{
		SessionID: "pgw1/s1", StartedAt: at.Add(-5 * time.Minute), EndedAt: at, MobileOriginated: 5<<32 + 17, MobileTerminated: 3,
		Protocol: "IP", IPAddress: netip.MustParseAddr("10.0.0.7"),
		IMSI: "234150000000001", MSISDN: "447700900001", IMSIDecides: true,
	}
	details := *a.Record.Report
	details.SentAt = time.Time{}
	a.Record.Report = nil
	if a.Record.StartedAt.Equal(want.StartedAt) && a.Record.EndedAt.Equal(want.EndedAt) {
		a.Record.StartedAt, a.Record.EndedAt = want.StartedAt, want.EndedAt
	}
	if a.Record != want || a.NAS != "pgw1" || a.Unusable != "" {
		t.Errorf("stored %+v", a)
	}
	if !reflect.DeepEqual(details, domain.SessionReport{
		Event: domain.SessionUpdated, NAS: "pgw1", APN: "iot.example",
		IMEI: "3534560700000001", RATType: "EUTRAN", VisitedNetwork: "23415", OtherIDs: []string{},
	}) {
		t.Errorf("with %+v", details)
	}
}

func TestARetransmissionGetsTheSameAnswerAndIsStoredOnce(t *testing.T) {
	t.Parallel()
	var l ledger
	conn := listening(t, &l)
	packet := encoded(t, report().Packet(secret))
	first := answered(t, conn, packet)
	if again := answered(t, conn, packet); !bytes.Equal(first, again) {
		t.Errorf("%x, then %x", first, again)
	}
	if n := len(l.accounted()); n != 1 {
		t.Errorf("stored %d times", n)
	}
}

// What cannot be stored is not answered, and stored when it is sent again.
func TestNothingIsAnsweredThatWasNotStored(t *testing.T) {
	t.Parallel()
	l := ledger{down: errors.New("the database is away")}
	conn := listening(t, &l)
	packet := encoded(t, report().Packet(secret))
	if _, err := conn.Write(packet); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return l.saw(radius.ResultFailed) == 1 })
	l.mu.Lock()
	l.down = nil
	l.mu.Unlock()
	answered(t, conn, packet)
	if n := len(l.accounted()); n != 1 {
		t.Errorf("stored %d times", n)
	}
}

func (l *ledger) saw(result string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, r := range l.results {
		if r == result {
			n++
		}
	}
	return n
}

func waitFor(t *testing.T, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("waited too long")
		}
	}
}

// status is a Status-Server with a valid Message-Authenticator.
func status(t *testing.T) []byte {
	t.Helper()
	return signed(t, codec.New(codec.CodeStatusServer, secret))
}

func TestAStatusServerIsAnsweredWhileRecordsCanBeWritten(t *testing.T) {
	t.Parallel()
	var l ledger
	conn := listening(t, &l)
	packet := status(t)
	answer := answered(t, conn, packet)
	if codec.Code(answer[0]) != codec.CodeAccountingResponse || !codec.IsAuthenticResponse(answer, packet, secret) {
		t.Errorf("answered %x", answer)
	}
	got, _ := codec.Parse(answer, secret)
	if len(got.Get(rfc2869.MessageAuthenticator_Type)) != 16 {
		t.Error("the answer has no Message-Authenticator")
	}
	l.mu.Lock()
	l.down = errors.New("the database is away")
	l.mu.Unlock()
	if _, err := conn.Write(status(t)); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return l.saw(radius.ResultFailed) == 1 })
}

// What is not authentic, or no accounting, is counted and dropped.
func TestWhatIsNotServedIsDropped(t *testing.T) {
	t.Parallel()
	good := encoded(t, report().Packet(secret))
	forged := slices.Clone(good)
	forged[len(forged)-1] ^= 1
	long := slices.Clone(good)
	binary.BigEndian.PutUint16(long[2:4], uint16(len(long)+1))
	access := encoded(t, codec.New(codec.CodeAccessRequest, secret))
	unsigned := encoded(t, codec.New(codec.CodeStatusServer, secret))
	for name, test := range map[string]struct {
		packet []byte
		result string
	}{
		"forged":            {forged, radius.ResultForged},
		"wrong secret":      {encoded(t, report().Packet([]byte("another secret"))), radius.ResultForged},
		"truncated":         {good[:len(good)-1], radius.ResultMalformed},
		"longer than it is": {long, radius.ResultMalformed},
		"empty":             {[]byte{4}, radius.ResultMalformed},
		"access":            {access, radius.ResultUnsupported},
		"unsigned status":   {unsigned, radius.ResultForged},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var l ledger
			conn := listening(t, &l)
			if _, err := conn.Write(test.packet); err != nil {
				t.Fatal(err)
			}
			waitFor(t, func() bool { return l.saw(test.result) == 1 })
			answered(t, conn, good)
			if n := len(l.accounted()); n != 1 {
				t.Errorf("stored %d", n)
			}
			if forged := test.result == radius.ResultForged; forged != (len(l.refused) == 1) || forged && l.refused[0].Clients[0].Name != "gateway" {
				t.Errorf("refused are %+v", l.refused)
			}
		})
	}
}

// A counter is the sum of its octets and its gigawords, also where one of them is left out.
func TestACounterIsReadFromTheAttributesThatAreThere(t *testing.T) {
	t.Parallel()
	for want, left := range map[int64][]codec.Type{
		5<<32 + 17: nil,
		5 << 32:    {rfc2866.AcctInputOctets_Type},
		17:         {rfc2869.AcctInputGigawords_Type},
		0:          {rfc2866.AcctInputOctets_Type, rfc2869.AcctInputGigawords_Type},
	} {
		packet := report().Packet(secret)
		for _, attribute := range left {
			packet.Del(attribute)
		}
		var l ledger
		answered(t, listening(t, &l), encoded(t, packet))
		if got := l.accounted()[0]; got.Unusable != "" || got.Record.MobileOriginated != want {
			t.Errorf("%d bytes instead of %d: %s", got.Record.MobileOriginated, want, got.Unusable)
		}
	}
}

// What is authentic but cannot be used is stored with the reason, and answered.
func TestUnusableRequestsAreAnswered(t *testing.T) {
	t.Parallel()
	without := func(of ...codec.Type) []byte {
		p := report().Packet(secret)
		for _, t := range of {
			p.Del(t)
		}
		return encoded(t, p)
	}
	broken := report().Packet(secret)
	b := encoded(t, broken)
	b = append(b, 44, 1) // an attribute of one byte
	binary.BigEndian.PutUint16(b[2:4], uint16(len(b)))
	resign(b)
	odd := report().Packet(secret)
	_ = rfc2866.AcctStatusType_Set(odd, 9)
	short := report().Packet(secret)
	short.Set(rfc2866.AcctInputOctets_Type, codec.Attribute{1, 2})
	high := report().Packet(secret)
	_ = rfc2869.AcctInputGigawords_Set(high, 1<<29)
	for reason, packet := range map[string][]byte{
		"an attribute is malformed":                     b,
		"Acct-Status-Type is missing":                   without(rfc2866.AcctStatusType_Type),
		"Acct-Status-Type 9 is not supported":           encoded(t, odd),
		"NAS-IP-Address and NAS-Identifier are missing": without(rfc2865.NASIdentifier_Type),
		"Acct-Session-Id is missing":                    without(rfc2866.AcctSessionID_Type),
		"3GPP-IMSI, Calling-Station-Id and User-Name have no IMSI, number or ICCID, and no address is framed": without(
			rfc2865.VendorSpecific_Type, rfc2865.CallingStationID_Type, rfc2865.FramedIPAddress_Type),
		"attribute 42 is no number": encoded(t, short),
		"attribute 52 is too high":  encoded(t, high),
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			var l ledger
			conn := listening(t, &l)
			if answer := answered(t, conn, packet); !codec.IsAuthenticResponse(answer, packet, secret) {
				t.Error("the answer is not authentic")
			}
			got := l.accounted()[0]
			if got.Unusable != reason {
				t.Errorf("unusable since %q", got.Unusable)
			}
			if isNumber := strings.HasPrefix(reason, "attribute "); isNumber != strings.HasPrefix(got.Found, "attribute 42 ") {
				t.Errorf("found %q", got.Found)
			}
		})
	}
}

func TestTheTimeOfARequestIsBelievedWithinLimits(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		at    time.Duration
		delay time.Duration
		want  time.Duration
		off   bool
	}{
		"now":                              {0, 0, 0, false},
		"waited at the sender":             {-3 * time.Hour, 3 * time.Hour, -3 * time.Hour, false},
		"waited, and stated twice as long": {-time.Hour, 2 * time.Hour, -time.Hour, false},
		"made later than it arrived":       {time.Hour, 2 * time.Hour, -2 * time.Hour, true},
		"a year ahead":                     {365 * 24 * time.Hour, 0, 0, true},
		"a year back":                      {-365 * 24 * time.Hour, 0, -365 * 24 * time.Hour, false},
		"a delay of two months":            {0, 60 * 24 * time.Hour, 0, true},
		"minutes ahead":                    {9 * time.Minute, 0, 9 * time.Minute, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var l ledger
			conn := listening(t, &l)
			r := report()
			r.At, r.Delay = time.Now().Add(test.at), test.delay
			answered(t, conn, encoded(t, r.Packet(secret)))
			got := l.accounted()[0]
			if off := got.Record.Report.ClockOff; off != test.off {
				t.Errorf("the clock is off: %t", off)
			}
			if d := time.Until(got.At) - test.want; d.Abs() > 5*time.Second {
				t.Errorf("the time is %v from what was expected", d)
			}
		})
	}
}

func TestAnAccountingOnEndsSessions(t *testing.T) {
	t.Parallel()
	var l ledger
	conn := listening(t, &l)
	answered(t, conn, encoded(t, radius.Restarted("pgw1", at, secret)))
	if a := l.accounted()[0]; !a.Restarted || a.NAS != "pgw1" || a.Unusable != "" {
		t.Errorf("stored %+v", a)
	}
}

func TestRequestsBeyondTheQueueAreDropped(t *testing.T) {
	t.Parallel()
	l := ledger{hold: make(chan struct{})}
	listener, err := radius.Listen(t.Context(), []string{"127.0.0.1:0"}, radius.Config{Feed: &l, Log: slog.New(slog.DiscardHandler), MaxWaiting: 3})
	fatal.If(t, err)
	listener.Observe = l.observe
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- listener.Run(ctx) }()
	conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(listener.Addrs()[0]))
	fatal.If(t, err)
	defer func() { _ = conn.Close() }()
	for i := range 10 {
		p := report().Packet(secret)
		p.Identifier = byte(i) // or two would be the same request
		if _, err := conn.Write(encoded(t, p)); err != nil {
			t.Fatal(err)
		}
	}
	waitFor(t, func() bool { return l.saw(radius.ResultOverloaded) == 7 })
	stop()
	close(l.hold)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if n := len(l.accounted()); n != 3 {
		t.Errorf("%d of those that waited were stored", n)
	}
}

// A sender drops an answer that comes from another address than it asked.
func TestAnswersLeaveFromTheAddressThatWasAsked(t *testing.T) {
	t.Parallel()
	var l ledger
	addresses := []string{"0.0.0.0:0", "[::]:0", "127.0.0.3:0", "localhost:0"}
	listener, err := radius.Listen(t.Context(), addresses, radius.Config{Feed: anywhere{&l}, Log: slog.New(slog.DiscardHandler)})
	fatal.If(t, err)
	listener.Observe = l.observe
	ended := make(chan error, 1)
	go func() { ended <- listener.Run(context.WithoutCancel(t.Context())) }()
	asked := 0
	for _, open := range listener.Addrs() {
		hosts := map[netip.Addr][]string{
			netip.IPv4Unspecified(): {"127.0.0.1", "127.0.0.2"}, netip.IPv6Unspecified(): {"::1"},
		}[open.Addr()]
		if hosts == nil {
			hosts = []string{open.Addr().String()}
		}
		for _, host := range hosts {
			// A connected socket takes packets of the address that it sends to alone.
			conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(host), open.Port())))
			fatal.If(t, err)
			answered(t, conn, encoded(t, report().Packet(secret)))
			_ = conn.Close()
			asked++
		}
	}
	_ = listener.Close()
	if err := <-ended; err != nil || asked < 4 {
		t.Errorf("%d addresses were asked: %v", asked, err)
	}
}

// anywhere is a feed whose client may be any host.
type anywhere struct{ *ledger }

func (anywhere) Clients(context.Context) ([]*domain.RADIUSClient, error) {
	var clients []*domain.RADIUSClient
	for _, network := range []string{"0.0.0.0/0", "::/0"} {
		clients = append(clients, &domain.RADIUSClient{CompanyID: 1, Name: "gateway", Network: netip.MustParsePrefix(network), Secret: secret})
	}
	return clients, nil
}

func TestAddressesThatAreNoneAreRejected(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "127.0.0.1", "127.0.0.1:radius", "127.0.0.1:65536", "nowhere.invalid:1813"} {
		if l, err := radius.Listen(t.Context(), []string{address}, radius.Config{}); err == nil {
			_ = l.Close()
			t.Errorf("%q is accepted", address)
		}
	}
}

// Whatever authentic packets hold, those that wait take 64 MB at most, and half of
// that by the count of the listener.
func TestRequestsThatWaitAreBoundedInBytes(t *testing.T) {
	l := ledger{hold: make(chan struct{})}
	listener, err := radius.Listen(t.Context(), []string{"127.0.0.1:0"}, radius.Config{Feed: &l, Log: slog.New(slog.DiscardHandler), MaxWaiting: 1_000_000})
	fatal.If(t, err)
	listener.Observe = l.observe
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- listener.Run(ctx) }()
	conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(listener.Addrs()[0]))
	fatal.If(t, err)
	defer func() { _ = conn.Close() }()
	p := report().Packet(secret)
	p.Del(rfc2866.AcctSessionID_Type)
	for range 1_800 {
		p.Add(rfc2865.ProxyState_Type, nil)
	}
	packet := encoded(t, p)
	held := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapInuse + m.StackInuse
	}
	before := held()
	for n := 0; l.saw(radius.ResultOverloaded) == 0; n++ {
		if n%100 == 99 {
			time.Sleep(5 * time.Millisecond) // or the kernel drops them
		}
		binary.BigEndian.PutUint32(packet[22:], uint32(n)) // Acct-Status-Type, which comes first
		resign(packet)
		if _, err := conn.Write(packet); err != nil {
			t.Fatal(err)
		}
	}
	grown := (int64(held()) - int64(before)) >> 20
	if grown > 64 {
		t.Errorf("what waits takes %d MB", grown)
	}
	close(l.hold)
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	t.Logf("%d requests waited in %d MB", len(l.accounted()), grown)
}

// A session has an id by each name of its network element, and one by what is charged.
func TestASessionHasAnIDByEachOfItsAttributes(t *testing.T) {
	t.Parallel()
	address, gateway := netip.MustParseAddr("192.0.2.7"), netip.MustParseAddr("192.0.2.1")
	for want, change := range map[string]func(*radius.Report){
		"pgw1/s1 []":                                  func(*radius.Report) {},
		"pgw1/s1 [192.0.2.7/s1]":                      func(r *radius.Report) { r.NASAddress = address },
		"192.0.2.7/s1 []":                             func(r *radius.Report) { r.NAS, r.NASAddress = "", address },
		"pgw1/192.0.2.1/0000002a [pgw1/s1]":           func(r *radius.Report) { r.Gateway, r.ChargingID = gateway, 42 },
		"192.0.2.7/192.0.2.1/0000002a [192.0.2.7/s1]": func(r *radius.Report) { r.NAS, r.NASAddress, r.Gateway, r.ChargingID = "", address, gateway, 42 },
	} {
		var l ledger
		r := report()
		change(r)
		answered(t, listening(t, &l), encoded(t, r.Packet(secret)))
		record := l.accounted()[0].Record
		if got := fmt.Sprint(record.SessionID, " ", record.Report.OtherIDs); got != want {
			t.Errorf("got %s, not %s", got, want)
		}
	}
}
