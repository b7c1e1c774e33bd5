package issuertest_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"simgraph/internal/fatal"
	"simgraph/internal/issuertest"
)

const redirect = "http://127.0.0.1/signin/callback"

// clientOf finds a provider by discovery, as a client that knows nothing of it.
func clientOf(t *testing.T, p *issuertest.Provider) (*oidc.Provider, *oauth2.Config) {
	t.Helper()
	found, err := oidc.NewProvider(t.Context(), p.URL)
	fatal.If(t, err)
	endpoint := found.Endpoint()
	endpoint.AuthStyle = oauth2.AuthStyleInHeader
	return found, &oauth2.Config{ClientID: issuertest.ClientID, ClientSecret: issuertest.ClientSecret, RedirectURL: redirect, Endpoint: endpoint, Scopes: []string{oidc.ScopeOpenID}}
}

// codeOf signs in, and returns the code.
func codeOf(t *testing.T, p *issuertest.Provider, client *oauth2.Config, verifier string) string {
	t.Helper()
	back := p.SignIn(client.AuthCodeURL("a state", oidc.Nonce("a nonce"), oauth2.S256ChallengeOption(verifier)))
	if !strings.HasPrefix(back.String(), redirect+"?") || back.Query().Get("state") != "a state" || back.Query().Get("iss") != p.URL {
		t.Fatalf("the browser is sent to %s", back)
	}
	return back.Query().Get("code")
}

func isRefused(err error, why string) bool {
	answer := &oauth2.RetrieveError{}
	return errors.As(err, &answer) && answer.ErrorCode == why
}

func TestAPersonSignsInByAnyClient(t *testing.T) {
	t.Parallel()
	p := issuertest.New(t)
	found, client := clientOf(t, p)
	verifier := oauth2.GenerateVerifier()
	tokens, err := client.Exchange(t.Context(), codeOf(t, p, client, verifier), oauth2.VerifierOption(verifier))
	fatal.If(t, err)
	text, _ := tokens.Extra("id_token").(string)
	verified, err := found.Verifier(&oidc.Config{ClientID: issuertest.ClientID}).Verify(t.Context(), text)
	fatal.If(t, err)
	if verified.Subject != "person-1" || verified.Nonce != "a nonce" {
		t.Errorf("got %+v", verified)
	}
	info, err := found.UserInfo(t.Context(), oauth2.StaticTokenSource(tokens))
	fatal.If(t, err)
	if info.Subject != "person-1" || info.Email != "person@acme.example" || !info.EmailVerified {
		t.Errorf("got %+v", info)
	}
	// A refresh has the claims that the person has now, of the same subject.
	p.Set(func(p *issuertest.Provider) { p.Person = map[string]any{"sub": "another", "email": "new@acme.example"} })
	refresh := func(token string) (*oauth2.Token, error) {
		return client.TokenSource(t.Context(), &oauth2.Token{RefreshToken: token}).Token()
	}
	now, err := refresh(tokens.RefreshToken)
	fatal.If(t, err)
	info, err = found.UserInfo(t.Context(), oauth2.StaticTokenSource(now))
	fatal.If(t, err)
	if info.Subject != "person-1" || info.Email != "new@acme.example" {
		t.Errorf("got %+v", info)
	}
	if _, err := refresh(tokens.RefreshToken); !isRefused(err, "invalid_grant") {
		t.Errorf("a token that was used: %v", err)
	}
	p.Set(func(p *issuertest.Provider) { p.Refused = true })
	if _, err := refresh(now.RefreshToken); !isRefused(err, "invalid_grant") || p.Refreshes != 3 {
		t.Errorf("after %d refreshes: %v", p.Refreshes, err)
	}
}

