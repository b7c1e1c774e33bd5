package condition_test

import (
	"strings"
	"testing"
	"time"

	"simgraph/domain"
	"simgraph/domain/condition"
	"simgraph/internal/fatal"
)

// explains checks the reason for a subscriber, "p1", or a group, "12".
func (f *fixture) explains(of *condition.Alert, subject string, want condition.Reason, text string) {
	f.Helper()
	named := domain.AlertSubject{PhysicalID: &subject}
	if !strings.HasPrefix(subject, "p") {
		named = domain.AlertSubject{GroupID: of.GroupID}
	}
	got, err := f.conditions.Explain(f.Context(), scope, of.AlertID, named)
	fatal.If(f, err)
	if got.Reason != want || !strings.Contains(got.Text, text) {
		f.Errorf("%s of %s: %s: %s; want %s: …%s…", of.Kind, subject, got.Reason, got.Text, want, text)
	}
	if (got.Entry != nil) != (want == condition.HasFired) && of.Kind != condition.Silent {
		f.Errorf("%s of %s: the entry is %+v", of.Kind, subject, got.Entry)
	}
}

func TestSilencesAreExplained(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	company, van, vans := f.create(domain.RuleCompany, "", silentFor(3)), f.create(domain.RuleSIM, "s1", silentFor(3)), f.create(domain.RuleGroup, "12", silentFor(3))
	f.explains(company, "p1", condition.Unconfirmed, "No source has reported usage yet")
	for n := 1; n <= 8; n++ {
		f.record(n, []string{"old", "new"}[n%2])
	}
	f.explains(company, "p1", condition.NotReached, "It was seen last at 9 Nov 2026 12:00 UTC. It is silent for 3 hours at 9 Nov 2026 15:00 UTC.")
	f.explains(van, "p2", condition.NotWatched, "does not watch")
	f.explains(vans, "12", condition.NotReached, "seen last at 9 Nov 2026 12:00")
	f.now = f.now.Add(4 * time.Hour)
	f.explains(company, "p2", condition.Unconfirmed, "Its source old has reported until 9 Nov 2026 12:00 UTC only")
	f.record(3, "new")
	f.explains(company, "p1", condition.Pending, "It is reported within a minute")
	f.explains(company, "p2", condition.Unconfirmed, "Its source old")
	f.explains(company, "p3", condition.NotReached, "seen last at 9 Nov 2026 16:00")
	f.explains(vans, "12", condition.NotReached, "seen last at 9 Nov 2026 16:00")
	f.pass(0)
	f.explains(company, "p1", condition.HasFired, "Its silence was reported at 9 Nov 2026 16:00 UTC")
	f.explains(van, "p1", condition.HasFired, "reported once")
	f.pool.MustExec(`UPDATE subscribers SET is_barred = true WHERE key = 1`)
	f.explains(company, "p1", condition.NotInUse, "neither missed nor forecast")
	f.pool.MustExec(`UPDATE subscribers SET is_barred = true WHERE group_id = 12`)
	f.explains(vans, "12", condition.NotInUse, "neither missed nor forecast")
	var kept int
	fatal.If(f, f.pool.Get(&kept, `SELECT count(*) FROM condition_sources WHERE subscriber_key = 2`))
	before := kept
	f.explains(company, "p2", condition.NotInUse, "")
	f.explains(company, "p6", condition.Unconfirmed, "Its source old")
	fatal.If(f, f.pool.Get(&kept, `SELECT count(*) FROM condition_sources WHERE subscriber_key = 2`))
	if kept != before {
		t.Error("an explanation writes")
	}
}

