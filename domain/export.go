package domain

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// UsageExport is usage as rows: of each subscriber, in each interval of a span, and for each
// value of a split.
type UsageExport struct {
	// Subscribers has the filter of the subscribers that are listed; nothing else of it counts.
	Subscribers Listing
	// Group, unless 0, is the group of the time of usage that alone counts.
	Group int64
	Span  Range
	By    Interval
	// Split is "" for none.
	Split Dimension
	// After, unless zero, is the key of the row after which to go on.
	After UsageKey
}

// UsageKey orders the rows of a UsageExport: by time, subscriber and value.
type UsageKey struct {
	Start      time.Time
	PhysicalID string
	// Value is "" for what has none.
	Value string
}

// UsageRow is a row of a UsageExport.
type UsageRow struct {
	// Start is the beginning of the interval, which may be before that of the span.
	Start                    time.Time
	PhysicalID, SubscriberID string
	// Value and Label are those of a UsageShare.
	Value, Label *string
	// Sessions are 0 unless the split CountsSessions.
	UsageTotals
}

// Key is where the row stands.
func (r UsageRow) Key() UsageKey {
	key := UsageKey{Start: r.Start, PhysicalID: r.PhysicalID}
	if r.Value != nil {
		key.Value = *r.Value
	}
	return key
}

// Merge adds the usage of the row that follows, if it has the same key, and reports that.
func (r *UsageRow) Merge(next UsageRow) bool {
	if r.Key() != next.Key() {
		return false
	}
	r.MobileOriginated += next.MobileOriginated
	r.MobileTerminated += next.MobileTerminated
	r.Sessions += next.Sessions
	return true
}

const keySeparator = "/"

// String is read by ParseUsageKey.
func (k UsageKey) String() string {
	text := k.Start.UTC().Format(time.RFC3339) + keySeparator + url.PathEscape(k.PhysicalID)
	if k.Value != "" {
		text += keySeparator + url.PathEscape(k.Value)
	}
	return text
}

// ParseUsageKey reads a key: 2026-11-01T00:00:00Z/8944500000000000001, with /value behind it
// where usage is split. Both are percent-encoded.
func ParseUsageKey(text string) (UsageKey, error) {
	parts := append(strings.Split(text, keySeparator), "")
	if len(parts) < 3 || len(parts) > 4 {
		return UsageKey{}, invalidKey()
	}
	start, startErr := time.Parse(time.RFC3339, parts[0])
	physicalID, idErr := url.PathUnescape(parts[1])
	value, valueErr := url.PathUnescape(parts[2])
	if errors.Join(startErr, idErr, valueErr, CheckPhysicalID(physicalID)) != nil || strings.ContainsRune(value, 0) || !utf8.ValidString(value) {
		return UsageKey{}, invalidKey()
	}
	return UsageKey{Start: start, PhysicalID: physicalID, Value: value}, nil
}

func invalidKey() error {
	return Invalid("after", "after must be start and physicalId of the last whole row, and the value where usage is split: 2026-11-01T00:00:00Z/8944500000000000001/TCP")
}

// IsZero reports whether the key is that of no row.
func (k UsageKey) IsZero() bool { return k.PhysicalID == "" }

// ExportSplits are the dimensions that usage is exported by. Those of the subscriber are as
// they are now, and countries are read from the ledger.
var ExportSplits = []Dimension{ByProtocol, ByIPAddress, ByGroup, ByTag, ByOperator, ByTariff, ByKind, ByCountry}

// Check refuses what the totals do not have.
func (e *UsageExport) Check() error {
	if e.Split != "" && !slices.Contains(ExportSplits, e.Split) {
		return Invalid("by", "usage of subscribers is not split by %s", e.Split)
	}
	if err := e.Split.CheckSpan(e.Span); err != nil {
		return err
	}
	switch {
	case e.Split == ByCountry && e.Group != 0:
		return Invalid("group", "the ledger has no groups: ask by COUNTRY with a filter of subscribers")
	case e.Split == ByIPAddress && (e.By.Unit == Hourly || e.By.Zone != time.UTC || !isUTCDay(e.Span.Start) || !isUTCDay(e.Span.End)):
		return Invalid("by", "usage by IP address is known by the UTC day only: ask with timeZone=UTC for whole days, with interval DAY, WEEK or MONTH")
	case !e.After.IsZero() && (e.After.Start.Before(e.By.StartOf(e.Span.Start)) || !e.After.Start.Before(e.Span.End)):
		return Invalid("after", "after is not within the span")
	}
	return nil
}

func isUTCDay(t time.Time) bool { return t.Equal(t.Truncate(24 * time.Hour)) }

// Parts are the spans that the rows are read by, in their order: intervals, and of hours the
// UTC days. The first is the one that After is in.
func (e *UsageExport) Parts() []Range {
	step := e.By
	if step.Unit == Hourly {
		step = Interval{Unit: Daily, Zone: time.UTC}
	}
	var parts []Range
	for at := e.Span.Start; at.Before(e.Span.End); {
		next := step.Next(step.StartOf(at))
		isAhead := e.After.IsZero() || e.After.Start.Before(next)
		if next.After(e.Span.End) {
			next = e.Span.End
		}
		// Usage counts by UTC hours, and that around midnight for the day in which it begins.
		part := Range{Start: WholeHour(at), End: WholeHour(next)}
		if part.Start.Before(part.End) && isAhead {
			parts = append(parts, part)
		}
		at = next
	}
	return parts
}

// UsageExports reads usage row by row.
type UsageExports interface {
	// Rows calls each for the rows of the export that the scope shows, in the order of their
	// keys, and ends with its error. There may be any number. What has no usage has no row. By
	// tag, usage is in a row for each tag of its subscriber.
	Rows(ctx context.Context, scope Scope, export UsageExport, each func(UsageRow) error) error
}
