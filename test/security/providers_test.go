package security

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"simgraph/db/audit"
	"simgraph/domain"
	rules "simgraph/domain/signin"
	"simgraph/internal/issuer"
	"simgraph/internal/issuertest"
	"simgraph/internal/signin"
)

// browser is one person's: it keeps cookies, and sends them as browsers do.
type browser struct {
	w       *world
	cookies map[string]*http.Cookie
}

func (w *world) browser() *browser { return &browser{w, map[string]*http.Cookie{}} }

// get requests a path of the service; site is what Sec-Fetch-Site says. Strict cookies
// stay away from what another site leads to.
func (b *browser) get(path, site string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Header.Set("Sec-Fetch-Site", site)
	for _, cookie := range b.cookies {
		if site == "same-origin" || cookie.SameSite == http.SameSiteLaxMode {
			r.AddCookie(cookie)
		}
	}
	return b.send(r)
}

func (b *browser) send(r *http.Request) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	b.w.handler.ServeHTTP(answer, r)
	for _, cookie := range answer.Result().Cookies() {
		b.cookies[cookie.Name] = cookie
		if cookie.MaxAge < 0 {
			delete(b.cookies, cookie.Name)
		}
	}
	return answer
}

// leave begins a sign-in, and returns the address at which the provider sends the browser
// back.
func (b *browser) leave(t *testing.T, name string, p *issuertest.Provider) *url.URL {
	t.Helper()
	answer := b.get("/signin/"+name, "same-origin")
	if answer.Code != http.StatusSeeOther {
		t.Fatalf("%d %s", answer.Code, answer.Body)
	}
	return p.SignIn(answer.Header().Get("Location"))
}

func (b *browser) signIn(t *testing.T, name string, p *issuertest.Provider) *httptest.ResponseRecorder {
	t.Helper()
	return b.get(b.leave(t, name, p).RequestURI(), "cross-site")
}

// email is who is signed in; "" for nobody.
func (b *browser) email(t *testing.T) string {
	t.Helper()
	r := fromPage(http.MethodPost, "/graphql", whoAmI)
	for _, cookie := range b.cookies {
		r.AddCookie(cookie)
	}
	_, email := b.w.who(t, r)
	return email
}

