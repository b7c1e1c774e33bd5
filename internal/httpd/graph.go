package httpd

import (
	"context"
	"log/slog"
	"net/http"
	"strings"

	"simgraph/domain"
	"simgraph/domain/ascii"
	"simgraph/graph/engine/transport"
	"simgraph/internal/access"
	"simgraph/internal/limit"
	"simgraph/internal/problem"
)

// graph is the endpoint of the graph.
type graph struct {
	gate      *access.Gate
	engine    http.Handler
	challenge problem.Challenge
	log       *slog.Logger
}

// Graph returns an endpoint that lets callers with a good token or session through
// to the engine, and requests with a method that it refuses. A WebSocket may show its
// token in connection_init; a browser that wants the page needs none, so the engine
// must have an Explorer.
func Graph(gate *access.Gate, engine http.Handler, challenge problem.Challenge, log *slog.Logger) Endpoint {
	return &graph{gate, engine, challenge, log}
}

func (g *graph) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	anonymous := r.Header.Get("Authorization") == ""
	if !transport.Serves(r.Method) || anonymous && transport.WantsPage(r) {
		g.engine.ServeHTTP(w, r)
		return
	}
	ctx, err := g.gate.AdmitBrowser(r)
	if err != nil && anonymous && isWebSocket(r) { // it may show a token in connection_init
		g.engine.ServeHTTP(w, r)
		return
	}
	if err != nil {
		g.Refuse(w, r, err)
		return
	}
	g.engine.ServeHTTP(w, r.WithContext(ctx))
}

// Refuse answers in the shape of the graph.
func (g *graph) Refuse(w http.ResponseWriter, r *http.Request, err error) {
	id, p := transport.RequestID(r.Context()), g.challenge.Of(problem.Of(err))
	if p.Code == problem.Internal {
		g.log.ErrorContext(r.Context(), "a caller could not be authenticated", "requestId", id, "error", err)
	}
	extensions := map[string]any{"code": transport.CodeOf(p), "requestId": id}
	if p.Wait > 0 {
		extensions["retryAfter"] = p.Wait
	}
	p.SetHeader(w.Header())
	answer(w, p.Status(), map[string]any{"errors": []any{map[string]any{"message": p.Message, "extensions": extensions}}})
}

func isWebSocket(r *http.Request) bool {
	return r.Method == http.MethodGet && ascii.EqualFold(r.Header.Get("Upgrade"), "websocket")
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
			return nil, err
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
