package bundle

import (
	"encoding/hex"
	"net/netip"
	"time"

	"simgraph/domain"
)

type sessionRecord struct {
	Type             Type     `json:"type"`
	Company          *string  `json:"company"`
	Subscriber       *string  `json:"subscriber"`
	Source           *string  `json:"source"`
	NAS              *string  `json:"nas"`
	SessionID        *string  `json:"sessionId"`
	Generation       *int64   `json:"generation"`
	PhysicalID       *string  `json:"physicalId"`
	IMSI             *string  `json:"imsi"`
	MSISDN           *string  `json:"msisdn"`
	BeganAt          *string  `json:"beganAt"`
	AsOf             *string  `json:"asOf"`
	ReportedAt       *string  `json:"reportedAt"`
	EndedAt          *string  `json:"endedAt"`
	Cause            *string  `json:"cause"`
	IntervalSeconds  *int64   `json:"intervalSeconds"`
	MobileOriginated *int64   `json:"mobileOriginated"`
	MobileTerminated *int64   `json:"mobileTerminated"`
	Reports          *int64   `json:"reports"`
	Records          *int64   `json:"records"`
	IsTransferring   *bool    `json:"isTransferring"`
	IsIncomplete     *bool    `json:"isIncomplete"`
	ClockOff         *bool    `json:"clockOff"`
	APN              *string  `json:"apn"`
	IPAddress        *string  `json:"ipAddress"`
	IPv6Prefix       *string  `json:"ipv6Prefix"`
	IMEI             *string  `json:"imei"`
	RATType          *string  `json:"ratType"`
	VisitedNetwork   *string  `json:"visitedNetwork"`
	Cell             *string  `json:"cell"`
	LatestBegin      *string  `json:"latestBegin"`
	SessionSeconds   *int64   `json:"sessionSeconds"`
	HasStart         *bool    `json:"hasStart"`
	Dating           *int64   `json:"dating"`
	ChargingID       *string  `json:"chargingId"`
	OtherSources     []string `json:"otherSources"`
	Names            []string `json:"names"`
}

func newSessionRecord(company string, s *domain.SessionImport) *sessionRecord {
	r := &sessionRecord{
		Type: Session, Company: &company, Subscriber: unlessEmpty(s.Subscriber), Source: &s.Source, NAS: unlessEmpty(s.NAS), SessionID: &s.SessionID,
		Generation: new(int64(s.Generation)), PhysicalID: unlessEmpty(s.PhysicalID), IMSI: unlessEmpty(s.IMSI), MSISDN: unlessEmpty(s.MSISDN),
		BeganAt: new(writeTime(s.BeganAt)), AsOf: new(writeTime(s.AsOf)), ReportedAt: new(writeTime(s.ReportedAt)), Cause: unlessEmpty(s.Cause),
		IntervalSeconds: new(int64(s.IntervalSeconds)), MobileOriginated: &s.MobileOriginated, MobileTerminated: &s.MobileTerminated,
		Reports: &s.Reports, Records: new(int64(s.Booked)), IsTransferring: &s.IsTransferring, IsIncomplete: &s.Decreased, ClockOff: &s.ClockOff,
		APN: unlessEmpty(s.APN), IMEI: unlessEmpty(s.IMEI), RATType: unlessEmpty(s.RATType), VisitedNetwork: unlessEmpty(s.VisitedNetwork), Cell: unlessEmpty(s.Cell),
		SessionSeconds: new(int64(s.SessionTime / time.Second)), HasStart: &s.HasStart, Dating: new(int64(s.Dating)),
	}
	r.ChargingID, r.OtherSources, r.Names = unlessEmpty(s.ChargingID), append([]string{}, s.OtherSources...), []string{}
	for _, name := range s.Names {
		r.Names = append(r.Names, hex.EncodeToString(name[:]))
	}
	if !s.LatestBegin.IsZero() {
		r.LatestBegin = new(writeTime(s.LatestBegin))
	}
	if s.EndedAt != nil {
		r.EndedAt = new(writeTime(*s.EndedAt))
	}
	if s.IPAddress.IsValid() {
		r.IPAddress = new(s.IPAddress.String())
	}
	if s.IPv6Prefix.IsValid() {
		r.IPv6Prefix = new(s.IPv6Prefix.String())
	}
	return r
}

