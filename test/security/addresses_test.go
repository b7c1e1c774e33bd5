package security

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"simgraph/domain"
	"simgraph/internal/issuertest"
)

const makeUser = `mutation ($input: CreateUserInput!) { createUser(input: $input) { user { email permissions } } }`

// makeUser has the company's administrator make a user, and returns the answer.
func (w *world) makeUser(t *testing.T, administrator, email string) string {
	t.Helper()
	return string(w.query(t, w.tokens[administrator], makeUser, map[string]any{"input": map[string]any{"email": email, "permissions": []string{"VIEW_SUBSCRIBER"}, "scope": map[string]any{"all": true}}}).body)
}

func TestAnAddressInUseElsewhereIsAnsweredAsOneThatIsNew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const taken, free = "rvl-admin@rival.example", "rvl-nobody@rival.example"
	if known, unknown := w.makeUser(t, "own-admin@acme.example", taken), w.makeUser(t, "own-admin@acme.example", free); strings.ReplaceAll(known, taken, free) != unknown || !strings.Contains(unknown, free) {
		t.Errorf("an address that is taken: %s; one that is not: %s", known, unknown)
	}
	if _, _, err := w.access.FindUser(t.Context(), taken); !isField(err, "company") {
		t.Errorf("a command finds %v", err)
	}
	if known, unknown := w.makeUser(t, "own-admin@acme.example", "Own-Admin@acme.example"), w.makeUser(t, "own-admin@acme.example", "own-adm\u0130n@acme.example"); !strings.Contains(known, "already") || !strings.Contains(unknown, "must be an e-mail address") {
		t.Errorf("%s, %s", known, unknown)
	}
}

func isField(err error, field string) bool {
	fault, is := domain.AsError(err)
	return is && fault.Kind == domain.KindInvalid && fault.Field == field
}

// The same address in two companies is two users: nothing of one is that of the other.
func TestUsersOfOneAddressInTwoCompaniesAreTwo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const email = "twin@acme.example"
	acme, rival := domain.Whole(w.company(t, "acme")), domain.Whole(w.company(t, "rival"))
	tokens := map[domain.CompanyID]domain.Secret{}
	for administrator, scope := range map[string]domain.Scope{"own-admin@acme.example": acme, "rvl-admin@rival.example": rival} {
		if answer := w.makeUser(t, administrator, email); strings.Contains(answer, "errors") {
			t.Fatal(answer)
		}
		grant, err := w.access.Issue(t.Context(), scope, email, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		tokens[scope.Company] = grant.Token
		if caller, err := w.access.Authenticate(t.Context(), grant.Token); err != nil || caller.Scope.Company != scope.Company {
			t.Fatalf("%+v, %v", caller, err)
		}
	}
	w.query(t, w.tokens["rvl-admin@rival.example"], `mutation { editUser(input: {userEmail: "`+email+`", isDisabled: true}) { user { email } } }`, nil)
	if _, err := w.access.Authenticate(t.Context(), tokens[rival.Company]); err == nil {
		t.Error("the user of rival is not disabled")
	}
	if _, err := w.access.Authenticate(t.Context(), tokens[acme.Company]); err != nil {
		t.Errorf("the user of acme is: %v", err)
	}
}

func TestAnAssertionYieldsNoTokenOfAnotherCompany(t *testing.T) {
	t.Parallel()
	p, w := issuertest.New(t), newWorld(t)
	const email = "deploy@acme.example"
	scopes := []domain.Permission{domain.ViewSubscriber}
	if answer := w.makeUser(t, "rvl-admin@rival.example", email); strings.Contains(answer, "errors") {
		t.Fatal(answer)
	}
	// The user is known in another company alone, then in both, and named by no company.
	for _, company := range []string{"acme", ""} {
		w.robotsOf(t, company, email, scopes, p)
		if status, answer := w.exchange(t, p.Sign(robot(p, nil))); status != http.StatusBadRequest || answer.Error != "invalid_grant" {
			t.Errorf("the company %q: %d %+v", company, status, answer)
		}
	}
	if answer := w.makeUser(t, "own-admin@acme.example", email); strings.Contains(answer, "errors") {
		t.Fatal(answer)
	}
	for _, company := range []string{"acme", "rival"} {
		w.robotsOf(t, company, email, scopes, p)
		status, answer := w.exchange(t, p.Sign(robot(p, nil)))
		caller, err := w.access.Authenticate(t.Context(), domain.Secret(answer.Token))
		if status != http.StatusOK || err != nil || caller.Scope.Company != w.company(t, company) {
			t.Errorf("the company %q: %d %+v, %+v, %v", company, status, answer, caller, err)
		}
	}
}
