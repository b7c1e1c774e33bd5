package transport

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/vektah/gqlparser/v2/gqlerror"
)

// Throttled refuses an operation because its caller has spent too much.
type Throttled struct {
	// RetryAfter is how long the caller should wait.
	RetryAfter time.Duration
	// Reason says what there was too much of; "" stands for operations.
	Reason string
}

func (t *Throttled) Error() string {
	if t.Reason != "" {
		return t.Reason
	}
	return fmt.Sprintf("too many or too costly operations: try again in %d s", seconds(t.RetryAfter))
}

// Busy refuses an operation because the server has too much to do.
type Busy struct {
	// RetryAfter is how long the caller should wait.
	RetryAfter time.Duration
}

func (b *Busy) Error() string {
	return fmt.Sprintf("the service is busy: try again in %d s", seconds(b.RetryAfter))
}

// seconds rounds up, so that who waits that long has waited enough.
func seconds(d time.Duration) int { return max(1, int((d+time.Second-1)/time.Second)) }

// refusal presents why an operation may not run.
func (s *Server) refusal(ctx context.Context, err error) *gqlerror.Error {
	code := CodeThrottled
	var wait time.Duration
	if t, ok := errors.AsType[*Throttled](err); ok {
		wait = t.RetryAfter
	} else if b, ok := errors.AsType[*Busy](err); ok {
		code, wait = CodeBusy, b.RetryAfter
	} else {
		return s.presented(ctx, err)
	}
	fault := coded(code, "%s", err)
	fault.Extensions["retryAfter"] = seconds(wait)
	fault.Err = err
	return fault
}

// early returns the status for one that came too early, or to a server that is
// busy, and after how many seconds it may come again; 0 for any other.
func early(fault *gqlerror.Error) (status, wait int) {
	if t, ok := errors.AsType[*Throttled](fault); ok {
		return http.StatusTooManyRequests, seconds(t.RetryAfter)
	}
	if b, ok := errors.AsType[*Busy](fault); ok {
		return http.StatusServiceUnavailable, seconds(b.RetryAfter)
	}
	return 0, 0
}
