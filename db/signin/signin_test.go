package signin_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/access"
	"simgraph/db/audit"
	"simgraph/db/fleettest"
	"simgraph/db/signin"
	"simgraph/domain"
	rules "simgraph/domain/signin"
)

// fixture has sessions that last an hour without use, and eight in any case, by a clock.
type fixture struct {
	*testing.T
	pool     *sqlx.DB
	access   *access.Store
	sessions *signin.Store
	now      time.Time
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{T: t, pool: fleettest.NewInventory(t), now: time.Now().UTC()}
	f.access = access.New(f.pool)
	f.sessions = signin.New(f.pool, f.access, signin.Options{Idle: time.Hour, Most: 8 * time.Hour, Now: func() time.Time { return f.now }})
	return f
}

func (f *fixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) token(email string) domain.Secret {
	f.Helper()
	return fleettest.Must[*domain.Grant](f)(f.access.Issue(f.Context(), fleettest.All, email, 24*time.Hour)).Token
}

func (f *fixture) begin(email string) *rules.Begun {
	f.Helper()
	return fleettest.Must[*rules.Begun](f)(f.sessions.ByToken(f.Context(), domain.Origin{}, f.token(email)))
}

// lives reports whether the session is taken.
func (f *fixture) lives(session domain.Secret) bool {
	f.Helper()
	_, err := f.sessions.Authenticate(f.Context(), session)
	if fault, is := domain.AsError(err); err != nil && (!is || fault.Kind != domain.KindInvalidToken) {
		f.Fatal(err)
	}
	return err == nil
}

const (
	ops = "ops@acme.example"
	van = "van@acme.example"
)

// Whatever a session began with, the end of that ends it.
func TestWhatEndsASession(t *testing.T) {
	t.Parallel()
	type began struct {
		*fixture
		*rules.Begun
		token domain.Secret
		key   *domain.AccessKey
	}
	for name, end := range map[string]func(b *began){
		"it is signed out": func(b *began) { b.must(b.sessions.End(b.Context(), domain.Origin{}, b.Secret, false)) },
		"all of its user end": func(b *began) {
			fleettest.Must[int](b)(b.sessions.EndAll(b.Context(), fleettest.All, strings.ToUpper(ops), ""))
		},
		"all of the company end": func(b *began) { fleettest.Must[int](b)(b.sessions.EndAll(b.Context(), fleettest.All, "", "")) },
		"it alone is ended":      func(b *began) { fleettest.Must[int](b)(b.sessions.EndAll(b.Context(), fleettest.All, "", b.ID)) },
		"nobody uses it":         func(b *began) { b.now = b.now.Add(time.Hour) },
		"its token is revoked":   func(b *began) { b.must(b.access.EndToken(b.Context(), domain.Origin{}, b.token)) },
		"its token expires":      func(b *began) { b.pool.MustExec(`UPDATE access_tokens SET expires_at = '2020-01-01'`) },
		"its key is revoked": func(b *began) {
			fleettest.Must[*domain.AccessKey](b)(b.access.RevokeKey(b.Context(), fleettest.All, b.key.AccessKeyID))
		},
		"its key expires":      func(b *began) { b.pool.MustExec(`UPDATE access_keys SET expires_at = '2020-01-01'`) },
		"its user is disabled": func(b *began) { b.pool.MustExec(`UPDATE users SET disabled = true`) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			key, secret, err := f.access.CreateKey(t.Context(), fleettest.All, domain.KeySpec{Email: ops, Lifetime: 24 * time.Hour})
			f.must(err)
			token := fleettest.Must[*domain.Grant](t)(f.access.Exchange(t.Context(), domain.Origin{}, key.AccessKeyID, secret, nil)).Token
			begun := fleettest.Must[*rules.Begun](t)(f.sessions.ByToken(t.Context(), domain.Origin{}, token))
			if f.now = f.now.Add(59 * time.Minute); !f.lives(begun.Secret) {
				t.Fatal("it has ended before")
			}
			end(&began{f, begun, token, key})
			if f.lives(begun.Secret) {
				t.Error("it goes on")
			}
		})
	}
}

