package httpd

import (
	"net"
	"net/http"

	"simgraph/domain"
	"simgraph/graph/engine/transport"
	"simgraph/internal/limit"
)

// originated notes where a request comes from, for the audit log.
func originated(r *http.Request, endpoint string) *http.Request {
	return r.WithContext(domain.WithOrigin(r.Context(), domain.Origin{
		Door: endpoint, Address: clientAddress(r), RequestID: transport.RequestID(r.Context()),
	}))
}

// clientAddress is the client's behind trusted proxies, else the peer's.
func clientAddress(r *http.Request) string {
	if addr := limit.Address(r.Context()); addr.IsValid() {
		return addr.String()
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
