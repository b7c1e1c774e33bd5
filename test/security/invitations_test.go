package security

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"simgraph/db/mail"
	"simgraph/domain"
)

// invite has the administrator of acme invite a user, and returns the code of the link.
func (w *world) invite(t *testing.T, email string) (domain.Secret, string) {
	t.Helper()
	answer := w.query(t, w.tokens["own-admin@acme.example"], `mutation ($of: String!) { inviteUser(input: {userEmail: $of}) { isMailed linkCode user { invitation { expiresAt } } } }`, map[string]any{"of": email})
	var got struct {
		Data struct {
			InviteUser struct{ LinkCode string }
		}
	}
	if err := json.Unmarshal(answer.body, &got); err != nil {
		t.Fatal(err)
	}
	return domain.Secret(got.Data.InviteUser.LinkCode), string(answer.body)
}

// admin asks as the administrator of acme, and returns the answer.
func (w *world) admin(t *testing.T, mutation string) string {
	t.Helper()
	return string(w.query(t, w.tokens["own-admin@acme.example"], `mutation { `+mutation+` }`, nil).body)
}

func TestAnInvitationSignsInOnceAndEndsWithItsSuccessor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const email = "colleague@acme.example"
	w.makeUser(t, "own-admin@acme.example", email)
	refused := func(name string, code domain.Secret) {
		t.Helper()
		for _, path := range []string{"/session/link", "/session"} {
			if a := w.sendLink(path, code); a.Code != http.StatusForbidden || strings.Contains(a.Body.String(), email) || len(a.Result().Cookies()) > 0 {
				t.Errorf("%s, %s: %d %s", name, path, a.Code, a.Body)
			}
		}
	}
	first, _ := w.invite(t, email)
	second, said := w.invite(t, email)
	if first == "" || second == "" || first == second || !strings.Contains(said, `"isMailed":false`) {
		t.Fatal(said)
	}
	refused("the link of before", first)
	if of := `"` + string(second); strings.Contains(w.rows(t, "acme", nil), strings.TrimPrefix(of, `"sgl_`)) {
		t.Error("the database holds the code")
	}

	// Two browsers at once: one is let in.
	statuses := make([]int, 2)
	var uses sync.WaitGroup
	for n := range statuses {
		uses.Go(func() { statuses[n] = w.sendLink("/session", second).Code })
	}
	uses.Wait()
	if statuses[0]+statuses[1] != http.StatusOK+http.StatusForbidden {
		t.Errorf("two browsers: %v", statuses)
	}
	refused("a second use", second)
	seen := string(w.query(t, w.tokens["own-admin@acme.example"], `{ user(by: {email: "`+email+`"}) { lastSignedInAt invitation { invitedAt } sessions { sessionId way isCurrent } } }`, nil).body)
	if !strings.Contains(seen, `"invitation":null`) || strings.Contains(seen, `"lastSignedInAt":null`) || !strings.Contains(seen, `"way":"link","isCurrent":false`) {
		t.Error(seen)
	}

	third, _ := w.invite(t, email)
	if answer := w.admin(t, `withdrawInvitation(input: {userEmail: "`+email+`"}) { user { invitation { invitedAt } } }`); !strings.Contains(answer, `"invitation":null`) {
		t.Error(answer)
	}
	refused("withdrawn", third)
	fourth, _ := w.invite(t, email)
	w.pool.MustExecContext(t.Context(), `UPDATE login_links SET expires_at = now() - interval '1 s'`)
	refused("expired", fourth)
	fifth, _ := w.invite(t, email)
	if answer := w.admin(t, `endUserSessions(input: {userEmail: "`+email+`"}) { ended }`); !strings.Contains(answer, `"ended":1`) {
		t.Error(answer)
	}
	refused("ended with the sessions", fifth)
	sixth, _ := w.invite(t, email)
	if answer := w.admin(t, `deleteUser(input: {userEmail: "`+email+`"}) { user { email } }`); !strings.Contains(answer, email) {
		t.Error(answer)
	}
	refused("of a removed user", sixth)
	acme := w.company(t, "acme")
	for action, times := range map[string]int{domain.AuditUserInvite: 6, domain.AuditUserWithdraw: 2, domain.AuditUserRemove: 1} {
		if found := w.noted(t, acme, action); len(found) != times || strings.Contains(fmt.Sprint(found[0].Changes), "sgl_") {
			t.Errorf("%s: %d entries", action, len(found))
		}
	}
}

func TestNobodyInvitesEndsOrRemovesWhoMayDoMore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const email = "colleague@acme.example"
	w.makeUser(t, "own-admin@acme.example", email)
	lesser := w.tokenOf(t, []domain.Permission{domain.ViewUserDetails})
	for _, mutation := range []string{
		`inviteUser(input: {userEmail: %q}) { isMailed }`, `withdrawInvitation(input: {userEmail: %q}) { user { email } }`,
		`endUserSessions(input: {userEmail: %q}) { ended }`, `deleteUser(input: {userEmail: %q}) { user { email } }`,
	} {
		document := fmt.Sprintf(`mutation { `+mutation+` }`, email)
		if answer := string(w.query(t, lesser, document, nil).body); !strings.Contains(answer, "FORBIDDEN") {
			t.Errorf("without the permission of the user: %s", answer)
		}
		there, _, _ := strings.Cut(string(w.query(t, w.tokens["rvl-admin@rival.example"], document, nil).body), `"requestId"`)
		none, _, _ := strings.Cut(string(w.query(t, w.tokens["rvl-admin@rival.example"], strings.ReplaceAll(document, email, "nobody0123@acme.example"), nil).body), `"requestId"`)
		if strings.ReplaceAll(none, "nobody0123@acme.example", email) != there || !strings.Contains(there, "errors") {
			t.Errorf("another company: %s, of nobody %s", there, none)
		}
	}
	if answer := w.admin(t, `deleteUser(input: {userEmail: "own-admin@acme.example"}) { user { email } }`); !strings.Contains(answer, "another user") {
		t.Error(answer)
	}
}

