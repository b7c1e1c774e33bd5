package domain

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ErrorKind classifies an Error. Its text is the public error code of all endpoints
// (spec §7; the codes that the spec leaves open are listed in docs/decisions).
type ErrorKind string

// The kinds of errors that a caller may see. Every other error is an internal
// one: it is logged, and its text never leaves the process.
const (
	// KindInvalid: an argument breaks a rule; nothing was changed.
	KindInvalid ErrorKind = "INVALID_PARAMETER"
	// KindNotFound: an identifier matches nothing that the caller may see.
	// The same for what does not exist and for what another company owns.
	KindNotFound ErrorKind = "INVALID_PROPERTY"
	// KindUnauthorized: no credentials were given.
	KindUnauthorized ErrorKind = "UNAUTHORIZED"
	// KindInvalidToken: the access token is unknown, expired or revoked.
	KindInvalidToken ErrorKind = "INVALID_TOKEN"
	// KindForbidden: the caller lacks a permission; the message names it.
	KindForbidden ErrorKind = "FORBIDDEN"
	// KindStale: what an edit was made from was changed since; nothing was changed.
	KindStale ErrorKind = "STALE"
	// KindRateLimited: the caller must wait before it tries again.
	KindRateLimited ErrorKind = "RATE_LIMITED"
	// KindUnavailable: the database cannot be reached or did not answer in
	// time; the same request may succeed later.
	KindUnavailable ErrorKind = "UNAVAILABLE"
)

// Error is what went wrong, in words meant for the caller.
type Error struct {
	Kind    ErrorKind
	Message string
	// Reason is the fault alone, without the help that Message adds; "" where that
	// adds none.
	Reason string
	// Field names the argument at fault, as the caller wrote it; "" when the
	// fault lies with no single one.
	Field string
	// Path is the place of the fault in that argument, as scope.groupIds[1]; "" where
	// Field is the whole of it.
	Path string
	// RetryAfter is when to try again after KindRateLimited or KindUnavailable;
	// 0 means "soon".
	RetryAfter time.Duration
	cause      error
}

func (e *Error) Error() string { return e.Message }

// RetrySeconds is RetryAfter rounded up, at least 1.
func (e *Error) RetrySeconds() int {
	return max(1, int((e.RetryAfter+time.Second-1)/time.Second))
}

// Unwrap returns the internal cause, which is for the log only.
func (e *Error) Unwrap() error { return e.cause }

// Invalid returns an error of KindInvalid about the named field.
func Invalid(field, format string, args ...any) *Error {
	return &Error{Kind: KindInvalid, Field: field, Message: fmt.Sprintf(format, args...)}
}

// NotFound returns an error of KindNotFound: no noun has that identifier.
func NotFound(field, noun, id string) *Error {
	return &Error{Kind: KindNotFound, Field: field, Message: fmt.Sprintf("no %s %q on this account", noun, id)}
}

// At returns err as an error about a place in an argument, such as rows[2].nickname,
// which is as exact as a place can be. Its Field is the argument.
func At(place string, err error) error {
	fault, is := AsError(err)
	if !is {
		return err
	}
	placed := *fault
	placed.Path = place
	placed.Field = place
	if end := strings.IndexAny(place, ".["); end >= 0 {
		placed.Field = place[:end]
	}
	return &placed
}

// Within is At of the place that err names within the given one.
func Within(place string, err error) error {
	fault, is := AsError(err)
	if !is {
		return err
	}
	if inner := fault.Place(); inner != "" {
		place += "." + inner
	}
	return At(place, err)
}

// Item is the place of an element of a list.
func Item(list string, i int) string { return list + "[" + strconv.Itoa(i) + "]" }

// Place is Path, or Field where there is no Path.
func (e *Error) Place() string {
	if e.Path != "" {
		return e.Path
	}
	return e.Field
}

// Forbidden returns an error of KindForbidden with the given message.
func Forbidden(format string, args ...any) *Error {
	return &Error{Kind: KindForbidden, Message: fmt.Sprintf(format, args...)}
}

// Unavailable returns an error of KindUnavailable that hides its cause.
func Unavailable(cause error) *Error {
	return &Error{Kind: KindUnavailable, Message: "the service cannot answer right now, try again", cause: cause}
}

// AsError finds the first Error in err's chain.
func AsError(err error) (*Error, bool) { return errors.AsType[*Error](err) }
