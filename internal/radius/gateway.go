package radius

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"time"

	"layeh.com/radius"

	"simgraph/domain"
)

const (
	// gatewayInterval is how often a simulated gateway reports each session.
	gatewayInterval = time.Minute
	// gatewayRound is how often it looks what is due.
	gatewayRound = 500 * time.Millisecond
	// gatewayPatience bounds how long a request is repeated.
	gatewayPatience = 10 * time.Second
)

// Device is a subscriber of a simulated gateway.
type Device struct{ IMSI, MSISDN, IMEI, APN, Network string }

// Gateway simulates a packet gateway: it opens and closes sessions of its devices
// and reports them by RADIUS. What it does follows from its seed.
type Gateway struct {
	// Address is that of the listener, Secret the one of the client.
	Address string
	Secret  []byte
	// NAS is the name of the gateway.
	NAS     string
	Devices []Device
	Seed    uint64
	// Now returns the time; default time.Now.
	Now func() time.Time
}

// connection is what a device does.
type connection struct {
	Device
	random *rand.Rand
	report *Report // nil without a session
	number int
	due    time.Time
	stops  time.Time
}

// Run reports until ctx ends. It begins with an Accounting-On.
func (g *Gateway) Run(ctx context.Context) error {
	if g.Now == nil {
		g.Now = time.Now
	}
	began := g.Now()
	if err := g.send(ctx, Restarted(g.NAS, began, g.Secret)); err != nil {
		return err
	}
	connections := make([]*connection, len(g.Devices))
	for i, d := range g.Devices {
		random := rand.New(rand.NewPCG(g.Seed, uint64(i))) //nolint:gosec // a simulation
		connections[i] = &connection{Device: d, random: random}
		connections[i].due = began.Add(time.Duration(random.Int64N(int64(gatewayInterval))))
	}
	for ctx.Err() == nil {
		for i, c := range connections {
			if now := g.Now(); !now.Before(c.due) {
				if err := g.send(ctx, c.next(g.NAS, began, i, now).Packet(g.Secret)); err != nil {
					return err
				}
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(gatewayRound):
		}
	}
	return nil
}

// next returns the report of what the device does now.
func (c *connection) next(nas string, began time.Time, place int, now time.Time) *Report {
	if c.report == nil {
		c.number++
		c.stops = now.Add(time.Duration(2+c.random.IntN(30)) * gatewayInterval)
		c.report = &Report{
			Event: domain.SessionStarted, NAS: nas, SessionID: fmt.Sprintf("%x-%x-%x", began.Unix(), place, c.number),
			IMSI: c.IMSI, MSISDN: c.MSISDN, IMEI: c.IMEI, APN: c.APN, Network: c.Network, RATType: 6,
			Address: netip.AddrFrom4([4]byte{10, 64, byte(place >> 8), byte(place)}), BeganAt: now, At: now,
		}
		c.due = now.Add(gatewayInterval)
		return c.report
	}
	r := *c.report
	r.Event, r.At, r.MobileOriginated, r.MobileTerminated = domain.SessionUpdated, now, r.MobileOriginated+c.bytes(40_000), r.MobileTerminated+c.bytes(400_000)
	c.report, c.due = &r, now.Add(gatewayInterval)
	if now.After(c.stops) {
		r.Event, c.report = domain.SessionStopped, nil
		c.due = now.Add(time.Duration(1+c.random.IntN(20)) * gatewayInterval)
	}
	return &r
}

// bytes is usage of an interval: in one of three a device is silent.
func (c *connection) bytes(most int64) int64 {
	if c.random.IntN(3) == 0 {
		return 0
	}
	return c.random.Int64N(most)
}

// send repeats the request until it is answered.
func (g *Gateway) send(ctx context.Context, p *radius.Packet) error {
	ctx, cancel := context.WithTimeout(ctx, gatewayPatience)
	defer cancel()
	client := radius.Client{Retry: time.Second}
	_, err := client.Exchange(ctx, p, g.Address)
	return err
}
