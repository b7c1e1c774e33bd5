package command_test

import (
	"strings"
	"testing"

	"simgraph/internal/command"
	"simgraph/internal/fatal"
)

const recipients = `{"type":"company","id":"acme","name":"Acme","billingDay":1,"timeZone":"UTC"}
{"type":"recipient","company":"acme","email":"fine@acme.example"}
{"type":"recipient","company":"acme","email":"Refused@acme.example"}
{"type":"recipient","company":"acme","email":"left@acme.example"}
{"type":"suppression","company":"acme","email":"Refused@acme.example","since":"2026-10-02T08:00:00Z","reason":"refused","detail":"550 5.1.1 no such user"}
{"type":"suppression","company":"acme","email":"left@acme.example","since":"2026-10-03T08:00:00Z","reason":"unsubscribed","detail":""}
`

func TestSuppressedRecipientsAreListedAndRestored(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	if err := c.load(c.file("acme.ndjson", recipients)); err != nil {
		t.Fatal(err, c.stderr.String())
	}
	list := func(suppressed bool) string {
		c.stdout.Reset()
		fatal.If(t, (&command.RecipientList{Suppressed: suppressed}).Run(t.Context(), c.env))
		return c.stdout.String()
	}
	const refused = "Refused@acme.example  refused       2026-10-02T08:00:00Z  550 5.1.1 no such user"
	if got := list(true); !strings.Contains(got, refused) || !strings.Contains(got, "left@acme.example     unsubscribed  2026-10-03T08:00:00Z") || strings.Contains(got, "fine@") {
		t.Errorf("suppressed are\n%s", got)
	}
	if got := list(false); !strings.Contains(got, "fine@acme.example     gets mail") {
		t.Errorf("all are\n%s", got)
	}
	restore := &command.RecipientRestore{Email: "refused@acme.example"}
	for _, want := range []string{"Refused@acme.example gets mail again; held back and sent now: 0 mails, 0 alerts\n", "Refused@acme.example is not suppressed\n"} {
		if got := c.audited(func() error { return restore.Run(t.Context(), c.env) }); got != want {
			t.Errorf("restoring prints %q", got)
		}
	}
	exported := c.audited(func() error { return (&command.AuditExport{Output: "-"}).Run(t.Context(), c.env) })
	if !strings.Contains(exported, `"action":"recipient.restore","subjectType":"Recipient"`) {
		t.Errorf("the audit log lacks the restore:\n%s", exported)
	}
	if got := list(true); strings.Contains(got, "Refused@") {
		t.Errorf("afterwards suppressed are\n%s", got)
	}
	for email, want := range map[string]string{"left@acme.example": "unsubscribed", "nobody@acme.example": "nobody@acme.example"} {
		if err := (&command.RecipientRestore{Email: email}).Run(t.Context(), c.env); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("restoring %s: %v", email, err)
		}
	}
}
