package httpd

import (
	"context"
	"net/http"

	"simgraph/internal/limit"
)

// Limited holds requests to the limits of the addresses that they come from.
func Limited(limits *limit.Limits, proxies limit.Proxies) Middleware {
	return func(route Route, next http.Handler) http.Handler {
		if route.Probe {
			return next
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r = r.WithContext(limit.WithAddress(r.Context(), proxies.ClientOf(r)))
			leave, err := enter(limits, r)
			if err != nil {
				route.refuse(w, r, err)
				return
			}
			defer leave()
			next.ServeHTTP(w, r)
		})
	}
}

// enter counts a request, and a WebSocket until leave.
func enter(limits *limit.Limits, r *http.Request) (leave func(), err error) {
	if err := limits.FromAddress(limit.Address(r.Context())); err != nil {
		return nil, err
	}
	if isWebSocket(r) {
		return limits.SocketFrom(r.Context())
	}
	return func() {}, nil
}

// Charge books the cost of operations on their callers. One that costs nothing
// is still one operation.
func Charge(limits *limit.Limits) func(ctx context.Context, cost int) error {
	return func(ctx context.Context, cost int) error { return limits.Charge(ctx, max(cost, 1)) }
}
