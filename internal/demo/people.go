package demo

import (
	"iter"
	"slices"
	"time"

	"simgraph/domain"
	"simgraph/domain/dashboard"
	"simgraph/domain/note"
	"simgraph/internal/bundle"
)

// people are the users: one may everything, one sees a partner's devices only.
func people(o Options) []*domain.UserImport {
	user := func(name string, groups []int64, permissions ...domain.Permission) *domain.UserImport {
		return &domain.UserImport{User: domain.User{Email: name + "@" + o.Company + ".example", Permissions: permissions, Groups: groups}}
	}
	return []*domain.UserImport{
		user("admin", []int64{}, domain.AllPermissions()...),
		user("analyst", []int64{}, domain.ViewStatisticsOverview, domain.ViewSubscriber, domain.ViewMonitoringAlerts, domain.ViewUserDetails),
		user("partner", []int64{partners}, domain.ViewStatisticsOverview, domain.ViewSubscriber, domain.ViewMonitoringAlerts),
		user("recorder", []int64{}, domain.RecordUsage),
	}
}

// questions are what the analyst has shared about usage.
func questions(o Options) iter.Seq[bundle.Item] {
	group := int64(partners)
	asked := []domain.Question{
		{QuestionID: "01900000-0000-7000-8000-00000000000a", Name: "Partner by day, this month", Definition: domain.QuestionDefinition{
			Interval: domain.Daily, Chart: domain.ChartBars, Span: domain.SpanThisMonth, Compare: new(domain.CompareBefore), GroupID: &group,
		}},
		{QuestionID: "01900000-0000-7000-8000-00000000000b", Name: "Tariffs by week, this quarter", Definition: domain.QuestionDefinition{
			Interval: domain.Weekly, Split: new(domain.SplitTariff), Chart: domain.ChartStacked, Span: domain.SpanThisQuarter,
		}},
	}
	items := make([]bundle.Item, len(asked))
	for i, q := range asked {
		q.Folder, q.Owner, q.IsShared = new("Reviews"), "analyst@"+o.Company+".example", true
		q.Definition.Version, q.Definition.Measure = domain.QuestionVersion, domain.MeasureTotal
		items[i] = bundle.Item{Type: bundle.Question, Company: o.Company, Value: &q}
	}
	return slices.Values(items)
}

// dashboards are what the analyst has shared of these questions.
func dashboards(o Options) iter.Seq[bundle.Item] {
	tile := func(id, column int, question string) dashboard.Tile {
		return dashboard.Tile{TileID: id, Place: dashboard.Place{Column: column, Width: 6, Height: 8}, QuestionID: &question}
	}
	return slices.Values([]bundle.Item{{Type: bundle.Dashboard, Company: o.Company, Value: &dashboard.Dashboard{
		DashboardID: "01900000-0000-7000-8000-00000000000c", Name: "Review", Folder: new("Reviews"), Owner: "analyst@" + o.Company + ".example", IsShared: true,
		Tiles: []dashboard.Tile{tile(1, 0, "01900000-0000-7000-8000-00000000000a"), tile(2, 6, "01900000-0000-7000-8000-00000000000b")},
	}}})
}

// notes are what the analyst has pinned to the days before the present.
func notes(o Options) iter.Seq[bundle.Item] {
	group := int64(partners)
	today := o.Until.Truncate(24 * time.Hour)
	pinned := []note.Note{
		{NoteID: "01900000-0000-7000-8000-00000000000d", Text: "New firmware on all vans: they report by MQTT", StartsAt: today.AddDate(0, 0, -12).Add(8 * time.Hour)},
		{NoteID: "01900000-0000-7000-8000-00000000000e", Text: "The partner moves its depot", StartsAt: today.AddDate(0, 0, -6), EndsAt: new(today.AddDate(0, 0, -4)), GroupID: &group},
	}
	items := make([]bundle.Item, len(pinned))
	for i, n := range pinned {
		n.Owner = "analyst@" + o.Company + ".example"
		items[i] = bundle.Item{Type: bundle.Note, Company: o.Company, Value: &n}
	}
	return slices.Values(items)
}

// Devices of the mix with an alert of their own. The runaway is a van that
// uploads without pause on some days.
const (
	runaway = 0
	aBeacon = 8
	aCamera = 10
)

// watch creates the alerts, of every rule, and their recipients.
func watch(o Options) iter.Seq[bundle.Item] {
	const megabyte = 1_000_000
	fleet := int64(o.Subscribers)
	alerts := []domain.AlertSpec{
		{RuleType: domain.RuleCompany, LowerThreshold: 9_600 * megabyte, UpperThreshold: 20_000 * megabyte},
		{RuleType: domain.RuleGroup, Target: "2", LowerThreshold: fleet * 50 * megabyte, UpperThreshold: fleet * 500 * megabyte},
		{RuleType: domain.RuleGroup, Target: "3", LowerThreshold: fleet * 20_000, UpperThreshold: fleet * 60_000},
		{RuleType: domain.RuleGroupMember, Target: "1", LowerThreshold: 60 * megabyte, UpperThreshold: 500 * megabyte},
		{RuleType: domain.RuleGroupMember, Target: "3", LowerThreshold: 1 * megabyte, UpperThreshold: 5 * megabyte},
	}
	for _, one := range []struct {
		device       int
		lower, upper int64
	}{{runaway, 50, 500}, {aBeacon, 1, 5}, {aCamera, 2_000, 20_000}} {
		if one.device < o.Subscribers {
			alerts = append(alerts, domain.AlertSpec{
				RuleType: domain.RuleSIM, Target: o.subscriber(one.device).SubscriberID,
				LowerThreshold: one.lower * megabyte, UpperThreshold: one.upper * megabyte,
			})
		}
	}
	var items []bundle.Item
	for _, a := range alerts {
		items = append(items, bundle.Item{Type: bundle.Alert, Company: o.Company, Value: a})
	}
	for _, name := range []string{"alerts", "noc"} {
		items = append(items, bundle.Item{Type: bundle.Recipient, Company: o.Company, Value: name + "@" + o.Company + ".example"})
	}
	return slices.Values(items)
}
