package command

import (
	"context"
	"crypto/rand"
	"net/netip"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db"
	"simgraph/db/companies"
	"simgraph/db/feed"
	"simgraph/domain"
	"simgraph/internal/radius"
)

const (
	// demoGateway is the client that reports the sessions of the demo company.
	demoGateway = "demo-gateway"
	// demoDevices bounds the devices of the demo gateway: some 3 requests a second.
	demoDevices = 250
	// demoNetworks are what they visit.
	demoNetworks = 3
)

// feedsDemo reports whether the demo company feeds itself.
func (s *Serve) feedsDemo() bool { return s.Demo && s.DemoFeed == "on" }

// demoFeed is a gateway that sends the accounting of the demo company to the own
// listener.
type demoFeed struct {
	pool    *sqlx.DB
	clients *feed.Clients
}

// run reports until ctx ends.
func (d *demoFeed) run(ctx context.Context, address netip.AddrPort) error {
	company, err := companies.New(d.pool).FindExternal(ctx, "demo")
	if err != nil {
		return err
	}
	scope := domain.Whole(company.CompanyID).By(actor("serve"))
	secret := []byte(rand.Text())
	if err := d.admit(ctx, scope, address.Addr(), secret); err != nil {
		return err
	}
	devices, err := d.devices(ctx, scope)
	if err != nil {
		return err
	}
	// The listener reads its clients from time to time.
	wait(ctx, radius.RefreshClients+time.Second)
	gateway := radius.Gateway{Address: address.String(), Secret: secret, NAS: demoGateway, Devices: devices, Seed: 1}
	return gateway.Run(ctx)
}

// admit makes the gateway a client with a new secret.
func (d *demoFeed) admit(ctx context.Context, scope domain.Scope, from netip.Addr, secret []byte) error {
	known, err := d.clients.List(ctx, scope)
	if err != nil {
		return err
	}
	for _, client := range known {
		if client.Name == demoGateway {
			if err := d.clients.Remove(ctx, scope, demoGateway); err != nil {
				return err
			}
		}
	}
	return d.clients.Create(ctx, scope, domain.RADIUSClient{Name: demoGateway, Network: netip.PrefixFrom(from, from.BitLen()), Secret: secret})
}

// devices are the first subscribers of the company that have an IMSI.
func (d *demoFeed) devices(ctx context.Context, scope domain.Scope) ([]radius.Device, error) {
	fleet, err := db.NewSubscribers(d.pool).List(ctx, scope, domain.Listing{
		Page: domain.Page{Limit: domain.MaxLimit}, Projection: domain.Projection{Fields: domain.AllFields},
	})
	if err != nil {
		return nil, err
	}
	var devices []radius.Device
	for _, s := range fleet.Items {
		if s.IMSI == "" || !s.IsActive || len(devices) == demoDevices {
			continue
		}
		network := []string{"26201", "23415", "20801"}[len(devices)%demoNetworks]
		devices = append(devices, radius.Device{IMSI: s.IMSI, MSISDN: s.SubscriberID, APN: "iot.example", Network: network})
	}
	return devices, nil
}

// feedDemo runs the gateway of the demo company, if it has one.
func (v *service) feedDemo(ctx context.Context) error {
	if v.demo == nil {
		<-ctx.Done()
		return nil
	}
	return v.demo.run(ctx, reachable(v.radius.Addrs()[0]))
}

// reachable is an address of this host for one that stands for all.
func reachable(at netip.AddrPort) netip.AddrPort {
	switch at.Addr() {
	case netip.IPv4Unspecified():
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port())
	case netip.IPv6Unspecified():
		return netip.AddrPortFrom(netip.IPv6Loopback(), at.Port())
	}
	return at
}
