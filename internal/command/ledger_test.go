package command_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"simgraph/db/pg"
	"simgraph/db/usage"
	"simgraph/domain"
	"simgraph/internal/command"
	"simgraph/internal/fatal"
)

var physicalID = regexp.MustCompile(`"physicalId":"(\d+)"`)

// monthsAgo is a file of usage of the demo company, one record a month.
func (c *console) monthsAgo(subscriber string, from, to int) string {
	var text strings.Builder
	for n := from; n <= to; n++ {
		at := domain.MonthOf(time.Now()).AddDate(0, -n, 3).Format(time.RFC3339)
		fmt.Fprintf(&text, `{"type":"usage","company":"demo","source":"old","recordId":"m-%d","physicalId":"%s","startedAt":"%s","endedAt":"%s",`+
			`"mobileOriginated":1000,"mobileTerminated":0,"protocol":"TCP"}`+"\n", n, subscriber, at, at)
	}
	return c.file("old.ndjson", text.String())
}

// usedFor is a console whose demo company has used data for so many months.
func usedFor(t *testing.T, months int) *console {
	c := newConsole(t)
	c.demo(command.Demo{Subscribers: 5, Days: 1, Seed: 1, Company: "demo"})
	c.retention(max(months, domain.MinRetention), true)
	if err := c.load(c.monthsAgo(physicalID.FindStringSubmatch(c.export("demo"))[1], 1, months)); err != nil {
		t.Fatal(err, c.stderr.String())
	}
	return c
}

// retention changes the retention, and returns what the command printed.
func (c *console) retention(months int, yes bool) string {
	c.Helper()
	text, err := c.tryRetention(months, yes)
	fatal.If(c, err)
	return text
}

func (c *console) tryRetention(months int, yes bool) (string, error) {
	c.stdout.Reset()
	err := (&command.LedgerRetention{Months: months, Consent: command.Consent{Yes: yes}}).Run(c.Context(), c.env)
	return c.stdout.String(), err
}

func (c *console) status() string {
	c.Helper()
	c.stdout.Reset()
	fatal.If(c, (command.LedgerStatus{}).Run(c.Context(), c.env))
	return c.stdout.String()
}

func monthName(ago int) string {
	return domain.MonthOf(time.Now()).AddDate(0, -ago, 0).Format(domain.MonthLayout)
}

func TestALowerRetentionListsWhatItDropsAndNeedsConsent(t *testing.T) {
	t.Parallel()
	c := usedFor(t, 6)
	text, err := c.tryRetention(4, false)
	if err == nil || !strings.Contains(err.Error(), "--yes") {
		t.Errorf("without --yes: %v", err)
	}
	for _, want := range []string{monthName(6) + "  1 records", monthName(5) + "  1 records"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s lacks %s", text, want)
		}
	}
	if strings.Contains(text, monthName(4)) || !strings.Contains(c.status(), "6 months before") {
		t.Errorf("it printed %s", text)
	}
	if text := c.retention(4, true); !strings.Contains(text, "keeps 4 months, it kept 6") {
		t.Error(text)
	}
	if text := c.retention(24, false); strings.Contains(text, "dropped") {
		t.Errorf("a higher retention drops: %s", text)
	}
	if _, err := c.tryRetention(2, true); err == nil || !strings.Contains(err.Error(), "must be 3 to 1200 months, not 2") {
		t.Errorf("2 months: %v", err)
	}
	exported := c.audited(func() error {
		return (&command.AuditExport{Whose: command.Whose{Installation: true}, Output: "-"}).Run(t.Context(), c.env)
	})
	if want := `"action":"usage.retention","subjectType":"Usage","subjectId":"","changes":[{"field":"retention","before":"6","after":"4"}]`; !strings.Contains(exported, want) {
		t.Errorf("the log lacks %s", want)
	}
}

