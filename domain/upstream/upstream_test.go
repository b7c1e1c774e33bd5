package upstream_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"simgraph/domain"
	"simgraph/domain/upstream"
	"simgraph/domain/webhook"
)

var now = time.Date(2026, 11, 20, 12, 30, 0, 0, time.UTC)

func volume(up, down int64) domain.Volume {
	return domain.Volume{MobileOriginated: up, MobileTerminated: down}
}

func TestAnHourIsRaisedByTheDifference(t *testing.T) {
	t.Parallel()
	of := upstream.Subject{Source: "old", PhysicalID: "8944"}
	hour := upstream.HourOf(now) - 5
	for _, c := range []struct {
		name         string
		theirs, ours domain.Volume
		records      int
		up, down     int64
		isCovered    bool
	}{
		{"new", volume(10, 20), volume(0, 0), 1, 10, 20, true},
		{"the same", volume(10, 20), volume(10, 20), 0, 0, 0, true},
		{"revised upwards", volume(15, 20), volume(10, 20), 1, 5, 0, true},
		{"revised downwards", volume(5, 20), volume(10, 20), 0, 0, 0, false},
		{"moved to the other direction", volume(5, 25), volume(10, 20), 1, 0, 5, false},
		{"more than a record holds", volume(domain.MaxUsageBytes+1, 1), volume(0, 0), 2, domain.MaxUsageBytes + 1, 1, true},
	} {
		records, isCovered := of.Raise(hour, c.theirs, upstream.Booked{Volume: c.ours, Records: 3}, now)
		var sum domain.Volume
		names := map[string]bool{}
		for _, r := range records {
			sum.MobileOriginated += r.MobileOriginated
			sum.MobileTerminated += r.MobileTerminated
			names[r.RecordID] = true
			if err := r.Check(now, time.Time{}); err != nil || upstream.HourOf(r.StartedAt) != hour || upstream.HourOf(r.EndedAt) != hour {
				t.Errorf("%s: %v %v", c.name, r, err)
			}
		}
		if len(records) != c.records || len(names) != c.records || sum != volume(c.up, c.down) || isCovered != c.isCovered {
			t.Errorf("%s: %v %t", c.name, records, isCovered)
		}
	}
}

// Whoever raises an hour from the same records makes a record of the same name, so that the
// ledger takes one of them.
func TestRecordsAreNamedByTheirPlaceInTheHour(t *testing.T) {
	t.Parallel()
	of := upstream.Subject{Source: "old", PhysicalID: "8944"}
	name := func(theirs domain.Volume, records int) string {
		raised, _ := of.Raise(upstream.HourOf(now), theirs, upstream.Booked{Records: records}, now)
		return raised[0].RecordID
	}
	if a, b := name(volume(1, 1), 2), name(volume(2, 2), 2); a != b {
		t.Errorf("%s and %s", a, b)
	}
	if a, b := name(volume(1, 1), 2), name(volume(1, 1), 3); a == b {
		t.Error(a)
	}
}

func TestAnHourThatIsNotOverEndsNow(t *testing.T) {
	t.Parallel()
	records, _ := upstream.Subject{Source: "old", PhysicalID: "8944"}.Raise(upstream.HourOf(now), volume(1, 1), upstream.Booked{}, now)
	if !records[0].EndedAt.Equal(now) {
		t.Error(records[0].EndedAt)
	}
}

func TestKindsAreToldByIdentifiers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		physicalID, subscriberID string
		want                     domain.Kind
	}{
		{"8944500101234567890", "447700900001", domain.Cellular}, {"894450010123456789", "447700900001", domain.Cellular},
		{"70B3D57ED0000001", "70B3D57ED0000001", domain.NonIP}, {"70b3d57ed0000001", "meter-1", domain.NonIP},
		{"300125010000001", "SAT-1", domain.Satellite}, {"8944500101", "447700900001", domain.Cellular},
	} {
		if got := upstream.KindOf(c.physicalID, c.subscriberID); got != c.want {
			t.Errorf("%s, %s: %s", c.physicalID, c.subscriberID, got)
		}
	}
}

func TestDifferencesNameTheField(t *testing.T) {
	t.Parallel()
	tariff, rental := "IoT", 150
	of := func(nickname string) *domain.Subscriber {
		return &domain.Subscriber{PhysicalID: "8944", Nickname: nickname, TariffName: &tariff, LineRental: &rental, ConnectionDate: now, ExpiryDate: now}
	}
	if d := upstream.CompareSubscribers(of("a"), of("a")); len(d) != 0 {
		t.Error(d)
	}
	if d := upstream.CompareSubscribers(of("a"), of("b")); len(d) != 1 || d[0].String() != "subscriber 8944: nickname: a there, b here" {
		t.Error(d)
	}
	if d := upstream.CompareSubscribers(of("a"), nil); len(d) != 1 || !strings.Contains(d[0].String(), "nothing here") {
		t.Error(d)
	}
}

