package transport

import "context"

type requestIDKey struct{}

// WithRequestID returns a context whose errors carry the id in
// extensions.requestId, and in the log.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, id)
}

// RequestID returns the id that WithRequestID put there, or "".
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}