func TestAShorterRetentionIsCountedNeedsConsentAndIsTakenBack(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.demo(command.Demo{Subscribers: 1, Days: 0, Seed: 1, Company: "demo"})
	pool, err := pg.Open(t.Context(), c.env.DatabaseURL, pg.Options{})
	fatal.If(t, err)
	t.Cleanup(func() { _ = pool.Close() })
	pool.MustExec(`INSERT INTO mails (company_id, mail_id, recipient_id, email, kind, state, due_at, created_at)
SELECT c.company_id, gen_random_uuid(), 1, 'a@b.example', 'alerts', 'sent', now() - interval '40 days', now() - interval '40 days' FROM companies c, generate_series(1, 3)`)
	set := func(name string, kept int, consent bool) (string, error) {
		c.stdout.Reset()
		err := (&command.RetentionSet{Name: name, Kept: kept, Consent: command.Consent{Yes: consent}}).Run(t.Context(), c.env)
		return c.stdout.String(), err
	}
	status := func() string {
		c.stdout.Reset()
		fatal.If(t, (command.RetentionStatus{History: true}).Run(t.Context(), c.env))
		return c.stdout.String()
	}
	text, err := set("mails", 30, false)
	if err == nil || err.Error() != "nothing was changed: repeat the command with --yes to delete them" || !strings.Contains(text, "deleted now: 3 mails that were sent or given up.\n") {
		t.Errorf("without --yes: %v %s", err, text)
	}
	if text := status(); strings.Contains(text, "30 days") || !strings.Contains(text, "mails       for ever   mails that were sent") {
		t.Errorf("the status is\n%s", text)
	}
	if text, err = set("mails", 30, true); err != nil || !strings.Contains(text, "will be kept 30 days, now for ever: a server announces it") {
		t.Errorf("%v %s", err, text)
	}
	if text := status(); !strings.Contains(text, "a server has to announce it and run for 24h0m0s") {
		t.Errorf("the status is\n%s", text)
	}
	if text, err = set("mails", 0, false); err != nil || !strings.Contains(text, "are kept for ever") {
		t.Errorf("taken back: %v %s", err, text)
	}
	if text := status(); strings.Contains(text, "has to announce") || !strings.Contains(text, ", withdrawn ") {
		t.Errorf("the status is\n%s", text)
	}
	for name, kept := range map[string]int{"usage": 3, "letters": 3, "messages": 4, "audit": 1201} {
		if _, err := set(name, kept, true); err == nil {
			t.Errorf("%s is kept for %d", name, kept)
		}
	}
	var left int
	if err := pool.Get(&left, `SELECT count(*) FROM mails`); err != nil || left != 3 {
		t.Errorf("%d mails are left, %v", left, err)
	}
}

func TestAnExportOfALongerLedgerImportsAgain(t *testing.T) {
	t.Parallel()
	from, to := usedFor(t, 24), newConsole(t)
	exported := from.export("demo")
	file := to.file("demo.ndjson", exported)
	if err := to.load(file); err == nil || err.Error() != "11 lines were not imported" || !strings.Contains(to.stderr.String(), "where the usage ledger begins") {
		t.Errorf("into a database that keeps 13 months: %v %s", err, &to.stderr)
	}
	to.retention(24, false)
	if err := to.load(file); err != nil {
		t.Fatal(err, to.stderr.String())
	}
	if to.export("demo") != exported {
		t.Error("it is another company")
	}
	to.stdout.Reset()
	if err := (&command.Rebuild{}).Run(t.Context(), to.env); err != nil || to.stdout.String() != "demo: all totals agree with the ledger\n" {
		t.Errorf("%v %s", err, &to.stdout)
	}
}

func TestTheStatusShowsWhatBecomesOfMonths(t *testing.T) {
	t.Parallel()
	c := usedFor(t, 5)
	if text := c.status(); !strings.Contains(text, "no month was ever taken out") || !strings.Contains(text, monthName(5)+"         in the ledger\n") {
		t.Error(text)
	}
	c.retention(4, true)
	pool, err := pg.Open(t.Context(), c.env.DatabaseURL, pg.Options{})
	fatal.If(t, err)
	t.Cleanup(func() { _ = pool.Close() })
	clock := time.Now()
	now := func() time.Time { return clock }
	ledger := usage.NewLedger(pool, usage.LedgerOptions{Now: now, DatabaseNow: now})
	for _, want := range []string{"announced", "detached"} {
		if _, err := ledger.Upkeep(t.Context(), &domain.Actor{}); err != nil {
			t.Fatal(err)
		}
		if text := c.status(); !strings.Contains(text, want) {
			t.Errorf("%s lacks %s", text, want)
		}
		clock = clock.Add(25 * time.Hour)
	}
	if text := c.status(); !strings.Contains(text, "first month     "+monthName(4)) {
		t.Error(text)
	}
	c.stdout.Reset()
	fatal.If(t, (&command.LedgerRestoreMonth{Month: monthName(5)}).Run(t.Context(), c.env))
	if text := c.stdout.String(); !strings.Contains(text, monthName(5)+" is in the ledger again") || !strings.Contains(text, "does not cover it") {
		t.Error(text)
	}
	for month, want := range map[string]string{monthName(5): "is not detached", "April": "a month is written as 2026-04"} {
		if err := (&command.LedgerRestoreMonth{Month: month}).Run(t.Context(), c.env); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", month, err)
		}
	}
}

// A server that has just started adds up the months that are over: it may be restarted
// before the clock is trusted enough to remove anything.
func TestMonthsAreAddedUpOnceAServerStarts(t *testing.T) {
	t.Parallel()
	c := usedFor(t, 3)
	pool, err := pg.Open(t.Context(), c.env.DatabaseURL, pg.Options{})
	fatal.If(t, err)
	t.Cleanup(func() { _ = pool.Close() })
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	var serve command.Serve
	parser := kong.Must(&serve, kong.DefaultEnvars("SIMGRAPH_TEST"), kong.Vars{"dataDir": t.TempDir()})
	if _, err := parser.Parse([]string{"--addr", "127.0.0.1:0", "--no-runtime-tuning"}); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- serve.Run(ctx, c.env) }()
	for ready := 0; ready < 2; time.Sleep(10 * time.Millisecond) {
		if err := pool.GetContext(ctx, &ready, `SELECT count(*) FROM usage_months WHERE is_ready`); err != nil {
			t.Fatalf("%d months are added up: %v", ready, err)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("the server ended with %v", err)
	}
}