func TestAReportCountsWhatDiffers(t *testing.T) {
	t.Parallel()
	r := &upstream.Report{}
	r.Add(upstream.Line{What: "groups", There: 2, Here: 2})
	if r.Differ() != 0 {
		t.Error(r)
	}
	r.Add(upstream.Line{What: "tags", There: 2, Here: 3})
	if r.Differ() != 1 || r.Differences[0].String() != "tags: 2 there, 3 here" {
		t.Error(r)
	}
	hours := upstream.CompareHours("hour", upstream.Hours{1: volume(1, 1), 2: volume(5, 5)}, upstream.Hours{1: volume(1, 1), 3: volume(1, 0)})
	r.Add(upstream.Line{What: "hours", There: 2, Here: 2}, hours...)
	if len(hours) != 2 || r.Differ() != 3 {
		t.Error(hours, r.Differ())
	}
}

func TestTheLogOfAlertsKeepsThemFromFiringAgain(t *testing.T) {
	t.Parallel()
	billing, _ := domain.NewBilling(1, "UTC")
	alerts := upstream.Copies([]domain.AlertSpec{
		{RuleType: domain.RuleSIM, Target: "4477", LowerThreshold: 100, UpperThreshold: 200},
		{RuleType: domain.RuleSIM, Target: "4477", LowerThreshold: 50, UpperThreshold: 200},
		{RuleType: domain.RuleGroup, Target: "12", LowerThreshold: 1, UpperThreshold: 2},
		{RuleType: domain.RuleGroup, Target: "12", LowerThreshold: 1, UpperThreshold: 2},
	})
	if alerts[3].Copy != 1 {
		t.Error(alerts)
	}
	log := []upstream.Fired{
		{RuleType: domain.RuleSIM, Target: "4477", Boundary: domain.Lower, DateCreated: now},
		{RuleType: domain.RuleSIM, Target: "4477", Boundary: domain.Lower, DateCreated: now.Add(time.Hour)},
		{RuleType: domain.RuleSIM, Target: "4477", Boundary: domain.Lower, DateCreated: now.AddDate(0, -1, 0)},
		{RuleType: domain.RuleGroup, Target: "12", Boundary: domain.Upper, DateCreated: now},
		{RuleType: domain.RuleCompany, Boundary: domain.Upper, DateCreated: now},
		{RuleType: domain.RuleSIM, Target: "4488", Boundary: domain.Lower, DateCreated: now},
	}
	firings, incomplete := upstream.Firings(log, alerts, billing, func(id string) string { return map[string]string{"4477": "8944"}[id] })
	if incomplete != 2 || len(firings) != 4 {
		t.Fatal(firings, incomplete)
	}
	for i, threshold := range []int64{50, 100, 50, 2} {
		if f := firings[i]; f.Threshold != threshold || f.Check() != nil || !f.PeriodEnd.After(f.DateCreated) {
			t.Errorf("%d: %+v %v", i, f, f.Check())
		}
	}
}

// A number that went from one card to another is added up there: so it is here.
func TestUsageIsComparedByNumber(t *testing.T) {
	t.Parallel()
	booked := func(physicalID, subscriberID string, bytes int64) *upstream.Reported {
		return &upstream.Reported{PhysicalID: physicalID, SubscriberID: subscriberID, Booked: upstream.Booked{Volume: volume(bytes, 1), Records: 1}}
	}
	ours := []*upstream.Reported{booked("8944", "4477", 9), booked("8945", "4477", 19), booked("8946", "4478", 4)}
	got := upstream.CompareUsage(map[string]int64{"4477": 30, "4479": 7, "4480": 0}, ours)
	want := []upstream.Usage{{SubscriberID: "4477", There: 30, Here: 30}, {SubscriberID: "4478", Here: 5}, {SubscriberID: "4479", There: 7}}
	if !slices.Equal(got, want) {
		t.Error(got)
	}
}

