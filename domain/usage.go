package domain

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"simgraph/domain/ascii"
	"simgraph/domain/query"
)

const (
	// MaxUsageBatch bounds the usage records that are booked together.
	MaxUsageBatch = 10_000
	// MaxUsageBytes bounds the bytes of a usage record in one direction: 1 TiB.
	MaxUsageBytes = 1 << 40
	// MaxUsageSpan bounds the time from the begin to the end of a usage record.
	MaxUsageSpan = 31 * 24 * time.Hour
	// MaxProtocols bounds the network protocols of a company.
	MaxProtocols = 256
	// ClockTolerance is how far ahead the clock of a source may be.
	ClockTolerance = 10 * time.Minute

	maxUsageText = 128
	maxProtocol  = 32
)

// UsageRecord is what a network element reports of a subscriber's session since
// its last report: bytes are deltas, unless Report is set.
type UsageRecord struct {
	// RecordID is unique per company and Source; "" means that the source has
	// none, and equal records are one.
	RecordID string
	Source   string
	// PhysicalID, IMSI and MSISDN name the subscriber, at least one of them; "" for
	// those that are not stated. MSISDN is what the inventory has as subscriberId, which
	// need not be a number.
	PhysicalID, IMSI, MSISDN string
	// IMSIDecides is set where the number may be one that the card had before: it does
	// not count then beside an IMSI. Otherwise all names must be of one subscriber.
	IMSIDecides bool
	// SessionID is unique within the subscriber; "" for usage outside sessions.
	SessionID string
	// Sequence counts the records of a session; 0 is its first.
	Sequence           int
	StartedAt, EndedAt time.Time
	// MobileOriginated is sent by the subscriber, MobileTerminated received.
	MobileOriginated, MobileTerminated int64
	Protocol                           string
	// IPAddress is the zero Addr for what has none, such as non-IP devices.
	IPAddress netip.Addr
	// Report is set for a record that says more of its session than its id, and for
	// every cumulative one, see IsCumulative.
	Report *SessionReport
}

// Normalize returns the record as the ledger holds it: times in UTC and whole
// microseconds, the address without zone and an IPv4 address never as IPv6.
func (r UsageRecord) Normalize() UsageRecord {
	r.StartedAt = r.StartedAt.UTC().Truncate(time.Microsecond)
	r.EndedAt = r.EndedAt.UTC().Truncate(time.Microsecond)
	r.IPAddress = r.IPAddress.Unmap().WithZone("")
	if r.Report != nil && r.Report.Event != "" && r.Report.NAS == "" {
		report := *r.Report
		report.NAS = r.Source // what reports events is a network element itself
		r.Report = &report
	}
	if r.RecordID == "" && (r.IMSI != "" || r.MSISDN != "") && !r.IsCumulative() {
		// The ledger names the subscriber by its physicalId: what an export of it holds
		// must have the identity of this record.
		digest := sha256.Sum256(r.payload(nil))
		r.RecordID = "content-" + hex.EncodeToString(digest[:16])
	}
	return r
}

// IsCumulative reports whether the bytes are those of the session so far: StartedAt is
// then when it began (zero when that is not reported), EndedAt when the bytes were
// counted, and RecordID and Sequence do not matter.
func (r *UsageRecord) IsCumulative() bool { return r.Report != nil && !r.Report.IsDelta }

// Believed returns the record with the time at which its report was sent, where the
// one that the network element states is before the ledger begins: its clock was not
// set.
func (r UsageRecord) Believed(oldest time.Time) UsageRecord {
	if r.Report == nil || r.Report.SentAt.IsZero() || !r.EndedAt.Before(oldest) {
		return r
	}
	report := *r.Report
	if !r.StartedAt.IsZero() {
		r.StartedAt = r.StartedAt.Add(report.SentAt.Sub(r.EndedAt))
	}
	r.EndedAt = report.SentAt
	report.Dating, report.ClockOff = DatingArrival, true
	r.Report = &report
	return r
}

