package demo

import (
	"net/netip"
	"strconv"
	"time"

	"simgraph/domain"
)

const (
	// Source is the one of the usage of devices with sessions, live as before.
	Source = "demo-gateway"
	// Failing is the gateway that fails for some minutes in each hour.
	Failing = "pgw-frankfurt-1"
	// LiveDevices bounds the devices with sessions that report, in the order of their
	// physicalIds: some 3 requests a second.
	LiveDevices = 250
	// swapped is a van that is always on, and whose SIM is moved to another device. It is
	// one of the devices that report.
	swapped = 100
	// NetworkServer is the source of the usage of LoRaWAN devices, which have no sessions.
	NetworkServer = "lora-ns-1"
)

// abroad are the networks that devices roam in, of three countries.
var abroad = []string{"26201", "23415", "20801"}

// Live is how a device behaves from now on.
type Live struct {
	// Device is its number in the fleet.
	Device int
	// Gateway is the network element that it connects through; "" for a LoRaWAN device.
	Gateway string
	// IMEI is "" for what has none. OtherIMEI is that of the device which its SIM is moved to
	// within each session; "" for all but one.
	IMEI, OtherIMEI string
	Address         netip.Addr
	// Networks are those that it visits, by MCC and MNC; none of satellites.
	Networks []string
	// RATType is that of 3GPP TS 29.061; 0 for none.
	RATType byte
	// Cell is that of the device in a network; nil for what has none.
	Cell func(network string) domain.RadioCell
	// Hours are the odds that it sends, by the hour of the day in UTC.
	Hours []int
	// Lasts is how long its sessions last, about; Up and Down are the usual bytes of a
	// minute of one, and of a LoRaWAN device those of a record.
	Lasts    time.Duration
	Up, Down int64
}

// LiveOf returns how a subscriber of a company made by Items behaves. It reports false for
// those that send nothing any more, or never have.
func LiveOf(s *domain.Subscriber) (Live, bool) {
	device, ok := numberOf(s)
	if !ok {
		return Live{}, false
	}
	c := classOf(device)
	if c.network.kind != s.Kind || c.sessions == 0 || !s.IsActive || s.IsBarred || (Options{}).quiet(device) {
		return Live{}, false
	}
	live := Live{Device: device, Gateway: c.gateway, Hours: wakeful(c.hours), Up: c.up, Down: c.down}
	if c.gateway == "" {
		return live, true
	}
	minutes := int64(c.minutes)
	live.Up, live.Down, live.Lasts = c.up/minutes, c.down/minutes, time.Duration(c.minutes*c.records)*time.Minute
	live.Address = private(device)
	if len(c.rats) > 0 {
		live.RATType = c.rats[device/len(mix)%len(c.rats)]
		live.IMEI = imei(device)
		if device == swapped {
			live.OtherIMEI, live.Hours = imei(MaxSubscribers+device), nil
		}
		live.Networks = networksOf(s, device)
		live.Cell = func(network string) domain.RadioCell { return cellOf(live.RATType, network, device) }
	}
	return live, true
}

// wakeful are the odds of a class where some of its devices are always on, so that no
// gateway is silent but the one that fails.
func wakeful(hours []int) []int {
	awake := make([]int, len(hours))
	for hour, odds := range hours {
		awake[hour] = max(1, odds)
	}
	return awake
}

// networksOf are the networks that a device visits: most stay in their own, some roam
// abroad, and few vans cross borders.
func networksOf(s *domain.Subscriber, device int) []string {
	switch round := device / len(mix); {
	case classOf(device) == &van && round%4 == 0:
		return abroad
	case round%4 == 1:
		return abroad[round/4%len(abroad):][:1]
	}
	return []string{s.OperatorCode}
}

// numberOf returns the number of a device, which its identifiers end with.
func numberOf(s *domain.Subscriber) (int, bool) {
	text, base := "", 10
	switch {
	case s.Kind == domain.NonIP && len(s.PhysicalID) == 16:
		text, base = s.PhysicalID[8:], 16
	case len(s.IMSI) > len(s.OperatorCode):
		text = s.IMSI[len(s.OperatorCode):]
	}
	number, err := strconv.ParseInt(text, base, 32)
	return int(number), err == nil && number < MaxSubscribers
}
