package signin_test

import (
	"crypto/rand"
	"errors"
	"slices"
	"testing"
	"time"

	"simgraph/db/fleettest"
	"simgraph/domain"
	rules "simgraph/domain/signin"
)

var ada = rules.Identity{Issuer: "https://login.acme.example", Subject: "ada"}

// login is one of ada to Acme, for whom an address is vouched, with a right and group 12.
func (f *fixture) login(email string, change func(*rules.Login)) *rules.Login {
	f.Helper()
	of := &rules.Login{
		Identity: ada, Provider: "sso", State: domain.Secret(rand.Text()), Create: true, Link: true,
		Rights: rules.Rights{Company: "acme", Permissions: []domain.Permission{domain.ViewSubscriber}, Groups: []int64{12}},
	}
	if email != "" {
		of.Email = fleettest.Must[domain.Email](f)(domain.ParseEmail("email", email))
	}
	if change != nil {
		change(of)
	}
	return of
}

func why(err error) rules.RefusalReason {
	if refusal, is := errors.AsType[*rules.Refusal](err); is {
		return refusal.Why
	}
	return ""
}

// A person becomes the user that the rules of the provider allow, and what is offered says so
// before: it writes nothing.
func TestWhoAPersonBecomes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		email   string
		change  func(*rules.Login)
		before  func(*fixture)
		refused rules.RefusalReason
	}{
		"a new user":                        {email: "ada@acme.example"},
		"a new user, where none is linked":  {email: "ada@acme.example", change: func(l *rules.Login) { l.Link = false }},
		"a new user, where none is created": {email: "ada@acme.example", change: func(l *rules.Login) { l.Create = false }, refused: rules.RefusedUnknown},
		"a user of another company":         {email: "ops@rival.example", change: func(l *rules.Login) { l.Create = false }, refused: rules.RefusedUnknown},
		"without an address":                {refused: rules.RefusedUnknown},
		"neither created nor linked":        {email: van, change: func(l *rules.Login) { l.Create, l.Link = false, false }, refused: rules.RefusedUnknown},
		"the user of the address":           {email: van, change: func(l *rules.Login) { l.Create = false }},
		"where the address does not count":  {email: van, change: func(l *rules.Login) { l.Link = false }, refused: rules.RefusedEmail},
		"who is another person":             {email: van, before: func(f *fixture) { f.provide(van) }, change: func(l *rules.Login) { l.Subject = "bob" }, refused: rules.RefusedEmail},
		"a disabled user of the address":    {email: van, before: func(f *fixture) { f.pool.MustExec(`UPDATE users SET disabled = true`) }, refused: rules.RefusedDisabled},
		"who is known": {
			email: "", before: func(f *fixture) { f.provide(van) }, change: func(l *rules.Login) { l.Create, l.Link = false, false },
		},
		"who is known and disabled": {
			email: van, before: func(f *fixture) { f.provide(van); f.pool.MustExec(`UPDATE users SET disabled = true`) }, refused: rules.RefusedDisabled,
		},
		"a group that does not exist":   {email: van, change: func(l *rules.Login) { l.Groups = []int64{12, 99} }, refused: rules.RefusedSetup},
		"a company that does not exist": {email: van, change: func(l *rules.Login) { l.Company = "none" }, refused: rules.RefusedSetup},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			if c.before != nil {
				c.before(f)
			}
			login := f.login(c.email, c.change)
			offers, err := f.sessions.Offers(t.Context(), login, []rules.Rights{login.Rights})
			if why(err) != c.refused || c.refused == "" && (err != nil || len(offers) != 1 || offers[0].CompanyID != fleettest.Acme) {
				t.Errorf("offered are %+v: %v", offers, err)
			}
			if n := f.count(`SELECT count(*) FROM user_identities`); n != 0 && c.before == nil {
				t.Error("an offer is kept")
			}
			begun, err := f.sessions.ByProvider(t.Context(), domain.Origin{}, login)
			if c.refused != "" {
				if why(err) != c.refused || begun != nil {
					t.Errorf("begun is %+v: %v", begun, err)
				}
				return
			}
			f.must(err)
			want := c.email
			if want == "" {
				want = van
			}
			if begun.Email != want || !f.lives(begun.Secret) {
				t.Errorf("begun is a session of %s", begun.Email)
			}
			if _, err := f.sessions.ByProvider(t.Context(), domain.Origin{}, login); why(err) != rules.RefusedUsed {
				t.Errorf("a sign-in is used twice: %v", err)
			}
			// Who came once is known by the identity alone.
			again := f.login("", func(l *rules.Login) { l.Create, l.Link, l.Subject = false, false, login.Subject })
			if found := fleettest.Must[*rules.Begun](f)(f.sessions.ByProvider(t.Context(), domain.Origin{}, again)); found.Email != want {
				t.Errorf("the same person is %s and %s", want, found.Email)
			}
		})
	}
}

// A program gets what it may have of what its user may, once for each assertion.
func TestAProgramGetsATokenOfItsUser(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		company string
		user    string
		before  string
		refused rules.RefusalReason
	}{
		"of a company":                     {company: "acme", user: ops},
		"of one that is not named":         {user: ops, refused: rules.RefusedSetup},
		"of the only company":              {user: ops, before: `DELETE FROM companies WHERE company_id <> 1`},
		"of a company that does not exist": {company: "none", user: ops, refused: rules.RefusedSetup},
		"of nobody":                        {company: "acme", user: "bot@acme.example", refused: rules.RefusedSetup},
		"of the user of another company":   {company: "acme", user: "ops@rival.example", refused: rules.RefusedSetup},
		"of a user that has been disabled": {company: "acme", user: ops, before: `UPDATE users SET disabled = true`, refused: rules.RefusedDisabled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			if c.before != "" {
				f.pool.MustExec(c.before)
			}
			assertion := &rules.Assertion{
				Machine: &rules.Machine{
					Identity: ada, Company: c.company, User: fleettest.Must[domain.Email](f)(domain.ParseEmail("email", c.user)),
					Scopes: []domain.Permission{domain.ViewSubscriber, domain.ViewStatisticsOverview},
				},
				ID: "once", ExpiresAt: f.now.Add(time.Minute),
			}
			grant, err := f.sessions.ByAssertion(t.Context(), domain.Origin{}, assertion, nil)
			if c.refused != "" {
				if why(err) != c.refused || grant != nil {
					t.Errorf("granted is %+v: %v", grant, err)
				}
				return
			}
			f.must(err)
			if !slices.Equal(grant.Scopes, []domain.Permission{domain.ViewSubscriber}) {
				t.Errorf("granted are %v", grant.Scopes)
			}
			if _, err := f.sessions.ByAssertion(t.Context(), domain.Origin{}, assertion, nil); why(err) != rules.RefusedUsed {
				t.Errorf("an assertion is used twice: %v", err)
			}
		})
	}
}