// Check refuses a record that breaks a rule of its fields, ended in the future
// by more than ClockTolerance, or began before the ledger does.
func (r *UsageRecord) Check(now, oldest time.Time) error {
	if err := r.checkTexts(); err != nil {
		return err
	}
	if err := r.checkNumbers(); err != nil {
		return err
	}
	if r.Report != nil && r.SessionID == "" {
		return Invalid("sessionId", "a record with fields of its session, or a cumulative one, needs a sessionId")
	}
	if r.IsCumulative() {
		return r.checkReport(now.Add(ClockTolerance), oldest)
	}
	switch latest := now.Add(ClockTolerance); {
	case r.EndedAt.Before(r.StartedAt):
		return Invalid("endedAt", "endedAt is before startedAt")
	case r.StartedAt.After(latest):
		return Invalid("startedAt", "startedAt is more than %d minutes in the future", ClockTolerance/time.Minute)
	case r.EndedAt.After(latest):
		return Invalid("endedAt", "endedAt is more than %d minutes in the future", ClockTolerance/time.Minute)
	case r.EndedAt.Sub(r.StartedAt) > MaxUsageSpan:
		return Invalid("endedAt", "a record spans at most %d days", MaxUsageSpan/(24*time.Hour))
	case r.StartedAt.Before(oldest):
		return Invalid("startedAt", "startedAt is before %s, where the usage ledger begins", oldest.Format(time.DateOnly))
	}
	return nil
}

// checkReport checks the times of a cumulative record. Its session may have begun
// at any time.
func (r *UsageRecord) checkReport(latest, oldest time.Time) error {
	switch {
	case r.EndedAt.Before(r.StartedAt):
		return Invalid("endedAt", "endedAt is before startedAt")
	case r.EndedAt.After(latest):
		return Invalid("endedAt", "endedAt is more than %d minutes in the future", ClockTolerance/time.Minute)
	case r.EndedAt.Before(oldest):
		return Invalid("endedAt", "endedAt is before %s, where the usage ledger begins", oldest.Format(time.DateOnly))
	}
	return nil
}

func (r *UsageRecord) checkTexts() error {
	if r.PhysicalID != "" || r.IMSI == "" && r.MSISDN == "" {
		if err := CheckPhysicalID(r.PhysicalID); err != nil {
			return err
		}
	}
	if err := checkText("source", r.Source, 1, maxUsageText); err != nil {
		return err
	}
	if err := checkText("recordId", r.RecordID, 0, maxUsageText); err != nil {
		return err
	}
	if err := checkText("sessionId", r.SessionID, 0, maxUsageText); err != nil {
		return err
	}
	return checkText("protocol", r.Protocol, 1, maxProtocol)
}

func (r *UsageRecord) checkNumbers() error {
	if r.Sequence < 0 || r.Sequence > 1<<31-1 {
		return Invalid("sequence", "sequence must be 0 to 2147483647, not %d", r.Sequence)
	}
	most := int64(MaxUsageBytes)
	if r.IsCumulative() {
		most = MaxCounter
	}
	return checkBytes(r.MobileOriginated, r.MobileTerminated, most)
}

func checkBytes(originated, terminated, most int64) error {
	if originated < 0 || originated > most {
		return Invalid("mobileOriginated", "mobileOriginated must be 0 to %d bytes, not %d", most, originated)
	}
	if terminated < 0 || terminated > most {
		return Invalid("mobileTerminated", "mobileTerminated must be 0 to %d bytes, not %d", most, terminated)
	}
	return nil
}

// UsageIdentity identifies a record within a company.
type UsageIdentity [16]byte

// Identify returns the identity of a normalized record and a digest of all its
// fields. The same identity with another digest is another record under an id
// that is taken.
func (r *UsageRecord) Identify() (UsageIdentity, int64) {
	digest := sha256.Sum256(r.payload(nil))
	identity := digest
	if r.RecordID != "" {
		// No text of a record holds NUL, so the parts cannot run into another.
		identity = sha256.Sum256([]byte("id\x00" + r.Source + "\x00" + r.RecordID))
	}
	return UsageIdentity(identity[:16]), int64(binary.BigEndian.Uint64(digest[16:24]))
}

func (r *UsageRecord) payload(b []byte) []byte {
	for _, text := range []string{r.Source, r.RecordID, r.PhysicalID, r.SessionID, r.Protocol} {
		b = append(append(b, text...), 0)
	}
	for _, n := range []int64{int64(r.Sequence), r.StartedAt.UnixMicro(), r.EndedAt.UnixMicro(), r.MobileOriginated, r.MobileTerminated} {
		b = append(strconv.AppendInt(b, n, 10), 0)
	}
	if r.IPAddress.IsValid() {
		b = r.IPAddress.AppendTo(b)
	}
	if r.IMSI != "" || r.MSISDN != "" { // identities of before have none
		b = append(append(append(append(b, 0), r.IMSI...), 0), r.MSISDN...)
	}
	return b
}

// UsageCounters is what the bytes of a record count.
type UsageCounters string

const (
	// DeltaCounters count since the last record.
	DeltaCounters UsageCounters = "DELTA"
	// CumulativeCounters count since the session began.
	CumulativeCounters UsageCounters = "CUMULATIVE"
)

// UsageStatus is what became of a usage record.
type UsageStatus string

