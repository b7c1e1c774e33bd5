package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"

	"simgraph/domain"
)

// refusal is an error that only this door has.
type refusal struct {
	status        int
	code, message string
	// wait is after how many seconds to try again, where that helps.
	wait int
}

func (r *refusal) Error() string { return r.message }

var (
	errMethod   = &refusal{http.StatusMethodNotAllowed, "METHOD_NOT_ALLOWED", "this path serves POST", 0}
	errMedia    = &refusal{http.StatusUnsupportedMediaType, "UNSUPPORTED_MEDIA_TYPE", "the body must be a record a line, not compressed, with the header Content-Type: application/x-ndjson", 0}
	errStopping = &refusal{http.StatusServiceUnavailable, string(domain.KindUnavailable), "the server stops: send again what was not answered", 1}
	errFault    = &refusal{http.StatusInternalServerError, "INTERNAL_ERROR", "an internal error occurred", 0}
)

var statuses = map[domain.ErrorKind]int{
	domain.KindInvalid:      http.StatusBadRequest,
	domain.KindNotFound:     http.StatusNotFound,
	domain.KindUnauthorized: http.StatusUnauthorized,
	domain.KindInvalidToken: http.StatusUnauthorized,
	domain.KindForbidden:    http.StatusForbidden,
	domain.KindRateLimited:  http.StatusTooManyRequests,
	domain.KindUnavailable:  http.StatusServiceUnavailable,
}

// asRefusal presents an error; what is not meant for callers is logged.
func (h *Handler) asRefusal(requestID string, err error) *refusal {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r
	}
	if e, ok := domain.AsError(err); ok {
		return &refusal{statuses[e.Kind], string(e.Kind), e.Message, e.RetrySeconds()}
	}
	h.Log.Error("usage was not recorded", slog.String("requestId", requestID), slog.Any("error", err))
	return errFault
}

// refuse answers a request of which no record was answered.
func (h *Handler) refuse(w http.ResponseWriter, err error) {
	header := w.Header()
	r := h.asRefusal(header.Get("X-Request-Id"), err)
	switch r.status {
	case http.StatusMethodNotAllowed:
		header.Set("Allow", http.MethodPost)
	case http.StatusUnauthorized, http.StatusForbidden:
		header.Set("WWW-Authenticate", challenges[r.code])
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		header.Set("Retry-After", strconv.Itoa(r.wait))
	}
	header.Set("Content-Type", "application/json")
	header.Set("Cache-Control", "no-store")
	w.WriteHeader(r.status)
	_, _ = w.Write(r.body(header.Get("X-Request-Id"))) // the client may be gone
}

// challenges are those of RFC 6750 §3.
var challenges = map[string]string{
	string(domain.KindUnauthorized): `Bearer realm="simgraph"`,
	string(domain.KindInvalidToken): `Bearer realm="simgraph", error="invalid_token"`,
	string(domain.KindForbidden):    `Bearer realm="simgraph", error="insufficient_scope", scope="` + string(domain.RecordUsage) + `"`,
}

// body is the error as a line of JSON.
func (r *refusal) body(requestID string) []byte {
	type problem struct {
		Message   string `json:"message"`
		Code      string `json:"code"`
		RequestID string `json:"requestId,omitempty"`
	}
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	// Texts and nothing else: this cannot fail.
	_ = encoder.Encode(map[string]problem{"error": {r.message, r.code, requestID}})
	return body.Bytes()
}
