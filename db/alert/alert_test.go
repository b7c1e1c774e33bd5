package alert_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db"
	"simgraph/db/alert"
	store "simgraph/db/condition"
	"simgraph/db/dbtest"
	"simgraph/db/volume"
	"simgraph/domain"
	"simgraph/domain/condition"
	"simgraph/domain/query"
	"simgraph/internal/fatal"
)

func TestMain(m *testing.M) { dbtest.Main(m, db.Migrate) }

var (
	scope = domain.Whole(1)
	vans  = domain.Scope{Company: 1, Groups: []int64{12}}
	now   = time.Date(2026, time.November, 9, 12, 0, 0, 0, time.UTC)
)

// fixture has a company with two SIMs in vans and two in boats.
type fixture struct {
	*testing.T
	pool       *sqlx.DB
	volume     *volume.Alerts
	conditions *store.Store
	alerts     *alert.Alerts
	log        *alert.Log
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	pool := dbtest.New(t)
	clock := func() time.Time { return now }
	f := &fixture{t, pool, volume.NewAlerts(pool, clock), store.New(pool, clock), alert.NewAlerts(pool), alert.NewLog(pool)}
	pool.MustExec(`
INSERT INTO operators VALUES ('23415', 'Vodafone UK');
INSERT INTO companies VALUES (1, 'acme', 'Acme', 1, 'UTC'), (2, 'rival', 'Rival', 1, 'UTC');
INSERT INTO company_lookup (external_id, company_id) OVERRIDING SYSTEM VALUE VALUES ('acme', 1), ('rival', 2);
INSERT INTO tariffs VALUES (1, 'IoT', 50, 'GBP');
INSERT INTO groups VALUES (1, 12, 'vans', false), (1, 13, 'boats', false);
INSERT INTO subscribers (company_id, key, kind, physical_id, subscriber_id, imsi, nickname, operator_code, tariff_name, connection_date, expiry_date,
  contract_length, is_barred, is_active, subscriber_type, is_transferring, is_online, group_id)
SELECT 1, n, 'cellular', 'p' || n, 's' || n, '', '', '23415', 'IoT', '2026-01-01Z', '2028-01-01Z', 12, false, true, 'physical', false, false, CASE WHEN n < 3 THEN 12 ELSE 13 END
FROM generate_series(1, 4) AS n`)
	return f
}

func (f *fixture) onVolume(of domain.RuleType, target string, words domain.AlertWords) *domain.VolumeAlert {
	f.Helper()
	made, err := f.volume.Create(f.Context(), scope, domain.AlertSpec{RuleType: of, Target: target, LowerThreshold: 10, UpperThreshold: 20, AlertWords: words})
	fatal.If(f, err)
	return made
}

func (f *fixture) onCondition(of domain.RuleType, target string, words domain.AlertWords) *condition.Alert {
	f.Helper()
	made, err := f.conditions.Create(f.Context(), scope, condition.Spec{RuleType: of, Target: target, Condition: condition.Condition{Kind: condition.Silent, Bound: 24}, AlertWords: words})
	fatal.If(f, err)
	return made
}

// fleet has seven alerts: volume and silence in turns, of each rule that both have.
func (f *fixture) fleet() {
	f.Helper()
	f.onVolume(domain.RuleSIM, "s1", named("B"))
	f.onCondition(domain.RuleSIM, "s3", named("A"))
	f.onVolume(domain.RuleGroup, "12", named("D"))
	f.onCondition(domain.RuleGroup, "12", domain.AlertWords{})
	f.onVolume(domain.RuleCompany, "", named("C"))
	f.onCondition(domain.RuleCompany, "", domain.AlertWords{})
	f.onVolume(domain.RuleGroupMember, "13", domain.AlertWords{})
}

func named(name string) domain.AlertWords { return domain.AlertWords{Name: &name} }

func describe(of domain.Alert) string {
	switch of := of.(type) {
	case *domain.VolumeAlert:
		return fmt.Sprintf("volume %s %s %d", of.RuleType, of.Target, of.UpperThreshold)
	case *condition.Alert:
		return fmt.Sprintf("%s %s %s %d", of.Kind, of.RuleType, of.Target, of.Bound)
	}
	return "none of both"
}

