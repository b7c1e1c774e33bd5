package command_test

import (
	"encoding/json"
	"strings"
	"testing"

	"simgraph/db/access"
	"simgraph/db/companies"
	"simgraph/domain"
	"simgraph/internal/command"
	"simgraph/internal/fatal"
)

// A company, its operator, an administrator and a key are made without a bundle.
func TestACompanyIsSetUpByCommands(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	if got := c.audited(func() error {
		return (&command.CompanyCreate{ID: "acme", Name: "Acme", BillingDay: 15, TimeZone: "Europe/London"}).Run(t.Context(), c.env)
	}); got != "company acme: added\n" {
		t.Errorf("it prints %q", got)
	}
	_ = c.audited(func() error {
		return (&command.OperatorSet{Code: "23415", Name: "Vodafone UK"}).Run(t.Context(), c.env)
	})
	_ = c.audited(func() error { return (&command.UserCreate{Email: "plain@acme.example"}).Run(t.Context(), c.env) })
	if got := c.stdout.String(); got != "" {
		t.Errorf("without --key it prints %q", got)
	}
	_ = c.audited(func() error {
		return (&command.UserCreate{Email: "Ops@acme.example", Company: "acme", Permission: []string{"View Subscriber", "MANAGE_INVENTORY"}, Key: true}).Run(t.Context(), c.env)
	})
	var printed struct{ AccessKeyID, Secret string }
	if err := json.Unmarshal(c.stdout.Bytes(), &printed); err != nil {
		t.Fatal(err, c.stdout.String())
	}
	pool, done, err := c.env.Open(t.Context(), "test")
	fatal.If(t, err)
	defer done()
	access := access.New(pool)
	grant, err := access.Exchange(t.Context(), domain.Origin{}, printed.AccessKeyID, domain.Secret(printed.Secret), nil)
	fatal.If(t, err)
	caller, err := access.Authenticate(t.Context(), grant.Token)
	fatal.If(t, err)
	if caller.Email != "ops@acme.example" || caller.Company.BillingDay != 15 || !caller.May(domain.ManageInventory, domain.ViewSubscriber) || caller.May(domain.ViewUserDetails) {
		t.Errorf("the key is for %+v of %+v", caller, caller.Company)
	}
	fatal.If(t, (&command.CompanyEdit{ID: "acme", Country: new("GB")}).Run(t.Context(), c.env))
	fatal.If(t, (&command.CompanyEdit{ID: "acme", TimeZone: new("Europe/Dublin")}).Run(t.Context(), c.env))
	of, err := companies.New(pool).FindExternal(t.Context(), "acme")
	if err != nil || of.CountryCode != "GB" || of.BillingDay != 15 || of.TimeZone != "Europe/Dublin" || of.Name != "Acme" {
		t.Errorf("edited: %+v, %v", of, err)
	}
	for name, run := range map[string]func() error{
		"country": func() error {
			return (&command.CompanyEdit{ID: "acme", Country: new("England")}).Run(t.Context(), c.env)
		},
		"edited company": func() error {
			return (&command.CompanyEdit{ID: "nobody", Country: new("GB")}).Run(t.Context(), c.env)
		},
		"company": func() error {
			return (&command.CompanyCreate{ID: "acme", Name: "Other", BillingDay: 1, TimeZone: "UTC"}).Run(t.Context(), c.env)
		},
		"time zone": func() error {
			return (&command.CompanyCreate{ID: "b", Name: "B", BillingDay: 1, TimeZone: "Mars/Base"}).Run(t.Context(), c.env)
		},
		"user": func() error { return (&command.UserCreate{Email: "ops@ACME.example"}).Run(t.Context(), c.env) },
		"permission": func() error {
			return (&command.UserCreate{Email: "x@acme.example", Permission: []string{"All"}}).Run(t.Context(), c.env)
		},
		"groups": func() error {
			return (&command.UserCreate{Email: "x@acme.example", Group: []int64{9}}).Run(t.Context(), c.env)
		},
		"blank": func() error { return (&command.OperatorSet{Code: "1", Name: " "}).Run(t.Context(), c.env) },
	} {
		if err := run(); err == nil {
			t.Errorf("a wrong %s is accepted", name)
		}
	}
	log := c.audited(func() error { return (&command.AuditExport{Output: "-"}).Run(t.Context(), c.env) })
	for _, want := range []string{`"action":"import.companies"`, `"action":"user.create","subjectType":"User","subjectId":"ops@acme.example"`, `"action":"accessKey.create"`} {
		if !strings.Contains(log, want) {
			t.Errorf("the audit log lacks %s:\n%s", want, log)
		}
	}
	if strings.Contains(log, printed.Secret) {
		t.Error("the audit log shows the secret")
	}
}
