package signin_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"simgraph/db/audit"
	"simgraph/db/fleettest"
	"simgraph/db/mail"
	"simgraph/domain"
	rules "simgraph/domain/signin"
)

// newRequests is a fixture where users ask for links by mail.
func newRequests(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t)
	f.sessions.Requests = true
	return f
}

func (f *fixture) request(email string) {
	f.Helper()
	f.must(f.sessions.Request(f.Context(), domain.Origin{Address: "192.0.2.9"}, fleettest.Must[domain.Email](f)(domain.ParseEmail("email", email))))
}

// sent claims the mails of a company that are due, as a worker does, and returns the codes of their links.
func (f *fixture) sent(company domain.CompanyID) (codes []domain.Secret) {
	f.Helper()
	outbox := mail.NewOutbox(f.pool, func() time.Time { return f.now })
	for _, content := range fleettest.Must[[]*domain.MailContent](f)(outbox.Claim(f.Context(), company, domain.Digest{MaxEntries: 1}, 1000, time.Minute)) {
		f.must(outbox.Sent(f.Context(), company, &content.Mail))
		if content.Kind == domain.MailLink {
			codes = append(codes, content.SignIn)
		}
	}
	return codes
}

// one is the code of the only mail that is due.
func (f *fixture) one() domain.Secret {
	f.Helper()
	codes := f.sent(fleettest.Acme)
	if len(codes) != 1 || codes[0] == "" {
		f.Fatalf("%d mails", len(codes))
	}
	return codes[0]
}

func (f *fixture) refused(name string, code domain.Secret) {
	f.Helper()
	_, lookErr := f.sessions.FindLink(f.Context(), code)
	begun, err := f.sessions.ByLink(f.Context(), domain.Origin{}, code)
	for _, err := range []error{lookErr, err} {
		if _, is := errors.AsType[*rules.Refusal](err); !is || begun != nil {
			f.Errorf("%s: %v, %v", name, begun, err)
		}
	}
}

func (f *fixture) count(query string) (n int) {
	f.Helper()
	f.must(f.pool.Get(&n, query))
	return n
}

func TestALinkThatWasAskedForSignsInOnceForAQuarterOfAnHour(t *testing.T) {
	t.Parallel()
	f := newRequests(t)
	f.request("OPS@acme.example")
	code := f.one()
	f.now = f.now.Add(15*time.Minute - time.Second)
	for range 2 { // looking does not use it up
		if found := fleettest.Must[*rules.Link](t)(f.sessions.FindLink(t.Context(), code)); found.Email != ops {
			t.Errorf("%+v", found)
		}
	}
	if begun := fleettest.Must[*rules.Begun](t)(f.sessions.ByLink(t.Context(), domain.Origin{}, code)); begun.Way != rules.ByMailedLink || !f.lives(begun.Secret) {
		t.Errorf("%+v", begun.Session)
	}
	f.refused("used", code)

	f.request(ops)
	late := f.one()
	f.now = f.now.Add(15 * time.Minute)
	f.refused("expired", late)
	f.now = f.now.Add(2 * time.Hour)
	f.request(ops)
	f.now = f.now.Add(15 * time.Minute)
	if codes := f.sent(fleettest.Acme); len(codes) > 0 || f.count(`SELECT count(*) FROM mails WHERE kind = 'link' AND state = 'cancelled'`) != 1 {
		t.Errorf("%d mails are sent after their time", len(codes))
	}
	f.now = f.now.Add(24 * time.Hour)
	f.request(van)
	if n := f.count(`SELECT count(*) FROM login_links`); n != 0 {
		t.Errorf("%d links are kept a day after their time", n)
	}
}

