package rest_test

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	keys "simgraph/db/access"
	"simgraph/db/dbtest"
	"simgraph/graph/generated"
	"simgraph/internal/access"
	"simgraph/internal/ingest"
	"simgraph/rest"
)

const streamed = `{"source":"pgw","recordId":"1","physicalId":"nobody","startedAt":"2026-11-21T10:00:00Z","endedAt":"2026-11-21T10:00:01Z","mobileOriginated":1,"mobileTerminated":2,"protocol":"TCP","ipAddress":null}`

// The stream of usage answers as the contract says, line by line.
func TestTheStreamOfUsageKeepsItsContract(t *testing.T) {
	t.Parallel()
	if rest.UsageStream != ingest.Path {
		t.Fatalf("%s is documented, %s is served", rest.UsageStream, ingest.Path)
	}
	operation := contract(t).Paths.Find(rest.UsageStream).Post
	pool := dbtest.New(t)
	load(t, pool)
	pool.MustExec(`UPDATE users SET permissions = array_append(permissions, 'RECORD_USAGE') WHERE email = 'admin@acme.example'`)
	gate := access.NewGate(keys.New(pool), time.Now)
	stream := ingest.New(ingest.Config{
		Usage: usageStore(pool), Admit: gate.Admit, StillValid: func(context.Context) error { return nil },
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Bytes: 1000,
	})
	token := tokens(t, pool)
	body := streamed + "\n" + streamed + "\n" + strings.Replace(streamed, `"1"`, `null`, 1) + "\nno\n"
	for _, c := range []struct {
		token, media, body string
		status             int
	}{
		{token["admin"], "application/x-ndjson", body, http.StatusOK},
		{"", "application/x-ndjson", body, http.StatusUnauthorized},
		{token["reader"], "application/x-ndjson", body, http.StatusForbidden},
		{token["admin"], "text/csv", body, http.StatusUnsupportedMediaType},
		{token["admin"], "application/x-ndjson", strings.Repeat(" ", 2000), http.StatusRequestEntityTooLarge},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, rest.UsageStream, strings.NewReader(c.body))
		r.Header.Set("Content-Type", c.media)
		if c.token != "" {
			r.Header.Set("Authorization", "Bearer "+c.token)
		}
		w := httptest.NewRecorder()
		stream.ServeHTTP(w, r)
		if w.Code != c.status {
			t.Errorf("got %d %s, want %d", w.Code, w.Body, c.status)
		}
		checkLines(t, operation, w)
	}
	cumulative := strings.Replace(streamed, `"recordId":"1"`, `"counters":"CUMULATIVE","sessionId":"s"`, 1)
	for _, line := range []string{streamed, cumulative} {
		checkSchema(t, operation.RequestBody.Value.Content.Get("application/x-ndjson"), line)
	}
}

func checkLines(t *testing.T, operation *openapi3.Operation, w *httptest.ResponseRecorder) {
	t.Helper()
	response := operation.Responses.Status(w.Code)
	if response == nil {
		t.Errorf("%d is not in the contract", w.Code)
		return
	}
	media, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";")
	for line := range strings.Lines(w.Body.String()) {
		checkSchema(t, response.Value.Content.Get(media), line)
	}
}

func checkSchema(t *testing.T, media *openapi3.MediaType, line string) {
	t.Helper()
	if media == nil {
		t.Errorf("no such media type is documented for %s", line)
		return
	}
	if err := media.Schema.Value.VisitJSON(decode(t, []byte(line)), openapi3.EnableJSONSchema2020()); err != nil {
		t.Errorf("%s: %v", line, err)
	}
}

// The stream takes what recordUsage takes, and the names of bundles beside.
func TestTheStreamOfUsageHasTheFieldsOfTheGraph(t *testing.T) {
	t.Parallel()
	line := contract(t).Paths.Find(rest.UsageStream).Post.RequestBody.Value.Content.Get("application/x-ndjson").Schema.Value
	want := []string{"company", "type"}
	for _, field := range generated.NewExecutableSchema(generated.Config{}).Schema().Types["UsageRecordInput"].Fields {
		want = append(want, field.Name)
	}
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(line.Properties)); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
