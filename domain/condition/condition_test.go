package condition_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"simgraph/domain"
	"simgraph/domain/condition"
)

const day = 24 * time.Hour

// The total of a forecast agrees with one that adds up day by day, in seconds.
func TestForecastsAgreeWithASlowReference(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 1))
		at := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(random.IntN(400*24*60)) * time.Minute)
		today := at.Truncate(day)
		end := at.Add(time.Duration(1+random.IntN(31*24)) * time.Hour).Truncate(time.Hour)
		period := domain.Period{Start: at.AddDate(0, 0, -3), End: end}
		history := condition.History{Used: random.Int64N(1_000_000), Today: random.Int64N(1000), ConnectedAt: at.AddDate(0, 0, -random.IntN(40))}
		usage := map[time.Time]int64{}
		for back := 1; back <= condition.HistoryDays; back++ {
			date := today.AddDate(0, 0, -back)
			if !date.Add(day).Before(history.ConnectedAt) {
				usage[date] = 2 * random.Int64N(1000)
			}
			history.Days[back-1] = usage[date]
		}
		want := float64(history.Used)
		for date := today; date.Before(end); date = date.Add(day) {
			var same []int64
			for of, bytes := range usage {
				if of.Weekday() == date.Weekday() {
					same = append(same, bytes)
				}
			}
			slices.Sort(same)
			expected := 0.0
			if n := len(same); n > 0 {
				expected = float64(same[(n-1)/2]+same[n/2]) / 2
			}
			from := date
			if date.Equal(today) {
				expected, from = max(0, expected-float64(history.Today)), at
			}
			till := date.Add(day)
			if till.After(end) {
				till = end
			}
			if till.After(from) {
				want += expected * till.Sub(from).Seconds() / date.Add(day).Sub(from).Seconds()
			}
		}
		if got := float64(history.Total(at, period)); got < want-1 || got > want+1 {
			t.Fatalf("seed %d: %v, want %v", seed, got, want)
		}
	}
}

// A value is a change when it is neither the first nor among the last four.
func TestTheLastValuesAreKnown(t *testing.T) {
	t.Parallel()
	var known condition.Known
	for i, c := range []struct {
		value   string
		changes bool
	}{
		{"a", false}, {"a", false}, {"b", true}, {"a", false}, {"c", true}, {"d", true}, {"b", false}, {"e", true}, {"a", true}, {"e", false}, {"c", true},
	} {
		var changes bool
		if known, changes = known.Learn(c.value); changes != c.changes || known[0] != c.value || len(known) > 4 {
			t.Errorf("%d: %s: %v, %v", i, c.value, known, changes)
		}
	}
}

func TestASpecThatNothingCanMeetIsRejected(t *testing.T) {
	t.Parallel()
	silent := condition.Condition{Kind: condition.Silent, Bound: 6}
	changes := condition.Condition{Kind: condition.Change, Traits: []condition.Trait{condition.IMEI}}
	for _, c := range []struct {
		spec condition.Spec
		want string
	}{
		{condition.Spec{RuleType: domain.RuleCompany, Condition: silent}, ""},
		{condition.Spec{RuleType: domain.RuleCompany, Target: "x", Condition: silent}, "target"},
		{condition.Spec{RuleType: domain.RuleGroup, Target: "012", Condition: silent}, "target"},
		{condition.Spec{RuleType: "sims", Condition: silent}, "ruleType"},
		{condition.Spec{RuleType: domain.RuleCompany}, "condition"},
		{condition.Spec{RuleType: domain.RuleCompany, Condition: condition.Condition{Kind: condition.SourceSilent, Bound: 4}}, "sourceSilentMinutes"},
		{condition.Spec{RuleType: domain.RuleCompany, Condition: condition.Condition{Kind: condition.SourceSilent, Bound: 2881}}, "sourceSilentMinutes"},
		{condition.Spec{RuleType: domain.RuleSIM, Target: "s1", Condition: condition.Condition{Kind: condition.SourceSilent, Bound: 5}}, "sourceSilentMinutes"},
		{condition.Spec{RuleType: domain.RuleCompany, Condition: condition.Condition{Kind: condition.Silent}}, "silentHours"},
		{condition.Spec{RuleType: domain.RuleCompany, Condition: condition.Condition{Kind: condition.Silent, Bound: 2160}}, ""},
		{condition.Spec{RuleType: domain.RuleCompany, Condition: condition.Condition{Kind: condition.Silent, Bound: 2161}}, "silentHours"},
		{condition.Spec{RuleType: domain.RuleCompany, Condition: condition.Condition{Kind: condition.Storm, Bound: 1_000_001}}, "sessionsPerHour"},
		{condition.Spec{RuleType: domain.RuleCompany, Condition: condition.Condition{Kind: condition.Forecast, Bound: -1}}, "forecastBytes"},
		{condition.Spec{RuleType: domain.RuleCompany, Condition: condition.Condition{Kind: condition.Forecast}}, ""},
		{condition.Spec{RuleType: domain.RuleGroup, Target: "12", Condition: changes}, "changesOf"},
		{condition.Spec{RuleType: domain.RuleGroupMember, Target: "12", Condition: changes}, ""},
		{condition.Spec{RuleType: domain.RuleCompany, Condition: condition.Condition{Kind: condition.Change}}, "changesOf"},
		{condition.Spec{RuleType: domain.RuleCompany, Condition: condition.Condition{Kind: condition.Change, Traits: []condition.Trait{"mood"}}}, "changesOf"},
		{condition.Spec{RuleType: domain.RuleCompany, Condition: condition.Condition{Kind: condition.Change, Traits: []condition.Trait{condition.IMEI, condition.IMEI}}}, "changesOf"},
	} {
		field := ""
		if fault, is := domain.AsError(c.spec.Check()); is {
			field = fault.Field
		}
		if field != c.want {
			t.Errorf("%+v: an error of %q, want %q", c.spec, field, c.want)
		}
	}
}

