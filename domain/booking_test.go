package domain_test

import (
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"simgraph/domain"
	"simgraph/internal/fatal"
)

// groupAt is the slow way to the group at a time: the last membership that has
// begun, and before the first group that one.
func groupAt(h domain.GroupHistory, t time.Time) (group int64) {
	first := slices.IndexFunc(h, func(m domain.GroupSince) bool { return m.Group != 0 })
	if first < 0 {
		return 0
	}
	group = h[first].Group
	for i, m := range h {
		if i > first && m.Since <= t.UnixMicro() {
			group = m.Group
		}
	}
	return group
}

func TestTheGroupAtATime(t *testing.T) {
	t.Parallel()
	at := func(hour int) time.Time { return time.Date(2026, 3, 1, hour, 0, 0, 0, time.UTC) }
	since := func(hour int, group int64) domain.GroupSince {
		return domain.GroupSince{Since: at(hour).UnixMicro(), Group: group}
	}
	for name, test := range map[string]struct {
		history domain.GroupHistory
		at      time.Time
		want    int64
	}{
		"none is known":                      {nil, at(5), 0},
		"never in a group":                   {domain.GroupHistory{since(1, 0)}, at(5), 0},
		"before the first group":             {domain.GroupHistory{since(3, 7)}, at(1), 7},
		"before it, and in none at first":    {domain.GroupHistory{since(1, 0), since(3, 7)}, at(2), 7},
		"the instant of a change":            {domain.GroupHistory{since(1, 7), since(3, 8)}, at(3), 8},
		"a microsecond before":               {domain.GroupHistory{since(1, 7), since(3, 8)}, at(3).Add(-time.Microsecond), 7},
		"less than a microsecond before it":  {domain.GroupHistory{since(1, 7), since(3, 8)}, at(3).Add(-time.Nanosecond), 7},
		"out of the group":                   {domain.GroupHistory{since(1, 7), since(3, 0)}, at(4), 0},
		"back in the group after a time out": {domain.GroupHistory{since(1, 7), since(3, 0), since(5, 7)}, at(6), 7},
	} {
		if got := test.history.At(test.at); got != test.want {
			t.Errorf("%s: got group %d, want %d", name, got, test.want)
		}
	}
}

// bookingCase is a random company with records.
type bookingCase struct {
	billing domain.Billing
	groups  map[int64]domain.GroupHistory
	records []bookedRecord
}

type bookedRecord struct {
	subscriber int64
	domain.UsageRecord
}

func newBookingCase(t *testing.T, random *rand.Rand) bookingCase {
	zones := []string{"UTC", "Europe/London", "Asia/Kathmandu", "America/St_Johns", "Pacific/Apia"}
	billing, err := domain.NewBilling(1+random.IntN(31), zones[random.IntN(len(zones))])
	fatal.If(t, err)
	began := time.Date(2026, 2, 25, 0, 0, 0, 0, time.UTC)
	within := func() time.Time { return began.Add(time.Duration(random.Int64N(int64(40 * 24 * time.Hour)))) }
	c := bookingCase{billing: billing, groups: map[int64]domain.GroupHistory{}}
	for subscriber := range int64(5) {
		for range random.IntN(4) {
			c.groups[subscriber] = append(c.groups[subscriber], domain.GroupSince{Since: within().UnixMicro(), Group: random.Int64N(3)})
		}
		slices.SortFunc(c.groups[subscriber], func(x, y domain.GroupSince) int { return int(x.Since - y.Since) })
	}
	for range 1 + random.IntN(60) {
		r := bookedRecord{subscriber: random.Int64N(6)}
		r.StartedAt = within().Truncate(time.Microsecond)
		r.EndedAt = r.StartedAt.Add(time.Duration(random.IntN(100)) * time.Minute)
		r.MobileOriginated, r.MobileTerminated = random.Int64N(3), random.Int64N(1000)
		r.Protocol, r.Source = []string{"TCP", "UDP"}[random.IntN(2)], []string{"a", "b"}[random.IntN(2)]
		r.SessionID, r.Sequence = []string{"", "s", "t"}[random.IntN(3)], random.IntN(3)
		if n := random.IntN(3); n > 0 {
			r.IPAddress = netip.AddrFrom4([4]byte{10, 0, 0, byte(n)})
		}
		c.records = append(c.records, r)
	}
	return c
}

