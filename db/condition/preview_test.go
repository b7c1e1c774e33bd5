package condition_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"simgraph/db/dbtest"
	"simgraph/domain"
	"simgraph/domain/condition"
	"simgraph/internal/fatal"
)

// levels are the targets of alerts by what they watch.
var levels = map[domain.RuleType]string{domain.RuleCompany: "", domain.RuleSIM: "s2", domain.RuleGroupMember: "13", domain.RuleGroup: "12"}

// A preview of the past is what alerts noticed that were evaluated all the time.
func TestAPreviewIsWhatAlertsNoticed(t *testing.T) {
	t.Parallel()
	seeds, unseen := dbtest.Seeds()
	for _, seed := range seeds {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			f, random := newFixture(t), rand.New(rand.NewPCG(seed, 7))
			f.now = monday.Add(time.Minute)
			for n := 1; n <= 8; n++ {
				f.record(n, "gw", reporting("35000000000000"+strconv.Itoa(n), "", "23415"))
			}
			alerts := map[int64]condition.Spec{}
			for _, c := range []condition.Condition{
				silentFor(3), {Kind: condition.Storm, Bound: 2}, {Kind: condition.Change, Traits: []condition.Trait{condition.IMEI, condition.Country}},
			} {
				for of, target := range levels {
					if c.Kind == condition.Change && of == domain.RuleGroup {
						continue
					}
					alerts[f.create(of, target, c).AlertID] = condition.Spec{RuleType: of, Target: target, Condition: c}
				}
			}
			f.pass(0)
			began := f.now
			for range 60 {
				f.now = f.now.Add(time.Hour)
				for n := 1; n <= 7; n++ {
					// Vans sleep at night.
					if random.IntN(3) == 0 || n <= 4 && f.now.Hour() < 5 {
						continue
					}
					imei, network := fmt.Sprintf("3500000000000%d", random.IntN(7)), []string{"23415", "26201"}[random.IntN(8)/7]
					for range 1 + random.IntN(4) {
						f.record(n, "gw", reporting(fmt.Sprint(imei, random.IntN(10)), "", network))
						f.now = f.now.Add(time.Second)
					}
				}
				// The source has reported all by now.
				f.now = f.now.Truncate(time.Hour).Add(2 * time.Minute)
				f.record(8, "gw", through("gw"))
				f.pass(0)
				f.now = f.now.Add(-time.Minute)
			}
			f.now = f.now.Add(time.Minute)
			noticed := map[int64][]string{}
			for _, e := range f.entries() {
				if e.State == condition.Fired && e.AlertID != 0 && !e.Since.Before(began.Truncate(time.Hour)) {
					noticed[e.AlertID] = append(noticed[e.AlertID], noticedText(e.SubscriberKey, e.GroupID, e.Describe()))
				}
			}
			for id, spec := range alerts {
				preview, err := f.conditions.Preview(t.Context(), scope, spec, 20)
				fatal.If(f, err)
				var found []string
				for _, one := range preview.Firings {
					found = append(found, noticedText(one.SubscriberKey, one.GroupID, one.Text))
				}
				n := 0
				for _, day := range preview.Days {
					n += day.Firings
				}
				if preview.Total != len(noticed[id]) || n != preview.Total || preview.IsSample {
					t.Errorf("%s %s: %d of %+v, want %d", spec.Kind, spec.RuleType, n, preview, len(noticed[id]))
				}
				if preview.Total <= 100 && !sameTexts(found, noticed[id]) {
					t.Errorf("%s %s: the preview has\n%s\nand noticed was\n%s", spec.Kind, spec.RuleType, strings.Join(found, "\n"), strings.Join(noticed[id], "\n"))
				}
			}
			if seed != unseen && len(noticed) != len(alerts) {
				t.Errorf("only %d of %d alerts noticed something", len(noticed), len(alerts))
			}
		})
	}
}

func noticedText(subscriber, group *int64, text string) string {
	if group != nil {
		return fmt.Sprint("group ", *group, " ", text)
	}
	return fmt.Sprint(*subscriber, " ", text)
}

func sameTexts(some, others []string) bool {
	slices.Sort(some)
	slices.Sort(others)
	return slices.Equal(some, others)
}

