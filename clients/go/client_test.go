package simgraph

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// answers serves the graph by the function, and tokens that are numbered.
func answers(t *testing.T, graph http.HandlerFunc) (c *Client, tokens *int) {
	t.Helper()
	tokens = new(int)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /oauth/token", func(w http.ResponseWriter, r *http.Request) {
		if key, secret, _ := r.BasicAuth(); key != "key" || secret != "secret" {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"error": "invalid_client"}`)
			return
		}
		*tokens++
		fmt.Fprintf(w, `{"access_token": "token %d", "expires_in": 3600}`, *tokens)
	})
	mux.HandleFunc("POST /graphql", graph)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return New(Config{URL: server.URL + "/", Key: "key", Secret: "secret"}), tokens
}

func TestARequestThatIsPutOffIsSentAgain(t *testing.T) {
	var bodies []string
	c, _ := answers(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if bodies = append(bodies, string(body)); len(bodies) < 3 {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader([]int{http.StatusTooManyRequests, http.StatusServiceUnavailable}[len(bodies)-1])
			return
		}
		fmt.Fprint(w, `{"data": {"attachTag": {"attached": 2}}}`)
	})
	answer, err := AttachTag(t.Context(), c, AttachTagInput{TagName: "fleet", PhysicalIds: []string{"1", "2"}})
	if err != nil || answer.AttachTag.Attached != 2 || len(bodies) != 3 || bodies[0] != bodies[2] {
		t.Errorf("%+v, %v after %q", answer, err, bodies)
	}
}

func TestWaitingEnds(t *testing.T) {
	sent, after := 0, "0"
	c, _ := answers(t, func(w http.ResponseWriter, _ *http.Request) {
		sent++
		w.Header().Set("Retry-After", after)
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, `{"errors": [{"message": "later"}]}`)
	})
	if _, err := ReadViewer(t.Context(), c); err == nil || !strings.Contains(err.Error(), "later") || sent != attempts {
		t.Errorf("%v after %d requests", err, sent)
	}
	sent, after = 0, "3600"
	if _, err := ReadViewer(t.Context(), c); err == nil || sent != 1 {
		t.Errorf("an hour: %v after %d requests", err, sent)
	}
	after = "30"
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := ReadViewer(ctx, c); err == nil || ctx.Err() == nil {
		t.Errorf("a context that ends: %v", err)
	}
}

func TestATokenThatIsRefusedIsReplacedOnce(t *testing.T) {
	good, sent := "Bearer token 2", 0
	c, tokens := answers(t, func(w http.ResponseWriter, r *http.Request) {
		if sent++; r.Header.Get("Authorization") != good {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, `{"data": {"viewer": {"email": "ops@acme.example"}}}`)
	})
	for range 2 {
		if answer, err := ReadViewer(t.Context(), c); err != nil || answer.Viewer.Email != "ops@acme.example" {
			t.Fatal(err)
		}
	}
	if *tokens != 2 || sent != 3 {
		t.Errorf("%d tokens, %d requests", *tokens, sent)
	}
	good = "none"
	if _, err := ReadViewer(t.Context(), c); err == nil || *tokens != 3 {
		t.Errorf("%v after %d tokens", err, *tokens)
	}
	c.config.Secret, c.token = "wrong", ""
	if _, err := ReadViewer(t.Context(), c); err == nil || !strings.Contains(err.Error(), "invalid_client") {
		t.Errorf("a wrong secret: %v", err)
	}
}

func TestAListGoesOnPageByPage(t *testing.T) {
	var asked []string
	c, _ := answers(t, func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Variables json.RawMessage }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		switch asked = append(asked, string(body.Variables)); len(asked) {
		case 1:
			fmt.Fprint(w, `{"data": {"tags": {"nodes": [{"name": "a"}, {"name": "b"}], "pageInfo": {"hasNextPage": true, "endCursor": "B"}}}}`)
		case 2:
			fmt.Fprint(w, `{"data": {"tags": {"nodes": [{"name": "c"}], "pageInfo": {"hasNextPage": true, "endCursor": "C"}}}}`)
		default:
			fmt.Fprint(w, `{"data": {"tags": null}, "errors": [{"message": "failed"}]}`)
		}
	})
	names := ""
	for tag, err := range Tags(t.Context(), c, &TagFilter{Name: &StringFilter{In: []string{"a", "b", "c"}}}) {
		if names += tag.Name; err != nil {
			names += "!"
		}
	}
	if names != "abc!" || len(asked) != 3 || asked[0] != `{"filter":{"name":{"in":["a","b","c"]}},"first":100}` || !strings.Contains(asked[1], `"after":"B"`) {
		t.Errorf("%s by %q", names, asked)
	}
	asked = nil
	for range Tags(t.Context(), c, nil) {
		break
	}
	if len(asked) != 1 {
		t.Errorf("%d pages for one tag", len(asked))
	}
}
