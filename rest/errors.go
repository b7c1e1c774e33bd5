package rest

import (
	"fmt"
	"net/http"
	"strings"

	"simgraph/domain"
	"simgraph/internal/problem"
)

func badBody(field, message string) *problem.Problem {
	return problem.New(problem.InvalidBody, field, message)
}

func malformed(message string) *problem.Problem {
	return problem.New(string(domain.KindInvalid), "", message)
}

func noRoute(path string) *problem.Problem {
	return problem.New(problem.NoRoute, "", fmt.Sprintf("there is no path %.200q", path))
}

func wrongMethod(method string, allowed []string) *problem.Problem {
	allow := strings.Join(allowed, ", ")
	message := fmt.Sprintf("this path does not serve %.20q; it serves %s", method, allow)
	return problem.New(problem.WrongMethod, "", message).With("Allow", allow)
}

// Refuse answers a request that is not served, such as one beyond a limit.
func (h *Handler) Refuse(w http.ResponseWriter, r *http.Request, err error) {
	problem.Of(err).Write(w, r, h.RequestID(r.Context()))
}
