package signin_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"simgraph/domain"
	"simgraph/domain/signin"
	"simgraph/internal/fatal"
)

func claimsOf(t *testing.T, text string) (claims map[string]any) {
	t.Helper()
	fatal.If(t, json.Unmarshal([]byte(text), &claims))
	return claims
}

func TestTheFirstRuleOfACompanyThatFitsDecides(t *testing.T) {
	t.Parallel()
	rule := func(claim, value, company string) signin.Rule {
		return signin.Rule{Claim: claim, Value: value, Rights: signin.Rights{Company: company}}
	}
	p := &signin.Provider{Name: "acme", Title: "Acme", EmailClaim: "email", Rules: []signin.Rule{
		rule("groups", "admins", "1"), rule("groups", "fleet", "2"), rule("realm_access.roles", "viewer", "3"),
		rule("https://acme.example/team", "iot", "4"), rule("staff", "true", "5"), rule("email", "ops@acme.example", "6"),
	}}
	second := rule("groups", "seconds", "1")
	second.Groups = []int64{7}
	p.Rules = append(p.Rules, second)
	for text, want := range map[string]string{
		`{"groups": ["fleet", "admins"]}`:                              "1 2",
		`{"groups": ["seconds", "fleet"]}`:                             "2 1[7]",
		`{"groups": ["seconds", "admins"], "staff": true}`:             "1 5",
		`{"groups": ["others", "fleet"]}`:                              "2",
		`{"groups": "fleet"}`:                                          "2",
		`{"groups": "fleet admins"}`:                                   "",
		`{"groups": ["Fleet"]}`:                                        "",
		`{"groups": [["fleet"], 7, null]}`:                             "",
		`{"groups": {"fleet": true}}`:                                  "",
		`{"realm_access": {"roles": ["viewer"]}}`:                      "3",
		`{"realm_access.roles": "viewer"}`:                             "3",
		`{"realm_access": "viewer"}`:                                   "",
		`{"https://acme.example/team": "iot"}`:                         "4",
		`{"staff": true}`:                                              "5",
		`{"staff": 1}`:                                                 "",
		`{"email": "ops@acme.example", "email_verified": true}`:        "6",
		`{"email": "ops@acme.example", "email_verified": "true"}`:      "6",
		`{"email": "ops@acme.example", "email_verified": false}`:       "",
		`{"email": "ops@acme.example"}`:                                "",
		`{}`:                                                           "",
		`{"email": "x@acme.example", "groups": ["x"], "staff": "yes"}`: "",
	} {
		rights, err := p.RightsOf(claimsOf(t, text))
		var got []string
		for _, of := range rights {
			got = append(got, of.Company)
			if of.Groups != nil {
				got[len(got)-1] += fmt.Sprint(of.Groups)
			}
		}
		refusal, is := errors.AsType[*signin.Refusal](err)
		if strings.Join(got, " ") != want || (want == "") != (is && refusal.Why == signin.RefusedRule) {
			t.Errorf("%s: %v, %v, want %s", text, got, err, want)
		}
	}
}

func TestAnEmailAddressCountsWhereTheProviderKnowsIt(t *testing.T) {
	t.Parallel()
	anywhere := signin.Provider{EmailClaim: "email"}
	within := signin.Provider{EmailClaim: "email", EmailDomains: []string{"acme.example"}}
	assumed := signin.Provider{EmailClaim: "preferred_username", EmailDomains: []string{"acme.example"}, AssumeEmailVerified: true}
	for _, c := range []struct {
		provider    *signin.Provider
		claims, got string
	}{
		{&anywhere, `{"email": "Ops@Acme.example", "email_verified": true}`, "ops@acme.example"},
		{&anywhere, `{"email": "ops@acme.example"}`, ""},
		{&anywhere, `{"email": "ops@acme.example", "email_verified": false}`, ""},
		{&anywhere, `{"email": "ops@acme.example", "email_verified": 1}`, ""},
		{&anywhere, `{"email": ["ops@acme.example"], "email_verified": true}`, ""},
		{&anywhere, `{"email": "no address", "email_verified": true}`, ""},
		{&within, `{"email": "ops@acme.example", "email_verified": true}`, "ops@acme.example"},
		{&within, `{"email": "ops@ACME.example", "email_verified": true}`, "ops@acme.example"},
		{&within, `{"email": "ops@evil.example", "email_verified": true}`, ""},
		{&within, `{"email": "ops@acme.example.evil.example", "email_verified": true}`, ""},
		{&within, `{"email": "\"ops@acme.example\"@evil.example", "email_verified": true}`, ""},
		{&assumed, `{"preferred_username": "ops@acme.example", "email": "x@acme.example"}`, "ops@acme.example"},
		{&assumed, `{"preferred_username": "ops@acme.example", "email_verified": false}`, ""},
	} {
		if got := c.provider.EmailOf(claimsOf(t, c.claims)); got.String() != c.got {
			t.Errorf("%s: %q, want %q", c.claims, got, c.got)
		}
	}
}

func TestAProviderThatIsNotWholeIsRefused(t *testing.T) {
	t.Parallel()
	whole := func() *signin.Provider {
		return &signin.Provider{Name: "acme", Rules: []signin.Rule{{Claim: "groups", Value: "fleet", Rights: signin.Rights{Company: "acme", Groups: []int64{1}}}}}
	}
	fatal.If(t, whole().Check())
	for name, spoil := range map[string]func(*signin.Provider){
		"no name":                       func(p *signin.Provider) { p.Name = "" },
		"a name with a slash":           func(p *signin.Provider) { p.Name = "a/b" },
		"a name of another way":         func(p *signin.Provider) { p.Name = signin.ByLink },
		"no rules":                      func(p *signin.Provider) { p.Rules = nil },
		"a rule without a claim":        func(p *signin.Provider) { p.Rules[0].Claim = "" },
		"a rule without a value":        func(p *signin.Provider) { p.Rules[0].Value = "" },
		"a rule without a company":      func(p *signin.Provider) { p.Rules[0].Company = "" },
		"an impossible group":           func(p *signin.Provider) { p.Rules[0].Groups = []int64{0} },
		"links by e-mail of any domain": func(p *signin.Provider) { p.LinkUsers = true },
	} {
		p := whole()
		spoil(p)
		if fault, is := domain.AsError(p.Check()); !is || fault.Kind != domain.KindInvalid {
			t.Errorf("%s is taken", name)
		}
	}
}
