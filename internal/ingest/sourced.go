package ingest

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"simgraph/domain"
	"simgraph/domain/source"
	"simgraph/internal/intake"
	"simgraph/internal/problem"
	"simgraph/internal/profile"
)

const (
	// maxBySource bounds the streams that are read by a profile, each of which holds a batch of
	// up to 4 MB as it is written, and several times that once it is read.
	maxBySource = 8
	// extendEvery is how often the deadlines of a body are moved while it comes.
	extendEvery = time.Second
)

// sourceOf names the source by whose profile the body is read; "" for NDJSON of our own.
func sourceOf(r *http.Request) string { return r.URL.Query().Get("source") }

// sourced is a request whose body is read by the profile of a source.
type sourced struct {
	*Handler
	ctx      context.Context
	w        http.ResponseWriter
	r        *http.Request
	control  *http.ResponseController
	extended time.Time
	answered bool
}

// take answers a line for each record that cannot be used, sent with its batch, and at last a
// line with the counts. When it cannot go on, that is an error, and the connection is cut.
func (h *Handler) take(ctx context.Context, caller *domain.Caller, w http.ResponseWriter, r *http.Request, name string) {
	if h.bySource.Add(1) > maxBySource {
		h.bySource.Add(-1)
		h.Refuse(w, r, &domain.Error{Kind: domain.KindRateLimited, Message: "too many streams by source are open, try again later"})
		return
	}
	defer h.bySource.Add(-1)
	working, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s := &sourced{Handler: h, ctx: working, w: w, r: r, control: http.NewResponseController(w)}
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		select {
		case <-h.closing:
			stop(errStopping)
			_ = s.control.SetReadDeadline(time.Now().Add(drainTime))
		case <-ended:
		}
	}()
	_ = s.control.EnableFullDuplex() // as in stream.run
	counts, err := s.counts(caller.Scope, name)
	if err == nil {
		s.write(intake.CountsLine(counts))
		return
	}
	switch cause := context.Cause(working); {
	case errors.Is(cause, errStopping): // the deadline ends the context of the request as well
		err = cause
	case ctx.Err() != nil:
		panic(http.ErrAbortHandler) // the client has gone
	}
	s.fail(err)
}

func (s *sourced) counts(scope domain.Scope, name string) (source.Counts, error) {
	var body io.Reader = &extending{s, s.r.Body}
	if s.Bytes > 0 {
		body = profile.Bounded(body, s.Bytes)
	}
	body, err := profile.Decompress(body, s.r.Header.Get("Content-Encoding"))
	if err != nil {
		return source.Counts{}, err
	}
	return s.Sources.TakeNamed(s.ctx, scope, name, body, intake.Options{
		Rejected: s.reject,
		Stored:   s.stored,
	})
}

// stored ends the stream once its token is revoked.
func (s *sourced) stored() error {
	if s.answered {
		_ = s.control.Flush() // the client may be gone: the next read shows it
	}
	return cmp.Or(s.StillValid(s.ctx), s.ctx.Err())
}

func (s *sourced) reject(place int, of *source.Reject) {
	line := strconv.AppendInt([]byte(`{"record":`), int64(place), 10)
	line = appendText(append(line, `,"status":"rejected","reason":`...), of.Reason)
	if of.Field != "" {
		line = appendText(append(line, `,"field":`...), of.Field)
	}
	s.write(append(line, "}\n"...))
}

func (s *sourced) write(line []byte) {
	if !s.answered {
		s.answered = true
		begin(s.w)
	}
	s.extend()
	_, _ = s.w.Write(line) // the client may be gone
}

func (s *sourced) extend() {
	if now := time.Now(); now.Sub(s.extended) >= extendEvery {
		s.extended = now
		_ = s.control.SetReadDeadline(now.Add(idleTime))
		_ = s.control.SetWriteDeadline(now.Add(idleTime))
	}
}

// extending gives the client time to go on with each piece that comes.
type extending struct {
	*sourced
	in io.Reader
}

func (e *extending) Read(p []byte) (int, error) {
	e.extend()
	// Asked after the deadline was moved: a server that stops moves it back.
	if err := context.Cause(e.ctx); err != nil {
		return 0, err
	}
	return e.in.Read(p)
}

// fail ends a stream of which the last batch may not be stored.
func (s *sourced) fail(err error) {
	if errors.Is(err, profile.ErrTooLarge) {
		err = problem.New(problem.TooLarge, "", err.Error())
	}
	s.explain(s.w, s.r, s.answered, err)
	s.cut(s.control, s.r, s.answered)
}
