// Package issuer talks to issuers of signed tokens: OpenID providers, and others that
// publish their keys by OpenID Connect Discovery. It finds their endpoints and keys,
// checks what they have signed, and signs people in by the code flow.
//
// Errors are those of the domain: Unavailable where the issuer does not answer,
// InvalidToken for what it has not signed or not for this service, Forbidden where it
// refuses a person.
package issuer

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"simgraph/domain"
)

const (
	// answerTime bounds a request to an issuer.
	answerTime = 10 * time.Second
	// maxAnswer bounds what an issuer answers, in bytes.
	maxAnswer = 1 << 20
	// metadataFor is how long the metadata of an issuer is believed.
	metadataFor = time.Hour
)

// Issuer is who signs tokens.
type Issuer struct {
	url      string
	http     *http.Client
	now      func() time.Time
	metadata *cached[*Metadata]
	keys     *cached[*keySet]
}

// Metadata are the endpoints of an issuer as its discovery document has them.
type Metadata struct {
	AuthURL, TokenURL, UserInfoURL, KeysURL string

	provider *oidc.Provider
	// namesItself is whether answers at the callback name the issuer (RFC 9207).
	namesItself bool
	// secretInForm is whether the token endpoint takes no HTTP Basic.
	secretInForm bool
}

// Options are for tests; the zero value is right elsewhere.
type Options struct {
	// Now is the clock.
	Now func() time.Time
}

// New returns the issuer whose tokens have that `iss`. Nothing is requested yet. The
// address is of TLS, or of this machine.
func New(address string, options Options) (*Issuer, error) {
	at, err := url.Parse(address)
	if err != nil || at.Host == "" || at.RawQuery != "" || at.Fragment != "" || at.User != nil {
		return nil, fmt.Errorf("%q is not the address of an issuer", address)
	}
	if !encrypted(at) {
		return nil, fmt.Errorf("the issuer %q must be https://, unless it is of this machine", address)
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	i := &Issuer{url: address, http: newHTTPClient(), now: options.Now}
	i.metadata = newCached(i.now, metadataFor, i.discover)
	i.keys = newCached(i.now, keysFor, i.readKeys)
	return i, nil
}

// URL is the `iss` of the issuer's tokens.
func (i *Issuer) URL() string { return i.url }

// Metadata returns the endpoints of the issuer.
func (i *Issuer) Metadata(ctx context.Context) (*Metadata, error) {
	return i.metadata.get(ctx, func(*Metadata) bool { return true })
}

func (i *Issuer) discover(ctx context.Context) (*Metadata, error) {
	provider, err := oidc.NewProvider(i.with(ctx), i.url)
	if err != nil {
		return nil, err
	}
	var document struct {
		JWKSURI string   `json:"jwks_uri"`
		Named   bool     `json:"authorization_response_iss_parameter_supported"`
		Methods []string `json:"token_endpoint_auth_methods_supported"`
	}
	if err := provider.Claims(&document); err != nil {
		return nil, err
	}
	endpoint := provider.Endpoint()
	m := &Metadata{
		AuthURL: endpoint.AuthURL, TokenURL: endpoint.TokenURL, UserInfoURL: provider.UserInfoEndpoint(), KeysURL: document.JWKSURI,
		provider: provider, namesItself: document.Named, secretInForm: secretInForm(document.Methods),
	}
	if m.KeysURL == "" {
		return nil, errors.New("the metadata names no keys")
	}
	for _, text := range []string{m.AuthURL, m.TokenURL, m.UserInfoURL, m.KeysURL} {
		if at, err := url.Parse(text); text != "" && (err != nil || !encrypted(at)) {
			return nil, fmt.Errorf("the metadata has the address %q, which is not https://", text)
		}
	}
	return m, nil
}

// secretInForm is false where the issuer does not say what it takes: it takes HTTP
// Basic then (OpenID Connect Discovery §3).
func secretInForm(methods []string) bool {
	form := false
	for _, method := range methods {
		if method == "client_secret_basic" {
			return false
		}
		form = form || method == "client_secret_post"
	}
	return form
}

// encrypted reports whether nobody on the way reads or changes what is requested.
func encrypted(at *url.URL) bool {
	if at.Scheme == "http" {
		ip := net.ParseIP(at.Hostname())
		return at.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	}
	return at.Scheme == "https" && at.Host != ""
}

// with has the libraries use the bounded client.
func (i *Issuer) with(ctx context.Context) context.Context { return oidc.ClientContext(ctx, i.http) }

func newHTTPClient() *http.Client {
	return &http.Client{Timeout: answerTime, Transport: bounded{http.DefaultTransport}, CheckRedirect: sameHost}
}

const maxRedirects = 3

// sameHost keeps secrets and checks with the host that was named.
func sameHost(r *http.Request, via []*http.Request) error {
	first := via[0].URL
	if r.URL.Host != first.Host || r.URL.Scheme != first.Scheme || len(via) > maxRedirects {
		return fmt.Errorf("%s redirects to %s", first.Host, r.URL.Host)
	}
	return nil
}

// bounded refuses to read more than maxAnswer, and documents of another status than
// success: the library has only a text for those.
type bounded struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if r.Method == http.MethodGet && answer.StatusCode >= http.StatusBadRequest {
		return nil, errors.Join(&statusError{answer.StatusCode}, answer.Body.Close())
	}
	answer.Body = http.MaxBytesReader(nil, answer.Body, maxAnswer)
	return answer, nil
}

// silent is the error of an issuer that does not answer, or not as it should.
func (i *Issuer) silent(err error) error {
	status := statusOf(err)
	_, unreached := errors.AsType[*url.Error](err)
	switch {
	case status >= http.StatusBadRequest && status < http.StatusInternalServerError:
		return i.failed(err, "refuses the request: %d %s", status, http.StatusText(status))
	case status >= http.StatusInternalServerError || unreached || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled):
		return i.failed(err, "does not answer, try again")
	}
	return i.failed(err, "does not answer as it should")
}

// failed is Unavailable with what the issuer does.
func (i *Issuer) failed(err error, does string, args ...any) error {
	fault := domain.Unavailable(err)
	fault.Message = "the sign-in provider " + i.host() + " " + fmt.Sprintf(does, args...)
	return fault
}

// statusOf is the status of the answer that an error is about; 0 for others.
func statusOf(err error) int {
	if answer, is := errors.AsType[*oauth2.RetrieveError](err); is {
		return answer.Response.StatusCode
	}
	if answer, is := errors.AsType[*statusError](err); is {
		return answer.status
	}
	return 0
}

// statusError is an answer that is no document.
type statusError struct{ status int }

// Error implements error.
func (e *statusError) Error() string {
	return fmt.Sprintf("the answer is %d %s", e.status, http.StatusText(e.status))
}

func (i *Issuer) host() string {
	_, rest, _ := strings.Cut(i.url, "://")
	host, _, _ := strings.Cut(rest, "/")
	return host
}

func refused(format string, args ...any) error {
	return &domain.Error{Kind: domain.KindInvalidToken, Message: fmt.Sprintf(format, args...)}
}
