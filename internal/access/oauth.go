package access

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"simgraph/domain"
	"simgraph/internal/problem"
)

// maxForm bounds the body of a token request.
const maxForm = 64 << 10

// assertionGrant is the grant type of RFC 7523.
const assertionGrant = "urn:ietf:params:oauth:grant-type:jwt-bearer"

// OAuth answers POST /oauth/token by the client-credentials grant (RFC 6749
// §4.4), where the access key is the client, or by an assertion (RFC 7523), and POST
// /oauth/revoke (RFC 7009).
type OAuth struct {
	// Assertion, unless nil, gives a token for an assertion. The error is InvalidToken
	// for one that gets none, and Invalid for scopes that are not held.
	Assertion func(ctx context.Context, from domain.Origin, assertion domain.Secret, wanted []domain.Permission) (*domain.Grant, error)

	store domain.Access
	log   *slog.Logger
}

// NewOAuth returns the endpoints on the store.
func NewOAuth(store domain.Access, log *slog.Logger) *OAuth { return &OAuth{store: store, log: log} }

// oauthError is an error answer of RFC 6749 §5.2.
type oauthError struct {
	Status      int    `json:"-"`
	Code        string `json:"error"`
	Description string `json:"error_description"`
}

func (e *oauthError) Error() string { return e.Code + ": " + e.Description }

func badRequest(code, description string) *oauthError {
	return &oauthError{http.StatusBadRequest, code, description}
}

// client is what every request to these endpoints proves.
type client struct {
	id     string
	secret domain.Secret
	form   url.Values
}

type tokenAnswer struct {
	AccessToken string `json:"access_token"`
	TokenType   string `json:"token_type"`
	ExpiresIn   int    `json:"expires_in"`
	Scope       string `json:"scope"`
}

// Token answers POST /oauth/token.
func (o *OAuth) Token(w http.ResponseWriter, r *http.Request) {
	grant, err := o.grant(w, r)
	if err != nil {
		o.Refuse(w, r, err)
		return
	}
	scopes := make([]string, len(grant.Scopes))
	for i, s := range grant.Scopes {
		scopes[i] = string(s)
	}
	answer(w, http.StatusOK, tokenAnswer{
		AccessToken: string(grant.Token), TokenType: "Bearer",
		ExpiresIn: int(time.Until(grant.ExpiresAt).Round(time.Second).Seconds()), Scope: strings.Join(scopes, " "),
	})
}

func (o *OAuth) grant(w http.ResponseWriter, r *http.Request) (*domain.Grant, error) {
	if err := readForm(w, r); err != nil {
		return nil, err
	}
	if r.PostForm.Get("grant_type") == assertionGrant && o.Assertion != nil {
		return o.byAssertion(r)
	}
	return o.byKey(r)
}

func (o *OAuth) byKey(r *http.Request) (*domain.Grant, error) {
	c, err := credentials(r)
	if err != nil {
		return nil, err
	}
	switch c.form.Get("grant_type") {
	case "client_credentials":
	case "":
		return nil, badRequest("invalid_request", "grant_type is missing")
	default:
		return nil, badRequest("unsupported_grant_type", "grant_type must be "+strings.Join(o.grants(), " or "))
	}
	wanted, err := wantedScopes(r)
	if err != nil {
		return nil, err
	}
	grant, err := o.store.Exchange(r.Context(), domain.OriginOf(r.Context()), c.id, c.secret, wanted)
	return grant, scopeRefused(err)
}

// grants are the grant types that this service takes.
func (o *OAuth) grants() []string {
	if o.Assertion == nil {
		return []string{"client_credentials"}
	}
	return []string{"client_credentials", assertionGrant}
}

// byAssertion answers a program that proves who it is by the assertion alone.
func (o *OAuth) byAssertion(r *http.Request) (*domain.Grant, error) {
	if r.PostForm.Has("client_id") || r.PostForm.Has("client_secret") || r.Header.Get("Authorization") != "" {
		return nil, badRequest("invalid_request", "the assertion stands for the client: send no other credential")
	}
	assertion := r.PostForm.Get("assertion")
	if assertion == "" {
		return nil, badRequest("invalid_request", "assertion is missing")
	}
	wanted, err := wantedScopes(r)
	if err != nil {
		return nil, err
	}
	grant, err := o.Assertion(r.Context(), domain.OriginOf(r.Context()), domain.Secret(assertion), wanted)
	if fault, is := domain.AsError(err); is && fault.Kind == domain.KindInvalidToken {
		return nil, badRequest("invalid_grant", legible(fault.Message, longestReason))
	}
	return grant, scopeRefused(err)
}

func wantedScopes(r *http.Request) ([]domain.Permission, error) {
	wanted, unknown := domain.ParseScopes(r.PostForm.Get("scope"))
	if unknown != "" {
		return nil, badRequest("invalid_scope", "there is no scope "+described(unknown)+"; name permissions as in VIEW_SUBSCRIBER, with blanks between them")
	}
	return wanted, nil
}

