package demo_test

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"simgraph/domain"
	"simgraph/internal/bundle"
	"simgraph/internal/demo"
	"simgraph/internal/fatal"
)

var until = time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)

func options(subscribers, days int) demo.Options {
	return demo.Options{Company: "demo", Subscribers: subscribers, Days: days, Seed: 1, Until: until}
}

func write(t testing.TB, o demo.Options) []byte {
	t.Helper()
	fatal.If(t, o.Check())
	var b bytes.Buffer
	w := bundle.NewWriter(&b)
	for item := range demo.Items(o) {
		fatal.If(t, w.Write(item))
	}
	fatal.If(t, w.Flush())
	return b.Bytes()
}

// values are the items of a type.
func values[T any](o demo.Options) []T {
	var found []T
	for item := range demo.Items(o) {
		if v, ok := item.Value.(T); ok {
			found = append(found, v)
		}
	}
	return found
}

func TestEqualOptionsGiveEqualBytes(t *testing.T) {
	first := write(t, options(300, 3))
	if !bytes.Equal(first, write(t, options(300, 3))) {
		t.Error("the second time it is another company")
	}
	other := options(300, 3)
	other.Seed = 2
	if bytes.Equal(first, write(t, other)) {
		t.Error("another seed gives the same company")
	}
	later := options(300, 3)
	later.Until = until.Add(59 * time.Minute)
	if !bytes.Equal(first, write(t, later)) {
		t.Error("until counts in whole hours")
	}
}

func TestEveryLineIsAccepted(t *testing.T) {
	r := bundle.NewReader(bytes.NewReader(write(t, options(2000, 2))))
	for {
		_, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("line %d: %v", r.Line(), err)
		}
	}
}

func TestFewOrNoSubscribersAreACompanyToo(t *testing.T) {
	for n := range 25 {
		if got := len(values[*domain.Subscriber](options(n, 1))); got != n {
			t.Errorf("%d subscribers, not %d", got, n)
		}
	}
}

