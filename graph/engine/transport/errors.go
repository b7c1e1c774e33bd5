package transport

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// An answer shows at most maxErrors errors of at most maxMessage bytes.
const (
	maxErrors  = 20
	maxMessage = 1_000
)

// masked is all that a caller learns of an error that is not meant for it.
const masked = "an internal error occurred"

// panicked marks what recovered has logged already.
type panicked struct{}

func (panicked) Error() string { return masked }

// recovered logs a panic of a resolver.
func (s *Server) recovered(ctx context.Context, r any) error {
	s.cfg.Log.LogAttrs(ctx, slog.LevelError, "a resolver panicked",
		slog.String("requestId", RequestID(ctx)), slog.Any("panic", r), slog.String("stack", string(debug.Stack())))
	return panicked{}
}

// presenter returns the presenter of one response. Errors beyond those that
// an answer shows are dropped there, so that they do not flood the log.
func (s *Server) presenter() graphql.ErrorPresenterFunc {
	var presented atomic.Int32
	return func(ctx context.Context, err error) *gqlerror.Error {
		if presented.Add(1) > maxErrors {
			return nil
		}
		return s.presented(ctx, err)
	}
}

// presented turns any error into a public one.
func (s *Server) presented(ctx context.Context, err error) *gqlerror.Error {
	var public *gqlerror.Error
	if s.cfg.Present != nil {
		public = s.cfg.Present(ctx, err)
	}
	if public == nil {
		s.logInternal(ctx, err)
		public = coded(CodeInternal, masked)
	} else {
		// The caller of gqlgen changes what it gets, and Present may share it.
		copied := *public
		public = &copied
	}
	locate(public, err)
	return public
}

// locate copies the place of the field at fault, which gqlgen has noted.
func locate(public *gqlerror.Error, err error) {
	placed, ok := err.(*gqlerror.Error)
	if !ok {
		return
	}
	if public.Path == nil {
		public.Path = placed.Path
	}
	if public.Locations == nil {
		public.Locations = placed.Locations
	}
}

func (s *Server) logInternal(ctx context.Context, err error) {
	if placed, ok := err.(*gqlerror.Error); ok && placed.Err != nil {
		err = placed.Err
	}
	if _, ok := err.(panicked); ok || ctx.Err() != nil {
		return // logged already, or the caller is gone
	}
	s.cfg.Log.LogAttrs(ctx, slog.LevelError, "a resolver failed",
		slog.String("requestId", RequestID(ctx)), slog.String("error", fmt.Sprintf("%.4000s", err)))
}

// refused is the response to an operation that did not run.
func (s *Server) refused(ctx context.Context, errs gqlerror.List) *graphql.Response {
	return &graphql.Response{Errors: limited(ctx, errs)}
}

// limited bounds a list of errors and marks them with the request id.
func limited(ctx context.Context, errs gqlerror.List) gqlerror.List {
	errs = errs[:min(len(errs), maxErrors)]
	id := RequestID(ctx)
	for _, err := range errs {
		err.Message = truncated(err.Message, maxMessage)
		if id == "" {
			continue
		}
		// The map may be shared with other answers.
		extensions := map[string]any{"requestId": id}
		for name, v := range err.Extensions {
			extensions[name] = v
		}
		err.Extensions = extensions
	}
	return errs
}

// truncated returns a text of at most that many bytes: where it is longer, it is cut
// between characters and ends in an ellipsis.
func truncated(text string, most int) string {
	if len(text) <= most {
		return text
	}
	end := most - len("…")
	for end > 0 && text[end]&0xC0 == 0x80 {
		end--
	}
	return text[:end] + "…"
}
