package usage

import (
	"database/sql/driver"
	"encoding/hex"
	"net/netip"
	"time"

	"github.com/lib/pq"

	"simgraph/db/pg"
	"simgraph/domain"
)

// TimeArray is an array parameter of times in whole microseconds.
type TimeArray []time.Time

const timeArrayLayout = `"2006-01-02T15:04:05.999999Z"`

// Value implements driver.Valuer.
func (a TimeArray) Value() (driver.Value, error) {
	b := make([]byte, 0, 2+len(a)*(len(timeArrayLayout)+1))
	b = append(b, '{')
	for i, t := range a {
		if i > 0 {
			b = append(b, ',')
		}
		b = t.UTC().AppendFormat(b, timeArrayLayout)
	}
	return string(append(b, '}')), nil
}

// addressArray is an array parameter of addresses, NULL for the zero Addr.
type addressArray []netip.Addr

// Value implements driver.Valuer.
func (a addressArray) Value() (driver.Value, error) {
	b := make([]byte, 0, 2+len(a)*len("255.255.255.255,"))
	b = append(b, '{')
	for i, address := range a {
		if i > 0 {
			b = append(b, ',')
		}
		if address.IsValid() {
			b = address.AppendTo(b)
		} else {
			b = append(b, "NULL"...)
		}
	}
	return string(append(b, '}')), nil
}

// identityArray is an array parameter of uuids.
type identityArray []domain.UsageIdentity

// Value implements driver.Valuer.
func (a identityArray) Value() (driver.Value, error) {
	b := make([]byte, 0, 2+len(a)*(2*len(domain.UsageIdentity{})+1))
	b = append(b, '{')
	for i, identity := range a {
		if i > 0 {
			b = append(b, ',')
		}
		b = hex.AppendEncode(b, identity[:])
	}
	return string(append(b, '}')), nil
}

// dictionary is an array parameter of the different texts of some items, and
// one that has the place of the text of each, counted from 1.
func dictionary[T any](items []T, field func(T) string) (texts, places any) {
	known := map[string]int64{}
	var names pq.StringArray
	numbers := make(pq.Int64Array, len(items))
	for i, item := range items {
		text := field(item)
		place, ok := known[text]
		if !ok {
			names = append(names, text)
			place = int64(len(names))
			known[text] = place
		}
		numbers[i] = place
	}
	return names, numbers
}

// intArray is an array parameter of one number of each item.
func intArray[T any](items []T, field func(T) int64) any {
	return pq.Int64Array(pg.Pluck(items, field))
}

// textArray is an array parameter of one text of each item.
func textArray[T any](items []T, field func(T) string) any {
	return pq.StringArray(pg.Pluck(items, field))
}

// hourArray is an array parameter of the hours, counted from the Unix epoch.
func hourArray[T any](items []T, field func(T) int64) any {
	return TimeArray(pg.Pluck(items, func(item T) time.Time { return time.Unix(field(item)*secondsOfHour, 0) }))
}