// The statuses. All but the last two are successes.
const (
	// UsageAccepted: the record is in the ledger and in all totals.
	UsageAccepted UsageStatus = "accepted"
	// UsageDuplicate: the same record was there before; nothing changed.
	UsageDuplicate UsageStatus = "duplicate"
	// UsageQuarantined: the subscriber is not known. The record is kept, and
	// booked when the subscriber appears.
	UsageQuarantined UsageStatus = "quarantined"
	// UsageConflict: another record has the same id; this one was not kept.
	UsageConflict UsageStatus = "conflict"
	// UsageRejected: the record breaks a rule; it was not kept.
	UsageRejected UsageStatus = "rejected"
)

// Recorded is what became of one record; Err is why it was not kept.
type Recorded struct {
	Status UsageStatus
	Err    *Error
}

// Rejected returns the result for a record that breaks a rule.
func Rejected(err error) Recorded {
	public, ok := AsError(err)
	if !ok {
		public = Invalid("", "the record cannot be read")
	}
	return Recorded{Status: UsageRejected, Err: public}
}

// UsageDifference is a row of a total that differed from the ledger.
type UsageDifference struct {
	// Total names the kind of total, such as "subscriber_days".
	Total string
	// Key names which of them it is.
	Key string
	// Stored and Derived are what it was and what it should be; "" for none.
	Stored, Derived string
}

// UsageSource is how far the usage of a source is complete.
type UsageSource struct {
	Source string
	// CompleteUntil is the latest end of a record of the source.
	CompleteUntil time.Time
}

// UsageSourceFields are what sources of usage can be filtered and ordered by.
var UsageSourceFields = query.NewFields(
	query.Field{Name: "source", Type: query.Text},
	query.Field{Name: "completeUntil", Type: query.Time},
)

// Usage keeps the usage ledger and every total that follows from it.
type Usage interface {
	// Record books up to MaxUsageBatch records in one transaction and answers
	// in their order. What it answers is committed; an error means that nothing
	// is known of any record, and the same call can be made again. A restricted
	// scope is Forbidden.
	Record(ctx context.Context, scope Scope, records []UsageRecord) ([]Recorded, error)
	// RecordInTurn is Record for a batch of a stream. It calls placed, if at all,
	// once what is recorded from then on comes after these records: duplicates and
	// readings are judged in that order. The next batch need not wait for the end
	// of this one. A batch of which nothing new comes, or that fails, has no place.
	RecordInTurn(ctx context.Context, scope Scope, records []UsageRecord, placed func()) ([]Recorded, error)
	// CurrentOf returns the bytes of both directions that each subscriber used
	// in the billing period that began then, keyed by its key; one without usage is
	// missing from the map.
	CurrentOf(ctx context.Context, scope Scope, periodStart time.Time, subscribers []int64) (map[int64]int64, error)
	// Sources returns the sources that usage is known up to: those of the company, the first 1,000 by name.
	Sources(ctx context.Context, scope Scope) ([]*UsageSource, error)
	// ListSources returns the sources of the company, ordered by name unless the listing has another order.
	ListSources(ctx context.Context, scope Scope, listing Listing) (Slice[*UsageSource], error)
	CountSources(ctx context.Context, scope Scope, listing Listing) (int, error)
	// FindSources answers for a batch at once, keyed by name.
	FindSources(ctx context.Context, scope Scope, names []string) (map[string]*UsageSource, error)
	// Replay books the quarantined records whose subscribers have appeared,
	// and returns how many those were.
	Replay(ctx context.Context, scope Scope) (int, error)
	// Rebuild recomputes the totals of the company from the ledger, corrects
	// them and returns the first 1,000 differences, and how many there were.
	Rebuild(ctx context.Context, scope Scope) ([]UsageDifference, int, error)
}

// UsageFields are the fields of a usage record that name its subscriber and describe its
// session, as every way in takes them. Texts are "" for what is not stated.
type UsageFields struct {
	// PhysicalID, IMSI, MSISDN and SubscriberID name the subscriber: at least one is
	// needed, and all that are there must be of one subscriber.
	PhysicalID, IMSI, MSISDN, SubscriberID string
	SessionID                              string
	Event                                  UsageEvent
	// Cause is why the session ended.
	Cause, APN, RATType, IMEI string
	// VisitedNetwork is MCC and MNC.
	VisitedNetwork string
	NAS, IPAddress string
	// Protocol is IP where it is "".
	Protocol string
	// Counters is delta where it is "".
	Counters UsageCounters
}

// UsageEvent is what a record means for its session.
type UsageEvent string

// The events; "" for none.
const (
	ReportStart  UsageEvent = "START"
	ReportUpdate UsageEvent = "UPDATE"
	ReportStop   UsageEvent = "STOP"
)