func TestKeysAreReadAsTheyArePrinted(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"a:b", " a:b\n", `{"accessKeyId":"a","secret":"b"}`} {
		if key, err := upstream.ParseKey(text); err != nil || key.ID != "a" || key.Secret != "b" {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"", "a", "a:", ":b", "a: b", "a:b\nc"} {
		if _, err := upstream.ParseKey(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

func TestAnotherAddressNeedsAKey(t *testing.T) {
	t.Parallel()
	before := upstream.Spec{BaseURL: "https://one.example"}
	for _, c := range []struct {
		edit upstream.Edit
		ok   bool
	}{
		{upstream.Edit{BaseURL: new("https://other.example")}, false},
		{upstream.Edit{BaseURL: new("https://other.example"), Key: &upstream.Key{ID: "a", Secret: "b"}}, true},
		{upstream.Edit{BaseURL: new("https://one.example/")}, true},
		{upstream.Edit{Name: new("other")}, true},
	} {
		after := c.edit.Apply(before)
		if err := c.edit.CheckKey(&before, &after); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c.edit, err)
		}
	}
}

func TestRecentUsageIsThatSinceTheDayBeforeTheLastPass(t *testing.T) {
	t.Parallel()
	job := upstream.Job{Upstream: &upstream.Upstream{Spec: upstream.Spec{Days: 60}}, StartedAt: now, ClaimedAt: now}
	for ago, days := range map[time.Duration]int{0: 2, 12 * time.Hour: 2, 13 * time.Hour: 3, 10 * 24 * time.Hour: 12, 90 * 24 * time.Hour: 60, -time.Hour: 2} {
		job.Upstream.LastSyncedAt = new(now.Add(-ago))
		if got := job.Days(); got != days {
			t.Errorf("%s: %d days, not %d", ago, got, days)
		}
	}
	if job.IsSweep = true; job.Days() != 60 {
		t.Error(job.Days())
	}
	if job.IsSweep, job.Upstream.LastSyncedAt = false, nil; job.Days() != 60 {
		t.Error(job.Days())
	}
	if at := job.CompleteUntil(); !at.Equal(now.Add(-90 * time.Minute)) {
		t.Error(at)
	}
}

func TestFailuresPutPassesOff(t *testing.T) {
	t.Parallel()
	for attempts, want := range map[int]time.Duration{0: 15 * time.Minute, 1: time.Minute, 2: 2 * time.Minute, 6: 32 * time.Minute, 7: time.Hour, 1000: time.Hour} {
		if got := upstream.Next(15*time.Minute, attempts); got != want {
			t.Errorf("%d: %s", attempts, got)
		}
	}
}

func TestSpecsOfUpstreamsAreChecked(t *testing.T) {
	t.Parallel()
	good := upstream.Spec{Name: "old", BaseURL: "https://old.example/api/", Labels: upstream.Ours, Days: 60, Currency: "GBP"}.WithDefaults()
	if err := good.Check(webhook.Rules{}); err != nil || good.SourceName != "old.example" || good.BaseURL != "https://old.example/api" {
		t.Error(good, err)
	}
	for field, change := range map[string]func(*upstream.Spec){
		"name":             func(s *upstream.Spec) { s.Name = " " },
		"baseUrl":          func(s *upstream.Spec) { s.BaseURL = "https://10.0.0.1" },
		"sourceName":       func(s *upstream.Spec) { s.SourceName = "" },
		"nicknamesAndTags": func(s *upstream.Spec) { s.Labels = "mine" },
		"days":             func(s *upstream.Spec) { s.Days = 401 },
		"currency":         func(s *upstream.Spec) { s.Currency = "pounds" },
	} {
		spec := good
		change(&spec)
		if fault, is := domain.AsError(spec.Check(webhook.Rules{})); !is || fault.Field != field {
			t.Errorf("%s: %v", field, fault)
		}
	}
	for _, address := range []string{"http://old.example", "https://old.example?x=1", "https://a:b@old.example", "ftp://old.example", "https://old.example#x"} {
		spec := good
		spec.BaseURL = address
		if spec.Check(webhook.Rules{}) == nil {
			t.Errorf("%s is taken", address)
		}
	}
}

func TestManyThatAreMissingAreHeld(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		upstream.Census
		confirmed int64
		isHeld    bool
	}{
		{upstream.Census{}, 0, false},
		{upstream.Census{Active: 100, Found: 100}, 0, false},
		{upstream.Census{Active: 20, Found: 10, Missing: 10}, 0, false},
		{upstream.Census{Active: 20, Found: 9, Missing: 11}, 0, true},
		{upstream.Census{Active: 20, Found: 9, Missing: 11}, 11, false},
		{upstream.Census{Active: 20, Found: 8, Missing: 12}, 11, true},
		{upstream.Census{Active: 100, Found: 80, Missing: 20}, 0, false},
		{upstream.Census{Active: 100, Found: 79, Missing: 21}, 0, true},
		{upstream.Census{Active: 3, Missing: 3}, 0, true},
		{upstream.Census{Active: 3, Missing: 3}, 3, false},
		{upstream.Census{Active: 3}, 0, false},
	} {
		if got := c.IsHeld(c.confirmed); got != c.isHeld {
			t.Errorf("%+v: %t", c, got)
		}
	}
}
