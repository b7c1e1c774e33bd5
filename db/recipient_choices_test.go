package db_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"simgraph/db/condition"
	"simgraph/domain"
	rules "simgraph/domain/condition"
	"simgraph/internal/fatal"
)

// A recipient that chose alerts or groups gets mail of these alone, with the entries that
// it chose, as they were when the alerts fired.
func TestRecipientsGetWhatTheyChose(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1, "UTC", clockAt("2026-11-10 12:00"))
	onCompany, onBoats, onVan := f.create(domain.RuleCompany, "", 5, 1000), f.create(domain.RuleGroup, "13", 5, 1000), f.create(domain.RuleSIM, "s1", 5, 1000)
	recipients := map[string]domain.Choice{
		"all":       {},
		"company":   {AlertIDs: []int64{onCompany.AlertID}},
		"boats":     {GroupIDs: []int64{boats}},
		"vans":      {GroupIDs: []int64{vans}},
		"both":      {AlertIDs: []int64{onCompany.AlertID}, GroupIDs: []int64{boats, vans}},
		"van":       {AlertIDs: []int64{onVan.AlertID, onBoats.AlertID}, GroupIDs: []int64{vans}},
		"neither":   {AlertIDs: []int64{onVan.AlertID}, GroupIDs: []int64{boats}},
		"condition": {AlertIDs: []int64{onVan.AlertID + 1}},
	}
	for name, choice := range recipients {
		created, err := f.recipients.Create(t.Context(), f.whole(), name+"@acme.example", domain.Choice{})
		fatal.If(t, err)
		chosen, err := f.recipients.Edit(t.Context(), f.whole(), created.RecipientID, domain.RecipientEdit{Choice: &choice})
		fatal.If(t, err)
		if !slices.Equal(chosen.AlertIDs, choice.AlertIDs) || !slices.Equal(chosen.GroupIDs, choice.GroupIDs) {
			t.Errorf("%s: %+v", name, chosen)
		}
	}
	f.use(1, 10, f.now)
	f.use(5, 10, f.now)
	f.use(9, 10, f.now)
	f.pool.MustExec(`UPDATE subscribers SET group_id = 12 WHERE key = 5`) // after it fired
	conditions := condition.New(f.pool, func() time.Time { return f.now })
	_, err := conditions.Create(t.Context(), f.whole(), rules.Spec{RuleType: domain.RuleSIM, Target: "s2", Condition: rules.Condition{Kind: rules.Silent, Bound: 1}})
	fatal.If(t, err)
	f.pool.MustExec(`INSERT INTO usage_sources VALUES (1, 'gw', $1)`, f.now)
	fatal.If(t, conditions.Round(t.Context()))
	got := f.mailed()
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

// mailed gathers the mails and returns what each recipient gets.
func (f *fleet) mailed() map[string]string {
	f.t.Helper()
	digest := domain.Digest{HourlyCap: 9, MaxEntries: 99}
	f.now = f.now.Add(time.Second)
	fatal.If(f.t, f.outbox.Gather(f.t.Context(), 1, digest))
	mails, err := f.outbox.Claim(f.t.Context(), 1, digest, 99, time.Minute)
	fatal.If(f.t, err)
	got := map[string]string{}
	for _, mail := range mails {
		var entries []string
		for _, e := range mail.Entries {
			who := e.SubscriberID
			if e.GroupID != nil {
				who = fmt.Sprint(*e.GroupID)
			}
			entries = append(entries, fmt.Sprintf("%s %s", e.RuleType, who))
		}
		slices.Sort(entries)
		for _, entry := range mail.ConditionEntries {
			entries = append(entries, "silent "+entry.Target)
		}
		if mail.Total != len(entries) {
			f.t.Errorf("%s: %d of %d", mail.Email, len(entries), mail.Total)
		}
		text := ""
		for i, entry := range entries {
			if i > 0 {
				text += ", "
			}
			text += entry
		}
		got[mail.Email] = text
	}
	return got
}

func TestAChoiceIsBoundedAndTheCompanys(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1, "UTC", clockAt("2026-11-10 12:00"))
	created, err := f.recipients.Create(t.Context(), f.whole(), "ops@acme.example", domain.Choice{})
	fatal.If(t, err)
	_, err = f.recipients.Edit(t.Context(), f.whole(), created.RecipientID, domain.RecipientEdit{Choice: &domain.Choice{AlertIDs: make([]int64, 101)}})
	same(t, kindOf(err), domain.KindInvalid)
	_, err = f.recipients.Edit(t.Context(), f.whole(), created.RecipientID, domain.RecipientEdit{Choice: &domain.Choice{GroupIDs: []int64{1, 1}}})
	same(t, kindOf(err), domain.KindInvalid)
	_, err = f.recipients.Edit(t.Context(), only(boats), created.RecipientID, domain.RecipientEdit{Choice: &domain.Choice{}})
	same(t, kindOf(err), domain.KindForbidden)
	_, err = f.recipients.Edit(t.Context(), domain.Whole(2), created.RecipientID, domain.RecipientEdit{Choice: &domain.Choice{}})
	same(t, kindOf(err), domain.KindNotFound)
	for range 2 { // the second changes nothing
		_, err = f.recipients.Edit(t.Context(), f.whole(), created.RecipientID, domain.RecipientEdit{Choice: &domain.Choice{GroupIDs: []int64{12}}})
		fatal.If(t, err)
	}
	var noted int
	fatal.If(t, f.pool.Get(&noted, `SELECT count(*) FROM audit_log WHERE action = 'recipient.edit'`))
	same(t, noted, 1)
}
