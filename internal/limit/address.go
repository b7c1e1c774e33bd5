package limit

import (
	"context"
	"net/http"
	"net/netip"
	"strings"
)

// Proxies are the addresses whose X-Forwarded-For is believed.
type Proxies []netip.Prefix

// ParseProxies reads addresses and networks such as 10.0.0.0/8.
func ParseProxies(texts []string) (Proxies, error) {
	var proxies Proxies
	for _, text := range texts {
		if addr, err := netip.ParseAddr(text); err == nil {
			proxies = append(proxies, netip.PrefixFrom(addr, addr.BitLen()))
			continue
		}
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, err
		}
		proxies = append(proxies, prefix)
	}
	return proxies, nil
}

func (p Proxies) trust(addr netip.Addr) bool {
	for _, prefix := range p {
		if prefix.Contains(addr) {
			return true
		}
	}
	return false
}

// ClientOf returns the address that a request comes from: the last one that no
// trusted proxy has. The zero Addr stands for one that is not known.
func (p Proxies) ClientOf(r *http.Request) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	client := peer.Addr().Unmap().WithZone("")
	if len(p) == 0 {
		return client
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for p.trust(client) && len(hops) > 0 {
		last := strings.TrimSpace(hops[len(hops)-1])
		hops = hops[:len(hops)-1]
		before, err := parseHop(last)
		if err != nil {
			break // a proxy that hides its clients, or lies, stands for them
		}
		client = before.Unmap().WithZone("")
	}
	return client
}

// parseHop reads an entry of X-Forwarded-For: an address, which some proxies write
// with a port, and one of IPv6 in brackets.
func parseHop(text string) (netip.Addr, error) {
	if addr, err := netip.ParseAddr(text); err == nil {
		return addr, nil
	}
	if inner, bracketed := strings.CutPrefix(text, "["); bracketed && strings.HasSuffix(inner, "]") {
		return netip.ParseAddr(strings.TrimSuffix(inner, "]"))
	}
	hop, err := netip.ParseAddrPort(text)
	return hop.Addr(), err
}

// household is what counts as one address: all of an IPv6 network of 64 bits,
// which is what one customer of a provider has.
func household(addr netip.Addr) string {
	if addr.Is6() {
		if prefix, err := addr.Prefix(64); err == nil {
			return prefix.String()
		}
	}
	return addr.String()
}

type addressKey struct{}

// WithAddress notes where a request comes from.
func WithAddress(ctx context.Context, addr netip.Addr) context.Context {
	return context.WithValue(ctx, addressKey{}, addr)
}

// Address returns what WithAddress noted.
func Address(ctx context.Context) netip.Addr {
	addr, _ := ctx.Value(addressKey{}).(netip.Addr)
	return addr
}
