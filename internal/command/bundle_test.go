package command_test

import (
	"bytes"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"simgraph/db/dbtest"
	"simgraph/internal/command"
	"simgraph/internal/fatal"
)

// console is a database with streams to run commands on.
type console struct {
	*testing.T
	env            *command.Env
	stdout, stderr bytes.Buffer
}

func newConsole(t *testing.T) *console {
	c := &console{T: t}
	c.env = &command.Env{
		Database: command.Database{DatabaseURL: dbtest.URL(t), MaxConns: 4},
		Stdin:    strings.NewReader(""), Stdout: &c.stdout, Stderr: &c.stderr, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	return c
}

func (c *console) load(files ...string) error {
	c.stdout.Reset()
	c.stderr.Reset()
	return (&command.Import{Files: files, Format: "auto", Type: "usage"}).Run(c.Context(), c.env)
}

func (c *console) export(company string) string {
	c.Helper()
	c.stdout.Reset()
	fatal.If(c, (&command.Export{Company: company, Output: "-"}).Run(c.Context(), c.env))
	return c.stdout.String()
}

// file writes a file of the test's own.
func (c *console) file(name, text string) string {
	c.Helper()
	path := filepath.Join(c.TempDir(), name)
	fatal.If(c, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func (c *console) demo(d command.Demo) {
	c.Helper()
	fatal.If(c, d.Run(c.Context(), c.env))
}

func TestADemoGoesFromDatabaseToFileToDatabase(t *testing.T) {
	t.Parallel()
	from, to := newConsole(t), newConsole(t)
	from.demo(command.Demo{Subscribers: 60, Days: 2, Seed: 3, Company: "demo"})
	if !strings.Contains(from.stdout.String(), "subscriber       60") {
		t.Error(from.stdout.String())
	}
	exported := from.export("")
	to.env.Stdin = strings.NewReader(exported)
	if err := to.load("-"); err != nil {
		t.Fatal(err, to.stderr.String())
	}
	if to.export("demo") != exported {
		t.Error("the company is another one")
	}
}

func TestADemoIsWrittenOrLoadedTheSame(t *testing.T) {
	t.Parallel()
	loaded, written := newConsole(t), newConsole(t)
	d := command.Demo{Subscribers: 40, Days: 1, Seed: 1, Until: "2026-11-20T15:00:00Z", Company: "demo"}
	loaded.demo(d)
	d.Output = filepath.Join(t.TempDir(), "demo.ndjson")
	written.demo(d)
	fatal.If(t, written.load(d.Output))
	if loaded.export("demo") != written.export("demo") {
		t.Error("they differ")
	}
}

func TestBadLinesAreReportedAndTheRestIsCounted(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	company := `{"type":"company","id":"acme","name":"Acme Ltd"}`
	bad := c.file("acme.ndjson", company+"\n{\"type\":\"group\",\"company\":\"acme\",\"id\":0,\"name\":\"x\"}\nnonsense\n")
	usage := c.file("usage.CSV", "company,source,recordId,physicalId,startedAt,endedAt,mobileOriginated,mobileTerminated,protocol\n"+
		"acme,gw,1,8944,2026-11-01T10:00:00Z,2026-11-01T10:00:00Z,1,1,TCP\nacme,gw,1,8944\n")
	err := c.load(bad, usage)
	if err == nil || err.Error() != "3 lines were not imported" {
		t.Errorf("got %v", err)
	}
	want := bad + ":2: a group id must be 1 to 2147483647, not 0\n" +
		bad + ":3: no valid JSON: invalid character 'o' in literal null (expecting 'u') at byte 2\n" +
		usage + ":3: 9 cells are expected, not 4\n"
	if c.stderr.String() != want {
		t.Errorf("got\n%swant\n%s", &c.stderr, want)
	}
	wantCounts := `
        type  created  updated  unchanged  quarantined  failed
     company        1        0          0            0       0
       group        0        0          0            0       1
       usage        0        0          0            1       1
  unreadable        0        0          0            0       1
`
	if c.stdout.String() != wantCounts[1:] {
		t.Errorf("got\n%swant\n%s", &c.stdout, wantCounts)
	}
}

func TestAFileThatIsNotThereStopsTheImportBeforeItBegins(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	good := c.file("good.ndjson", `{"type":"company","id":"acme","name":"Acme Ltd"}`)
	for _, missing := range []string{filepath.Join(t.TempDir(), "none.ndjson"), t.TempDir()} {
		if err := c.load(good, missing); err == nil || c.stdout.Len() > 0 {
			t.Errorf("got %v and %s", err, &c.stdout)
		}
	}
}

func TestAnExportNeedsToKnowTheCompany(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	output := filepath.Join(t.TempDir(), "out.ndjson")
	for company, want := range map[string]string{"": "there are 0 companies: name one with --company", "acme": `no company "acme" on this account`} {
		err := (&command.Export{Company: company, Output: output}).Run(t.Context(), c.env)
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, err := os.Stat(output); !os.IsNotExist(err) {
		t.Errorf("a failed export left %s", output)
	}
}

// The help of export and the page about bundles list the same things that a bundle lacks.
func TestTheHelpOfExportLeavesOutWhatThePageDoes(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/bundles.md")
	fatal.If(t, err)
	_, text, _ := strings.Cut(string(page), "An export holds the types above. It leaves out ")
	page = []byte(strings.Join(strings.Fields(text), " "))
	help := strings.Join(strings.Fields(command.Export{}.Help()), " ")
	_, left, _ := strings.Cut(help, "import restores it. ")
	for _, noun := range []string{"access keys", "tokens", "secrets", "sources", "webhooks", "the audit log", "mails"} {
		if !strings.Contains(strings.ToLower(left), noun) || !strings.Contains(string(page), noun) {
			t.Errorf("%q is missing in %q, or in %.120q", noun, left, page)
		}
	}
	if strings.Contains(strings.ToLower(left), "alerts") || !strings.Contains(help, "the log of its alerts") {
		t.Errorf("the log of alerts is part of a bundle, but: %s", help)
	}
}
