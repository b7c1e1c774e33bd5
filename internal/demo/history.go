package demo

import (
	"fmt"
	"net/netip"
	"strconv"
	"time"

	"simgraph/domain"
)

// History returns the sessions of the last days, as the gateways reported them. Their bytes
// are those of Items with the same options.
func History(o Options) []*domain.SessionImport {
	from := o.Until.Add(-time.Duration(o.Days) * day)
	var history []*domain.SessionImport
	for _, d := range o.fleet() {
		live, known := LiveOf(o.subscriber(d.number))
		if !known || live.Gateway == "" {
			continue
		}
		for date := from.Truncate(day); date.Before(o.Until); date = date.Add(day) {
			var last *domain.SessionImport
			for record := range d.usage(o, date) {
				switch {
				case record.StartedAt.Before(from) || record.EndedAt.After(d.ends):
					continue
				case last == nil || last.SessionID != record.SessionID:
					last = o.begun(&d, &live, record)
					history = append(history, last)
				}
				grow(last, record)
			}
		}
	}
	return history
}

// begun is the session of a record before it is counted.
func (o Options) begun(d *device, live *Live, record domain.UsageRecord) *domain.SessionImport {
	of := o.subscriber(d.number)
	s := &domain.SessionImport{Subscriber: d.physicalID, Session: domain.Session{
		Source: Source, NAS: live.Gateway, SessionID: record.SessionID, IMSI: of.IMSI, MSISDN: of.SubscriberID,
		Counter: domain.Counter{BeganAt: record.StartedAt, HasStart: true}, Cause: "User-Request",
		APN: "iot.example", IPAddress: live.Address, IMEI: live.IMEI, RATType: accesses[live.RATType],
	}}
	if len(live.Networks) > 0 {
		s.VisitedNetwork = live.Networks[int(record.StartedAt.Unix()/3600)%len(live.Networks)]
		cell := live.Cell(s.VisitedNetwork)
		s.Cell = cell.String()
	}
	s.Identity = s.Identify()
	return s
}

// grow counts a record.
func grow(s *domain.SessionImport, record domain.UsageRecord) {
	s.AsOf, s.ReportedAt, s.EndedAt = record.EndedAt, record.EndedAt, &record.EndedAt
	s.MobileOriginated += record.MobileOriginated
	s.MobileTerminated += record.MobileTerminated
	s.SessionTime = record.EndedAt.Sub(s.BeganAt)
	s.Reports++
}

// accesses are the names of radio accesses.
var accesses = map[byte]string{utran: "UTRAN", eutran: "EUTRAN", nbIoT: "NB-IoT", lteM: "LTE-M", nr: "NR"}

// cellOf is a cell of a network near a device.
func cellOf(access byte, network string, device int) domain.RadioCell {
	area, number := int64(4_000+device%40), int64(device*16+1)
	cell := domain.RadioCell{Kind: domain.CellECGI, Network: network, Area: &area, Number: &number}
	switch access {
	case utran:
		number %= 1 << 16
		cell.Kind = domain.CellSAI
	case nr:
		cell.Kind = domain.CellNCGI
	}
	return cell
}

// Stranger is a device that a gateway reports and the company does not have.
type Stranger struct {
	Live
	// IMSI is "" for one that the gateway does not state, and Number what it states as
	// the number.
	IMSI, Number string
}

// Strangers are a SIM that is not in the inventory yet, and a device that its gateway
// names by a text which is no identity.
func Strangers() []Stranger {
	of := func(device int, imsi, number string) Stranger {
		return Stranger{Live{
			Device: device, Gateway: van.gateway, Address: netip.AddrFrom4([4]byte{10, 255, 0, byte(device)}), RATType: eutran,
			Lasts: time.Hour, Up: 4_000, Down: 1_000,
		}, imsi, number}
	}
	const unknown = 999_999
	return []Stranger{of(1, imsi(operators[0], unknown), operators[0].calling+"7"+strconv.Itoa(unknown)), of(2, "", fmt.Sprint("meter-", unknown))}
}
