package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"simgraph/domain"
	"simgraph/internal/bundle"
	"simgraph/internal/held"
	"simgraph/internal/problem"
	"simgraph/internal/retry"
)

const (
	// batchSize bounds the records of a transaction, and those that are read
	// ahead of it.
	batchSize = 5_000
	// linger is how long a batch waits for more: a stream at full speed makes
	// large batches, a slow one is answered at once.
	linger = 5 * time.Millisecond
	// attempts bounds how often a batch is tried while the database is away.
	attempts   = 6
	firstPause = 100 * time.Millisecond
)

// stream is a request on its way. One goroutine reads ahead, one books and one
// answers; while the client takes no answers, nothing more is read.
type stream struct {
	*Handler
	ctx      context.Context
	caller   *domain.Caller
	w        http.ResponseWriter
	r        *http.Request
	body     io.Reader
	control  *http.ResponseController
	lines    *readAhead
	answered bool
	out      []byte
}

// readLine is a record, or why the line holds none.
type readLine struct {
	bundle.UsageLine
	err error
}

func (h *Handler) stream(ctx context.Context, caller *domain.Caller, w http.ResponseWriter, r *http.Request) *stream {
	body := r.Body
	if h.Bytes > 0 {
		body = http.MaxBytesReader(nil, body, h.Bytes)
	}
	return &stream{
		Handler: h, ctx: ctx, caller: caller, w: w, r: r, body: body,
		control: http.NewResponseController(w), lines: newReadAhead(batchSize, &h.held),
	}
}

// run answers until the stream ends. When it cannot go on it reports why in a last
// line and cuts the connection, so that no client takes the answer for whole.
func (s *stream) run() {
	// HTTP/2 is duplex always; a server that is not answers all at the end.
	_ = s.control.EnableFullDuplex()
	s.extend()
	stop, read := make(chan struct{}), make(chan struct{})
	bookings, booked := make(chan *booking), make(chan struct{})
	var readErr error
	go func() { readErr = s.read(stop); close(read) }()
	go func() { s.bookAll(bookings, stop); close(booked) }()
	err := s.answerAll(bookings)
	gone := s.ctx.Err() != nil
	close(stop)
	<-booked
	if err == nil {
		<-read
		err = readErr
	}
	if err == nil {
		s.begin()
		return
	}
	if !gone {
		s.explain(s.w, s.r, s.answered, err)
	}
	_ = s.control.SetReadDeadline(time.Now().Add(drainTime)) // ends a read that waits
	<-read
	s.held.Add(-s.lines.held.own.Load()) // of lines that are not answered
	if gone {
		panic(http.ErrAbortHandler)
	}
	s.cut(s.control, s.r, s.answered)
}

// extend gives the client time to go on.
func (s *stream) extend() {
	deadline := time.Now().Add(idleTime)
	_ = s.control.SetReadDeadline(deadline)
	_ = s.control.SetWriteDeadline(deadline)
}

// read hands over the lines of the body until it ends, or stop is closed. The
// order matters: its error must be set once the lines have ended.
func (s *stream) read(stop <-chan struct{}) error {
	defer s.lines.end()
	body := s.reading.NewReader(s.body, s.caller.Company.ExternalID, bundle.MaxLine)
	defer body.Release()
	reader := bundle.NewUsageReader(body)
	for {
		line, err := reader.Next()
		body.Release()
		bad, isBad := errors.AsType[*bundle.LineError](err)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case isBad:
			err = bad.Err
		case err != nil:
			return unreadable(err)
		}
		if !s.lines.put(readLine{line, err}, stop) {
			return nil
		}
	}
}

// unreadable returns why a body ended early. What came before is booked.
func unreadable(err error) error {
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		message := fmt.Sprintf("the stream has more than %d bytes: send the rest in another", large.Limit)
		return problem.New(problem.TooLarge, "", message)
	}
	if errors.Is(err, held.ErrFull) {
		return &domain.Error{Kind: domain.KindUnavailable, Message: "too many long lines are being read: send the rest in another stream"}
	}
	return domain.Invalid("", "the body could not be read to its end")
}

