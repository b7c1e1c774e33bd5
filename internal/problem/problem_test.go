package problem_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"simgraph/domain"
	"simgraph/internal/access"
	"simgraph/internal/httpd"
	"simgraph/internal/ingest"
	"simgraph/internal/problem"
	"simgraph/mcp"
	"simgraph/rest"
	"simgraph/scrape"
)

// presented is what a kind of error looks like to HTTP callers.
var presented = map[domain.ErrorKind]struct {
	status                int
	retryAfter, challenge string
}{
	domain.KindInvalid:      {400, "", ""},
	domain.KindNotFound:     {404, "", ""},
	domain.KindUnauthorized: {401, "", `Bearer realm="simgraph"`},
	domain.KindInvalidToken: {401, "", `Bearer realm="simgraph", error="invalid_token"`},
	domain.KindForbidden:    {403, "", `Bearer realm="simgraph", error="insufficient_scope", scope="VIEW_SUBSCRIBER RECORD_USAGE"`},
	domain.KindRateLimited:  {429, "3", ""},
	domain.KindUnavailable:  {503, "3", ""},
}

func fault(kind domain.ErrorKind) error {
	return fmt.Errorf("wrapped: %w", &domain.Error{Kind: kind, Message: "no", Field: "limit", RetryAfter: 2500 * time.Millisecond})
}

func TestEachKindHasOneStatusAndItsHeaders(t *testing.T) {
	t.Parallel()
	for kind, want := range presented {
		w := httptest.NewRecorder()
		problem.Challenge{}.Of(problem.Of(fault(kind)), domain.ViewSubscriber, domain.RecordUsage).Write(w, httptest.NewRequest(http.MethodGet, "/", nil), "r-1")
		if w.Code != want.status || w.Header().Get("Retry-After") != want.retryAfter || w.Header().Get("WWW-Authenticate") != want.challenge {
			t.Errorf("%s: %d %v", kind, w.Code, w.Header())
		}
		if body := fmt.Sprintf(`{"error":{"message":"no","code":"%s","details":[{"field":"limit","reason":"no"}],"requestId":"r-1"}}`, kind); w.Body.String() != body {
			t.Errorf("%s: %s", kind, w.Body)
		}
	}
}

func TestWhatPassesByItselfSaysWhenToTryAgain(t *testing.T) {
	t.Parallel()
	for _, err := range []error{&domain.Error{Kind: domain.KindRateLimited}, domain.Unavailable(errors.New("no route to host"))} {
		if p := problem.Of(err); p.Wait != 1 {
			t.Errorf("%s: try again after %d s", p.Code, p.Wait)
		}
	}
}

func TestOtherErrorsAreInternalAndMasked(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	problem.Of(errors.New("secret")).Write(w, httptest.NewRequest(http.MethodGet, "/", nil), "")
	if want := `{"error":{"message":"an internal error occurred","code":"INTERNAL_ERROR"}}`; w.Code != 500 || w.Body.String() != want {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if got := problem.Status("UNHEARD_OF"); got != 500 || problem.Known("UNHEARD_OF") {
		t.Errorf("a code that is not known has the status %d", got)
	}
}

func TestAnAnswerToHEADHasNoBody(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	problem.NewInternal().Write(w, httptest.NewRequest(http.MethodHead, "/", nil), "")
	if w.Code != 500 || w.Body.Len() > 0 || w.Header().Get("Content-Length") != "74" {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
}

// keys notes nothing.
type keys struct{ domain.Access }

func (keys) Throttled(domain.Origin, string) {}

// Every endpoint refuses in its own shape, with the same status and header.
func TestTheEndpointsPresentErrorsAlike(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	noID := func(context.Context) string { return "" }
	endpoints := map[string]interface {
		Refuse(w http.ResponseWriter, r *http.Request, err error)
	}{
		"graphql": httpd.Graph(nil, nil, problem.Challenge{}, log),
		"rest":    &rest.Handler{Config: rest.Config{RequestID: noID}},
		"usage":   ingest.New(ingest.Config{Log: log}),
		"oauth":   access.NewOAuth(keys{}, log),
		"mcp":     &mcp.Handler{Config: mcp.Config{Log: log, RequestID: noID}},
		"scrape":  &scrape.Handler{Config: scrape.Config{Log: log, RequestID: noID}},
		"page":    httpd.Pages(map[string]http.Handler{"/": nil})[0].Endpoint,
	}
	for name, endpoint := range endpoints {
		for kind, want := range presented {
			if name == "oauth" && want.status != 401 && want.retryAfter == "" {
				continue // RFC 6749 has no such error
			}
			w := httptest.NewRecorder()
			endpoint.Refuse(w, httptest.NewRequest(http.MethodPost, "/", nil), fault(kind))
			if w.Code != want.status || w.Header().Get("Retry-After") != want.retryAfter {
				t.Errorf("%s, %s: %d %v", name, kind, w.Code, w.Header())
			}
			if w.Header().Get("Content-Type") != "application/json" || w.Header().Get("Cache-Control") != "no-store" || !json.Valid(w.Body.Bytes()) {
				t.Errorf("%s, %s: %v %s", name, kind, w.Header(), w.Body)
			}
			if challenged := w.Header().Get("WWW-Authenticate") != ""; name != "rest" && name != "page" && want.status == 401 && !challenged {
				t.Errorf("%s, %s: there is no challenge", name, kind)
			}
		}
		w := httptest.NewRecorder()
		endpoint.Refuse(w, httptest.NewRequest(http.MethodPost, "/", nil), errors.New("secret"))
		if w.Code != 500 || strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}
