package upstream

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"simgraph/domain"
)

// Difference is a value that is another on the other server than here.
type Difference struct {
	// What is the noun, Key which one of them, and Field its field; "" for all of it.
	What, Key, Field string
	// There and Here are "" for what is missing.
	There, Here string
}

// String is the difference as people read it.
func (d Difference) String() string {
	name := d.What
	if d.Key != "" {
		name += " " + d.Key
	}
	if d.Field != "" {
		name += ": " + d.Field
	}
	return fmt.Sprintf("%s: %s there, %s here", name, orNothing(d.There), orNothing(d.Here))
}

func orNothing(text string) string {
	if text == "" {
		return "nothing"
	}
	return text
}

// WhatSubscriber is the noun of differences of subscribers.
const WhatSubscriber = "subscriber"

// CompareSubscribers returns in which of the documented fields a subscriber differs; ours is
// nil for one that is not here.
func CompareSubscribers(theirs, ours *domain.Subscriber) (differences []Difference) {
	if ours == nil {
		return []Difference{{What: WhatSubscriber, Key: theirs.PhysicalID, There: "it", Here: ""}}
	}
	of := fieldsOf(ours)
	for i, there := range fieldsOf(theirs) {
		if here := of[i]; there.value != here.value {
			differences = append(differences, Difference{WhatSubscriber, theirs.PhysicalID, there.name, there.value, here.value})
		}
	}
	return differences
}

type field struct{ name, value string }

// fieldsOf are the documented fields, but for networkState and dataUsage, which follow from
// usage and change by themselves.
func fieldsOf(s *domain.Subscriber) []field {
	return []field{
		{"subscriberId", s.SubscriberID}, {"dataNumber", text(s.DataNumber)}, {"imsi", s.IMSI}, {"nickname", s.Nickname},
		{"operatorCode", s.OperatorCode}, {"operatorName", s.OperatorName}, {"tariffName", text(s.TariffName)}, {"lineRental", shown(s.LineRental, strconv.Itoa)},
		{"contractLength", shown(s.ContractLength, strconv.Itoa)}, {"connectionDate", moment(s.ConnectionDate)}, {"expiryDate", moment(s.ExpiryDate)},
		{"terminateDate", shown(s.TerminateDate, moment)}, {"isBarred", strconv.FormatBool(s.IsBarred)}, {"isActive", strconv.FormatBool(s.IsActive)},
		{"subscriberType", string(s.SubscriberType)}, {"groupId", shown(s.GroupID, func(id int64) string { return strconv.FormatInt(id, 10) })}, {"eid", text(s.EID)}, {"smdpProvider", text(s.SMDPProvider)},
		{"related.parent.physicalId", text(s.ParentPhysicalID)}, {"related.parent.isEnabledOnParent", shown(s.IsEnabledOnParent, strconv.FormatBool)},
	}
}

// shown is a value as a text; "" for none.
func shown[T any](of *T, format func(T) string) string {
	if of == nil {
		return ""
	}
	return format(*of)
}

func text(of *string) string { return shown(of, func(s string) string { return s }) }

func moment(t time.Time) string { return t.UTC().Truncate(time.Microsecond).Format(time.RFC3339Nano) }

// Line compares a kind of thing.
type Line struct {
	What string
	// There and Here count it, Differ those that are not the same.
	There, Here, Differ int64
}

// MaxDifferences bounds the differences that a report holds; more are counted.
const MaxDifferences = 1_000

// Report is what a comparison found. It is not for several goroutines at once.
type Report struct {
	Lines []Line
	// Until is up to when usage was compared.
	Until time.Time
	// Differences are the first MaxDifferences.
	Differences []Difference
	// Notes are what cannot be compared, and why.
	Notes []string
}

// Add adds a line with what differs. Where the counts differ and nothing else does, they are
// the difference.
func (r *Report) Add(line Line, differences ...Difference) {
	line.Differ = max(line.Differ, int64(len(differences)))
	if line.Differ == 0 && line.There != line.Here {
		line.Differ = 1
		differences = []Difference{{What: line.What, There: strconv.FormatInt(line.There, 10), Here: strconv.FormatInt(line.Here, 10)}}
	}
	r.Lines = append(r.Lines, line)
	r.Differences = Append(r.Differences, differences...)
}

// Append appends differences as long as there are fewer than MaxDifferences.
func Append(to []Difference, differences ...Difference) []Difference {
	room := max(0, MaxDifferences-len(to))
	return append(to, differences[:min(room, len(differences))]...)
}

// Differ counts what is not the same.
func (r *Report) Differ() (sum int64) {
	for _, line := range r.Lines {
		sum += line.Differ
	}
	return sum
}

// CompareHours returns the hours in which volumes differ, in order of time.
func CompareHours(what string, theirs, ours Hours) (differences []Difference) {
	hours := make([]int64, 0, len(theirs))
	for hour := range theirs {
		hours = append(hours, hour)
	}
	for hour := range ours {
		if _, both := theirs[hour]; !both {
			hours = append(hours, hour)
		}
	}
	slices.Sort(hours)
	for _, hour := range hours {
		if there, here := theirs[hour], ours[hour]; there != here {
			differences = append(differences, Difference{What: what, Key: TimeOf(hour).Format("2006-01-02T15Z"), There: volume(there), Here: volume(here)})
		}
	}
	return differences
}

// Usage is what the subscribers with one subscriberId used, there and here. A number that
// went from one card to another is that of both: the other server adds them up.
type Usage struct {
	SubscriberID string
	There, Here  int64
}

// CompareUsage adds up what is booked by subscriberId, and returns all that either side has,
// in the order of that.
func CompareUsage(theirs map[string]int64, ours []*Reported) []Usage {
	here := make(map[string]int64, len(ours))
	for _, of := range ours {
		here[of.SubscriberID] += of.Total()
	}
	all := make([]Usage, 0, len(theirs))
	for id, bytes := range theirs {
		if bytes > 0 || here[id] > 0 {
			all = append(all, Usage{id, bytes, here[id]})
		}
		delete(here, id)
	}
	for id, bytes := range here {
		all = append(all, Usage{id, 0, bytes})
	}
	slices.SortFunc(all, func(a, b Usage) int { return strings.Compare(a.SubscriberID, b.SubscriberID) })
	return all
}

func volume(v domain.Volume) string {
	return fmt.Sprintf("%d bytes sent and %d received", v.MobileOriginated, v.MobileTerminated)
}