// provide adds a provider to the sign-in. Its rules give the group "fleet" the vans of acme,
// "admins" all of acme and "rivals" all of rival.
func provide(t *testing.T, name string, p *issuertest.Provider, change func(*rules.Provider)) func(*signin.Config) {
	t.Helper()
	of, err := issuer.New(p.URL, issuer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rule := func(value, company string, permissions []domain.Permission, groups ...int64) rules.Rule {
		return rules.Rule{Claim: "groups", Value: value, Rights: rules.Rights{Company: company, Permissions: permissions, Groups: groups}}
	}
	provider := &signin.Provider{
		Provider: rules.Provider{
			Name: name, Title: "Provider " + name, Issuer: p.URL, EmailClaim: "email", CreateUsers: true,
			Rules: []rules.Rule{
				rule("admins", "acme", domain.AllPermissions()), rule("fleet", "acme", []domain.Permission{domain.ViewSubscriber}, int64(own.group)),
				rule("rivals", "rival", domain.AllPermissions()), rule("lost", "no-such-company", nil, 1), rule("nowhere", "acme", nil, int64(nobody.group)),
			},
		},
		Client: &issuer.Client{
			Issuer: of, ID: issuertest.ClientID, Secret: issuertest.ClientSecret, RedirectURL: "http://example.com/signin/" + name + "/callback", Scopes: []string{"email"},
		},
	}
	if change != nil {
		change(&provider.Provider)
	}
	return func(cfg *signin.Config) { cfg.Providers = append(cfg.Providers, provider) }
}

// person makes who signs in next.
func person(p *issuertest.Provider, sub, email string, groups ...string) {
	p.Set(func(p *issuertest.Provider) {
		p.Person = map[string]any{"sub": sub, "email": email, "email_verified": true, "groups": groups}
	})
}

// noted are the entries of a company's audit log with an action.
func (w *world) noted(t *testing.T, company domain.CompanyID, action string) (found []*domain.AuditEntry) {
	t.Helper()
	for entry, err := range audit.NewLog(w.pool).All(t.Context(), domain.Whole(company), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if entry.Action == action {
			found = append(found, entry)
		}
	}
	return found
}

func valueOf(entry *domain.AuditEntry, field string) string {
	for _, change := range entry.Changes {
		if change.Field == field && change.After != nil {
			return *change.After
		}
	}
	return ""
}

func TestAPersonOfAProviderIsAUserWithTheRightsOfTheRule(t *testing.T) {
	t.Parallel()
	p := issuertest.New(t)
	w := newWorld(t, provide(t, "acme", p, nil))
	person(p, "17", "New@acme.example", "others", "fleet")
	b := w.browser()
	answer := b.signIn(t, "acme", p)
	if answer.Code != http.StatusSeeOther || answer.Header().Get("Location") != "/" {
		t.Fatalf("%d %s", answer.Code, answer.Body)
	}
	if email := b.email(t); email != "new@acme.example" {
		t.Fatalf("signed in as %q", email)
	}
	acme := w.company(t, "acme")
	_, user, err := w.access.FindUser(t.Context(), "new@acme.example")
	if err != nil || !slices.Equal(user.Permissions, []domain.Permission{domain.ViewSubscriber}) || !slices.Equal(user.Groups, []int64{int64(own.group)}) {
		t.Fatalf("%+v, %v", user, err)
	}
	begun := w.noted(t, acme, domain.AuditSessionBegin)
	if len(begun) != 1 || begun[0].SubjectID != "new@acme.example" || valueOf(begun[0], "way") != "acme" || valueOf(begun[0], "issuer") != p.URL || valueOf(begun[0], "subject") != "17" {
		t.Errorf("got %+v", begun)
	}
	if created := w.noted(t, acme, domain.AuditUserCreate); len(created) != 1 || valueOf(created[0], "permissions") != "VIEW_SUBSCRIBER" {
		t.Errorf("got %+v", created)
	}

	// At the next login the rule decides anew, whatever the address is now.
	person(p, "17", "renamed@acme.example", "admins")
	again := w.browser()
	if answer := again.signIn(t, "acme", p); answer.Code != http.StatusSeeOther {
		t.Fatalf("%d %s", answer.Code, answer.Body)
	}
	if email := again.email(t); email != "new@acme.example" {
		t.Errorf("signed in as %q", email)
	}
	_, user, err = w.access.FindUser(t.Context(), "new@acme.example")
	if err != nil || len(user.Permissions) != len(domain.AllPermissions()) || len(user.Groups) != 0 {
		t.Errorf("%+v, %v", user, err)
	}
	if edited := w.noted(t, acme, domain.AuditUserEdit); len(edited) != 1 {
		t.Errorf("got %+v", edited)
	}
}

// refused signs in and expects a page that says why.
func (b *browser) refused(t *testing.T, name string, p *issuertest.Provider, status int, text string) {
	t.Helper()
	answer := b.signIn(t, name, p)
	if answer.Code != status || !strings.Contains(answer.Body.String(), text) {
		t.Errorf("%d %s, want %q", answer.Code, answer.Body, text)
	}
	if email := b.email(t); email != "" {
		t.Errorf("signed in as %q", email)
	}
}

func TestARefusalIsSaidAndAudited(t *testing.T) {
	t.Parallel()
	p := issuertest.New(t)
	w := newWorld(t, provide(t, "acme", p, nil))
	person(p, "17", "new@acme.example", "others")
	w.browser().refused(t, "acme", p, http.StatusForbidden, "Nothing that Provider acme says about you gives you access")
	person(p, "18", "new@acme.example", "lost")
	w.browser().refused(t, "acme", p, http.StatusForbidden, "names a company or a group that does not exist")
	person(p, "19", "new@acme.example", "nowhere")
	w.browser().refused(t, "acme", p, http.StatusForbidden, "names a company or a group that does not exist")
	person(p, "20", "", "fleet")
	w.browser().refused(t, "acme", p, http.StatusForbidden, "You have no account here")
	if err := w.sessions.NoteRefusals(t.Context()); err != nil {
		t.Fatal(err)
	}
	for company, want := range map[domain.CompanyID]string{domain.Installation: "17 18", w.company(t, "acme"): "19 20"} {
		entries := w.noted(t, company, domain.AuditSignInRefuse)
		if len(entries) != 1 || entries[0].SubjectID != "acme" || valueOf(entries[0], "subjects") != want || valueOf(entries[0], "attempts") != "2" || entries[0].Door != "page" {
			t.Errorf("company %d: %+v", company, entries)
		}
	}
	if _, _, err := w.access.FindUser(t.Context(), "new@acme.example"); err == nil {
		t.Error("a refusal makes a user")
	}
}

// An e-mail address is no identity: a person who has one at another issuer, or gets it later at
// the same, is not its user.
func TestNobodyTakesAUserOverByItsEmailAddress(t *testing.T) {
	t.Parallel()
	home, other, links := issuertest.New(t), issuertest.New(t), issuertest.New(t)
	link := func(p *rules.Provider) {
		p.CreateUsers, p.LinkUsers, p.EmailDomains = false, true, []string{"acme.example"}
	}
	w := newWorld(t, provide(t, "home", home, nil), provide(t, "other", other, nil), provide(t, "links", links, link))
	const taken = "An account with your e-mail address exists"
	person(home, "victim", "victim@acme.example", "fleet")
	if answer := w.browser().signIn(t, "home", home); answer.Code != http.StatusSeeOther {
		t.Fatalf("%d %s", answer.Code, answer.Body)
	}
	for name, p := range map[string]*issuertest.Provider{"other": other, "links": links} {
		person(p, "victim", "victim@acme.example", "admins")
		w.browser().refused(t, name, p, http.StatusForbidden, taken)
	}
	person(home, "thief", "victim@acme.example", "admins")
	w.browser().refused(t, "home", home, http.StatusForbidden, taken)
	// A user with keys, who has never signed in at a provider.
	person(home, "thief", "own-admin@acme.example", "fleet")
	w.browser().refused(t, "home", home, http.StatusForbidden, taken)
	// The address of a user of another company leads to that user nowhere: it makes one of
	// this company, where users are made.
	person(home, "namesake", "rvl-admin@rival.example", "fleet")
	if answer := w.browser().signIn(t, "home", home); answer.Code != http.StatusSeeOther {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
	acme := domain.Whole(w.company(t, "acme"))
	if made, err := w.access.FindUsers(t.Context(), acme, []string{"rvl-admin@rival.example"}); err != nil || !slices.Equal(made["rvl-admin@rival.example"].Groups, []int64{int64(own.group)}) {
		t.Errorf("%+v, %v", made, err)
	}
	// Letters that only Unicode folds to those of the address.
	for _, email := range []string{"own-adm\u0130n@acme.example", "own-adm\u0131n@acme.example", "own-van\u017f@acme.example", "own-admin@a\u212ame.example"} {
		for name, p := range map[string]*issuertest.Provider{"home": home, "links": links} {
			person(p, "thief", email, "fleet")
			w.browser().refused(t, name, p, http.StatusForbidden, "You have no account here")
		}
	}
	person(links, "thief", "rvl-admin@rival.example", "fleet")
	w.browser().refused(t, "links", links, http.StatusForbidden, "You have no account here")
	// An address that was not proven.
	links.Set(func(p *issuertest.Provider) {
		p.Person = map[string]any{"sub": "thief", "email": "own-admin@acme.example", "email_verified": false, "groups": []string{"admins"}}
	})
	w.browser().refused(t, "links", links, http.StatusForbidden, "You have no account here")

	person(links, "admin", "Own-Admin@acme.example", "admins")
	b := w.browser()
	if answer := b.signIn(t, "links", links); answer.Code != http.StatusSeeOther || b.email(t) != "own-admin@acme.example" {
		t.Fatalf("%d %s", answer.Code, answer.Body)
	}
	person(links, "thief", "own-admin@acme.example", "admins")
	w.browser().refused(t, "links", links, http.StatusForbidden, taken)
}

func TestADisabledUserDoesNotSignInAtAProvider(t *testing.T) {
	t.Parallel()
	p := issuertest.New(t)
	w := newWorld(t, provide(t, "acme", p, nil))
	person(p, "17", "new@acme.example", "fleet")
	w.browser().signIn(t, "acme", p)
	w.pool.MustExecContext(t.Context(), `UPDATE users SET disabled = true WHERE email = 'new@acme.example'`)
	person(p, "17", "new@acme.example", "admins")
	w.browser().refused(t, "acme", p, http.StatusForbidden, "Your account is disabled")
	_, user, err := w.access.FindUser(t.Context(), "new@acme.example")
	if err != nil || !user.Disabled || len(user.Permissions) != 1 {
		t.Errorf("%+v, %v", user, err)
	}
}

func TestSessionsByProvidersStayInTheirCompanies(t *testing.T) {
	t.Parallel()
	one, two := issuertest.New(t), issuertest.New(t)
	w := newWorld(t, provide(t, "one", one, nil), provide(t, "two", two, nil))
	person(one, "17", "a@acme.example", "admins")
	person(two, "17", "b@rival.example", "rivals")
	first, second := w.browser(), w.browser()
	first.signIn(t, "one", one)
	second.signIn(t, "two", two)
	if a, b := first.email(t), second.email(t); a != "a@acme.example" || b != "b@rival.example" {
		t.Fatalf("the same subject of two issuers: %q, %q", a, b)
	}
	acme := domain.Whole(w.company(t, "acme"))
	found, err := w.sessions.List(t.Context(), acme, "")
	if err != nil || len(found) != 1 || found[0].Email != "a@acme.example" || found[0].Way != "one" {
		t.Fatalf("%v, %v", found, err)
	}
	r := fromPage(http.MethodPost, "/graphql", fmt.Sprintf(`{"query":"{ subscriber(by: {physicalId: \"%s\"}) { nickname } }"}`, rivals.physicalID(3)))
	for _, cookie := range first.cookies {
		r.AddCookie(cookie)
	}
	if answer := first.send(r); strings.Contains(answer.Body.String(), rivals.nickname(3)) {
		t.Errorf("got %s", answer.Body)
	}
	if n, err := w.sessions.EndAll(t.Context(), acme, "", ""); err != nil || n != 1 {
		t.Errorf("%d, %v", n, err)
	}
	w.ahead.Store(int64(5 * time.Second))
	if a, b := first.email(t), second.email(t); a != "" || b != "b@rival.example" {
		t.Errorf("after the end of acme's: %q, %q", a, b)
	}
}

func TestAnAnswerCountsOnceAndInItsBrowserAlone(t *testing.T) {
	t.Parallel()
	p, evil := issuertest.New(t), issuertest.New(t)
	w := newWorld(t, provide(t, "acme", p, nil), provide(t, "evil", evil, nil))
	person(p, "17", "new@acme.example", "fleet")
	const unknown = "This browser has begun no sign-in"
	refused := func(what string, answer *httptest.ResponseRecorder, text string) {
		t.Helper()
		if answer.Code != http.StatusForbidden || !strings.Contains(answer.Body.String(), text) {
			t.Errorf("%s: %d %s", what, answer.Code, answer.Body)
		}
		for _, cookie := range answer.Result().Cookies() {
			if cookie.Value != "" {
				t.Errorf("%s: a cookie %s", what, cookie.Name)
			}
		}
	}

	victim, thief := w.browser(), w.browser()
	back := victim.leave(t, "acme", p).RequestURI()
	refused("another browser", thief.get(back, "cross-site"), unknown)
	// The thief lures the victim to the answer of its own sign-in.
	theirs := thief.leave(t, "acme", p).RequestURI()
	refused("an answer to somebody else", victim.get(theirs, "cross-site"), "is not of this sign-in")
	refused("after a refusal", victim.get(back, "cross-site"), unknown)

	back = victim.leave(t, "acme", p).RequestURI()
	before := victim.cookies["simgraph-signin"]
	if answer := victim.get(back, "cross-site"); answer.Code != http.StatusSeeOther {
		t.Fatalf("%d %s", answer.Code, answer.Body)
	}
	refused("a second use", victim.get(back, "cross-site"), unknown)
	victim.cookies["simgraph-signin"] = before
	refused("a second use with the old cookie", victim.get(back, "cross-site"), "does not accept this sign-in")

	// A sign-in at one provider is not finished at another.
	mixed := w.browser()
	honest := mixed.leave(t, "acme", p)
	refused("the callback of another provider", mixed.get("/signin/evil/callback?"+honest.RawQuery, "cross-site"), unknown)
	// A provider of which the metadata lead to the honest one.
	evil.Set(func(of *issuertest.Provider) {
		of.Metadata = map[string]any{"authorization_endpoint": p.URL + "/authorize"}
	})
	mixed = w.browser()
	refused("an answer of another issuer", mixed.signIn(t, "evil", p), "another issuer")

	// Two cookies, and one that another host of the domain may have set.
	back = victim.leave(t, "acme", p).RequestURI()
	both := httptest.NewRequest(http.MethodGet, back, nil)
	both.AddCookie(victim.cookies["simgraph-signin"])
	both.AddCookie(&http.Cookie{Name: "simgraph-signin", Value: "planted"})
	refused("two cookies", w.browser().send(both), unknown)
	overTLS := httptest.NewRequest(http.MethodGet, "https://example.com"+back, nil)
	overTLS.AddCookie(victim.cookies["simgraph-signin"])
	refused("a cookie without the prefix", w.browser().send(overTLS), unknown)
	forged := httptest.NewRequest(http.MethodGet, back, nil)
	forged.AddCookie(&http.Cookie{Name: "simgraph-signin", Value: "e30"})
	refused("a cookie that is not sealed", w.browser().send(forged), unknown)
}

func TestASignInThatTookTooLongIsRefused(t *testing.T) {
	t.Parallel()
	p := issuertest.New(t)
	var now time.Time
	w := newWorld(t, provide(t, "acme", p, nil), func(cfg *signin.Config) { cfg.Now = func() time.Time { return now } })
	now = time.Now()
	b := w.browser()
	back := b.leave(t, "acme", p).RequestURI()
	now = now.Add(11 * time.Minute)
	if answer := b.get(back, "cross-site"); answer.Code != http.StatusForbidden {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
}

func TestAStateBeginsOneSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	login := &rules.Login{
		Identity: rules.Identity{Issuer: "https://login.example", Subject: "17"}, Provider: "acme", Email: addressOf(t, "new@acme.example"), Create: true,
		State: "state", Rights: rules.Rights{Company: "acme", Groups: []int64{int64(own.group)}},
	}
	if _, err := w.sessions.ByProvider(t.Context(), domain.Origin{}, login); err != nil {
		t.Fatal(err)
	}
	_, err := w.sessions.ByProvider(t.Context(), domain.Origin{}, login)
	if refusal, is := errors.AsType[*rules.Refusal](err); !is || refusal.Why != rules.RefusedUsed || refusal.Company != w.company(t, "acme") {
		t.Errorf("got %v", err)
	}
}

func TestSigningInLeadsToThePageAlone(t *testing.T) {
	t.Parallel()
	p := issuertest.New(t)
	w := newWorld(t, provide(t, "acme", p, nil))
	person(p, "17", "new@acme.example", "fleet")
	for to, want := range map[string]string{
		"#/subscribers?q=a": "/#/subscribers?q=a", "": "/", "https://evil.example": "/", "//evil.example": "/", "/\\evil.example": "/",
		"#//evil.example": "/#//evil.example", "#/\r\nLocation: https://evil.example": "/", "javascript:alert(1)": "/", "#" + strings.Repeat("/", 3000): "/",
	} {
		b := w.browser()
		begun := b.get("/signin/acme?to="+url.QueryEscape(to), "same-origin")
		answer := b.get(p.SignIn(begun.Header().Get("Location")).RequestURI(), "cross-site")
		if got := answer.Header().Get("Location"); answer.Code != http.StatusSeeOther || got != want {
			t.Errorf("%q leads to %q, %d", to, got, answer.Code)
		}
	}
}

func TestTheCookieOfASignInIsOutOfReachOfScripts(t *testing.T) {
	t.Parallel()
	p := issuertest.New(t)
	w := newWorld(t, provide(t, "acme", p, nil))
	for address, name := range map[string]string{"/signin/acme": "simgraph-signin", "https://sim.example/signin/acme": "__Host-simgraph-signin"} {
		answer := w.browser().get(address, "same-origin")
		cookies := answer.Result().Cookies()
		if len(cookies) != 1 || cookies[0].Name != name || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteLaxMode || cookies[0].MaxAge != 600 ||
			cookies[0].Secure != strings.HasPrefix(address, "https:") || cookies[0].Domain != "" {
			t.Errorf("%s: %v", address, cookies)
		}
		state, err := url.Parse(answer.Header().Get("Location"))
		if err != nil || state.Query().Get("code_challenge_method") != "S256" || state.Query().Get("nonce") == "" || strings.Contains(cookies[0].Value, state.Query().Get("state")) {
			t.Errorf("%s: %v, %v", address, state, err)
		}
	}
}

func TestANewSessionReplacesTheFormerOneOfTheBrowser(t *testing.T) {
	t.Parallel()
	p := issuertest.New(t)
	w := newWorld(t, provide(t, "acme", p, nil))
	person(p, "17", "new@acme.example", "fleet")
	b := w.browser()
	b.signIn(t, "acme", p)
	former := &browser{w, map[string]*http.Cookie{"simgraph-session": b.cookies["simgraph-session"]}}
	b.signIn(t, "acme", p)
	if a, now := former.email(t), b.email(t); a != "" || now != "new@acme.example" {
		t.Errorf("the former: %q, the new one: %q", a, now)
	}
}

func TestAProviderThatDoesNotAnswerEndsNoSession(t *testing.T) {
	t.Parallel()
	p := issuertest.New(t)
	w := newWorld(t, provide(t, "acme", p, nil))
	person(p, "17", "new@acme.example", "fleet")
	p.Set(func(p *issuertest.Provider) { p.Down = true })
	if answer := w.browser().get("/signin/acme", "same-origin"); answer.Code != http.StatusServiceUnavailable || !strings.Contains(answer.Body.String(), "does not answer") {
		t.Fatalf("%d %s", answer.Code, answer.Body)
	}
	other := issuertest.New(t)
	w = newWorld(t, provide(t, "acme", other, nil))
	person(other, "17", "new@acme.example", "fleet")
	b := w.browser()
	b.signIn(t, "acme", other)
	other.Set(func(p *issuertest.Provider) { p.Down = true })
	w.recheck(t)
	if email := b.email(t); email != "new@acme.example" {
		t.Errorf("signed in as %q", email)
	}
	// It is asked again when it answers, by the same token.
	other.Set(func(p *issuertest.Provider) { p.Down = false })
	w.recheck(t)
	w.recheck(t)
	if email := b.email(t); email != "new@acme.example" {
		t.Errorf("signed in as %q", email)
	}
	other.Set(func(p *issuertest.Provider) {
		if p.Refreshes != 2 {
			t.Errorf("%d refreshes", p.Refreshes)
		}
	})
}

// recheck has the providers asked about every session, and 5 s go by.
func (w *world) recheck(t *testing.T) {
	t.Helper()
	w.pool.MustExecContext(t.Context(), `UPDATE web_sessions SET check_at = now() - interval '1 second'`)
	if err := w.signIn.CheckSessions(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.ahead.Add(int64(5 * time.Second))
}

func TestTheProviderEndsAndChangesSessions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change       func(p *issuertest.Provider)
		first, other string
		because      string
	}{
		"nothing":           {func(*issuertest.Provider) {}, "new@acme.example", "new@acme.example", ""},
		"a refused token":   {func(p *issuertest.Provider) { p.Refused = true }, "", "new@acme.example", "provider"},
		"a lost claim":      {func(p *issuertest.Provider) { p.Person["groups"] = []string{"others"} }, "", "", "noRule"},
		"another company":   {func(p *issuertest.Provider) { p.Person["groups"] = []string{"rivals"} }, "", "", "noRule"},
		"a forged ID token": {func(p *issuertest.Provider) { p.Forge = func(map[string]any) string { return "x.y.z" } }, "", "new@acme.example", "provider"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := issuertest.New(t)
			w := newWorld(t, provide(t, "acme", p, nil))
			person(p, "17", "new@acme.example", "fleet")
			first, other := w.browser(), w.browser()
			first.signIn(t, "acme", p)
			other.signIn(t, "acme", p)
			if first.email(t) != "new@acme.example" || other.email(t) != "new@acme.example" {
				t.Fatal("not signed in")
			}
			id := w.sessionOf(t, first)
			w.pool.MustExecContext(t.Context(), `UPDATE web_sessions SET check_at = now() - interval '1 second' WHERE encode(substring(session_hash FROM 1 FOR 8), 'hex') = $1`, id)
			p.Set(c.change)
			if err := w.signIn.CheckSessions(t.Context()); err != nil {
				t.Fatal(err)
			}
			w.ahead.Add(int64(5 * time.Second))
			if a, b := first.email(t), other.email(t); a != c.first || b != c.other {
				t.Errorf("the one that was checked: %q, another: %q", a, b)
			}
			ended := w.noted(t, w.company(t, "acme"), domain.AuditSessionEnd)
			if c.because == "" != (len(ended) == 0) || c.because != "" && (len(ended) != 1 || valueOf(ended[0], "because") != c.because || ended[0].Name != "provider acme") {
				t.Errorf("got %+v", ended)
			}
		})
	}
}

