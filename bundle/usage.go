package bundle

import (
	"iter"
	"slices"
	"time"

	"simgraph/domain"
)

type UsageRecord struct {
	Source, RecordID, PhysicalID, SessionID string
	Sequence                                int64
	StartedAt, EndedAt                      time.Time
	MobileOriginated, MobileTerminated      int64
	Protocol                                string
	IPAddress                               *string
}

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
}

// required names the fields that must be there.
func (*usageRecord) required() iter.Seq[string] {
	return slices.Values([]string{"company", "physicalId", "startedAt", "endedAt", "mobileOriginated", "mobileTerminated"})
}

func newUsageRecord(company string, u *UsageRecord) *usageRecord {
	return &usageRecord{
		Usage, &company, &u.Source, &u.RecordID, &u.PhysicalID, &u.SessionID, &u.Sequence, new(writeTime(u.StartedAt)),
		new(writeTime(u.EndedAt)), &u.MobileOriginated, &u.MobileTerminated, &u.Protocol, u.IPAddress,
	}
}

func (r *usageRecord) item() (Item, error) {
	var f fields
	company := need(&f, "company", r.Company)
	u := &UsageRecord{
		Source: either(r.Source, ""), RecordID: either(r.RecordID, ""), PhysicalID: need(&f, "physicalId", r.PhysicalID),
	}
	return Item{Company: company, Value: u}, f.check(func() error { return domain.CheckPhysicalID(u.PhysicalID) })
}
