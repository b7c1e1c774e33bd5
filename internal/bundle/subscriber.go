package bundle

import (
	"time"

	"simgraph/domain"
)

type subscriberRecord struct {
	Type           Type          `json:"type"`
	Company        *string       `json:"company"`
	Kind           *string       `json:"kind"`
	PhysicalID     *string       `json:"physicalId"`
	SubscriberID   *string       `json:"subscriberId"`
	DataNumber     *string       `json:"dataNumber"`
	IMSI           *string       `json:"imsi"`
	Nickname       *string       `json:"nickname"`
	OperatorCode   *string       `json:"operatorCode"`
	TariffName     *string       `json:"tariffName"`
	ConnectionDate *string       `json:"connectionDate"`
	ExpiryDate     *string       `json:"expiryDate"`
	ContractLength *int          `json:"contractLength"`
	IsBarred       *bool         `json:"isBarred"`
	IsActive       *bool         `json:"isActive"`
	TerminateDate  *string       `json:"terminateDate"`
	GroupID        *int64        `json:"groupId"`
	SubscriberType *string       `json:"subscriberType"`
	NetworkState   *networkState `json:"networkState"`
	EID            *string       `json:"eid"`
	SMDPProvider   *string       `json:"smdpProvider"`
	Parent         *parent       `json:"parent"`
	FixedIPAddress *string       `json:"fixedIpAddress,omitempty"`
}

type networkState struct {
	IsTransferring *bool `json:"isTransferring"`
	IsOnline       *bool `json:"isOnline"`
}

type parent struct {
	PhysicalID        *string `json:"physicalId"`
	IsEnabledOnParent *bool   `json:"isEnabledOnParent"`
}

func newSubscriberRecord(company string, s *domain.Subscriber) *subscriberRecord {
	r := &subscriberRecord{
		Type: Subscriber, Company: &company, Kind: (*string)(&s.Kind), PhysicalID: &s.PhysicalID, SubscriberID: &s.SubscriberID,
		DataNumber: s.DataNumber, IMSI: &s.IMSI, Nickname: &s.Nickname, OperatorCode: &s.OperatorCode, TariffName: s.TariffName,
		ConnectionDate: new(writeTime(s.ConnectionDate)), ExpiryDate: new(writeTime(s.ExpiryDate)), ContractLength: s.ContractLength,
		IsBarred: &s.IsBarred, IsActive: &s.IsActive, GroupID: s.GroupID, SubscriberType: (*string)(&s.SubscriberType),
		NetworkState: &networkState{&s.IsTransferring, &s.IsOnline}, EID: s.EID, SMDPProvider: s.SMDPProvider, FixedIPAddress: s.FixedIPAddress,
	}
	if s.TerminateDate != nil {
		r.TerminateDate = new(writeTime(*s.TerminateDate))
	}
	if s.ParentPhysicalID != nil {
		r.Parent = &parent{s.ParentPhysicalID, s.IsEnabledOnParent}
	}
	return r
}

func (r *subscriberRecord) item() (Item, error) {
	var f fields
	company := need(&f, "company", r.Company)
	s := &domain.Subscriber{
		Kind: domain.Kind(need(&f, "kind", r.Kind)), PhysicalID: need(&f, "physicalId", r.PhysicalID),
		SubscriberID: need(&f, "subscriberId", r.SubscriberID), DataNumber: r.DataNumber, IMSI: either(r.IMSI, ""),
		Nickname: need(&f, "nickname", r.Nickname), OperatorCode: need(&f, "operatorCode", r.OperatorCode),
		TariffName: new(need(&f, "tariffName", r.TariffName)), ContractLength: new(need(&f, "contractLength", r.ContractLength)),
		IsBarred: need(&f, "isBarred", r.IsBarred), IsActive: need(&f, "isActive", r.IsActive), GroupID: r.GroupID,
		SubscriberType: domain.SubscriberType(need(&f, "subscriberType", r.SubscriberType)), EID: r.EID, SMDPProvider: r.SMDPProvider,
	}
	need(&f, "connectionDate", r.ConnectionDate)
	need(&f, "expiryDate", r.ExpiryDate)
	state := need(&f, "networkState", r.NetworkState)
	if r.NetworkState != nil {
		s.IsTransferring = need(&f, "networkState.isTransferring", state.IsTransferring)
		s.IsOnline = need(&f, "networkState.isOnline", state.IsOnline)
	}
	if r.Parent != nil {
		s.ParentPhysicalID = new(need(&f, "parent.physicalId", r.Parent.PhysicalID))
		s.IsEnabledOnParent = new(need(&f, "parent.isEnabledOnParent", r.Parent.IsEnabledOnParent))
	}
	return Item{Company: company, Value: s}, f.check(func() (err error) {
		if err := r.dates(s); err != nil {
			return err
		}
		if s.Nickname, err = domain.NewNickname(s.Nickname); err != nil {
			return err
		}
		if r.FixedIPAddress != nil {
			address, err := domain.NewFixedIPAddress(*r.FixedIPAddress)
			if err != nil {
				return err
			}
			s.FixedIPAddress = &address
		}
		return s.Check()
	})
}

func (r *subscriberRecord) dates(s *domain.Subscriber) (err error) {
	if s.ConnectionDate, err = domain.ParseInstant("connectionDate", *r.ConnectionDate); err != nil {
		return err
	}
	if s.ExpiryDate, err = domain.ParseInstant("expiryDate", *r.ExpiryDate); err != nil {
		return err
	}
	if r.TerminateDate == nil {
		return nil
	}
	at, err := domain.ParseInstant("terminateDate", *r.TerminateDate)
	s.TerminateDate = &at
	return err
}

func writeTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