// Use renews a session, at most to its end in any case, and use that was stored late does
// not shorten it.
func TestUseRenewsASessionUntilItsEnd(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	began, s := f.now, f.begin(ops)
	use := func(at time.Duration) {
		f.sessions.Used(s.Secret, began.Add(at))
		f.must(f.sessions.Renew(t.Context()))
	}
	for at := 50 * time.Minute; at < 8*time.Hour; at += 50 * time.Minute {
		f.now = began.Add(at)
		if !f.lives(s.Secret) {
			t.Fatalf("it ended before %s", at)
		}
		use(at)
		use(at - 40*time.Minute)
	}
	if f.now = began.Add(8*time.Hour - time.Second); !f.lives(s.Secret) {
		t.Error("it ended before its end")
	}
	use(8*time.Hour - time.Second)
	if f.now = began.Add(8 * time.Hour); f.lives(s.Secret) {
		t.Error("it goes on after its end")
	}
}

// A session that has ended stays so, whoever used it in its last moment.
func TestUseDoesNotReviveASession(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	s := f.begin(ops)
	f.now = f.now.Add(time.Minute)
	f.sessions.Used(s.Secret, f.now)
	f.must(f.sessions.End(t.Context(), domain.Origin{}, s.Secret, false))
	f.must(f.sessions.Renew(t.Context()))
	if f.lives(s.Secret) {
		t.Error("it lives")
	}
}

// Signing out ends the token that was pasted too, where that is asked for, and no other
// session; the audit log has it once.
func TestSigningOutEndsOneSessionOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	token := f.token(ops)
	one := fleettest.Must[*rules.Begun](t)(f.sessions.ByToken(t.Context(), domain.Origin{}, token))
	other := f.begin(ops)
	for range 2 { // the second ends nothing
		f.must(f.sessions.End(t.Context(), domain.Origin{}, one.Secret, true))
	}
	if f.lives(one.Secret) || !f.lives(other.Secret) {
		t.Errorf("one lives: %v, the other: %v", f.lives(one.Secret), f.lives(other.Secret))
	}
	if _, err := f.access.Authenticate(t.Context(), token); err == nil {
		t.Error("the token is still accepted")
	}
	ends := 0
	for _, e := range fleettest.AuditOf(t, audit.NewLog(f.pool), fleettest.Acme) {
		if e.Action == domain.AuditSessionEnd {
			ends++
		}
	}
	if ends != 1 {
		t.Errorf("%d entries", ends)
	}
}

// A user has 50 sessions at most: one more ends the one that was used longest ago.
func TestTheSessionUsedLongestAgoMakesRoom(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var all []*rules.Begun
	others := f.begin(van)
	for range 51 {
		f.now = f.now.Add(time.Second)
		all = append(all, f.begin(ops))
		if len(all) == 50 {
			f.sessions.Used(all[0].Secret, f.now)
			f.must(f.sessions.Renew(t.Context()))
		}
	}
	var ended []string
	for i, s := range append(all, others) {
		if !f.lives(s.Secret) {
			ended = append(ended, fmt.Sprint(i))
		}
	}
	if got := strings.Join(ended, " "); got != "1" {
		t.Errorf("ended are %s", got)
	}
	if listed := fleettest.Must[[]*rules.Session](t)(f.sessions.List(t.Context(), fleettest.All, strings.ToUpper(ops))); len(listed) != 50 || listed[0].ID != all[50].ID {
		t.Errorf("%d are listed, first %v", len(listed), listed[0])
	}
}

