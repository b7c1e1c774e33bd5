package condition

import (
	"time"

	"simgraph/domain"
)

const (
	// NASSilence is after how much silence a network element counts as silent. A shorter
	// one that an alert watches, of subscribers or of sources, replaces it.
	NASSilence = 6 * time.Hour
	// SourceSilence is that of a source without network elements.
	SourceSilence = 48 * time.Hour
	// Abandoned is how much longer a feed has been silent that counts as one that nobody
	// uses any more.
	Abandoned = 30 * 24 * time.Hour
)

// Feed is how far the usage of a network element is known, or of a source without one.
type Feed struct {
	// Until is the newest time that its reports speak of, and ReportedAt when the last
	// arrived.
	Until, ReportedAt time.Time
	// IsCatchingUp is set while reports arrive late, also those of other network elements
	// of the source: others may have to come yet.
	IsCatchingUp bool
	// WasLate is set when its own last report was late: more of a backlog may come.
	WasLate bool
}

// covers reports whether usage up to a time would be known if there were any.
func (f Feed) covers(at time.Time) bool { return !f.IsCatchingUp && !f.WasLate && !f.Until.Before(at) }

// Feeds are those of a company. A source with network elements has none of its own.
type Feeds map[domain.FeedKey]Feed

// Newest is how far the usage of any source is known; zero without sources.
func (f Feeds) Newest() time.Time { return f.newest(func(domain.FeedKey) bool { return true }).Until }

// newest is the feed that is known the furthest, of those wanted. It catches up while any of
// them does.
func (f Feeds) newest(wanted func(domain.FeedKey) bool) (newest Feed) {
	for key, feed := range f {
		if !wanted(key) {
			continue
		}
		newest.IsCatchingUp = newest.IsCatchingUp || feed.IsCatchingUp
		if feed.Until.After(newest.Until) {
			newest.Until, newest.WasLate = feed.Until, feed.WasLate
		}
		if feed.ReportedAt.After(newest.ReportedAt) {
			newest.ReportedAt = feed.ReportedAt
		}
	}
	return newest
}

// Of returns the feed of a network element. Where it is not known, that of its source is
// returned, and without that the one of all.
func (f Feeds) Of(key domain.FeedKey) Feed {
	if feed, known := f[key]; known {
		return feed
	}
	if feed := f.newest(func(other domain.FeedKey) bool { return other.Source == key.Source }); !feed.Until.IsZero() {
		return feed
	}
	return f.newest(func(domain.FeedKey) bool { return true })
}

// Covers reports whether usage of the network element up to a time would be known if there
// were any.
func (f Feeds) Covers(key domain.FeedKey, at time.Time) bool {
	return len(f) > 0 && f.Of(key).covers(at)
}

// Agree reports whether all feeds give the same answer to Covers, so that it need not be
// known which one a subject has.
func (f Feeds) Agree(at time.Time) bool {
	covered := 0
	for _, feed := range f {
		if feed.covers(at) {
			covered++
		}
	}
	return covered == 0 || covered == len(f)
}

// SilentFeed is a feed that is silent, and since when. NAS is "" for a source of which
// all network elements are.
type SilentFeed struct {
	domain.FeedKey
	Since time.Time
}

// Silent returns the feeds that were silent at a time, where silences of the shortest
// duration are watched; 0 for none. A network element is named when its source has
// reported for as long without it. One that is silent together with all others is not:
// the source is.
func (f Feeds) Silent(at time.Time, shortest time.Duration) (silent []SilentFeed) {
	elements := map[string][]domain.FeedKey{}
	for key, feed := range f {
		if feed.Until.After(at.Add(-Patience(key, shortest) - Abandoned)) {
			elements[key.Source] = append(elements[key.Source], key)
		}
	}
	for source, keys := range elements {
		whole := f.newest(func(key domain.FeedKey) bool { return key.Source == source })
		if whole.IsCatchingUp {
			continue
		}
		if horizon := at.Add(-Patience(keys[0], shortest)); whole.isSilent(horizon) {
			key := domain.FeedKey{Source: source}
			if len(keys) == 1 {
				key = keys[0]
			}
			silent = append(silent, SilentFeed{key, whole.Until})
			continue
		}
		for _, key := range keys {
			bound := Patience(key, shortest)
			if feed := f[key]; feed.isSilent(at.Add(-bound)) && !whole.Until.Before(feed.Until.Add(bound)) {
				silent = append(silent, SilentFeed{key, feed.Until})
			}
		}
	}
	return silent
}

// isSilent reports whether nothing was reported after the horizon, nor of a time after it.
func (f Feed) isSilent(horizon time.Time) bool {
	return !f.Until.After(horizon) && !f.ReportedAt.After(horizon)
}

// ReportsAgain reports whether a feed that was silent speaks of a time since then that is
// near enough.
func (f Feeds) ReportsAgain(of SilentFeed, at time.Time, shortest time.Duration) bool {
	feed, known := f[of.FeedKey]
	if !known && of.NAS == "" {
		feed = f.newest(func(key domain.FeedKey) bool { return key.Source == of.Source })
		of.NAS = f.anyNAS(of.Source)
	}
	return feed.Until.After(of.Since) && feed.Until.After(at.Add(-Patience(of.FeedKey, shortest)))
}

// anyNAS is a network element of the source; "" for none.
func (f Feeds) anyNAS(source string) string {
	for key := range f {
		if key.Source == source {
			return key.NAS
		}
	}
	return ""
}

// Patience is after how much silence a feed counts as silent.
func Patience(of domain.FeedKey, shortest time.Duration) time.Duration {
	bound := NASSilence
	if of.NAS == "" {
		bound = SourceSilence
	}
	if shortest > 0 {
		bound = min(bound, shortest)
	}
	return bound
}