// Usage that grows is forecast to exceed a limit at a midnight, once in each billing period.
func TestAPreviewOfForecasts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	end := f.now
	for days := 50; days > 0; days-- {
		f.now = end.AddDate(0, 0, -days)
		f.record(1, "gw") // 150 bytes
		f.record(2, "gw", func(r *domain.UsageRecord) { r.MobileOriginated = 1000 })
	}
	f.now = end // 9 November, 12:00
	preview := func(of domain.RuleType, target string, bound int64) *condition.Preview {
		found, err := f.conditions.Preview(t.Context(), scope, condition.Spec{RuleType: of, Target: target, Condition: condition.Condition{Kind: condition.Forecast, Bound: bound}}, 30)
		fatal.If(f, err)
		return found
	}
	for _, c := range []struct {
		of     domain.RuleType
		target string
		bound  int64
		want   string
	}{
		{domain.RuleSIM, "s1", 30 * 150, "[2026-10-11T00:00:00Z 1]"},                                   // October has 31 days
		{domain.RuleSIM, "s1", 29 * 150, "[2026-10-11T00:00:00Z 1 2026-11-01T00:00:00Z 1]"},            // November has 30
		{domain.RuleSIM, "s1", 31 * 150, "[]"},                                                         // that is not exceeded
		{domain.RuleCompany, "", 30 * 1050, "[2026-10-11T00:00:00Z 2]"},                                // s2 alone
		{domain.RuleGroup, "12", 29 * 1200, "[2026-10-12T00:00:00Z group 2026-11-01T00:00:00Z group]"}, // both together, since the first hour
	} {
		got := []string{}
		for _, one := range preview(c.of, c.target, c.bound).Firings {
			who := "group"
			if one.SubscriberKey != nil {
				who = fmt.Sprint(*one.SubscriberKey)
			}
			got = append(got, one.At.Format(time.RFC3339)+" "+who)
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s %s above %d: %v, want %s", c.of, c.target, c.bound, got, c.want)
		}
	}
}

func TestAPreviewIsBoundedAndTheCallers(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ask := func(of domain.Scope, rule domain.RuleType, target string, days int) (*condition.Preview, error) {
		return f.conditions.Preview(t.Context(), of, condition.Spec{RuleType: rule, Target: target, Condition: silentFor(6)}, days)
	}
	boats := domain.Scope{Company: 1, Groups: []int64{13}}
	for name, err := range map[string]error{
		"no days":       second(ask(scope, domain.RuleCompany, "", 0)),
		"too many days": second(ask(scope, domain.RuleCompany, "", 91)),
		"the company":   second(ask(boats, domain.RuleCompany, "", 28)),
		"another group": second(ask(boats, domain.RuleGroupMember, "12", 28)),
		"another SIM":   second(ask(boats, domain.RuleSIM, "s1", 28)),
		"no company":    second(ask(domain.Whole(2), domain.RuleSIM, "s1", 28)),
	} {
		if refused, is := domain.AsError(err); !is {
			t.Errorf("%s: %v", name, refused)
		}
	}
	found, err := ask(boats, domain.RuleGroupMember, "13", 28)
	fatal.If(f, err)
	if found.Subscribers != 4 || found.IsSample || len(found.Days) < 28 {
		t.Errorf("%+v", found)
	}
	f.pool.MustExec(`
INSERT INTO subscribers (company_id, key, kind, physical_id, subscriber_id, imsi, nickname, operator_code, tariff_name, connection_date, expiry_date,
  contract_length, is_barred, is_active, subscriber_type, is_transferring, is_online)
SELECT 1, n, 'cellular', 'p' || n, 's' || n, '', '', '23415', 'IoT', '2026-11-01Z', '2028-01-01Z', 12, false, true, 'physical', false, false
FROM generate_series(1001, 2001) AS n`)
	found, err = ask(scope, domain.RuleCompany, "", 28)
	fatal.If(f, err)
	// Those that were connected within the days and never seen are silent since.
	if found.Subscribers != 1000 || !found.IsSample || found.Total != 992 || found.Subjects != 992 || len(found.Firings) != 100 {
		t.Errorf("%d %v %d %d %d", found.Subscribers, found.IsSample, found.Total, found.Subjects, len(found.Firings))
	}
}

func second[T any](_ T, err error) error { return err }
