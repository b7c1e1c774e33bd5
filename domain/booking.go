package domain

import (
	"maps"
	"net/netip"
	"time"
)

// Totals divide time by hours and days of UTC.
const (
	SecondsOfHour = int64(time.Hour / time.Second)
	HoursOfDay    = 24
)

func (v *Volume) add(r *UsageRecord) {
	v.MobileOriginated += r.MobileOriginated
	v.MobileTerminated += r.MobileTerminated
}

// SeenVolume is usage with the end of its last record, in Unix seconds.
type SeenVolume struct {
	Volume
	LastSeen int64
}

func (v *SeenVolume) add(r *UsageRecord) {
	v.Volume.add(r)
	v.LastSeen = max(v.LastSeen, r.EndedAt.Unix())
}

// The keys of the totals. Hours and days are those of UTC and count from the Unix
// epoch, periods are named by their first second. Group 0 is none.
type (
	// HourKey is the usage of a group, or with group 0 of the company.
	HourKey struct {
		Group, Hour int64
		Protocol    string
	}
	// SessionsKey is like HourKey, for the sessions that began.
	SessionsKey struct{ Group, Hour int64 }
	// DayKey is a day of a subscriber within a group.
	DayKey struct{ Day, Subscriber, Group int64 }
	// PeriodKey is a billing period of a subscriber or group.
	PeriodKey struct{ Start, ID int64 }
	// SessionKey identifies a session of the ledger.
	SessionKey struct {
		Subscriber int64
		Session    string
	}
)

// DayTotal is what a subscriber used on a day. Its cells and addresses are few.
type DayTotal struct {
	SeenVolume
	Sessions  int64
	Cells     []Cell
	Addresses []AddressVolume
}

// Cell is the usage of an hour of the day under a protocol. Sessions are counted
// under the protocol "".
type Cell struct {
	SeenVolume
	Hour     int64
	Protocol string
	Sessions int64
}

// AddressVolume is the usage of a day under an address.
type AddressVolume struct {
	SeenVolume
	Address netip.Addr
}

func (d *DayTotal) cell(hour int64, protocol string) *Cell {
	for i := range d.Cells {
		if c := &d.Cells[i]; c.Hour == hour && c.Protocol == protocol {
			return c
		}
	}
	d.Cells = append(d.Cells, Cell{Hour: hour, Protocol: protocol})
	return &d.Cells[len(d.Cells)-1]
}

func (d *DayTotal) address(address netip.Addr) *AddressVolume {
	for i := range d.Addresses {
		if d.Addresses[i].Address == address {
			return &d.Addresses[i]
		}
	}
	d.Addresses = append(d.Addresses, AddressVolume{Address: address})
	return &d.Addresses[len(d.Addresses)-1]
}

// SessionStart is the first record of a session, as far as is known.
type SessionStart struct {
	BeganAt time.Time
	// IsOpened is set when that is the record 0 of the session.
	IsOpened bool
}

// Replaces reports whether the session began with s rather than with what was known
// before: with its record 0, or else with the earliest.
func (s SessionStart) Replaces(known SessionStart) bool {
	if s.IsOpened != known.IsOpened {
		return s.IsOpened
	}
	return s.BeganAt.Before(known.BeganAt)
}

// SessionStarts are how sessions began, as far as some records show.
type SessionStarts map[SessionKey]SessionStart

// Add adds a record of the subscriber with that key.
func (s SessionStarts) Add(subscriber int64, r *UsageRecord) {
	if r.SessionID == "" {
		return
	}
	key, start := SessionKey{subscriber, r.SessionID}, SessionStart{r.StartedAt, r.Sequence == 0}
	if known, again := s[key]; !again || start.Replaces(known) {
		s[key] = start
	}
}

// Booking is what records of the ledger add to the totals of a company. The usage of
// a record counts for the hour, the day and the billing period in which it started,
// and for the group that its subscriber was in then.
type Booking struct {
	billing Billing
	groups  map[int64]GroupHistory
	// period is that of the record before: most have the same.
	period Period

	CompanyHours, GroupHours       map[HourKey]*Volume
	CompanySessions, GroupSessions map[SessionsKey]int64
	Days                           map[DayKey]*DayTotal
	SubscriberPeriods              map[PeriodKey]*SeenVolume
	GroupPeriods                   map[PeriodKey]*Volume
	// Begun are sessions that were not known, Moved those that began at another time
	// than was known.
	Begun, Moved SessionStarts
	// Sources are the latest ends of records by source.
	Sources map[string]time.Time
}

// NewBooking returns an empty booking, for a company with those billing periods and
// the groups of its subscribers over time.
func NewBooking(billing Billing, groups map[int64]GroupHistory) *Booking {
	return &Booking{
		billing: billing, groups: groups,
		CompanyHours: map[HourKey]*Volume{}, GroupHours: map[HourKey]*Volume{},
		CompanySessions: map[SessionsKey]int64{}, GroupSessions: map[SessionsKey]int64{},
		Days: map[DayKey]*DayTotal{}, SubscriberPeriods: map[PeriodKey]*SeenVolume{}, GroupPeriods: map[PeriodKey]*Volume{},
		Begun: SessionStarts{}, Moved: SessionStarts{}, Sources: map[string]time.Time{},
	}
}

