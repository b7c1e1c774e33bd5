//go:build linux

package faults_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"simgraph/internal/fatal"
)

// caller calls simgraph as applications do, and holds every answer to the
// contract: a success, or an error with a documented code that reveals nothing
// of what lies behind the service.
type caller struct {
	http  *http.Client
	base  atomic.Pointer[string]
	token atomic.Pointer[string]
	// key is what tokens are issued for.
	key accessKey
	// mayCut is true when connections may break: the service is killed, or the
	// network in front of it fails.
	mayCut bool
	// expires is true when tokens expire: a clock jumps.
	expires bool

	mu sync.Mutex
	// codes counts answers by "ok", the code of a typed error, or "cut".
	codes map[string]int
	// wrong are answers that break the contract.
	wrong []string
}

// outcome is how a request ended.
type outcome int

const (
	done    outcome = iota
	refused         // by a typed error that can be retried
	broken          // the connection, or the contract
)

// newCaller is one of the prepared company.
func newCaller(t *testing.T, base string) *caller {
	t.Helper()
	if _, err := prepared(); err != nil {
		t.Fatal(err)
	}
	return newCallerBy(t, base, preparation.key)
}

func newCallerBy(t *testing.T, base string, key accessKey) *caller {
	t.Helper()
	c := &caller{http: client(t), key: key, codes: map[string]int{}}
	c.http.Timeout = 40 * time.Second
	c.aim(base)
	c.authenticate(t)
	return c
}

// aim sends what follows to another address.
func (c *caller) aim(base string) { c.base.Store(&base) }

// authenticate exchanges the access key for the token of what follows.
func (c *caller) authenticate(t *testing.T) {
	t.Helper()
	token := c.grant(t)
	c.token.Store(&token)
}

// grant exchanges the access key for a token.
func (c *caller) grant(t *testing.T) string {
	t.Helper()
	token, err := c.exchange()
	if err != nil {
		t.Fatalf("no token: %v", err)
	}
	return token
}

func (c *caller) exchange() (string, error) {
	var grant struct {
		AccessToken string `json:"access_token"`
	}
	err := c.form("/oauth/token", url.Values{"grant_type": {"client_credentials"}}, &grant)
	return grant.AccessToken, err
}

// revoke ends a token.
func (c *caller) revoke(t *testing.T, token string) {
	t.Helper()
	var answer any
	fatal.If(t, c.form("/oauth/revoke", url.Values{"token": {token}}, &answer))
}

// form sends a form with the access key.
func (c *caller) form(path string, values url.Values, into any) error {
	values.Set("client_id", c.key.AccessKeyID)
	values.Set("client_secret", c.key.Secret)
	response, err := c.http.PostForm(*c.base.Load()+path, values)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", path, response.Status)
	}
	return json.NewDecoder(response.Body).Decode(into)
}

// renew gets another token where this one has expired, as applications do.
func (c *caller) renew(code string) bool {
	if !c.expires || code != "INVALID_TOKEN" {
		return false
	}
	if token, err := c.exchange(); err == nil {
		c.token.Store(&token)
	}
	c.count("expired")
	return true
}

func (c *caller) count(code string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.codes[code]++
}

// counted is how many requests ended that way.
func (c *caller) counted(code string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.codes[code]
}

func (c *caller) breaks(format string, args ...any) outcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.codes["wrong"]++
	if len(c.wrong) < 20 {
		c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
	}
	return broken
}

// cut notes a connection that broke.
func (c *caller) cut(what string, err error) outcome {
	if !c.mayCut {
		return c.breaks("%s: the connection broke: %v", what, err)
	}
	c.count("cut")
	return broken
}

// send sends a request and returns its answer whole; nil when the connection
// broke before its end, with what came.
func (c *caller) send(ctx context.Context, method, path, media string, body []byte) (*http.Response, []byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, *c.base.Load()+path, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	r.Header.Set("Authorization", "Bearer "+*c.token.Load())
	if media != "" {
		r.Header.Set("Content-Type", media)
	}
	response, err := c.http.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response, text, err
}

// problem is an error of the REST paths.
type problem struct {
	Error *struct{ Message, Code, RequestID string }
}

