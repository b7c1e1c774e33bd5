package rest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"simgraph/db/bundle"
	"simgraph/db/companies"
	"simgraph/db/dbtest"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

// get asks for a path with a token.
func get(t *testing.T, h http.Handler, path, token string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Header.Set("Authorization", "Bearer "+token)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestAllGroupsAreListed(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	server := newServer(t, pool, nil)
	company, err := companies.New(pool).FindExternal(t.Context(), "acme")
	fatal.If(t, err)
	var groups []*domain.Group
	for id := range int64(300) {
		groups = append(groups, &domain.Group{GroupID: 1000 + id, Name: fmt.Sprint("group ", id)})
	}
	if _, err := bundle.NewImporter(pool).Groups(t.Context(), domain.Whole(company.CompanyID), groups); err != nil {
		t.Fatal(err)
	}
	w := get(t, server, "/subscriber-groups", tokens(t, pool)["admin"])
	var answer struct{ Content []struct{ ID int64 } }
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		t.Fatal(err, w.Body)
	}
	if len(answer.Content) != 302 || w.Header().Get("X-Total-Count") != "302" {
		t.Fatalf("%d groups of %s", len(answer.Content), w.Header().Get("X-Total-Count"))
	}
	for i := 1; i < len(answer.Content); i++ {
		if answer.Content[i].ID <= answer.Content[i-1].ID {
			t.Fatalf("group %d comes after %d", answer.Content[i].ID, answer.Content[i-1].ID)
		}
	}
}

func TestADatabaseThatDoesNotAnswerIsUnavailable(t *testing.T) {
	t.Parallel()
	pool, err := pg.Open(t.Context(), dbtest.URL(t), pg.Options{StatementTimeout: 2 * time.Second})
	fatal.If(t, err)
	defer pool.Close()
	server, known := newServer(t, pool, nil), tokens(t, pool)
	if w := get(t, server, "/tags", known["admin"]); w.Code != http.StatusOK {
		t.Fatal(w)
	}
	held := pool.MustBegin()
	defer func() { _ = held.Rollback() }()
	held.MustExecContext(t.Context(), `LOCK TABLE subscriber_tags, access_tokens`)
	// The gate remembers admin, so that it is the graph that waits.
	for _, user := range []string{"admin", "reader"} {
		w := get(t, server, "/tags", known[user])
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || code(t, w) != "UNAVAILABLE" {
			t.Errorf("%s got %d %v %s", user, w.Code, w.Header(), w.Body)
		}
	}
}

func TestAnInternalErrorIsMasked(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	server, token := newServer(t, pool, nil), tokens(t, pool)["admin"]
	pool.MustExecContext(t.Context(), `ALTER TABLE subscriber_tags RENAME TO subscriber_tags_gone`)
	w := get(t, server, "/tags", token)
	if w.Code != http.StatusInternalServerError || code(t, w) != "INTERNAL_ERROR" || strings.Contains(w.Body.String(), "subscriber_tags") {
		t.Fatalf("got %d %s", w.Code, w.Body)
	}
}

func TestAThrottledCallerIsToldWhenToComeBack(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	server := newServer(t, pool, func(context.Context, int) error {
		return &domain.Error{Kind: domain.KindRateLimited, RetryAfter: 3 * time.Second}
	})
	w := get(t, server, "/tags", tokens(t, pool)["admin"])
	if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "3" || code(t, w) != "RATE_LIMITED" {
		t.Fatalf("got %d %v %s", w.Code, w.Header(), w.Body)
	}
}

// net/http answers these before any handler.
func TestAMalformedPathIsABadRequest(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	server := httptest.NewServer(newServer(t, pool, nil))
	defer server.Close()
	c := client{t: t, address: server.Listener.Addr().String(), tokens: tokens(t, pool), pool: pool}
	for _, path := range []string{"/subscribers/%zz", "/50%/subscribers", "/subscribers/%"} {
		response, _ := c.send(exchange{as: "admin", request: []string{"GET " + path}})
		if response.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: got %s", path, response.Status)
		}
	}
}

func code(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	var body struct{ Error struct{ Code string } }
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
		t.Errorf("%v: %s", err, w.Body)
	}
	return body.Error.Code
}

func newRecorder(h http.HandlerFunc, method string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h(w, httptest.NewRequest(method, "/openapi.json", nil))
	return w
}
