//go:build linux

package faults_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	codec "layeh.com/radius"
	"layeh.com/radius/rfc2865"

	"simgraph/db/dbtest"
	"simgraph/domain"
	"simgraph/internal/radius"
)

// fedNode is a node that takes accounting of this host.
type fedNode struct {
	*node
	to string
}

func startFed(t *testing.T, args ...string) *fedNode {
	t.Helper()
	url, to := dbtest.URL(t), fmt.Sprintf("127.0.0.1:%d", freePort(t))
	f := &fedNode{startNode(t, url, append([]string{"--radius-addr", to}, args...)...), to}
	addRadiusClient(t, f.launch, "pgw")
	time.Sleep(radius.RefreshClients + time.Second)
	return f
}

// account sends the packet until it is answered.
func (f *fedNode) account(ctx context.Context, p *codec.Packet) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	client := codec.Client{Retry: time.Second}
	_, err := client.Exchange(ctx, p, f.to)
	return err
}

func reportOf(imsi, session string, event domain.SessionEvent, began time.Time, bytes int64) *codec.Packet {
	r := radius.Report{
		Event: event, NAS: "pgw1", SessionID: session, IMSI: imsi, APN: "iot.example", Network: "26201", BeganAt: began, At: time.Now(), MobileOriginated: bytes,
	}
	return r.Packet([]byte(radiusSecret))
}

// Requests of 10,000 numbers that nobody has come amid a flood of packets that are
// forged or are none: all are kept, none of the others is answered, and memory is
// bounded.
func TestAFloodOfPacketsIsBoundedAndLosesNothing(t *testing.T) {
	const unknown, senders = 10_000, 64
	f := startFed(t, "--radius-waiting", "256")
	before := f.resident()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var flood sync.WaitGroup
	for n := range 2 {
		flood.Go(func() { f.flood(ctx, uint64(n)) })
	}
	var sending sync.WaitGroup
	failed := make(chan error, senders)
	for n := range senders {
		sending.Go(func() {
			for i := n; i < unknown; i += senders {
				if err := f.account(ctx, reportOf(fmt.Sprintf("99999%010d", i), fmt.Sprint(i), domain.SessionStarted, time.Now(), 0)); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	sending.Wait()
	stop()
	flood.Wait()
	close(failed)
	for err := range failed {
		t.Error(err)
	}
	var data struct {
		Company struct {
			WaitingUsage, Sessions struct{ TotalCount int }
		}
	}
	if f.graph(`{company {waitingUsage {totalCount} sessions {totalCount}}}`, &data); data.Company.WaitingUsage.TotalCount != unknown || data.Company.Sessions.TotalCount != unknown {
		t.Errorf("%+v are kept of %d", data.Company, unknown)
	}
	for _, result := range []string{"bad_authenticator", "malformed", "unsupported", "quarantined"} {
		if n := f.metric("simgraph_radius_packets_total", `result="`+result+`"`); n == 0 {
			t.Errorf("none is %s", result)
		}
	}
	if grown := (f.resident() - before) / (1 << 20); grown > 250 {
		t.Errorf("memory has grown by %.0f MB from %.0f", grown, before/(1<<20))
	}
}

// flood sends forged packets, requests for access and noise, without a pause.
func (f *fedNode) flood(ctx context.Context, seed uint64) {
	conn, err := net.Dial("udp", f.to)
	if err != nil {
		f.Error(err)
		return
	}
	defer conn.Close()
	random := rand.New(rand.NewPCG(18, seed))
	for n := 0; ctx.Err() == nil; n++ {
		packet := make([]byte, random.IntN(4200))
		switch n % 3 {
		case 0:
			packet, _ = codec.New(codec.CodeAccessRequest, []byte(radiusSecret)).Encode()
		case 1:
			forged := radius.Report{Event: domain.SessionUpdated, NAS: "pgw1", SessionID: "x", IMSI: "1", At: time.Now(), BeganAt: time.Now()}
			packet, _ = forged.Packet([]byte("another secret")).Encode()
		default:
			for i := range packet {
				packet[i] = byte(random.Uint32())
			}
		}
		_, _ = conn.Write(packet)
		if n%50 == 0 {
			time.Sleep(time.Millisecond) // the senders share two cores with this
		}
	}
}

// However large and however many hostile packets are, with the secret and without,
// memory stays near that of a service that has answered requests and is idle.
func TestHostilePacketsTakeLittleMemory(t *testing.T) {
	const packets, senders = 100_000, 4
	f := startFed(t)
	for range 1_500 { // until garbage was collected
		f.must(http.MethodGet, "/subscribers?limit=100", "")
	}
	before := f.resident()
	most := before
	sampled, stop := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(sampled)
		for {
			select {
			case <-stop:
				return
			case <-time.After(200 * time.Millisecond):
				most = max(most, f.resident())
			}
		}
	}()
	var sending sync.WaitGroup
	for n := range senders {
		sending.Go(func() { f.hostile(uint64(n), packets/senders) })
	}
	sending.Wait()
	close(stop)
	<-sampled
	for _, result := range []string{"unusable", "bad_authenticator", "quarantined"} {
		if n := f.metric("simgraph_radius_packets_total", `result="`+result+`"`); n < packets/100 {
			t.Errorf("%.0f are %s", n, result)
		}
	}
	if grown := (most - before) / (1 << 20); grown > 100 {
		t.Errorf("memory has grown by %.0f MB from %.0f", grown, before/(1<<20))
	} else {
		t.Logf("memory has grown by %.0f MB from %.0f", grown, before/(1<<20))
	}
}

// hostile sends packets of the greatest size, most of them authentic: with 1,800
// attributes, and with names and sessions that come once.
func (f *fedNode) hostile(seed uint64, packets int) {
	conn, err := net.Dial("udp", f.to)
	if err != nil {
		f.Error(err)
		return
	}
	defer conn.Close()
	random := rand.New(rand.NewPCG(31, seed))
	for n := range packets {
		report := radius.Report{
			Event: domain.SessionUpdated, NAS: fmt.Sprintf("%x-%x", random.Uint64(), random.Uint64()), SessionID: fmt.Sprint(random.Uint64()), At: time.Now(), BeganAt: time.Now(),
		}
		key := radiusSecret
		switch n % 4 {
		case 0:
			report.IMSI = fmt.Sprintf("99998%010d", random.IntN(1_000))
		case 1:
			key = "another secret"
		}
		packet := report.Packet([]byte(key))
		of := rfc2865.ProxyState_Type
		if n%8 > 3 {
			of = rfc2865.Class_Type
		}
		for range 1_800 {
			packet.Add(of, nil)
		}
		b, err := packet.Encode()
		if err != nil {
			f.Error(err)
			return
		}
		_, _ = conn.Write(b)
		if n%20 == 0 {
			time.Sleep(5 * time.Millisecond) // or the kernel drops them
		}
	}
}
