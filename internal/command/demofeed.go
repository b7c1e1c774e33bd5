package command

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"time"

	"github.com/jmoiron/sqlx"
	"golang.org/x/sync/errgroup"

	"simgraph/db"
	"simgraph/db/companies"
	"simgraph/db/condition"
	"simgraph/db/feed"
	"simgraph/db/silence"
	"simgraph/db/usage"
	"simgraph/domain"
	rules "simgraph/domain/condition"
	quiet "simgraph/domain/silence"
	"simgraph/internal/demo"
	"simgraph/internal/radius"
)

const (
	// demoDevices bounds the devices with sessions: some 3 requests a second.
	demoDevices = 250
	// demoFails is how long a gateway fails in each hour.
	demoFails = 12 * time.Minute
	// demoRecordsEvery is how often one of the LoRaWAN devices sends.
	demoRecordsEvery = 30 * time.Second
)

// feedsDemo reports whether the demo company feeds itself.
func (s *Serve) feedsDemo() bool { return s.Demo && s.DemoFeed == "on" }

// demoFeed sends the accounting of the demo company to the own listener, as its gateways
// do, and usage of its devices that have no sessions.
type demoFeed struct {
	pool    *sqlx.DB
	clients *feed.Clients
	usage   *usage.Store
}

// run reports until ctx ends.
func (d *demoFeed) run(ctx context.Context, address netip.AddrPort) error {
	company, err := companies.New(d.pool).FindExternal(ctx, "demo")
	if err != nil {
		return err
	}
	scope := domain.Whole(company.CompanyID).By(actor("serve"))
	secret := []byte(rand.Text())
	if err := errors.Join(d.admit(ctx, scope, address.Addr(), secret), d.furnish(ctx, scope)); err != nil {
		return err
	}
	gateways, sensors, err := d.devices(ctx, scope)
	if err != nil {
		return err
	}
	// The listener reads its clients from time to time.
	wait(ctx, radius.RefreshClients+time.Second)
	running, ctx := errgroup.WithContext(ctx)
	running.Go(func() error { return d.record(ctx, scope, sensors) })
	for name, devices := range gateways {
		gateway := radius.Gateway{Address: address.String(), Secret: secret, NAS: name, Devices: devices, Seed: 1}
		if name == demo.Failing {
			gateway.Fails = demoFails
		}
		running.Go(func() error { return gateway.Run(ctx) })
	}
	return running.Wait()
}

// furnish makes alerts on conditions and silences where there are none.
func (d *demoFeed) furnish(ctx context.Context, scope domain.Scope) error {
	conditions, silences := condition.New(d.pool, time.Now), silence.New(d.pool, time.Now)
	n, err := conditions.Count(ctx, scope)
	if err != nil {
		return err
	}
	if n == 0 {
		for _, spec := range []rules.Spec{
			{RuleType: domain.RuleGroupMember, Target: strconv.Itoa(demo.Meters), Condition: rules.Condition{Kind: rules.Silent, Bound: 96}},
			{RuleType: domain.RuleGroupMember, Target: strconv.Itoa(demo.Vans), Condition: rules.Condition{Kind: rules.Change, Traits: []rules.Trait{rules.IMEI, rules.Country}}},
		} {
			if _, err := conditions.Create(ctx, scope, spec); err != nil {
				return err
			}
		}
	}
	if n, err = silences.Count(ctx, scope, nil); err != nil || n > 0 {
		return err
	}
	now := time.Now().UTC().Truncate(time.Second)
	for _, spec := range []quiet.Spec{
		{
			Reason: "Weekly maintenance of the shops", Matcher: quiet.Matcher{GroupIDs: []int64{demo.Shops}}, StartsAt: now, EndsAt: now.AddDate(0, 6, 0),
			Weekly: []quiet.Window{{Weekday: time.Sunday, FromMinute: 2 * 60, UntilMinute: 5 * 60}},
		},
		{Reason: "Pilot: the devices are being installed", Matcher: quiet.Matcher{TagNames: []string{"pilot"}}, StartsAt: now, EndsAt: now.AddDate(0, 0, 14)},
	} {
		if _, err := silences.Create(ctx, scope, spec); err != nil {
			return err
		}
	}
	return nil
}

// admit makes the gateway a client with a new secret.
func (d *demoFeed) admit(ctx context.Context, scope domain.Scope, from netip.Addr, secret []byte) error {
	known, err := d.clients.List(ctx, scope)
	if err != nil {
		return err
	}
	for _, client := range known {
		if client.Name == demo.Source {
			if err := d.clients.Remove(ctx, scope, demo.Source); err != nil {
				return err
			}
		}
	}
	return d.clients.Create(ctx, scope, domain.RADIUSClient{Name: demo.Source, Network: netip.PrefixFrom(from, from.BitLen()), Secret: secret})
}

// devices are the first subscribers of the company that have sessions, by their gateways,
// and the LoRaWAN devices.
func (d *demoFeed) devices(ctx context.Context, scope domain.Scope) (gateways map[string][]radius.Device, sensors []sensor, err error) {
	store, page := db.NewSubscribers(d.pool), domain.Page{Limit: domain.MaxLimit}
	gateways = map[string][]radius.Device{}
	for n := 0; n < demoDevices; {
		fleet, err := store.List(ctx, scope, domain.Listing{Page: page, Projection: domain.Projection{Fields: domain.AllFields}})
		if err != nil {
			return nil, nil, err
		}
		for _, s := range fleet.Items {
			live, ok := demo.LiveOf(s)
			switch {
			case !ok || n == demoDevices:
			case live.Gateway == "":
				sensors = append(sensors, sensor{live, s.PhysicalID})
			default:
				gateways[live.Gateway] = append(gateways[live.Gateway], radius.Device{
					IMSI: s.IMSI, MSISDN: s.SubscriberID, IMEI: live.IMEI, APN: "iot.example", Address: live.Address, Networks: live.Networks,
					RATType: live.RATType, Hours: live.Hours, Lasts: live.Lasts, Up: live.Up, Down: live.Down,
				})
				n++
			}
		}
		if !fleet.HasNext {
			break
		}
		page.Cursor = fleet.Cursor(len(fleet.Items) - 1)
	}
	return gateways, sensors, nil
}

// sensor is a LoRaWAN device.
type sensor struct {
	demo.Live
	physicalID string
}

// record stores usage of the sensors, of one after the other.
func (d *demoFeed) record(ctx context.Context, scope domain.Scope, sensors []sensor) error {
	for n := 0; len(sensors) > 0 && ctx.Err() == nil; n++ {
		s, now := sensors[n%len(sensors)], time.Now().UTC().Truncate(time.Second)
		_, err := d.usage.Record(ctx, scope, []domain.UsageRecord{{
			Source: demo.NetworkServer, RecordID: fmt.Sprintf("live-%d-%d", s.Device, now.Unix()), PhysicalID: s.physicalID,
			StartedAt: now.Add(-time.Second), EndedAt: now, MobileOriginated: s.Up, MobileTerminated: s.Down, Protocol: "LoRaWAN",
		}})
		if err != nil {
			return err
		}
		wait(ctx, demoRecordsEvery)
	}
	return nil
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
