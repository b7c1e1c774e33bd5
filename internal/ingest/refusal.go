package ingest

import (
	"log/slog"
	"net/http"

	"simgraph/domain"
	"simgraph/internal/problem"
)

var (
	errMethod   = problem.New(problem.WrongMethod, "", "this path serves POST").With("Allow", http.MethodPost)
	errMedia    = problem.New(problem.MediaType, "", "the body must be a record a line, not compressed, with the header Content-Type: application/x-ndjson; CSV and other forms need ?source=")
	errStopping = problem.New(string(domain.KindUnavailable), "", "the server stops: send again what was not answered")
)

// present logs an error that is not meant for callers.
func (h *Handler) present(requestID string, err error) *problem.Problem {
	p := problem.Of(err)
	if p.Code == problem.Internal {
		h.Log.Error("usage was not recorded", slog.String("requestId", requestID), slog.Any("error", err))
	}
	return p
}

// Refuse answers a request of which no record was answered.
func (h *Handler) Refuse(w http.ResponseWriter, r *http.Request, err error) {
	id := requestID(w)
	h.Challenge.Of(h.present(id, err), domain.RecordUsage).Write(w, r, id)
}

// requestID is in the header of the answer before the request gets here.
func requestID(w http.ResponseWriter) string { return w.Header().Get("X-Request-Id") }