// Whatever comes after a request ends its mail or its link.
func TestWhatEndsALinkThatWasAskedFor(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(f *fixture){
		"another request":           func(f *fixture) { f.request(ops) },
		"a sign-in by another way":  func(f *fixture) { f.begin(ops) },
		"the end of the sessions":   func(f *fixture) { fleettest.Must[int](f)(f.sessions.EndAll(f.Context(), fleettest.All, ops, "")) },
		"the end of all sessions":   func(f *fixture) { fleettest.Must[int](f)(f.sessions.EndAll(f.Context(), fleettest.All, "", "")) },
		"the user is disabled":      func(f *fixture) { f.pool.MustExec(`UPDATE users SET disabled = true`) },
		"the user is removed":       func(f *fixture) { f.pool.MustExec(`DELETE FROM users WHERE email = 'ops@acme.example'`) },
		"requests are not taken":    func(f *fixture) { f.sessions.Requests = false },
		"its time":                  func(f *fixture) { f.now = f.now.Add(15 * time.Minute) },
		"the user is of a provider": func(f *fixture) { f.provide(ops) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newRequests(t)
			f.request(ops)
			code := f.one()
			end(f)
			f.refused("the link", code)
		})
	}
	for name, end := range map[string]func(f *fixture){
		"a sign-in by another way":  func(f *fixture) { f.begin(ops) },
		"the end of the sessions":   func(f *fixture) { fleettest.Must[int](f)(f.sessions.EndAll(f.Context(), fleettest.All, ops, "")) },
		"the user is disabled":      func(f *fixture) { f.pool.MustExec(`UPDATE users SET disabled = true`) },
		"the user is of a provider": func(f *fixture) { f.provide(ops) },
	} {
		t.Run("unsent "+name, func(t *testing.T) {
			t.Parallel()
			f := newRequests(t)
			f.request(ops)
			end(f)
			if codes := f.sent(fleettest.Acme); len(codes) > 0 {
				t.Errorf("%d mails", len(codes))
			}
		})
	}
}

// provide notes that a user has signed in at a provider.
func (f *fixture) provide(email string) {
	f.pool.MustExec(`INSERT INTO user_identities SELECT company_id, 'https://login.acme.example', 'ada', user_id, now(), now() FROM users WHERE email = $1`, email)
}

// suppress has the address of a user be that of a recipient to whom no alerts are sent.
func (f *fixture) suppress(reason domain.SuppressionReason) {
	f.pool.MustExec(`INSERT INTO alert_recipients (company_id, email, email_key) VALUES (1, 'Ops@acme.example', 'ops@acme.example')`)
	f.pool.MustExec(`UPDATE alert_recipients SET suppressed_since = now(), suppressed_reason = $1`, reason)
}

// Who unsubscribes wants no alerts, and still signs in.
func TestARecipientThatUnsubscribedGetsALink(t *testing.T) {
	t.Parallel()
	f := newRequests(t)
	f.suppress(domain.Unsubscribed)
	f.request(ops)
	if codes := f.sent(fleettest.Acme); len(codes) != 1 {
		t.Errorf("%d mails", len(codes))
	}
}

func TestWhoGetsNoLinkByMail(t *testing.T) {
	t.Parallel()
	for name, arrange := range map[string]func(f *fixture){
		"disabled":                  func(f *fixture) { f.pool.MustExec(`UPDATE users SET disabled = true WHERE email = 'ops@acme.example'`) },
		"of a provider":             func(f *fixture) { f.provide(ops) },
		"a mail server refused it":  func(f *fixture) { f.suppress(domain.Refused) },
		"links are not asked for":   func(f *fixture) { f.sessions.Requests = false },
		"no user has the address":   func(f *fixture) { f.pool.MustExec(`DELETE FROM user_lookup WHERE email = 'ops@acme.example'`) },
		"the company is full":       func(f *fixture) { f.fill(rules.MaxRequestsOfCompany, "somebody@acme.example") },
		"the address has had three": func(f *fixture) { f.fill(rules.MaxRequests, ops) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newRequests(t)
			arrange(f)
			f.request(ops)
			if codes := f.sent(fleettest.Acme); len(codes) > 0 {
				t.Errorf("%d mails", len(codes))
			}
			for _, e := range fleettest.AuditOf(t, audit.NewLog(f.pool), fleettest.Acme) {
				if e.Action == domain.AuditLinkRequest {
					t.Errorf("%+v", e)
				}
			}
			f.request("ops@rival.example")
			if codes := f.sent(fleettest.Rival); f.sessions.Requests && len(codes) != 1 {
				t.Errorf("%d mails of another company", len(codes))
			}
		})
	}
}

