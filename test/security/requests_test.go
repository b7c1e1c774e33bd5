package security

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"simgraph/db/mail"
	"simgraph/domain"
	"simgraph/domain/signin"
	"simgraph/internal/limit"
	page "simgraph/internal/signin"
)

// newRequests is a world where people ask for links by mail, which are worked on when the
// test says so.
func newRequests(t *testing.T, configure ...func(*page.Config)) *world {
	t.Helper()
	w := newWorld(t, append(configure, func(cfg *page.Config) { cfg.MailsLinks = true })...)
	w.sessions.Requests = true
	return w
}

// ask posts an address as the page does.
func (w *world) ask(email string) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	w.handler.ServeHTTP(answer, fromPage(http.MethodPost, page.RequestPath, `{"email":"`+email+`"}`))
	return answer
}

// work has what was asked for looked at.
func (w *world) work(t *testing.T) {
	t.Helper()
	over, end := context.WithCancel(t.Context())
	end()
	if err := w.signIn.MailLinks(over); err != nil {
		t.Fatal(err)
	}
}

// mailed are the links by mail of a company that wait, by their addresses.
func (w *world) mailed(t *testing.T, company string) map[string]domain.Secret {
	t.Helper()
	contents, err := mail.NewOutbox(w.pool, time.Now).Claim(t.Context(), w.company(t, company), domain.Digest{MaxEntries: 1}, 1000, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	codes := map[string]domain.Secret{}
	for _, content := range contents {
		if content.Kind == domain.MailLink {
			codes[content.Email] = content.SignIn
		}
	}
	return codes
}

// mailedTo asks for a link and returns its code.
func (w *world) mailedTo(t *testing.T, email string) domain.Secret {
	t.Helper()
	if answer := w.ask(email); answer.Code != http.StatusOK {
		t.Fatalf("%d %s", answer.Code, answer.Body)
	}
	w.work(t)
	code := w.mailed(t, "acme")[email]
	if code == "" {
		t.Fatal("there is no mail")
	}
	return code
}

// The answer is the same for every address, and does not wait for what is known of it.
func TestNobodyLearnsWhichAddressesHaveUsers(t *testing.T) {
	t.Parallel()
	w := newRequests(t)
	const disabled, provided = "disabled@acme.example", "provided@acme.example"
	for _, email := range []string{disabled, provided} {
		w.makeUser(t, "own-admin@acme.example", email)
	}
	w.pool.MustExecContext(t.Context(), `UPDATE users SET disabled = true WHERE email = $1`, disabled)
	w.pool.MustExecContext(t.Context(), `INSERT INTO user_identities SELECT company_id, 'https://login.acme.example', 'ada', user_id, now(), now() FROM users WHERE email = $1`, provided)
	held := w.pool.MustBeginTx(t.Context(), nil)
	defer func() { _ = held.Rollback() }()
	held.MustExec(`LOCK TABLE users, user_lookup`)
	sent := w.statements.Load()
	first := w.ask(linked)
	for range 5 { // beyond the bound of an address, too
		for _, email := range []string{linked, strings.ToUpper(linked), "nobody@acme.example", "nobody@nowhere.example", disabled, provided, "rvl-admin@rival.example"} {
			answer := w.ask(email)
			if answer.Code != http.StatusOK || answer.Body.String() != first.Body.String() || len(answer.Result().Cookies()) > 0 {
				t.Errorf("%s: %d %s, not %s", email, answer.Code, answer.Body, first.Body)
			}
			for name, value := range first.Header() {
				if name != "X-Request-Id" && strings.Join(answer.Header()[name], ",") != strings.Join(value, ",") {
					t.Errorf("%s: %s is %v, not %v", email, name, answer.Header()[name], value)
				}
			}
		}
	}
	if now := w.statements.Load(); now != sent {
		t.Errorf("%d statements before the answers", now-sent)
	}
	if err := held.Rollback(); err != nil {
		t.Fatal(err)
	}
	w.work(t)
	if acme, rival := w.mailed(t, "acme"), w.mailed(t, "rival"); len(acme) != 1 || acme[linked] == "" || len(rival) != 1 {
		t.Errorf("%d mails of acme, %d of rival", len(acme), len(rival))
	}
	if asked := w.noted(t, w.company(t, "acme"), domain.AuditLinkRequest); len(asked) != signin.MaxRequests || asked[0].SubjectID != linked || asked[0].Actor.Name != "" {
		t.Errorf("%+v", asked)
	}
	if answer := w.ask("no address"); answer.Code != http.StatusBadRequest {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
}

func TestALinkByMailSignsInOnceAndIsReplacedByTheNext(t *testing.T) {
	t.Parallel()
	w := newRequests(t)
	refused := func(name string, code domain.Secret) {
		t.Helper()
		for _, path := range []string{"/session/link", "/session"} {
			if a := w.sendLink(path, code); a.Code != http.StatusForbidden || strings.Contains(a.Body.String(), linked) || len(a.Result().Cookies()) > 0 {
				t.Errorf("%s, %s: %d %s", name, path, a.Code, a.Body)
			}
		}
	}
	first := w.mailedTo(t, linked)
	code := w.mailedTo(t, linked)
	refused("replaced", first)
	if _, random, _ := strings.Cut(strings.TrimPrefix(string(code), "sgl_"), "_"); strings.Contains(w.rows(t, "acme", nil), random) {
		t.Error("the database holds the code")
	}
	// What scans mails: it opens the address, also the paths behind the page.
	for _, path := range []string{"/", page.LinkPath, page.RequestPath, "/session"} {
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodOptions} {
			w.handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(method, path+"?link="+string(code), nil))
		}
	}
	if a := w.sendLink("/session/link", code); a.Code != http.StatusOK || !strings.Contains(a.Body.String(), linked) {
		t.Errorf("%d %s", a.Code, a.Body)
	}

	// Over the session of another user, which ends.
	former := w.begin(t, "own-admin@acme.example")
	use := fromPage(http.MethodPost, "/session", `{"link":"`+string(code)+`"}`)
	use.AddCookie(former)
	answer := httptest.NewRecorder()
	w.handler.ServeHTTP(answer, use)
	if cookies := answer.Result().Cookies(); answer.Code != http.StatusOK || len(cookies) != 1 || cookies[0].Value == former.Value {
		t.Fatalf("%d %s", answer.Code, answer.Body)
	}
	for cookie, want := range map[*http.Cookie]string{former: "", answer.Result().Cookies()[0]: linked} {
		r := fromPage(http.MethodPost, "/graphql", whoAmI)
		r.AddCookie(cookie)
		if _, email := w.who(t, r); email != want {
			t.Errorf("the session is that of %q, not of %q", email, want)
		}
	}
	refused("used", code)
	seen := string(w.query(t, w.tokens["own-admin@acme.example"], `{ user(by: {email: "`+linked+`"}) { sessions { way } } }`, nil).body)
	if !strings.Contains(seen, `"way":"mailedLink"`) {
		t.Error(seen)
	}

	late := w.mailedTo(t, linked)
	w.pool.MustExecContext(t.Context(), `UPDATE login_links SET expires_at = now()`)
	refused("expired", late)
}

