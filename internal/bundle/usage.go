package bundle

import "simgraph/domain"

type usageRecord struct {
	Type             Type    `json:"type"`
	Company          *string `json:"company"`
	Source           *string `json:"source"`
	RecordID         *string `json:"recordId"`
	PhysicalID       *string `json:"physicalId"`
	IMSI             *string `json:"imsi,omitempty"`
	MSISDN           *string `json:"msisdn,omitempty"`
	SubscriberID     *string `json:"subscriberId,omitempty"`
	SessionID        *string `json:"sessionId"`
	Sequence         *int64  `json:"sequence"`
	StartedAt        *string `json:"startedAt"`
	EndedAt          *string `json:"endedAt"`
	MobileOriginated *int64  `json:"mobileOriginated"`
	MobileTerminated *int64  `json:"mobileTerminated"`
	Protocol         *string `json:"protocol"`
	IPAddress        *string `json:"ipAddress"`
	Counters         *string `json:"counters,omitempty"`
	Event            *string `json:"event,omitempty"`
	Cause            *string `json:"cause,omitempty"`
	APN              *string `json:"apn,omitempty"`
	RATType          *string `json:"ratType,omitempty"`
	IMEI             *string `json:"imei,omitempty"`
	VisitedNetwork   *string `json:"visitedNetwork,omitempty"`
	NAS              *string `json:"nas,omitempty"`
}

// newUsageRecord writes null for an id that the source did not give. Of a session it
// writes the id alone: sessions have lines of their own.
func newUsageRecord(company string, u domain.UsageRecord) *usageRecord {
	r := &usageRecord{
		Type: Usage, Company: &company, Source: &u.Source, RecordID: unlessEmpty(u.RecordID), PhysicalID: unlessEmpty(u.PhysicalID),
		IMSI: unlessEmpty(u.IMSI), SubscriberID: unlessEmpty(u.MSISDN),
		SessionID: unlessEmpty(u.SessionID), Sequence: new(int64(u.Sequence)),
		StartedAt: new(writeTime(u.StartedAt)), EndedAt: new(writeTime(u.EndedAt)),
		MobileOriginated: &u.MobileOriginated, MobileTerminated: &u.MobileTerminated, Protocol: &u.Protocol,
	}
	if u.IPAddress.IsValid() {
		r.IPAddress = new(u.IPAddress.String())
	}
	return r
}

func unlessEmpty(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// item leaves the rules of usage to the ledger, which has the clock.
func (r *usageRecord) item() (Item, error) {
	var f fields
	company := need(&f, "company", r.Company)
	u := domain.UsageRecord{
		Source: need(&f, "source", r.Source), RecordID: either(r.RecordID, ""),
		MobileOriginated: need(&f, "mobileOriginated", r.MobileOriginated),
		MobileTerminated: need(&f, "mobileTerminated", r.MobileTerminated),
	}
	need(&f, "startedAt", r.StartedAt)
	need(&f, "endedAt", r.EndedAt)
	err := f.check(func() error { return r.parse(&u) })
	return Item{Company: company, Value: u}, err
}

func (r *usageRecord) parse(u *domain.UsageRecord) (err error) {
	if u.StartedAt, err = domain.ParseInstant("startedAt", *r.StartedAt); err != nil {
		return err
	}
	if u.EndedAt, err = domain.ParseInstant("endedAt", *r.EndedAt); err != nil {
		return err
	}
	u.Sequence = int(either(r.Sequence, 0))
	of := domain.UsageFields{
		PhysicalID: either(r.PhysicalID, ""), IMSI: either(r.IMSI, ""), MSISDN: either(r.MSISDN, ""), SubscriberID: either(r.SubscriberID, ""),
		SessionID: either(r.SessionID, ""), Event: domain.UsageEvent(either(r.Event, "")), Cause: either(r.Cause, ""), APN: either(r.APN, ""),
		RATType: either(r.RATType, ""), IMEI: either(r.IMEI, ""), VisitedNetwork: either(r.VisitedNetwork, ""), NAS: either(r.NAS, ""),
		IPAddress: either(r.IPAddress, ""), Protocol: either(r.Protocol, ""), Counters: domain.UsageCounters(either(r.Counters, "")),
	}
	*u, err = of.Complete(*u)
	return err
}
