package demo

import "simgraph/domain"

// class is a sort of device: how it is contracted and how it behaves.
type class struct {
	noun    string
	network *network
	tariff  string
	// groups are where it may be; 0 stands for no group.
	groups []int64
	tags   []domain.TagName
	// gateway is the network element that it connects through; "" without sessions.
	gateway string
	// rats are the radio accesses of 3GPP TS 29.061 that such devices have.
	rats []byte
	// protocols of its traffic; hasIP reports whether that has an address.
	protocols []string
	hasIP     bool
	// sessions a day, records in each, minutes of a record.
	sessions, records, minutes int
	// up and down are the usual bytes of a record.
	up, down int64
	// weekend is the share of devices, in percent, that work then.
	weekend int
	// hours are the odds that a session begins in each hour of the day, UTC.
	hours []int
}

// Radio accesses of 3GPP TS 29.061.
const (
	utran  = 1
	eutran = 6
	nbIoT  = 8
	lteM   = 9
	nr     = 10
)

var (
	workday = []int{1, 0, 0, 0, 1, 4, 10, 16, 14, 12, 11, 10, 9, 11, 12, 13, 14, 10, 5, 3, 2, 2, 1, 1}
	night   = []int{20, 24, 30, 24, 12, 4, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 6, 12}
	evening = []int{2, 1, 1, 1, 1, 1, 2, 4, 8, 10, 12, 14, 16, 14, 12, 12, 14, 18, 20, 16, 10, 6, 4, 3}
	allDay  = []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}
)

var (
	van = class{
		noun: "Van", network: &cellular, tariff: "IoT 50", groups: []int64{Vans, Vans, partners}, tags: []domain.TagName{"fleet", "tracker"},
		gateway: "pgw-london-1", rats: []byte{eutran}, protocols: []string{"MQTT", "MQTT", "HTTPS", "DNS"}, hasIP: true,
		sessions: 2, records: 3, minutes: 45, up: 90_000, down: 22_000, weekend: 25, hours: workday,
	}
	meter = class{
		noun: "Meter", network: &cellular, tariff: "IoT 5", groups: []int64{Meters}, tags: []domain.TagName{"meter"},
		gateway: "pgw-london-2", rats: []byte{nbIoT, lteM}, protocols: []string{"CoAP"}, hasIP: true,
		sessions: 1, records: 1, minutes: 4, up: 6_000, down: 1_200, weekend: 100, hours: night,
	}
	terminal = class{
		noun: "Till", network: &cellular, tariff: "IoT 500", groups: []int64{Shops, Shops, 0}, tags: []domain.TagName{"payment"},
		gateway: Failing, rats: []byte{eutran, utran}, protocols: []string{"HTTPS", "HTTPS", "TCP"}, hasIP: true,
		sessions: 3, records: 1, minutes: 20, up: 210_000, down: 340_000, weekend: 70, hours: evening,
	}
	camera = class{
		noun: "Camera", network: &cellular, tariff: "Video 20G", groups: []int64{Shops, partners}, tags: []domain.TagName{"video"},
		gateway: Failing, rats: []byte{nr, eutran}, protocols: []string{"RTSP", "RTSP", "HTTPS"}, hasIP: true,
		sessions: 1, records: 5, minutes: 60, up: 60_000_000, down: 900_000, weekend: 100, hours: allDay,
	}
	sensor = class{
		noun: "Sensor", network: &lorawan, tariff: "LoRa Flat", groups: []int64{farms, farms, 0}, tags: []domain.TagName{"soil"},
		protocols: []string{"LoRaWAN"},
		sessions:  2, records: 1, minutes: 1, up: 220, down: 40, weekend: 100, hours: allDay,
	}
	beacon = class{
		noun: "Beacon", network: &satellite, tariff: "Satellite Burst", groups: []int64{atSea}, tags: []domain.TagName{"vessel"},
		gateway: "sat-gw-1", protocols: []string{"SBD", "SBD", "UDP"}, hasIP: true,
		sessions: 2, records: 1, minutes: 3, up: 1_900, down: 600, weekend: 100, hours: allDay,
	}
	// An eUICC carries profiles, of which one is enabled and has the traffic.
	euicc = class{
		noun: "eUICC", network: &cellular, tariff: "eSIM Roam", groups: []int64{Vans}, tags: []domain.TagName{"esim"},
	}
	enabled = class{
		noun: "Profile", network: &cellular, tariff: "eSIM Roam", groups: []int64{Vans}, tags: []domain.TagName{"esim", "fleet"},
		gateway: "pgw-london-2", rats: []byte{eutran}, protocols: []string{"MQTT", "HTTPS"}, hasIP: true,
		sessions: 2, records: 2, minutes: 50, up: 140_000, down: 60_000, weekend: 40, hours: workday,
	}
	spare = class{
		noun: "Profile", network: &cellular, tariff: "eSIM Roam", groups: []int64{0}, tags: []domain.TagName{"esim"},
	}
)

// mix is the fleet, again and again. An eUICC comes right before its profiles.
var mix = []*class{
	&van, &meter, &sensor, &terminal, &euicc, &enabled, &spare, &van, &beacon, &meter,
	&camera, &sensor, &van, &terminal, &meter, &van, &sensor, &van, &meter, &van,
}

// source is where its usage comes from.
func (c *class) source() string {
	if c.gateway == "" {
		return NetworkServer
	}
	return Source
}

func classOf(device int) *class { return mix[device%len(mix)] }

// parentOf returns the eUICC of a profile.
func parentOf(device int) (parent int, ok bool) {
	switch classOf(device) {
	case &enabled:
		return device - 1, true
	case &spare:
		return device - 2, true
	}
	return 0, false
}
