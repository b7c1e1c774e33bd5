// Package upstream takes over the account of another server of the documented API, version
// 4.0.0: it reads it within bounds, stores it here, and compares both.
package upstream

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"simgraph/domain"
	"simgraph/domain/upstream"
	"simgraph/domain/webhook"
)

const (
	// maxAnswer bounds an answer in bytes, after decompression, where a Config says nothing:
	// usage by subscriber of a day has some 60 bytes a subscriber.
	maxAnswer = 256 << 20
	// maxError is what is read of an answer that reports an error.
	maxError = 16 << 10
	// maxReason is what is kept of what the other server says, in bytes.
	maxReason = 300
	// firstPause and longestPause are between attempts that fail; longestWait bounds what
	// Retry-After can ask for.
	firstPause, longestPause, longestWait = 250 * time.Millisecond, 30 * time.Second, 5 * time.Minute
	// earlier is how long before its end a token is replaced, at most.
	earlier = 30 * time.Second
)

// Config are the settings of a Client. Durations and numbers that are zero get the defaults
// that stand beside them.
type Config struct {
	// BaseURL is where the documented paths begin.
	BaseURL string
	Key     upstream.Key
	// Transport makes the requests; http.DefaultTransport where it is nil.
	Transport http.RoundTripper
	// Timeout bounds one request with its answer: 2 min.
	Timeout time.Duration
	// Patience bounds how long one request is tried again: 15 min.
	Patience time.Duration
	// MaxAnswer bounds an answer in bytes, after decompression: 256 MB.
	MaxAnswer int64
	// Now is the clock: time.Now.
	Now func() time.Time
}

// Client reads another server. It is for many goroutines.
type Client struct {
	Config
	http *http.Client
	base *url.URL

	mu sync.Mutex
	// token is valid until expires; renewing has a value while one is being got.
	token    string
	expires  time.Time
	renewing chan struct{}
}

// NewClient returns a client; it follows no redirect, which would lead its token elsewhere.
func NewClient(cfg Config) (*Client, error) {
	base, err := url.Parse(strings.TrimSuffix(cfg.BaseURL, "/"))
	if err != nil || base.Host == "" || base.User != nil || base.RawQuery != "" || base.Fragment != "" || base.Scheme != "https" && base.Scheme != "http" {
		return nil, domain.Invalid("baseUrl", "an address must be written as https://example.com")
	}
	cfg.Timeout, cfg.Patience = cmp.Or(cfg.Timeout, 2*time.Minute), cmp.Or(cfg.Patience, 15*time.Minute)
	cfg.MaxAnswer = cmp.Or(cfg.MaxAnswer, maxAnswer)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Client{
		Config: cfg, base: base, renewing: make(chan struct{}, 1),
		http: &http.Client{Transport: cfg.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}, nil
}

// refusal is an answer that is no success.
type refusal struct {
	status int
	path   string
	reason string
	// wait is what Retry-After asks for; 0 for nothing.
	wait time.Duration
}

// Error implements error.
func (r *refusal) Error() string {
	text := fmt.Sprintf("%s was answered by %d", r.path, r.status)
	if r.reason != "" {
		text += ": " + r.reason
	}
	return text
}

// passes reports whether the same request may succeed later.
func (r *refusal) passes() bool {
	return r.status == http.StatusTooManyRequests || r.status == http.StatusRequestTimeout || r.status >= http.StatusInternalServerError
}

// isAbsent reports whether an error says that the other server does not have the path.
func isAbsent(err error) bool {
	var refused *refusal
	return errors.As(err, &refused) && (refused.status == http.StatusNotFound || refused.status == http.StatusMethodNotAllowed)
}

// isNotFound reports whether an error says that what was asked for is not there.
func isNotFound(err error) bool {
	var refused *refusal
	return errors.As(err, &refused) && refused.status == http.StatusNotFound
}

// isOfAll reports whether an error says nothing of what was asked for: the same comes of all
// other requests.
func isOfAll(err error) bool {
	var refused *refusal
	if !errors.As(err, &refused) {
		return true
	}
	return refused.passes() || refused.status == http.StatusUnauthorized || refused.status == http.StatusForbidden
}

// errMalformed wraps what is wrong with an answer that came whole.
var errMalformed = errors.New("the answer is not what the documented API says")

// Fault is what is wrong with the other server, or with the way to it.
type Fault struct{ cause error }

// Error implements error.
func (f *Fault) Error() string { return f.cause.Error() }

// Unwrap returns the cause.
func (f *Fault) Unwrap() error { return f.cause }

// request is what the other server is asked for. It is repeated after errors that pass, so
// read must begin anew each time, and the same body twice must change nothing.
type request struct {
	method   string
	segments []string
	query    url.Values
	body     []byte
	// read reads the answer; nil for one that does not matter.
	read func(*json.Decoder) error
}

// get asks for a path of segments, and hands the answer to read. Errors are Faults, but for
// the end of ctx.
func (c *Client) get(ctx context.Context, segments []string, query url.Values, read func(*json.Decoder) error) error {
	return c.do(ctx, request{method: http.MethodGet, segments: segments, query: query, read: read})
}

// send changes something. What is to be is said, and not how it changes, so that it may be
// sent again.
func (c *Client) send(ctx context.Context, method string, segments []string, body any) error {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return err
		}
	}
	return c.do(ctx, request{method: method, segments: segments, body: text})
}