// scopeRefused is the error of an exchange as clients read it.
func scopeRefused(err error) error {
	if fault, is := domain.AsError(err); is && fault.Kind == domain.KindInvalid {
		return badRequest("invalid_scope", fault.Message)
	}
	return err
}

const (
	// longestDescribed is more than the names of permissions have.
	longestDescribed = 64
	// longestReason bounds why an assertion is refused.
	longestReason = 300
)

// described writes what a client sent as RFC 6749 §5.2 lets descriptions have it.
func described(text string) string { return legible(text, longestDescribed) }

func legible(text string, longest int) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == '"' || r == '\\' || r > '~' {
			return '?'
		}
		return r
	}, text)
	return text[:min(len(text), longest)]
}

// Revoke answers POST /oauth/revoke. An unknown token is no error. The token
// itself as the bearer token stands for the client: its holder, such as a page
// that signs out, may not know the key.
func (o *OAuth) Revoke(w http.ResponseWriter, r *http.Request) {
	if token, err := bearer(r.Header); err == nil {
		o.end(w, r, token)
		return
	}
	c, err := readClient(w, r)
	if err != nil {
		o.Refuse(w, r, err)
		return
	}
	token := c.form.Get("token")
	if token == "" {
		o.Refuse(w, r, badRequest("invalid_request", "token is missing"))
		return
	}
	if err := o.store.RevokeToken(r.Context(), domain.OriginOf(r.Context()), c.id, c.secret, domain.Secret(token)); err != nil {
		o.Refuse(w, r, err)
		return
	}
	answer(w, http.StatusOK, struct{}{})
}

// end revokes the bearer token, when the form names the same one.
func (o *OAuth) end(w http.ResponseWriter, r *http.Request, token domain.Secret) {
	err := readForm(w, r)
	if err == nil && subtle.ConstantTimeCompare([]byte(r.PostForm.Get("token")), []byte(token)) != 1 {
		err = badRequest("invalid_request", "a bearer token revokes itself alone: token must be the same")
	}
	if err == nil {
		err = o.store.EndToken(r.Context(), domain.OriginOf(r.Context()), token)
	}
	if err != nil {
		o.Refuse(w, r, err)
		return
	}
	answer(w, http.StatusOK, struct{}{})
}

func readClient(w http.ResponseWriter, r *http.Request) (*client, error) {
	if err := readForm(w, r); err != nil {
		return nil, err
	}
	return credentials(r)
}

func readForm(w http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return &oauthError{http.StatusMethodNotAllowed, "invalid_request", "use POST"}
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/x-www-form-urlencoded" {
		return badRequest("invalid_request", "the body must be application/x-www-form-urlencoded")
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
			return &oauthError{http.StatusRequestEntityTooLarge, "invalid_request", "the body is larger than 64 kB"}
		}
		return badRequest("invalid_request", "the body is not a form")
	}
	for name, values := range r.PostForm {
		if len(values) > 1 {
			return badRequest("invalid_request", name+" is given twice")
		}
	}
	return nil
}

// credentials reads HTTP Basic or, without it, the form (RFC 6749 §2.3.1).
func credentials(r *http.Request) (*client, error) {
	c := &client{id: r.PostForm.Get("client_id"), secret: domain.Secret(r.PostForm.Get("client_secret")), form: r.PostForm}
	if id, secret, basic := r.BasicAuth(); basic {
		if c.secret != "" {
			return nil, badRequest("invalid_request", "the client authenticates twice")
		}
		if c.id != "" && c.id != id {
			return nil, badRequest("invalid_request", "client_id is another client than that of the Authorization header")
		}
		c.id, c.secret = id, domain.Secret(secret)
	}
	if c.id == "" || c.secret == "" {
		return nil, &oauthError{http.StatusUnauthorized, "invalid_client", "client_id and client_secret are needed"}
	}
	return c, nil
}

// Refuse answers with the error of RFC 6749 §5.2.
func (o *OAuth) Refuse(w http.ResponseWriter, r *http.Request, err error) {
	refusal, is := errors.AsType[*oauthError](err)
	if !is {
		refusal = o.translate(w, r, err)
	}
	if refusal.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", problem.Basic)
	}
	answer(w, refusal.Status, refusal)
}

// translate counts an exchange that came too often for the audit log.
func (o *OAuth) translate(w http.ResponseWriter, r *http.Request, err error) *oauthError {
	p := problem.Of(err)
	p.SetHeader(w.Header())
	switch status := p.Status(); status {
	case http.StatusUnauthorized:
		return &oauthError{status, "invalid_client", p.Message}
	case http.StatusTooManyRequests:
		id, _, _ := r.BasicAuth()
		o.store.Throttled(domain.OriginOf(r.Context()), id)
		return &oauthError{status, "temporarily_unavailable", p.Message}
	case http.StatusServiceUnavailable:
		return &oauthError{status, "temporarily_unavailable", p.Message}
	}
	o.log.ErrorContext(r.Context(), "token request failed", "error", err)
	return &oauthError{http.StatusInternalServerError, "server_error", "the service failed"}
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Pragma", "no-cache") // RFC 6749 §5.1
	w.WriteHeader(status)
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(body) // the client may be gone
}
