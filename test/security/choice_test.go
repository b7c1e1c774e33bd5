package security

import (
	"encoding/json"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"simgraph/domain"
	rules "simgraph/domain/signin"
	"simgraph/internal/issuertest"
	"simgraph/internal/signin"
)

var (
	formOf    = regexp.MustCompile(`name="form" value="([^"]*)"`)
	optionsOf = regexp.MustCompile(`<button name="company" value="(\d+)">([^<]*)</button>`)
)

// asked signs in, and returns the form that asks for a company and the names in it.
func (b *browser) asked(t *testing.T, name string, p *issuertest.Provider) (form string, names []string) {
	t.Helper()
	answer := b.signIn(t, name, p)
	found := formOf.FindStringSubmatch(answer.Body.String())
	if answer.Code != http.StatusOK || found == nil {
		t.Fatalf("%d %s", answer.Code, answer.Body)
	}
	for _, option := range optionsOf.FindAllStringSubmatch(answer.Body.String(), -1) {
		names = append(names, html.UnescapeString(option[2]))
	}
	return html.UnescapeString(found[1]), names
}

// choose sends the form from the page of a site.
func (b *browser) choose(name, form, company, site string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/signin/"+name+"/company", strings.NewReader(url.Values{"form": {form}, "company": {company}}.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", site)
	for _, cookie := range b.cookies {
		r.AddCookie(cookie)
	}
	return b.send(r)
}

// companyOf is the external id of the company that the browser is signed in to; "" for none.
func (b *browser) companyOf(t *testing.T) string {
	t.Helper()
	r := fromPage(http.MethodPost, "/graphql", whoAmI)
	for _, cookie := range b.cookies {
		r.AddCookie(cookie)
	}
	var body struct {
		Data struct {
			Viewer struct{ Company struct{ ExternalID string } }
		}
	}
	_ = json.Unmarshal(b.send(r).Body.Bytes(), &body)
	return body.Data.Viewer.Company.ExternalID
}

// nameOf is the name of a company.
func (w *world) nameOf(t *testing.T, externalID string) (name string) {
	t.Helper()
	if err := w.pool.GetContext(t.Context(), &name, `SELECT name FROM companies WHERE company_id = $1`, w.company(t, externalID)); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestAPersonOfSeveralCompaniesChoosesOne(t *testing.T) {
	t.Parallel()
	p := issuertest.New(t)
	w := newWorld(t, provide(t, "both", p, nil))
	// Rules of companies and groups that there are not fit too, and are not offered.
	person(p, "17", "two@acme.example", "rivals", "fleet", "lost")
	for n, company := range []string{"acme", "rival"} {
		b := w.browser()
		begun := b.get("/signin/both?to="+url.QueryEscape("#/groups"), "same-origin")
		page := b.get(p.SignIn(begun.Header().Get("Location")).RequestURI(), "cross-site")
		if text := page.Body.String(); page.Code != http.StatusOK || strings.Contains(text, "no-such-company") || strings.Contains(text, p.URL) || strings.Contains(text, "two@acme.example") {
			t.Fatalf("%d %s", page.Code, text)
		}
		if policy := page.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "form-action 'self'") {
			t.Errorf("got %s", policy)
		}
		form := html.UnescapeString(formOf.FindStringSubmatch(page.Body.String())[1])
		if b.email(t) != "" {
			t.Fatal("signed in before the choice")
		}
		answer := b.choose("both", form, string('0'+rune(n)), "same-origin")
		if answer.Code != http.StatusSeeOther || answer.Header().Get("Location") != "/#/groups" || b.companyOf(t) != company {
			t.Errorf("%s: %d %s, signed in to %q", company, answer.Code, answer.Body, b.companyOf(t))
		}
	}
	_, names := w.browser().asked(t, "both", p)
	if want := []string{w.nameOf(t, "acme"), w.nameOf(t, "rival")}; !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
}

func TestACompanyThatWouldRefuseAPersonIsNotOffered(t *testing.T) {
	t.Parallel()
	p := issuertest.New(t)
	w := newWorld(t, provide(t, "both", p, nil))
	// In rival the address is that of a user who is not known to be this person.
	person(p, "17", "rvl-admin@rival.example", "rivals", "fleet", "lost")
	b := w.browser()
	if answer := b.signIn(t, "both", p); answer.Code != http.StatusSeeOther || b.companyOf(t) != "acme" {
		t.Errorf("%d %s, signed in to %q", answer.Code, answer.Body, b.companyOf(t))
	}
	w.pool.MustExecContext(t.Context(), `UPDATE users SET disabled = true WHERE company_id = $1 AND email = 'rvl-admin@rival.example'`, w.company(t, "acme"))
	w.browser().refused(t, "both", p, http.StatusForbidden, "Your account is disabled")
	// Nor where the rule names a group that the company does not have.
	person(p, "18", "eighteen@acme.example", "rivals", "nowhere")
	b = w.browser()
	if answer := b.signIn(t, "both", p); answer.Code != http.StatusSeeOther || b.companyOf(t) != "rival" {
		t.Errorf("%d %s, signed in to %q", answer.Code, answer.Body, b.companyOf(t))
	}
	person(p, "19", "", "rivals", "fleet")
	w.browser().refused(t, "both", p, http.StatusForbidden, "You have no account here")
}

