package transport

import (
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"simgraph/graph/engine/guard"
	"simgraph/graph/engine/input"
)

// The codes in extensions.code of the errors that the engine itself raises.
// Those of resolvers come from Config.Present.
const (
	CodeParseFailed      = errcode.ParseFailed
	CodeValidationFailed = errcode.ValidationFailed
	CodeBadInput         = input.Code
	CodeOperation        = "OPERATION_RESOLUTION_FAILURE"
	CodeDocumentLimit    = guard.CodeDocumentLimit
	CodeCostLimit        = guard.CodeCostLimit
	CodeThrottled        = "THROTTLED"
	CodeBusy             = "UNAVAILABLE" // as of a database out of reach
	CodeInternal         = "INTERNAL_ERROR"
	CodePersisted        = "PERSISTED_QUERY_NOT_SUPPORTED"
	CodeSubscriptions    = "TOO_MANY_SUBSCRIPTIONS"
	CodeInvalidParameter = "INVALID_PARAMETER"
	CodeInvalidBody      = "INVALID_BODY"
	CodePayloadTooLarge  = "PAYLOAD_TOO_LARGE"
	CodeMediaType        = "UNSUPPORTED_MEDIA_TYPE"
	CodeNotAcceptable    = "NOT_ACCEPTABLE"
	CodeMethodNotAllowed = "METHOD_NOT_ALLOWED"
	CodeNeedsStream      = "SUBSCRIPTION_NEEDS_STREAM"
)

// coded returns an error with a code.
func coded(code, format string, args ...any) *gqlerror.Error {
	err := gqlerror.Errorf(format, args...)
	errcode.Set(err, code)
	return err
}
