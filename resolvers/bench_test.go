package resolvers_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"simgraph/domain"
	"simgraph/internal/fatal"
)

// BenchmarkOperations answers operations over HTTP from a real database.
func BenchmarkOperations(b *testing.B) {
	s := newStack(b)
	id := s.mustAsk(b, `{subscribers(first: 1) {nodes {physicalId}}}`).at("subscribers", "nodes", 0, "physicalId")
	ctx := domain.WithCaller(b.Context(), s.caller)
	for _, c := range []struct{ name, query string }{
		{"one", `query ($id: String!) {subscriber(by: {physicalId: $id}) {nickname group {name} tags {name}}}`},
		{"page", `{subscribers(first: 100) {nodes {physicalId nickname group {name} tags {name} networkState {isOnline}}}}`},
		{"levels", `{groups(first: 20) {nodes {name subscribers(first: 20) {nodes {physicalId tags {name} usage {totals {total}}}}}}}`},
		{"usage", `{company {usage {totals {total} series {start total} topSubscribers {subscriber {nickname} total}}}}`},
	} {
		variables := map[string]any{}
		if c.name == "one" {
			variables["id"] = id
		}
		body, err := json.Marshal(map[string]any{"query": c.query, "variables": variables})
		fatal.If(b, err)
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/graphql", bytes.NewReader(body))
				r.Header.Set("Content-Type", "application/json")
				w := httptest.NewRecorder()
				s.engine.ServeHTTP(w, r)
				if bytes.Contains(w.Body.Bytes(), []byte(`"errors"`)) {
					b.Fatal(w.Body)
				}
			}
		})
	}
}
