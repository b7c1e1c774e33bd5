package domain

import (
	"cmp"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"time"
)

// SessionEvent is what a report means for its session.
type SessionEvent string

// The events. A report without one, of a source that has none, is an update.
const (
	SessionStarted SessionEvent = "start"
	SessionUpdated SessionEvent = "update"
	SessionStopped SessionEvent = "stop"
)

// Causes of the end of a session that no network element reports. The others are
// the values of Acct-Terminate-Cause, such as User-Request.
const (
	// CauseTimeout: nothing was reported of the session for three intervals.
	CauseTimeout = "Timeout"
	// CauseRestart: the network element restarted, and lost the session.
	CauseRestart = "NAS-Restart"
)

const (
	// IntervalsMissed is how many intervals without a report end a session.
	IntervalsMissed = 3
	// IntervalsTransferring is how long a subscriber counts as transferring after
	// its counter was raised.
	IntervalsTransferring = 2
	// MinInterval is the least interval of reports that is believed.
	MinInterval = 10 * time.Second
)

// SessionReport is what a record states of its session beside the bytes. Texts are ""
// for what is not reported.
type SessionReport struct {
	// IsDelta is set where the bytes count since the report before.
	IsDelta bool
	Event   SessionEvent
	// Cause is why the session ended.
	Cause string
	// NAS is the network element below the source, such as a gateway. NASAddress is its
	// address where that is stated, which NAS may be too.
	NAS, NASAddress string
	// OtherIDs are ids beside SessionID that the session has with the source: reports of
	// a session need not have the same attributes.
	OtherIDs []string
	// ChargingID is what the gateway charges by, which all sources that report the
	// session have in common.
	ChargingID string
	APN        string
	// IPv6Prefix is the zero Prefix for none.
	IPv6Prefix netip.Prefix
	// IMEI is that of the device, with its software version where that is reported.
	IMEI string
	// RATType is the radio access, such as EUTRAN.
	RATType string
	// VisitedNetwork is MCC and MNC, such as 23415.
	VisitedNetwork string
	// Cell is where the device is, as a RadioCell is written.
	Cell string
	// SentAt is when the report was sent, by the clock of the receiver; zero for now.
	SentAt time.Time
	// Dating is how far the time can be believed.
	Dating Dating
	// ClockOff is set when the time is that of the arrival, since the one that was
	// reported is not believable.
	ClockOff bool
}

// Subscriber is the subscriber as the source names it.
func (r *UsageRecord) Subscriber() string {
	switch {
	case r.PhysicalID != "":
		return r.PhysicalID
	case r.IMSI != "":
		return "imsi " + r.IMSI
	case r.MSISDN != "":
		return "msisdn " + r.MSISDN
	}
	return ""
}

// From is the time that has to lie within the ledger.
func (r *UsageRecord) From() time.Time {
	if r.IsCumulative() {
		return r.EndedAt
	}
	return r.StartedAt
}

// Session returns the identity of the session of a record with a Report.
func (r *UsageRecord) Session() SessionIdentity {
	return IdentifySession(r.Source, r.Subscriber(), r.SessionID)
}