// A provider of the same name, but of another issuer, keeps no session of the former one.
func TestASessionOfAFormerIssuerEnds(t *testing.T) {
	t.Parallel()
	p := issuertest.New(t)
	w := newWorld(t, provide(t, "acme", p, nil))
	person(p, "17", "new@acme.example", "fleet")
	b := w.browser()
	b.signIn(t, "acme", p)
	w.pool.MustExecContext(t.Context(), `UPDATE web_sessions SET check_at = now() - interval '1 second', issuer = 'https://former.example' WHERE issuer IS NOT NULL`)
	if err := w.signIn.CheckSessions(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.ahead.Add(int64(5 * time.Second))
	if email := b.email(t); email != "" {
		t.Errorf("%q is still signed in", email)
	}
	if ended := w.noted(t, w.company(t, "acme"), domain.AuditSessionEnd); len(ended) != 1 || valueOf(ended[0], "because") != "setup" {
		t.Errorf("got %+v", ended)
	}
}

// sessionOf returns the id of a browser's session.
func (w *world) sessionOf(t *testing.T, b *browser) string {
	t.Helper()
	session := domain.Secret(b.cookies["simgraph-session"].Value)
	caller, err := w.sessions.Authenticate(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	return caller.Credential
}

func TestRightsThatChangeAtTheProviderChangeInTheSession(t *testing.T) {
	t.Parallel()
	p := issuertest.New(t)
	w := newWorld(t, provide(t, "acme", p, nil))
	person(p, "17", "new@acme.example", "admins")
	b := w.browser()
	b.signIn(t, "acme", p)
	person(p, "17", "new@acme.example", "fleet")
	w.recheck(t)
	caller, err := w.sessions.Authenticate(t.Context(), domain.Secret(b.cookies["simgraph-session"].Value))
	if err != nil || !slices.Equal(caller.Permissions, []domain.Permission{domain.ViewSubscriber}) || !slices.Equal(caller.Scope.Groups, []int64{int64(own.group)}) {
		t.Errorf("%+v, %v", caller, err)
	}
}

// Two instances look for sessions at the same time: a refresh token is good for one use.
func TestASessionIsCheckedByOneInstance(t *testing.T) {
	t.Parallel()
	p := issuertest.New(t)
	w := newWorld(t, provide(t, "acme", p, nil))
	person(p, "17", "new@acme.example", "admins")
	b := w.browser()
	b.signIn(t, "acme", p)
	w.pool.MustExecContext(t.Context(), `UPDATE web_sessions SET check_at = now() - interval '1 second'`)
	failed := make(chan error)
	for range 5 {
		go func() { failed <- w.signIn.CheckSessions(t.Context()) }()
	}
	for range 5 {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
	p.Set(func(p *issuertest.Provider) {
		if p.Refreshes != 1 {
			t.Errorf("%d refreshes", p.Refreshes)
		}
	})
	if email := b.email(t); email != "new@acme.example" {
		t.Errorf("signed in as %q", email)
	}
}

func TestRefreshTokensAreSealed(t *testing.T) {
	t.Parallel()
	p := issuertest.New(t)
	w := newWorld(t, provide(t, "acme", p, nil))
	person(p, "17", "new@acme.example", "fleet")
	b := w.browser()
	b.signIn(t, "acme", p)
	var kept []byte
	if err := w.pool.GetContext(t.Context(), &kept, `SELECT refresh_token FROM web_sessions`); err != nil || len(kept) == 0 || strings.Contains(string(kept), "rt-") {
		t.Errorf("%q, %v", kept, err)
	}
	r := fromPage(http.MethodDelete, "/session", "")
	r.AddCookie(b.cookies["simgraph-session"])
	b.send(r)
	if err := w.pool.GetContext(t.Context(), &kept, `SELECT refresh_token FROM web_sessions`); err != nil || len(kept) > 0 {
		t.Errorf("after the end: %q, %v", kept, err)
	}
}

func TestKeysDoNotSignInWhereOnlyProvidersDo(t *testing.T) {
	t.Parallel()
	p := issuertest.New(t)
	w := newWorld(t, provide(t, "acme", p, nil), func(cfg *signin.Config) { cfg.Only = true })
	key, secret, err := w.access.CreateKey(t.Context(), domain.Whole(w.company(t, "acme")), domain.KeySpec{Email: "own-admin@acme.example", Scopes: nil, Lifetime: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	grant, err := w.access.Exchange(t.Context(), domain.Origin{}, key.AccessKeyID, secret, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.sessions.NoKeys = true
	b := w.browser()
	for _, body := range []string{fmt.Sprintf(`{"accessKeyId":"%s","secret":"%s"}`, key.AccessKeyID, string(secret)), fmt.Sprintf(`{"token":"%s"}`, string(grant.Token))} {
		if answer := b.send(fromPage(http.MethodPost, "/session", body)); answer.Code != http.StatusForbidden || len(b.cookies) > 0 {
			t.Errorf("%d %s", answer.Code, answer.Body)
		}
	}
	answer := b.get("/session", "same-origin")
	if want := `"ways":{"keys":false,"links":false,"providers":[{"title":"Provider acme","path":"/signin/acme"}]}`; !strings.Contains(answer.Body.String(), want) {
		t.Errorf("got %s", answer.Body)
	}
	w.begin(t, "own-admin@acme.example") // by a token of the operator
}
