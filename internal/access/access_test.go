package access_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db"
	keys "simgraph/db/access"
	"simgraph/db/dbtest"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/internal/access"
)

func TestMain(m *testing.M) { dbtest.Main(m, db.Migrate) }

const acme = domain.CompanyID(1)

// fixture is the gate and the endpoints on a database with one user.
type fixture struct {
	pool       *sqlx.DB
	store      *keys.Store
	gate       *access.Gate
	oauth      *access.OAuth
	key        *domain.AccessKey
	secret     domain.Secret
	statements atomic.Int64
	elapsed    atomic.Int64
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	d := &fixture{}
	pool, err := pg.Open(t.Context(), dbtest.URL(t), pg.Options{Observe: func(context.Context, string) { d.statements.Add(1) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	d.pool = pool
	pool.MustExec(`
INSERT INTO companies VALUES (1, 'acme', 'Acme');
INSERT INTO user_lookup (email, company_id) VALUES ('ops@acme.example', 1);
INSERT INTO users SELECT company_id, user_id, email, '{VIEW_SUBSCRIBER,VIEW_MONITORING_ALERTS}' FROM user_lookup`)
	d.store = keys.New(pool)
	d.gate = access.NewGate(d.store, func() time.Time { return time.Now().Add(time.Duration(d.elapsed.Load())) })
	d.oauth = access.NewOAuth(d.store, slog.New(slog.DiscardHandler))
	d.key, d.secret, err = d.store.CreateKey(t.Context(), domain.Whole(acme), domain.KeySpec{Email: "ops@acme.example", Lifetime: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *fixture) token(t *testing.T) domain.Secret {
	t.Helper()
	grant, err := d.store.Exchange(t.Context(), domain.Origin{}, d.key.AccessKeyID, d.secret, nil)
	if err != nil {
		t.Fatal(err)
	}
	return grant.Token
}

func TestABusyClientCostsNoStatementPerRequest(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	token := d.token(t)
	before := d.statements.Load()
	var clients sync.WaitGroup
	for range 16 {
		clients.Go(func() {
			for range 100 {
				if caller, err := d.gate.Caller(t.Context(), token); err != nil || caller.Email != "ops@acme.example" {
					t.Errorf("%v %v", caller, err)
				}
			}
		})
	}
	clients.Wait()
	if n := d.statements.Load() - before; n != 1 {
		t.Fatalf("%d statements for 1600 requests", n)
	}
}

func TestARevocationIsEffectiveWithinFiveSeconds(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	token := d.token(t)
	if _, err := d.gate.Caller(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	if _, err := d.store.RevokeKey(t.Context(), domain.Whole(acme), d.key.AccessKeyID); err != nil {
		t.Fatal(err)
	}
	d.elapsed.Store(int64(5 * time.Second))
	_, err := d.gate.Caller(t.Context(), token)
	if fault, is := domain.AsError(err); !is || fault.Kind != domain.KindInvalidToken {
		t.Fatalf("got %v", err)
	}
}

func TestWhatIsNoBearerToken(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	for header, want := range map[string]domain.ErrorKind{
		"":                                      domain.KindUnauthorized,
		"Bearer":                                domain.KindInvalidToken,
		"Bearer ":                               domain.KindInvalidToken,
		"Bearer a b":                            domain.KindInvalidToken,
		"Basic c2VjcmV0":                        domain.KindUnauthorized,
		"Basic":                                 domain.KindUnauthorized,
		"Bearerx y":                             domain.KindUnauthorized,
		"Bearer sgt_1_unknown":                  domain.KindInvalidToken,
		"Bearer sgt_99999_unknown":              domain.KindInvalidToken,
		"Bearer sgt_-1_x":                       domain.KindInvalidToken,
		"Bearer " + strings.Repeat("x", 10_000): domain.KindInvalidToken,
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/subscribers", nil)
		if header != "" {
			r.Header.Set("Authorization", header)
		}
		_, err := d.gate.Admit(r)
		if fault, is := domain.AsError(err); !is || fault.Kind != want {
			t.Errorf("%.30q: got %v, want %s", header, err, want)
		}
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/subscribers", nil)
	r.Header.Set("Authorization", "bearer "+string(d.token(t)))
	if _, err := d.gate.Admit(r); err != nil {
		t.Errorf("the scheme is not case-sensitive: %v", err)
	}
	r.Header.Add("Authorization", "Bearer another")
	if _, err := d.gate.Admit(r); err == nil {
		t.Error("two tokens were admitted")
	}
}

// form is a request to a token endpoint.
type form struct {
	name        string
	method      string
	contentType string
	basic       [2]string
	bearer      domain.Secret
	values      url.Values
	raw         string
	status      int
	code        string
}

func (d *fixture) send(t *testing.T, handler http.HandlerFunc, f form) (int, map[string]any, http.Header) {
	t.Helper()
	if f.method == "" {
		f.method = http.MethodPost
	}
	if f.contentType == "" {
		f.contentType = "application/x-www-form-urlencoded"
	}
	body := f.raw
	if body == "" {
		body = f.values.Encode()
	}
	r := httptest.NewRequestWithContext(t.Context(), f.method, "/oauth/token", strings.NewReader(body))
	r.Header.Set("Content-Type", f.contentType)
	if f.basic[0] != "" {
		r.SetBasicAuth(f.basic[0], f.basic[1])
	}
	if f.bearer != "" {
		r.Header.Set("Authorization", "Bearer "+string(f.bearer))
	}
	w := httptest.NewRecorder()
	handler(w, r)
	answer := map[string]any{}
	if err := json.NewDecoder(w.Body).Decode(&answer); err != nil && err != io.EOF {
		t.Fatal(err)
	}
	return w.Code, answer, w.Header()
}

func TestTokenRequests(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	id, secret := d.key.AccessKeyID, string(d.secret)
	grant := url.Values{"grant_type": {"client_credentials"}}
	with := func(values url.Values, pairs ...string) url.Values {
		merged := url.Values{}
		for name, value := range values {
			merged[name] = value
		}
		for i := 0; i < len(pairs); i += 2 {
			merged.Add(pairs[i], pairs[i+1])
		}
		return merged
	}
	for _, f := range []form{
		{name: "basic", basic: [2]string{id, secret}, values: grant, status: 200},
		{name: "form", values: with(grant, "client_id", id, "client_secret", secret), status: 200},
		{name: "fewer scopes", basic: [2]string{id, secret}, values: with(grant, "scope", "VIEW_SUBSCRIBER"), status: 200},
		{name: "scopes in both spellings", basic: [2]string{id, secret}, values: with(grant, "scope", "View Subscriber VIEW_MONITORING_ALERTS"), status: 200},
		{name: "a charset", contentType: "application/x-www-form-urlencoded; charset=utf-8", basic: [2]string{id, secret}, values: grant, status: 200},
		{name: "GET", method: http.MethodGet, basic: [2]string{id, secret}, values: grant, status: 405, code: "invalid_request"},
		{name: "JSON", contentType: "application/json", raw: `{"grant_type":"client_credentials"}`, status: 400, code: "invalid_request"},
		{name: "no grant type", basic: [2]string{id, secret}, values: url.Values{"a": {"b"}}, status: 400, code: "invalid_request"},
		{name: "another grant", basic: [2]string{id, secret}, values: url.Values{"grant_type": {"password"}}, status: 400, code: "unsupported_grant_type"},
		{name: "no client", values: grant, status: 401, code: "invalid_client"},
		{name: "wrong secret", basic: [2]string{id, "wrong"}, values: grant, status: 401, code: "invalid_client"},
		{name: "unknown key", basic: [2]string{"sgk_1_x", secret}, values: grant, status: 401, code: "invalid_client"},
		{name: "authenticated twice", basic: [2]string{id, secret}, values: with(grant, "client_id", id, "client_secret", secret), status: 400, code: "invalid_request"},
		{name: "the same client in the form", basic: [2]string{id, secret}, values: with(grant, "client_id", id), status: 200},
		{name: "another client in the form", basic: [2]string{id, secret}, values: with(grant, "client_id", "sgk_1_x"), status: 400, code: "invalid_request"},
		{name: "unknown scope", basic: [2]string{id, secret}, values: with(grant, "scope", "ROOT"), status: 400, code: "invalid_scope"},
		{name: "a scope not held", basic: [2]string{id, secret}, values: with(grant, "scope", "MANAGE_ACCESS_KEYS"), status: 400, code: "invalid_scope"},
		{name: "a parameter twice", basic: [2]string{id, secret}, values: with(grant, "grant_type", "client_credentials"), status: 400, code: "invalid_request"},
		{name: "bad encoding", basic: [2]string{id, secret}, raw: "grant_type=%zz", status: 400, code: "invalid_request"},
		{name: "too large", basic: [2]string{id, secret}, raw: "a=" + strings.Repeat("x", 100_000), status: 413, code: "invalid_request"},
	} {
		t.Run(f.name, func(t *testing.T) {
			status, answer, header := d.send(t, d.oauth.Token, f)
			code, _ := answer["error"].(string)
			if status != f.status || code != f.code {
				t.Fatalf("%d %v", status, answer)
			}
			if header.Get("Cache-Control") != "no-store" || header.Get("Pragma") != "no-cache" {
				t.Error("the answer may be cached")
			}
			if status == 401 && !strings.HasPrefix(header.Get("WWW-Authenticate"), "Basic") {
				t.Error("no WWW-Authenticate")
			}
			if status != 200 {
				return
			}
			if _, err := d.store.Authenticate(t.Context(), domain.Secret(answer["access_token"].(string))); err != nil {
				t.Error(err)
			}
			if answer["expires_in"].(float64) < 3500 || answer["token_type"] != "Bearer" {
				t.Errorf("%v", answer)
			}
		})
	}
}

func TestARevokedTokenIsRefused(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	basic := [2]string{d.key.AccessKeyID, string(d.secret)}
	token := d.token(t)
	for _, f := range []form{
		{basic: basic, values: url.Values{"token": {string(token)}}, status: 200},
		{basic: basic, values: url.Values{"token": {"unknown"}}, status: 200},
		{basic: basic, values: url.Values{"x": {"y"}}, status: 400},
		{values: url.Values{"token": {string(token)}}, status: 401},
	} {
		if status, answer, _ := d.send(t, d.oauth.Revoke, f); status != f.status {
			t.Errorf("%+v: %d %v", f, status, answer)
		}
	}
	_, err := d.store.Authenticate(t.Context(), token)
	if fault, is := domain.AsError(err); !is || fault.Kind != domain.KindInvalidToken {
		t.Fatalf("got %v", err)
	}
}

func TestAHolderRevokesTheTokenWithoutTheKey(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	token, other := d.token(t), d.token(t)
	for _, f := range []form{
		{bearer: token, values: url.Values{"token": {string(other)}}, status: 400},
		{bearer: token, values: url.Values{"x": {"y"}}, status: 400},
		{bearer: token, method: http.MethodGet, status: 405},
		{bearer: token, values: url.Values{"token": {string(token)}}, status: 200},
		{bearer: token, values: url.Values{"token": {string(token)}}, status: 200},
	} {
		if status, answer, _ := d.send(t, d.oauth.Revoke, f); status != f.status {
			t.Errorf("%+v: %d %v", f, status, answer)
		}
	}
	if _, err := d.store.Authenticate(t.Context(), token); err == nil {
		t.Error("the token is still accepted")
	}
	if _, err := d.store.Authenticate(t.Context(), other); err != nil {
		t.Errorf("another token ended too: %v", err)
	}
}

// RFC 6749 §5.2 leaves quotes, backslashes and all that is not ASCII out of
// descriptions.
func TestDescriptionsKeepToTheirCharacters(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	values := url.Values{"grant_type": {"client_credentials"}, "scope": {"a\"\\\u00e9\x00" + strings.Repeat("x", 1000)}}
	_, answer, _ := d.send(t, d.oauth.Token, form{basic: [2]string{d.key.AccessKeyID, string(d.secret)}, values: values})
	text, _ := answer["error_description"].(string)
	if answer["error"] != "invalid_scope" || len(text) > 200 || !strings.Contains(text, "VIEW_SUBSCRIBER") {
		t.Errorf("%v", answer)
	}
	if i := strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r > '~' }); i >= 0 {
		t.Errorf("%q in %q", text[i], text)
	}
}
