package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"simgraph/domain/upstream"
)

// other is a server whose answers to paths the test gives; it counts the tokens that it made.
type other struct {
	tokens atomic.Int64
	lives  int
	answer http.HandlerFunc
}

// ServeHTTP implements http.Handler.
func (o *other) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/api/oauth/token" {
		if id, secret, _ := r.BasicAuth(); id != "key" || secret != "s%2Fcret" || r.PostFormValue("grant_type") != "client_credentials" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = fmt.Fprintf(w, `{"access_token":"t%d","expires_in":%d}`, o.tokens.Add(1), o.lives)
		return
	}
	o.answer(w, r)
}

func newClient(t *testing.T, o *other, clock *atomic.Int64) *Client {
	t.Helper()
	server := httptest.NewServer(o)
	t.Cleanup(server.Close)
	key, err := upstream.ParseKey("key:s/cret\n")
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{BaseURL: server.URL + "/api/", Key: key, Patience: 5 * time.Second}
	if clock != nil {
		cfg.Now = func() time.Time { return time.Unix(clock.Load(), 0) }
	}
	c, err := NewClient(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func askOnce(ctx context.Context, c *Client) error {
	_, err := listOf[reference](ctx, c, []string{"a/b ü", "subscribers"}, url.Values{"x": {"1 + 2"}})
	return err
}

func TestATokenIsReplacedBeforeItEnds(t *testing.T) {
	t.Parallel()
	clock := &atomic.Int64{}
	clock.Store(1_000_000)
	var seen []string
	o := &other{lives: 300, answer: func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Get("Authorization")+" "+r.RequestURI)
		_, _ = w.Write([]byte(`{"content":[]}`))
	}}
	c := newClient(t, o, clock)
	for _, later := range []int64{0, 200, 80} {
		clock.Add(later)
		if err := askOnce(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	const path = " /api/a%2Fb%20%C3%BC/subscribers?x=1%20%2B%202"
	if want := []string{"Bearer t1" + path, "Bearer t1" + path, "Bearer t2" + path}; !slices.Equal(seen, want) {
		t.Error(seen)
	}
}

func TestARefusedTokenIsReplacedOnce(t *testing.T) {
	t.Parallel()
	o := &other{lives: 300, answer: func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer t1" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = w.Write([]byte(`{"content":[]}`))
	}}
	if err := askOnce(t.Context(), newClient(t, o, nil)); err != nil {
		t.Error(err)
	}
	o.answer = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }
	if err := askOnce(t.Context(), newClient(t, o, nil)); err == nil || o.tokens.Load() != 4 {
		t.Error(err, o.tokens.Load())
	}
}

func TestAnswersThatPassAreAskedForAgain(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	began := time.Now()
	o := &other{lives: 300, answer: func(w http.ResponseWriter, _ *http.Request) {
		switch requests.Add(1) {
		case 1:
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
		case 2:
			w.WriteHeader(http.StatusBadGateway)
		case 3:
			_, _ = w.Write([]byte(`{"content":[{"physicalId":"8`))
		default:
			_, _ = w.Write([]byte(`{"content":[]}`))
		}
	}}
	if err := askOnce(t.Context(), newClient(t, o, nil)); err != nil || requests.Load() != 4 || time.Since(began) < time.Second {
		t.Error(err, requests.Load(), time.Since(began))
	}
}

func TestWhatDoesNotPassIsReported(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"error":{"message":"this needs the permission \"View Subscriber\"","code":"FORBIDDEN"}}`: "this needs the permission",
		`nothing of use`: "was answered by 403",
	} {
		o := &other{lives: 300, answer: func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte(body))
		}}
		if err := askOnce(t.Context(), newClient(t, o, nil)); err == nil || !strings.Contains(err.Error(), want) {
			t.Error(err)
		}
	}
	o := &other{lives: 300, answer: func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"content":[{"physicalId":5}]}`)) }}
	if err := askOnce(t.Context(), newClient(t, o, nil)); !errors.Is(err, errMalformed) {
		t.Error(err)
	}
	o.answer = func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://elsewhere.example/", http.StatusFound)
	}
	if err := askOnce(t.Context(), newClient(t, o, nil)); err == nil || !strings.Contains(err.Error(), "302") {
		t.Error(err)
	}
}

