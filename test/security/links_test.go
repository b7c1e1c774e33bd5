package security

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"simgraph/domain"
	"simgraph/domain/signin"
	"simgraph/internal/limit"
	page "simgraph/internal/signin"
)

const linked = "own-vans@acme.example"

// issue makes a link for a user of acme.
func (w *world) issue(t *testing.T) *signin.IssuedLink {
	t.Helper()
	link, err := w.sessions.Issue(t.Context(), domain.Whole(w.company(t, "acme")), linked, 15*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return link
}

// sendLink posts a code as the page does, to begin a session or to look whose link it is.
func (w *world) sendLink(path string, code domain.Secret) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	w.handler.ServeHTTP(answer, fromPage(http.MethodPost, path, `{"link":"`+string(code)+`"}`))
	return answer
}

func TestALinkSignsInOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	link := w.issue(t)
	for range 3 { // looking does not use it up
		answer := w.sendLink("/session/link", link.Code)
		if answer.Code != http.StatusOK || !strings.Contains(answer.Body.String(), `"email":"`+linked+`","company":"own-company"`) || len(answer.Result().Cookies()) > 0 {
			t.Fatalf("%d %s", answer.Code, answer.Body)
		}
	}
	first := w.sendLink("/session", link.Code)
	if first.Code != http.StatusOK || len(first.Result().Cookies()) != 1 {
		t.Fatalf("%d %s", first.Code, first.Body)
	}
	use := fromPage(http.MethodPost, "/graphql", whoAmI)
	use.AddCookie(first.Result().Cookies()[0])
	if status, email := w.who(t, use); status != http.StatusOK || email != linked {
		t.Errorf("%d as %s", status, email)
	}
	for _, path := range []string{"/session", "/session/link"} {
		again := w.sendLink(path, link.Code)
		if again.Code != http.StatusForbidden || len(again.Result().Cookies()) > 0 || !strings.Contains(again.Body.String(), "was used before") {
			t.Errorf("%s again: %d %s", path, again.Code, again.Body)
		}
	}
	acme := w.company(t, "acme")
	if issued := w.noted(t, acme, domain.AuditLinkIssue); len(issued) != 1 || issued[0].SubjectID != linked {
		t.Errorf("issued: %v", issued)
	}
	if begun := w.noted(t, acme, domain.AuditSessionBegin); len(begun) != 1 || valueOf(begun[0], "way") != signin.ByLink {
		t.Errorf("begun: %v", begun)
	}
}

func TestOfManyUsesOfALinkAtOnceOneSignsIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	link := w.issue(t)
	statuses := make([]int, 8)
	var uses sync.WaitGroup
	for n := range statuses {
		uses.Go(func() { statuses[n] = w.sendLink("/session", link.Code).Code })
	}
	uses.Wait()
	count := map[int]int{}
	for _, status := range statuses {
		count[status]++
	}
	if count[http.StatusOK] != 1 || count[http.StatusForbidden] != len(statuses)-1 {
		t.Errorf("got %v", statuses)
	}
}

func TestLinksThatSignNobodyIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	acme, rival := w.company(t, "acme"), w.company(t, "rival")
	change := func(statement string) {
		t.Helper()
		w.pool.MustExecContext(t.Context(), statement)
	}
	live := w.issue(t).Code
	_, random, _ := strings.Cut(strings.TrimPrefix(string(live), "sgl_"), "_")
	for name, code := range map[string]domain.Secret{
		"of another company": domain.Secret("sgl_" + strconv.FormatInt(int64(rival), 36) + "_" + random),
		"of no company":      "sgl_zzzzzz_x", "cut": live[:len(live)-1], "a token": domain.Secret(w.tokens[linked]), "nonsense": "x",
	} {
		for _, path := range []string{"/session", "/session/link"} {
			if answer := w.sendLink(path, code); answer.Code != http.StatusForbidden || len(answer.Result().Cookies()) > 0 {
				t.Errorf("%s, %s: %d %s", name, path, answer.Code, answer.Body)
			}
		}
	}
	refused := func(name string, code domain.Secret, text string) {
		t.Helper()
		if answer := w.sendLink("/session", code); answer.Code != http.StatusForbidden || !strings.Contains(answer.Body.String(), text) {
			t.Errorf("%s: %d %s", name, answer.Code, answer.Body)
		}
	}
	change(`UPDATE users SET disabled = true WHERE email = '` + linked + `'`)
	refused("of a disabled user", live, "disabled")
	if _, err := w.sessions.Issue(t.Context(), domain.Whole(acme), linked, time.Minute); err == nil {
		t.Error("a disabled user gets a link")
	}
	if _, err := w.sessions.Issue(t.Context(), domain.Whole(rival), linked, time.Minute); err == nil {
		t.Error("a company makes a link for another's user")
	}
	change(`UPDATE users SET disabled = false`)
	change(`UPDATE login_links SET expires_at = now() - interval '1 s'`)
	refused("expired", live, "expired")

	ended, kept := w.issue(t).Code, w.issue(t).Code
	if _, err := w.sessions.EndAll(t.Context(), domain.Whole(rival), "", ""); err != nil {
		t.Fatal(err)
	}
	if answer := w.sendLink("/session", kept); answer.Code != http.StatusOK {
		t.Errorf("another company ends a link: %d %s", answer.Code, answer.Body)
	}
	if _, err := w.sessions.EndAll(t.Context(), domain.Whole(acme), linked, ""); err != nil {
		t.Fatal(err)
	}
	refused("ended with the user's sessions", ended, "was used before")

	if err := w.sessions.NoteRefusals(t.Context()); err != nil {
		t.Fatal(err)
	}
	if of := w.noted(t, acme, domain.AuditSignInRefuse); len(of) != 1 || of[0].SubjectID != signin.ByLink || valueOf(of[0], "attempts") != "2" || valueOf(of[0], "disabledUser") != "1" {
		t.Errorf("in the company: %v", of)
	}
	if of := w.noted(t, domain.Installation, domain.AuditSignInRefuse); len(of) != 1 || valueOf(of[0], "link") != "11" {
		t.Errorf("in the installation: %v", of)
	}
}

func TestGuessesOfLinksAreLimitedAndAudited(t *testing.T) {
	t.Parallel()
	const burst = 6
	refused := 0
	limits := limit.New(limit.Config{
		LinkRate: 1e-9, LinkBurst: burst, Refused: func(r limit.Reason) {
			if r == limit.LinkAttempts {
				refused++
			}
		},
	})
	w := newWorld(t, func(cfg *page.Config) { cfg.TryLink = limits.ByLink })
	link := w.issue(t)
	for range burst / 2 {
		for _, path := range []string{"/session", "/session/link"} {
			if answer := w.sendLink(path, link.Code[:len(link.Code)-1]); answer.Code != http.StatusForbidden {
				t.Errorf("%s: %d %s", path, answer.Code, answer.Body)
			}
		}
	}
	for _, path := range []string{"/session", "/session/link"} {
		answer := w.sendLink(path, link.Code)
		if answer.Code != http.StatusTooManyRequests || answer.Header().Get("Retry-After") == "" || len(answer.Result().Cookies()) > 0 || strings.Contains(answer.Body.String(), linked) {
			t.Errorf("%s beyond the limit: %d %s", path, answer.Code, answer.Body)
		}
	}
	if refused != 2 {
		t.Errorf("%d were counted", refused)
	}
	if err := w.sessions.NoteRefusals(t.Context()); err != nil {
		t.Fatal(err)
	}
	if of := w.noted(t, domain.Installation, domain.AuditSignInRefuse); len(of) != 1 || valueOf(of[0], "link") != strconv.Itoa(burst) {
		t.Errorf("noted: %v", of)
	}
}

func TestOtherSitesUseNoLinksAndNoLinkIsStoredOrMany(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	link := w.issue(t)
	for _, path := range []string{"/session", "/session/link"} {
		r := fromPage(http.MethodPost, path, `{"link":"`+string(link.Code)+`"}`)
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		answer := httptest.NewRecorder()
		w.handler.ServeHTTP(answer, r)
		if answer.Code != http.StatusForbidden || strings.Contains(answer.Body.String(), linked) {
			t.Errorf("%s: %d %s", path, answer.Code, answer.Body)
		}
	}
	_, random, _ := strings.Cut(strings.TrimPrefix(string(link.Code), "sgl_"), "_")
	if strings.Contains(w.rows(t, "acme", nil), random) {
		t.Error("the database holds the code")
	}
	for range signin.MaxLinks {
		w.issue(t)
	}
	var n int
	if err := w.pool.GetContext(t.Context(), &n, `SELECT count(*) FROM login_links`); err != nil || n != signin.MaxLinks {
		t.Errorf("%d links, %v", n, err)
	}
	if answer := w.sendLink("/session/link", link.Code); answer.Code != http.StatusForbidden {
		t.Errorf("the oldest is there: %d", answer.Code)
	}
}
