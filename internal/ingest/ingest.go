// Package ingest answers POST /usage/records: a stream of usage records of any length as
// NDJSON, answered line by line as the records are committed, or in the form of a source.
package ingest

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"simgraph/domain"
	"simgraph/domain/source"
	"simgraph/internal/held"
	"simgraph/internal/intake"
	"simgraph/internal/problem"
)

// Path is where the handler belongs.
const Path = "/usage/records"

const (
	// DefaultStreams is how many streams there may be at a time.
	DefaultStreams = 64
	// idleTime is how long a client may send or take nothing.
	idleTime = 2 * time.Minute
)

// Config is what streams need.
type Config struct {
	// Usage books the records.
	Usage interface {
		RecordInTurn(ctx context.Context, scope domain.Scope, records []domain.UsageRecord, placed func()) ([]domain.Recorded, error)
	}
	// Sources takes bodies that are read by the profile of a source.
	Sources interface {
		TakeNamed(ctx context.Context, scope domain.Scope, name string, body io.Reader, options intake.Options) (source.Counts, error)
	}
	// Admit returns the context of a request with its caller.
	Admit func(r *http.Request) (context.Context, error)
	// StillValid returns an error once the token of that context is revoked or
	// expired.
	StillValid func(ctx context.Context) error
	// Challenge is the answer to refused credentials.
	Challenge problem.Challenge
	Log       *slog.Logger
	// Streams bounds the streams at a time, each of which holds four batches in
	// memory: two that are booked, one that waits and one that is read; of all together
	// not more than mostHeld. 0 stands for DefaultStreams.
	Streams int
	// Bytes bounds a stream; 0 stands for no limit, since memory does not grow
	// with its length.
	Bytes int64
}

// Handler answers POST /usage/records.
type Handler struct {
	Config
	streams atomic.Int64
	// bySource counts those of the streams that are read by a profile.
	bySource atomic.Int64
	// held is what all streams hold of lines that are not answered yet, in bytes; reading
	// is what they hold of the lines that they read.
	held    atomic.Int64
	reading held.Budget
	// closing is closed when streams shall end.
	closing chan struct{}
	once    sync.Once
}

// New returns the handler.
func New(cfg Config) *Handler {
	cfg.Streams = cmp.Or(cfg.Streams, DefaultStreams)
	return &Handler{Config: cfg, closing: make(chan struct{})}
}

// Close ends streams, but does not wait for that. They may go on for half of the
// time that ctx has, so that short ones come to their end; the others are answered
// between two batches to come back.
func (h *Handler) Close(ctx context.Context) {
	end := func() { h.once.Do(func() { close(h.closing) }) }
	if until, limited := ctx.Deadline(); limited {
		time.AfterFunc(time.Until(until)/2, end)
		return
	}
	end()
}

// ServeHTTP implements http.Handler. Each line of the answer is the result of
// one record, in the order of the records; it is sent when that is committed.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, caller, err := h.admit(r)
	if err == nil {
		err = h.enter()
	}
	if err != nil {
		h.Refuse(w, r, err)
		return
	}
	defer h.streams.Add(-1)
	if name := sourceOf(r); name != "" {
		h.take(ctx, caller, w, r, name)
		return
	}
	h.stream(ctx, caller, w, r).run()
}

// admit checks a request in the order of the REST paths.
func (h *Handler) admit(r *http.Request) (context.Context, *domain.Caller, error) {
	if r.Method != http.MethodPost {
		return nil, nil, errMethod
	}
	ctx, err := h.Admit(r)
	if err != nil {
		return nil, nil, err
	}
	caller, err := domain.CallerWith(ctx, domain.RecordUsage)
	if err != nil {
		return nil, nil, err
	}
	if sourceOf(r) != "" {
		return ctx, caller, nil // the profile knows the form
	}
	return ctx, caller, checkMedia(r.Header)
}

func (h *Handler) enter() error {
	if h.streams.Add(1) > int64(h.Streams) {
		h.streams.Add(-1)
		return &domain.Error{Kind: domain.KindRateLimited, Message: "too many streams of usage are open, try again later"}
	}
	return nil
}

// checkMedia takes NDJSON under its usual names, and no name at all.
func checkMedia(header http.Header) error {
	if header.Get("Content-Encoding") != "" {
		return errMedia
	}
	given := header.Get("Content-Type")
	if given == "" {
		return nil
	}
	switch media, _, err := mime.ParseMediaType(given); {
	case err != nil:
		return errMedia
	case media == "application/x-ndjson", media == "application/ndjson", media == "application/jsonl", media == "application/json":
		return nil
	}
	return errMedia
}