func TestACodeIsTakenOnceAndFromTheClientThatAskedForIt(t *testing.T) {
	t.Parallel()
	p := issuertest.New(t)
	_, client := clientOf(t, p)
	verifier := oauth2.GenerateVerifier()
	for _, c := range []struct {
		name, verifier, redirect, secret, want string
	}{
		{"another verifier", oauth2.GenerateVerifier(), redirect, issuertest.ClientSecret, "invalid_grant"},
		{"another address", verifier, redirect + "/other", issuertest.ClientSecret, "invalid_grant"},
		{"another secret", verifier, redirect, "guessed", "invalid_client"},
	} {
		other := *client
		other.RedirectURL, other.ClientSecret = c.redirect, c.secret
		if _, err := other.Exchange(t.Context(), codeOf(t, p, client, verifier), oauth2.VerifierOption(c.verifier)); !isRefused(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	code := codeOf(t, p, client, verifier)
	_, err := client.Exchange(t.Context(), code, oauth2.VerifierOption(verifier))
	fatal.If(t, err)
	if _, err := client.Exchange(t.Context(), code, oauth2.VerifierOption(verifier)); !isRefused(err, "invalid_grant") {
		t.Errorf("a code that was used: %v", err)
	}
}

// status asks for a sign-in with a parameter changed.
func status(t *testing.T, client *oauth2.Config, name, value string) int {
	t.Helper()
	address, err := url.Parse(client.AuthCodeURL("s", oauth2.S256ChallengeOption("v")))
	fatal.If(t, err)
	query := address.Query()
	query.Set(name, value)
	address.RawQuery = query.Encode()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address.String(), http.NoBody)
	fatal.If(t, err)
	answer, err := http.DefaultTransport.RoundTrip(request)
	fatal.If(t, err)
	fatal.If(t, answer.Body.Close())
	return answer.StatusCode
}

func TestASignInNeedsTheClientACodeAndAChallenge(t *testing.T) {
	t.Parallel()
	_, client := clientOf(t, issuertest.New(t))
	for _, c := range []struct {
		name, value string
		want        int
	}{
		{"state", "another", http.StatusFound}, {"client_id", "another", http.StatusBadRequest}, {"code_challenge_method", "plain", http.StatusBadRequest},
		{"response_type", "token", http.StatusBadRequest},
	} {
		if got := status(t, client, c.name, c.value); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestTokensThatATestForgesAreRefused(t *testing.T) {
	t.Parallel()
	p := issuertest.New(t)
	found, _ := clientOf(t, p)
	check := func(token string) error {
		_, err := found.Verifier(&oidc.Config{ClientID: issuertest.ClientID}).Verify(t.Context(), token)
		return err
	}
	fatal.If(t, check(p.Sign(p.Claims(nil))))
	for name, changes := range map[string]map[string]any{
		"another audience": {"aud": "another"}, "another issuer": {"iss": "https://another.example"}, "one that is over": {"exp": 1}, "no issuer": {"iss": nil},
	} {
		if check(p.Sign(p.Claims(changes))) == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	old := p.Sign(p.Claims(nil))
	before := p.Keys[0].KeyID
	p.Set((*issuertest.Provider).Replace)
	if p.Keys[0].KeyID != before {
		t.Error("a replaced key has another id")
	}
	found, _ = clientOf(t, p) // which has read no keys yet
	if check(old) == nil {
		t.Error("a token of a key that was replaced is accepted")
	}
	fatal.If(t, check(p.Sign(p.Claims(nil))))
	p.Set((*issuertest.Provider).Rotate)
	if p.Keys[0].KeyID == before {
		t.Error("a new key has the id of the one before")
	}
	fatal.If(t, check(p.Sign(p.Claims(nil)))) // its keys are read again for the new id
	p.Set(func(p *issuertest.Provider) {
		if p.KeyReads != 3 {
			t.Errorf("the keys were read %d times", p.KeyReads)
		}
	})
}

func TestAProviderFailsAsATestWants(t *testing.T) {
	t.Parallel()
	p := issuertest.New(t)
	p.Set(func(p *issuertest.Provider) {
		p.Refusals, p.Metadata = map[string]int{"/keys": http.StatusTeapot}, map[string]any{"token_endpoint": "https://another.example/token"}
	})
	found, client := clientOf(t, p)
	if client.Endpoint.TokenURL != "https://another.example/token" {
		t.Errorf("tokens are had from %s", client.Endpoint.TokenURL)
	}
	_, err := found.Verifier(&oidc.Config{ClientID: issuertest.ClientID}).Verify(t.Context(), p.Sign(p.Claims(nil)))
	if err == nil || !strings.Contains(err.Error(), "418") {
		t.Errorf("keys that are refused: %v", err)
	}
	p.Set(func(p *issuertest.Provider) { p.Down = true })
	if _, err := oidc.NewProvider(t.Context(), p.URL); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("a provider that is down: %v", err)
	}
}
