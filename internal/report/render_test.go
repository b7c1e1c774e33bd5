package report_test

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"simgraph/domain"
	"simgraph/domain/report"
	"simgraph/internal/fatal"
	reporting "simgraph/internal/report"
)

var acme = &domain.Company{Name: "Acme", BillingDay: 1, TimeZone: "Europe/Berlin"}

// issue is a question about the days from 1 November in Berlin on, by tag and with the span before.
func issue(days int) *report.Issue {
	midnight := time.Date(2026, 10, 31, 23, 0, 0, 0, time.UTC)
	tagged, none := report.Part{Value: new("fleet"), Label: "fleet"}, report.Part{Label: "no tag"}
	answer := report.Answer{Former: &report.Former{Total: 0}}
	answer.Span = report.Span{Start: midnight, End: midnight.AddDate(0, 0, days)}
	answer.Before = &report.Span{Start: midnight.AddDate(0, 0, -days), End: midnight}
	for n := range days {
		answer.Times = append(answer.Times, midnight.AddDate(0, 0, n))
		tagged.Values, none.Values = append(tagged.Values, int64(n+1)*1000), append(none.Values, 1)
		answer.Former.Values = append(answer.Former.Values, 500)
		tagged.Total, none.Total, answer.Former.Total = tagged.Total+int64(n+1)*1000, none.Total+1, answer.Former.Total+500
	}
	answer.Parts, answer.Total = []report.Part{tagged, none}, tagged.Total+none.Total
	return &report.Issue{
		DueAt: midnight.AddDate(0, 0, days).Add(7 * time.Hour), Schedule: report.Schedule{Frequency: report.Weekly, Hour: 7}, Topic: report.Topic{QuestionID: new("q1")}, Name: "Usage by tag",
		Sections: []report.Section{{
			Question: domain.Question{Name: "Usage by tag", Definition: domain.QuestionDefinition{
				Measure: domain.MeasureTotal, Interval: domain.Daily, Chart: domain.ChartStacked, Split: new(domain.SplitTag), Span: domain.SpanLastWeek, Compare: new(domain.CompareBefore),
			}},
			Answer: answer, Picture: []byte("picture"),
		}},
	}
}

func render(t fatal.Test, of *report.Issue) *reporting.Rendered {
	t.Helper()
	rendered, err := reporting.Render(acme, of, "https://sim.example/", "https://sim.example/unsubscribe?token=a&b")
	fatal.If(t, err)
	return rendered
}

// cells are the rows of the page's tables, read as a browser reads them.
func cells(t fatal.Test, page string) (rows [][]string) {
	t.Helper()
	document, err := html.Parse(strings.NewReader(page))
	fatal.If(t, err)
	for node := range document.Descendants() {
		switch node.Data {
		case "tr":
			rows = append(rows, nil)
		case "td", "th":
			text := ""
			for inner := range node.Descendants() {
				if inner.Type != html.TextNode {
					t.Fatal("a cell has the element " + inner.Data)
				}
				text += inner.Data
			}
			rows[len(rows)-1] = append(rows[len(rows)-1], text)
		}
	}
	return rows
}

func TestAReportOfAQuestionSaysWhatWasAsked(t *testing.T) {
	t.Parallel()
	got := render(t, issue(2))
	if got.Subject != "Usage by tag, 1 Nov 2026 to 2 Nov 2026 (Acme)" {
		t.Errorf("the subject is %q", got.Subject)
	}
	for name, body := range map[string]string{"text": got.Text, "page": html.UnescapeString(got.HTML)} {
		for _, want := range []string{
			"Acme, 1 Nov 2026 to 2 Nov 2026 (Europe/Berlin)", "In all: 3.00 kB", "Compared: +200 % on 1.00 kB in 30 Oct 2026 to 31 Oct 2026", "every Monday at 07:00 (Europe/Berlin)",
			"https://sim.example/#/usage?question=q1", "https://sim.example/unsubscribe?token=a&b", "usage-by-tag-2026-11-03.csv",
		} {
			if !strings.Contains(body, want) {
				t.Errorf("the %s lacks %q:\n%s", name, want, body)
			}
		}
	}
	want := [][]string{
		{"start", "fleet", "no tag", "before"}, {"Sun 1 Nov 2026", "1.00 kB", "1 bytes", "500 bytes"}, {"Mon 2 Nov 2026", "2.00 kB", "1 bytes", "500 bytes"},
		{"Sum", "3.00 kB", "2 bytes", "1.00 kB"},
	}
	rows := cells(t, got.HTML)
	if !slices.EqualFunc(rows, want, slices.Equal) {
		t.Errorf("the table is %q", rows)
	}
	for _, row := range want {
		if !strings.Contains(got.Text, "\n"+strings.Join(row, " | ")+"\n") {
			t.Errorf("the text lacks the row %q", row)
		}
	}
	if len(got.Files) != 1 || got.Files[0].FileName != "usage-by-tag-2026-11-03.csv" || got.Files[0].Rows != 2 || !strings.HasPrefix(got.Files[0].CSV, "start,fleet,no tag,before\r\n2026-10-31T23:00:00Z,1000,1,500\r\n") {
		t.Errorf("the files are %+v", got.Files)
	}
	if len(got.Pictures) != 1 || got.Pictures[0].Name != "chart.png" || string(got.Pictures[0].PNG) != "picture" || !strings.Contains(got.HTML, `src="cid:chart.png"`) {
		t.Errorf("the pictures are %+v", got.Pictures)
	}
}

