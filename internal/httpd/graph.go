package httpd

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"simgraph/domain"
	"simgraph/graph/engine/transport"
	"simgraph/internal/access"
	"simgraph/internal/limit"
)

// Graph lets callers with a good token through to the engine. A WebSocket shows
// its token in connection_init; a browser that wants the page needs none, so the
// engine must have an Explorer.
func Graph(gate *access.Gate, engine http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "" && (isWebSocket(r) || transport.WantsPage(r)) {
			engine.ServeHTTP(w, r)
			return
		}
		ctx, err := gate.Admit(r)
		if err != nil {
			refuse(w, r, err)
			return
		}
		engine.ServeHTTP(w, r.WithContext(ctx))
	})
}

func isWebSocket(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
}

// refuse answers a request without a good token, in the shape of the graph.
func refuse(w http.ResponseWriter, r *http.Request, err error) {
	status, kind, message := http.StatusServiceUnavailable, domain.KindUnavailable, "the service cannot answer right now, try again"
	wait := 1
	if fault, is := domain.AsError(err); is {
		kind, message, wait = fault.Kind, fault.Message, fault.RetrySeconds()
	}
	switch kind {
	case domain.KindUnauthorized:
		status = http.StatusUnauthorized
		w.Header().Set("WWW-Authenticate", `Bearer realm="simgraph"`)
	case domain.KindInvalidToken:
		status = http.StatusUnauthorized
		w.Header().Set("WWW-Authenticate", `Bearer realm="simgraph", error="invalid_token"`)
	case domain.KindRateLimited:
		status, kind = http.StatusTooManyRequests, transport.CodeThrottled
	}
	extensions := map[string]any{"code": string(kind), "requestId": transport.RequestID(r.Context())}
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		extensions["retryAfter"] = wait
		w.Header().Set("Retry-After", strconv.Itoa(wait))
	}
	answer(w, status, map[string]any{"errors": []any{map[string]any{"message": message, "extensions": extensions}}})
}

// AdmitPayload admits a WebSocket by the payload of its connection_init, which
// holds the token as clients commonly send it: {"Authorization": "Bearer …"}.
// A connection whose request had a token already needs none.
//
// Connections count against the limits of their tokens until they end.
func AdmitPayload(gate *access.Gate, limits *limit.Limits) func(ctx context.Context, payload map[string]any) (context.Context, error) {
	return func(ctx context.Context, payload map[string]any) (context.Context, error) {
		ctx, err := admitPayload(ctx, gate, payload)
		if err == nil {
			err = limits.SocketBy(ctx)
		}
		if err != nil {
			return nil, throttled(err)
		}
		return ctx, nil
	}
}

func admitPayload(ctx context.Context, gate *access.Gate, payload map[string]any) (context.Context, error) {
	for _, name := range []string{"Authorization", "authorization"} {
		if text, ok := payload[name].(string); ok {
			token, isBearer := strings.CutPrefix(text, "Bearer ")
			if !isBearer {
				break
			}
			return gate.AdmitToken(ctx, domain.Secret(token))
		}
	}
	if _, err := domain.CallerOf(ctx); err != nil {
		return nil, err
	}
	return ctx, nil
}