func TestLinksByMailThatSignNobodyIn(t *testing.T) {
	t.Parallel()
	w := newRequests(t)
	code := w.mailedTo(t, linked)
	for name, change := range map[string]string{
		"disabled":      `UPDATE users SET disabled = true WHERE email = '` + linked + `'`,
		"of a provider": `INSERT INTO user_identities SELECT company_id, 'https://login.acme.example', 'ada', user_id, now(), now() FROM users WHERE email = '` + linked + `'`,
	} {
		w.pool.MustExecContext(t.Context(), change)
		if a := w.sendLink("/session", code); a.Code != http.StatusForbidden || len(a.Result().Cookies()) > 0 {
			t.Errorf("%s: %d %s", name, a.Code, a.Body)
		}
		w.pool.MustExecContext(t.Context(), `UPDATE users SET disabled = false`)
	}
	w.pool.MustExecContext(t.Context(), `DELETE FROM user_identities`)
	_, random, _ := strings.Cut(strings.TrimPrefix(string(code), "sgl_"), "_")
	for name, guess := range map[string]string{"cut": string(code[:len(code)-1]), "of another company": "sgl_zz_" + random} {
		if a := w.sendLink("/session", domain.Secret(guess)); a.Code != http.StatusForbidden {
			t.Errorf("%s: %d %s", name, a.Code, a.Body)
		}
	}
	w.sessions.Requests = false
	if a := w.sendLink("/session", code); a.Code != http.StatusForbidden {
		t.Errorf("where links are not mailed any more: %d %s", a.Code, a.Body)
	}
	w.sessions.Requests = true
	if a := w.sendLink("/session", code); a.Code != http.StatusOK {
		t.Errorf("after all of that: %d %s", a.Code, a.Body)
	}
}