// The table of a question has 60 rows, and that of a tile 20; the file has all.
func TestATableInAMailIsBounded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		days, most int
		isTile     bool
	}{{60, 60, false}, {61, 60, false}, {20, 20, true}, {75, 20, true}} {
		of := issue(c.days)
		if c.isTile {
			of.Topic = report.Topic{DashboardID: new("d1")}
		}
		got := render(t, of)
		if rows := len(cells(t, got.HTML)) - 2; rows != min(c.days, c.most) {
			t.Errorf("%d rows of %d", rows, c.days)
		}
		more := strconv.Itoa(c.days-c.most) + " more rows are left out here. The attached file has all."
		if has := strings.Contains(got.Text, more); has != (c.days > c.most) || has != strings.Contains(got.HTML, more) {
			t.Errorf("%d rows: %v", c.days, has)
		}
		if got.Files[0].Rows != c.days {
			t.Errorf("the file has %d rows of %d", got.Files[0].Rows, c.days)
		}
	}
}

func TestAReportOfADashboardHasASectionATile(t *testing.T) {
	t.Parallel()
	of := issue(2)
	of.Topic, of.Name, of.Hidden, of.LeftOut = report.Topic{DashboardID: new("d1")}, "Fleet", 3, 2
	cut, refused := of.Sections[0], of.Sections[0]
	cut.Question.Name, cut.IsFileLeftOut, cut.Picture, cut.Answer.IsCut, cut.Answer.IsRunning = "", true, nil, true, true
	refused.Problem = "this needs the permission \"View Subscriber\""
	of.Sections = append(of.Sections, cut, refused)
	got := render(t, of)
	if got.Subject != "Fleet, 3 Nov 2026 (Acme)" {
		t.Errorf("the subject is %q", got.Subject)
	}
	for _, want := range []string{
		"Usage by tag\n", "which has not ended", "Of the 100 values with the most usage.", "The file is left out", "This is not answered: " + refused.Problem,
		"question was deleted or is not seen: 3.", "The first 3 tiles are sent. Tiles that are left out: 2.", "The dashboard: https://sim.example/#/dashboards/d1",
	} {
		if !strings.Contains(got.Text, want) || !strings.Contains(html.UnescapeString(got.HTML), strings.TrimPrefix(strings.TrimSpace(want), "The dashboard: ")) {
			t.Errorf("a body lacks %q:\n%s", want, got.Text)
		}
	}
	if len(got.Files) != 1 || got.Files[0].FileName != "1-usage-by-tag-2026-11-03.csv" || len(got.Pictures) != 1 || got.Pictures[0].Name != "1-chart.png" {
		t.Errorf("the files are %+v, the pictures %+v", got.Files, got.Pictures)
	}
	if tables := strings.Count(got.HTML, "<table"); tables != 2 {
		t.Errorf("%d tables", tables)
	}
}

func TestWhatCannotBeComparedHasNoPercentage(t *testing.T) {
	t.Parallel()
	of := issue(1)
	of.Sections[0].Answer.Former.Total = 0
	if got := render(t, of); !strings.Contains(got.Text, "Compared: 0 bytes in 31 Oct 2026\n") {
		t.Errorf("the text is\n%s", got.Text)
	}
	of.Sections[0].Answer.Former.Total = 4004
	if got := render(t, of); !strings.Contains(got.Text, "Compared: -75 % on 4.00 kB in 31 Oct 2026\n") {
		t.Errorf("the text is\n%s", got.Text)
	}
}

