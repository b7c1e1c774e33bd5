package domain

import (
	"context"
	"time"

	"simgraph/domain/ascii"
)

const (
	// MaxUsagePoints bounds the points of a series of usage.
	MaxUsagePoints = 2_400
	// MaxSeriesPoints bounds the hours of a span, the hours of all protocols
	// together, and the series and lists of several subjects that are requested
	// together.
	MaxSeriesPoints = 100_000
	// MaxShares bounds the parts of a breakdown, and how many subscribers are named as those
	// with the most usage.
	MaxShares = 100
)

// NewRange returns the span from start to end, widened to whole hours, with an
// error of KindInvalid for one that is reversed or too long.
func NewRange(start, end time.Time) (Range, error) {
	switch {
	case end.Before(start):
		return Range{}, Invalid("start", "start is after end")
	case end.Sub(start) > maxRange:
		return Range{}, tooLong("end")
	case start.UTC().Year() < firstRangeYear || end.UTC().Year() > lastRangeYear:
		return Range{}, Invalid("start", "years go from %d to %d", firstRangeYear, lastRangeYear)
	}
	return hours(start, end), nil
}

// Within returns the second of the span that is nearest to t: a record that began in
// the span may end after it.
func (r Range) Within(t time.Time) time.Time {
	if t.Before(r.Start) {
		return r.Start
	}
	if last := r.End.Add(-time.Second); t.After(last) {
		return last
	}
	return t
}

// Before returns the span of the same length that ends where r begins.
func (r Range) Before() Range {
	return Range{Start: r.Start.Add(r.Start.Sub(r.End)), End: r.Start, Offset: r.Offset}
}

// SubjectKind is what a Subject is.
type SubjectKind int

// The kinds of subjects.
const (
	CompanySubject SubjectKind = iota
	GroupSubject
	TagSubject
	SubscriberSubject
)

// Subject is whose usage is requested.
type Subject struct {
	Kind SubjectKind
	// ID is the group id or the subscriber's key.
	ID  int64
	Tag TagName
}

// Volume is usage in bytes.
type Volume struct {
	// MobileOriginated is sent by subscribers, MobileTerminated received.
	MobileOriginated, MobileTerminated int64
}

// Total is both directions together.
func (v Volume) Total() int64 { return v.MobileOriginated + v.MobileTerminated }

// UsageTotals sums up a span.
type UsageTotals struct {
	Volume
	// Sessions began in the span.
	Sessions int64
}

// UsagePoint is the usage of an hour, day or month.
type UsagePoint struct {
	Start time.Time
	UsageTotals
}

// ProtocolHour is the usage of a network protocol in an hour.
type ProtocolHour struct {
	Protocol string
	Hour     time.Time
	Volume
}

// SubscriberUsage is the usage of a subscriber in a span.
type SubscriberUsage struct {
	SubscriberKey int64
	// SubscriberID is the MSISDN, device EUI or subscription ID.
	SubscriberID string
	// LastSeen is the end of the last record that began in the span, but within it.
	LastSeen time.Time
	Volume
}

// UsageChange is the usage of a subscriber in a span, and in another one that is
// compared with it.
type UsageChange struct {
	SubscriberKey int64
	// Bytes in both directions.
	Total, Before int64
}

// Change is by how much the usage rose; negative where it fell.
func (c *UsageChange) Change() int64 { return c.Total - c.Before }

// ChangeOrder says which changes of usage are listed.
type ChangeOrder string

// The orders: those that rose or fell, the most first.
const (
	MostRisen  ChangeOrder = "MOST_RISEN"
	MostFallen ChangeOrder = "MOST_FALLEN"
)

// Dimension is what usage is broken down by.
type Dimension string

// The dimensions. Operator, tariff, tag and kind are those of the subscriber now, the
// group is that of the time of usage, the country that of the network which the session
// visited last.
const (
	ByProtocol  Dimension = "PROTOCOL"
	ByIPAddress Dimension = "IP_ADDRESS"
	ByOperator  Dimension = "OPERATOR"
	ByTariff    Dimension = "TARIFF"
	ByGroup     Dimension = "GROUP"
	ByTag       Dimension = "TAG"
	BySource    Dimension = "SOURCE"
	ByCountry   Dimension = "COUNTRY"
	ByKind      Dimension = "KIND"
)

// MaxSourceSpan bounds the span of usage by source and by country, which is read record by record.
// No total has them, since each record would cost more for a question that is asked rarely. It is
// a month with an hour that clocks are set back by.
const MaxSourceSpan = 31*24*time.Hour + time.Hour

// CheckSpan refuses a span that is too long for the dimension.
func (d Dimension) CheckSpan(span Range) error {
	if (d == BySource || d == ByCountry) && span.End.Sub(span.Start) > MaxSourceSpan {
		return Invalid("by", "usage by %s is read record by record: the span must not be longer than 31 days", ascii.Lower(string(d)))
	}
	return nil
}