func TestStormsForecastsAndChangesAreExplained(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	storm, group := f.create(domain.RuleGroupMember, "12", condition.Condition{Kind: condition.Storm, Bound: 2}), f.create(domain.RuleGroup, "12", condition.Condition{Kind: condition.Storm, Bound: 3})
	change := f.create(domain.RuleCompany, "", condition.Condition{Kind: condition.Change, Traits: []condition.Trait{condition.IMEI, condition.Network}})
	f.explains(change, "p1", condition.NotReached, "none of its values yet")
	f.now = f.now.Add(time.Minute)
	f.record(1, "gw", reporting("35000000000001", "", "23415"))
	f.record(2, "gw")
	f.explains(storm, "p1", condition.NotReached, "1 sessions began in the hour from 9 Nov 2026 12:00 UTC, not more than 2.")
	f.explains(storm, "p5", condition.NotWatched, "")
	f.pass(time.Second)
	f.explains(change, "p1", condition.NotReached, "Known are device (IMEI): 35000000000001; network: 23415. Another value fires.")
	for range 2 {
		f.now = f.now.Add(time.Minute)
		f.record(1, "gw", reporting("35000000000002", "", "23415"))
	}
	f.explains(storm, "p1", condition.Pending, "3 sessions began")
	f.explains(group, "12", condition.Pending, "4 sessions began")
	f.pass(time.Minute)
	f.explains(storm, "p1", condition.HasFired, "reported once in an hour")
	f.explains(group, "12", condition.HasFired, "4 sessions began in the hour")
	f.explains(change, "p1", condition.HasFired, "It changed its device (IMEI) from 35000000000001 to 35000000000002, reported at 9 Nov 2026 12:04 UTC.")
	f.explains(change, "p2", condition.NotReached, "none of its values yet")
	f.now = f.now.Truncate(time.Hour).Add(time.Hour)
	f.record(4, "gw")
	f.pool.MustExec(`UPDATE condition_turns SET due_at = '-infinity'`)

	end := f.now
	for days := 21; days > 0; days-- {
		f.now = end.AddDate(0, 0, -days)
		f.record(3, "gw")
	}
	f.now = end
	forecast, combined := f.create(domain.RuleSIM, "s3", condition.Condition{Kind: condition.Forecast, Bound: 2000}), f.create(domain.RuleGroup, "12", condition.Condition{Kind: condition.Forecast, Bound: 1 << 40})
	f.explains(forecast, "p3", condition.Pending, "The forecast of the billing period from 1 Nov 2026 00:00 UTC is")
	f.explains(combined, "12", condition.NotReached, "not more than 1099511627776.")
	f.pass(0)
	f.explains(forecast, "p3", condition.HasFired, "reported once in a billing period")
	f.pool.MustExec(`UPDATE subscribers SET connection_date = $1 WHERE key = 3`, end.AddDate(0, 0, -20))
	f.pool.MustExec(`DELETE FROM condition_log`)
	f.explains(forecast, "p3", condition.LittleHistory, "three weeks of history, which there are at 10 Nov 2026")
}

func TestAnExplanationIsTheCallers(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	company, vans := f.create(domain.RuleCompany, "", silentFor(3)), f.create(domain.RuleGroupMember, "12", silentFor(3))
	boats := domain.Scope{Company: 1, Groups: []int64{13}}
	first, group := "p1", int64(13)
	for name, c := range map[string]struct {
		of      domain.Scope
		alert   int64
		subject domain.AlertSubject
		kind    domain.ErrorKind
	}{
		"another group's alert": {boats, vans.AlertID, domain.AlertSubject{PhysicalID: &first}, domain.KindNotFound},
		"the company's":         {boats, company.AlertID, domain.AlertSubject{PhysicalID: &first}, domain.KindNotFound},
		"another company":       {domain.Whole(2), vans.AlertID, domain.AlertSubject{PhysicalID: &first}, domain.KindNotFound},
		"no subject":            {scope, vans.AlertID, domain.AlertSubject{}, domain.KindInvalid},
		"two subjects":          {scope, vans.AlertID, domain.AlertSubject{PhysicalID: &first, GroupID: &group}, domain.KindInvalid},
	} {
		_, err := f.conditions.Explain(t.Context(), c.of, c.alert, c.subject)
		if refused, is := domain.AsError(err); !is || refused.Kind != c.kind {
			t.Errorf("%s: %v", name, err)
		}
	}
}
