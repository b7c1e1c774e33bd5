package demo

import (
	"time"

	"simgraph/domain"
)

// operator returns the network of a device; profiles of one eUICC have two.
func (o Options) operator(device int) operator {
	n := classOf(device).network
	return operators[n.first+weighted(o.random(device, aboutContract), n.odds)]
}

// subscriber returns a device with its contract and its state at Until.
func (o Options) subscriber(device int) *domain.Subscriber {
	c, op := classOf(device), o.operator(device)
	r := o.random(device, aboutState)
	s := &domain.Subscriber{
		Kind: c.network.kind, PhysicalID: o.physicalID(device), OperatorCode: op.code, TariffName: &c.tariff,
		Nickname:       c.noun + " " + digits(device, 4) + " " + pick(r, towns),
		SubscriberType: domain.Physical, IsActive: true, IsBarred: percent(r, 1),
	}
	if group := pick(r, c.groups); group != 0 {
		s.GroupID = &group
	}
	o.number(s, op, device)
	o.contract(s, device)
	if o.quiet(device) || s.IsBarred || !s.IsActive || c.sessions == 0 {
		return o.card(s, device)
	}
	s.IsOnline = percent(r, 85)
	s.IsTransferring = s.IsOnline && percent(r, 30)
	return o.card(s, device)
}

// number gives the device the numbers that its network uses for it.
func (o Options) number(s *domain.Subscriber, op operator, device int) {
	switch s.Kind {
	case domain.Cellular:
		s.SubscriberID = op.calling + "7" + digits(device, 9)
		s.IMSI = imsi(op, device)
		if device%50 == 9 { // an old meter that is still dialled
			s.DataNumber = new(op.calling + "8" + digits(device, 9))
		}
	case domain.NonIP:
		s.SubscriberID = s.PhysicalID
	case domain.Satellite:
		s.SubscriberID = op.calling + "6" + digits(device, 8)
		s.IMSI = imsi(op, device)
	}
}

// contract dates the device. Some contracts were terminated.
func (o Options) contract(s *domain.Subscriber, device int) {
	r := o.random(device, aboutContract)
	r.Uint64() // decided on the operator
	months := pick(r, []int{12, 24, 24, 36, 36, 60})
	age := r.IntN(months*28) + 1
	s.ContractLength = &months
	s.ConnectionDate = o.Until.Truncate(24*time.Hour).AddDate(0, 0, -age)
	s.ExpiryDate = s.ConnectionDate.AddDate(0, months, 0)
	if o.terminated(device) {
		s.IsActive = false
		s.TerminateDate = new(s.ConnectionDate.AddDate(0, 0, r.IntN(age)))
	}
}

// card makes the subscriber an eUICC or one of its profiles where it is one.
func (o Options) card(s *domain.Subscriber, device int) *domain.Subscriber {
	if classOf(device) == &euicc {
		s.EID, s.SMDPProvider = new(eid(device)), new("Thales")
	}
	if parent, ok := parentOf(device); ok {
		s.SubscriberType, s.SMDPProvider = domain.Virtual, new("Thales")
		s.ParentPhysicalID = new(o.physicalID(parent))
		s.IsEnabledOnParent = new(classOf(device) == &enabled)
	}
	return s
}

// terminated devices have no usage any more.
func (o Options) terminated(device int) bool { return device%71 == 40 }

// quiet devices went silent some days before Until.
func (o Options) quiet(device int) bool { return device%37 == 18 }

// tags are those of the class, and some that were put on by hand.
func (o Options) tags(device int) []domain.TagName {
	r := o.random(device, aboutTags)
	names := append([]domain.TagName(nil), classOf(device).tags...)
	if percent(r, 8) {
		names = append(names, "pilot")
	}
	if percent(r, 5) {
		names = append(names, "firmware 2.1")
	}
	if percent(r, 2) {
		names = append(names, "to be replaced")
	}
	return names
}
