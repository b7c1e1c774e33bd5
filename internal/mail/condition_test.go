package mail_test

import (
	"strings"
	"testing"
	"time"

	conditions "simgraph/db/condition"
	"simgraph/domain"
	"simgraph/domain/condition"
	"simgraph/internal/fatal"
)

// What alerts on conditions notice comes by the mail that other alerts come by.
func TestASilenceIsMailedWithWhatElseFired(t *testing.T) {
	t.Parallel()
	server := newMailServer(t, nil)
	f := newFixture(t, server)
	f.pool.MustExec(`UPDATE subscribers SET nickname = E'van\n<b>1</b>'`)
	f.pool.MustExec(`INSERT INTO usage_sources VALUES (1, 'gw', $1)`, f.now.Add(12*time.Hour))
	store := conditions.New(f.pool, f.clock)
	_, err := store.Create(t.Context(), scope, condition.Spec{RuleType: domain.RuleCompany, Condition: condition.Condition{Kind: condition.Silent, Bound: 1}})
	fatal.If(f.t, err)
	fatal.If(f.t, store.Round(t.Context()))
	f.round(nothing)
	f.pass(61 * time.Minute)
	fatal.If(f.t, store.Round(t.Context()))
	f.pass(31 * time.Second)
	f.round(sent)
	checkSubject(t, server.mails()[0].Data, "Alert: van <b>1</b> (s1) has been silent for more than an hour, since "+f.now.Add(-61*time.Minute-31*time.Second).Format("2 Jan 2006 15:04 UTC"))
	f.pool.MustExec(`UPDATE subscriber_periods SET last_seen = $1`, f.now)
	fatal.If(f.t, store.Round(t.Context()))
	f.pass(time.Minute)
	fatal.If(f.t, store.Round(t.Context()))
	f.fire(100, 2000)
	f.pass(31 * time.Second)
	f.round(sent)
	mail := server.mails()[1].Data
	checkSubject(t, mail, "2 alerts of Acme")
	text := strings.ReplaceAll(mail, "=\r\n", "")
	for _, want := range []string{"* van <b>1</b> (s1) is seen again", "van &lt;b&gt;1&lt;/b&gt; (s1)", "* van <b>1</b> (s1) exceeded the lower threshold", "(company), noticed"} {
		if !strings.Contains(text, want) {
			t.Errorf("the mail lacks %q:\n%s", want, text)
		}
	}
}
