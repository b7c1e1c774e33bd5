package rest

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/vektah/gqlparser/v2/gqlerror"

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

// fromGraph presents an error of an operation. A code without a status is a
// fault of ours: the operations are part of the program.
func fromGraph(err *gqlerror.Error) *problem.Problem {
	code, _ := err.Extensions["code"].(string)
	fault, ofDomain := domain.AsError(err)
	field := ""
	if ofDomain {
		field = fault.Field
	}
	if code == problem.Throttled {
		code = string(domain.KindRateLimited)
	}
	if !problem.Known(code) {
		return problem.NewInternal()
	}
	p := problem.New(code, field, err.Message)
	if ofDomain && fault.Reason != "" && field != "" {
		p.Details[0].Reason = fault.Reason
	}
	if seconds, ok := err.Extensions["retryAfter"].(int); ok {
		p.Wait = seconds
	}
	return p
}

// Refuse answers a request that is not served, such as one beyond a limit.
func (h *Handler) Refuse(w http.ResponseWriter, r *http.Request, err error) {
	problem.Of(err).Write(w, r, h.RequestID(r.Context()))
}