// A mail has a code of its own at each attempt; one whose invitation has ended is not sent.
func TestAMailedInvitationHasALinkForEachAttempt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sessions.Mails = true
	const email = "colleague@acme.example"
	w.makeUser(t, "own-admin@acme.example", email)
	acme, at := w.company(t, "acme"), time.Now()
	claim := func() []*domain.MailContent {
		t.Helper()
		at = at.Add(time.Hour)
		outbox := mail.NewOutbox(w.pool, func() time.Time { return at })
		contents, err := outbox.Claim(t.Context(), acme, domain.Digest{MaxEntries: 1}, 100, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		var found []*domain.MailContent
		for _, content := range contents {
			if content.Kind == domain.MailInvitation {
				found = append(found, content)
			}
		}
		return found
	}
	if code, answer := w.invite(t, email); code != "" || !strings.Contains(answer, `"isMailed":true`) {
		t.Fatal(answer)
	}
	first, second := claim(), claim()
	if len(first) != 1 || len(second) != 1 || first[0].SignIn == second[0].SignIn || first[0].Email != email {
		t.Fatalf("%v, %v", first, second)
	}
	if a := w.sendLink("/session/link", first[0].SignIn); a.Code != http.StatusOK {
		t.Errorf("the first attempt: %d %s", a.Code, a.Body)
	}
	if a := w.sendLink("/session", second[0].SignIn); a.Code != http.StatusOK {
		t.Errorf("the second attempt: %d %s", a.Code, a.Body)
	}
	if a := w.sendLink("/session", first[0].SignIn); a.Code != http.StatusForbidden {
		t.Errorf("the link of the first attempt after that: %d %s", a.Code, a.Body)
	}
	w.invite(t, email)
	w.admin(t, `withdrawInvitation(input: {userEmail: "`+email+`"}) { user { email } }`)
	if found := claim(); len(found) > 0 {
		t.Errorf("%d mails after it was withdrawn", len(found))
	}
	for range 2 {
		w.invite(t, email)
	}
	w.invite(t, email)
	if _, answer := w.invite(t, email); !strings.Contains(answer, "at most 5 invitations") {
		t.Error(answer)
	}
}

// Who invites sees what the user may do then. A link does not outlive a change of that.
func TestAChangeOfItsUserEndsAnInvitation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const email = "colleague@acme.example"
	w.makeUser(t, "own-admin@acme.example", email)
	for _, change := range []string{"permissions: [VIEW_SUBSCRIBER, MANAGE_ACCESS_KEYS]", "isDisabled: true"} {
		code, said := w.invite(t, email)
		if code == "" {
			t.Fatal(said)
		}
		if got := w.admin(t, `editUser(input: {userEmail: "`+email+`", `+change+`}) { user { email invitation { invitedAt } } }`); !strings.Contains(got, `"invitation":null`) {
			t.Errorf("%s: %s", change, got)
		}
		w.admin(t, `editUser(input: {userEmail: "`+email+`", isDisabled: false}) { user { email } }`)
		if a := w.sendLink("/session", code); a.Code != http.StatusForbidden {
			t.Errorf("%s: %d %s", change, a.Code, a.Body)
		}
	}
}

// A link that is used while its invitation ends is either in time or refused.
func TestALinkIsUsedWhileItsInvitationEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const email = "colleague@acme.example"
	w.makeUser(t, "own-admin@acme.example", email)
	for _, end := range []string{
		`withdrawInvitation(input: {userEmail: "` + email + `"}) { user { email } }`, `inviteUser(input: {userEmail: "` + email + `"}) { isMailed }`,
		`endUserSessions(input: {userEmail: "` + email + `"}) { ended }`,
	} {
		code, said := w.invite(t, email)
		if code == "" {
			t.Fatal(said)
		}
		held := w.pool.MustBeginTx(t.Context(), nil)
		held.MustExec(`SELECT 1 FROM user_invitations WHERE company_id = $1 FOR UPDATE`, w.company(t, own.company))
		ended, used := make(chan string), make(chan int)
		go func() { ended <- w.admin(t, end) }()
		time.Sleep(200 * time.Millisecond)
		go func() { used <- w.sendLink("/session", code).Code }()
		time.Sleep(200 * time.Millisecond)
		if err := held.Commit(); err != nil {
			t.Error(err)
		}
		if got := <-ended; strings.Contains(got, `"errors"`) {
			t.Errorf("%s: %s", end, got)
		}
		if status := <-used; status != http.StatusForbidden && status != http.StatusOK {
			t.Errorf("%s: the link is answered by %d", end, status)
		}
	}
}