// get requests a REST path and decodes its answer.
func (c *caller) get(ctx context.Context, path string, into any) outcome {
	response, text, err := c.send(ctx, http.MethodGet, path, "", nil)
	if err != nil {
		return c.cut("GET "+path, err)
	}
	if response.StatusCode != http.StatusOK {
		return c.refusal("GET "+path, response, text)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return c.breaks("GET %s: %v: %.200s", path, err, text)
	}
	c.count("ok")
	return done
}

// refusal judges an error of the REST paths.
func (c *caller) refusal(what string, response *http.Response, text []byte) outcome {
	var p problem
	if err := json.Unmarshal(text, &p); err != nil || p.Error == nil {
		return c.breaks("%s: %s with the body %.300s", what, response.Status, text)
	}
	if c.renew(p.Error.Code) {
		return refused
	}
	if response.StatusCode != http.StatusServiceUnavailable && response.StatusCode != http.StatusTooManyRequests {
		return c.breaks("%s: %s %.300s", what, response.Status, text)
	}
	if response.Header.Get("Retry-After") == "" {
		return c.breaks("%s: %s without Retry-After", what, response.Status)
	}
	return c.typed(what, p.Error.Code, p.Error.Message)
}

// passing are the codes of errors that another attempt may not meet.
var passing = map[string]bool{"UNAVAILABLE": true, "RATE_LIMITED": true, "THROTTLED": true}

// secrets are what no caller must read: words of drivers, systems and SQL.
var secrets = regexp.MustCompile(`(?i)pq:|sql:|sqlstate|driver|dial|tcp|socket|refused|reset by|broken pipe|EOF|deadline|context|goroutine|postgres|disk|/tmp|/dev|relation|SELECT `)

// typed judges the code and the text of an error.
func (c *caller) typed(what, code, message string) outcome {
	if c.renew(code) {
		return refused
	}
	if !passing[code] {
		return c.breaks("%s: the error %s: %s", what, code, message)
	}
	if secrets.MatchString(message) {
		return c.breaks("%s: the error reveals too much: %s", what, message)
	}
	c.count(code)
	return refused
}

// graph runs an operation and decodes its data.
func (c *caller) graph(ctx context.Context, query string, variables map[string]any, into any) outcome {
	body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	if err != nil {
		return c.breaks("%v", err)
	}
	response, text, err := c.send(ctx, http.MethodPost, "/graphql", "application/json", body)
	if err != nil {
		return c.cut(query, err)
	}
	var answer struct {
		Data   json.RawMessage
		Errors []struct {
			Message    string
			Extensions struct{ Code string }
		}
		Error json.RawMessage
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return c.breaks("%.60s: %s with the body %.300s", query, response.Status, text)
	}
	if answer.Error != nil {
		return c.refusal(query, response, text)
	}
	if len(answer.Errors) > 0 {
		result := refused
		for _, e := range answer.Errors {
			result = max(result, c.typed(query, e.Extensions.Code, e.Message))
		}
		return result
	}
	if err := json.Unmarshal(answer.Data, into); err != nil {
		return c.breaks("%.60s: %v: %.300s", query, err, text)
	}
	c.count("ok")
	return done
}

// lines sends an NDJSON stream and calls each with the lines of its answer.
func (c *caller) lines(ctx context.Context, body []byte, each func(line int, status, reason string)) outcome {
	response, text, err := c.send(ctx, http.MethodPost, "/usage/records", "application/x-ndjson", body)
	if response == nil {
		return c.cut("POST /usage/records", err)
	}
	if response.StatusCode != http.StatusOK {
		return c.refusal("POST /usage/records", response, text)
	}
	for line := range strings.Lines(string(text)) {
		var answer struct {
			Line           int
			Status, Reason string
			Error          *struct{ Code, Message string }
		}
		switch failed := json.Unmarshal([]byte(line), &answer); {
		case failed != nil && err == nil:
			return c.breaks("POST /usage/records: the line %.200q", line)
		case failed != nil:
			return c.cut("POST /usage/records", err)
		case answer.Error != nil:
			return c.typed("POST /usage/records", answer.Error.Code, answer.Error.Message)
		}
		each(answer.Line, answer.Status, answer.Reason)
	}
	if err != nil {
		return c.cut("POST /usage/records", err)
	}
	c.count("ok")
	return done
}