// HasHours reports whether usage by the dimension can be laid out over time: by addresses it is
// known by the day of a subscriber only.
func (d Dimension) HasHours() bool { return d != ByIPAddress }

// CountsSessions reports whether it is known to which value of the dimension a session belongs.
func (d Dimension) CountsSessions() bool {
	switch d {
	case ByOperator, ByTariff, ByGroup, ByTag, ByKind:
		return true
	}
	return false
}

// UsageShare is the part of usage that falls to one value of a dimension.
type UsageShare struct {
	// Value is nil for what has none: no group, a tariff that is hidden.
	Value *string
	// Label is the name where Value is an identifier, else Value.
	Label *string
	// LastSeen is present for IP addresses, and within the span.
	LastSeen *time.Time
	Volume
}

// UsageSeries is the usage over time that falls to one value of a dimension, or to all values
// beside those that have a series of their own.
type UsageSeries struct {
	// Value and Label are those of a UsageShare.
	Value, Label *string
	IsOthers     bool
	// UsageTotals are the sums of the points.
	UsageTotals
	// Points are in order of time, without those that are zero.
	Points []UsagePoint
}

// SubscriberStatistics are about the bytes of each subscriber that has usage in a span.
type SubscriberStatistics struct {
	Subscribers int64
	// Total is the sum, Median and P95 are bytes of a subscriber: of all, half, or 19 of
	// 20, have that or less. Largest is the most that one has.
	Total, Median, P95, Largest int64
	// Above is how many have more bytes than were named.
	Above int64
}

// AddressUsage is the usage of an IP address in a span.
type AddressUsage struct {
	IPAddress string
	// LastSeen is the end of the last record that began in the span, but within it.
	LastSeen time.Time
	Volume
}

// Measures are the figures of a series that are read.
type Measures uint8

// The figures of a series.
const (
	Volumes Measures = 1 << iota
	SessionCounts
	// SessionSteps is whether sessions began, without how many.
	SessionSteps
	AllMeasures = Volumes | SessionCounts
)

// Has reports whether the measure is one of them.
func (m Measures) Has(measure Measures) bool { return m&measure != 0 }

// Analytics answers questions about usage from its totals. What the scope does
// not show counts nowhere: for a restricted scope the company is the subscribers
// that are in its groups now. A group is the usage of its time.
type Analytics interface {
	// Totals sums up the measures of each subject; one without usage may be missing.
	Totals(ctx context.Context, scope Scope, of []Subject, span Range, measures Measures) (map[Subject]UsageTotals, error)
	// Series returns the intervals in which one of the measures is not zero, in
	// order of time; an error of KindInvalid when those are more than
	// MaxSeriesPoints. Measures that are not requested may be 0.
	Series(ctx context.Context, scope Scope, of []Subject, span Range, by Interval, measures Measures) (map[Subject][]UsagePoint, error)
	// Breakdown returns the shares of each subject, those with the most usage
	// first, at most first.
	Breakdown(ctx context.Context, scope Scope, of []Subject, span Range, by Dimension, first int) (map[Subject][]UsageShare, error)
	// SeriesBy lays a breakdown out over time: the series of the values with the most usage, at
	// most first, in their order, and last that of the others where there are more. For
	// each interval they add up to the Series of the subject, but by tag, where usage
	// counts once for each tag. Sessions are 0 unless the dimension CountsSessions.
	SeriesBy(ctx context.Context, scope Scope, of []Subject, span Range, by Interval, dimension Dimension, first int) (map[Subject][]UsageSeries, error)
	// Statistics returns the distribution of bytes over the subscribers of each subject;
	// one without usage is missing. Those with more than above bytes are counted.
	Statistics(ctx context.Context, scope Scope, of []Subject, span Range, above int64) (map[Subject]SubscriberStatistics, error)
	// Top returns the subscribers with the most usage of each subject.
	Top(ctx context.Context, scope Scope, of []Subject, span Range, first int) (map[Subject][]SubscriberUsage, error)
	// Changes returns the subscribers of each subject whose usage in the span is more, or
	// less, than before by the most bytes, the largest change first.
	Changes(ctx context.Context, scope Scope, of []Subject, span, before Range, order ChangeOrder, first int) (map[Subject][]UsageChange, error)

	// The lists call each for whatever has usage, subject by subject. There may be
	// a great many, but of several subjects at most MaxSeriesPoints together, and
	// else an error of KindInvalid.

	// ProtocolHours lists protocols and hours, in that order.
	ProtocolHours(ctx context.Context, scope Scope, of []Subject, span Range, each func(Subject, ProtocolHour) error) error
	// Subscribers lists the subscribers that the scope shows now, ordered by
	// SubscriberID.
	Subscribers(ctx context.Context, scope Scope, of []Subject, span Range, each func(Subject, SubscriberUsage) error) error
	// Addresses lists IP addresses, in their order.
	Addresses(ctx context.Context, scope Scope, of []Subject, span Range, each func(Subject, AddressUsage) error) error
}