func TestStrangersSetOffFewMails(t *testing.T) {
	t.Parallel()
	const burst = 8
	limits := limit.New(limit.Config{LinkRequestRate: 1e-9, LinkRequestBurst: burst})
	w := newRequests(t, func(cfg *page.Config) { cfg.TryRequest = limits.ByLinkRequest })
	mails := 0
	for range burst {
		if answer := w.ask(linked); answer.Code != http.StatusOK {
			t.Errorf("%d %s", answer.Code, answer.Body)
		}
		w.work(t)
		mails += len(w.mailed(t, "acme"))
	}
	if mails != signin.MaxRequests {
		t.Errorf("%d mails", mails)
	}
	for _, email := range []string{linked, "nobody@acme.example"} {
		if answer := w.ask(email); answer.Code != http.StatusTooManyRequests || answer.Header().Get("Retry-After") == "" {
			t.Errorf("%s: %d %s", email, answer.Code, answer.Body)
		}
	}
}

// What waits is bounded. Beyond that every address is answered alike.
func TestRequestsThatWaitAreBounded(t *testing.T) {
	t.Parallel()
	w := newRequests(t)
	taken := 0
	for taken < 10_000 && w.ask("nobody@acme.example").Code == http.StatusOK {
		taken++
	}
	for _, email := range []string{linked, "nobody@acme.example"} {
		if answer := w.ask(email); answer.Code != http.StatusServiceUnavailable || answer.Header().Get("Retry-After") == "" {
			t.Errorf("after %d, %s: %d %s", taken, email, answer.Code, answer.Body)
		}
	}
	w.work(t)
	w.mailedTo(t, linked)
}

func TestOnlyThePageAsksAndOnlyWhereLinksAreMailed(t *testing.T) {
	t.Parallel()
	w := newRequests(t)
	foreign := fromPage(http.MethodPost, page.RequestPath, `{"email":"`+linked+`"}`)
	foreign.Header.Set("Sec-Fetch-Site", "cross-site")
	answer := httptest.NewRecorder()
	w.handler.ServeHTTP(answer, foreign)
	if answer.Code != http.StatusForbidden {
		t.Errorf("another site: %d %s", answer.Code, answer.Body)
	}
	w.work(t)
	if mails := w.mailed(t, "acme"); len(mails) > 0 {
		t.Errorf("another site has %d mails sent", len(mails))
	}
	without := newWorld(t)
	if answer := without.ask(linked); answer.Code != http.StatusNotFound {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
	for world, want := range map[*world]string{w: `"links":true`, without: `"links":false`} {
		answer := httptest.NewRecorder()
		world.handler.ServeHTTP(answer, fromPage(http.MethodGet, "/session", ""))
		if !strings.Contains(answer.Body.String(), want) {
			t.Errorf("%s, not %s", answer.Body, want)
		}
	}
}
