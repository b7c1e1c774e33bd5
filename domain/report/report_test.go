package report

import (
	"strings"
	"testing"
	"time"

	"simgraph/domain"
	"simgraph/internal/fatal"
)

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t
}

func TestReportsAreDueAtTheHourOfTheZone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		zone       string
		billingDay int
		Schedule
		after, due string
	}{
		{"Europe/Berlin", 1, Schedule{Daily, 7}, "2026-11-05T05:59:00Z", "2026-11-05T06:00:00Z"},
		{"Europe/Berlin", 1, Schedule{Daily, 7}, "2026-11-05T06:00:00Z", "2026-11-06T06:00:00Z"},
		// 2:00 is skipped in spring, and shown twice in autumn.
		{"Europe/Berlin", 1, Schedule{Daily, 2}, "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z"},
		{"Europe/Berlin", 1, Schedule{Daily, 2}, "2026-10-24T12:00:00Z", "2026-10-25T00:00:00Z"},
		{"Europe/Berlin", 1, Schedule{Daily, 2}, "2026-10-25T00:00:00Z", "2026-10-26T01:00:00Z"},
		{"America/St_Johns", 1, Schedule{Daily, 0}, "2026-11-01T12:00:00Z", "2026-11-02T03:30:00Z"},
		{"Pacific/Auckland", 1, Schedule{Daily, 2}, "2026-09-26T00:00:00Z", "2026-09-26T14:00:00Z"},
		{"Pacific/Auckland", 1, Schedule{Daily, 2}, "2026-04-04T00:00:00Z", "2026-04-04T13:00:00Z"},
		{"Europe/Berlin", 1, Schedule{Weekly, 7}, "2026-11-05T12:00:00Z", "2026-11-09T06:00:00Z"},
		{"Europe/Berlin", 1, Schedule{Weekly, 7}, "2026-11-09T06:00:00Z", "2026-11-16T06:00:00Z"},
		{"Europe/Berlin", 31, Schedule{PeriodEnd, 7}, "2026-01-31T07:00:00Z", "2026-02-28T06:00:00Z"},
		{"Europe/Berlin", 15, Schedule{PeriodEnd, 7}, "2026-11-15T05:00:00Z", "2026-11-15T06:00:00Z"},
		{"Europe/Berlin", 15, Schedule{PeriodEnd, 7}, "2026-11-15T06:00:00Z", "2026-12-15T06:00:00Z"},
	} {
		billing, err := domain.NewBilling(c.billingDay, c.zone)
		fatal.If(t, err)
		if due := c.Next(at(c.after), billing); !due.Equal(at(c.due)) {
			t.Errorf("%+v after %s in %s: %v, not %s", c.Schedule, c.after, c.zone, due, c.due)
		}
	}
}

func TestOfWhatWasMissedTheLastIsSent(t *testing.T) {
	t.Parallel()
	billing, err := domain.NewBilling(15, "Europe/Berlin")
	fatal.If(t, err)
	daily := Schedule{Daily, 7}
	for now, want := range map[string]string{"2026-11-05T06:00:00Z": "2026-11-05T06:00:00Z", "2026-11-09T05:00:00Z": "2026-11-08T06:00:00Z"} {
		if got := daily.Latest(at("2026-11-05T06:00:00Z"), at(now), billing); !got.Equal(at(want)) {
			t.Errorf("at %s: %v, not %s", now, got, want)
		}
	}
	due := at("2026-11-15T06:00:00Z")
	if ended := (Schedule{PeriodEnd, 7}).PeriodOf(due, billing); !ended.End.Equal(at("2026-11-14T23:00:00Z")) {
		t.Errorf("at the end of a period it is about %v", ended)
	}
	if running := daily.PeriodOf(due, billing); !running.Start.Equal(at("2026-11-14T23:00:00Z")) {
		t.Errorf("on other days it is about %v", running)
	}
}

func TestFilesRunNoFormulaAndRoundNoIdentifier(t *testing.T) {
	t.Parallel()
	d := &domain.QuestionDefinition{Chart: domain.ChartTop, Split: new(domain.SplitSubscriber), Measure: domain.MeasureTotal}
	answer := &Answer{Parts: []Part{
		{Value: new("89441000000000000001"), Label: "=HYPERLINK(\"x\")", Total: 1 << 60},
		{Label: "a, \"b\"\nc", Total: 2},
	}}
	got := TableOf(d, answer, time.UTC).CSV()
	want := "subscriber,name,Bytes\r\n'89441000000000000001,\"'=HYPERLINK(\"\"x\"\")\",1152921504606846976\r\n,\"a, \"\"b\"\"\nc\",2\r\n"
	if got != want {
		t.Errorf("%q, not %q", got, want)
	}
}

func TestOthersAreWhatIsLeft(t *testing.T) {
	t.Parallel()
	var parts []Part
	for i := range int64(12) {
		parts = append(parts, Part{Label: strings.Repeat("x", int(i+1)), Total: i, Values: []int64{i, 0}})
	}
	parts = append(parts, Part{Label: "others", IsOthers: true, Total: 100, Values: []int64{0, 100}})
	got := fewer(parts, false)
	if last := got[len(got)-1]; len(got) != mostSeries+1 || !last.IsOthers || last.Total != 106 || last.Values[0] != 6 || last.Values[1] != 100 {
		t.Errorf("%+v", got)
	}
}
