package command

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"github.com/jmoiron/sqlx"
	"golang.org/x/sync/errgroup"

	keys "simgraph/db/access"
	"simgraph/db/alert"
	"simgraph/db/bulk"
	"simgraph/db/companies"
	"simgraph/db/condition"
	"simgraph/db/feed"
	"simgraph/db/silence"
	"simgraph/db/subscriber"
	"simgraph/db/usage"
	hooks "simgraph/db/webhook"
	"simgraph/domain"
	rows "simgraph/domain/bulk"
	rules "simgraph/domain/condition"
	"simgraph/domain/query"
	quiet "simgraph/domain/silence"
	"simgraph/domain/webhook"
	"simgraph/internal/demo"
	"simgraph/internal/radius"
)

const (
	// demoHistory is of how many days it has the sessions.
	demoHistory = 3
	// demoFails is how long a gateway fails in each hour.
	demoFails = 12 * time.Minute
	// demoSilence is after how many minutes a gateway is named that reports nothing.
	demoSilence = 8
	// demoSettles is after how long all gateways have reported.
	demoSettles = 3 * time.Minute
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
	// webhooks keeps its endpoint.
	webhooks *hooks.Store
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
	if err := errors.Join(d.remember(ctx, scope), d.integrate(ctx, scope), d.inspect(ctx, scope)); err != nil {
		return err
	}
	for _, s := range demo.Strangers() {
		gateways[s.Gateway] = append(gateways[s.Gateway], radius.Device{
			IMSI: s.IMSI, MSISDN: s.Number, APN: "iot.example", Address: s.Address, RATType: s.RATType, Lasts: s.Lasts, Up: s.Up, Down: s.Down,
		})
	}
	// The listener reads its clients from time to time.
	wait(ctx, radius.RefreshClients+time.Second)
	running, ctx := errgroup.WithContext(ctx)
	running.Go(func() error { return d.record(ctx, scope, sensors) })
	running.Go(func() error { return d.watch(ctx, scope) })
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
	none, err := d.lacks(ctx, scope, query.Ne, domain.KindVolume)
	if err != nil {
		return err
	}
	if none {
		for _, spec := range []rules.Spec{
			{RuleType: domain.RuleGroupMember, Target: strconv.Itoa(demo.Meters), Condition: rules.Condition{Kind: rules.Silent, Bound: 96}, AlertWords: named("Silent meters", "A meter that is silent for four days is looked at on site.")},
			{RuleType: domain.RuleGroupMember, Target: strconv.Itoa(demo.Vans), Condition: rules.Condition{Kind: rules.Change, Traits: []rules.Trait{rules.IMEI, rules.Country}}, AlertWords: named("SIMs of vans in other devices or countries", "A SIM of a van belongs into its own device.")},
		} {
			if _, err := conditions.Create(ctx, scope, spec); err != nil {
				return err
			}
		}
	}
	if n, err := silences.Count(ctx, scope, domain.Listing{}); err != nil || n > 0 {
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

// watch makes an alert on sources where there is none, once all have reported: what was
// loaded with the company ends some time before. It names the gateway that fails.
func (d *demoFeed) watch(ctx context.Context, scope domain.Scope) error {
	wait(ctx, demoSettles)
	if ctx.Err() != nil {
		return nil //nolint:nilerr // the server stops
	}
	none, err := d.lacks(ctx, scope, query.Eq, domain.KindSourceSilent)
	if err != nil || !none {
		return err
	}
	_, err = condition.New(d.pool, time.Now).Create(ctx, scope, rules.Spec{
		RuleType: domain.RuleCompany, Condition: rules.Condition{Kind: rules.SourceSilent, Bound: demoSilence},
		AlertWords: named("Gateways that are silent", "A gateway that reports nothing may have failed: its usage comes late."),
	})
	return err
}

// lacks reports whether the company has no alert of the kinds.
func (d *demoFeed) lacks(ctx context.Context, scope domain.Scope, op query.Op, kind domain.AlertKind) (bool, error) {
	of, err := query.Compare(domain.AlertFields, "kind", op, string(kind))
	if err != nil {
		return false, err
	}
	n, err := alert.NewAlerts(d.pool).Count(ctx, scope, domain.Listing{Filter: of})
	return n == 0, err
}

func named(name, description string) domain.AlertWords {
	return domain.AlertWords{Name: &name, Description: &description}
}

// remember stores the sessions of the last days where there are none. Their usage was
// loaded with the company.
func (d *demoFeed) remember(ctx context.Context, scope domain.Scope) error {
	n, err := feed.NewSessions(d.pool).Count(ctx, scope, domain.Listing{})
	if err != nil || n > 0 {
		return err
	}
	history := demo.History(demo.Options{Company: "demo", Subscribers: demo.LiveDevices, Days: demoHistory, Seed: 1, Until: time.Now().UTC().Truncate(time.Hour)})
	for batch := range slices.Chunk(history, domain.MaxUsageBatch) {
		if _, err := d.usage.KeepSessions(ctx, scope, batch); err != nil {
			return err
		}
	}
	return nil
}

// inspect starts an operation where there was none: it tags some of the vans.
func (d *demoFeed) inspect(ctx context.Context, scope domain.Scope) error {
	operations := bulk.New(d.pool, bulk.Options{})
	n, err := operations.Count(ctx, scope, domain.Listing{})
	if err != nil || n > 0 {
		return err
	}
	where, err := query.ParseFilter(`tags eq "tracker" and isActive eq true`, domain.SubscriberFields)
	if err != nil {
		return err
	}
	_, err = operations.Start(ctx, &domain.Caller{Permissions: domain.AllPermissions(), Scope: scope}, rows.Start{
		ByFilter: true, Filter: where, Change: rows.Change{AddTags: []domain.TagName{"inspected"}}, ErrorPolicy: rows.RejectFailedRows,
	})
	return err
}

// integrate makes an access key and a webhook where there are none. Nobody has the secret
// of the key, and nobody the address of the webhook: its messages show how one fails.
func (d *demoFeed) integrate(ctx context.Context, scope domain.Scope) error {
	access := keys.New(d.pool)
	n, err := access.CountKeys(ctx, scope, domain.Listing{})
	if err != nil {
		return err
	}
	if n == 0 {
		if _, _, err := access.CreateKey(ctx, scope, domain.KeySpec{
			KeyLabel: domain.KeyLabel{Name: "Recorder", Purpose: "Records the usage of the demo company"}, Email: "recorder@demo.example", Lifetime: domain.KeyLifetime,
		}); err != nil {
			return err
		}
	}
	if n, err = d.webhooks.Count(ctx, scope, domain.Listing{}); err != nil || n > 0 {
		return err
	}
	_, _, err = d.webhooks.Create(ctx, scope, webhook.Spec{
		Name: "Operations centre", URL: "https://hooks.demo.example/simgraph", Format: webhook.CloudEvents,
		Filter: webhook.Filter{EventTypes: []webhook.EventType{webhook.AlertFired, webhook.AlertResolved, webhook.SourceSilent, webhook.OperationFinished}},
	})
	return err
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
	store, page := subscriber.New(d.pool), domain.Page{Limit: domain.MaxLimit}
	gateways = map[string][]radius.Device{}
	for n := 0; n < demo.LiveDevices; {
		fleet, err := store.List(ctx, scope, domain.Listing{Page: page, Projection: domain.Projection{Fields: domain.AllFields}})
		if err != nil {
			return nil, nil, err
		}
		for _, s := range fleet.Items {
			live, ok := demo.LiveOf(s)
			switch {
			case !ok || n == demo.LiveDevices:
			case live.Gateway == "":
				sensors = append(sensors, sensor{live, s.PhysicalID})
			default:
				gateways[live.Gateway] = append(gateways[live.Gateway], radius.Device{
					IMSI: s.IMSI, MSISDN: s.SubscriberID, IMEI: live.IMEI, OtherIMEI: live.OtherIMEI, APN: "iot.example", Address: live.Address, Networks: live.Networks,
					RATType: live.RATType, Cell: live.Cell, Hours: live.Hours, Lasts: live.Lasts, Up: live.Up, Down: live.Down,
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
