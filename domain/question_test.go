package domain_test

import (
	"testing"

	"simgraph/domain"
	"simgraph/internal/fatal"
)

// asked is a definition that can be asked, and its changes.
func asked(changes ...func(*domain.QuestionDefinition)) *domain.QuestionDefinition {
	d := &domain.QuestionDefinition{
		Version: domain.QuestionVersion, Measure: domain.MeasureTotal, Interval: domain.Daily, Chart: domain.ChartLine, Span: domain.SpanLastMonth,
	}
	for _, change := range changes {
		change(d)
	}
	return d
}

func by(split domain.QuestionSplit) func(*domain.QuestionDefinition) {
	return func(d *domain.QuestionDefinition) { d.Split = &split }
}

func as(chart domain.QuestionChart) func(*domain.QuestionDefinition) {
	return func(d *domain.QuestionDefinition) { d.Chart = chart }
}

func in(span domain.QuestionSpan) func(*domain.QuestionDefinition) {
	return func(d *domain.QuestionDefinition) { d.Span = span }
}

func hourly(d *domain.QuestionDefinition) { d.Interval = domain.Hourly }

func ofSessions(d *domain.QuestionDefinition) { d.Measure = domain.MeasureSessions }

func compared(d *domain.QuestionDefinition) { d.Compare = new(domain.CompareBefore) }

func days(first, last string) func(*domain.QuestionDefinition) {
	return func(d *domain.QuestionDefinition) {
		d.Span, d.FirstDay, d.LastDay = domain.SpanDays, domain.TextOrNone(first), domain.TextOrNone(last)
	}
}

func TestWhatCannotBeAskedIsRefusedByItsField(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		definition *domain.QuestionDefinition
		field      string
	}{
		{asked(), ""},
		{asked(by(domain.SplitGroup), as(domain.ChartStacked)), ""},
		{asked(as(domain.ChartHeatMap), hourly), ""},
		{asked(by(domain.SplitSubscriber), as(domain.ChartRisers), compared, in(domain.SpanThisWeek)), ""},
		{asked(by(domain.SplitCountry), in(domain.SpanThisQuarter), compared, as(domain.ChartTop)), ""},
		{asked(days("2024-02-29", "2024-02-29"), hourly), ""},
		{asked(func(d *domain.QuestionDefinition) { d.Version = 2 }), "version"},
		{asked(func(d *domain.QuestionDefinition) { d.Measure = "MOOD" }), "measure"},
		{asked(func(d *domain.QuestionDefinition) { d.Interval = "MINUTE" }), "interval"},
		{asked(by("IP_ADDRESS")), "split"},
		{asked(in("SOON")), "span"},
		{asked(func(d *domain.QuestionDefinition) { d.Compare = new(domain.QuestionComparison("AFTER")) }), "compare"},
		{asked(as("PIE")), "chart"},
		{asked(days("2026-02-01", "2026-01-31")), "lastDay"},
		{asked(days("2026-02-30", "2026-03-31")), "firstDay"},
		{asked(days("", "2026-03-31")), "firstDay"},
		{asked(days("2026-02-01", "")), "lastDay"},
		{asked(days("1990-01-01", "2026-01-01")), "lastDay"},
		{asked(func(d *domain.QuestionDefinition) { d.FirstDay = new("2026-02-01") }), "firstDay"},
		{asked(func(d *domain.QuestionDefinition) { d.GroupID, d.TagName = new(int64(1)), new("x") }), "groupId"},
		{asked(func(d *domain.QuestionDefinition) { d.GroupID = new(int64(0)) }), "groupId"},
		{asked(func(d *domain.QuestionDefinition) { d.TagName = new(" ") }), "tagName"},
		{asked(func(d *domain.QuestionDefinition) { d.PhysicalID = new("") }), "physicalId"},
		{asked(ofSessions, by(domain.SplitCountry)), "split"},
		{asked(ofSessions, by(domain.SplitSubscriber), as(domain.ChartTop)), "split"},
		{asked(by(domain.SplitSource), in(domain.SpanLastYear)), "span"},
		{asked(by(domain.SplitCountry), days("2026-01-01", "2026-04-03")), "span"},
		{asked(by(domain.SplitSubscriber)), "chart"},
		{asked(as(domain.ChartTop)), "split"},
		{asked(as(domain.ChartRisers), by(domain.SplitGroup)), "compare"},
		{asked(as(domain.ChartNumber), by(domain.SplitGroup)), "split"},
		{asked(as(domain.ChartBars), by(domain.SplitGroup)), "split"},
		{asked(as(domain.ChartHeatMap)), "interval"},
		{asked(hourly, in(domain.SpanThisYear)), "interval"},
		{asked(hourly, days("2026-01-01", "2026-04-11")), "interval"},
	} {
		err := c.definition.Check()
		if c.field == "" {
			if err != nil {
				t.Errorf("%s: %v", c.definition, err)
			}
			continue
		}
		if refused, is := domain.AsError(err); !is || refused.Kind != domain.KindInvalid || refused.Field != c.field {
			t.Errorf("%s: %v, not of %s", c.definition, err, c.field)
		}
	}
}

func TestASharedQuestionIsChangedByItsOwnerAndByUsersOfTheWholeCompany(t *testing.T) {
	t.Parallel()
	shared := domain.Question{Name: "x", IsShared: true, Definition: *asked(), OwnerID: 1}
	private := shared
	private.IsShared = false
	owner, other := &domain.Actor{UserID: 1}, &domain.Actor{UserID: 2}
	groups := domain.Scope{Company: 1, Groups: []int64{7}}
	for _, c := range []struct {
		scope    domain.Scope
		question domain.Question
		may      bool
	}{
		{domain.Whole(1).By(owner), private, true}, {groups.By(owner), shared, true}, {domain.Whole(1).By(other), shared, true},
		{domain.Whole(1).By(other), private, false}, {groups.By(other), shared, false}, {domain.Whole(1), private, false},
	} {
		if may := c.question.IsEditable(c.scope); may != c.may {
			t.Errorf("%+v by %+v: %v", c.question, c.scope.Actor, may)
		}
	}
	edited, err := domain.QuestionEdit{Folder: new("Monthly"), Description: new("")}.Apply(domain.Whole(1).By(other), shared)
	fatal.If(t, err)
	if *edited.Folder != "Monthly" || edited.Description != nil || shared.Folder != nil {
		t.Errorf("%+v", edited)
	}
	_, err = domain.QuestionEdit{IsShared: new(false)}.Apply(domain.Whole(1).By(other), shared)
	if refused, is := domain.AsError(err); !is || refused.Kind != domain.KindForbidden {
		t.Errorf("another user makes a question private: %v", err)
	}
}
