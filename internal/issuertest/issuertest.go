// Package issuertest is an OpenID provider for tests: real HTTP on this machine, whose
// tokens a test can forge.
package issuertest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// ClientID and ClientSecret are those of the only client that the provider knows.
const (
	ClientID     = "simgraph"
	ClientSecret = "the secret of the client"
)

// Provider is an OpenID provider. Its fields may be changed under Lock.
type Provider struct {
	sync.Mutex
	// URL is the issuer.
	URL string
	// Person are the claims of who signs in next.
	Person map[string]any
	// Keys are what the provider publishes. The first signs.
	Keys []jose.JSONWebKey
	// Down has every request answered by 503.
	Down bool
	// Refusals are statuses that paths answer instead.
	Refusals map[string]int
	// UserInfo, unless nil, replaces the claims of the UserInfo endpoint.
	UserInfo func(claims map[string]any) string
	// Metadata are added to the discovery document.
	Metadata map[string]any
	// Forge, unless nil, replaces the ID token.
	Forge func(claims map[string]any) string
	// Refused has refresh tokens answered by invalid_grant.
	Refused bool
	// KeyReads counts how often the keys were read, Refreshes the refresh tokens used.
	KeyReads, Refreshes int

	signers map[string]crypto.Signer
	codes   map[string]request
	tokens  map[string]map[string]any
	t       testing.TB
}

// request is a sign-in that a code stands for.
type request struct {
	challenge, nonce, redirect string
	person                     map[string]any
}

// New starts a provider, which signs by ES256.
func New(t testing.TB) *Provider {
	t.Helper()
	p := &Provider{
		t: t, signers: map[string]crypto.Signer{}, codes: map[string]request{}, tokens: map[string]map[string]any{},
		Person: map[string]any{"sub": "person-1", "email": "person@acme.example", "email_verified": true, "groups": []string{"fleet"}},
	}
	p.Rotate()
	paths := http.NewServeMux()
	paths.HandleFunc("GET /.well-known/openid-configuration", p.discover)
	paths.HandleFunc("GET /keys", p.publish)
	paths.HandleFunc("GET /authorize", p.authorize)
	paths.HandleFunc("POST /token", p.token)
	paths.HandleFunc("GET /userinfo", p.userInfo)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.Lock()
		defer p.Unlock()
		if p.Down {
			http.Error(w, "down", http.StatusServiceUnavailable)
			return
		}
		if status := p.Refusals[r.URL.Path]; status != 0 {
			http.Error(w, http.StatusText(status), status)
			return
		}
		paths.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	p.URL = server.URL
	return p
}

// Set changes the provider under its lock.
func (p *Provider) Set(change func(p *Provider)) {
	p.Lock()
	defer p.Unlock()
	change(p)
}

// Rotate replaces the keys by a new one.
func (p *Provider) Rotate() { p.replace(rand.Text()) }

// Replace replaces the keys by a new one under the id of the first.
func (p *Provider) Replace() { p.replace(p.Keys[0].KeyID) }

func (p *Provider) replace(id string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		p.t.Fatal(err)
	}
	p.signers[id] = key
	p.Keys = []jose.JSONWebKey{{Key: key.Public(), KeyID: id, Algorithm: string(jose.ES256), Use: "sig"}}
}

// Claims are those of an ID token of the person now, with changes; nil removes one.
func (p *Provider) Claims(changes map[string]any) map[string]any {
	now := time.Now()
	claims := map[string]any{"iss": p.URL, "aud": ClientID, "iat": now.Unix(), "exp": now.Add(5 * time.Minute).Unix()}
	maps.Copy(claims, p.Person)
	maps.Copy(claims, changes)
	maps.DeleteFunc(claims, func(_ string, value any) bool { return value == nil })
	return claims
}

// Sign signs by the first key.
func (p *Provider) Sign(claims map[string]any) string {
	id := p.Keys[0].KeyID
	return Sign(p.t, jose.ES256, p.signers[id], map[string]any{"kid": id, "typ": "JWT"}, claims)
}

// SignText signs any text by the first key.
func (p *Provider) SignText(text string) string {
	return signText(p.t, jose.ES256, p.Signer(), map[string]any{"kid": p.Keys[0].KeyID}, []byte(text))
}

// Signer is the first key.
func (p *Provider) Signer() crypto.Signer { return p.signers[p.Keys[0].KeyID] }

// Sign signs claims by any key, with a header.
func Sign(t testing.TB, algorithm jose.SignatureAlgorithm, key any, header, claims map[string]any) string {
	t.Helper()
	text, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	return signText(t, algorithm, key, header, text)
}

