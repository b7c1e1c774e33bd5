package mail_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"simgraph/db/condition"
	"simgraph/db/fleettest"
	"simgraph/domain"
	rules "simgraph/domain/condition"
	"simgraph/internal/fatal"
)

// A recipient that chose alerts or groups gets mail of these alone, with the entries that
// it chose, as they were when the alerts fired.
func TestRecipientsGetWhatTheyChose(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
	onCompany, onBoats, onVan := f.Create(domain.RuleCompany, "", 5, 1000), f.Create(domain.RuleGroup, "13", 5, 1000), f.Create(domain.RuleSIM, "s1", 5, 1000)
	recipients := map[string]domain.Choice{
		"all":       {},
		"company":   {AlertIDs: []int64{onCompany.AlertID}},
		"boats":     {GroupIDs: []int64{fleettest.Boats}},
		"vans":      {GroupIDs: []int64{fleettest.Vans}},
		"both":      {AlertIDs: []int64{onCompany.AlertID}, GroupIDs: []int64{fleettest.Boats, fleettest.Vans}},
		"van":       {AlertIDs: []int64{onVan.AlertID, onBoats.AlertID}, GroupIDs: []int64{fleettest.Vans}},
		"neither":   {AlertIDs: []int64{onVan.AlertID}, GroupIDs: []int64{fleettest.Boats}},
		"condition": {AlertIDs: []int64{onVan.AlertID + 1}},
	}
	for name, choice := range recipients {
		created, err := f.Recipients.Create(t.Context(), f.Whole(), name+"@acme.example", domain.Choice{})
		fatal.If(t, err)
		chosen, err := f.Recipients.Edit(t.Context(), f.Whole(), created.RecipientID, domain.RecipientEdit{Choice: &choice})
		fatal.If(t, err)
		if !slices.Equal(chosen.AlertIDs, choice.AlertIDs) || !slices.Equal(chosen.GroupIDs, choice.GroupIDs) {
			t.Errorf("%s: %+v", name, chosen)
		}
	}
	f.Use(1, 10, f.Now)
	f.Use(5, 10, f.Now)
	f.Use(9, 10, f.Now)
	f.Pool.MustExec(`UPDATE subscribers SET group_id = 12 WHERE key = 5`) // after it fired
	conditions := condition.New(f.Pool, func() time.Time { return f.Now })
	_, err := conditions.Create(t.Context(), f.Whole(), rules.Spec{RuleType: domain.RuleSIM, Target: "s2", Condition: rules.Condition{Kind: rules.Silent, Bound: 1}})
	fatal.If(t, err)
	f.Pool.MustExec(`INSERT INTO usage_sources VALUES (1, 'gw', $1)`, f.Now)
	fatal.If(t, conditions.Round(t.Context()))
	got := f.Mailed()
	want := map[string]string{
		"all@acme.example":       "company s1, company s5, company s9, grouppr 13, sim s1, silent s2",
		"company@acme.example":   "company s1, company s5, company s9",
		"boats@acme.example":     "company s5, grouppr 13",
		"vans@acme.example":      "company s1, sim s1, silent s2",
		"both@acme.example":      "company s1, company s5",
		"van@acme.example":       "sim s1",
		"condition@acme.example": "silent s2",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("mailed was\n%v\nwant\n%v", got, want)
	}
}

func TestAChoiceIsBoundedAndTheCompanys(t *testing.T) {
	t.Parallel()
	f := fleettest.NewFleet(t, 1, "UTC", fleettest.ClockAt("2026-11-10 12:00"))
	created, err := f.Recipients.Create(t.Context(), f.Whole(), "ops@acme.example", domain.Choice{})
	fatal.If(t, err)
	_, err = f.Recipients.Edit(t.Context(), f.Whole(), created.RecipientID, domain.RecipientEdit{Choice: &domain.Choice{AlertIDs: make([]int64, 101)}})
	fleettest.Same(t, fleettest.KindOf(err), domain.KindInvalid)
	_, err = f.Recipients.Edit(t.Context(), f.Whole(), created.RecipientID, domain.RecipientEdit{Choice: &domain.Choice{GroupIDs: []int64{1, 1}}})
	fleettest.Same(t, fleettest.KindOf(err), domain.KindInvalid)
	_, err = f.Recipients.Edit(t.Context(), fleettest.Only(fleettest.Boats), created.RecipientID, domain.RecipientEdit{Choice: &domain.Choice{}})
	fleettest.Same(t, fleettest.KindOf(err), domain.KindForbidden)
	_, err = f.Recipients.Edit(t.Context(), domain.Whole(2), created.RecipientID, domain.RecipientEdit{Choice: &domain.Choice{}})
	fleettest.Same(t, fleettest.KindOf(err), domain.KindNotFound)
	for range 2 { // the second changes nothing
		_, err = f.Recipients.Edit(t.Context(), f.Whole(), created.RecipientID, domain.RecipientEdit{Choice: &domain.Choice{GroupIDs: []int64{12}}})
		fatal.If(t, err)
	}
	var noted int
	fatal.If(t, f.Pool.Get(&noted, `SELECT count(*) FROM audit_log WHERE action = 'recipient.edit'`))
	fleettest.Same(t, noted, 1)
}
