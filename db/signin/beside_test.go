package signin_test

import (
	"slices"
	"testing"
	"time"

	"simgraph/db/fleettest"
	"simgraph/domain"
	rules "simgraph/domain/signin"
	"simgraph/internal/fatal"
)

// A link signs in the user that it was made for, although others have links too, and ends with
// that user's.
func TestALinkIsOfOneUser(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	codes := map[string]domain.Secret{}
	for _, email := range []string{van, ops} {
		codes[email] = fleettest.Must[*rules.IssuedLink](t)(f.sessions.Issue(t.Context(), fleettest.All, email, 10*time.Minute)).Code
	}
	for email, code := range codes {
		if found := fleettest.Must[*rules.Link](t)(f.sessions.FindLink(t.Context(), code)); found.Email != email {
			t.Errorf("the link of %s is of %s", email, found.Email)
		}
	}
	unknown := codes[ops][:len(codes[ops])-1] + "x"
	if codes[ops] == unknown {
		unknown = unknown[:len(unknown)-1] + "y"
	}
	if found, err := f.sessions.FindLink(t.Context(), unknown); err == nil {
		t.Errorf("a code that nobody has is of %s", found.Email)
	}
	if begun, err := f.sessions.ByLink(t.Context(), domain.Origin{}, unknown); err == nil {
		t.Errorf("a code that nobody has signs in %s", begun.Email)
	}
	fleettest.Must[int](t)(f.sessions.EndAll(t.Context(), fleettest.All, ops, ""))
	if found, err := f.sessions.FindLink(t.Context(), codes[ops]); err == nil {
		t.Errorf("the link of %s is not ended", found.Email)
	}
	if begun := fleettest.Must[*rules.Begun](t)(f.sessions.ByLink(t.Context(), domain.Origin{}, codes[van])); begun.Email != van {
		t.Errorf("the link of %s signs in %s", van, begun.Email)
	}
}

// A request for a link ends the one that the same user asked for before, and no other.
func TestARequestEndsTheFormerOfItsUser(t *testing.T) {
	t.Parallel()
	f := newRequests(t)
	given := fleettest.Must[*rules.IssuedLink](t)(f.sessions.Issue(t.Context(), fleettest.All, ops, 10*time.Minute)).Code
	f.request(van)
	others := f.one()
	f.request(ops)
	former := f.one()
	f.request(ops)
	f.refused("the former", former)
	for name, code := range map[string]domain.Secret{"that of the operator": given, "that of another user": others, "the latter": f.one()} {
		if _, err := f.sessions.FindLink(t.Context(), code); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Links that are mailed at the same time sign in who has asked for each.
func TestAMailedLinkIsOfWhoAsked(t *testing.T) {
	t.Parallel()
	f := newRequests(t)
	f.request(van)
	f.request(ops)
	var of []string
	for _, code := range f.sent(fleettest.Acme) {
		of = append(of, fleettest.Must[*rules.Begun](t)(f.sessions.ByLink(t.Context(), domain.Origin{}, code)).Email)
	}
	slices.Sort(of)
	if !slices.Equal(of, []string{ops, van}) {
		t.Errorf("the links are of %v", of)
	}
}

// An invitation that is withdrawn ends with its link. Those of other users and companies, and
// other links of the user, do not.
func TestAnInvitationIsOfOneUser(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	may := []domain.Permission{domain.ViewSubscriber, domain.ManageAccessKeys}
	inviter, rival := &domain.Caller{Scope: fleettest.All, Permissions: may}, &domain.Caller{Scope: domain.Whole(2), Permissions: may}
	invite := func(caller *domain.Caller, email string) domain.Secret {
		return fleettest.Must[*rules.Invitation](t)(f.sessions.Invite(t.Context(), caller, email)).Code
	}
	left := map[string]domain.Secret{"another user": invite(inviter, van), "another company": invite(rival, "ops@rival.example")}
	ended := invite(inviter, ops)
	left["the operator's"] = fleettest.Must[*rules.IssuedLink](t)(f.sessions.Issue(t.Context(), fleettest.All, ops, 10*time.Minute)).Code
	fleettest.Must[*domain.User](t)(f.sessions.Withdraw(t.Context(), inviter, ops))
	f.refused("withdrawn", ended)
	for name, code := range left {
		if _, err := f.sessions.FindLink(t.Context(), code); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The end of a user's sessions is that of this user's alone, and counts those that lived.
func TestTheSessionsOfOtherUsersGoOn(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	others, over := f.begin(van), f.begin(ops)
	f.must(f.sessions.End(t.Context(), domain.Origin{}, over.Secret, false))
	f.begin(ops)
	for _, want := range []int{1, 0} {
		if n := fleettest.Must[int](t)(f.sessions.EndAll(t.Context(), fleettest.All, ops, "")); n != want {
			t.Errorf("%d sessions were ended, want %d", n, want)
		}
	}
	if !f.lives(others.Secret) {
		t.Error("the session of another user was ended")
	}
}

// A session lives by its own key: it neither ends nor goes on with another one of its user.
func TestASessionFollowsItsOwnKey(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var keys []*domain.AccessKey
	var sessions []*rules.Begun
	for range 2 {
		key, secret, err := f.access.CreateKey(t.Context(), fleettest.All, domain.KeySpec{Email: ops, Lifetime: time.Hour})
		fatal.If(t, err)
		keys = append(keys, key)
		sessions = append(sessions, fleettest.Must[*rules.Begun](t)(f.sessions.ByKey(t.Context(), domain.Origin{}, key.AccessKeyID, secret)))
	}
	fleettest.Must[*domain.AccessKey](t)(f.access.RevokeKey(t.Context(), fleettest.All, keys[0].AccessKeyID))
	if first, second := f.lives(sessions[0].Secret), f.lives(sessions[1].Secret); first || !second {
		t.Errorf("that of the key that was revoked lives: %t; the other: %t", first, second)
	}
}
