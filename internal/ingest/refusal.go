package ingest

import (
	"io"
	"log/slog"
	"net/http"
	"time"

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

// The rest of a body is taken and dropped for drainTime, up to drainBytes, once its stream was
// ended: a connection that is closed while bytes are unread is reset, and the client loses
// answers that are on their way.
const (
	drainTime  = 500 * time.Millisecond
	drainBytes = 64 << 20
)

// explain answers why a stream cannot go on, and has its connection closed.
func (h *Handler) explain(w http.ResponseWriter, r *http.Request, answered bool, err error) {
	// This ends the contexts of all later requests on the connection.
	w.Header().Set("Connection", "close")
	if answered {
		id := requestID(w)
		_, _ = w.Write(append(h.present(id, err).Body(id), '\n'))
	} else {
		h.Refuse(w, r, err)
	}
	_ = http.NewResponseController(w).Flush()
}

// cut ends a stream that was explained, once the client had time to take that. An answer that
// had begun is cut, so that nobody takes it for whole.
func (h *Handler) cut(control *http.ResponseController, r *http.Request, answered bool) {
	if control.SetReadDeadline(time.Now().Add(drainTime)) == nil {
		_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, drainBytes))
	}
	if answered {
		panic(http.ErrAbortHandler)
	}
}

// requestID is in the header of the answer before the request gets here.
func requestID(w http.ResponseWriter) string { return w.Header().Get("X-Request-Id") }
