package webhook_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"simgraph/domain/webhook"
	"simgraph/internal/fatal"
	sending "simgraph/internal/webhook"
)

// nameServer is a DNS server. The look-ups of a name get its answers in turn, and the last
// one from then on; none lives longer than its look-up.
type nameServer struct {
	*testing.T
	conn net.PacketConn

	mu      sync.Mutex
	answers map[string][][]netip.Addr
	// asked counts the queries, by type and name.
	asked map[dnsmessage.Question]int
}

// newNameServer makes the process look names up at a server of its own until the test ends:
// the test must not be parallel.
func newNameServer(t *testing.T) *nameServer {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	fatal.If(t, err)
	s := &nameServer{T: t, conn: conn, answers: map[string][][]netip.Addr{}, asked: map[dnsmessage.Question]int{}}
	var done sync.WaitGroup
	done.Go(s.serve)
	usual := net.DefaultResolver
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
	t.Cleanup(func() {
		net.DefaultResolver = usual
		_ = conn.Close()
		done.Wait()
	})
	return s
}

// name gives the look-ups of a name their answers.
func (s *nameServer) name(name string, answers ...[]netip.Addr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[name+"."] = answers
}

// lookUps is how often the addresses of a name were looked up.
func (s *nameServer) lookUps(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[dnsmessage.Question{Name: dnsmessage.MustNewName(name + "."), Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET}]
}

func (s *nameServer) serve() {
	packet := make([]byte, 1500)
	for {
		n, from, err := s.conn.ReadFrom(packet)
		if err != nil { // the test has ended
			return
		}
		var message dnsmessage.Message
		if err := message.Unpack(packet[:n]); err != nil || len(message.Questions) != 1 {
			s.Errorf("the query %x: %v", packet[:n], err)
			return
		}
		s.answer(&message)
		text, err := message.Pack()
		if err == nil {
			_, err = s.conn.WriteTo(text, from)
		}
		if err != nil {
			s.Error(err)
			return
		}
	}
}

// answer makes a query its answer.
func (s *nameServer) answer(message *dnsmessage.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	question := message.Questions[0]
	before := s.asked[question]
	s.asked[question]++
	message.Response, message.Authoritative, message.RecursionAvailable, message.Additionals = true, true, true, nil
	answers, known := s.answers[question.Name.String()]
	if !known {
		message.RCode = dnsmessage.RCodeNameError
		return
	}
	for _, ip := range answers[min(before, len(answers)-1)] {
		var body dnsmessage.ResourceBody
		switch {
		case ip.Is4() && question.Type == dnsmessage.TypeA:
			body = &dnsmessage.AResource{A: ip.As4()}
		case ip.Is6() && question.Type == dnsmessage.TypeAAAA:
			body = &dnsmessage.AAAAResource{AAAA: ip.As16()}
		default:
			continue
		}
		header := dnsmessage.ResourceHeader{Name: question.Name, Type: question.Type, Class: dnsmessage.ClassINET}
		message.Answers = append(message.Answers, dnsmessage.Resource{Header: header, Body: body})
	}
}

// receiver counts the connections to a server of the loopback, and returns its port.
func receiver(t *testing.T) (port string, connections *atomic.Int32) {
	t.Helper()
	connections = new(atomic.Int32)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	fatal.If(t, err)
	return port, connections
}

const forbidden = "the address is not of the public internet"

func TestNamesOfForbiddenAddressesLeadToNoConnection(t *testing.T) {
	port, connections := receiver(t)
	names := newNameServer(t)
	send := func(rules webhook.Rules, name string) webhook.Answer {
		of := webhook.Attempt{DeliveryID: "1", Event: []byte(`{}`), Format: webhook.CloudEvents, URL: "http://" + name + ":" + port + "/hook"}
		return sending.NewSender(rules, 10*time.Second, time.Now).Send(t.Context(), &of)
	}
	for name, addresses := range map[string][]string{
		"loopback.test": {"127.0.0.1"},
		"metadata.test": {"169.254.169.254"},
		"any.test":      {"0.0.0.0"},
		"mapped.test":   {"::ffff:127.0.0.1"},
		"several.test":  {"169.254.169.254", "10.0.0.1", "127.0.0.1", "::ffff:127.0.0.1"},
	} {
		names.name(name, parsed(addresses...))
		if answer := send(webhook.Rules{}, name); answer.Status != 0 || answer.Error != forbidden {
			t.Errorf("%s: %+v", name, answer)
		}
	}
	// Without IPv6 there is no socket to check.
	for name, address := range map[string]string{"six.test": "::1", "unspecified.test": "::", "nat64.test": "64:ff9b::7f00:1", "6to4.test": "2002:7f00:1::"} {
		names.name(name, parsed(address))
		if answer := send(webhook.Rules{}, name); answer.Status != 0 || answer.Error == "" {
			t.Errorf("%s: %+v", name, answer)
		}
	}
	if n := connections.Load(); n != 0 {
		t.Errorf("%d connections were made", n)
	}
	// It is the rule that stops them.
	if answer := send(webhook.Rules{AllowPrivate: true}, "loopback.test"); answer.Status != http.StatusOK || connections.Load() != 1 {
		t.Errorf("%+v, %d connections", answer, connections.Load())
	}
}

// A look-up whose answer is allowed is the one that the connection is made by: where the
// next answer leads matters to the next request only, which is refused.
func TestANameThatIsBoundAnewLeadsToNoConnection(t *testing.T) {
	const name = "rebound.test"
	port, connections := receiver(t)
	names := newNameServer(t)
	// Nobody has an address of 3000::/4, but it would be one of the internet.
	free := parsed("3000::1")
	if (webhook.Rules{}).Forbids(free[0]) {
		t.Fatalf("%s is forbidden", free[0])
	}
	names.name(name, free, parsed("127.0.0.1"))
	sender := sending.NewSender(webhook.Rules{}, 10*time.Second, time.Now)
	of := webhook.Attempt{DeliveryID: "1", Event: []byte(`{}`), Format: webhook.CloudEvents, URL: "http://" + name + ":" + port + "/hook"}
	answers := []webhook.Answer{sender.Send(t.Context(), &of), sender.Send(t.Context(), &of)}
	if first := answers[0]; first.Status != 0 || first.Error == "" || strings.Contains(first.Error, forbidden) {
		t.Errorf("to an address of the internet: %+v", first)
	}
	if second := answers[1]; second.Status != 0 || second.Error != forbidden {
		t.Errorf("bound anew: %+v", second)
	}
	if n := names.lookUps(name); n != len(answers) || connections.Load() != 0 {
		t.Errorf("%d look-ups for %d requests, %d connections", n, len(answers), connections.Load())
	}
}

func parsed(texts ...string) (addresses []netip.Addr) {
	for _, text := range texts {
		addresses = append(addresses, netip.MustParseAddr(text))
	}
	return addresses
}
