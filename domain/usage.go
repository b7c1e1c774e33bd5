package domain

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"net/netip"
	"strconv"
	"time"
)

const (
	// MaxUsageBatch bounds the records of one call.
	MaxUsageBatch = 10_000
	// MaxUsageBytes bounds the bytes of one record in one direction: 1 TiB.
	MaxUsageBytes = 1 << 40
	// MaxUsageSpan bounds the time of one record.
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
	RecordID   string
	Source     string
	PhysicalID string
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
	// Report is set for a cumulative record: bytes are those of the session so far,
	// StartedAt is when it began (zero when that is not reported) and EndedAt when the
	// bytes were counted. RecordID and Sequence do not matter then.
	Report *SessionReport
}

// Normalize returns the record as the ledger holds it: times in UTC and whole
// microseconds, the address without zone and an IPv4 address never as IPv6.
func (r UsageRecord) Normalize() UsageRecord {
	r.StartedAt = r.StartedAt.UTC().Truncate(time.Microsecond)
	r.EndedAt = r.EndedAt.UTC().Truncate(time.Microsecond)
	r.IPAddress = r.IPAddress.Unmap().WithZone("")
	return r
}

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
	if r.Report != nil {
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
	case r.SessionID == "":
		return Invalid("sessionId", "a cumulative record needs a sessionId")
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
	if r.Report == nil || r.Report.IMSI == "" && r.Report.MSISDN == "" {
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
	if r.Report != nil {
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

// Of makes the record a cumulative one where the counters are. "" stands for delta.
func (c UsageCounters) Of(r UsageRecord) (UsageRecord, error) {
	switch c {
	case "", DeltaCounters:
		return r, nil
	case CumulativeCounters:
		r.Report = &SessionReport{}
		return r, nil
	}
	return r, Invalid("counters", "counters must be %s or %s, not %.40q", DeltaCounters, CumulativeCounters, string(c))
}

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
	// Sources returns the sources of the company, ordered by name.
	Sources(ctx context.Context, scope Scope) ([]*UsageSource, error)
	// Replay books the quarantined records whose subscribers have appeared,
	// and returns how many those were.
	Replay(ctx context.Context, scope Scope) (int, error)
	// Rebuild recomputes the totals of the company from the ledger, corrects
	// them and returns the first 1,000 differences, and how many there were.
	Rebuild(ctx context.Context, scope Scope) ([]UsageDifference, int, error)
}
