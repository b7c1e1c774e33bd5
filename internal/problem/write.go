package problem

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
)

// Write answers in the documented shape of errors (spec §7), nothing of it for
// HEAD. requestID is "" for none.
func (p *Problem) Write(w http.ResponseWriter, r *http.Request, requestID string) {
	body := p.Body(requestID)
	h := w.Header()
	p.SetHeader(h)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(p.Status())
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the client may be gone
	}
}

// Body is the problem in the documented shape, without a line break.
func (p *Problem) Body(requestID string) []byte {
	type fault struct {
		Message   string   `json:"message"`
		Code      string   `json:"code"`
		Details   []Detail `json:"details,omitempty"`
		RequestID string   `json:"requestId,omitempty"`
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	// It holds nothing but texts, which can always be encoded.
	_ = encoder.Encode(map[string]fault{"error": {p.Message, p.Code, p.Details, requestID}})
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
