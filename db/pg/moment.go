package pg

import "time"

// Moment returns the time as the database keeps it: in UTC, in microseconds.
func Moment(at time.Time) time.Time { return at.UTC().Truncate(time.Microsecond) }
