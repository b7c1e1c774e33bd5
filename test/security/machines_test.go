package security

import (
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"simgraph/domain"
	rules "simgraph/domain/signin"
	"simgraph/internal/issuer"
	"simgraph/internal/issuertest"
	"simgraph/internal/signin"
)

const (
	jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	// here is the audience that assertions must have.
	here = "https://sim.example"
)

// robots lets programs of the issuers in: "robot" of each acts as the user of that e-mail
// address in acme, with the scopes.
func (w *world) robots(t *testing.T, email string, scopes []domain.Permission, issuers ...*issuertest.Provider) {
	t.Helper()
	w.robotsOf(t, "acme", email, scopes, issuers...)
}

// addressOf is a good e-mail address.
func addressOf(t *testing.T, text string) domain.Email {
	t.Helper()
	email, err := domain.ParseEmail("email", text)
	if err != nil {
		t.Fatal(err)
	}
	return email
}

func (w *world) robotsOf(t *testing.T, company, email string, scopes []domain.Permission, issuers ...*issuertest.Provider) {
	t.Helper()
	var machines []*signin.Machine
	for _, p := range issuers {
		by, err := issuer.New(p.URL, issuer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		machines = append(machines, &signin.Machine{By: by, Machine: rules.Machine{
			Identity: rules.Identity{Issuer: p.URL, Subject: "robot"}, Audience: here, User: addressOf(t, email), Company: company, Scopes: scopes,
		}})
	}
	w.oauth.Assertion = signin.NewMachines(w.sessions, machines, slog.New(slog.NewTextHandler(t.Output(), nil)), time.Now).Exchange
}

// robot are the claims of a good assertion, with changes.
func robot(p *issuertest.Provider, changes map[string]any) map[string]any {
	all := map[string]any{"sub": "robot", "aud": here, "jti": rand.Text(), "email": nil, "email_verified": nil, "groups": nil}
	for name, value := range changes {
		all[name] = value
	}
	return p.Claims(all)
}

type tokenAnswer struct {
	Token       string `json:"access_token"`
	Scope       string `json:"scope"`
	Error       string `json:"error"`
	Description string `json:"error_description"`
}

// exchange posts an assertion; more are further fields of the form, in pairs.
func (w *world) exchange(t *testing.T, assertion string, more ...string) (int, tokenAnswer) {
	t.Helper()
	form := url.Values{"grant_type": {jwtBearer}, "assertion": {assertion}}
	for n := 0; n < len(more); n += 2 {
		form.Set(more[n], more[n+1])
	}
	r := httptest.NewRequest(http.MethodPost, "/oauth/token", strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer := httptest.NewRecorder()
	w.handler.ServeHTTP(answer, r)
	var body tokenAnswer
	if err := json.Unmarshal(answer.Body.Bytes(), &body); err != nil {
		t.Fatal(err)
	}
	if answer.Header().Get("Cache-Control") != "no-store" {
		t.Error("the answer may be stored")
	}
	return answer.Code, body
}

func TestAProgramExchangesAnAssertionForATokenOfItsUser(t *testing.T) {
	t.Parallel()
	p, w := issuertest.New(t), newWorld(t)
	w.robots(t, "own-vans@acme.example", []domain.Permission{domain.ViewSubscriber, domain.ManageAccessKeys}, p)
	w.pool.MustExecContext(t.Context(), `UPDATE users SET permissions = ARRAY['VIEW_SUBSCRIBER'] WHERE email = 'own-vans@acme.example'`)

	status, answer := w.exchange(t, p.Sign(robot(p, nil)))
	if status != http.StatusOK || answer.Scope != string(domain.ViewSubscriber) {
		t.Fatalf("%d %+v", status, answer)
	}
	bearer := httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(whoAmI))
	bearer.Header.Set("Content-Type", "application/json")
	bearer.Header.Set("Authorization", "Bearer "+answer.Token)
	if _, email := w.who(t, bearer); email != "own-vans@acme.example" {
		t.Errorf("the token is of %q", email)
	}
	if status, answer := w.exchange(t, p.Sign(robot(p, nil)), "scope", "MANAGE_ACCESS_KEYS"); status != http.StatusBadRequest || answer.Error != "invalid_scope" {
		t.Errorf("a scope beyond the user's: %d %+v", status, answer)
	}
	noted := w.noted(t, w.company(t, "acme"), domain.AuditTokenIssue)
	if last := noted[len(noted)-1]; valueOf(last, "subject") != "robot" || valueOf(last, "issuer") != p.URL {
		t.Errorf("the audit log has %+v", last)
	}

	w.pool.MustExecContext(t.Context(), `UPDATE users SET disabled = true WHERE email = 'own-vans@acme.example'`)
	if status, answer := w.exchange(t, p.Sign(robot(p, nil))); status != http.StatusBadRequest || answer.Error != "invalid_grant" {
		t.Errorf("a disabled user: %d %+v", status, answer)
	}
	if _, err := w.access.Authenticate(t.Context(), domain.Secret(answer.Token)); err == nil {
		t.Error("the token outlives its user")
	}
}

func TestATokenOfAProgramBeginsNoSessionWhereOnlyProvidersSignIn(t *testing.T) {
	t.Parallel()
	p, w := issuertest.New(t), newWorld(t)
	w.robots(t, "own-vans@acme.example", []domain.Permission{domain.ViewSubscriber}, p)
	w.sessions.NoKeys = true
	_, granted := w.exchange(t, p.Sign(robot(p, nil)))
	answer := httptest.NewRecorder()
	w.handler.ServeHTTP(answer, fromPage(http.MethodPost, "/session", `{"token":"`+granted.Token+`"}`))
	if granted.Token == "" || answer.Code != http.StatusForbidden || len(answer.Result().Cookies()) > 0 {
		t.Errorf("%q: %d %s", granted.Token, answer.Code, answer.Body)
	}
	if _, err := w.access.Authenticate(t.Context(), domain.Secret(granted.Token)); err != nil {
		t.Errorf("the token is for programs: %v", err)
	}
	w.begin(t, "own-vans@acme.example") // by a token of the operator
}

func TestHostileAssertionsAreRefused(t *testing.T) {
	t.Parallel()
	p, other, stranger := issuertest.New(t), issuertest.New(t), issuertest.New(t)
	w := newWorld(t)
	w.robots(t, "own-admin@acme.example", []domain.Permission{domain.ViewSubscriber}, p, other)
	in := func(d time.Duration) int64 { return time.Now().Add(d).Unix() }
	public, err := x509.MarshalPKIXPublicKey(p.Keys[0].Key)
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	kid := map[string]any{"kid": p.Keys[0].KeyID}
	unsigned := func(header string) string {
		claims, _ := json.Marshal(robot(p, nil))
		return base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + base64.RawURLEncoding.EncodeToString(claims) + "."
	}
	for name, assertion := range map[string]string{
		"no token":                 "robot",
		"alg none":                 unsigned(`{"alg":"none"}`),
		"HS256 by the public key":  issuertest.Sign(t, jose.HS256, public, kid, robot(p, nil)),
		"another algorithm":        issuertest.Sign(t, jose.RS512, foreign, kid, robot(p, nil)),
		"a foreign key":            issuertest.Sign(t, jose.RS256, foreign, kid, robot(p, nil)),
		"an unknown kid":           issuertest.Sign(t, jose.RS256, foreign, map[string]any{"kid": "of nobody"}, robot(p, nil)),
		"a key in the header":      issuertest.Sign(t, jose.RS256, foreign, map[string]any{"jwk": jose.JSONWebKey{Key: foreign.Public()}}, robot(p, nil)),
		"an unknown issuer":        stranger.Sign(robot(stranger, nil)),
		"the key of the other":     other.Sign(robot(p, nil)),
		"no subject":               p.Sign(robot(p, map[string]any{"sub": nil})),
		"another subject":          p.Sign(robot(p, map[string]any{"sub": "Robot"})),
		"no audience":              p.Sign(robot(p, map[string]any{"aud": nil})),
		"another audience":         p.Sign(robot(p, map[string]any{"aud": here + "/"})),
		"the audience of people":   p.Sign(robot(p, map[string]any{"aud": issuertest.ClientID})),
		"no end":                   p.Sign(robot(p, map[string]any{"exp": nil})),
		"ended":                    p.Sign(robot(p, map[string]any{"exp": in(-2 * time.Minute)})),
		"an end that is far ahead": p.Sign(robot(p, map[string]any{"exp": in(time.Hour)})),
		"an end beyond all years":  p.Sign(robot(p, map[string]any{"exp": 1e300})),
		"not valid yet":            p.Sign(robot(p, map[string]any{"nbf": in(5 * time.Minute)})),
		"of the future":            p.Sign(robot(p, map[string]any{"iat": in(5 * time.Minute)})),
		"a signature too many":     p.Sign(robot(p, nil)) + ".x",
	} {
		if status, answer := w.exchange(t, assertion); status != http.StatusBadRequest || answer.Error != "invalid_grant" || answer.Token != "" {
			t.Errorf("%s: %d %+v", name, status, answer)
		}
	}
	good := p.Sign(robot(p, nil))
	for name, more := range map[string][]string{
		"no assertion":       {"assertion", ""},
		"a client beside it": {"client_id", "sgk_1_x"},
		"a secret beside it": {"client_secret", "x"},
	} {
		if status, answer := w.exchange(t, good, more...); status != http.StatusBadRequest || answer.Error != "invalid_request" {
			t.Errorf("%s: %d %+v", name, status, answer)
		}
	}
	if status, answer := w.exchange(t, good, "scope", "VIEW_EVERYTHING"); status != http.StatusBadRequest || answer.Error != "invalid_scope" {
		t.Errorf("an unknown scope: %d %+v", status, answer)
	}
	if status, answer := w.exchange(t, good); status != http.StatusOK {
		t.Errorf("the good one: %d %+v", status, answer)
	}
	if err := w.sessions.NoteRefusals(t.Context()); err != nil {
		t.Fatal(err)
	}
	noted := w.noted(t, domain.Installation, domain.AuditSignInRefuse)
	if len(noted) != 1 || noted[0].SubjectID != rules.ByAssertion || valueOf(noted[0], "token") == "" {
		t.Errorf("the audit log has %+v", noted)
	}
}

func TestAnAssertionIsGoodForOneToken(t *testing.T) {
	t.Parallel()
	p, w := issuertest.New(t), newWorld(t)
	w.robots(t, "own-admin@acme.example", []domain.Permission{domain.ViewSubscriber}, p)
	used := func(name, assertion string) {
		t.Helper()
		if status, answer := w.exchange(t, assertion); status != http.StatusBadRequest || answer.Error != "invalid_grant" {
			t.Errorf("%s: %d %+v", name, status, answer)
		}
	}
	first := robot(p, map[string]any{"jti": "1"})
	if status, answer := w.exchange(t, p.Sign(first)); status != http.StatusOK {
		t.Fatalf("%d %+v", status, answer)
	}
	used("the same jti, signed again", p.Sign(robot(p, map[string]any{"jti": "1", "more": true})))

	anonymous := p.Sign(robot(p, map[string]any{"jti": nil}))
	var wait sync.WaitGroup
	granted := make(chan int, 8)
	for range cap(granted) {
		wait.Go(func() {
			status, _ := w.exchange(t, anonymous)
			granted <- status
		})
	}
	wait.Wait()
	close(granted)
	successes := 0
	for status := range granted {
		if status == http.StatusOK {
			successes++
		}
	}
	if successes != 1 {
		t.Errorf("one assertion gave %d tokens", successes)
	}
	used("the same without jti", anonymous)
	used("its other signature", twin(t, anonymous))
	used("the same with a blank", anonymous[:9]+" "+anonymous[9:])
	used("the same on two lines", anonymous[:9]+"\n"+anonymous[9:])
}

// twin is the same assertion with the other signature that ECDSA allows: s and the order
// of the curve less s.
func twin(t *testing.T, assertion string) string {
	t.Helper()
	at := strings.LastIndexByte(assertion, '.') + 1
	signature, err := base64.RawURLEncoding.DecodeString(assertion[at:])
	if err != nil || len(signature) != 64 {
		t.Fatal(err, len(signature))
	}
	s := new(big.Int).SetBytes(signature[32:])
	s.Sub(elliptic.P256().Params().N, s).FillBytes(signature[32:])
	return assertion[:at] + base64.RawURLEncoding.EncodeToString(signature)
}

func TestAnIssuerThatIsDownIsNoRefusal(t *testing.T) {
	t.Parallel()
	p, w := issuertest.New(t), newWorld(t)
	w.robots(t, "own-admin@acme.example", []domain.Permission{domain.ViewSubscriber}, p)
	p.Set(func(p *issuertest.Provider) { p.Down = true })
	if status, answer := w.exchange(t, p.Sign(robot(p, nil))); status != http.StatusServiceUnavailable || answer.Error != "temporarily_unavailable" {
		t.Errorf("%d %+v", status, answer)
	}
}
