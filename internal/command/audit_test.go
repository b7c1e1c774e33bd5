package command_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"simgraph/internal/command"
	"simgraph/internal/fatal"
)

func (c *console) audited(run func() error) string {
	c.Helper()
	c.stdout.Reset()
	fatal.If(c, run())
	return c.stdout.String()
}

func (c *console) verify(v command.AuditVerify) (string, error) {
	c.stdout.Reset()
	err := v.Run(c.Context(), c.env)
	return strings.TrimSpace(c.stdout.String()), err
}

func TestTheAuditLogIsExportedAndVerified(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.demo(command.Demo{Subscribers: 20, Days: 1, Seed: 1, Company: "demo"})
	c.audited(func() error {
		return (&command.KeyCreate{User: "admin@demo.example", TTL: 1e12}).Run(c.Context(), c.env)
	})
	end, err := c.verify(command.AuditVerify{})
	fatal.If(t, err)
	exported := c.audited(func() error { return (&command.AuditExport{Output: "-"}).Run(c.Context(), c.env) })
	lines := strings.Split(strings.TrimSpace(exported), "\n")
	var last struct {
		Sequence                               int
		Action, Actor, Door, SubjectType, Hash string
	}
	fatal.If(t, json.Unmarshal([]byte(lines[len(lines)-1]), &last))
	if last.Action != "accessKey.create" || last.Door != "key create" || last.Actor == "" || last.Sequence != len(lines) || !strings.HasSuffix(end, ":"+last.Hash) {
		t.Errorf("%+v ends with %s", last, end)
	}
	for _, want := range []string{"import.companies", "import.subscribers", "import.usage"} {
		if !strings.Contains(exported, `"action":"`+want+`"`) {
			t.Errorf("the import is recorded as %.500s", exported)
		}
	}

	file := c.file("audit.ndjson", exported)
	if _, err := c.verify(command.AuditVerify{Mark: []string{end}, File: file}); err != nil {
		t.Error(err)
	}
	forged := c.file("forged.ndjson", strings.Replace(exported, last.Hash, strings.Repeat("0", 64), 1))
	for _, wrong := range []command.AuditVerify{{Mark: []string{"1:00"}}, {Mark: []string{"x"}}, {Mark: []string{"9999:00"}}, {File: forged}, {Whose: command.Whose{Company: "none"}}} {
		if _, err := c.verify(wrong); err == nil {
			t.Errorf("%+v verifies", wrong)
		}
	}
}

// A file that changes subscribers for a reason leaves it in the log, and an export of that
// verifies with it and not without.
func TestAnImportLeavesItsReasonInTheLog(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.demo(command.Demo{Subscribers: 20, Days: 1, Seed: 1, Company: "demo"})
	physicalID := regexp.MustCompile(`"type":"subscriber".*"physicalId":"([^"]+)"`).FindStringSubmatch(c.export("demo"))[1]
	file := c.file("fleet.csv", "physicalId,nickname\n"+physicalID+",sold\n")
	change := command.Import{Files: []string{file}, Format: "auto", Type: "auto", ErrorPolicy: "REJECT_EVERYTHING", Reason: "one\ntwo"}
	if err := change.Run(c.Context(), c.env); err == nil || !strings.Contains(err.Error(), "reason") {
		t.Errorf("a reason of two lines: %v", err)
	}
	change.Reason = "Ticket 4711"
	fatal.If(t, change.Run(c.Context(), c.env))
	exported := c.audited(func() error { return (&command.AuditExport{Output: "-"}).Run(c.Context(), c.env) })
	const reason = `"reason":"Ticket 4711"`
	if n := strings.Count(exported, reason); n != 3 { // the dry run, the run, and what it changed
		t.Errorf("%d entries have the reason", n)
	}
	if _, err := c.verify(command.AuditVerify{File: c.file("audit.ndjson", exported)}); err != nil {
		t.Error(err)
	}
	if _, err := c.verify(command.AuditVerify{File: c.file("forged.ndjson", strings.ReplaceAll(exported, reason, `"reason":""`))}); err == nil {
		t.Error("an export without its reasons verifies")
	}
}

func TestTheInstallationHasAnAuditLogOfItsOwn(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.demo(command.Demo{Subscribers: 5, Days: 1, Seed: 1, Company: "demo"})
	for _, run := range []func() error{
		func() error { return command.MigrateDown{Consent: yes}.Run(c.Context(), c.env) },
		func() error { return command.MigrateUp{}.Run(c.Context(), c.env) },
	} {
		c.audited(run)
	}
	installation := command.Whose{Installation: true}
	exported := c.audited(func() error {
		return (&command.AuditExport{Output: "-", Whose: installation}).Run(c.Context(), c.env)
	})
	for _, want := range []string{`"action":"import.operators"`, `"after":"down 00`, `"after":"up 00`, `"door":"migrate down"`} {
		if !strings.Contains(exported, want) {
			t.Errorf("%s lacks %s", exported, want)
		}
	}
	if end, err := c.verify(command.AuditVerify{Whose: installation, File: c.file("audit.ndjson", exported)}); err != nil || end == "" {
		t.Errorf("%q, %v", end, err)
	}
	if _, err := c.verify(command.AuditVerify{File: c.file("audit.ndjson", exported)}); err == nil {
		t.Error("the log of the installation passes for that of a company")
	}
}