func (r *sessionRecord) item() (Item, error) {
	var f fields
	company := need(&f, "company", r.Company)
	s := &domain.SessionImport{Subscriber: either(r.Subscriber, ""), Session: domain.Session{
		Source: need(&f, "source", r.Source), NAS: either(r.NAS, ""), SessionID: need(&f, "sessionId", r.SessionID),
		Generation: int(either(r.Generation, 0)), PhysicalID: either(r.PhysicalID, ""), IMSI: either(r.IMSI, ""), MSISDN: either(r.MSISDN, ""),
		ChargingID: either(r.ChargingID, ""), OtherSources: r.OtherSources,
		Cause: either(r.Cause, ""), IntervalSeconds: int(either(r.IntervalSeconds, 0)), Reports: need(&f, "reports", r.Reports),
		IsTransferring: either(r.IsTransferring, false), ClockOff: either(r.ClockOff, false),
		APN: either(r.APN, ""), IMEI: either(r.IMEI, ""), RATType: either(r.RATType, ""), VisitedNetwork: either(r.VisitedNetwork, ""), Cell: either(r.Cell, ""),
		Counter: domain.Counter{
			MobileOriginated: need(&f, "mobileOriginated", r.MobileOriginated), MobileTerminated: need(&f, "mobileTerminated", r.MobileTerminated),
			Booked: int(need(&f, "records", r.Records)), Decreased: either(r.IsIncomplete, false),
			SessionTime: time.Duration(either(r.SessionSeconds, 0)) * time.Second, HasStart: either(r.HasStart, false), Dating: domain.Dating(either(r.Dating, 0)),
		},
	}}
	need(&f, "beganAt", r.BeganAt)
	need(&f, "asOf", r.AsOf)
	need(&f, "reportedAt", r.ReportedAt)
	err := f.check(func() error {
		if err := r.parse(s); err != nil {
			return err
		}
		s.Identity = s.Identify()
		return s.Check()
	})
	return Item{Company: company, Value: s}, err
}

// parse reads times, addresses and names.
func (r *sessionRecord) parse(s *domain.SessionImport) (err error) {
	for _, text := range r.Names {
		name, err := hex.DecodeString(text)
		if err != nil || len(name) != len(domain.SessionIdentity{}) {
			return domain.Invalid("names", "a name of a session has 32 hexadecimal digits, not %q", clip(text))
		}
		s.Names = append(s.Names, domain.SessionIdentity(name))
	}
	for _, at := range []struct {
		name, text string
		into       *time.Time
	}{{"beganAt", *r.BeganAt, &s.BeganAt}, {"asOf", *r.AsOf, &s.AsOf}, {"reportedAt", *r.ReportedAt, &s.ReportedAt}} {
		if *at.into, err = domain.ParseInstant(at.name, at.text); err != nil {
			return err
		}
	}
	if r.LatestBegin != nil {
		if s.LatestBegin, err = domain.ParseInstant("latestBegin", *r.LatestBegin); err != nil {
			return err
		}
	}
	if r.EndedAt != nil {
		ended, err := domain.ParseInstant("endedAt", *r.EndedAt)
		if err != nil {
			return err
		}
		s.EndedAt = &ended
	}
	if r.IPAddress != nil {
		if s.IPAddress, err = netip.ParseAddr(*r.IPAddress); err != nil || s.IPAddress.Zone() != "" {
			return domain.Invalid("ipAddress", "ipAddress must be an IPv4 or IPv6 address or null, not %q", clip(*r.IPAddress))
		}
	}
	if r.IPv6Prefix != nil {
		if s.IPv6Prefix, err = netip.ParsePrefix(*r.IPv6Prefix); err != nil || s.IPv6Prefix != s.IPv6Prefix.Masked() {
			return domain.Invalid("ipv6Prefix", "ipv6Prefix must be a prefix such as 2001:db8::/64 or null, not %q", clip(*r.IPv6Prefix))
		}
	}
	return nil
}