// Names returns the identities that the session of a record with a Report may have been
// given by reports with other attributes, the surest first; Session is one of them.
func (r *UsageRecord) Names() []SessionIdentity {
	var subscribers []string
	if r.PhysicalID != "" {
		subscribers = append(subscribers, r.PhysicalID)
	}
	if r.IMSI != "" {
		subscribers = append(subscribers, "imsi "+r.IMSI)
	}
	if r.MSISDN != "" {
		subscribers = append(subscribers, "msisdn "+r.MSISDN)
	}
	var names []SessionIdentity
	if r.Report.ChargingID != "" {
		for _, s := range subscribers {
			names = append(names, chargedSession(s, r.Report.ChargingID))
		}
	}
	names = append(names, r.Session())
	for _, id := range append([]string{r.SessionID}, r.Report.OtherIDs...) {
		for _, s := range subscribers {
			if name := IdentifySession(r.Source, s, id); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// Reading returns the counter of a cumulative record.
func (r *UsageRecord) Reading() Reading {
	opens := r.Report.Event == "" && r.StartedAt.Equal(r.EndedAt) && r.MobileOriginated+r.MobileTerminated == 0
	return Reading{
		BeganAt: r.StartedAt, AsOf: r.EndedAt, Dating: r.Report.Dating, IsStart: opens || r.Report.Event == SessionStarted,
		MobileOriginated: r.MobileOriginated, MobileTerminated: r.MobileTerminated,
	}
}

// Booked returns the records of the ledger for a difference of a cumulative record: one
// for each hour and billing period between the two reports, with the bytes that fall to
// it by time. Their time begins no earlier than the ledger, and spans at most
// MaxUsageSpan. They have the source and id of the session, whichever source reports it.
// Each generation after the first is a session of its own in the ledger.
func (r UsageRecord) Booked(d Difference, of *Session, oldest time.Time, billing Billing) []UsageRecord {
	id := of.Identity.RecordID(of.Generation, &of.Counter)
	r.Source, r.SessionID = of.Source, of.SessionID
	if of.Generation > 0 {
		r.SessionID = of.Identity.generation(of.Generation)
	}
	d.From = Later(Later(Later(d.From, r.StartedAt), d.To.Add(-MaxUsageSpan)), oldest)
	var records []UsageRecord
	for i, part := range d.spread(billing) {
		r.RecordID, r.StartedAt, r.EndedAt, r.Sequence = id, part.From, part.To, d.Sequence+i
		if i > 0 {
			r.RecordID = id + "-" + strconv.Itoa(i)
		}
		r.MobileOriginated, r.MobileTerminated = part.MobileOriginated, part.MobileTerminated
		records = append(records, r)
	}
	of.Booked += len(records) - 1
	return records
}

// Session is a generation of a session, as it was reported so far. Texts are ""
// for what was not reported.
type Session struct {
	Identity   SessionIdentity
	Generation int
	// SubscriberKey is nil as long as the subscriber is not known.
	SubscriberKey *int64
	// Source reported it first, and NAS is the network element below it.
	Source, NAS, SessionID string
	// OtherSources report it, too.
	OtherSources []string
	// ChargingID is what the gateway charges by; "" as long as that is not reported.
	ChargingID string
	// PhysicalID, IMSI and MSISDN are how the source names the subscriber.
	PhysicalID, IMSI, MSISDN string
	Counter
	// ReportedAt is when the newest report was sent.
	ReportedAt time.Time
	// IntervalSeconds is the time between the newest two reports; 0 before the second.
	IntervalSeconds int
	// EndedAt is nil while the session is open.
	EndedAt *time.Time
	// Cause is why it ended.
	Cause   string
	Reports int64
	// IsTransferring is set when the newest report had more bytes than the one before.
	IsTransferring bool
	// ClockOff is set when a time of the network element was not believable.
	ClockOff   bool
	APN        string
	IPAddress  netip.Addr
	IPv6Prefix netip.Prefix
	IMEI       string
	RATType    string
	// VisitedNetwork is MCC and MNC.
	VisitedNetwork string
	// Cell is where the device was last, as a RadioCell is written.
	Cell string
}

// NewSession returns the session of a record before it is reported.
func NewSession(r *UsageRecord, generation int) *Session {
	return &Session{
		Identity: r.Session(), Generation: generation, Source: r.Source, NAS: r.Report.NAS, SessionID: r.SessionID,
		PhysicalID: r.PhysicalID, IMSI: r.IMSI, MSISDN: r.MSISDN, Counter: *NewCounter(r.Reading()),
	}
}

// Next returns the generation that begins with a record. What identifies the session
// stays as its first record stated it.
func (s *Session) Next(r *UsageRecord) *Session {
	next := NewSession(r, s.Generation+1)
	next.Identity, next.Source, next.NAS, next.SessionID = s.Identity, s.Source, s.NAS, s.SessionID
	next.PhysicalID, next.IMSI, next.MSISDN = s.PhysicalID, s.IMSI, s.MSISDN
	next.OtherSources, next.ChargingID = s.OtherSources, s.ChargingID
	return next
}

// IsNamedBy reports whether the record names the subscriber as the first of the session did.
func (s *Session) IsNamedBy(r *UsageRecord) bool {
	first := UsageRecord{PhysicalID: s.PhysicalID, IMSI: s.IMSI, MSISDN: s.MSISDN}
	return first.Subscriber() == r.Subscriber()
}

// maxOtherSources bounds the sources that a session names beside its first.
const maxOtherSources = 8

// IsOf reports whether a record that shares a name with the session can be of it: what
// both state of the bearer and of the subscriber is the same, and network elements that
// have the same address do not state different identifiers. Sources may name network
// elements in different ways.
func (s *Session) IsOf(r *UsageRecord) bool {
	differ := func(x, y string) bool { return x != "" && y != "" && x != y }
	switch {
	case differ(s.ChargingID, r.Report.ChargingID), differ(s.IMSI, r.IMSI), differ(s.PhysicalID, r.PhysicalID):
		return false
	case s.Source != r.Source, s.ChargingID != "" && s.ChargingID == r.Report.ChargingID:
		return true
	}
	return s.NAS == r.Report.NAS || s.NAS == r.Report.NASAddress || r.Report.NAS == r.Report.NASAddress
}

// Report adds a cumulative record that arrived at a time. It returns what that adds
// to the ledger, if anything; an error changes nothing.
func (s *Session) Report(r *UsageRecord, arrived time.Time) (d Difference, raised bool, err error) {
	next := s.Counter
	if d, raised = next.Raise(r.Reading()); raised {
		if err := d.Check(); err != nil {
			return d, false, err
		}
	}
	s.take(r, next, raised && d.MobileOriginated+d.MobileTerminated > 0, arrived)
	return d, raised, nil
}

// IsFollowedBy reports whether a record whose bytes are a difference begins another
// generation: the session has begun and ended before it.
func (s *Session) IsFollowedBy(r *UsageRecord) bool {
	return r.Report.Event == SessionStarted && r.EndedAt.After(s.AsOf) && (s.EndedAt != nil || s.HasStart)
}

// Add adds a record whose bytes are a difference, and which is new to the ledger.
func (s *Session) Add(r *UsageRecord, arrived time.Time) {
	next := s.Counter
	next.MobileOriginated = min(next.MobileOriginated+r.MobileOriginated, MaxCounter)
	next.MobileTerminated = min(next.MobileTerminated+r.MobileTerminated, MaxCounter)
	next.Booked++
	next.AsOf = Later(next.AsOf, r.EndedAt)
	if r.StartedAt.Before(next.BeganAt) {
		next.BeganAt = r.StartedAt
	}
	next.HasStart = next.HasStart || r.Report.Event == SessionStarted
	s.take(r, next, r.MobileOriginated+r.MobileTerminated > 0, arrived)
}

// take takes over the counter after a record, and what the record states.
func (s *Session) take(r *UsageRecord, next Counter, transferred bool, arrived time.Time) {
	newest := s.Reports == 0 || r.EndedAt.After(s.AsOf)
	if gap := r.EndedAt.Sub(s.AsOf); newest && s.Reports > 0 && gap >= MinInterval {
		s.IntervalSeconds = int(min(gap, MaxUsageSpan) / time.Second)
	}
	s.Counter = next
	s.Reports++
	s.ClockOff = s.ClockOff || r.Report.ClockOff
	s.ChargingID = cmp.Or(s.ChargingID, r.Report.ChargingID)
	if r.Source != s.Source && !slices.Contains(s.OtherSources, r.Source) && len(s.OtherSources) < maxOtherSources {
		s.OtherSources = append(slices.Clip(s.OtherSources), r.Source)
	}
	s.describe(r, newest)
	s.follow(r, newest, transferred, arrived)
}

// SessionValues are what a report states that alerts on changes compare, of a bearer
// with an APN. Texts are "" for what it does not state.
type SessionValues struct {
	AsOf                                        time.Time
	APN, IMEI, Address, RATType, VisitedNetwork string
}

func (v *SessionValues) isEmpty() bool {
	return v.IMEI == "" && v.Address == "" && v.RATType == "" && v.VisitedNetwork == ""
}

// Values are those that the session has. An address of IPv6 counts where there is none
// of IPv4.
func (s *Session) Values() SessionValues {
	v := SessionValues{AsOf: s.AsOf, APN: s.APN, IMEI: s.IMEI, RATType: s.RATType, VisitedNetwork: s.VisitedNetwork}
	if s.IPAddress.IsValid() {
		v.Address = s.IPAddress.String()
	} else if s.IPv6Prefix.IsValid() {
		v.Address = s.IPv6Prefix.String()
	}
	return v
}

// NewValues returns what a record states that the session does not have. Call it before
// Report takes that over. After a late record the session has what it had, which follows.
func (s *Session) NewValues(r *UsageRecord) []SessionValues {
	has := s.Values()
	of := Session{
		Counter: Counter{AsOf: r.EndedAt}, APN: r.Report.APN, IPAddress: r.IPAddress, IMEI: r.Report.IMEI, RATType: r.Report.RATType,
		VisitedNetwork: r.Report.VisitedNetwork,
	}
	if !s.IPAddress.IsValid() {
		of.IPv6Prefix = r.Report.IPv6Prefix
	}
	states := of.Values()
	if states.APN == "" {
		states.APN = s.APN
	}
	drop := func(states, has *string, isAnother bool) {
		if *states == "" || *states == *has && !isAnother {
			*states, *has = "", ""
		}
	}
	drop(&states.IMEI, &has.IMEI, false)
	drop(&states.Address, &has.Address, states.APN != s.APN)
	drop(&states.RATType, &has.RATType, false)
	drop(&states.VisitedNetwork, &has.VisitedNetwork, false)
	switch isLate := s.Reports > 0 && !r.EndedAt.After(s.AsOf); {
	case states.isEmpty():
		return nil
	case isLate && !has.isEmpty():
		return []SessionValues{states, has}
	}
	return []SessionValues{states}
}

// Gap is the time since the report before, where that says something about how often a
// network element reports; 0 otherwise. A Stop comes when the session ends.
func (s *Session) Gap(r *UsageRecord) time.Duration {
	gap := r.EndedAt.Sub(s.AsOf)
	if s.Reports == 0 || s.EndedAt != nil || r.Report.Event == SessionStopped || gap < MinInterval {
		return 0
	}
	return gap
}

// IntervalStep rounds an interval up to a step of 9 %: gaps are counted by few lengths.
func IntervalStep(gap time.Duration) time.Duration {
	const steps = 8 // of an octave
	step := math.Ceil(steps * math.Log2(float64(min(gap, maxInterval))/float64(MinInterval)))
	return time.Duration(math.Ceil(MinInterval.Seconds()*math.Exp2(max(0, step)/steps))) * time.Second
}

// maxInterval is the longest interval of reports that differs from longer ones.
const maxInterval = 24 * time.Hour

// describe takes over what the newest report states, and what was not known.
func (s *Session) describe(r *UsageRecord, newest bool) {
	for field, text := range map[*string]string{
		&s.APN: r.Report.APN, &s.IMEI: r.Report.IMEI, &s.RATType: r.Report.RATType, &s.VisitedNetwork: r.Report.VisitedNetwork,
		&s.Cell: r.Report.Cell,
	} {
		if text != "" && (newest || *field == "") {
			*field = text
		}
	}
	if r.IPAddress.IsValid() && (newest || !s.IPAddress.IsValid()) {
		s.IPAddress = r.IPAddress
	}
	if r.Report.IPv6Prefix.IsValid() && (newest || !s.IPv6Prefix.IsValid()) {
		s.IPv6Prefix = r.Report.IPv6Prefix
	}
}

// follow opens and ends the session. What was ended for silence is opened again by
// a later report; what a Stop has ended stays so.
func (s *Session) follow(r *UsageRecord, newest, transferred bool, arrived time.Time) {
	if sent := r.Report.SentAt; !sent.IsZero() {
		arrived = sent
	}
	s.ReportedAt = Later(s.ReportedAt, arrived)
	presumed := s.EndedAt != nil && (s.Cause == CauseTimeout || s.Cause == CauseRestart)
	switch {
	case r.Report.Event == SessionStopped && (s.EndedAt == nil || presumed):
		s.End(r.EndedAt, r.Report.Cause)
	case presumed && newest && r.EndedAt.After(*s.EndedAt):
		s.EndedAt, s.Cause, s.IsTransferring = nil, "", transferred
	case s.EndedAt == nil && newest:
		s.IsTransferring = transferred
	}
}

// End closes the session.
func (s *Session) End(at time.Time, cause string) {
	s.EndedAt, s.Cause, s.IsTransferring = &at, cause, false
}