// A session of another company is neither listed nor ended.
func TestSessionsAreOfTheirCompany(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	s := f.begin(ops)
	rival := domain.Whole(fleettest.Rival)
	if listed := fleettest.Must[[]*rules.Session](t)(f.sessions.List(t.Context(), rival, "")); len(listed) != 0 {
		t.Error(listed)
	}
	for _, of := range [][2]string{{"", ""}, {ops, ""}, {"", s.ID}} {
		if n := fleettest.Must[int](t)(f.sessions.EndAll(t.Context(), rival, of[0], of[1])); n != 0 || !f.lives(s.Secret) {
			t.Errorf("%v ends %d", of, n)
		}
	}
	for _, secret := range []domain.Secret{"", "x", s.Secret[1:], s.Secret + "x", domain.Secret(strings.Replace(string(s.Secret), "_1_", "_2_", 1))} {
		if f.lives(secret) {
			t.Errorf("%q is a session", secret)
		}
	}
}

// Where keys are for programs, they and their tokens do not sign in.
func TestKeysMayBeForProgramsAlone(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.sessions = signin.New(f.pool, f.access, signin.Options{Idle: time.Hour, Most: time.Hour, NoKeys: true})
	key, secret, err := f.access.CreateKey(t.Context(), fleettest.All, domain.KeySpec{Email: ops, Lifetime: time.Hour})
	f.must(err)
	_, err = f.sessions.ByKey(t.Context(), domain.Origin{}, key.AccessKeyID, secret)
	fleettest.WantKind(t, err, domain.KindForbidden)
	token := fleettest.Must[*domain.Grant](t)(f.access.Exchange(t.Context(), domain.Origin{}, key.AccessKeyID, secret, nil)).Token
	_, err = f.sessions.ByToken(t.Context(), domain.Origin{}, token)
	fleettest.WantKind(t, err, domain.KindForbidden)
}

// A link signs in once, and not after its end.
func TestALinkSignsInOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	issue := func() *rules.IssuedLink {
		return fleettest.Must[*rules.IssuedLink](t)(f.sessions.Issue(t.Context(), fleettest.All, strings.ToUpper(ops), 10*time.Minute))
	}
	link, late := issue(), issue()
	if found := fleettest.Must[*rules.Link](t)(f.sessions.FindLink(t.Context(), link.Code)); found.Email != ops {
		t.Errorf("%+v", found)
	}
	if s := fleettest.Must[*rules.Begun](t)(f.sessions.ByLink(t.Context(), domain.Origin{}, link.Code)); !f.lives(s.Secret) {
		t.Error("the session does not live")
	}
	if _, err := f.sessions.ByLink(t.Context(), domain.Origin{}, link.Code); err == nil {
		t.Error("it signs in again")
	}
	f.now = f.now.Add(10 * time.Minute)
	if _, err := f.sessions.ByLink(t.Context(), domain.Origin{}, late.Code); err == nil {
		t.Error("it signs in after its end")
	}
	if _, err := f.sessions.FindLink(t.Context(), late.Code); err == nil {
		t.Error("it is found after its end")
	}
}

// Which links sign in depends on where they come from, on whether the user has signed in at a
// provider, and on two settings: no condition stands for another.
func TestWhereALinkComesFromDecidesWhetherItSignsIn(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	code := fleettest.Must[*rules.IssuedLink](t)(f.sessions.Issue(t.Context(), fleettest.All, ops, 10*time.Minute)).Code
	for n := range 1 << 5 {
		is := func(bit int) bool { return n>>bit&1 == 1 }
		invited, requested, provided, requests, noKeys := is(0), is(1), is(2), is(3), is(4)
		f.sessions.Requests, f.sessions.NoKeys = requests, noKeys
		f.pool.MustExec(`UPDATE login_links SET invited = $1, requested = $2`, invited, requested)
		f.pool.MustExec(`DELETE FROM user_identities`)
		if provided {
			f.pool.MustExec(`INSERT INTO user_identities SELECT company_id, 'https://login.example', '1', user_id, now(), now() FROM login_links`)
		}
		_, err := f.sessions.FindLink(t.Context(), code)
		if _, refused := errors.AsType[*rules.Refusal](err); refused != (invited && noKeys || requested && (provided || !requests)) || err != nil && !refused {
			t.Errorf("invited %t, requested %t, provided %t, requests %t, no keys %t: got the error %v", invited, requested, provided, requests, noKeys, err)
		}
	}
}
