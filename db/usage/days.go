package usage

import (
	"cmp"
	"net/netip"
	"slices"

	"simgraph/db/pg"

	"github.com/lib/pq"
)

// addDays appends the cells to those of the day, and adds up what came often
// whenever the day has 32 cells more. It returns the days whose address is
// another than that of the usage.
const addDays = `
WITH added AS (
  INSERT INTO subscriber_days AS d (company_id, day, subscriber_key, group_id, mobile_originated, mobile_terminated, sessions, last_seen, cells,
    ip_address, ip_originated, ip_terminated, ip_last_seen)
  SELECT $1, DATE 'epoch' + ($3::integer[])[n.place], ($4::bigint[])[n.place], ($5::bigint[])[n.place],
    ($6::bigint[])[n.place], ($7::bigint[])[n.place], ($8::bigint[])[n.place], to_timestamp(($9::bigint[])[n.place]),
    ($10::bigint[])[coalesce(($11::integer[])[n.place - 1], 0) + 1:($11::integer[])[n.place]],
    n.ip_address, ($12::bigint[])[n.place], ($13::bigint[])[n.place], to_timestamp(($14::bigint[])[n.place])
  FROM unnest($2::inet[]) WITH ORDINALITY AS n(ip_address, place)
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
)
SELECT coalesce(array_agg(day - DATE 'epoch'), '{}'), coalesce(array_agg(subscriber_key), '{}'), coalesce(array_agg(group_id), '{}')
FROM added
WHERE ip_differs`

// days adds to the days of subscribers. The first address of a day in the batch
// is offered to the day, all others are counted apart.
func (w totalsWriter) days() error {
	totals := w.usageBooking.days
	keys := ordered(totals, dayKey.compare)
	days := pg.Pluck(keys, func(k dayKey) *day { return totals[k] })
	var apart []dayAddress
	var cells, ends pq.Int64Array
	for i, d := range days {
		cells = d.pack(cells)
		ends = append(ends, int64(len(cells)))
		for n := 1; n < len(d.addresses); n++ {
			apart = append(apart, dayAddress{keys[i], &d.addresses[n]})
		}
	}
	differ, err := w.addDays(keys, days, cells, ends)
	if err != nil {
		return err
	}
	for _, key := range differ {
		apart = append(apart, dayAddress{key, totals[key].first()})
	}
	return w.addAddresses(apart)
}

func (w totalsWriter) addDays(keys []dayKey, days []*day, cells, ends pq.Int64Array) (differ []dayKey, err error) {
	of := func(field func(*day) int64) any { return intArray(days, field) }
	var dates, subscribers, groups pq.Int64Array
	err = w.tx.QueryRowxContext(w.ctx, addDays, w.company,
		addressArray(pg.Pluck(days, func(d *day) netip.Addr { return d.first().address })),
		intArray(keys, func(k dayKey) int64 { return k.day }),
		intArray(keys, func(k dayKey) int64 { return k.subscriber }),
		intArray(keys, func(k dayKey) int64 { return k.group }),
		of(func(d *day) int64 { return d.originated }), of(func(d *day) int64 { return d.terminated }),
		of(func(d *day) int64 { return d.sessions }), of(func(d *day) int64 { return d.lastSeen }), cells, ends,
		of(func(d *day) int64 { return d.first().originated }), of(func(d *day) int64 { return d.first().terminated }),
		of(func(d *day) int64 { return d.first().lastSeen }),
	).Scan(&dates, &subscribers, &groups)
	for i := range dates {
		differ = append(differ, dayKey{dates[i], subscribers[i], groups[i]})
	}
	return differ, err
}

// first is the usage under the first address, empty where there is none.
func (d *day) first() *addressVolume {
	if len(d.addresses) == 0 {
		return &addressVolume{}
	}
	return &d.addresses[0]
}

// pack appends the cells of the day in the order of their slots.
func (d *day) pack(cells []int64) []int64 {
	slices.SortFunc(d.cells, func(x, y cell) int { return cmp.Compare(x.slot, y.slot) })
	for _, c := range d.cells {
		cells = append(cells, c.slot, c.originated, c.terminated, c.lastSeen, c.sessions)
	}
	return cells
}

// dayAddress is the usage of a day under one address.
type dayAddress struct {
	dayKey
	*addressVolume
}

const addAddresses = `
INSERT INTO ip_days AS d (company_id, day, subscriber_key, group_id, ip_address, mobile_originated, mobile_terminated, last_seen)
SELECT $1, DATE 'epoch' + n.day, n.subscriber_key, n.group_id, n.ip_address, n.originated, n.terminated, to_timestamp(n.last_seen)
FROM unnest($2::integer[], $3::bigint[], $4::bigint[], $5::inet[], $6::bigint[], $7::bigint[], $8::bigint[])
AS n(day, subscriber_key, group_id, ip_address, originated, terminated, last_seen)
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
		of(func(u dayAddress) int64 { return u.day }), of(func(u dayAddress) int64 { return u.subscriber }),
		of(func(u dayAddress) int64 { return u.group }),
		addressArray(pg.Pluck(usage, func(u dayAddress) netip.Addr { return u.address })),
		of(func(u dayAddress) int64 { return u.originated }), of(func(u dayAddress) int64 { return u.terminated }),
		of(func(u dayAddress) int64 { return u.lastSeen }))
}