func TestFeedsThatAgreeNeedNoSource(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, time.November, 9, 12, 0, 0, 0, time.UTC)
	feed := func(until time.Time) condition.Feed { return condition.Feed{Until: until, ReportedAt: until} }
	key := func(source, nas string) domain.FeedKey { return domain.FeedKey{Source: source, NAS: nas} }
	feeds := condition.Feeds{key("a", "n1"): feed(noon), key("a", "n2"): feed(noon.Add(-2 * time.Hour)), key("b", ""): feed(noon.Add(-time.Hour))}
	for _, c := range []struct {
		of            domain.FeedKey
		at            time.Time
		covers, agree bool
	}{
		{key("a", "n1"), noon, true, false}, {key("a", "n2"), noon, false, false}, {key("a", "gone"), noon, true, false}, {key("b", ""), noon, false, false},
		{key("", ""), noon, true, false}, {key("b", ""), noon.Add(-time.Hour), true, false}, {key("b", ""), noon.Add(-2 * time.Hour), true, true},
		{key("a", "n1"), noon.Add(time.Second), false, true}, {key("", ""), noon.Add(time.Second), false, true},
	} {
		if feeds.Covers(c.of, c.at) != c.covers || feeds.Agree(c.at) != c.agree {
			t.Errorf("%+v: covers %v, agree %v", c, feeds.Covers(c.of, c.at), feeds.Agree(c.at))
		}
	}
	behind := feed(noon)
	behind.IsCatchingUp = true
	if catching := (condition.Feeds{key("a", ""): behind}); catching.Covers(key("a", ""), noon.Add(-time.Hour)) {
		t.Error("a source that catches up confirms a silence")
	}
	if none := (condition.Feeds{}); none.Covers(key("a", ""), noon) || !none.Agree(noon) || !none.Newest().IsZero() {
		t.Error("without sources something is known")
	}
}

// Of each bearer the last addresses are known, those of the eight with the newest.
func TestAddressesAreKnownByBearer(t *testing.T) {
	t.Parallel()
	memory := condition.Memory{}
	learn := func(apn, address string) int {
		return len(memory.Learn(&condition.Report{APN: apn, Address: address}))
	}
	for i := range 8 {
		if learn(fmt.Sprint("apn", i), "10.0.0.1") != 0 {
			t.Errorf("the first address of APN %d is a change", i)
		}
	}
	if learn("APN1", "10.0.0.2") != 1 || learn("apn1", "2001:db8::/64") != 0 || learn("apn2", "10.0.0.2") != 1 {
		t.Error("an address of another bearer, or of the same, is taken for the other")
	}
	if learn("apn0", "10.0.0.2") != 0 {
		t.Error("the bearer that was used longest ago is known still")
	}
	if got := memory.Values(condition.Address); !slices.Equal(got, condition.Known{"10.0.0.2", "10.0.0.1", "2001:db8::/64"}) {
		t.Errorf("the addresses are %v", got)
	}
	if len(memory) != 9 {
		t.Errorf("%d places are kept, not 8 and their list", len(memory))
	}
}

// An explanation of a silence names the source and the network element that reported last.
func TestAnExplanationSaysWhereTheSubjectCameFrom(t *testing.T) {
	t.Parallel()
	alert := &condition.Alert{Kind: condition.Silent, Bound: 24}
	e := alert.Explain(&condition.Standing{IsWatched: true, IsInUse: true, FeedKey: domain.FeedKey{Source: "radius", NAS: "pgw1"}})
	if e.Source != "radius" || e.NAS != "pgw1" {
		t.Errorf("got the source %q and the element %q", e.Source, e.NAS)
	}
}
