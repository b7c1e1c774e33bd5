package radius

import (
	"encoding/binary"
	"net"
	"net/netip"
	"strconv"
	"time"

	"layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"
	"layeh.com/radius/rfc2869"

	"simgraph/domain"
)

// Report is what a simulated gateway states in a request.
type Report struct {
	Event                              domain.SessionEvent
	NAS, SessionID                     string
	IMSI, MSISDN, IMEI, APN, Network   string
	NASAddress, Gateway                netip.Addr
	ChargingID                         uint32
	RATType                            byte
	Location                           []byte
	Address                            netip.Addr
	BeganAt, At                        time.Time
	Delay                              time.Duration
	MobileOriginated, MobileTerminated int64
}

// Packet returns the Accounting-Request with the secret.
func (r *Report) Packet(secret []byte) *radius.Packet {
	p := radius.New(radius.CodeAccountingRequest, secret)
	status := rfc2866.AcctStatusType_Value_InterimUpdate
	for code, event := range events {
		if event == r.Event {
			status = code
		}
	}
	// The setters fail for texts of more than 253 bytes only, which no report has.
	_ = rfc2866.AcctStatusType_Set(p, status)
	if r.NAS != "" {
		_ = rfc2865.NASIdentifier_SetString(p, r.NAS)
	}
	if r.NASAddress.Is4() {
		_ = rfc2865.NASIPAddress_Set(p, net.IP(r.NASAddress.AsSlice()))
	}
	_ = rfc2866.AcctSessionID_SetString(p, r.SessionID)
	_ = rfc2865.CallingStationID_SetString(p, r.MSISDN)
	_ = rfc2865.CalledStationID_SetString(p, r.APN)
	_ = rfc2869.EventTimestamp_Set(p, r.At)
	_ = rfc2866.AcctDelayTime_Set(p, rfc2866.AcctDelayTime(r.Delay/time.Second))
	_ = rfc2866.AcctSessionTime_Set(p, rfc2866.AcctSessionTime(r.At.Sub(r.BeganAt)/time.Second))
	if r.Address.Is4() {
		_ = rfc2865.FramedIPAddress_Set(p, net.IP(r.Address.AsSlice()))
	}
	_ = rfc2866.AcctInputOctets_Set(p, rfc2866.AcctInputOctets(uint32(r.MobileOriginated)))
	_ = rfc2869.AcctInputGigawords_Set(p, rfc2869.AcctInputGigawords(uint32(r.MobileOriginated>>32)))
	_ = rfc2866.AcctOutputOctets_Set(p, rfc2866.AcctOutputOctets(uint32(r.MobileTerminated)))
	_ = rfc2869.AcctOutputGigawords_Set(p, rfc2869.AcctOutputGigawords(uint32(r.MobileTerminated>>32)))
	if r.Event == domain.SessionStopped {
		_ = rfc2866.AcctTerminateCause_Set(p, rfc2866.AcctTerminateCause_Value_UserRequest)
	}
	for of, value := range map[byte]string{
		imsiType: r.IMSI, sgsnNetworkType: r.Network, imeisvType: r.IMEI, ratTypeType: string(rune(r.RATType)), locationType: string(r.Location),
	} {
		if value != "" && value != "\x00" {
			addVendor(p, of, value)
		}
	}
	if r.Gateway.Is4() {
		addVendor(p, ggsnAddressType, string(r.Gateway.AsSlice()))
		addVendor(p, chargingIDType, string(binary.BigEndian.AppendUint32(nil, r.ChargingID)))
	}
	return p
}

func addVendor(p *radius.Packet, of byte, value string) {
	b := binary.BigEndian.AppendUint32(nil, vendor3GPP)
	b = append(b, of, byte(attributeHead+len(value)))
	p.Add(rfc2865.VendorSpecific_Type, append(b, value...))
}

// Restarted returns the Accounting-On of a network element that starts.
func Restarted(nas string, at time.Time, secret []byte) *radius.Packet {
	p := radius.New(radius.CodeAccountingRequest, secret)
	_ = rfc2866.AcctStatusType_Set(p, accountingOn)
	_ = rfc2865.NASIdentifier_SetString(p, nas)
	_ = rfc2866.AcctSessionID_SetString(p, strconv.FormatInt(at.Unix(), 16))
	_ = rfc2869.EventTimestamp_Set(p, at)
	return p
}