func (c *bookingCase) book() *domain.Booking {
	b := domain.NewBooking(c.billing, c.groups)
	for i := range c.records {
		b.Add(c.records[i].subscriber, &c.records[i].UsageRecord)
	}
	return b
}

func (c *bookingCase) starts() domain.SessionStarts {
	starts := domain.SessionStarts{}
	for i := range c.records {
		starts.Add(c.records[i].subscriber, &c.records[i].UsageRecord)
	}
	return starts
}

// sum adds up the records that belong to a key, each by its own rule.
func (c *bookingCase) sum(belongs func(r *bookedRecord, group int64) bool) (v domain.SeenVolume) {
	for i := range c.records {
		if r := &c.records[i]; belongs(r, groupAt(c.groups[r.subscriber], r.StartedAt)) {
			v.MobileOriginated += r.MobileOriginated
			v.MobileTerminated += r.MobileTerminated
			v.LastSeen = max(v.LastSeen, r.EndedAt.Unix())
		}
	}
	return v
}

func hourOf(r *bookedRecord) int64 { return r.StartedAt.Truncate(time.Hour).Unix() / 3600 }

// Each total is the sum of the records that belong to it, and all totals of a kind
// are the sum of all records.
func TestTotalsAreSumsOfTheRecords(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		c := newBookingCase(t, rand.New(rand.NewPCG(seed, 1)))
		b := c.book()
		c.checkHours(t, seed, b)
		c.checkDays(t, seed, b)
		c.checkPeriods(t, seed, b)
	}
}

func (c *bookingCase) checkHours(t *testing.T, seed uint64, b *domain.Booking) {
	t.Helper()
	var all, grouped domain.Volume
	for key, v := range b.CompanyHours {
		want := c.sum(func(r *bookedRecord, _ int64) bool { return hourOf(r) == key.Hour && r.Protocol == key.Protocol })
		if key.Group != 0 || *v != want.Volume {
			t.Errorf("seed %d: hour %v has %v, want %v", seed, key, *v, want.Volume)
		}
		all.MobileOriginated += v.MobileOriginated
		all.MobileTerminated += v.MobileTerminated
	}
	for key, v := range b.GroupHours {
		want := c.sum(func(r *bookedRecord, group int64) bool {
			return group == key.Group && hourOf(r) == key.Hour && r.Protocol == key.Protocol
		})
		if key.Group == 0 || *v != want.Volume {
			t.Errorf("seed %d: hour %v has %v, want %v", seed, key, *v, want.Volume)
		}
		grouped.MobileOriginated += v.MobileOriginated
		grouped.MobileTerminated += v.MobileTerminated
	}
	if want := c.sum(func(*bookedRecord, int64) bool { return true }); all != want.Volume {
		t.Errorf("seed %d: the hours of the company have %v, want %v", seed, all, want.Volume)
	}
	if want := c.sum(func(_ *bookedRecord, group int64) bool { return group != 0 }); grouped != want.Volume {
		t.Errorf("seed %d: the hours of groups have %v, want %v", seed, grouped, want.Volume)
	}
}

func (c *bookingCase) checkDays(t *testing.T, seed uint64, b *domain.Booking) {
	t.Helper()
	booked := 0
	for key, day := range b.Days {
		inDay := func(r *bookedRecord, group int64) bool {
			return hourOf(r)/24 == key.Day && r.subscriber == key.Subscriber && group == key.Group
		}
		if want := c.sum(inDay); day.SeenVolume != want {
			t.Errorf("seed %d: day %v has %v, want %v", seed, key, day.SeenVolume, want)
		}
		for _, cell := range day.Cells {
			want := c.sum(func(r *bookedRecord, group int64) bool {
				return inDay(r, group) && hourOf(r)%24 == cell.Hour && r.Protocol == cell.Protocol
			})
			if cell.SeenVolume != want {
				t.Errorf("seed %d: day %v: cell %v, want %v", seed, key, cell, want)
			}
		}
		for _, a := range day.Addresses {
			if want := c.sum(func(r *bookedRecord, group int64) bool { return inDay(r, group) && r.IPAddress == a.Address }); a.SeenVolume != want {
				t.Errorf("seed %d: day %v: address %v, want %v", seed, key, a, want)
			}
			booked++
		}
	}
	distinct := map[any]bool{}
	for i := range c.records {
		r := &c.records[i]
		if r.IPAddress.IsValid() {
			distinct[[4]any{hourOf(r) / 24, r.subscriber, groupAt(c.groups[r.subscriber], r.StartedAt), r.IPAddress}] = true
		}
	}
	if booked != len(distinct) {
		t.Errorf("seed %d: %d addresses of days, want %d", seed, booked, len(distinct))
	}
}

