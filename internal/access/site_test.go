package access_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"testing"

	"simgraph/internal/access"
)

func TestAnOriginOfAnotherSchemeIsAnotherSite(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		public, host, origin string
		tls, same            bool
	}{
		{"", "sim.example", "https://sim.example", true, true},
		{"", "sim.example", "http://sim.example", true, false},
		{"", "sim.example", "http://sim.example", false, true},
		{"", "sim.example", "https://sim.example", false, true}, // behind a proxy with TLS
		{"", "sim.example", "ftp://sim.example", false, false},
		{"", "sim.example", "https://other.example", true, false},
		{"https://sim.example", "sim.example", "https://sim.example", false, true},
		{"https://sim.example", "sim.example", "http://sim.example", false, false},
		{"https://SIM.example/", "sim.example", "http://sim.EXAMPLE", false, false},
		{"http://sim.example", "sim.example", "https://sim.example", false, false},
		{"https://sim.example", "10.0.0.5:8080", "http://10.0.0.5:8080", false, true},
		{"https://sim.example", "10.0.0.5:8080", "https://sim.example", false, true},
	} {
		r := httptest.NewRequest(http.MethodGet, "http://"+c.host+"/", nil)
		if c.tls {
			r.TLS = &tls.ConnectionState{}
		}
		if got := access.NewSite(c.public).Is(r, c.origin); got != c.same {
			t.Errorf("%+v: %t", c, got)
		}
	}
}