// fill has that many links been sent to an address lately.
func (f *fixture) fill(n int, email string) {
	f.pool.MustExec(`
INSERT INTO mails (company_id, mail_id, recipient_id, email, kind, state, due_at, created_at)
SELECT 1, gen_random_uuid(), 0, $2, 'link', 'sent', $3, $3 FROM generate_series(1, $1)`, n, email, f.now.Add(-time.Minute))
}

// Many requests at once are three mails, of which the last has a link that signs in.
func TestRequestsAtOnceAreCountedAndAnHourLaterThereIsRoom(t *testing.T) {
	t.Parallel()
	f := newRequests(t)
	email := fleettest.Must[domain.Email](t)(domain.ParseEmail("email", ops))
	var asking errgroup.Group
	for range 8 {
		asking.Go(func() error { return f.sessions.Request(context.Background(), domain.Origin{}, email) })
	}
	f.must(asking.Wait())
	if made, waiting := f.count(`SELECT count(*) FROM mails WHERE kind = 'link'`), f.count(`SELECT count(*) FROM mails WHERE kind = 'link' AND state = 'queued'`); made != rules.MaxRequests || waiting != 1 {
		t.Errorf("%d mails, of which %d wait", made, waiting)
	}
	code := f.one()
	f.request(ops)
	if begun := fleettest.Must[*rules.Begun](t)(f.sessions.ByLink(t.Context(), domain.Origin{}, code)); begun.Email != ops {
		t.Errorf("%+v", begun)
	}
	f.now = f.now.Add(time.Hour)
	f.request(ops)
	f.one()
}

// An address of two companies gets a mail of each, whose link leads to its own.
func TestEachCompanyOfAnAddressMailsALink(t *testing.T) {
	t.Parallel()
	f := newRequests(t)
	f.pool.MustExec(`INSERT INTO user_lookup (email, company_id) VALUES ('ops@acme.example', 2)`)
	f.pool.MustExec(`INSERT INTO users SELECT company_id, user_id, email, '{}' FROM user_lookup WHERE email = 'ops@acme.example' AND company_id = 2`)
	f.request(ops)
	for company, name := range map[domain.CompanyID]string{fleettest.Acme: "acme", fleettest.Rival: "rival"} {
		codes := f.sent(company)
		if len(codes) != 1 {
			t.Fatalf("%d mails of %s", len(codes), name)
		}
		if found := fleettest.Must[*rules.Link](t)(f.sessions.FindLink(t.Context(), codes[0])); found.Company != name {
			t.Errorf("%+v", found)
		}
		if caller := fleettest.Must[*domain.Caller](t)(f.sessions.Authenticate(t.Context(), fleettest.Must[*rules.Begun](t)(f.sessions.ByLink(t.Context(), domain.Origin{}, codes[0])).Secret)); caller.Scope.Company != company {
			t.Errorf("%s: %+v", name, caller.Scope)
		}
	}
}

// The request is not said to be the user's: anybody can write an address. The sign-in is.
func TestTheAuditLogHasRequestsAndSignInsByThem(t *testing.T) {
	t.Parallel()
	f := newRequests(t)
	f.request(ops)
	f.request("nobody@acme.example")
	fleettest.Must[*rules.Begun](t)(f.sessions.ByLink(t.Context(), domain.Origin{}, f.one()))
	var asked, begun []*domain.AuditEntry
	for _, e := range fleettest.AuditOf(t, audit.NewLog(f.pool), fleettest.Acme) {
		switch e.Action {
		case domain.AuditLinkRequest:
			asked = append(asked, e)
		case domain.AuditSessionBegin:
			begun = append(begun, e)
		}
	}
	if len(asked) != 1 || asked[0].SubjectID != ops || asked[0].Actor.UserID != 0 || asked[0].Actor.Name != "" || asked[0].Actor.Address != "192.0.2.9" {
		t.Errorf("asked: %+v", asked)
	}
	if len(begun) != 1 || begun[0].Actor.Name != ops || *begun[0].Changes[1].After != rules.ByMailedLink {
		t.Errorf("begun: %+v", begun)
	}
}
