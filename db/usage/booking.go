package usage

import (
	"cmp"
	"context"
	"net/netip"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/pg"
	"simgraph/domain"
)

const (
	secondsOfHour = int64(time.Hour / time.Second)
	hoursOfDay    = 24
)

// volume is usage in both directions, in bytes.
type volume struct{ originated, terminated int64 }

func (v *volume) add(e *usageEntry) {
	v.originated += e.MobileOriginated
	v.terminated += e.MobileTerminated
}

func (v *volume) bytes() int64 { return v.originated + v.terminated }

// seenVolume is usage with the end of its last record, in Unix seconds.
type seenVolume struct {
	volume
	lastSeen int64
}

func (v *seenVolume) add(e *usageEntry) {
	v.volume.add(e)
	v.lastSeen = max(v.lastSeen, e.EndedAt.Unix())
}

// The keys of the totals. Hours and days count from the Unix epoch.
type (
	hourKey struct {
		group, hour int64
		protocol    string
	}
	sessionsKey struct{ group, hour int64 }
	dayKey      struct{ day, subscriber, group int64 }
	periodKey   struct{ start, id int64 }
)

// day is what a subscriber used on a day. Its cells and addresses are few.
type day struct {
	seenVolume
	sessions  int64
	cells     []cell
	addresses []addressVolume
}

// cell is the usage of an hour and protocol. The slot is the hour of the day
// plus 24 times the number of the protocol.
type cell struct {
	seenVolume
	slot, sessions int64
}

type addressVolume struct {
	seenVolume
	address netip.Addr
}

func (d *day) cell(slot int64) *cell {
	for i := range d.cells {
		if d.cells[i].slot == slot {
			return &d.cells[i]
		}
	}
	d.cells = append(d.cells, cell{slot: slot})
	return &d.cells[len(d.cells)-1]
}

func (d *day) address(address netip.Addr) *addressVolume {
	for i := range d.addresses {
		if d.addresses[i].address == address {
			return &d.addresses[i]
		}
	}
	d.addresses = append(d.addresses, addressVolume{address: address})
	return &d.addresses[len(d.addresses)-1]
}

// usageBooking is what a batch adds to the totals. Company totals are those of
// group 0 in hours and sessions; subscribers without a group are in no group.
type usageBooking struct {
	billing   domain.Billing
	protocols map[string]int16
	groups    map[int64]groupHistory

	companyHours, groupHours       map[hourKey]*volume
	companySessions, groupSessions map[sessionsKey]int64
	days                           map[dayKey]*day
	subscriberPeriods              map[periodKey]*seenVolume
	groupPeriods                   map[periodKey]*volume
	sources                        map[string]time.Time
}

func newUsageBooking(billing domain.Billing, protocols map[string]int16, groups map[int64]groupHistory) *usageBooking {
	return &usageBooking{
		billing: billing, protocols: protocols, groups: groups,
		companyHours: map[hourKey]*volume{}, groupHours: map[hourKey]*volume{},
		companySessions: map[sessionsKey]int64{}, groupSessions: map[sessionsKey]int64{},
		days: map[dayKey]*day{}, subscriberPeriods: map[periodKey]*seenVolume{}, groupPeriods: map[periodKey]*volume{},
		sources: map[string]time.Time{},
	}
}

// total returns the total of the key, a new one where there is none.
func total[K comparable, V any](totals map[K]*V, key K) *V {
	value, ok := totals[key]
	if !ok {
		value = new(V)
		totals[key] = value
	}
	return value
}

func (b *usageBooking) addAll(entries []*usageEntry) {
	var period domain.Period
	for _, e := range entries {
		if e.StartedAt.Before(period.Start) || !e.StartedAt.Before(period.End) {
			period = b.billing.PeriodAt(e.StartedAt)
		}
		b.add(e, period)
	}
}

