package condition

import (
	"fmt"
	"time"

	"simgraph/domain"
)

// Names are those that people use of the subject of an entry; "" where it has none.
type Names struct{ SubscriberID, Nickname, GroupName string }

// Subject names what the entry is about, on one line.
func (e *Entry) Subject(names Names) string {
	switch {
	case e.Kind == SourceSilent:
		return feedName(domain.FeedKey{Source: e.Source, NAS: e.NAS})
	case e.GroupID != nil:
		return fmt.Sprintf("group %s (%d)", domain.OneLine(names.GroupName, domain.MaxName), *e.GroupID)
	case names.Nickname != "":
		return fmt.Sprintf("%s (%s)", domain.OneLine(names.Nickname, domain.MaxName), domain.OneLine(names.SubscriberID, domain.MaxName))
	}
	return "subscriber " + domain.OneLine(names.SubscriberID, domain.MaxName)
}

// Describe returns what happened, as a sentence without its subject.
func (e *Entry) Describe() string {
	since := e.Since.UTC().Format("2 Jan 2006 15:04 UTC")
	switch {
	case e.State == Resolved && e.Kind == SourceSilent:
		return "reports usage again"
	case e.State == Resolved:
		return "is seen again"
	case e.Kind == Silent:
		return fmt.Sprintf("has been silent for more than %s, since %s", hours(e.Bound), since)
	case e.Kind == SourceSilent:
		return fmt.Sprintf("has reported no usage since %s: no silence of its subscribers is reported meanwhile", since)
	case e.Kind == Storm:
		return fmt.Sprintf("began %d sessions in the hour from %s, more than %d", e.Value, since, e.Bound)
	case e.Kind == Forecast:
		return fmt.Sprintf("will use %d bytes in the billing period from %s, more than %d", e.Value, since, e.Bound)
	}
	return fmt.Sprintf("changed its %s from %s to %s", traitNames[e.Trait], quoted(e.Before), quoted(e.After))
}

// feedName names a network element with its source.
func feedName(key domain.FeedKey) string {
	source := "source " + domain.OneLine(key.Source, domain.MaxName)
	if key.NAS == "" {
		return source
	}
	return "network element " + domain.OneLine(key.NAS, domain.MaxName) + " of " + source
}

var traitNames = map[Trait]string{
	IMEI: "device (IMEI)", Address: "IP address", Network: "network", Country: "country", Protocol: "radio access",
}

func quoted(text string) string { return domain.OneLine(text, domain.MaxName) }

func hours(n int64) string {
	switch {
	case n == 1:
		return "an hour"
	case n%24 == 0 && n > 24:
		return fmt.Sprintf("%d days", n/24)
	}
	return fmt.Sprintf("%d hours", n)
}

// Due is when a silence that began then is one of the alert.
func (a *Alert) Due(since time.Time) time.Time { return since.Add(a.Duration()) }