// Whatever names hold, each text is one line and the page has no element that the template does not have.
func TestTextsOfUsersAreEscaped(t *testing.T) {
	t.Parallel()
	elements := func(t fatal.Test, page string) (names []string) {
		document, err := html.Parse(strings.NewReader(page))
		fatal.If(t, err)
		for node := range document.Descendants() {
			if node.Type == html.ElementNode {
				names = append(names, node.Data)
			}
		}
		return names
	}
	plain := issue(1)
	plain.Description = new("what it is")
	want := render(t, plain)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.SampledFrom([]string{`</title><script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, "a\r\nBcc: b@c.example", `{{.Company}}`, "=1+1", "<!--"}), rapid.StringN(1, 20, 60))
		of := issue(1)
		of.Name, of.Description, of.Sections[0].Group = text.Draw(t, "name"), new(text.Draw(t, "description")), text.Draw(t, "group")
		of.Sections[0].Answer.Parts[0].Label = text.Draw(t, "label")
		got := render(t, of)
		if strings.ContainsAny(got.Subject, "\r\n") || strings.Count(got.Text, "\n") != strings.Count(want.Text, "\n") {
			t.Fatalf("a text has more lines: %q\n%s", got.Subject, got.Text)
		}
		if names := elements(t, got.HTML); !slices.Equal(names, elements(t, want.HTML)) {
			t.Fatalf("the page has the elements %v", names)
		}
		name := got.Files[0].FileName
		if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-.") != "" || strings.HasPrefix(name, "-") || !strings.HasSuffix(name, "-2026-11-02.csv") {
			t.Fatalf("the file is called %q", name)
		}
	})
}

func TestALinkIsLeftOutWithoutAnAddress(t *testing.T) {
	t.Parallel()
	got, err := reporting.Render(acme, issue(1), "", "")
	fatal.If(t, err)
	if strings.Contains(got.Text+got.HTML, "question=") || strings.Contains(got.Text+got.HTML, "No more of these mails") {
		t.Errorf("a link is there:\n%s", got.Text)
	}
}

func TestHoursAndMonthsAreWrittenInTheZoneOfTheCompany(t *testing.T) {
	t.Parallel()
	for interval, want := range map[domain.Unit]string{domain.Hourly: "1 Nov 2026 00:00", domain.Daily: "Sun 1 Nov 2026", domain.Monthly: "November 2026"} {
		of := issue(1)
		of.Sections[0].Question.Definition.Interval = interval
		if rows := cells(t, render(t, of).HTML); rows[1][0] != want {
			t.Errorf("%s: %q", interval, rows[1][0])
		}
	}
	of := issue(1)
	of.Sections[0].Answer.Span.End = of.Sections[0].Answer.Span.Start.Add(90 * time.Minute)
	if got := render(t, of); got.Subject != "Usage by tag, 1 Nov 2026 00:00 to 1 Nov 2026 01:30 (Acme)" {
		t.Errorf("the subject is %q", got.Subject)
	}
}

func TestSessionsAreCounted(t *testing.T) {
	t.Parallel()
	of := issue(1)
	of.Sections[0].Question.Definition.Measure = domain.MeasureSessions
	if rows := cells(t, render(t, of).HTML); !slices.Equal(rows[1], []string{"Sun 1 Nov 2026", "1000", "1", "500"}) {
		t.Errorf("the row is %q", rows[1])
	}
}

func TestBytesHaveTheUnitThatFits(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "0 bytes", 999: "999 bytes", 1000: "1.00 kB", -1000: "-1.00 kB", 1_500_000: "1.50 MB", -999: "-999 bytes", math.MaxInt64: "9.22 EB", math.MinInt64: "-9.22 EB",
	} {
		if got := reporting.Bytes(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
	// What is written is the number, to within half of the last digit.
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64().Draw(t, "n")
		text, unit, _ := strings.Cut(reporting.Bytes(n), " ")
		value, err := strconv.ParseFloat(text, 64)
		fatal.If(t, err)
		scale := map[string]float64{"bytes": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "PB": 1e15, "EB": 1e18}[unit]
		if math.Abs(value*scale-float64(n)) > 0.0051*scale || math.Abs(value) > 1000 {
			t.Fatalf("%d is written as %s %s", n, text, unit)
		}
	})
}
