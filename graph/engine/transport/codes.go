package transport

import (
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"simgraph/domain"
	"simgraph/graph/engine/guard"
	"simgraph/graph/engine/input"
	"simgraph/internal/problem"
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
	CodeThrottled        = problem.Throttled
	CodeInternal         = problem.Internal
	CodePersisted        = "PERSISTED_QUERY_NOT_SUPPORTED"
	// CodeDocumentNotFound refuses the id of no trusted document that the caller may run.
	CodeDocumentNotFound = "DOCUMENT_NOT_FOUND"
	// CodeDocumentRequired refuses a text of a caller, or on an instance, that runs trusted
	// documents alone.
	CodeDocumentRequired = "DOCUMENT_REQUIRED"
	CodeSubscriptions    = "TOO_MANY_SUBSCRIPTIONS"
	CodeInvalidParameter = string(domain.KindInvalid)
	CodeInvalidBody      = problem.InvalidBody
	CodePayloadTooLarge  = problem.TooLarge
	CodeMediaType        = problem.MediaType
	CodeNotAcceptable    = problem.NotAcceptable
	CodeMethodNotAllowed = problem.WrongMethod
	CodeNeedsStream      = "SUBSCRIPTION_NEEDS_STREAM"
)

// coded returns an error with a code.
func coded(code, format string, args ...any) *gqlerror.Error {
	err := gqlerror.Errorf(format, args...)
	errcode.Set(err, code)
	return err
}
