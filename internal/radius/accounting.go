package radius

import (
	"fmt"
	"net/netip"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
	"layeh.com/radius/rfc2869"
	"layeh.com/radius/rfc3162"

	"simgraph/domain"
)

// Accounting-On and -Off (RFC 2866 §5.1).
const (
	accountingOn  = rfc2866.AcctStatusType_Value_AccountingOn
	accountingOff = rfc2866.AcctStatusType_Value_AccountingOff
)

// read returns what an authentic request states. arrived is when it came.
func (r *request) read(arrived time.Time) domain.Accounting {
	a := domain.Accounting{NAS: r.nas(), At: arrived}
	at, dating, clockOff := r.time(arrived)
	a.At = at
	switch status, err := rfc2866.AcctStatusType_Lookup(r.Packet); {
	case r.broken:
		a.Unusable = "an attribute is malformed"
	case err != nil:
		a.Unusable = "Acct-Status-Type is missing"
	case a.NAS == "":
		a.Unusable = "NAS-IP-Address and NAS-Identifier are missing"
	case status == accountingOn || status == accountingOff:
		a.Restarted = true
		if arrived.Sub(at) > longestDelay { // it has no clock yet
			a.At = arrived.Add(-r.delay())
		}
	default:
		event, known := events[status]
		if !known {
			a.Unusable = fmt.Sprintf("Acct-Status-Type %d is not supported", status)
			return a
		}
		var why defect
		g := r.threeGPP()
		of, unknown := r.subscriber(g)
		if unknown.reason == noSubscriber {
			if a.FixedAddresses = r.framed(); len(a.FixedAddresses) > 0 {
				unknown.reason = ""
			}
		}
		a.Record, why = r.record(event, a, g, of, unknown)
		a.DialledNumber, a.Unusable, a.Found = of.dialled, why.reason, why.found
		a.Record.Report.SentAt, a.Record.Report.ClockOff, a.Record.Report.Dating = r.sent(arrived, at), clockOff, dating
	}
	return a
}

var events = map[rfc2866.AcctStatusType]domain.SessionEvent{
	rfc2866.AcctStatusType_Value_Start:         domain.SessionStarted,
	rfc2866.AcctStatusType_Value_InterimUpdate: domain.SessionUpdated,
	rfc2866.AcctStatusType_Value_Stop:          domain.SessionStopped,
}

// record returns the cumulative record of a subscriber, or why there is none.
func (r *request) record(event domain.SessionEvent, a domain.Accounting, g vendorAttributes, of subscriber, unknown defect) (domain.UsageRecord, defect) {
	record := domain.UsageRecord{
		PhysicalID: of.iccid, IMSI: of.imsi, MSISDN: of.msisdn, IMSIDecides: true, EndedAt: a.At, Protocol: domain.DefaultProtocol,
		Report: &domain.SessionReport{
			Event: event, NAS: a.NAS, NASAddress: r.nasAddress(),
			APN: text(rfc2865.CalledStationID_GetString(r.Packet)), IMEI: digits(g.text(imeisvType)),
			RATType: g.ratType(), VisitedNetwork: digits(g.text(sgsnNetworkType)), Cell: g.cell(),
		},
	}
	if r.identify(g, &record); record.SessionID == "" {
		return record, defect{reason: "Acct-Session-Id is missing"}
	}
	if unknown.reason != "" {
		return record, unknown
	}
	if ip := r.Get(rfc2865.FramedIPAddress_Type); len(ip) == 4 {
		record.IPAddress = netip.AddrFrom4([4]byte(ip))
	}
	record.Report.IPv6Prefix = r.ipv6Prefix()
	if event == domain.SessionStopped {
		record.Report.Cause = r.cause()
	}
	record.StartedAt = r.began(event, a.At)
	var err error
	if record.MobileOriginated, err = r.octets(rfc2866.AcctInputOctets_Type, rfc2869.AcctInputGigawords_Type); err != nil {
		return record, defect{err.Error(), r.foundAt(rfc2866.AcctInputOctets_Type, rfc2869.AcctInputGigawords_Type)}
	}
	if record.MobileTerminated, err = r.octets(rfc2866.AcctOutputOctets_Type, rfc2869.AcctOutputGigawords_Type); err != nil {
		return record, defect{err.Error(), r.foundAt(rfc2866.AcctOutputOctets_Type, rfc2869.AcctOutputGigawords_Type)}
	}
	return record, unknown
}

// nas names the network element: NAS-Identifier, or else its address.
func (r *request) nas() string {
	if id := text(rfc2865.NASIdentifier_GetString(r.Packet)); id != "" {
		return id
	}
	return r.nasAddress()
}

