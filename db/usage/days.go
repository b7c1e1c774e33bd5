package usage

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/lib/pq"

	"simgraph/db/pg"
	"simgraph/domain"
)

// addDays appends the cells to those of the day, and adds up what came often
// whenever the day has 32 cells more.
const addDays = `days AS (
  INSERT INTO subscriber_days AS d (company_id, day, subscriber_key, group_id, mobile_originated, mobile_terminated, sessions, last_seen, cells,
    ip_address, ip_originated, ip_terminated, ip_last_seen)
  SELECT own.company_id, DATE 'epoch' + ($3::integer[])[n.place], ($4::bigint[])[n.place], ($5::bigint[])[n.place],
    ($6::bigint[])[n.place], ($7::bigint[])[n.place], ($8::bigint[])[n.place], to_timestamp(($9::bigint[])[n.place]),
    ($10::bigint[])[coalesce(($11::integer[])[n.place - 1], 0) + 1:($11::integer[])[n.place]],
    n.ip_address, ($12::bigint[])[n.place], ($13::bigint[])[n.place], to_timestamp(($14::bigint[])[n.place])
  FROM companies own
  CROSS JOIN unnest($2::inet[]) WITH ORDINALITY AS n(ip_address, place)
  WHERE own.company_id = $1
  ON CONFLICT (company_id, day, subscriber_key, group_id) DO UPDATE
  SET mobile_originated = d.mobile_originated + excluded.mobile_originated,
    mobile_terminated = d.mobile_terminated + excluded.mobile_terminated,
    sessions = d.sessions + excluded.sessions,
    last_seen = greatest(d.last_seen, excluded.last_seen),
    cells = CASE WHEN cardinality(d.cells) / 160 = (cardinality(d.cells) + cardinality(excluded.cells)) / 160
      THEN d.cells || excluded.cells
      ELSE usage_compact(d.cells || excluded.cells) END,
    ip_address = coalesce(d.ip_address, excluded.ip_address),
    ip_originated = CASE WHEN d.ip_address <> excluded.ip_address THEN d.ip_originated ELSE d.ip_originated + excluded.ip_originated END,
    ip_terminated = CASE WHEN d.ip_address <> excluded.ip_address THEN d.ip_terminated ELSE d.ip_terminated + excluded.ip_terminated END,
    ip_last_seen = CASE WHEN d.ip_address <> excluded.ip_address THEN d.ip_last_seen ELSE greatest(d.ip_last_seen, excluded.ip_last_seen) END,
    ip_differs = d.ip_address <> excluded.ip_address
  RETURNING day, subscriber_key, group_id, ip_differs
)`

// dayColumns are the parameters of addDays, and what is not in them: usage under
// other addresses than the first of a day in the batch, which is offered to the day.
type dayColumns struct {
	args  []any
	apart []dayAddress
}

func (w totalsWriter) columnsOfDays() *dayColumns {
	keys := ordered(w.Days, compareDays)
	days := pg.Pluck(keys, func(k domain.DayKey) *domain.DayTotal { return w.Days[k] })
	c := &dayColumns{}
	var cells, ends pq.Int64Array
	for i, d := range days {
		cells = w.pack(d, cells)
		ends = append(ends, int64(len(cells)))
		for n := 1; n < len(d.Addresses); n++ {
			c.apart = append(c.apart, dayAddress{keys[i], &d.Addresses[n]})
		}
	}
	of := func(field func(*domain.DayTotal) int64) any { return intArray(days, field) }
	c.args = []any{
		addressArray(pg.Pluck(days, func(d *domain.DayTotal) netip.Addr { return firstAddress(d).Address })),
		intArray(keys, func(k domain.DayKey) int64 { return k.Day }),
		intArray(keys, func(k domain.DayKey) int64 { return k.Subscriber }),
		intArray(keys, func(k domain.DayKey) int64 { return k.Group }),
		of(func(d *domain.DayTotal) int64 { return d.MobileOriginated }), of(func(d *domain.DayTotal) int64 { return d.MobileTerminated }),
		of(func(d *domain.DayTotal) int64 { return d.Sessions }), of(func(d *domain.DayTotal) int64 { return d.LastSeen }), cells, ends,
		of(func(d *domain.DayTotal) int64 { return firstAddress(d).MobileOriginated }),
		of(func(d *domain.DayTotal) int64 { return firstAddress(d).MobileTerminated }),
		of(func(d *domain.DayTotal) int64 { return firstAddress(d).LastSeen }),
	}
	return c
}

// addDiffering adds the first addresses of days that have another.
func (c *dayColumns) addDiffering(r *writtenTotals, days map[domain.DayKey]*domain.DayTotal) {
	day := r.Began.Unix() / (hoursOfDay * secondsOfHour)
	for i, subscriber := range r.IDs {
		key := domain.DayKey{Day: day, Subscriber: subscriber, Group: r.Numbers[i]}
		c.apart = append(c.apart, dayAddress{key, firstAddress(days[key])})
	}
}

// firstAddress is the usage under the first address, empty where there is none.
func firstAddress(d *domain.DayTotal) *domain.AddressVolume {
	if len(d.Addresses) == 0 {
		return &domain.AddressVolume{}
	}
	return &d.Addresses[0]
}

// pack appends the cells of the day in the order of their slots: see usage_cells.
func (w totalsWriter) pack(d *domain.DayTotal, cells []int64) []int64 {
	slot := func(c domain.Cell) int64 { return c.Hour + hoursOfDay*int64(w.protocols[c.Protocol]) }
	slices.SortFunc(d.Cells, func(x, y domain.Cell) int { return cmp.Compare(slot(x), slot(y)) })
	for _, c := range d.Cells {
		cells = append(cells, slot(c), c.MobileOriginated, c.MobileTerminated, c.LastSeen, c.Sessions)
	}
	return cells
}

// dayAddress is the usage of a day under one address.
type dayAddress struct {
	domain.DayKey
	*domain.AddressVolume
}

const addAddresses = `
INSERT INTO ip_days AS d (company_id, day, subscriber_key, group_id, ip_address, mobile_originated, mobile_terminated, last_seen)
SELECT own.company_id, DATE 'epoch' + n.day, n.subscriber_key, n.group_id, n.ip_address, n.originated, n.terminated, to_timestamp(n.last_seen)
FROM companies own
CROSS JOIN unnest($2::integer[], $3::bigint[], $4::bigint[], $5::inet[], $6::bigint[], $7::bigint[], $8::bigint[])
AS n(day, subscriber_key, group_id, ip_address, originated, terminated, last_seen)
WHERE own.company_id = $1
ON CONFLICT (company_id, day, subscriber_key, group_id, ip_address) DO UPDATE
SET mobile_originated = d.mobile_originated + excluded.mobile_originated,
  mobile_terminated = d.mobile_terminated + excluded.mobile_terminated,
  last_seen = greatest(d.last_seen, excluded.last_seen)`

func (w totalsWriter) addAddresses(usage []dayAddress) error {
	if len(usage) == 0 {
		return nil
	}
	of := func(field func(dayAddress) int64) any { return intArray(usage, field) }
	return w.exec(addAddresses,
		of(func(u dayAddress) int64 { return u.Day }), of(func(u dayAddress) int64 { return u.Subscriber }),
		of(func(u dayAddress) int64 { return u.Group }),
		addressArray(pg.Pluck(usage, func(u dayAddress) netip.Addr { return u.Address })),
		of(func(u dayAddress) int64 { return u.MobileOriginated }), of(func(u dayAddress) int64 { return u.MobileTerminated }),
		of(func(u dayAddress) int64 { return u.LastSeen }))
}
