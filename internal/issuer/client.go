package issuer

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"maps"
	"net/url"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"simgraph/domain"
)

// Client is this service as a provider knows it.
type Client struct {
	Issuer *Issuer
	ID     string
	// Secret is "" for a public client, which PKCE alone protects.
	Secret domain.Secret
	// RedirectURL is where the provider sends browsers back to. No two issuers have
	// the same.
	RedirectURL string
	// Scopes are requested beside openid.
	Scopes []string
	// Parameters are added to the address that people are sent to.
	Parameters map[string]string
	// UserInfo is whether claims are read from the UserInfo endpoint, too.
	UserInfo bool
}

// Attempt is what the answer of a provider to one sign-in is recognized by.
type Attempt struct {
	State string `json:"state"`
	Nonce string `json:"nonce"`
	// Verifier proves to the provider who began the sign-in (RFC 7636).
	Verifier string `json:"verifier"`
}

// NewAttempt returns one that nobody can guess.
func NewAttempt() Attempt { return Attempt{rand.Text(), rand.Text(), oauth2.GenerateVerifier()} }

// Person is who has signed in.
type Person struct {
	// Claims are nil where a provider answers Refresh without them.
	*Claims
	// RefreshToken is what Refresh takes next; "" for none.
	RefreshToken domain.Secret
}

// Begin returns the address at which the provider signs people in.
func (c *Client) Begin(ctx context.Context, attempt Attempt) (string, error) {
	config, _, err := c.config(ctx)
	if err != nil {
		return "", err
	}
	options := []oauth2.AuthCodeOption{oidc.Nonce(attempt.Nonce), oauth2.S256ChallengeOption(attempt.Verifier)}
	for name, value := range c.Parameters {
		options = append(options, oauth2.SetAuthURLParam(name, value))
	}
	return config.AuthCodeURL(attempt.State, options...), nil
}

// Finish returns who has signed in, by the parameters with which the provider sent the
// browser back.
func (c *Client) Finish(ctx context.Context, attempt Attempt, answer url.Values) (*Person, error) {
	config, metadata, err := c.config(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.checkAnswer(attempt, answer, metadata); err != nil {
		return nil, err
	}
	tokens, err := config.Exchange(c.Issuer.with(ctx), answer.Get("code"), oauth2.VerifierOption(attempt.Verifier))
	if err != nil {
		return nil, c.failure(err)
	}
	person, err := c.person(ctx, metadata, tokens, Expected{Audiences: []string{c.ID}, Client: c.ID, Nonce: attempt.Nonce})
	if err == nil && person.Claims == nil {
		err = refused("the provider gave no ID token")
	}
	return person, err
}

func (c *Client) checkAnswer(attempt Attempt, answer url.Values, metadata *Metadata) error {
	for name, values := range answer {
		if len(values) > 1 {
			return refused("the answer has %.20q twice", name)
		}
	}
	if attempt.State == "" || subtle.ConstantTimeCompare([]byte(answer.Get("state")), []byte(attempt.State)) != 1 {
		return refused("the answer is not of this sign-in")
	}
	// RFC 9207: an answer that names another issuer is refused, so that a malicious provider
	// cannot pass on the code of another.
	if issuer := answer.Get("iss"); issuer != c.Issuer.url && (issuer != "" || metadata.namesItself) {
		return refused("the answer is of another issuer")
	}
	if code := answer.Get("error"); code != "" {
		return domain.Forbidden("the provider answers %.40q", code)
	}
	if answer.Get("code") == "" {
		return refused("the answer has no code")
	}
	return nil
}

// Refresh returns who a person is now, by the refresh token. The error is InvalidToken
// where the provider does not know the person any more, or names another than subject.
func (c *Client) Refresh(ctx context.Context, refreshToken domain.Secret, subject string) (*Person, error) {
	config, metadata, err := c.config(ctx)
	if err != nil {
		return nil, err
	}
	tokens, err := config.TokenSource(c.Issuer.with(ctx), &oauth2.Token{RefreshToken: string(refreshToken)}).Token()
	if err != nil {
		return nil, c.failure(err)
	}
	person, err := c.person(ctx, metadata, tokens, Expected{Audiences: []string{c.ID}, Client: c.ID})
	if err == nil && person.Claims != nil && person.Subject != subject {
		err = refused("the provider names another person")
	}
	return person, err
}

// person reads who the tokens are of.
func (c *Client) person(ctx context.Context, metadata *Metadata, tokens *oauth2.Token, expected Expected) (*Person, error) {
	person := &Person{RefreshToken: domain.Secret(tokens.RefreshToken)}
	text, _ := tokens.Extra("id_token").(string)
	if text == "" {
		return person, nil
	}
	claims, verified, err := c.Issuer.check(ctx, text, expected)
	if err != nil {
		return nil, err
	}
	if verified.AccessTokenHash != "" && verified.VerifyAccessToken(tokens.AccessToken) != nil {
		return nil, refused("the ID token is of another access token")
	}
	person.Claims = claims
	if c.UserInfo {
		err = c.addUserInfo(ctx, metadata, tokens, claims)
	}
	return person, err
}

// addUserInfo adds the claims of the UserInfo endpoint. Those of the ID token, which are
// signed, stay.
func (c *Client) addUserInfo(ctx context.Context, metadata *Metadata, tokens *oauth2.Token, claims *Claims) error {
	info, err := metadata.provider.UserInfo(c.Issuer.with(ctx), oauth2.StaticTokenSource(tokens))
	if err != nil {
		return c.Issuer.silent(err)
	}
	var values object
	if err := info.Claims(&values); err != nil {
		return c.Issuer.silent(err)
	}
	if info.Subject != claims.Subject || values["sub"] != claims.Subject {
		return refused("the provider names two persons")
	}
	maps.Copy(values, claims.Values)
	claims.Values = values
	return nil
}

// failure is InvalidToken where the provider refuses what it was given. All else, such as
// a secret of this service that has expired, says nothing about the person.
func (c *Client) failure(err error) error {
	answer, is := errors.AsType[*oauth2.RetrieveError](err)
	if is && answer.ErrorCode == "invalid_grant" {
		return refused("the provider does not accept this sign-in, or not any more")
	}
	if is && answer.ErrorCode != "" {
		return c.Issuer.failed(err, "refuses this service: %.40q", answer.ErrorCode)
	}
	return c.Issuer.silent(err)
}

func (c *Client) config(ctx context.Context) (*oauth2.Config, *Metadata, error) {
	metadata, err := c.Issuer.Metadata(ctx)
	if err != nil {
		return nil, nil, c.Issuer.silent(err)
	}
	if metadata.AuthURL == "" || metadata.TokenURL == "" {
		return nil, nil, c.Issuer.silent(errors.New("its metadata has no endpoints to sign in by"))
	}
	style := oauth2.AuthStyleInHeader
	if metadata.secretInForm || c.Secret == "" {
		style = oauth2.AuthStyleInParams
	}
	return &oauth2.Config{
		ClientID: c.ID, ClientSecret: string(c.Secret), RedirectURL: c.RedirectURL, Scopes: append([]string{oidc.ScopeOpenID}, c.Scopes...),
		Endpoint: oauth2.Endpoint{AuthURL: metadata.AuthURL, TokenURL: metadata.TokenURL, AuthStyle: style},
	}, metadata, nil
}