func (b *usageBooking) add(e *usageEntry, period domain.Period) {
	hour := e.StartedAt.Unix() / secondsOfHour
	group := b.groups[e.subscriber].at(e.StartedAt)
	start := period.Start.Unix()
	key := dayKey{hour / hoursOfDay, e.subscriber, group}

	total(b.companyHours, hourKey{0, hour, e.Protocol}).add(e)
	d := total(b.days, key)
	d.add(e)
	d.cell(hour%hoursOfDay + hoursOfDay*int64(b.protocols[e.Protocol])).add(e)
	total(b.subscriberPeriods, periodKey{start, e.subscriber}).add(e)
	if e.IPAddress.IsValid() {
		d.address(e.IPAddress).add(e)
	}
	if group != 0 {
		total(b.groupHours, hourKey{group, hour, e.Protocol}).add(e)
		total(b.groupPeriods, periodKey{start, group}).add(e)
	}
	if e.EndedAt.After(b.sources[e.Source]) {
		b.sources[e.Source] = e.EndedAt
	}
}

// addSessions adds n sessions that began at a time.
func (b *usageBooking) addSessions(subscriber int64, began time.Time, n int64) {
	hour := began.Unix() / secondsOfHour
	group := b.groups[subscriber].at(began)
	b.companySessions[sessionsKey{0, hour}] += n
	if group != 0 {
		b.groupSessions[sessionsKey{group, hour}] += n
	}
	d := total(b.days, dayKey{hour / hoursOfDay, subscriber, group})
	d.sessions += n
	d.cell(hour % hoursOfDay).sessions += n
}

// groupHistory is which group a subscriber was in since when, in order of time.
type groupHistory []groupSince

type groupSince struct {
	since int64 // Unix microseconds
	group int64 // 0 for none
}

// at returns the group at a time: before the first known group, that one.
func (h groupHistory) at(t time.Time) int64 {
	for len(h) > 0 && h[0].group == 0 {
		h = h[1:]
	}
	if len(h) == 0 {
		return 0
	}
	group, at := h[0].group, t.UnixMicro()
	for _, m := range h[1:] {
		if m.since > at {
			break
		}
		group = m.group
	}
	return group
}

// groupHistories returns three arrays rather than a row for each membership,
// which is several times dearer to read. date_part is exact to the microsecond
// here, and cheaper than extract.
const groupHistories = `
SELECT coalesce(array_agg(m.subscriber_key), '{}'), coalesce(array_agg((date_part('epoch', m.since) * 1000000)::bigint), '{}'),
  coalesce(array_agg(coalesce(m.group_id, 0)), '{}')
FROM group_memberships m
WHERE m.company_id = $1 AND m.subscriber_key = ANY($2)`

func loadGroupHistories(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, subscribers []int64) (map[int64]groupHistory, error) {
	var keys, since, groups pq.Int64Array
	row := tx.QueryRowxContext(ctx, groupHistories, company, pq.Int64Array(subscribers))
	if err := row.Scan(&keys, &since, &groups); err != nil {
		return nil, err
	}
	histories := make(map[int64]groupHistory, len(subscribers))
	for i, key := range keys {
		histories[key] = append(histories[key], groupSince{since[i], groups[i]})
	}
	for _, history := range histories {
		slices.SortFunc(history, func(x, y groupSince) int { return cmp.Compare(x.since, y.since) })
	}
	return histories, nil
}

func subscribersOf(entries []*usageEntry) []int64 {
	keys := pg.Pluck(entries, func(e *usageEntry) int64 { return e.subscriber })
	slices.Sort(keys)
	return slices.Compact(keys)
}

// ordered returns the keys of totals in the one order in which all writers lock.
func ordered[K comparable, V any](totals map[K]V, compare func(x, y K) int) []K {
	keys := make([]K, 0, len(totals))
	for key := range totals {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, compare)
	return keys
}

func (k hourKey) compare(to hourKey) int {
	return cmp.Or(cmp.Compare(k.group, to.group), cmp.Compare(k.hour, to.hour), cmp.Compare(k.protocol, to.protocol))
}

func (k sessionsKey) compare(to sessionsKey) int {
	return cmp.Or(cmp.Compare(k.group, to.group), cmp.Compare(k.hour, to.hour))
}

func (k dayKey) compare(to dayKey) int {
	return cmp.Or(cmp.Compare(k.day, to.day), cmp.Compare(k.subscriber, to.subscriber), cmp.Compare(k.group, to.group))
}

func (k periodKey) compare(to periodKey) int {
	return cmp.Or(cmp.Compare(k.start, to.start), cmp.Compare(k.id, to.id))
}
