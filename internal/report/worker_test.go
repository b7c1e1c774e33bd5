package report_test

import (
	"strings"
	"testing"
	"time"

	"simgraph/db/fleettest"
	"simgraph/db/group"
	"simgraph/db/subscriber"
	"simgraph/db/usage"
	"simgraph/domain"
	"simgraph/domain/report"
	"simgraph/internal/fatal"
	reporting "simgraph/internal/report"
)

// A report of which some tiles are refused has the others; one of which none is answered is an error that says why.
func TestAPreviewHasTheTilesThatAreAnswered(t *testing.T) {
	t.Parallel()
	fleet := fleettest.NewUsageFleet(t, 4)
	fleet.Record(fleettest.UsageOf("s1", "r1", fleettest.UsageNow.Add(-time.Hour)), fleettest.UsageOf("s2", "r2", fleettest.UsageNow.Add(-time.Hour)))
	worker := reporting.New(reporting.Config{
		Now: func() time.Time { return fleettest.UsageNow }, MostTiles: 3,
		Answerer: report.Answerer{Analytics: usage.NewAnalytics(fleet.Usage), Subscribers: subscriber.New(fleet.Pool), Groups: group.New(fleet.Pool)},
	})
	caller := &domain.Caller{Company: &domain.Company{Name: "Acme", BillingDay: 1, TimeZone: "UTC"}, Permissions: []domain.Permission{domain.ViewStatisticsOverview, domain.ViewSubscriber}, Scope: fleet.Scope}
	ask := func(name string, change func(d *domain.QuestionDefinition)) domain.Question {
		d := domain.QuestionDefinition{Version: domain.QuestionVersion, Measure: domain.MeasureTotal, Interval: domain.Hourly, Chart: domain.ChartBars, Span: domain.SpanToday}
		change(&d)
		return domain.Question{Name: name, Definition: d}
	}
	all := ask("All", func(*domain.QuestionDefinition) {})
	one := ask("One", func(d *domain.QuestionDefinition) { d.GroupID = new(int64(1)) })
	unknown := ask("Unknown", func(d *domain.QuestionDefinition) { d.GroupID = new(int64(9)) })
	wrong := ask("Wrong", func(d *domain.QuestionDefinition) { d.Chart = "PIE" })
	for _, c := range []struct {
		name      string
		questions []domain.Question
		hidden    int
		has       []string
		kind      domain.ErrorKind
	}{
		{"one and one refused", []domain.Question{all, unknown, one}, 0, []string{
			"All\n", "In all: 220 bytes", "This is not answered: no group \"9\" on this account", "In all: 110 bytes", "20 Nov 2026 11:00 | 220 bytes",
		}, ""},
		{"more than are sent", []domain.Question{all, one, one, one}, 1, []string{"The first 3 tiles are sent. Tiles that are left out: 1.", "question was deleted or is not seen: 1."}, ""},
		{"none that is seen", []domain.Question{wrong, unknown}, 0, nil, domain.KindNotFound},
		{"none that can be asked", []domain.Question{wrong}, 0, nil, domain.KindInvalid},
		{"hidden ones alone", nil, 1, nil, domain.KindNotFound},
		{"no tiles", nil, 0, nil, domain.KindInvalid},
	} {
		content := &report.Content{Topic: report.Topic{DashboardID: new("d1")}, Name: "Fleet", Questions: c.questions, Hidden: c.hidden}
		got, err := worker.Preview(t.Context(), caller, content, report.Schedule{Frequency: report.Daily})
		if c.kind != "" {
			fleettest.WantKind(t, err, c.kind)
			continue
		}
		fatal.If(t, err)
		for _, want := range c.has {
			if !strings.Contains(got.Text, want) {
				t.Errorf("%s: the text lacks %q:\n%s", c.name, want, got.Text)
			}
		}
	}
}

// A file for which no room is left is left out of a mail, and a smaller one after it is not.
func TestFilesOfAMailAreBounded(t *testing.T) {
	t.Parallel()
	fleet := fleettest.NewUsageFleet(t, 1)
	worker := reporting.New(reporting.Config{
		Now: func() time.Time { return fleettest.UsageNow }, MostFileBytes: 25,
		Answerer: report.Answerer{Analytics: usage.NewAnalytics(fleet.Usage), Subscribers: subscriber.New(fleet.Pool), Groups: group.New(fleet.Pool)},
	})
	caller := &domain.Caller{Company: &domain.Company{Name: "Acme", BillingDay: 1, TimeZone: "UTC"}, Permissions: []domain.Permission{domain.ViewStatisticsOverview}, Scope: fleet.Scope}
	ask := func(chart domain.QuestionChart) domain.Question {
		return domain.Question{Name: "q", Definition: domain.QuestionDefinition{Version: domain.QuestionVersion, Measure: domain.MeasureTotal, Interval: domain.Hourly, Chart: chart, Span: domain.SpanToday}}
	}
	content := &report.Content{Topic: report.Topic{DashboardID: new("d1")}, Name: "Fleet", Questions: []domain.Question{
		ask(domain.ChartNumber), ask(domain.ChartLine), ask(domain.ChartNumber), ask(domain.ChartNumber), // of 10 bytes, some 300, 10 and 10
	}}
	got, err := worker.Preview(t.Context(), caller, content, report.Schedule{Frequency: report.Daily})
	fatal.If(t, err)
	if len(got.Files) != 2 || got.Files[0].FileName != "1-q-2026-11-20.csv" || got.Files[1].FileName != "3-q-2026-11-20.csv" || strings.Count(got.Text, "The file is left out") != 2 {
		t.Errorf("%+v\n%s", got.Files, got.Text)
	}
}
