package rest

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"simgraph/internal/fatal"
	"simgraph/internal/problem"
)

func TestEachPathFindsItsRoute(t *testing.T) {
	all := endpoints(t)
	for request, want := range map[string]string{
		"GET /tags":                          "/tags",
		"HEAD /tags":                         "/tags",
		"GET /subscribers":                   "/subscribers",
		"GET /subscribers/8944":              "/subscribers/{physicalId}",
		"GET /subscribers/tags":              "/subscribers/{physicalId}",
		"GET /subscribers/subscribers":       "/{tagName}/subscribers",
		"HEAD /subscribers/subscribers":      "/{tagName}/subscribers",
		"PATCH /subscribers/subscribers":     "/subscribers/{physicalId}",
		"POST /subscribers/subscribers":      "/subscribers/{physicalId}",
		"GET /subscribers/8944/tags":         "/subscribers/{physicalId}/tags",
		"GET /subscribers/subscribers/tags":  "/subscribers/{physicalId}/tags",
		"DELETE /subscribers/subscribers/1":  "/{tagName}/subscribers/{physicalId}",
		"GET /alerts/subscribers":            "/{tagName}/subscribers",
		"GET /analytics/subscribers":         "/{tagName}/subscribers",
		"GET /tags/subscribers":              "/{tagName}/subscribers",
		"GET /subscriber-groups/subscribers": "/{tagName}/subscribers",
		"GET /a%2Fb/subscribers":             "/{tagName}/subscribers",
		"GET /%73ubscribers":                 "/subscribers",
		"DELETE /alerts/subscribers/7":       "/{tagName}/subscribers/{physicalId}",
		"DELETE /alerts/7":                   "/alerts/{id}",
		"DELETE /alerts/recipients":          "/alerts/{id}",
		"DELETE /alerts/recipients/7":        "/alerts/recipients/{id}",
		"PATCH /alerts/seven":                "/alerts/{id}",
		"PATCH /subscriber-groups/12":        "/subscriber-groups/{subscriberGroupId}",
	} {
		method, path, _ := strings.Cut(request, " ")
		e, err := find(all, method, path)
		if err != nil || e.path != want {
			t.Errorf("%s: got %v, %v; want %s", request, e, err, want)
		}
	}
}

func TestAPathServesItsOwnMethodsOnly(t *testing.T) {
	all := endpoints(t)
	for request, want := range map[string]string{
		"POST /tags":                        "GET, HEAD",
		"DELETE /subscribers":               "GET, HEAD",
		"PUT /subscribers/8944":             "GET, HEAD, PATCH, POST",
		"DELETE /subscribers/8944":          "GET, HEAD, PATCH, POST",
		"OPTIONS /subscribers/8944":         "GET, HEAD, PATCH, POST",
		"DELETE /subscribers/subscribers":   "GET, HEAD, PATCH, POST",
		"POST /fleet/subscribers":           "GET, HEAD",
		"GET /fleet/subscribers/8944":       "DELETE",
		"PUT /subscribers/subscribers/tags": "DELETE, GET, HEAD",
		"PUT /alerts/recipients":            "GET, HEAD, POST",
		"GET /alerts/7":                     "DELETE, PATCH",
		"HEAD /alerts/7":                    "DELETE, PATCH",
		"GET /subscriber-groups/12":         "PATCH",
		"get /tags":                         "GET, HEAD",
	} {
		method, path, _ := strings.Cut(request, " ")
		_, err := find(all, method, path)
		p, ok := errors.AsType[*problem.Problem](err)
		if !ok || p.Code != problem.WrongMethod || allowed(p) != want {
			t.Errorf("%s: got %v, want Allow: %s", request, err, want)
		}
	}
}

// allowed is the header Allow of the answer.
func allowed(p *problem.Problem) string {
	h := http.Header{}
	p.SetHeader(h)
	return h.Get("Allow")
}

func TestOtherPathsAreUnknown(t *testing.T) {
	all := endpoints(t)
	for _, path := range []string{
		"/", "", "*", "//", "//subscribers", "/subscribers/", "/./subscribers", "/subscribers/../tags",
		"/%2e/subscribers", "/%2E%2e/subscribers", "/subscribers//tags", "/tags/", "/tags/x", "/Tags", "/subscribers/1/tags/",
		"/subscribers/1/2", "/alerts/seven", "/alerts/0", "/alerts/007", "/alerts/+7", "/alerts/recipients/x",
		"/subscriber-groups/x", "/nowhere",
	} {
		_, err := find(all, "GET", path)
		if p, ok := errors.AsType[*problem.Problem](err); !ok || p.Code != problem.NoRoute {
			t.Errorf("%s: got %v", path, err)
		}
	}
	for _, path := range []string{"/%zz", "/%", "/subscribers/%4", "/a%/subscribers"} {
		_, err := find(all, "GET", path)
		if p, ok := errors.AsType[*problem.Problem](err); !ok || p.Code != "INVALID_PARAMETER" {
			t.Errorf("%s: got %v", path, err)
		}
	}
}

func TestSegmentsAreDecodedOnce(t *testing.T) {
	all := endpoints(t)
	for escaped, want := range map[string]string{
		"a%2Fb": "a/b", "%2525": "%25", "a+b": "a+b", "%C3%BC": "ü", "a%20b": "a b", "%2e%2e%2e": "...",
	} {
		segments, err := split("/" + escaped + "/subscribers")
		fatal.If(t, err)
		e, err := all.find(http.MethodGet, segments)
		fatal.If(t, err)
		if got, _ := e.template.value(segments, "tagName"); got != want {
			t.Errorf("%s: got %q, want %q", escaped, got, want)
		}
	}
}

func find(all router, method, path string) (*endpoint, error) {
	segments, err := split(path)
	if err != nil {
		return nil, err
	}
	return all.find(method, segments)
}

func FuzzRouter(f *testing.F) {
	for _, seed := range []string{
		"/subscribers/subscribers", "/a%2Fb/subscribers", "/alerts/recipients", "/%zz", "//", "/./x", "/subscribers/%ff/tags", "/alerts/9",
	} {
		f.Add("GET", seed)
		f.Add("DELETE", seed)
	}
	all := endpoints(f)
	f.Fuzz(func(t *testing.T, method, path string) {
		segments, err := split(path)
		if err != nil {
			return
		}
		checkSegments(t, segments)
		allowed := all.allowed(segments)
		e, err := all.find(method, segments)
		switch {
		case err != nil && slices.Contains(allowed, method):
			t.Fatalf("%s %q is allowed but refused: %v", method, path, err)
		case err == nil && e.template.fit(segments) == unlike:
			t.Fatalf("%s %q went to %s", method, path, e.path)
		case err == nil && e.template.fit(segments) == fits && !slices.Contains(allowed, method):
			t.Fatalf("%s %q is served but not among %v", method, path, allowed)
		}
	})
}

// checkSegments holds that what was split joins to the same segments again.
func checkSegments(t *testing.T, segments []string) {
	var escaped strings.Builder
	for _, s := range segments {
		escaped.WriteString("/" + url.PathEscape(s))
	}
	again, err := split(escaped.String())
	if err != nil || !slices.Equal(again, segments) {
		t.Fatalf("%q became %q, %v", segments, again, err)
	}
}