func TestOptionsOutOfBoundsAreRefused(t *testing.T) {
	for name, change := range map[string]func(*demo.Options){
		"company":     func(o *demo.Options) { o.Company = "Acme Ltd" },
		"subscribers": func(o *demo.Options) { o.Subscribers = -1 },
		"days":        func(o *demo.Options) { o.Days = demo.MaxDays + 1 },
		"until":       func(o *demo.Options) { o.Until = time.Time{} },
	} {
		o := options(1, 1)
		change(&o)
		if err, ok := domain.AsError(o.Check()); !ok || err.Field != name {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestIdentifiersAreWellFormedAndUnique(t *testing.T) {
	physical, numbers := map[string]bool{}, map[string]bool{}
	for _, s := range values[*domain.Subscriber](options(20_000, 0)) {
		if physical[s.PhysicalID] || numbers[s.SubscriberID] {
			t.Fatalf("%s or %s is there twice", s.PhysicalID, s.SubscriberID)
		}
		physical[s.PhysicalID], numbers[s.SubscriberID] = true, true
		if reason := malformed(s); reason != "" {
			t.Fatalf("%s: %+v", reason, s)
		}
	}
}

func malformed(s *domain.Subscriber) string {
	length := len(s.PhysicalID)
	switch {
	case s.Kind == domain.Cellular && (length < 19 || length > 20 || !luhn(s.PhysicalID) || len(s.IMSI) != 15):
		return "no ICCID or IMSI"
	case s.Kind == domain.Satellite && (length != 15 || !luhn(s.PhysicalID)):
		return "no IMEI"
	case s.Kind == domain.NonIP && (length != 16 || s.SubscriberID != s.PhysicalID || s.IMSI != ""):
		return "no EUI-64"
	case s.EID != nil && (len(*s.EID) != 32 || modulo97(*s.EID) != 1):
		return "no EID"
	case len(s.SubscriberID) > 16:
		return "no number"
	}
	return ""
}

func luhn(digits string) bool {
	sum := 0
	for i := range len(digits) {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			d = d*2/10 + d*2%10
		}
		sum += d
	}
	return sum%10 == 0
}

func modulo97(digits string) (remainder int) {
	for _, d := range digits {
		remainder = (remainder*10 + int(d-'0')) % 97
	}
	return remainder
}

func TestProfilesFollowTheEUICCThatCarriesThem(t *testing.T) {
	seen, enabled := map[string]*domain.Subscriber{}, map[string]int{}
	for _, s := range values[*domain.Subscriber](options(400, 0)) {
		seen[s.PhysicalID] = s
		if s.ParentPhysicalID == nil {
			continue
		}
		if parent := seen[*s.ParentPhysicalID]; parent == nil || parent.EID == nil {
			t.Fatalf("%s has no eUICC before it", s.PhysicalID)
		}
		if *s.IsEnabledOnParent {
			enabled[*s.ParentPhysicalID]++
		}
	}
	if len(enabled) != 20 || slices.Max(slices.Collect(maps.Values(enabled))) != 1 {
		t.Errorf("enabled profiles by eUICC: %v", enabled)
	}
}

func TestUsageHasARhythm(t *testing.T) {
	var hours [24]int64
	days := map[time.Weekday]int64{}
	for _, u := range values[domain.UsageRecord](options(1000, 28)) {
		if strings.HasPrefix(u.Source, "pgw") && u.Protocol != "RTSP" && u.RecordID[:4] != "r-0-" {
			hours[u.StartedAt.Hour()] += u.MobileTerminated
			days[u.StartedAt.Weekday()] += u.MobileTerminated
		}
	}
	if hours[16] < 2*hours[3] {
		t.Errorf("the afternoon is not busier than the night: %v", hours)
	}
	if days[time.Wednesday] < days[time.Sunday]*5/4 {
		t.Errorf("Wednesday is not busier than Sunday: %v", days)
	}
}

func TestSomeDevicesAreSilentAndOneRunsAway(t *testing.T) {
	o := options(1000, 28)
	total, last := map[string]int64{}, map[string]time.Time{}
	for _, u := range values[domain.UsageRecord](o) {
		if u.EndedAt.After(until) || u.StartedAt.Before(until.AddDate(0, 0, -28)) {
			t.Fatalf("outside of the days: %+v", u)
		}
		total[u.PhysicalID] += u.MobileOriginated + u.MobileTerminated
		last[u.PhysicalID] = u.EndedAt
	}
	fleet := values[*domain.Subscriber](o)
	silent := 0
	for _, s := range fleet {
		if at, used := last[s.PhysicalID]; used && at.Before(until.AddDate(0, 0, -3)) {
			silent++
		}
	}
	if silent < 5 || silent > 100 {
		t.Errorf("%d devices went silent", silent)
	}
	if van := total[fleet[0].PhysicalID]; van < 50*total[fleet[7].PhysicalID] {
		t.Errorf("the runaway used %d bytes", van)
	}
}

// TestALaterCallAddsToAnEarlierOne: the ledger would refuse a record that is
// another one under the same id.
func TestALaterCallAddsToAnEarlierOne(t *testing.T) {
	earlier, later := options(200, 5), options(200, 7)
	later.Until = until.Add(26 * time.Hour)
	known := map[string]domain.UsageRecord{}
	for _, u := range values[domain.UsageRecord](earlier) {
		known[u.RecordID] = u
	}
	again := 0
	for _, u := range values[domain.UsageRecord](later) {
		was, found := known[u.RecordID]
		if found && was != u {
			t.Fatalf("%+v became %+v", was, u)
		}
		if found {
			again++
		}
	}
	if again != len(known) {
		t.Errorf("%d of %d records came again", again, len(known))
	}
}

func BenchmarkSubscriber(b *testing.B) {
	for b.Loop() {
		b.SetBytes(int64(len(write(b, options(10_000, 0)))))
	}
}

// The sessions of the last days have the bytes of the usage, and fit the rules of bundles.
func TestTheHistoryHasTheBytesOfTheUsage(t *testing.T) {
	o := options(200, 3)
	sessions := map[string]*domain.SessionImport{}
	for _, s := range demo.History(o) {
		fatal.If(t, s.Check())
		sessions[s.SessionID] = s
	}
	bytesOf := map[string]int64{}
	for _, r := range values[domain.UsageRecord](o) {
		if sessions[r.SessionID] != nil {
			bytesOf[r.SessionID] += r.MobileOriginated + r.MobileTerminated
		}
	}
	if len(sessions) < 100 || len(bytesOf) != len(sessions) {
		t.Fatalf("%d sessions, of which %d have usage", len(sessions), len(bytesOf))
	}
	for id, s := range sessions {
		if s.MobileOriginated+s.MobileTerminated != bytesOf[id] || s.EndedAt == nil || s.RATType == "" != (s.Cell == "") {
			t.Errorf("%s: %+v, not %d", id, s.Session, bytesOf[id])
		}
	}
}
