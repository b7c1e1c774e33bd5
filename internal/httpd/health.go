package httpd

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"
)

// readyTimeout bounds what a probe may wait for the database.
const readyTimeout = 2 * time.Second

// Health reports whether the process lives and whether it should be sent requests.
type Health struct {
	// Check returns why requests could not be answered now, such as a database
	// that is out of reach.
	Check func(ctx context.Context) error
	// ReadOnly, unless nil, returns why writes are refused, and "" where they are
	// taken. The server stays ready: reads go on.
	ReadOnly func(ctx context.Context) (reason string)
	// Stands, unless nil, reports whether standbys answer reads although Check failed. The
	// server stays ready then.
	Stands   func(failed error) bool
	draining atomic.Bool
}

// Drain makes the process unready for good: it is about to stop.
func (h *Health) Drain() { h.draining.Store(true) }

// leaving has each connection closed after its answer once the process drains:
// who keeps connections must not find one closed when it sends the next request.
func (h *Health) leaving(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h.draining.Load() && !isWebSocket(r) {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// Live answers 200 as long as the process answers at all.
func (h *Health) Live(w http.ResponseWriter, r *http.Request) {
	h.answer(w, r, http.StatusOK, "ok")
}

// Ready answers 200 when the database is reachable and its schema current, and
// the server is not stopping; 503 with the reason otherwise. The text of 200 says
// when the database is read-only, or only a standby of it is left.
func (h *Health) Ready(w http.ResponseWriter, r *http.Request) {
	if h.draining.Load() {
		h.answer(w, r, http.StatusServiceUnavailable, "stopping")
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
	defer cancel()
	if err := h.Check(ctx); err != nil && h.Stands != nil && h.Stands(err) {
		h.answer(w, r, http.StatusOK, "ready for reads, which a standby answers; "+err.Error())
		return
	} else if err != nil {
		h.answer(w, r, http.StatusServiceUnavailable, err.Error())
		return
	}
	h.answer(w, r, http.StatusOK, h.ready(ctx))
}

// ready says what the server is ready for.
func (h *Health) ready(ctx context.Context) string {
	if h.ReadOnly == nil {
		return "ready"
	}
	if reason := h.ReadOnly(ctx); reason != "" {
		return "ready for reads; the database refuses writes: " + reason
	}
	return "ready"
}

func (h *Health) answer(w http.ResponseWriter, r *http.Request, status int, text string) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		status, text = http.StatusMethodNotAllowed, "use GET"
	}
	answer(w, status, map[string]string{"status": text})
}