func signText(t testing.TB, algorithm jose.SignatureAlgorithm, key any, header map[string]any, text []byte) string {
	t.Helper()
	options := &jose.SignerOptions{}
	for name, value := range header {
		options.WithHeader(jose.HeaderKey(name), value)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: key}, options)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(text)
	if err != nil {
		t.Fatal(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// SignIn does what a browser and a person do at the address that the service leads to,
// and returns the address that the provider sends the browser back to.
func (p *Provider) SignIn(address string) *url.URL {
	p.t.Helper()
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := browser.Get(address) //nolint:noctx // of a test
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }() // it is not read
	back, err := answer.Location()
	if err != nil {
		p.t.Fatalf("%s answers %s", address, answer.Status)
	}
	return back
}

func (p *Provider) discover(w http.ResponseWriter, _ *http.Request) {
	document := map[string]any{
		"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/keys",
		"userinfo_endpoint": p.URL + "/userinfo", "id_token_signing_alg_values_supported": []string{"ES256"},
		"authorization_response_iss_parameter_supported": true,
	}
	maps.Copy(document, p.Metadata)
	write(w, http.StatusOK, document)
}

func (p *Provider) publish(w http.ResponseWriter, _ *http.Request) {
	p.KeyReads++
	write(w, http.StatusOK, jose.JSONWebKeySet{Keys: p.Keys})
}

func (p *Provider) authorize(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	if query.Get("client_id") != ClientID || query.Get("code_challenge_method") != "S256" || query.Get("response_type") != "code" {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	code := rand.Text()
	p.codes[code] = request{query.Get("code_challenge"), query.Get("nonce"), query.Get("redirect_uri"), maps.Clone(p.Person)}
	back := url.Values{"code": {code}, "state": {query.Get("state")}, "iss": {p.URL}}
	http.Redirect(w, r, query.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound) //nolint:gosec // of a test
}

func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	id, secret, _ := r.BasicAuth()
	if unescaped, err := url.QueryUnescape(secret); err != nil || id != ClientID || unescaped != ClientSecret {
		write(w, http.StatusUnauthorized, map[string]any{"error": "invalid_client"})
		return
	}
	switch r.PostFormValue("grant_type") {
	case "authorization_code":
		p.exchange(w, r)
	case "refresh_token":
		p.refresh(w, r)
	}
}

func (p *Provider) exchange(w http.ResponseWriter, r *http.Request) {
	code := r.PostFormValue("code")
	of, known := p.codes[code]
	delete(p.codes, code)
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	if !known || of.redirect != r.PostFormValue("redirect_uri") || of.challenge != base64.RawURLEncoding.EncodeToString(sum[:]) {
		write(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
		return
	}
	p.grant(w, of.person, map[string]any{"nonce": of.nonce})
}

// refresh answers with the claims that the person has now.
func (p *Provider) refresh(w http.ResponseWriter, r *http.Request) {
	token := r.PostFormValue("refresh_token")
	before, known := p.tokens[token]
	delete(p.tokens, token)
	p.Refreshes++
	if !known || p.Refused {
		write(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
		return
	}
	now := maps.Clone(p.Person)
	now["sub"] = before["sub"]
	p.grant(w, now, nil)
}

func (p *Provider) grant(w http.ResponseWriter, person, more map[string]any) {
	access, refresh := "at-"+rand.Text(), "rt-"+rand.Text()
	p.tokens[access], p.tokens[refresh] = person, person
	claims := p.Claims(person)
	maps.Copy(claims, more)
	answer := map[string]any{"access_token": access, "token_type": "Bearer", "expires_in": 60, "refresh_token": refresh}
	if p.Forge != nil {
		answer["id_token"] = p.Forge(claims)
	} else {
		answer["id_token"] = p.Sign(claims)
	}
	write(w, http.StatusOK, answer)
}

func (p *Provider) userInfo(w http.ResponseWriter, r *http.Request) {
	var token string
	if _, err := fmt.Sscanf(r.Header.Get("Authorization"), "Bearer %s", &token); err != nil || p.tokens[token] == nil {
		http.Error(w, "unauthorized", http.StatusUnauthorized)
		return
	}
	if p.UserInfo != nil {
		write(w, http.StatusOK, json.RawMessage(p.UserInfo(p.tokens[token])))
		return
	}
	write(w, http.StatusOK, p.tokens[token])
}

func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client may be gone
}