// nasAddress is the address that the network element states, which need not be that of
// the sender.
func (r *request) nasAddress() string {
	if ip := r.Get(rfc2865.NASIPAddress_Type); len(ip) == 4 {
		return netip.AddrFrom4([4]byte(ip)).String()
	}
	if ip := r.Get(rfc3162.NASIPv6Address_Type); len(ip) == 16 {
		return netip.AddrFrom16([16]byte(ip)).String()
	}
	return ""
}

// identify sets the ids of the session, which are unique for a subscriber and a client: a
// charging id where there is one, since Acct-Session-Id alone may come again. The others
// are those that requests with less attributes have: Acct-Session-Id with each name of
// the network element.
func (r *request) identify(g vendorAttributes, record *domain.UsageRecord) {
	report := record.Report
	var ids []string
	if id, gateway := g[chargingIDType], g[ggsnAddressType]; len(id) == 4 && len(gateway) == 4 {
		report.ChargingID = fmt.Sprintf("%s/%x", netip.AddrFrom4([4]byte(gateway)), id)
		ids = append(ids, short(report.NAS)+"/"+report.ChargingID)
	}
	if id := text(rfc2866.AcctSessionID_GetString(r.Packet)); id != "" {
		ids = append(ids, short(report.NAS)+"/"+short(id))
		if report.NASAddress != "" && report.NASAddress != report.NAS {
			ids = append(ids, short(report.NASAddress)+"/"+short(id))
		}
	}
	if len(ids) > 0 {
		record.SessionID, report.OtherIDs = ids[0], ids[1:]
	}
}

// time is when the request states that it was made. A clock that is ahead by more
// than the tolerance is not believed: refusing its requests would stop the feed. One
// that is behind is: the request may have waited in a buffer. A request that waited at
// its sender is not behind, since Acct-Delay-Time grows, and it may grow by more than
// the time that passed: FreeRADIUS adds the whole age of a request that it had on its
// disk to what the sender stated.
func (r *request) time(arrived time.Time) (at time.Time, dating domain.Dating, clockOff bool) {
	delay := r.delay()
	if delay > longestDelay {
		return arrived, domain.DatingArrival, true
	}
	sent := arrived.Add(-delay)
	at, err := rfc2869.EventTimestamp_Lookup(r.Packet)
	switch {
	case err != nil:
		return sent, domain.DatingArrival, false
	case at.After(arrived.Add(domain.ClockTolerance)):
		return sent, domain.DatingArrival, true
	case at.Before(sent.Add(-domain.ClockTolerance)):
		return at, domain.DatingStated, false
	}
	return at, domain.DatingConfirmed, false
}

// sent is when the request was sent by the clock of the receiver: no earlier than it
// was made.
func (r *request) sent(arrived, at time.Time) time.Time {
	sent := arrived.Add(-r.delay())
	if at.After(sent) && at.Before(arrived) {
		return at
	}
	return sent
}

// delay is how long the request waited at its sender.
func (r *request) delay() time.Duration {
	seconds, _ := rfc2866.AcctDelayTime_Lookup(r.Packet)
	return time.Duration(seconds) * time.Second
}

// longestDelay bounds how long a request waits at its sender.
const longestDelay = 31 * 24 * time.Hour

// began is when the session began; zero where that is not stated.
func (r *request) began(event domain.SessionEvent, at time.Time) time.Time {
	if event == domain.SessionStarted {
		return at
	}
	seconds, err := rfc2866.AcctSessionTime_Lookup(r.Packet)
	if err != nil {
		return time.Time{}
	}
	return at.Add(-time.Duration(seconds) * time.Second)
}

// octets is a counter with its gigawords: how often it passed 2^32.
func (r *request) octets(low, high radius.Type) (int64, error) {
	n := int64(0)
	for _, part := range []struct {
		radius.Type
		shift int
	}{{low, 0}, {high, 32}} {
		value, ok := r.Lookup(part.Type)
		if !ok {
			continue
		}
		count, err := radius.Integer(value)
		if err != nil {
			return 0, fmt.Errorf("attribute %d is no number", part.Type)
		}
		if n += int64(count) << part.shift; n < 0 || n > domain.MaxCounter {
			return 0, fmt.Errorf("attribute %d is too high", part.Type)
		}
	}
	return n, nil
}

func (r *request) cause() string {
	cause, err := rfc2866.AcctTerminateCause_Lookup(r.Packet)
	if err != nil {
		return ""
	}
	return text(cause.String())
}

func (r *request) ipv6Prefix() netip.Prefix {
	network, err := radius.IPv6Prefix(r.Get(rfc3162.FramedIPv6Prefix_Type))
	if err != nil {
		return netip.Prefix{}
	}
	address, _ := netip.AddrFromSlice(network.IP)
	bits, _ := network.Mask.Size()
	return netip.PrefixFrom(address, bits).Masked()
}
