package security

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"simgraph/domain"
)

// begin signs a browser in with a token and returns the cookie.
func (w *world) begin(t *testing.T, email string) *http.Cookie {
	t.Helper()
	r := fromPage(http.MethodPost, "/session", `{"token":"`+w.tokens[email]+`"}`)
	answer := httptest.NewRecorder()
	w.handler.ServeHTTP(answer, r)
	cookies := answer.Result().Cookies()
	if answer.Code != http.StatusOK || len(cookies) != 1 {
		t.Fatalf("%d %s", answer.Code, answer.Body)
	}
	return cookies[0]
}

// fromPage is a request as the page makes it.
func fromPage(method, path, body string) *http.Request {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return r
}

const whoAmI = `{"query":"{ viewer { email isRestricted company { externalId } } }"}`

func (w *world) who(t *testing.T, r *http.Request) (status int, email string) {
	t.Helper()
	answer := httptest.NewRecorder()
	w.handler.ServeHTTP(answer, r)
	var body struct {
		Data struct{ Viewer struct{ Email string } }
	}
	_ = json.Unmarshal(answer.Body.Bytes(), &body)
	return answer.Code, body.Data.Viewer.Email
}

func TestTheCookieOfASessionIsOutOfReachOfScriptsAndOtherSites(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cookie := w.begin(t, "own-vans@acme.example")
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Domain != "" || cookie.Path != "/" || cookie.MaxAge <= 0 {
		t.Errorf("got %v", cookie)
	}
	r := fromPage(http.MethodPost, "https://sim.example/session", `{"token":"`+w.tokens["own-vans@acme.example"]+`"}`)
	answer := httptest.NewRecorder()
	w.handler.ServeHTTP(answer, r)
	if c := answer.Result().Cookies()[0]; !c.Secure || c.Name != "__Host-simgraph" {
		t.Errorf("over TLS the cookie is %v", c)
	}
}

func TestASessionCountsForRequestsOfThePageAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cookie := w.begin(t, "own-vans@acme.example")
	for name, c := range map[string]struct {
		path   string
		header map[string]string
		want   int
	}{
		"of the page":                    {"/graphql", map[string]string{"Sec-Fetch-Site": "same-origin"}, http.StatusOK},
		"of the page, by its origin":     {"/graphql", map[string]string{"Origin": "http://example.com"}, http.StatusOK},
		"of another site":                {"/graphql", map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}, http.StatusUnauthorized},
		"of a sibling":                   {"/graphql", map[string]string{"Sec-Fetch-Site": "same-site", "Origin": "http://evil.example.com"}, http.StatusUnauthorized},
		"of an address bar":              {"/graphql", map[string]string{"Sec-Fetch-Site": "none"}, http.StatusUnauthorized},
		"of an old browser elsewhere":    {"/graphql", map[string]string{"Origin": "https://evil.example"}, http.StatusUnauthorized},
		"of a sandboxed frame":           {"/graphql", map[string]string{"Origin": "null"}, http.StatusUnauthorized},
		"of a program":                   {"/graphql", nil, http.StatusUnauthorized},
		"of another port":                {"/graphql", map[string]string{"Origin": "http://example.com:8081"}, http.StatusUnauthorized},
		"a REST path of a legacy client": {"/subscribers", nil, http.StatusUnauthorized},
		"usage records":                  {"/usage/records", map[string]string{"Sec-Fetch-Site": "same-origin"}, http.StatusUnauthorized},
	} {
		method, body := http.MethodPost, whoAmI
		if c.path == "/subscribers" {
			method, body = http.MethodGet, ""
		}
		r := httptest.NewRequest(method, c.path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		for field, value := range c.header {
			r.Header.Set(field, value)
		}
		r.AddCookie(cookie)
		if status, _ := w.who(t, r); status != c.want {
			t.Errorf("%s: got %d, want %d", name, status, c.want)
		}
	}
}

