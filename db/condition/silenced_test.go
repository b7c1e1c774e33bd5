package condition_test

import (
	"fmt"
	"testing"
	"time"

	"simgraph/db/silence"
	"simgraph/db/volume"
	"simgraph/domain"
	"simgraph/domain/condition"
	rules "simgraph/domain/silence"
	"simgraph/internal/fatal"
)

// The end of what recipients were notified of is sent, though a silence covers it; the end
// of what was silenced is not.
func TestAnEndIsSilencedAsItsBegin(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.pool.MustExec(`INSERT INTO alert_recipients (company_id, email, email_key) VALUES (1, 'ops@acme.example', 'ops@acme.example')`)
	silences := silence.New(f.pool, func() time.Time { return f.now })
	for n := 1; n <= 8; n++ {
		f.record(n, "gw")
	}
	f.create(domain.RuleCompany, "", silentFor(2))
	f.now = f.now.Add(time.Hour)
	for n := 2; n <= 8; n++ {
		f.record(n, "gw")
	}
	f.now = f.now.Add(time.Hour)
	f.record(3, "gw")
	f.pass(time.Minute) // 1 is silent
	made, err := silences.Create(t.Context(), scope, rules.Spec{Reason: "works", EndsAt: f.now.Add(6 * time.Hour), Matcher: rules.Matcher{PhysicalIDs: []string{"p1", "p2"}}})
	fatal.If(f, err)
	f.now = f.now.Add(time.Hour)
	f.record(3, "gw")
	f.record(1, "gw")
	for n := 4; n <= 8; n++ {
		f.record(n, "gw")
	}
	f.pass(0) // 1 is back, 2 is silent
	_, err = silences.End(t.Context(), scope, made.SilenceID)
	fatal.If(f, err)
	f.record(2, "gw")
	f.pass(time.Minute) // 2 is back
	log := volume.NewLog(f.pool)
	got := map[string]string{}
	for _, e := range f.entries() {
		notified, _ := e.Notified()
		of, err := log.Deliveries(t.Context(), scope, []domain.Notified{notified})
		fatal.If(f, err)
		for _, d := range of[notified] {
			got[fmt.Sprintf("p%d %s", *e.SubscriberKey, e.State)] = fmt.Sprint(e.IsSilenced(), " ", d.State)
		}
	}
	want := map[string]string{
		fmt.Sprint("p1 ", condition.Fired): "false waiting", fmt.Sprint("p1 ", condition.Resolved): "false waiting",
		fmt.Sprint("p2 ", condition.Fired): "true silenced", fmt.Sprint("p2 ", condition.Resolved): "true silenced",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got\n%v\nwant\n%v", got, want)
	}
}
