package access_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"simgraph/domain"
	"simgraph/internal/access"
)

func TestMetadataNamesTheEndpoints(t *testing.T) {
	t.Parallel()
	oauth := access.NewOAuth(nil, slog.New(slog.DiscardHandler))
	none, err := oauth.Metadata("")
	if err != nil || len(none) != 0 {
		t.Errorf("without a public URL: %v, %v", none, err)
	}
	if _, err := oauth.Metadata("sim.example"); err == nil {
		t.Error("a URL without a host is taken")
	}
	const server, resource = "/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource"
	serverOf := func(base, grants, methods string) string {
		return `{"issuer":"` + base + `","token_endpoint":"` + base + `/oauth/token","revocation_endpoint":"` + base +
			`/oauth/revoke","grant_types_supported":["client_credentials"` + grants + `],"response_types_supported":[],"token_endpoint_auth_methods_supported":["client_secret_basic","client_secret_post"` +
			methods + `],"revocation_endpoint_auth_methods_supported":["client_secret_basic","client_secret_post"]}`
	}
	check := func(url, path, want string) {
		t.Helper()
		handlers, err := oauth.Metadata(url, "/mcp")
		if err != nil || handlers[path] == nil {
			t.Fatalf("%s has no %s: %v", url, path, err)
		}
		w := httptest.NewRecorder()
		handlers[path].ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if got := strings.TrimSpace(w.Body.String()); w.Code != 200 || got != want || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s answers %d %s, want %s", path, w.Code, got, want)
		}
		w = httptest.NewRecorder()
		handlers[path].ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, nil))
		if w.Code != 405 || w.Header().Get("Allow") != "GET, HEAD" {
			t.Errorf("POST %s answers %d", path, w.Code)
		}
	}
	check("https://sim.example/", server, serverOf("https://sim.example", "", ""))
	check("https://sim.example", resource, `{"resource":"https://sim.example","authorization_servers":["https://sim.example"],"bearer_methods_supported":["header"]}`)
	check("https://example.com/sim", resource+"/sim/mcp", `{"resource":"https://example.com/sim/mcp","authorization_servers":["https://example.com/sim"],"bearer_methods_supported":["header"]}`)
	check("https://example.com/sim", server+"/sim", serverOf("https://example.com/sim", "", ""))
	oauth.Assertion = func(context.Context, domain.Origin, domain.Secret, []domain.Permission) (*domain.Grant, error) {
		return nil, nil
	}
	check("https://sim.example", server, serverOf("https://sim.example", `,"urn:ietf:params:oauth:grant-type:jwt-bearer"`, `,"none"`))
}