func TestPagesOfOtherSitesNeitherSignInNorOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cookie := w.begin(t, "own-vans@acme.example")
	for _, method := range []string{http.MethodPost, http.MethodDelete} {
		for _, header := range []map[string]string{{"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "https://evil.example"}, {}} {
			r := fromPage(method, "/session", `{"token":"`+w.tokens["rvl-admin@rival.example"]+`"}`)
			r.Header.Del("Sec-Fetch-Site")
			for field, value := range header {
				r.Header.Set(field, value)
			}
			r.AddCookie(cookie)
			answer := httptest.NewRecorder()
			w.handler.ServeHTTP(answer, r)
			if answer.Code != http.StatusForbidden || len(answer.Result().Cookies()) > 0 {
				t.Errorf("%s with %v: got %d, %v", method, header, answer.Code, answer.Header())
			}
		}
	}
	r := fromPage(http.MethodPost, "/session", `{"token":"`+w.tokens["rvl-admin@rival.example"]+`"}`)
	r.Header.Set("Content-Type", "text/plain") // what a form of another site can send
	answer := httptest.NewRecorder()
	w.handler.ServeHTTP(answer, r)
	if answer.Code != http.StatusBadRequest {
		t.Errorf("a form signs in: %d", answer.Code)
	}
}

func TestASessionIsNoTokenAndATokenNoSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cookie := w.begin(t, "own-vans@acme.example")
	use := fromPage(http.MethodPost, "/graphql", whoAmI)
	use.AddCookie(cookie)
	if status, email := w.who(t, use); status != http.StatusOK || email != "own-vans@acme.example" {
		t.Fatalf("%d %s", status, email)
	}
	asBearer := fromPage(http.MethodPost, "/graphql", whoAmI)
	asBearer.Header.Set("Authorization", "Bearer "+cookie.Value)
	if status, _ := w.who(t, asBearer); status != http.StatusUnauthorized {
		t.Errorf("the cookie is taken for a token: %d", status)
	}
	asCookie := fromPage(http.MethodPost, "/graphql", whoAmI)
	asCookie.AddCookie(&http.Cookie{Name: cookie.Name, Value: w.tokens["own-vans@acme.example"]})
	if status, _ := w.who(t, asCookie); status != http.StatusUnauthorized {
		t.Errorf("the token is taken for a cookie: %d", status)
	}
}

// Another host of the domain can set a cookie for the whole domain. Over TLS the
// prefix of the name keeps it out; without, two cookies count as none.
func TestACookieOfASiblingSignsNobodyIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	own, evil := w.begin(t, "own-vans@acme.example"), w.begin(t, "rvl-admin@rival.example")
	both := fromPage(http.MethodPost, "/graphql", whoAmI)
	both.AddCookie(evil)
	both.AddCookie(own)
	if status, email := w.who(t, both); status != http.StatusUnauthorized {
		t.Errorf("two cookies: %d as %s", status, email)
	}
	overTLS := fromPage(http.MethodPost, "https://example.com/graphql", whoAmI)
	overTLS.AddCookie(evil)
	if status, email := w.who(t, overTLS); status != http.StatusUnauthorized {
		t.Errorf("a cookie without the prefix: %d as %s", status, email)
	}
}

func TestSessionsOfOthersAreNeitherListedNorEnded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rival := w.begin(t, "rvl-admin@rival.example")
	w.begin(t, "own-vans@acme.example")
	acme := domain.Whole(w.company(t, "acme"))
	found, err := w.sessions.List(t.Context(), acme, "")
	if err != nil || len(found) != 1 || found[0].Email != "own-vans@acme.example" {
		t.Fatalf("%v, %v", found, err)
	}
	rivals, err := w.sessions.List(t.Context(), domain.Whole(w.company(t, "rival")), "")
	if err != nil || len(rivals) != 1 {
		t.Fatalf("%v, %v", rivals, err)
	}
	for _, of := range [][2]string{{"rvl-admin@rival.example", ""}, {"", rivals[0].ID}, {"", ""}} {
		if _, err := w.sessions.EndAll(t.Context(), acme, of[0], of[1]); err != nil {
			t.Fatal(err)
		}
	}
	r := fromPage(http.MethodPost, "/graphql", whoAmI)
	r.AddCookie(rival)
	if status, email := w.who(t, r); status != http.StatusOK || email != "rvl-admin@rival.example" {
		t.Errorf("%d %s", status, email)
	}
}

