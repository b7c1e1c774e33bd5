package demo

import (
	"iter"
	"math/rand/v2"
	"net/netip"
	"strconv"
	"time"

	"simgraph/domain"
	"simgraph/internal/bundle"
)

const day = 24 * time.Hour

// usage goes through the days, and through the fleet in each.
func usage(o Options) iter.Seq[bundle.Item] {
	from := o.Until.Add(-time.Duration(o.Days) * day)
	return func(yield func(bundle.Item) bool) {
		if o.Days == 0 {
			return
		}
		fleet := o.fleet()
		for date := from.Truncate(day); date.Before(o.Until); date = date.Add(day) {
			for i := range fleet {
				for record := range fleet[i].usage(o, date) {
					outside := record.StartedAt.Before(from) || record.EndedAt.After(fleet[i].ends)
					if !outside && !yield(bundle.Item{Type: bundle.Usage, Company: o.Company, Value: record}) {
						return
					}
				}
			}
		}
	}
}

// device is what usage needs of a subscriber.
type device struct {
	number     int
	class      *class
	physicalID string
	// ends is when it sent last.
	ends time.Time
}

// fleet holds the devices that have usage.
func (o Options) fleet() []device {
	fleet := make([]device, 0, o.Subscribers)
	for i := range o.Subscribers {
		d := device{number: i, class: classOf(i), physicalID: o.physicalID(i), ends: o.Until}
		if d.class.sessions == 0 || o.terminated(i) {
			continue
		}
		if o.quiet(i) {
			d.ends = o.Until.Add(-time.Duration(i%7+1) * day)
		}
		fleet = append(fleet, d)
	}
	return fleet
}

// usage returns the records of a day, which hang on the seed, the device and
// the date alone.
func (d *device) usage(o Options, date time.Time) iter.Seq[domain.UsageRecord] {
	number := date.Unix() / 86400
	r := rand.New(rand.NewPCG(o.Seed^uint64(number)<<40, aboutUsage<<56|uint64(d.number)))
	return func(yield func(domain.UsageRecord) bool) {
		if weekday := date.Weekday(); (weekday == time.Saturday || weekday == time.Sunday) && !percent(r, d.class.weekend) {
			return
		}
		id := "r-" + strconv.Itoa(d.number) + "-" + strconv.FormatInt(number, 10) + "-"
		for n := range d.class.sessions {
			if !d.session(r, date, id+strconv.Itoa(n), yield) {
				return
			}
		}
	}
}

// session yields the records of one, back to back.
func (d *device) session(r *rand.Rand, date time.Time, id string, yield func(domain.UsageRecord) bool) bool {
	at := date.Add(time.Duration(weighted(r, d.class.hours))*time.Hour + time.Duration(r.IntN(3600))*time.Second)
	protocol, address := pick(r, d.class.protocols), d.address(r)
	for sequence := range d.class.records {
		minutes := d.class.minutes/2 + r.IntN(d.class.minutes) + 1
		u := domain.UsageRecord{
			Source: d.class.source(), RecordID: id + "-" + strconv.Itoa(sequence), PhysicalID: d.physicalID, SessionID: id,
			Sequence: sequence, StartedAt: at, EndedAt: at.Add(time.Duration(minutes) * time.Minute),
			MobileOriginated: about(r, d.class.up), MobileTerminated: about(r, d.class.down),
			Protocol: protocol, IPAddress: address,
		}
		if d.number == runaway && date.Unix()/86400%7 >= 5 {
			u.MobileOriginated *= 1500
		}
		at = u.EndedAt
		if !yield(u) {
			return false
		}
	}
	return true
}

// address is private to the company, or for some shared by many subscribers of
// the network.
func (d *device) address(r *rand.Rand) netip.Addr {
	if !d.class.hasIP {
		return netip.Addr{}
	}
	if d.number%10 == 3 {
		return netip.AddrFrom4([4]byte{100, 64, byte(r.IntN(2)), byte(r.IntN(256))})
	}
	return private(d.number)
}

// private is the address that a device has of its own.
func private(device int) netip.Addr {
	return netip.AddrFrom4([4]byte{10, byte(device >> 16), byte(device >> 8), byte(device)})
}
