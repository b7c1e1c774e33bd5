package access

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"simgraph/internal/problem"
)

const (
	// serverMetadataPath is of RFC 8414 §3, resourceMetadataPath of RFC 9728 §3.
	serverMetadataPath   = "/.well-known/oauth-authorization-server"
	resourceMetadataPath = "/.well-known/oauth-protected-resource"
)

type serverMetadata struct {
	Issuer        string   `json:"issuer"`
	TokenEndpoint string   `json:"token_endpoint"`
	Revocation    string   `json:"revocation_endpoint"`
	Grants        []string `json:"grant_types_supported"`
	// ResponseTypes must be there, and is empty without an authorization endpoint.
	ResponseTypes  []string `json:"response_types_supported"`
	Authentication []string `json:"token_endpoint_auth_methods_supported"`
	RevocationBy   []string `json:"revocation_endpoint_auth_methods_supported"`
}

type resourceMetadata struct {
	Resource string   `json:"resource"`
	Servers  []string `json:"authorization_servers"`
	Methods  []string `json:"bearer_methods_supported"`
}

// ResourceMetadata returns the address of the metadata of the resource (RFC 9728 §3.1),
// which challenges name; "" without a public URL. path is that of an endpoint that is a
// resource of its own, or "".
func ResourceMetadata(publicURL, path string) string {
	at, err := url.Parse(strings.TrimSuffix(publicURL, "/"))
	if err != nil || at.Host == "" {
		return ""
	}
	return at.Scheme + "://" + at.Host + resourceMetadataPath + at.Path + path
}

// Metadata returns the handlers, by their paths, of what OAuth clients discover
// (RFC 8414, RFC 9728). publicURL is where clients reach this service; without one
// there are no handlers, as an issuer must not follow the Host of a request. paths are
// those of endpoints that are resources of their own.
func (o *OAuth) Metadata(publicURL string, paths ...string) (map[string]http.Handler, error) {
	if publicURL == "" {
		return nil, nil
	}
	base := strings.TrimSuffix(publicURL, "/")
	at, err := url.Parse(base)
	if err != nil || at.Host == "" {
		return nil, fmt.Errorf("the public URL %q has no host", publicURL)
	}
	byKey := []string{"client_secret_basic", "client_secret_post"}
	authentication := byKey
	if o.Assertion != nil {
		authentication = []string{"client_secret_basic", "client_secret_post", "none"}
	}
	handlers := map[string]http.Handler{
		serverMetadataPath + at.Path: readable(serverMetadata{
			Issuer: base, TokenEndpoint: base + "/oauth/token", Revocation: base + "/oauth/revoke",
			Grants: o.grants(), ResponseTypes: []string{}, Authentication: authentication, RevocationBy: byKey,
		}),
	}
	for _, path := range append(paths, "") {
		handlers[resourceMetadataPath+at.Path+path] = readable(resourceMetadata{Resource: base + path, Servers: []string{base}, Methods: []string{"header"}})
	}
	return handlers, nil
}

func readable(body any) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			problem.New(problem.WrongMethod, "", "use GET").With("Allow", "GET, HEAD").Write(w, r, "")
			return
		}
		answer(w, http.StatusOK, body)
	})
}