// The operator, and the loss of a user, end a session on every instance within 5 s:
// what an instance believes of a session is at most that old.
func TestWhatEndsASession(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(w *world) error{
		"the operator": func(w *world) error {
			n, err := w.sessions.EndAll(t.Context(), domain.Whole(w.company(t, "acme")), "own-vans@acme.example", "")
			if n != 1 {
				t.Errorf("%d ended", n)
			}
			return err
		},
		"the user is disabled": func(w *world) error {
			_, err := w.pool.ExecContext(t.Context(), `UPDATE users SET disabled = true WHERE email = 'own-vans@acme.example'`)
			return err
		},
		"its token is revoked": func(w *world) error {
			return w.access.EndToken(t.Context(), domain.Origin{}, domain.Secret(w.tokens["own-vans@acme.example"]))
		},
		"its time is over": func(w *world) error {
			_, err := w.pool.ExecContext(t.Context(), `UPDATE web_sessions SET expires_at = now()`)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			cookie := w.begin(t, "own-vans@acme.example")
			use := func() int {
				r := fromPage(http.MethodPost, "/graphql", whoAmI)
				r.AddCookie(cookie)
				status, _ := w.who(t, r)
				return status
			}
			if status := use(); status != http.StatusOK {
				t.Fatalf("got %d", status)
			}
			if err := end(w); err != nil {
				t.Fatal(err)
			}
			w.ahead.Store(int64(5 * time.Second))
			if status := use(); status != http.StatusUnauthorized {
				t.Errorf("after 5 s: %d", status)
			}
		})
	}
}

// A session that was just used is remembered for some seconds: signing out ends that, too.
func TestSigningOutEndsTheSessionAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for uses, user := range []string{"own-vans@acme.example", "own-admin@acme.example"} {
		t.Run(fmt.Sprint(uses, " uses before"), func(t *testing.T) {
			cookie := w.begin(t, user)
			use := func() int {
				r := fromPage(http.MethodPost, "/graphql", whoAmI)
				r.AddCookie(cookie)
				status, _ := w.who(t, r)
				return status
			}
			for range uses {
				if status := use(); status != http.StatusOK {
					t.Fatalf("got %d", status)
				}
			}
			r := fromPage(http.MethodDelete, "/session", "")
			r.AddCookie(cookie)
			answer := httptest.NewRecorder()
			w.handler.ServeHTTP(answer, r)
			if c := answer.Result().Cookies(); answer.Code != http.StatusOK || len(c) != 1 || c[0].MaxAge >= 0 {
				t.Fatalf("%d %v", answer.Code, c)
			}
			if status := use(); status != http.StatusUnauthorized {
				t.Errorf("got %d", status)
			}
		})
	}
}

func TestUseRenewsASessionUntilItsEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cookie := w.begin(t, "own-admin@acme.example")
	w.pool.MustExecContext(t.Context(), `UPDATE web_sessions SET used_at = now() - interval '50 min', expires_at = now() + interval '10 min', ends_at = now() + interval '30 min'`)
	r := fromPage(http.MethodPost, "/graphql", whoAmI)
	r.AddCookie(cookie)
	if status, _ := w.who(t, r); status != http.StatusOK {
		t.Fatalf("got %d", status)
	}
	if err := w.sessions.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	var atMost, later bool
	row := w.pool.QueryRowContext(t.Context(), `SELECT expires_at <= ends_at, expires_at > now() + interval '29 min' FROM web_sessions`)
	if err := row.Scan(&atMost, &later); err != nil || !atMost || !later {
		t.Errorf("at most: %v, later: %v, %v", atMost, later, err)
	}
}
