package replica

import (
	"context"
	"net/http"
	"sync/atomic"

	"simgraph/domain"
)

// visit is a request with what it has to see and what it has written.
type visit struct {
	after domain.Position
	// unreadable is a position that says nothing: the primary answers then.
	unreadable bool
	reached    atomic.Uint64
}

type visitKey struct{}

func visitOf(ctx context.Context) *visit {
	v, _ := ctx.Value(visitKey{}).(*visit)
	return v
}

// Carry reads the position that a request has to see, and tells the one that its
// writes have reached.
func (s *Set) Carry(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := r.Header.Get(Header)
		reads := r.Method == http.MethodGet || r.Method == http.MethodHead
		if text == "" && reads {
			next.ServeHTTP(w, r)
			return
		}
		v := new(visit)
		if text != "" {
			after, err := domain.ParsePosition(text)
			v.after, v.unreadable = after, err != nil
		}
		if !reads {
			w = &answer{ResponseWriter: w, visit: v}
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), visitKey{}, v)))
	})
}

// answer tells the position in the headers, if it is known by then.
type answer struct {
	http.ResponseWriter
	visit *visit
	begun bool
}

func (a *answer) begin() {
	if a.begun {
		return
	}
	a.begun = true
	if reached := a.visit.reached.Load(); reached > 0 {
		a.Header().Set(Header, domain.Position(reached).String())
	}
}

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	a.begin()
	a.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (a *answer) Write(b []byte) (int, error) {
	a.begin()
	return a.ResponseWriter.Write(b)
}

// Unwrap serves http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