func (c *Client) do(ctx context.Context, r request) error {
	err := c.ask(ctx, r)
	if err == nil || ctx.Err() != nil {
		return err
	}
	return &Fault{err}
}

func (c *Client) ask(ctx context.Context, r request) error {
	ends, pause, isRenewed := c.Now().Add(c.Patience), firstPause, false
	for {
		err := c.try(ctx, r)
		if err == nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		wait := pause
		var refused *refusal
		switch isAnswer := errors.As(err, &refused); {
		case isAnswer && refused.status == http.StatusUnauthorized && !isRenewed:
			isRenewed, wait = true, 0
		case errors.Is(err, errMalformed), errors.Is(err, ErrKey), isAnswer && !refused.passes():
			return err
		case isAnswer:
			wait, isRenewed = max(pause, refused.wait), false
		}
		if c.Now().Add(wait).After(ends) {
			return fmt.Errorf("given up after %s: %w", c.Patience, err)
		}
		if err := sleep(ctx, wait); err != nil {
			return err
		}
		pause = min(longestPause, pause*2)
	}
}

// sleep waits somewhat longer than a duration, so that those who wait for the same do not
// come back at once.
func sleep(ctx context.Context, d time.Duration) error {
	if d > 0 {
		d += time.Duration(rand.Int64N(int64(d)/5 + 1)) //nolint:gosec // no secret depends on it
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

func (c *Client) try(ctx context.Context, r request) error {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	token, err := c.currentToken(ctx)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, r.method, c.address(r.segments, r.query), bytes.NewReader(r.body))
	if err != nil {
		return err
	}
	if len(r.body) > 0 {
		request.Header.Set("Content-Type", "application/json")
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "simgraph")
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if isDone := response.StatusCode == http.StatusOK || r.read == nil && response.StatusCode/100 == 2; !isDone {
		if response.StatusCode == http.StatusUnauthorized {
			c.forget(token)
		}
		return c.refused(response)
	}
	if r.read == nil {
		_, err := io.Copy(io.Discard, io.LimitReader(response.Body, maxError)) // the connection is used again
		return err
	}
	return c.readAnswer(response.Body, r.read)
}

func (c *Client) address(segments []string, query url.Values) string {
	to := c.base.String()
	for _, s := range segments {
		to += "/" + url.PathEscape(s)
	}
	if len(query) > 0 {
		to += "?" + strings.ReplaceAll(query.Encode(), "+", "%20") // a plus is a blank in forms alone
	}
	return to
}

// readAnswer distinguishes an answer that broke off, which passes, from one that is wrong.
func (c *Client) readAnswer(body io.Reader, read func(*json.Decoder) error) error {
	bounded := &counted{Reader: io.LimitReader(body, c.MaxAnswer)}
	err := read(json.NewDecoder(bounded))
	switch {
	case bounded.err != nil:
		return bounded.err
	case bounded.bytes >= c.MaxAnswer:
		return fmt.Errorf("%w: it has more than %d bytes", errMalformed, c.MaxAnswer)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF): // it broke off
		return err
	case err != nil:
		return fmt.Errorf("%w: %w", errMalformed, err)
	}
	_, err = io.Copy(io.Discard, bounded) // up to the end: one that breaks off there was no whole answer
	return err
}