// A list of 350 items loses some of those that were read already, and of those that a page
// ends with, between two pages. Every item that stays is read.
func TestAListThatChangesIsReadWhole(t *testing.T) {
	t.Parallel()
	var all []string
	for n := range 350 {
		all = append(all, strconv.Itoa(n))
	}
	pages := 0
	o := &other{lives: 300, answer: func(w http.ResponseWriter, r *http.Request) {
		offset, _ := strconv.Atoi(r.URL.Query().Get("offset"))
		limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
		part := all[min(offset, len(all)):min(offset+limit, len(all))]
		content := []map[string]string{}
		for _, id := range part {
			content = append(content, map[string]string{"physicalId": id})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"content": content})
		switch pages++; pages {
		case 1: // five that were read
			all = slices.Delete(all, 10, 15)
		case 2: // all that this page has
			all = slices.Delete(all, 0, 190)
		}
	}}
	seen := map[string]bool{}
	err := each(t.Context(), newClient(t, o, nil), []string{"t", "subscribers"}, "", func(page []reference) error {
		for _, r := range page {
			seen[r.PhysicalID] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range all {
		if !seen[id] {
			t.Errorf("%s was not read", id)
		}
	}
}

// A list that lost most of what was read before goes on after the last items that were.
func TestAListGoesOnFromAPlace(t *testing.T) {
	t.Parallel()
	var all []string
	for n := range 350 {
		all = append(all, strconv.Itoa(n))
	}
	o := &other{lives: 300, answer: func(w http.ResponseWriter, r *http.Request) {
		offset, _ := strconv.Atoi(r.URL.Query().Get("offset"))
		limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
		content := []map[string]string{}
		for _, id := range all[min(offset, len(all)):min(offset+limit, len(all))] {
			content = append(content, map[string]string{"physicalId": id})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"content": content})
	}}
	errStop := errors.New("enough")
	var place upstream.Place
	var read []string
	again := func(page []reference, _, next upstream.Place) error {
		for _, r := range page {
			read = append(read, r.PhysicalID)
		}
		place = next
		if len(read) < 250 {
			return errStop
		}
		return nil
	}
	c := newClient(t, o, nil)
	for range 2 {
		if err := from(t.Context(), c, []string{"t", "subscribers"}, "", place, again); !errors.Is(err, errStop) {
			t.Fatal(err)
		}
	}
	if place.Offset != 198 || len(place.Tail) != 10 || place.Tail[9] != "198" {
		t.Errorf("%+v", place)
	}
	all = slices.Concat(all[:3], all[192:])
	for range 2 {
		if err := from(t.Context(), c, []string{"t", "subscribers"}, "", place, again); err != nil && !errors.Is(err, errStop) {
			t.Fatal(err)
		}
	}
	for i, id := range read {
		if id != strconv.Itoa(i) {
			t.Fatalf("%s was read as number %d", id, i)
		}
	}
	if len(read) != 350 {
		t.Errorf("%d were read", len(read))
	}
}

func TestUsageBySubscriberIsReadAsAStream(t *testing.T) {
	t.Parallel()
	body := `{"content":{"totalDataUsage":30,"subscriberDataUsage":{"4477":{"2026-11-20T10:00:00+00:00":"10"},"4478":{"2026-11-20T10:00:00+00:00":20}}},"more":[1]}`
	o := &other{lives: 300, answer: func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }}
	day := span{time.Unix(0, 0), time.Unix(86400, 0)}
	of, err := newClient(t, o, nil).bySubscriber(t.Context(), day)
	if err != nil || len(of) != 2 || of["4477"] != 10 || of["4478"] != 20 {
		t.Error(of, err)
	}
	for _, wrong := range []string{`[]`, `{"content":[]}`, `{"content":{"subscriberDataUsage":{"4477":{"x":"-5"}}}}`, `{"content":{"subscriberDataUsage":{"4477":5}}}`} {
		body = wrong
		if of, err := newClient(t, o, nil).bySubscriber(t.Context(), day); !errors.Is(err, errMalformed) {
			t.Error(wrong, of, err)
		}
	}
}
