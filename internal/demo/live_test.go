package demo_test

import (
	"slices"
	"strings"
	"testing"

	"simgraph/domain"
	"simgraph/internal/demo"
	"simgraph/internal/radius"
)

// What is seen live is each kind of device, on radio accesses that fit it, in three
// countries; what sends nothing any more does not come back.
func TestTheFleetIsAlive(t *testing.T) {
	sent := map[string]bool{}
	for _, r := range values[domain.UsageRecord](options(500, 7)) {
		sent[r.PhysicalID] = true
	}
	byKind, rats, networks, gateways := map[domain.Kind]int{}, map[byte]domain.Kind{}, map[string]bool{}, map[string]int{}
	devices, swapped, reporting := map[int]bool{}, 0, 0
	fleet := values[*domain.Subscriber](options(500, 0))
	slices.SortFunc(fleet, func(x, y *domain.Subscriber) int { return strings.Compare(x.PhysicalID, y.PhysicalID) })
	for _, s := range fleet {
		live, ok := demo.LiveOf(s)
		if !ok {
			continue
		}
		if !sent[s.PhysicalID] {
			t.Errorf("%s is live, and had no usage in a week", s.Nickname)
		}
		if devices[live.Device] {
			t.Errorf("device %d is there twice", live.Device)
		}
		devices[live.Device] = true
		if live.Gateway != "" {
			reporting++
		}
		if live.OtherIMEI != "" {
			swapped++
			if reporting > demo.LiveDevices || live.OtherIMEI == live.IMEI || s.GroupID == nil || *s.GroupID != demo.Vans {
				t.Errorf("%s is swapped: %+v", s.Nickname, live)
			}
		}
		byKind[s.Kind]++
		gateways[live.Gateway]++
		rats[live.RATType] = s.Kind
		for _, network := range live.Networks {
			networks[network[:3]] = true
			if cell := live.Cell(network); cell.Network != network || radius.Location(cell) == nil {
				t.Errorf("%s is in the cell %s of %s", s.Nickname, &cell, network)
			}
		}
		if isIP := s.Kind != domain.NonIP; isIP != live.Address.IsValid() || isIP != (live.Gateway != "") || isIP != (live.Lasts > 0) {
			t.Errorf("%s: %+v", s.Nickname, live)
		}
		if isCellular := s.Kind == domain.Cellular; isCellular != (live.IMEI != "") || isCellular != (len(live.Networks) > 0) || isCellular != (live.RATType != 0) {
			t.Errorf("%s: %+v", s.Nickname, live)
		}
	}
	for _, kind := range []domain.Kind{domain.Cellular, domain.NonIP, domain.Satellite} {
		if byKind[kind] < 10 {
			t.Errorf("%d of %s", byKind[kind], kind)
		}
	}
	if swapped != 1 {
		t.Errorf("%d devices are swapped", swapped)
	}
	for _, rat := range []byte{1, 6, 8, 9, 10} {
		if rats[rat] != domain.Cellular {
			t.Errorf("radio access %d is of %q", rat, rats[rat])
		}
	}
	for _, country := range []string{"262", "234", "208"} {
		if !networks[country] {
			t.Errorf("none in %s", country)
		}
	}
	if len(gateways) != 5 || gateways[demo.Failing] < 20 {
		t.Errorf("gateways are %v", gateways)
	}
}

// Seeded usage has the sources that go on live: none falls silent for good.
func TestSourcesGoOnLive(t *testing.T) {
	var sources []string
	for _, r := range values[domain.UsageRecord](options(300, 2)) {
		if !slices.Contains(sources, r.Source) {
			sources = append(sources, r.Source)
		}
	}
	slices.Sort(sources)
	if want := []string{demo.Source, demo.NetworkServer}; !slices.Equal(sources, want) {
		t.Errorf("%v, want %v", sources, want)
	}
}

// In each hour some device of each gateway may begin a session: a gateway that reports
// nothing has failed.
func TestNoGatewayRests(t *testing.T) {
	t.Parallel()
	awake := map[string]*[24]int{}
	for _, s := range values[*domain.Subscriber](options(300, 2)) {
		live, ok := demo.LiveOf(s)
		if !ok || live.Gateway == "" {
			continue
		}
		if awake[live.Gateway] == nil {
			awake[live.Gateway] = new([24]int)
		}
		for hour, odds := range live.Hours {
			awake[live.Gateway][hour] += min(1, odds)
		}
	}
	for gateway, devices := range awake {
		if least := slices.Min(devices[:]); least < 5 {
			t.Errorf("%s has %d devices that may begin a session in some hour: %v", gateway, least, *devices)
		}
	}
}
