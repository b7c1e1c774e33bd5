package security

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

// answer is what an endpoint answered.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (w *world) send(t *testing.T, token, method, path string, body any) answer {
	t.Helper()
	var text bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&text).Encode(body); err != nil {
			t.Fatal(err)
		}
	}
	r := httptest.NewRequestWithContext(t.Context(), method, path, &text)
	r.Header.Set("Authorization", "Bearer "+token)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	recorder := httptest.NewRecorder()
	w.handler.ServeHTTP(recorder, r)
	return answer{recorder.Code, recorder.Header(), recorder.Body.Bytes()}
}

func (w *world) query(t *testing.T, token, document string, variables map[string]any) answer {
	t.Helper()
	return w.send(t, token, http.MethodPost, "/graphql", map[string]any{"query": document, "variables": variables})
}

// graphErrors are the errors of an answer of the graph.
func (a answer) graphErrors(t *testing.T) []graphError {
	t.Helper()
	var read struct {
		Errors []graphError `json:"errors"`
	}
	if err := json.Unmarshal(a.body, &read); err != nil {
		t.Fatalf("%v: %s", err, a.body)
	}
	return read.Errors
}

type graphError struct {
	Message    string `json:"message"`
	Path       []any  `json:"path"`
	Extensions struct {
		Code  string `json:"code"`
		Field string `json:"field"`
	} `json:"extensions"`
}

var volatile = regexp.MustCompile(`"(requestId|id|recipientId|silenceId|alertId|entryId|accessKeyId|secret|createdAt|expiresAt|dateCreated|mailId|operationId|digest|version|cursor|startCursor|endCursor)":\s*("[^"]*"|\d+)`)

// comparable is the answer without what differs between any two answers: ids
// that were made for it, times, versions, which are made of what was written, and the
// identifier that was requested.
func (a answer) comparable(identifier string) string {
	text := strings.ReplaceAll(string(a.visible()), identifier, "{identifier}")
	text = volatile.ReplaceAllString(text, `"$1":"…"`)
	text = strings.TrimSpace(text)
	for _, name := range []string{"X-Total-Count", "Allow", "Www-Authenticate"} {
		text += "\n" + name + ": " + a.header.Get(name)
	}
	return http.StatusText(a.status) + "\n" + text
}

var meaningful = regexp.MustCompile(`^([A-Z][A-Za-z]+:|\{")[ -~]*$`)

var encoded = regexp.MustCompile(`"[A-Za-z0-9_-]{8,}"`)

// random are UUIDs and hashes, in which the numbers of a part may appear by chance.
var random = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{64}`)

// visible is the body with its cursors and global ids decoded.
func (a answer) visible() []byte {
	return encoded.ReplaceAllFunc(a.body, func(text []byte) []byte {
		decoded, err := base64.RawURLEncoding.DecodeString(string(text[1 : len(text)-1]))
		if err != nil || !meaningful.Match(decoded) {
			return text
		}
		return []byte(`"` + strings.ReplaceAll(string(decoded), `"`, `'`) + `"`)
	})
}

// shows returns the marks of the part that the answer shows. But for texts, a
// part is recognized by its numbers.
func (a answer) shows(p part, except string) []string {
	text := string(a.visible())
	if except != "" {
		text = strings.ReplaceAll(text, except, "{identifier}")
	}
	text = random.ReplaceAllString(text, "")
	var shown []string
	for _, mark := range p.marks() {
		if strings.Contains(text, mark) {
			shown = append(shown, mark)
		}
	}
	return shown
}

// marks are the texts that nothing but the part has.
func (p part) marks() []string {
	marks := []string{
		p.mark + "-group", p.tag(), p.operator() + "\"", p.mark + "-operator", p.tariff(), p.mark + "-eid", p.mark + "-smdp", p.mark + "-proto",
		p.lineRental(), p.contractLength(), p.address(), p.recipient(), p.email(), p.source(), p.mark + "-hook", p.mark + "-silence", p.document(), p.client(),
	}
	for n := 1; n <= 3; n++ {
		marks = append(marks, p.physicalID(n), p.subscriberID(n), p.imsi(n), p.nickname(n), p.bytes(n), p.lowerThreshold(n-1), p.upperThreshold(n-1))
	}
	return marks
}