func (c *bookingCase) checkPeriods(t *testing.T, seed uint64, b *domain.Booking) {
	t.Helper()
	start := func(r *bookedRecord) int64 { return c.billing.PeriodAt(r.StartedAt).Start.Unix() }
	for key, v := range b.SubscriberPeriods {
		if want := c.sum(func(r *bookedRecord, _ int64) bool { return start(r) == key.Start && r.subscriber == key.ID }); *v != want {
			t.Errorf("seed %d: period %v has %v, want %v", seed, key, *v, want)
		}
	}
	for key, v := range b.GroupPeriods {
		if want := c.sum(func(r *bookedRecord, group int64) bool { return start(r) == key.Start && group == key.ID }); *v != want.Volume {
			t.Errorf("seed %d: period %v has %v, want %v", seed, key, *v, want.Volume)
		}
	}
	for i := range c.records {
		r := &c.records[i]
		key := domain.PeriodKey{Start: start(r), ID: r.subscriber}
		if b.SubscriberPeriods[key] == nil || b.Sources[r.Source].Before(r.EndedAt) {
			t.Errorf("seed %d: the record %v is missing from its period or source", seed, r)
		}
	}
}

// How a session began does not depend on the order of its records.
func TestASessionBeginsWithItsRecordZeroOrElseTheEarliest(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 2))
		c := newBookingCase(t, random)
		want := c.starts()
		random.Shuffle(len(c.records), func(i, j int) { c.records[i], c.records[j] = c.records[j], c.records[i] })
		if got := c.starts(); !maps.Equal(got, want) {
			t.Fatalf("seed %d: got %v, and %v in another order", seed, want, got)
		}
		for key, start := range want {
			for i := range c.records {
				r := &c.records[i]
				if r.subscriber != key.Subscriber || r.SessionID != key.Session || r.SessionID == "" {
					continue
				}
				opens := r.Sequence == 0
				if opens && !start.IsOpened || opens == start.IsOpened && r.StartedAt.Before(start.BeganAt) {
					t.Fatalf("seed %d: session %v began %v, though there is %v", seed, key, start, r)
				}
			}
		}
	}
}

func TestSessionsCountInTheHourInWhichTheyBegan(t *testing.T) {
	t.Parallel()
	billing, err := domain.NewBilling(1, "UTC")
	fatal.If(t, err)
	noon := time.Date(2026, 3, 1, 12, 59, 59, 0, time.UTC)
	hour := noon.Unix() / 3600
	b := domain.NewBooking(billing, map[int64]domain.GroupHistory{1: {{Group: 7}}})
	begun, later := domain.SessionStart{BeganAt: noon}, domain.SessionStart{BeganAt: noon.Add(time.Hour)}
	b.Begin(domain.SessionStarts{{1, "new"}: begun, {1, "moves"}: begun, {1, "same"}: later, {2, "new"}: begun},
		domain.SessionStarts{{1, "moves"}: later, {1, "same"}: begun})
	if len(b.Begun) != 2 || len(b.Moved) != 1 || b.Moved[domain.SessionKey{Subscriber: 1, Session: "moves"}] != begun {
		t.Errorf("begun %v, moved %v", b.Begun, b.Moved)
	}
	if want := map[domain.SessionsKey]int64{{Hour: hour}: 3, {Hour: hour + 1}: -1}; !maps.Equal(b.CompanySessions, want) {
		t.Errorf("the company has %v, want %v", b.CompanySessions, want)
	}
	if want := map[domain.SessionsKey]int64{{Group: 7, Hour: hour}: 2, {Group: 7, Hour: hour + 1}: -1}; !maps.Equal(b.GroupSessions, want) {
		t.Errorf("groups have %v, want %v", b.GroupSessions, want)
	}
	day := b.Days[domain.DayKey{Day: hour / 24, Subscriber: 1, Group: 7}]
	want := []domain.Cell{{Hour: 12, Sessions: 2}, {Hour: 13, Sessions: -1}}
	if day != nil {
		slices.SortFunc(day.Cells, func(x, y domain.Cell) int { return int(x.Hour - y.Hour) })
	}
	if day == nil || day.Sessions != 1 || !slices.Equal(day.Cells, want) {
		t.Errorf("the day is %v, want one session in %v", day, want)
	}
}