func TestAChoiceCountsOnceInTimeAndInItsBrowserAlone(t *testing.T) {
	t.Parallel()
	p := issuertest.New(t)
	var ahead time.Duration
	w := newWorld(t, provide(t, "both", p, nil), provide(t, "other", p, func(of *rules.Provider) { of.Name = "other" }),
		func(cfg *signin.Config) { cfg.Now = func() time.Time { return time.Now().Add(ahead) } })
	person(p, "17", "two@acme.example", "rivals", "fleet")
	const unknown = "was not asked for this company"
	posts := func(provider, company, site string) func(*browser, string) *httptest.ResponseRecorder {
		return func(b *browser, form string) *httptest.ResponseRecorder {
			return b.choose(provider, form, company, site)
		}
	}
	for name, try := range map[string]func(b *browser, form string) *httptest.ResponseRecorder{
		"a company that was not offered": posts("both", "2", "same-origin"),
		"no number":                      posts("both", "-1", "same-origin"),
		"an external id":                 posts("both", "rival", "same-origin"),
		"no company":                     posts("both", "", "same-origin"),
		"a page of another site":         posts("both", "0", "cross-site"),
		"a page of a sister site":        posts("both", "0", "same-site"),
		"another provider":               posts("other", "0", "same-origin"),
		"no form":                        func(b *browser, _ string) *httptest.ResponseRecorder { return b.choose("both", "", "0", "same-origin") },
		"a form that was changed": func(b *browser, form string) *httptest.ResponseRecorder {
			changed := []byte(form)
			changed[len(changed)/2] ^= 1
			return b.choose("both", string(changed), "0", "same-origin")
		},
		"another browser": func(b *browser, form string) *httptest.ResponseRecorder {
			theirs := b.w.browser()
			theirs.asked(t, "both", p)
			defer func() { b.cookies = theirs.cookies }()
			return theirs.choose("both", form, "0", "same-origin")
		},
		"no cookie": func(b *browser, form string) *httptest.ResponseRecorder {
			b.cookies = map[string]*http.Cookie{}
			return b.choose("both", form, "0", "same-origin")
		},
		"too late": func(b *browser, form string) *httptest.ResponseRecorder {
			ahead = 6 * time.Minute
			defer func() { ahead = 0 }()
			return b.choose("both", form, "0", "same-origin")
		},
	} {
		b := w.browser()
		form, _ := b.asked(t, "both", p)
		if answer := try(b, form); answer.Code != http.StatusForbidden || !strings.Contains(answer.Body.String(), unknown) || b.email(t) != "" {
			t.Errorf("%s: %d %s", name, answer.Code, answer.Body)
		}
	}

	// A form that was used begins no session in the other company either.
	for _, first := range []string{"0", "1"} {
		b := w.browser()
		form, _ := b.asked(t, "both", p)
		before := b.cookies["simgraph-signin"]
		if answer := b.choose("both", form, first, "same-origin"); answer.Code != http.StatusSeeOther {
			t.Fatalf("%d %s", answer.Code, answer.Body)
		}
		for _, second := range []string{"0", "1"} {
			again := &browser{w, map[string]*http.Cookie{before.Name: before}}
			if answer := again.choose("both", form, second, "same-origin"); answer.Code != http.StatusForbidden || !strings.Contains(answer.Body.String(), "was used before") || again.email(t) != "" {
				t.Errorf("%s, then %s: %d %s", first, second, answer.Code, answer.Body)
			}
		}
	}
}

func TestACheckKeepsASessionInTheCompanyThatWasChosen(t *testing.T) {
	t.Parallel()
	p := issuertest.New(t)
	w := newWorld(t, provide(t, "both", p, nil))
	person(p, "17", "two@acme.example", "rivals", "fleet")
	b := w.browser()
	form, _ := b.asked(t, "both", p)
	b.choose("both", form, "1", "same-origin")
	w.recheck(t)
	if company := b.companyOf(t); company != "rival" {
		t.Fatalf("signed in to %q", company)
	}
	person(p, "17", "two@acme.example", "fleet")
	w.recheck(t)
	if company := b.companyOf(t); company != "" {
		t.Errorf("still signed in to %q", company)
	}
	ended := w.noted(t, w.company(t, "rival"), domain.AuditSessionEnd)
	if len(ended) != 1 || valueOf(ended[0], "because") != string(rules.RefusedRule) {
		t.Errorf("got %+v", ended)
	}
}
