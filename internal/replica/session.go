package replica

import (
	"context"
	"net/http"
	"sync/atomic"
)

// session is what a request has to read and what it has written.
type session struct {
	// after is the LSN whose writes the request has to read.
	after LSN
	// unreadable is set for an LSN that cannot be parsed: the primary answers then.
	unreadable bool
	// written is the LSN behind the last write.
	written atomic.Uint64
}

type sessionKey struct{}

func sessionOf(ctx context.Context) *session {
	s, _ := ctx.Value(sessionKey{}).(*session)
	return s
}

// WithSession reads from the header the LSN that a request has to read up to, and
// writes to the header of its response the one that its writes have reached.
func (s *Set) WithSession(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := r.Header.Get(Header)
		reads := r.Method == http.MethodGet || r.Method == http.MethodHead
		if text == "" && reads {
			next.ServeHTTP(w, r)
			return
		}
		in := new(session)
		if text != "" {
			after, err := ParseLSN(text)
			in.after, in.unreadable = after, err != nil
		}
		if !reads {
			w = &sessionWriter{ResponseWriter: w, session: in}
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), sessionKey{}, in)))
	})
}

// sessionWriter adds the LSN to the headers, if it was read by then.
type sessionWriter struct {
	http.ResponseWriter
	session *session
	begun   bool
}

func (w *sessionWriter) begin() {
	if w.begun {
		return
	}
	w.begun = true
	if written := w.session.written.Load(); written > 0 {
		w.Header().Set(Header, LSN(written).String())
	}
}

// WriteHeader implements http.ResponseWriter.
func (w *sessionWriter) WriteHeader(status int) {
	w.begin()
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *sessionWriter) Write(b []byte) (int, error) {
	w.begin()
	return w.ResponseWriter.Write(b)
}

// Unwrap serves http.ResponseController.
func (w *sessionWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
