package web_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"simgraph/web"
)

func give(context.Context) (string, time.Time, error) {
	return "secret", time.Now().Add(time.Hour), nil
}

func TestDemoTokensAreForThisMachineOnly(t *testing.T) {
	for name, c := range map[string]struct {
		host, from, site string
		want             int
	}{
		"by address":           {"127.0.0.1:8080", "127.0.0.1:4000", "same-origin", http.StatusOK},
		"by name":              {"localhost:8080", "127.0.0.1:4000", "", http.StatusOK},
		"by IPv6":              {"[::1]:8080", "[::1]:4000", "", http.StatusOK},
		"default port":         {"[::1]", "[::1]:4000", "", http.StatusOK},
		"mapped IPv4":          {"127.0.0.1:8080", "[::ffff:127.0.0.1]:4000", "", http.StatusOK},
		"another machine":      {"127.0.0.1:8080", "192.0.2.7:4000", "", http.StatusForbidden},
		"a rebound name":       {"evil.example:8080", "127.0.0.1:4000", "same-origin", http.StatusForbidden},
		"a look-alike name":    {"localhost.evil.example", "127.0.0.1:4000", "", http.StatusForbidden},
		"another site's page":  {"127.0.0.1:8080", "127.0.0.1:4000", "cross-site", http.StatusForbidden},
		"another port's page":  {"127.0.0.1:8080", "127.0.0.1:4000", "same-site", http.StatusForbidden},
		"an address bar":       {"127.0.0.1:8080", "127.0.0.1:4000", "none", http.StatusForbidden},
		"an unreadable origin": {"127.0.0.1:8080", "@", "", http.StatusForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodPost, "/demo-token", nil)
			r.Host, r.RemoteAddr = c.host, c.from
			r.Header.Set("Sec-Fetch-Site", c.site)
			w := httptest.NewRecorder()
			web.Offers("", false, give)["/demo-token"].ServeHTTP(w, r)
			if w.Code != c.want || strings.Contains(w.Body.String(), "secret") != (c.want == http.StatusOK) {
				t.Errorf("got %d with %s", w.Code, w.Body)
			}
			if w.Header().Get("Cache-Control") != "no-store" {
				t.Errorf("got %v", w.Header())
			}
		})
	}
}

func TestDemoTokensComeByPostOnly(t *testing.T) {
	w := httptest.NewRecorder()
	web.Offers("", false, give)["/demo-token"].ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/demo-token", nil))
	if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != http.MethodPost {
		t.Errorf("got %d with %v", w.Code, w.Header())
	}
}

func TestAFailureToMakeADemoTokenIsNotTold(t *testing.T) {
	fail := func(context.Context) (string, time.Time, error) { return "", time.Time{}, errors.New("inner detail") }
	r := httptest.NewRequest(http.MethodPost, "http://localhost/demo-token", nil)
	r.RemoteAddr = "127.0.0.1:4000"
	w := httptest.NewRecorder()
	web.Offers("", false, fail)["/demo-token"].ServeHTTP(w, r)
	if w.Code != http.StatusServiceUnavailable || strings.Contains(w.Body.String(), "inner") {
		t.Errorf("got %d with %s", w.Code, w.Body)
	}
}

func TestOnlyADemoServerOffersADemo(t *testing.T) {
	r := httptest.NewRequest(http.MethodGet, "http://localhost/page.json", nil)
	r.RemoteAddr = "127.0.0.1:4000"
	for name, c := range map[string]struct {
		publicURL     string
		documentsOnly bool
		demo          web.DemoToken
		want          string
	}{
		"ordinary":       {"", false, nil, `{"demo":false}`},
		"demo":           {"", false, give, `{"demo":true}`},
		"documents only": {"", true, nil, `{"demo":false,"documentsOnly":true}`},
		"behind a proxy": {"https://sim.example", false, nil, `{"demo":false,"publicUrl":"https://sim.example"}`},
	} {
		handlers := web.Offers(c.publicURL, c.documentsOnly, c.demo)
		w := httptest.NewRecorder()
		handlers["/page.json"].ServeHTTP(w, r)
		if got := strings.TrimSpace(w.Body.String()); got != c.want || (handlers["/demo-token"] != nil) != (c.demo != nil) {
			t.Errorf("%s: got %s", name, got)
		}
	}
}
