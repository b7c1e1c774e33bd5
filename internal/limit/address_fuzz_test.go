package limit_test

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"simgraph/internal/fatal"
	"simgraph/internal/limit"
)

func FuzzForwardedFor(f *testing.F) {
	for _, header := range []string{
		"", "203.0.113.7", "203.0.113.7, 10.0.0.1", "unknown", "203.0.113.7:80", "[2001:db8::1]:443", "::ffff:203.0.113.7", "fe80::1%eth0",
		",", " , ,", "10.0.0.1,10.0.0.2", "203.0.113.7\x00", strings.Repeat("10.0.0.1,", 100),
	} {
		f.Add("10.0.0.9:1234", header)
		f.Add("192.0.2.1:1", header)
		f.Add("@", header)
	}
	trusted, err := limit.ParseProxies([]string{"10.0.0.0/8"})
	fatal.If(f, err)
	f.Fuzz(func(t *testing.T, peer, header string) {
		r := &http.Request{RemoteAddr: peer, Header: http.Header{"X-Forwarded-For": {header}}}
		direct := limit.Proxies(nil).ClientOf(r)
		client := trusted.ClientOf(r)
		if client.Zone() != "" || client.Is4In6() {
			t.Errorf("%q by %q is %v, not the one way to write it", header, peer, client)
		}
		byProxy := netip.MustParsePrefix("10.0.0.0/8").Contains(direct)
		if !byProxy && client != direct {
			t.Errorf("%q by the stranger %q is believed: %v", header, peer, client)
		}
	})
}

func FuzzParseProxies(f *testing.F) {
	for _, text := range []string{"10.0.0.0/8", "::1", "fe80::1%eth0", "10.0.0.1/33", "", "10.0.0.0/08", "0.0.0.0/0"} {
		f.Add(text, "10.0.0.1:80")
	}
	f.Fuzz(func(_ *testing.T, text, peer string) {
		if proxies, err := limit.ParseProxies([]string{text}); err == nil {
			proxies.ClientOf(&http.Request{RemoteAddr: peer, Header: http.Header{"X-Forwarded-For": {peer, text}}})
		}
	})
}