func (f *fixture) list(of domain.Scope, filter query.Expr, order []query.Order, limit int) (all []string) {
	f.Helper()
	listing := domain.Listing{Filter: filter, Order: order, Page: domain.Page{Limit: limit}}
	for {
		slice, err := f.alerts.List(f.Context(), of, listing)
		fatal.If(f, err)
		for _, one := range slice.Items {
			all = append(all, describe(one))
		}
		if !slice.HasNext {
			break
		}
		listing.Page.Cursor = slice.Cursor(len(slice.Items) - 1)
	}
	n, err := f.alerts.Count(f.Context(), of, domain.Listing{Filter: filter})
	fatal.If(f, err)
	if n != len(all) {
		f.Errorf("%d are counted, %d listed", n, len(all))
	}
	return all
}

func (f *fixture) filter(text string) query.Expr {
	f.Helper()
	expr, err := query.ParseFilter(text, domain.AlertFields)
	fatal.If(f, err)
	return expr
}

func same(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

var every = []string{
	"volume sim s1 20", "silent sim s3 24", "volume grouppr 12 20", "silent grouppr 12 24", "volume company  20", "silent company  24", "volume groupfptp 13 20",
}

// A page takes from both tables, whatever its size and order.
func TestAlertsOfAllKindsAreOneList(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.fleet()
	for limit := 1; limit <= len(every)+1; limit++ {
		same(t, f.list(scope, nil, nil, limit), every...)
	}
	for text, want := range map[string][]string{
		`kind eq "volume"`:                        {every[0], every[2], every[4], every[6]},
		`kind ne "volume"`:                        {every[1], every[3], every[5]},
		`ruleType eq "sim"`:                       {every[0], every[1]},
		`target eq "12"`:                          {every[2], every[3]},
		`upperThreshold ge 20`:                    {every[0], every[2], every[4], every[6]},
		`upperThreshold eq null`:                  {every[1], every[3], every[5]},
		`name eq null`:                            {every[3], every[5], every[6]},
		`name in ("A", "D")`:                      {every[1], every[2]},
		`not (kind eq "silent") and target ne ""`: {every[0], every[2], every[6]},
	} {
		same(t, f.list(scope, f.filter(text), nil, 2), want...)
	}
	order := func(text string) []query.Order {
		read, err := query.ParseOrder(text, domain.AlertFields)
		fatal.If(f, err)
		return read
	}
	same(t, f.list(scope, f.filter("name ne null"), order("name"), 1), every[1], every[0], every[4], every[2])
	same(t, f.list(scope, nil, order("kind DESC, alertId DESC"), 2), every[6], every[4], every[2], every[0], every[5], every[3], every[1])
	same(t, f.list(scope, nil, order("upperThreshold"), 2), every[1], every[3], every[5], every[0], every[2], every[4], every[6])
}

func TestUsersOfGroupsSeeTheAlertsOnWhatTheySee(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.fleet()
	same(t, f.list(vans, nil, nil, 2), every[0], every[2], every[3])
	same(t, f.list(domain.Whole(2), nil, nil, 2))
	found, err := f.alerts.FindMany(t.Context(), vans, []int64{1, 2, 3, 4, 5, 6, 7, 99})
	fatal.If(f, err)
	if len(found) != 3 || found[1] == nil || found[3] == nil || found[4] == nil {
		t.Errorf("found %v", found)
	}
	two, err := f.alerts.FindMany(t.Context(), scope, []int64{2, 5})
	fatal.If(f, err)
	if len(two) != 2 || two[2] == nil || two[5] == nil {
		t.Errorf("found %v", two)
	}
	slices, err := f.alerts.OfGroups(t.Context(), vans, []int64{12, 13}, domain.Listing{Page: domain.Page{Limit: 1}})
	fatal.If(f, err)
	if n := len(slices[13].Items); n != 0 {
		t.Errorf("%d alerts of a group that is not seen", n)
	}
	if of := slices[12]; len(of.Items) != 1 || describe(of.Items[0]) != every[2] || !of.HasNext {
		t.Errorf("the vans have %+v", of)
	}
	counts, err := f.alerts.CountOfGroups(t.Context(), scope, []int64{12, 13}, domain.Listing{})
	fatal.If(f, err)
	if counts[12] != 2 || counts[13] != 1 {
		t.Errorf("counted %v", counts)
	}
}

func TestAnAlertIsRenamed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	volume, silence := f.onVolume(domain.RuleSIM, "s1", named("old")), f.onCondition(domain.RuleSIM, "s1", named("old"))
	f.pool.MustExec(`DELETE FROM audit_log`)
	to := domain.AlertWordsEdit{AlertWords: domain.AlertWords{Name: new("new"), Description: new("why")}, SetName: true, SetDescription: true}
	for range 2 { // the second time nothing changes
		_, err := f.volume.Edit(t.Context(), scope, volume.AlertID, domain.AlertEdit{AlertWordsEdit: to})
		fatal.If(f, err)
		edited, err := f.conditions.Edit(t.Context(), scope, silence.AlertID, condition.Edit{AlertWordsEdit: to})
		fatal.If(f, err)
		if edited.Revision != 1 {
			t.Error("a name armed the alert again")
		}
	}
	found, err := f.alerts.FindMany(t.Context(), scope, []int64{volume.AlertID, silence.AlertID})
	fatal.If(f, err)
	if of := found[volume.AlertID].(*domain.VolumeAlert); *of.Name != "new" || *of.Description != "why" || of.UpperThreshold != 20 {
		t.Errorf("got %+v", of)
	}
	if of := found[silence.AlertID].(*condition.Alert); *of.Name != "new" || *of.Description != "why" || of.Bound != 24 {
		t.Errorf("got %+v", of)
	}
	var entries int
	fatal.If(f, f.pool.Get(&entries, `SELECT count(*) FROM audit_log`))
	if entries != 2 {
		t.Errorf("%d entries of the audit log", entries)
	}
	none := domain.AlertWordsEdit{SetName: true}
	edited, err := f.volume.Edit(t.Context(), scope, volume.AlertID, domain.AlertEdit{AlertWordsEdit: none})
	fatal.If(f, err)
	if edited.Name != nil || edited.Description == nil {
		t.Errorf("got %+v", edited.AlertWords)
	}
	for _, wrong := range []domain.AlertWords{{Name: new(" ")}, {Description: new("")}, {Description: new(strings.Repeat("x", domain.MaxAlertDescription+1))}} {
		wanted := domain.AlertWordsEdit{AlertWords: wrong, SetName: wrong.Name != nil, SetDescription: wrong.Description != nil}
		if _, err := f.volume.Edit(t.Context(), scope, volume.AlertID, domain.AlertEdit{AlertWordsEdit: wanted}); err == nil {
			t.Errorf("%+v is taken on volume", wrong)
		}
		if _, err := f.conditions.Edit(t.Context(), scope, silence.AlertID, condition.Edit{AlertWordsEdit: wanted}); err == nil {
			t.Errorf("%+v is taken on a condition", wrong)
		}
	}
}

