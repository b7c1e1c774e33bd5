package problem

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"simgraph/domain"
)

// Problem is an error as an HTTP caller sees it.
type Problem struct {
	Code    string
	Message string
	// Details name the fields at fault.
	Details []Detail
	// Wait is after how many seconds to try again; 0 where that does not help.
	Wait   int
	header http.Header
}

// Detail describes what is wrong with one field of a request.
type Detail struct {
	Field  string `json:"field"`
	Reason string `json:"reason"`
}

// New returns a problem with one field, or with none for "". Problems that pass
// by themselves can be tried again after a second.
func New(code, field, message string) *Problem {
	p := &Problem{Code: code, Message: message}
	if field != "" {
		p.Details = []Detail{{field, message}}
	}
	switch p.Status() {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		p.Wait = 1
	}
	return p
}

// NewInternal returns the problem of every error that is not meant for callers.
func NewInternal() *Problem { return New(Internal, "", "an internal error occurred") }

// Of presents a Problem or a domain.Error. Any other error is internal: its text
// is for the log alone, which the caller of Of writes.
func Of(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	e, ok := domain.AsError(err)
	if !ok {
		return NewInternal()
	}
	p := New(string(e.Kind), e.Field, e.Message)
	if p.Wait > 0 {
		p.Wait = e.RetrySeconds()
	}
	return p
}

// OfGraph presents an error of an operation. A code without a status is a fault of ours:
// the operations are part of the program.
func OfGraph(err *gqlerror.Error) *Problem {
	code, _ := err.Extensions["code"].(string)
	fault, ofDomain := domain.AsError(err)
	field := ""
	if ofDomain {
		field = fault.Field
	}
	if code == Throttled {
		code = string(domain.KindRateLimited)
	}
	if !Known(code) {
		return NewInternal()
	}
	p := New(code, field, err.Message)
	if ofDomain && fault.Reason != "" && field != "" {
		p.Details[0].Reason = fault.Reason
	}
	if seconds, ok := err.Extensions["retryAfter"].(int); ok {
		p.Wait = seconds
	}
	return p
}

func (p *Problem) Error() string { return p.Message }

// Status is that of the code.
func (p *Problem) Status() int { return Status(p.Code) }

// With adds a header to the answer.
func (p *Problem) With(name, value string) *Problem {
	if p.header == nil {
		p.header = http.Header{}
	}
	p.header.Set(name, value)
	return p
}

// SetHeader sets the headers of the answer that belong to the problem.
func (p *Problem) SetHeader(h http.Header) {
	for name, values := range p.header {
		h[name] = values
	}
	if p.Wait > 0 {
		h.Set("Retry-After", strconv.Itoa(p.Wait))
	}
}