// What is taken from a group and given back changes nothing.
func TestCellsThatAreTakenAndGivenBackAreDropped(t *testing.T) {
	t.Parallel()
	b := domain.NewBooking(domain.Billing{Day: 1, Zone: time.UTC}, nil)
	usage := domain.GroupCell{HourKey: domain.HourKey{Group: 1, Hour: 5, Protocol: "TCP"}, Volume: domain.Volume{MobileOriginated: 3, MobileTerminated: 4}, Sessions: 1}
	other := usage
	other.Group = 2
	b.AddGroupCell(usage, -1)
	b.AddGroupCell(usage, +1)
	b.AddGroupCell(other, -1)
	b.AddGroupCell(domain.GroupCell{HourKey: domain.HourKey{Group: 1, Hour: 6}, Sessions: 2}, +1)
	b.DropZeros()
	if v := b.GroupHours[other.HourKey]; len(b.GroupHours) != 1 || v == nil || *v != (domain.Volume{MobileOriginated: -3, MobileTerminated: -4}) {
		t.Errorf("hours are %v", b.GroupHours)
	}
	if want := map[domain.SessionsKey]int64{{Group: 2, Hour: 5}: -1, {Group: 1, Hour: 6}: 2}; !maps.Equal(b.GroupSessions, want) {
		t.Errorf("sessions are %v, want %v", b.GroupSessions, want)
	}
}

// The whole hours and the edges of a period are the period, each instant once.
func TestTheHoursOfAPeriodAreThePeriod(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 3))
		billing := newBookingCase(t, random).billing
		p := billing.PeriodAt(time.Date(2026, time.Month(1+random.IntN(12)), 1+random.IntN(28), 0, 0, 0, 0, time.UTC))
		h := domain.HoursOf(p, domain.LedgerEpoch)
		spans := append(slices.Clone(h.Edges), domain.Period{Start: h.From, End: h.Until})
		slices.SortFunc(spans, func(x, y domain.Period) int { return x.Start.Compare(y.Start) })
		at := p.Start
		for _, span := range spans {
			if !span.Start.Equal(at) {
				t.Fatalf("seed %d: %v of %v does not begin at %v", seed, spans, p, at)
			}
			at = span.End
		}
		if !at.Equal(p.End) || !h.From.Equal(h.From.Truncate(time.Hour)) || !h.Until.Equal(h.Until.Truncate(time.Hour)) {
			t.Fatalf("seed %d: %v of %v", seed, spans, p)
		}
	}
}

// Before the ledger begins there are no records of a part of an hour: that hour
// counts for the period in which it begins.
func TestHoursBeforeTheLedgerCountForThePeriodInWhichTheyBegin(t *testing.T) {
	t.Parallel()
	billing, err := domain.NewBilling(1, "Asia/Kathmandu")
	fatal.If(t, err)
	p := billing.PeriodAt(time.Date(2026, 3, 10, 0, 0, 0, 0, time.UTC))
	h, next := domain.HoursOf(p, p.End.AddDate(0, 1, 0)), domain.HoursOf(billing.PeriodAt(p.End), p.End.AddDate(0, 1, 0))
	if len(h.Edges) != 0 || !h.From.After(p.Start) || !h.Until.After(p.End) || !next.From.Equal(h.Until) {
		t.Errorf("%v has %v, the next %v", p, h, next)
	}
	within := domain.HoursOf(p, p.Start.Add(24*time.Hour))
	if len(within.Edges) != 1 || !within.Edges[0].End.Equal(p.End) {
		t.Errorf("with a ledger that begins within: %v", within)
	}
}
