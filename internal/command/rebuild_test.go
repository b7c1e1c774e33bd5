package command_test

import (
	"strings"
	"testing"

	"simgraph/db/pg"
	"simgraph/internal/command"
	"simgraph/internal/fatal"
)

func TestRebuildReportsWhatDiffersAndSetsItRight(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.demo(command.Demo{Subscribers: 20, Days: 2, Seed: 1, Company: "demo", Until: "2026-11-20T12:00:00Z"})
	pool, err := pg.Open(t.Context(), c.env.DatabaseURL, pg.Options{})
	fatal.If(t, err)
	t.Cleanup(func() { _ = pool.Close() })
	pool.MustExec(`UPDATE subscriber_periods SET mobile_originated = mobile_originated + 7
WHERE subscriber_key = (SELECT min(subscriber_key) FROM subscriber_periods)`)
	for _, want := range []string{"demo: 1 totals differed", "demo: all totals agree with the ledger"} {
		c.stdout.Reset()
		fatal.If(t, (&command.Rebuild{}).Run(t.Context(), c.env))
		if got := c.stdout.String(); !strings.HasPrefix(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	exported := c.audited(func() error { return (&command.AuditExport{Output: "-"}).Run(t.Context(), c.env) })
	for _, totals := range []string{`"1"`, `"0"`} {
		if want := `"action":"usage.rebuild","subjectType":"Company","subjectId":"","changes":[{"field":"totals","before":null,"after":` + totals; !strings.Contains(exported, want) {
			t.Errorf("the log lacks %s", want)
		}
	}
}
