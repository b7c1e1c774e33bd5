// Command testserver serves the test schema, for the conformance checks in
// e2e/. It prints its address; the only valid token is "test".
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"simgraph/domain"
	"simgraph/graph/engine/transport"
	"simgraph/graph/engine/transport/internal/testschema"
)

const authorization = "Bearer test"

func main() {
	engine := transport.New(testschema.New(new(testschema.Resolvers)), transport.Config{
		Present: present, Authenticate: authenticate,
		Explorer: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = w.Write([]byte("<!doctype html><title>explorer</title>"))
		}),
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("http://%s/graphql\n", listener.Addr())
	server := &http.Server{
		Handler: authenticated(engine), MaxHeaderBytes: 64 << 10,
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
	}
	log.Fatal(server.Serve(listener))
}

// authenticated lets WebSockets pass, which bring their token later.
func authenticated(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != authorization && r.Header.Get("Upgrade") == "" {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, `{"errors":[{"message":"a token is needed"}]}`, http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func authenticate(ctx context.Context, payload map[string]any) (context.Context, error) {
	if payload["authorization"] != authorization {
		return nil, errors.New("a token is needed")
	}
	return ctx, nil
}

func present(_ context.Context, err error) *gqlerror.Error {
	public, ok := domain.AsError(err)
	if !ok {
		return nil
	}
	out := &gqlerror.Error{Message: public.Message}
	errcode.Set(out, string(public.Kind))
	return out
}
