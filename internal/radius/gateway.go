package radius

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
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
type Device struct {
	IMSI, MSISDN, IMEI, APN string
	// OtherIMEI is what it reports within a session, after its start; "" for the same.
	OtherIMEI string
	Address   netip.Addr
	// Networks are those that it visits, another one with each session.
	Networks []string
	// RATType is its radio access of 3GPP TS 29.061; 0 for none.
	RATType byte
	// Cell is where it is in a network; nil for what states none.
	Cell func(network string) domain.RadioCell
	// Hours are the odds that it begins a session when it could, by the hour of the day
	// in UTC; without them it always does.
	Hours []int
	// Lasts is how long its sessions last, about.
	Lasts time.Duration
	// Up and Down are the usual bytes of a minute.
	Up, Down int64
}

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
	// Fails is how long it is down in each hour, from half past on; it starts anew then.
	Fails time.Duration
	// Now returns the time; default time.Now.
	Now func() time.Time
}

// connection is what a device does.
type connection struct {
	*Device
	place  int
	random *rand.Rand
	report *Report // nil without a session
	number int
	due    time.Time
	stops  time.Time
}

// Run reports until ctx ends. It begins with an Accounting-On, as it does after it failed.
func (g *Gateway) Run(ctx context.Context) error {
	if g.Now == nil {
		g.Now = time.Now
	}
	for ctx.Err() == nil {
		if !g.isDown(g.Now()) {
			if err := g.work(ctx); err != nil {
				return err
			}
		}
		g.rest(ctx)
	}
	return nil
}

// isDown reports whether the gateway has failed.
func (g *Gateway) isDown(now time.Time) bool {
	since := now.Sub(now.Truncate(time.Hour)) - time.Hour/2
	return since >= 0 && since < g.Fails
}

// rest waits a moment.
func (g *Gateway) rest(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(gatewayRound):
	}
}

// work reports until the gateway fails or ctx ends.
func (g *Gateway) work(ctx context.Context) error {
	began := g.Now()
	if err := g.send(ctx, Restarted(g.NAS, began, g.Secret)); err != nil {
		return err
	}
	connections := g.connections(began)
	for ctx.Err() == nil && !g.isDown(g.Now()) {
		for _, c := range connections {
			now := g.Now()
			if now.Before(c.due) {
				continue
			}
			if report := c.next(g.NAS, began, now); report != nil {
				if err := g.send(ctx, report.Packet(g.Secret)); err != nil {
					return err
				}
			}
		}
		g.rest(ctx)
	}
	return nil
}

// connections are those of a gateway that has begun: its devices come within a minute.
func (g *Gateway) connections(began time.Time) []*connection {
	connections := make([]*connection, len(g.Devices))
	for i := range g.Devices {
		random := rand.New(rand.NewPCG(g.Seed^uint64(began.Unix()), uint64(i))) //nolint:gosec // a simulation
		connections[i] = &connection{Device: &g.Devices[i], place: i, random: random, due: began.Add(time.Duration(random.Int64N(int64(gatewayInterval))))}
	}
	return connections
}

// next returns the report of what the device does now; nil where that is nothing.
func (c *connection) next(nas string, began, now time.Time) *Report {
	if c.report == nil {
		if !c.begins(now) {
			c.due = now.Add(c.pause())
			return nil
		}
		c.due = now.Add(gatewayInterval)
		c.number++
		c.stops = now.Add(c.Lasts/2 + time.Duration(c.random.Int64N(int64(c.Lasts)+1)))
		c.report = &Report{
			Event: domain.SessionStarted, NAS: nas, SessionID: fmt.Sprintf("%x-%x-%x", began.Unix(), c.place, c.number),
			IMSI: c.IMSI, MSISDN: c.MSISDN, IMEI: c.IMEI, APN: c.APN, RATType: c.RATType, Address: c.Address, BeganAt: now, At: now,
		}
		if len(c.Networks) > 0 {
			c.report.Network = c.Networks[c.random.IntN(len(c.Networks))]
			if c.Cell != nil {
				c.report.Location = Location(c.Cell(c.report.Network))
			}
		}
		return c.report
	}
	r := *c.report
	r.Event, r.At, r.IMEI = domain.SessionUpdated, now, cmp.Or(c.OtherIMEI, c.IMEI)
	r.MobileOriginated, r.MobileTerminated = r.MobileOriginated+c.bytes(c.Up), r.MobileTerminated+c.bytes(c.Down)
	c.report, c.due = &r, now.Add(gatewayInterval)
	if now.After(c.stops) {
		r.Event, c.report = domain.SessionStopped, nil
		c.due = now.Add(c.pause())
	}
	return &r
}

// begins reports whether the device begins a session that it could.
func (c *connection) begins(now time.Time) bool {
	if len(c.Hours) == 0 {
		return true
	}
	return c.random.IntN(slices.Max(c.Hours)) < c.Hours[now.UTC().Hour()]
}

// pause is how long the device waits until it could begin a session.
func (c *connection) pause() time.Duration {
	return time.Duration(1+c.random.IntN(20)) * gatewayInterval
}

// bytes is usage of an interval, about as much as usual: in one of three a device is silent.
func (c *connection) bytes(usual int64) int64 {
	if c.random.IntN(3) == 0 {
		return 0
	}
	return usual/2 + c.random.Int64N(2*usual+1)
}

// send repeats the request until it is answered.
func (g *Gateway) send(ctx context.Context, p *radius.Packet) error {
	ctx, cancel := context.WithTimeout(ctx, gatewayPatience)
	defer cancel()
	client := radius.Client{Retry: time.Second}
	_, err := client.Exchange(ctx, p, g.Address)
	return err
}
