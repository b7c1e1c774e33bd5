// Package upstream holds the rules by which the account of another server of the documented
// API (version 4.0.0) is taken over: what its hours add to the ledger, how subscribers are
// compared, and what its log of alerts says.
package upstream

import (
	"fmt"
	"strings"
	"time"

	"simgraph/domain"
)

// MaxDays bounds the days of usage that are taken over.
const MaxDays = 400

// Hours are volumes by the hour, counted from the Unix epoch.
type Hours map[int64]domain.Volume

// HourOf returns the hour of a time.
func HourOf(t time.Time) int64 { return t.Unix() / domain.SecondsOfHour }

// TimeOf returns when an hour begins.
func TimeOf(hour int64) time.Time { return time.Unix(hour*domain.SecondsOfHour, 0).UTC() }

// Booked is what the ledger has of an hour by a source.
type Booked struct {
	domain.Volume
	// Records counts its records.
	Records int
}

// Subject names whose hours are booked, and by which source.
type Subject struct{ Source, PhysicalID string }

// Raise returns the records that take an hour from what is booked up to what the other
// server says, and false where a direction is booked with more than that: a ledger has no
// negative bytes.
//
// Each record is named by its place in the hour. Two processes that raise the same hour at
// the same time make records of the same name: one of them is booked, and the other is a
// duplicate or a conflict, so that no byte counts twice.
func (s Subject) Raise(hour int64, theirs domain.Volume, ours Booked, now time.Time) (records []domain.UsageRecord, isCovered bool) {
	isCovered = theirs.MobileOriginated >= ours.MobileOriginated && theirs.MobileTerminated >= ours.MobileTerminated
	up, down := max(0, theirs.MobileOriginated-ours.MobileOriginated), max(0, theirs.MobileTerminated-ours.MobileTerminated)
	from := TimeOf(hour)
	until := from.Add(time.Hour - time.Second)
	if until.After(now) {
		until = domain.Later(from, now.UTC().Truncate(time.Second))
	}
	for place := ours.Records; up > 0 || down > 0; place++ {
		r := domain.UsageRecord{
			Source: s.Source, PhysicalID: s.PhysicalID, RecordID: fmt.Sprintf("hour:%s:%s:%d", s.PhysicalID, from.Format("2006-01-02T15Z"), place),
			StartedAt: from, EndedAt: until, Protocol: domain.DefaultProtocol,
			MobileOriginated: min(up, domain.MaxUsageBytes), MobileTerminated: min(down, domain.MaxUsageBytes),
		}
		up, down = up-r.MobileOriginated, down-r.MobileTerminated
		records = append(records, r)
	}
	return records, isCovered
}

// lengths of identifiers, in digits.
const (
	shortestICCID = 18
	lengthOfIMEI  = 15
	lengthOfEUI   = 16
)

// KindOf returns the kind of a subscriber by its identifiers, which the documented API does
// not: an ICCID begins with 89 and has at least 18 digits, a device EUI stands in both, and
// an IMEI has 15 digits.
func KindOf(physicalID, subscriberID string) domain.Kind {
	switch {
	case isICCID(physicalID):
		return domain.Cellular
	case physicalID == subscriberID || len(physicalID) == lengthOfEUI && isHex(physicalID):
		return domain.NonIP
	case len(physicalID) == lengthOfIMEI && isDecimal(physicalID):
		return domain.Satellite
	}
	return domain.Cellular
}

func isICCID(id string) bool {
	return len(id) >= shortestICCID && id[:2] == "89" && isDecimal(id)
}

func isDecimal(id string) bool { return strings.Trim(id, "0123456789") == "" }

func isHex(id string) bool { return strings.Trim(id, "0123456789abcdefABCDEF") == "" }

// Reported is what the ledger has of a subscriber by a source, in a part of time.
type Reported struct {
	PhysicalID, SubscriberID string
	// Hour is which one, where hours are asked for.
	Hour int64
	Booked
}