// booking is a batch on its way.
type booking struct {
	batch []readLine
	// results and err are set when done is closed.
	results []domain.Recorded
	err     error
	done    chan struct{}
	// placed is called when the next batch may begin: it comes after this one, unless
	// this one has to be tried again.
	placed func()
	turn   chan struct{}
}

func newBooking(batch []readLine) *booking {
	b := &booking{batch: batch, done: make(chan struct{}), turn: make(chan struct{})}
	b.placed = sync.OnceFunc(func() { close(b.turn) })
	return b
}

// finish is called once.
func (b *booking) finish(results []domain.Recorded, err error) {
	b.results, b.err = results, err
	b.placed()
	close(b.done)
}

// answerAll answers batch after batch.
func (s *stream) answerAll(bookings <-chan *booking) error {
	for b := range bookings {
		<-b.done
		if b.err != nil {
			return b.err
		}
		s.extend()
		if err := s.answer(b.batch, b.results); err != nil {
			return err
		}
		s.lines.release(b.batch)
	}
	return nil
}

// bookAll books batch after batch and hands them over in their order. A batch begins
// as soon as its place after the one before is certain, so that two are under way:
// the database enters the records of one while it adds up the other. It returns when
// none is under way.
func (s *stream) bookAll(to chan<- *booking, stop <-chan struct{}) {
	var underWay sync.WaitGroup
	defer underWay.Wait()
	defer close(to)
	for {
		batch, err := s.collect(stop)
		if err == nil && len(batch) == 0 {
			return
		}
		if err == nil {
			err = s.StillValid(s.ctx)
		}
		b := newBooking(batch)
		if err != nil {
			b.finish(nil, err)
		} else {
			underWay.Go(func() { b.finish(s.book(b)) })
		}
		select {
		case to <- b:
		case <-stop:
			return
		}
		if err != nil {
			return
		}
		<-b.turn
	}
}

// collect waits for a line and takes what comes with it; none at the end.
func (s *stream) collect(stop <-chan struct{}) ([]readLine, error) {
	for s.lines.awaits(1) {
		select {
		case <-stop:
			return nil, nil
		case <-s.closing:
			return nil, errStopping
		case <-s.lines.grown:
		}
	}
	select {
	case <-stop:
		return nil, nil
	case <-s.closing:
		if !s.lines.over() {
			return nil, errStopping
		}
	default:
	}
	return s.lines.take(linger), nil
}

// book records what can be read of a batch.
func (s *stream) book(b *booking) ([]domain.Recorded, error) {
	results := make([]domain.Recorded, len(b.batch))
	records := make([]domain.UsageRecord, 0, len(b.batch))
	places := make([]int, 0, len(b.batch))
	for i, line := range b.batch {
		if err := s.check(line); err != nil {
			results[i] = domain.Rejected(err)
			continue
		}
		records, places = append(records, line.Record), append(places, i)
	}
	if len(records) == 0 {
		return results, nil
	}
	recorded, err := s.record(records, b.placed)
	if err != nil {
		return nil, err
	}
	for i, place := range places {
		results[place] = recorded[i]
	}
	return results, nil
}

func (s *stream) check(line readLine) error {
	if line.err != nil {
		if _, ok := domain.AsError(line.err); ok {
			return line.err
		}
		return domain.Invalid("", "%v", line.err)
	}
	if line.Company != "" && line.Company != s.caller.Company.ExternalID {
		return domain.Invalid("company", "the access token is not of the company %.100q", line.Company)
	}
	return nil
}

// record tries again while the database is out of reach: to book the same twice
// changes nothing.
func (s *stream) record(records []domain.UsageRecord, placed func()) ([]domain.Recorded, error) {
	return retry.WhileUnavailable(s.ctx, attempts, firstPause, func() ([]domain.Recorded, error) {
		return s.Usage.RecordInTurn(s.ctx, s.caller.Scope, records, placed)
	})
}
