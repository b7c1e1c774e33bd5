package demo

import (
	"iter"
	"slices"

	"simgraph/bundle"
	"simgraph/domain"
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

// runaway is the device that uploads without pause on some days, a van.
const runaway = 0

// watch holds the alerts, of every rule, and who is told.
func watch(o Options) iter.Seq[bundle.Item] {
	const megabyte = 1_000_000
	alerts := []domain.AlertSpec{
		{RuleType: domain.RuleCompany, LowerThreshold: 8_000 * megabyte, UpperThreshold: 20_000 * megabyte},
		{RuleType: domain.RuleGroup, Target: "2", LowerThreshold: int64(o.Subscribers) * 50 * megabyte, UpperThreshold: int64(o.Subscribers) * 500 * megabyte},
		{RuleType: domain.RuleGroup, Target: "3", LowerThreshold: int64(o.Subscribers) * 20_000, UpperThreshold: int64(o.Subscribers) * 60_000},
		{RuleType: domain.RuleGroupMember, Target: "1", LowerThreshold: 15 * megabyte, UpperThreshold: 500 * megabyte},
		{RuleType: domain.RuleGroupMember, Target: "3", LowerThreshold: 1 * megabyte, UpperThreshold: 5 * megabyte},
	}
	for _, device := range []int{runaway, 8, 10} {
		if device < o.Subscribers {
			alerts = append(alerts, domain.AlertSpec{
				RuleType: domain.RuleSIM, Target: o.subscriber(device).SubscriberID, LowerThreshold: 10 * megabyte, UpperThreshold: 100 * megabyte,
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
