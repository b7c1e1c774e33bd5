package condition

import "time"

// Feeds are how far the usage of each source is known.
type Feeds map[string]time.Time

// Newest is how far the usage of any source is known; zero without sources.
func (f Feeds) Newest() (newest time.Time) {
	for _, until := range f {
		if until.After(newest) {
			newest = until
		}
	}
	return newest
}

// Covers reports whether usage up to a time would be known if there were any: of the
// source, or of any where that is not known.
func (f Feeds) Covers(source string, at time.Time) bool {
	until, known := f[source]
	if !known {
		until = f.Newest()
	}
	return !until.Before(at)
}

// Agree reports whether all sources give the same answer to Covers, so that it need not
// be known which one a subject has.
func (f Feeds) Agree(at time.Time) bool {
	covered := 0
	for source := range f {
		if f.Covers(source, at) {
			covered++
		}
	}
	return covered == 0 || covered == len(f)
}