// insertEntries writes entries of both logs that have the same numbers and moments.
const insertEntries = `
INSERT INTO alert_log (company_id, entry_id, alert_id, rule_type, target, limit_boundary, revision, subscriber_key, period_start, period_end, threshold, usage, late, date_created)
SELECT 1, n, 1, 'sim', 's1', 'lower', n, 1, '2026-11-01Z', '2026-12-01Z', 10, 10 + n, false, '2026-11-02Z'::timestamptz + n / 2 * interval '1 hour' FROM generate_series(1, 5) AS n;
INSERT INTO condition_log (company_id, entry_id, alert_id, kind, state, rule_type, target, revision, subscriber_key, source, nas, since, bound, value, trait, before, after, is_open, notification_id, date_created)
SELECT 1, n, 2, 'silent', CASE n WHEN 5 THEN 'resolved' ELSE 'fired' END, 'sim', 's3', n, 3, '', '', '2026-11-02Z', 24, 0, '', '', '', n = 4, gen_random_uuid(), '2026-11-02Z'::timestamptz + n / 2 * interval '1 hour'
FROM generate_series(1, 5) AS n`

// Both logs count on their own, so the same number and moment occur twice.
func TestTheLogOfAllKindsIsOneList(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.pool.MustExec(insertEntries)
	var want []string
	for n := 5; n >= 1; n-- {
		want = append(want, fmt.Sprint("silent ", n), fmt.Sprint("volume ", n))
	}
	read := func(of domain.Scope, filter query.Expr, limit int) (all []string) {
		listing := domain.Listing{Filter: filter, Page: domain.Page{Limit: limit}}
		for {
			slice, err := f.log.List(t.Context(), of, listing)
			fatal.If(f, err)
			for _, one := range slice.Items {
				switch one := one.(type) {
				case *domain.VolumeLogEntry:
					all = append(all, fmt.Sprint("volume ", one.EntryID))
				case *condition.Entry:
					all = append(all, fmt.Sprint(one.Kind, " ", one.EntryID))
				}
			}
			if !slice.HasNext {
				break
			}
			listing.Page.Cursor = slice.Cursor(len(slice.Items) - 1)
		}
		n, err := f.log.Count(t.Context(), of, domain.Listing{Filter: filter})
		fatal.If(f, err)
		if n != len(all) {
			t.Errorf("%d are counted, %d listed", n, len(all))
		}
		return all
	}
	for limit := 1; limit <= len(want)+1; limit++ {
		same(t, read(scope, nil, limit), want...)
	}
	filter := func(text string) query.Expr {
		expr, err := query.ParseFilter(text, domain.AlertLogFields)
		fatal.If(f, err)
		return expr
	}
	for text, wanted := range map[string][]string{
		`isOpen eq true`:                         {"silent 4"},
		`state eq "resolved"`:                    {"silent 5"},
		`usage gt 13`:                            {"volume 5", "volume 4"},
		`entryId eq 3`:                           {"silent 3", "volume 3"},
		`kind eq "volume" and alertId eq 2`:      nil,
		`physicalId eq "p3" and entryId lt 2`:    {"silent 1"},
		`limitBoundary eq null and entryId ge 4`: {"silent 5", "silent 4"},
	} {
		same(t, read(scope, filter(text), 1), wanted...)
	}
	same(t, read(vans, nil, 2), "volume 5", "volume 4", "volume 3", "volume 2", "volume 1")
	same(t, read(domain.Whole(2), nil, 2))
}