// counted keeps the error of the network, which a decoder gives as its own.
type counted struct {
	io.Reader
	bytes int64
	err   error
}

// Read implements io.Reader.
func (c *counted) Read(into []byte) (int, error) {
	n, err := c.Reader.Read(into)
	c.bytes += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}

func (c *Client) refused(response *http.Response) *refusal {
	r := &refusal{status: response.StatusCode, path: response.Request.URL.Path}
	body := struct {
		Error            json.RawMessage `json:"error"`
		ErrorDescription string          `json:"error_description"`
	}{}
	_ = json.NewDecoder(io.LimitReader(response.Body, maxError)).Decode(&body) // the status says enough
	documented := struct{ Message, Code string }{}
	_ = json.Unmarshal(body.Error, &documented)
	r.reason = clip(strings.TrimSpace(documented.Message + body.ErrorDescription))
	r.wait = min(longestWait, webhook.RetryAfter(response.Header.Get("Retry-After"), c.Now()))
	return r
}

// clip makes what a stranger says fit for a line of a log, within a bound in bytes.
func clip(text string) string {
	text = domain.OneLine(text, maxReason)
	if len(text) > maxReason+len("…") {
		text = strings.ToValidUTF8(text[:maxReason], "") + "…"
	}
	return text
}

// currentToken returns a token that lives for a while, a new one where there is none.
func (c *Client) currentToken(ctx context.Context) (string, error) {
	if token, ok := c.known(); ok {
		return token, nil
	}
	select {
	case c.renewing <- struct{}{}:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	defer func() { <-c.renewing }()
	if token, ok := c.known(); ok { // another one has got it meanwhile
		return token, nil
	}
	return c.renew(ctx)
}

func (c *Client) known() (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.token, c.token != "" && c.Now().Before(c.expires)
}

func (c *Client) forget(token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.token == token {
		c.token = ""
	}
}

// ErrKey reports a key that the other server does not accept.
var ErrKey = errors.New("the other server refuses the access key")

// renew gets a token by the client-credentials grant (RFC 6749 §4.4).
func (c *Client) renew(ctx context.Context) (string, error) {
	form := url.Values{"grant_type": {"client_credentials"}}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base.JoinPath("oauth", "token").String(), strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	request.SetBasicAuth(url.QueryEscape(c.Key.ID), url.QueryEscape(string(c.Key.Secret)))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Accept", "application/json")
	response, err := c.http.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		refused := c.refused(response)
		if refused.status == http.StatusUnauthorized || refused.status == http.StatusBadRequest {
			return "", fmt.Errorf("%w: %s", ErrKey, refused.reason)
		}
		return "", refused
	}
	answer := struct {
		AccessToken string  `json:"access_token"`
		ExpiresIn   float64 `json:"expires_in"`
	}{}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxError)).Decode(&answer); err != nil {
		return "", err
	}
	if answer.AccessToken == "" {
		return "", fmt.Errorf("%w: it has no access_token", errMalformed)
	}
	lives := time.Duration(min(answer.ExpiresIn, 24*60*60) * float64(time.Second))
	if lives <= 0 {
		lives = time.Minute // it is replaced when it is refused
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.token, c.expires = answer.AccessToken, c.Now().Add(lives-min(earlier, lives/5))
	return c.token, nil
}
