package bundle

import (
	"net/netip"

	"simgraph/domain"
)

type usageRecord struct {
	Type             Type    `json:"type"`
	Company          *string `json:"company"`
	Source           *string `json:"source"`
	RecordID         *string `json:"recordId"`
	PhysicalID       *string `json:"physicalId"`
	SessionID        *string `json:"sessionId"`
	Sequence         *int64  `json:"sequence"`
	StartedAt        *string `json:"startedAt"`
	EndedAt          *string `json:"endedAt"`
	MobileOriginated *int64  `json:"mobileOriginated"`
	MobileTerminated *int64  `json:"mobileTerminated"`
	Protocol         *string `json:"protocol"`
	IPAddress        *string `json:"ipAddress"`
	Counters         *string `json:"counters,omitempty"`
}

// newUsageRecord writes null for an id that the source did not give.
func newUsageRecord(company string, u domain.UsageRecord) *usageRecord {
	r := &usageRecord{
		Type: Usage, Company: &company, Source: &u.Source, RecordID: unlessEmpty(u.RecordID), PhysicalID: &u.PhysicalID,
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
		Source: need(&f, "source", r.Source), RecordID: either(r.RecordID, ""), PhysicalID: need(&f, "physicalId", r.PhysicalID),
		SessionID: either(r.SessionID, ""), Protocol: need(&f, "protocol", r.Protocol),
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
	if r.IPAddress != nil {
		if u.IPAddress, err = netip.ParseAddr(*r.IPAddress); err != nil || u.IPAddress.Zone() != "" {
			return domain.Invalid("ipAddress", "ipAddress must be an IPv4 or IPv6 address or null, not %q", clip(*r.IPAddress))
		}
	}
	*u, err = domain.UsageCounters(either(r.Counters, "")).Of(*u)
	return err
}
