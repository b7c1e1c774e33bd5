// Package simgraph calls the graph of a simgraph server: typed operations, which genqlient writes from
// operations.graphql and the schema, and lists as iterators over all their pages.
//
// A nil field of an input is left out. An answer may have data and an error at once: fields that failed are
// nil, and the error names them.
package simgraph

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/Khan/genqlient/graphql"
)

// Config is how a Client reaches the server.
type Config struct {
	// URL is the address of the server, such as https://sim.example.
	URL string
	// Key and Secret are an access key. It is exchanged for tokens, which are replaced before they end.
	Key, Secret string
	// Token is an access token, in place of a key.
	Token string
	// HTTP sends the requests; nil stands for one that gives each a minute.
	HTTP *http.Client
}

const (
	// attempts is how often a request is sent that the server puts off.
	attempts = 5
	// longestWait is the longest time that a request is put off.
	longestWait = time.Minute
	// early is how long before its end a token is replaced.
	early = time.Minute
)

// Client sends operations. It is safe for concurrent use.
type Client struct {
	config Config
	graph  graphql.Client

	mu     sync.Mutex
	token  string
	endsAt time.Time
}

var _ graphql.Client = (*Client)(nil)

// New returns a client. It sends nothing yet.
func New(c Config) *Client {
	if c.HTTP == nil {
		c.HTTP = &http.Client{Timeout: time.Minute}
	}
	c.URL = strings.TrimRight(c.URL, "/")
	client := &Client{config: c}
	client.graph = graphql.NewClient(c.URL+"/graphql", authorized{client})
	return client
}

// MakeRequest implements graphql.Client. The functions of the operations call it.
func (c *Client) MakeRequest(ctx context.Context, r *graphql.Request, answer *graphql.Response) error {
	variables, err := withoutNull(r.Variables)
	if err != nil {
		return err
	}
	sent := *r
	sent.Variables = variables
	return c.graph.MakeRequest(ctx, &sent, answer)
}

// withoutNull are variables without the fields that are nil: an input of which one field counts must not have
// the others.
func withoutNull(variables any) (any, error) {
	text, err := json.Marshal(variables)
	if err != nil {
		return nil, err
	}
	var read any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&read); err != nil {
		return nil, err
	}
	return pruned(read), nil
}

func pruned(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, of := range value {
			if of == nil {
				delete(value, name)
			} else {
				value[name] = pruned(of)
			}
		}
	case []any:
		for i, of := range value {
			value[i] = pruned(of)
		}
	}
	return value
}

// authorized sends requests with a token.
type authorized struct{ *Client }

// Do implements graphql.Doer.
func (a authorized) Do(r *http.Request) (*http.Response, error) {
	r.Header.Set("Accept", "application/graphql-response+json")
	for renewed := false; ; renewed = true {
		token, err := a.currentToken(r.Context())
		if err != nil {
			return nil, err
		}
		r.Header.Set("Authorization", "Bearer "+token)
		answer, err := a.patient(r)
		if err != nil || answer.StatusCode != http.StatusUnauthorized || renewed || a.config.Token != "" {
			return answer, err
		}
		discard(answer)
		a.forget(token)
	}
}

// patient sends a request, and again as long as the server puts it off: it does so before anything has run, so
// mutations are sent again, too.
func (c *Client) patient(r *http.Request) (*http.Response, error) {
	for attempt := 1; ; attempt++ {
		again := r.Clone(r.Context())
		body, err := r.GetBody()
		if err != nil {
			return nil, err
		}
		again.Body = body
		answer, err := c.config.HTTP.Do(again)
		if err != nil {
			return nil, err
		}
		wait, isPutOff := retryAfter(answer)
		if !isPutOff || attempt == attempts {
			return answer, nil
		}
		discard(answer)
		select {
		case <-time.After(wait):
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
}

// retryAfter is for how long an answer puts a request off; false for an answer that does not, or for too long.
func retryAfter(answer *http.Response) (wait time.Duration, isPutOff bool) {
	seconds, err := strconv.Atoi(answer.Header.Get("Retry-After"))
	wait = time.Duration(seconds) * time.Second
	return wait, err == nil && wait >= 0 && wait <= longestWait
}

// discard lets the connection of an answer be used again.
func discard(answer *http.Response) {
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10))
	_ = answer.Body.Close()
}

// currentToken is the token that was given, or one that the key was exchanged for.
func (c *Client) currentToken(ctx context.Context) (string, error) {
	if c.config.Token != "" {
		return c.config.Token, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.token != "" && time.Until(c.endsAt) > early {
		return c.token, nil
	}
	form := url.Values{"grant_type": {"client_credentials"}}.Encode()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.config.URL+"/oauth/token", strings.NewReader(form))
	if err != nil {
		return "", err
	}
	r.SetBasicAuth(c.config.Key, c.config.Secret)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := c.patient(r)
	if err != nil {
		return "", err
	}
	defer discard(answer)
	var granted struct {
		Token   string `json:"access_token"`
		Seconds int    `json:"expires_in"`
		Error   string `json:"error"`
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, 64<<10)).Decode(&granted); err != nil || granted.Token == "" {
		return "", fmt.Errorf("the access key was exchanged for no token: %s %s", answer.Status, granted.Error)
	}
	c.token, c.endsAt = granted.Token, time.Now().Add(time.Duration(granted.Seconds)*time.Second)
	return c.token, nil
}

// forget drops a token that the server refused, unless another has taken its place.
func (c *Client) forget(token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.token == token {
		c.token = ""
	}
}