// totalOf returns the total of the key, a new one where there is none.
func totalOf[K comparable, V any](totals map[K]*V, key K) *V {
	value, ok := totals[key]
	if !ok {
		value = new(V)
		totals[key] = value
	}
	return value
}

// Add adds a record of the subscriber with that key. Sessions are added by Begin.
func (b *Booking) Add(subscriber int64, r *UsageRecord) {
	if r.StartedAt.Before(b.period.Start) || !r.StartedAt.Before(b.period.End) {
		b.period = b.billing.PeriodAt(r.StartedAt)
	}
	hour, start := r.StartedAt.Unix()/SecondsOfHour, b.period.Start.Unix()
	group := b.groups[subscriber].At(r.StartedAt)

	totalOf(b.CompanyHours, HourKey{0, hour, r.Protocol}).add(r)
	d := totalOf(b.Days, DayKey{hour / HoursOfDay, subscriber, group})
	d.add(r)
	d.cell(hour%HoursOfDay, r.Protocol).add(r)
	totalOf(b.SubscriberPeriods, PeriodKey{start, subscriber}).add(r)
	if r.IPAddress.IsValid() {
		d.address(r.IPAddress).add(r)
	}
	if group != 0 {
		totalOf(b.GroupHours, HourKey{group, hour, r.Protocol}).add(r)
		totalOf(b.GroupPeriods, PeriodKey{start, group}).add(r)
	}
	if r.EndedAt.After(b.Sources[r.Source]) {
		b.Sources[r.Source] = r.EndedAt
	}
}

// Begin adds the sessions of records, beside those of them that are known: each
// counts once, in the hour in which it began.
func (b *Booking) Begin(starts, known SessionStarts) {
	for key, start := range starts {
		before, isKnown := known[key]
		switch {
		case !isKnown:
			b.Begun[key] = start
		case start.Replaces(before):
			b.Moved[key] = start
			b.addSessions(key.Subscriber, before.BeganAt, -1)
		default:
			continue
		}
		b.addSessions(key.Subscriber, start.BeganAt, 1)
	}
}

func (b *Booking) addSessions(subscriber int64, began time.Time, n int64) {
	hour := began.Unix() / SecondsOfHour
	group := b.groups[subscriber].At(began)
	b.CompanySessions[SessionsKey{0, hour}] += n
	if group != 0 {
		b.GroupSessions[SessionsKey{group, hour}] += n
	}
	d := totalOf(b.Days, DayKey{hour / HoursOfDay, subscriber, group})
	d.Sessions += n
	d.cell(hour%HoursOfDay, "").Sessions += n
}

// GroupCell is the usage of an hour of a group under a protocol, and the sessions
// that began in it: under one protocol each, "" for none.
type GroupCell struct {
	HourKey
	Volume
	Sessions int64
}

// AddGroupCell adds a cell n times: -1 takes it away.
func (b *Booking) AddGroupCell(c GroupCell, n int64) {
	if c.Protocol != "" {
		hour := totalOf(b.GroupHours, c.HourKey)
		hour.MobileOriginated += n * c.MobileOriginated
		hour.MobileTerminated += n * c.MobileTerminated
	}
	b.GroupSessions[SessionsKey{c.Group, c.Hour}] += n * c.Sessions
}

// DropZeros removes the hours of groups to which nothing is added.
func (b *Booking) DropZeros() {
	maps.DeleteFunc(b.GroupHours, func(_ HourKey, v *Volume) bool { return *v == Volume{} })
	maps.DeleteFunc(b.GroupSessions, func(_ SessionsKey, sessions int64) bool { return sessions == 0 })
}

// GroupHistory is which group a subscriber was in since when, in order of time.
type GroupHistory []GroupSince

// GroupSince is a group, 0 for none, from a time on, in Unix microseconds.
type GroupSince struct{ Since, Group int64 }

// At returns the group at a time: before the first known group, that one.
func (h GroupHistory) At(t time.Time) int64 {
	for len(h) > 0 && h[0].Group == 0 {
		h = h[1:]
	}
	if len(h) == 0 {
		return 0
	}
	group, at := h[0].Group, t.UnixMicro()
	for _, m := range h[1:] {
		if m.Since > at {
			break
		}
		group = m.Group
	}
	return group
}

// PeriodHours are the hours of a billing period.
type PeriodHours struct {
	// From and Until bound the hours that count wholly.
	From, Until time.Time
	// Edges are the parts of other hours, of which the ledger has the records.
	Edges []Period
}

// HoursOf returns the hours of a billing period, for a ledger that begins at a
// time: an hour before that counts for the period in which it begins.
func HoursOf(p Period, ledger time.Time) PeriodHours {
	h := PeriodHours{From: WholeHour(p.Start), Until: p.End.Truncate(time.Hour)}
	if p.Start.Before(h.From) && !p.Start.Before(ledger) {
		h.Edges = append(h.Edges, Period{Start: p.Start, End: h.From})
	}
	switch {
	case h.Until.Equal(p.End):
	case h.Until.Before(ledger):
		h.Until = WholeHour(p.End)
	default:
		h.Edges = append(h.Edges, Period{Start: h.Until, End: p.End})
	}
	return h
}

// WholeHour returns the first hour of UTC that begins at t or later.
func WholeHour(t time.Time) time.Time {
	return t.UTC().Add(time.Hour - time.Nanosecond).Truncate(time.Hour)
}
