package radius_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"testing"

	codec "layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"

	"simgraph/domain"
	"simgraph/internal/fatal"
	"simgraph/internal/radius"
)

// elsewhere is a feed whose client is not this host.
type elsewhere struct{ *ledger }

func (elsewhere) Clients(context.Context) ([]*domain.RADIUSClient, error) {
	return []*domain.RADIUSClient{{CompanyID: 1, Name: "gateway", Network: netip.MustParsePrefix("10.1.0.0/16"), Secret: secret}}, nil
}

func TestAnUnknownClientGetsNoAnswer(t *testing.T) {
	t.Parallel()
	var l ledger
	listener, err := radius.Listen(t.Context(), []string{"127.0.0.1:0"}, radius.Config{Feed: elsewhere{&l}, Log: slog.New(slog.DiscardHandler)})
	fatal.If(t, err)
	listener.Observe = l.observe
	ended := make(chan error, 1)
	go func() { ended <- listener.Run(context.WithoutCancel(t.Context())) }()
	conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(listener.Addrs()[0]))
	fatal.If(t, err)
	defer func() { _ = conn.Close() }()
	if _, err := conn.Write(encoded(t, report().Packet(secret))); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return l.saw(radius.ResultUnknownClient) == 1 })
	_ = listener.Close()
	if len(l.refused) != 1 || l.refused[0].Address != netip.MustParseAddr("127.0.0.1") || l.refused[0].NAS != "pgw1" || l.refused[0].Clients != nil {
		t.Errorf("refused are %+v", l.refused)
	}
	if err := <-ended; err != nil || len(l.accounted()) > 0 {
		t.Errorf("stored %d, %v", len(l.accounted()), err)
	}
}

// unread is a feed whose clients cannot be read.
type unread struct{ *ledger }

func (unread) Clients(context.Context) ([]*domain.RADIUSClient, error) {
	return nil, errors.New("the database is away")
}

func TestNobodyIsRefusedBeforeTheClientsWereRead(t *testing.T) {
	t.Parallel()
	var l ledger
	conn := listeningOn(t, unread{&l}, &l)
	if _, err := conn.Write(encoded(t, report().Packet(secret))); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return l.saw(radius.ResultUnknownClient) == 1 })
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.refused) > 0 {
		t.Errorf("refused are %+v", l.refused)
	}
}

// A sender has 256 identifiers, and takes them again: another packet under the same
// identifier is another request, and gets its own answer.
func TestAnIdentifierThatComesAgainIsAnotherRequest(t *testing.T) {
	t.Parallel()
	var l ledger
	conn := listening(t, &l)
	var answers [][]byte
	for n := range 3 {
		r := report()
		r.MobileOriginated += int64(n)
		p := r.Packet(secret)
		p.Identifier = 7
		packet := encoded(t, p)
		answer := answered(t, conn, packet)
		if !codec.IsAuthenticResponse(answer, packet, secret) {
			t.Errorf("the answer to %d is not authentic", n)
		}
		answers = append(answers, answer)
	}
	if bytes.Equal(answers[0], answers[1]) || len(l.accounted()) != 3 {
		t.Errorf("%d are stored", len(l.accounted()))
	}
}

// Attributes of the greatest size are read as far as they are of use, and a counter
// beyond what one can reach makes its request unusable.
func TestOversizedAttributesAreReadWithinLimits(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 253)
	p := report().Packet(secret)
	_ = rfc2865.NASIdentifier_SetString(p, long)
	_ = rfc2865.CalledStationID_SetString(p, long)
	_ = rfc2866.AcctSessionID_SetString(p, long)
	for len(encoded(t, p)) < 3800 {
		p.Add(rfc2865.Class_Type, []byte(long))
	}
	beyond := report()
	beyond.MobileOriginated = 1 << 62
	var l ledger
	conn := listening(t, &l)
	answered(t, conn, encoded(t, p))
	answered(t, conn, encoded(t, beyond.Packet(secret)))
	got := l.accounted()
	if r := got[0].Record; got[0].Unusable != "" || len(r.SessionID) > 128 || len(got[0].NAS) > 128 || len(r.Report.APN) > 128 {
		t.Errorf("stored %q of %d, %d and %d bytes", got[0].Unusable, len(r.SessionID), len(got[0].NAS), len(r.Report.APN))
	}
	if got[1].Unusable == "" {
		t.Errorf("%d bytes are usable", got[1].Record.MobileOriginated)
	}
	if _, err := conn.Write(make([]byte, 5000)); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return l.saw(radius.ResultMalformed) == 1 })
}