// A user of groups sees an entry whose alert was not on the company, where both what the alert
// was on and what the entry is about are of the groups.
func TestUsersOfGroupsSeeTheEntriesOfTheirTargetsAndSubjects(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const none = "NULL"
	for n, entry := range []struct {
		rule                           domain.RuleType
		targetGroup, group, subscriber string
	}{
		{domain.RuleSIM, none, none, "1"},
		{domain.RuleGroup, "12", "12", none},
		{domain.RuleGroupMember, "12", none, "1"},
		{domain.RuleCompany, none, none, "1"},
		{domain.RuleGroupMember, "13", none, "1"},
		{domain.RuleGroupMember, "12", none, "3"},
		{domain.RuleSIM, none, none, "3"},
		{domain.RuleGroup, "13", "13", none},
	} {
		f.pool.MustExec(fmt.Sprintf(`
INSERT INTO alert_log (company_id, entry_id, alert_id, rule_type, target, limit_boundary, revision, target_group_id, group_id, subscriber_key, period_start, period_end, threshold, usage, late, date_created)
VALUES (1, %[1]d, 1, '%[2]s', '', 'lower', %[1]d, %[3]s, %[4]s, %[5]s, '2026-11-01Z', '2026-12-01Z', 10, 11, false, '2026-11-02Z');
INSERT INTO condition_log (company_id, entry_id, alert_id, kind, state, rule_type, target, revision, target_group_id, group_id, subscriber_key, source, nas, since, bound, value, trait, before, after, is_open, notification_id, date_created)
VALUES (1, %[1]d, 2, 'silent', 'fired', '%[2]s', '', %[1]d, %[3]s, %[4]s, %[5]s, '', '', '2026-11-02Z', 24, 0, '', '', '', false, gen_random_uuid(), '2026-11-02Z')`, n+1, entry.rule, entry.targetGroup, entry.group, entry.subscriber))
	}
	slice, err := f.log.List(t.Context(), vans, domain.Listing{Page: domain.Page{Limit: 100}})
	fatal.If(f, err)
	var seen []string
	for _, one := range slice.Items {
		switch one := one.(type) {
		case *domain.VolumeLogEntry:
			seen = append(seen, fmt.Sprint("volume ", one.EntryID))
		case *condition.Entry:
			seen = append(seen, fmt.Sprint("silent ", one.EntryID))
		}
	}
	slices.Sort(seen)
	same(t, seen, "silent 1", "silent 2", "silent 3", "volume 1", "volume 2", "volume 3")
}
