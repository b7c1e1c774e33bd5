package security

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// What newcomers forget first is named in the text that a terminal shows.
func TestRefusalsNameWhatToSend(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const form = "application/x-www-form-urlencoded" // as curl -d declares what it sends
	token := "Bearer " + w.tokens["own-admin@acme.example"]
	for _, c := range []struct{ method, path, authorization, text string }{
		{http.MethodPost, "/graphql", "", "Authorization: Bearer <ACCESS_TOKEN>"},
		{http.MethodGet, "/subscribers", "", "Authorization: Bearer <ACCESS_TOKEN>"},
		{http.MethodPost, "/usage/records", "", "Authorization: Bearer <ACCESS_TOKEN>"},
		{http.MethodPost, "/graphql", token, "Content-Type: application/json"},
		{http.MethodPost, "/alerts", token, "Content-Type: application/json"},
		{http.MethodPost, "/usage/records", token, "Content-Type: application/x-ndjson"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), c.method, c.path, strings.NewReader("{}"))
		r.Header.Set("Content-Type", form)
		r.Header.Set("Authorization", c.authorization)
		recorder := httptest.NewRecorder()
		w.handler.ServeHTTP(recorder, r)
		if body := recorder.Body.String(); !strings.Contains(body, c.text) {
			t.Errorf("%s %s: %d %s", c.method, c.path, recorder.Code, body)
		}
	}
}
