// Package problem presents errors over HTTP: the status of each code, when to
// try again, and how to authenticate. The endpoints give problems their shapes.
package problem

import (
	"net/http"

	"simgraph/domain"
)

// The codes beside the kinds of domain.Error.
const (
	InvalidBody   = "INVALID_BODY"
	NoRoute       = "NOT_FOUND"
	WrongMethod   = "METHOD_NOT_ALLOWED"
	NotAcceptable = "NOT_ACCEPTABLE"
	TooLarge      = "PAYLOAD_TOO_LARGE"
	MediaType     = "UNSUPPORTED_MEDIA_TYPE"
	Internal      = "INTERNAL_ERROR"
	// Throttled is what the graph calls RATE_LIMITED when an operation was not
	// run at all.
	Throttled = "THROTTLED"
)

// statuses is the one place that assigns statuses to codes (spec §7).
var statuses = map[string]int{
	string(domain.KindInvalid):      http.StatusBadRequest,
	InvalidBody:                     http.StatusBadRequest,
	string(domain.KindUnauthorized): http.StatusUnauthorized,
	string(domain.KindInvalidToken): http.StatusUnauthorized,
	string(domain.KindForbidden):    http.StatusForbidden,
	string(domain.KindNotFound):     http.StatusNotFound,
	string(domain.KindStale):        http.StatusConflict,
	NoRoute:                         http.StatusNotFound,
	WrongMethod:                     http.StatusMethodNotAllowed,
	NotAcceptable:                   http.StatusNotAcceptable,
	TooLarge:                        http.StatusRequestEntityTooLarge,
	MediaType:                       http.StatusUnsupportedMediaType,
	string(domain.KindRateLimited):  http.StatusTooManyRequests,
	Throttled:                       http.StatusTooManyRequests,
	Internal:                        http.StatusInternalServerError,
	string(domain.KindUnavailable):  http.StatusServiceUnavailable,
}

// Known reports whether the code has a status.
func Known(code string) bool { return statuses[code] != 0 }

// Status returns the status of the code; 500 for an unknown one.
func Status(code string) int {
	if status, known := statuses[code]; known {
		return status
	}
	return http.StatusInternalServerError
}