var sessionEvents = map[UsageEvent]SessionEvent{ReportStart: SessionStarted, ReportUpdate: SessionUpdated, ReportStop: SessionStopped}

// Complete adds the fields to a record, of which it leaves the others.
func (f *UsageFields) Complete(r UsageRecord) (UsageRecord, error) {
	if err := f.name(&r); err != nil {
		return r, err
	}
	r.SessionID, r.Protocol = f.SessionID, f.Protocol
	if r.Protocol == "" {
		r.Protocol = DefaultProtocol
	}
	if f.IPAddress != "" {
		address, err := netip.ParseAddr(f.IPAddress)
		if err != nil || address.Zone() != "" {
			return r, Invalid("ipAddress", "ipAddress must be an IPv4 or IPv6 address or null, not %.60q", f.IPAddress)
		}
		r.IPAddress = address
	}
	return r, f.report(&r)
}

// name sets how the record names its subscriber.
func (f *UsageFields) name(r *UsageRecord) error {
	r.PhysicalID, r.IMSI, r.MSISDN = f.PhysicalID, f.IMSI, f.SubscriberID
	if f.PhysicalID == "" && f.IMSI == "" && f.MSISDN == "" && f.SubscriberID == "" {
		return Invalid("physicalId", "one of physicalId, imsi, msisdn and subscriberId is needed")
	}
	if f.IMSI != "" && (len(f.IMSI) > maxIMSI || !isDigits(f.IMSI)) {
		return Invalid("imsi", "imsi must be at most %d digits, not %.40q", maxIMSI, f.IMSI)
	}
	if f.MSISDN == "" {
		return checkText("subscriberId", f.SubscriberID, 0, maxIdentifier)
	}
	number, err := ParseMSISDN(f.MSISDN)
	if err != nil {
		return err
	}
	if f.SubscriberID != "" && f.SubscriberID != number {
		return Invalid("msisdn", "msisdn and subscriberId name different subscribers")
	}
	r.MSISDN = number
	return nil
}

// report sets what the record states of its session, if anything.
func (f *UsageFields) report(r *UsageRecord) error {
	event, isKnown := sessionEvents[f.Event]
	if f.Event != "" && !isKnown {
		return Invalid("event", "event must be START, UPDATE or STOP, not %.40q", string(f.Event))
	}
	isDelta := f.Counters == "" || f.Counters == DeltaCounters
	if !isDelta && f.Counters != CumulativeCounters {
		return Invalid("counters", "counters must be %s or %s, not %.40q", DeltaCounters, CumulativeCounters, string(f.Counters))
	}
	for _, text := range []struct{ name, of string }{
		{"cause", f.Cause}, {"apn", f.APN}, {"ratType", f.RATType}, {"nas", f.NAS},
	} {
		if err := checkText(text.name, text.of, 0, maxUsageText); err != nil {
			return err
		}
	}
	if n := len(f.VisitedNetwork); n != 0 && (n != 5 && n != 6 || !isDigits(f.VisitedNetwork)) {
		return Invalid("visitedNetwork", "visitedNetwork must be the five or six digits of MCC and MNC, not %.40q", f.VisitedNetwork)
	}
	if n := len(f.IMEI); n != 0 && (n < 14 || n > 16 || !isDigits(f.IMEI)) {
		return Invalid("imei", "imei must be 14 to 16 digits, not %.40q", f.IMEI)
	}
	if !isDelta || f.Event != "" || f.Cause != "" || f.APN != "" || f.RATType != "" || f.IMEI != "" || f.VisitedNetwork != "" || f.NAS != "" {
		r.Report = &SessionReport{
			IsDelta: isDelta, Event: event, Cause: f.Cause, APN: f.APN, RATType: f.RATType, IMEI: f.IMEI, VisitedNetwork: f.VisitedNetwork, NAS: f.NAS,
		}
	}
	return nil
}

const (
	// maxIMSI and maxMSISDN are the digits of an IMSI (ITU-T E.212) and of a number
	// (E.164).
	maxIMSI   = 15
	maxMSISDN = 15
)

// ParseMSISDN returns the digits of an international number, which may be written with
// +, 00 or as a tel: URI (RFC 3966).
func ParseMSISDN(s string) (string, error) {
	number, _, _ := strings.Cut(strings.TrimPrefix(ascii.Lower(s), "tel:"), ";")
	number = strings.TrimPrefix(strings.TrimPrefix(number, "+"), "00")
	if number == "" || len(number) > maxMSISDN || !isDigits(number) {
		return "", Invalid("msisdn", "msisdn must be an international number of at most %d digits, not %.40q", maxMSISDN, s)
	}
	return number, nil
}

func isDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }
