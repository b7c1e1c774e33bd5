package db

import (
	"database/sql/driver"
	"net/netip"
	"time"

	"github.com/lib/pq"
)

// timeArray is an array parameter of times in whole microseconds.
type timeArray []time.Time

const timeArrayLayout = `"2006-01-02T15:04:05.999999Z"`

// Value implements driver.Valuer.
func (a timeArray) Value() (driver.Value, error) {
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

func addressText(a netip.Addr) string {
	if !a.IsValid() {
		return ""
	}
	return a.String()
}

// intArray is an array parameter of one number of each item.
func intArray[T any](items []T, field func(T) int64) any { return pq.Int64Array(pluck(items, field)) }

// textArray is an array parameter of one text of each item.
func textArray[T any](items []T, field func(T) string) any {
	return pq.StringArray(pluck(items, field))
}

// hourArray is an array parameter of the hours, counted from the Unix epoch.
func hourArray[T any](items []T, field func(T) int64) any {
	return timeArray(pluck(items, func(item T) time.Time { return time.Unix(field(item)*secondsOfHour, 0) }))
}
