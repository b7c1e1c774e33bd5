package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"simgraph/domain"
)

// The codes that only this door has; the others are the kinds of domain.Error.
const (
	codeBody     = "INVALID_BODY"
	codeRoute    = "NOT_FOUND"
	codeMethod   = "METHOD_NOT_ALLOWED"
	codeTooLarge = "PAYLOAD_TOO_LARGE"
	codeMedia    = "UNSUPPORTED_MEDIA_TYPE"
	codeInternal = "INTERNAL_ERROR"
	codeThrottle = "THROTTLED" // as the graph calls RATE_LIMITED
)

// statuses are the documented codes (spec §7). What the graph may answer
// besides is a fault of ours.
var statuses = map[string]int{
	string(domain.KindInvalid):      http.StatusBadRequest,
	codeBody:                        http.StatusBadRequest,
	string(domain.KindUnauthorized): http.StatusUnauthorized,
	string(domain.KindInvalidToken): http.StatusUnauthorized,
	string(domain.KindForbidden):    http.StatusForbidden,
	string(domain.KindNotFound):     http.StatusNotFound,
	codeRoute:                       http.StatusNotFound,
	codeMethod:                      http.StatusMethodNotAllowed,
	codeTooLarge:                    http.StatusRequestEntityTooLarge,
	codeMedia:                       http.StatusUnsupportedMediaType,
	string(domain.KindRateLimited):  http.StatusTooManyRequests,
	codeInternal:                    http.StatusInternalServerError,
	string(domain.KindUnavailable):  http.StatusServiceUnavailable,
}

// problem is an error as a REST caller sees it.
type problem struct {
	Message   string   `json:"message"`
	Code      string   `json:"code"`
	Details   []detail `json:"details,omitempty"`
	RequestID string   `json:"requestId,omitempty"`
	header    http.Header
}

// detail says what is wrong with one field of a request.
type detail struct {
	Field  string `json:"field"`
	Reason string `json:"reason"`
}

func (p *problem) Error() string { return p.Message }

// with adds a header to the answer.
func (p *problem) with(name, value string) *problem {
	if p.header == nil {
		p.header = http.Header{}
	}
	p.header.Set(name, value)
	return p
}

// newProblem describes one fault; field is "" when no single one is at fault.
func newProblem(code, field, message string) *problem {
	p := &problem{Code: code, Message: message}
	if field != "" {
		p.Details = []detail{{field, message}}
	}
	return p
}

func malformed(message string) *problem {
	return newProblem(string(domain.KindInvalid), "", message)
}

func noRoute(path string) *problem {
	return newProblem(codeRoute, "", fmt.Sprintf("there is no path %.200q", path))
}

func wrongMethod(method string, allowed []string) *problem {
	allow := strings.Join(allowed, ", ")
	message := fmt.Sprintf("this path does not serve %.20q; it serves %s", method, allow)
	return newProblem(codeMethod, "", message).with("Allow", allow)
}

func internal() *problem { return newProblem(codeInternal, "", "an internal error occurred") }

// asProblem presents an error of this package or of the domain; any other is
// an internal one, whose text stays here.
func asProblem(err error) *problem {
	if p, ok := errors.AsType[*problem](err); ok {
		return p
	}
	if e, ok := domain.AsError(err); ok {
		p := newProblem(string(e.Kind), e.Field, e.Message)
		if e.RetryAfter > 0 {
			p = p.with("Retry-After", strconv.Itoa(e.RetrySeconds()))
		}
		return p.advised()
	}
	return internal()
}

// fromGraph presents an error of an operation.
func fromGraph(err *gqlerror.Error) *problem {
	code, _ := err.Extensions["code"].(string)
	field, _ := err.Extensions["field"].(string)
	if code == codeThrottle {
		code = string(domain.KindRateLimited)
	}
	if _, documented := statuses[code]; !documented {
		return internal()
	}
	p := newProblem(code, field, err.Message)
	if seconds, ok := err.Extensions["retryAfter"].(int); ok {
		p = p.with("Retry-After", strconv.Itoa(seconds))
	}
	return p.advised()
}

// advised says when to try again, where nothing more exact is known.
func (p *problem) advised() *problem {
	switch domain.ErrorKind(p.Code) {
	case domain.KindRateLimited, domain.KindUnavailable:
		if p.header.Get("Retry-After") == "" {
			p = p.with("Retry-After", "1")
		}
	}
	return p
}

// challenged adds what RFC 6750 §3 wants beside a refused credential.
func (p *problem) challenged(needed []domain.Permission) *problem {
	challenge := `Bearer realm="simgraph"`
	switch domain.ErrorKind(p.Code) {
	case domain.KindInvalidToken:
		challenge += `, error="invalid_token"`
	case domain.KindForbidden:
		challenge += `, error="insufficient_scope", scope="` + scopes(needed) + `"`
	case domain.KindUnauthorized:
	default:
		return p
	}
	return p.with("WWW-Authenticate", challenge)
}

func scopes(needed []domain.Permission) string {
	names := make([]string, len(needed))
	for i, permission := range needed {
		names[i] = string(permission)
	}
	return strings.Join(names, " ")
}

// write answers with the problem.
func (p *problem) write(w http.ResponseWriter, r *http.Request, requestID string) {
	for name, values := range p.header {
		w.Header()[name] = values
	}
	p.RequestID = requestID
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	// Texts and nothing else: this cannot fail.
	_ = encoder.Encode(struct {
		Error *problem `json:"error"`
	}{p})
	respond(w, r, statuses[p.Code], bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}
