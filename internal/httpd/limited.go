package httpd

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"simgraph/domain"
	"simgraph/graph/engine/transport"
	"simgraph/internal/limit"
)

// Limited holds requests to the limits of the addresses that they come from.
// Probes of health are let through always. throttled is told of the exchanges of
// access keys that are not.
func Limited(limits *limit.Limits, proxies limit.Proxies, throttled func(from domain.Origin, accessKeyID string)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if isProbe(r) {
				next.ServeHTTP(w, r)
				return
			}
			addr := proxies.ClientOf(r)
			r = r.WithContext(limit.WithAddress(r.Context(), addr))
			if err := limits.FromAddress(addr); err != nil {
				if isExchange(r) {
					id, _, _ := r.BasicAuth()
					throttled(domain.OriginOf(originated(r, "oauth").Context()), id)
				}
				refuseAt(w, r, err)
				return
			}
			if isWebSocket(r) {
				leave, err := limits.SocketFrom(r.Context())
				if err != nil {
					refuseAt(w, r, err)
					return
				}
				defer leave()
			}
			next.ServeHTTP(w, r)
		})
	}
}

// refuseAt refuses in the shape of the door that the request is for.
func refuseAt(w http.ResponseWriter, r *http.Request, err error) {
	if r.URL.Path == graphPath {
		refuse(w, r, err)
		return
	}
	fault, _ := domain.AsError(err) // limits return no other
	status := http.StatusTooManyRequests
	if fault.Kind == domain.KindUnavailable {
		status = http.StatusServiceUnavailable
	}
	w.Header().Set("Retry-After", strconv.Itoa(fault.RetrySeconds()))
	id := transport.RequestID(r.Context())
	var body any = map[string]any{"error": map[string]string{"message": fault.Message, "code": string(fault.Kind), "requestId": id}}
	if isExchange(r) {
		body = map[string]string{"error": "temporarily_unavailable", "error_description": fault.Message}
	}
	answer(w, status, body)
}

func isExchange(r *http.Request) bool { return r.URL.Path == tokenPath || r.URL.Path == revokePath }

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(body) // the client may be gone
}

// throttled turns a refusal of a limit into the engine's.
func throttled(err error) error {
	fault, is := domain.AsError(err)
	switch {
	case is && fault.Kind == domain.KindRateLimited:
		return &transport.Throttled{RetryAfter: fault.RetryAfter, Reason: fault.Message}
	case is && fault.Kind == domain.KindUnavailable && fault.RetryAfter > 0:
		return &transport.Busy{RetryAfter: fault.RetryAfter}
	}
	return err
}

// Charge books the cost of operations on their callers. One that costs nothing
// is still one operation.
func Charge(limits *limit.Limits) func(ctx context.Context, cost int) error {
	return func(ctx context.Context, cost int) error { return throttled(limits.Charge(ctx, max(cost, 1))) }
}
