package upstream

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"simgraph/domain"
	"simgraph/domain/upstream"
	"simgraph/internal/retry"
	"simgraph/internal/webhook"
)

// Queue hands out passes.
type Queue interface {
	Keeper
	// Due returns upstreams of which a pass may begin, or edits may be sent.
	Due(ctx context.Context) ([]upstream.Due, error)
	// Claim begins a pass; nil where another worker has it. A job beside an error ends by it.
	Claim(ctx context.Context, due upstream.Due, lease time.Duration) (*upstream.Job, error)
	// Renew goes on with a pass; false where it is to end.
	Renew(ctx context.Context, job *upstream.Job, lease time.Duration, progress []upstream.Progress) (bool, error)
	// Release gives a pass back, which has booked so many records.
	Release(ctx context.Context, job *upstream.Job, records int64) error
	// Finish ends a pass; false where another worker has it.
	Finish(ctx context.Context, job *upstream.Job, outcome upstream.Outcome) (bool, error)
	// Writes returns edits that wait to be sent, up to a number.
	Writes(ctx context.Context, job *upstream.Job, most int) ([]*upstream.Write, error)
	// Written notes that one was sent, or why it was refused.
	Written(ctx context.Context, job *upstream.Job, w *upstream.Write, refusal string) error
	// PutOff has them sent later, and says why; "" ends that.
	PutOff(ctx context.Context, job *upstream.Job, reason string) error
}

// Result is how a pass ended.
type Result string

// The results.
const (
	// Synced is a pass that succeeded, Swept one that was a sweep.
	Synced Result = "synced"
	Swept  Result = "swept"
	Failed Result = "failed"
	// Written is no pass: edits were sent.
	Written Result = "written"
	// Stopped is a pass that was paused, removed, or is another worker's.
	Stopped Result = "stopped"
)

// Results are all of them, as texts.
var Results = []string{string(Synced), string(Swept), string(Failed), string(Stopped), string(Written)}

// WorkerConfig are the settings of a Worker. Durations and numbers that are zero get the
// defaults that stand beside them.
type WorkerConfig struct {
	Queue Queue
	// Stores are where accounts go; their Keeper is the Queue.
	Stores Stores
	// By is who does it, for the audit log.
	By *domain.Actor
	// Transport makes the requests. It must refuse addresses that may not be called.
	Transport http.RoundTripper
	Log       *slog.Logger
	// Ended, unless nil, is called with the result of each pass.
	Ended func(Result)
	// Now is the clock: time.Now.
	Now func() time.Time
	// Every is the time between two passes of an upstream: 15 min.
	Every time.Duration
	// Look is the time between two looks for upstreams that are due: 5 s.
	Look time.Duration
	// After begins a pause between two looks: time.After.
	After func(time.Duration) <-chan time.Time
	// Lease is for how long no other worker takes a pass, unless it is renewed: 1 min.
	Lease time.Duration
	// Patience bounds how long one request is tried again: 2 min.
	Patience time.Duration
	// Timeout bounds one request with its answer: 1 min.
	Timeout time.Duration
	// AtOnce bounds the passes that run in this process: 8. OfCompany bounds those of one
	// company: 2.
	AtOnce, OfCompany int
}

const (
	// ofPass bounds the requests of a pass that run at the same time.
	ofPass = 2
	// answerOfPass bounds an answer in bytes: the servers are named by anybody.
	answerOfPass = 64 << 20
	// endTime bounds how long the end of a pass may take to be stored.
	endTime = 10 * time.Second
)

// Worker does the passes of upstreams. Any number of workers, in any number of processes, may
// share a queue.
type Worker struct {
	WorkerConfig

	mu sync.Mutex
	// running counts the passes that run, by company.
	running map[domain.CompanyID]int
	// freed has a value when a pass has ended.
	freed chan struct{}
}

// NewWorker returns a worker.
func NewWorker(cfg WorkerConfig) *Worker {
	orDefault(&cfg.Every, 15*time.Minute)
	orDefault(&cfg.Look, 5*time.Second)
	orDefault(&cfg.Lease, time.Minute)
	orDefault(&cfg.Patience, 2*time.Minute)
	orDefault(&cfg.Timeout, time.Minute)
	orDefault(&cfg.AtOnce, 8)
	orDefault(&cfg.OfCompany, 2)
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if cfg.Ended == nil {
		cfg.Ended = func(Result) {}
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.After == nil {
		cfg.After = time.After
	}
	cfg.Stores.Keeper = cfg.Queue
	return &Worker{WorkerConfig: cfg, running: map[domain.CompanyID]int{}, freed: make(chan struct{}, 1)}
}

func orDefault[T comparable](value *T, otherwise T) {
	var zero T
	if *value == zero {
		*value = otherwise
	}
}

// Run does passes until ctx ends; those that run then are given back.
func (w *Worker) Run(ctx context.Context) error {
	var passes sync.WaitGroup
	defer passes.Wait()
	for ctx.Err() == nil {
		if err := w.round(ctx, &passes); err != nil && ctx.Err() == nil {
			w.Log.Error("upstreams: the queue could not be worked on", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-w.After(w.Look):
		case <-w.freed:
		}
	}
	return nil
}

// round begins the passes that are due while there is room. It does not wait for them.
func (w *Worker) round(ctx context.Context, passes *sync.WaitGroup) error {
	due, unread := w.Queue.Due(ctx)
	rand.Shuffle(len(due), func(i, j int) { due[i], due[j] = due[j], due[i] })
	failures := []error{unread}
	for _, of := range due {
		if ctx.Err() != nil || !w.enter(of.CompanyID) {
			continue
		}
		job, err := w.Queue.Claim(ctx, of, w.Lease)
		if job == nil {
			w.leave(of.CompanyID)
			failures = append(failures, err)
			continue
		}
		passes.Go(func() {
			defer w.leave(of.CompanyID)
			w.do(ctx, job, err)
		})
	}
	return errors.Join(failures...)
}

func (w *Worker) enter(company domain.CompanyID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := 0
	for _, n := range w.running {
		all += n
	}
	if all >= w.AtOnce || w.running[company] >= w.OfCompany {
		return false
	}
	w.running[company]++
	return true
}

func (w *Worker) leave(company domain.CompanyID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running[company]--; w.running[company] == 0 {
		delete(w.running, company)
	}
	select {
	case w.freed <- struct{}{}:
	default:
	}
}

// errStopped ends a pass whose lease could not be renewed.
var errStopped = errors.New("the pass was stopped")

// errTooLong ends a pass after upstream.PassTime.
var errTooLong = domain.Invalid("", "the pass took too long: the next one goes on from what is stored")

// pass is a job that is being done.
type pass struct {
	*Worker
	job   *upstream.Job
	mover *Mover

	mu       sync.Mutex
	progress map[upstream.Resource]upstream.Progress
	refusals []string
	refused  int64
}

// do does a pass, unless it has failed already, and stores how it ended.
func (w *Worker) do(ctx context.Context, job *upstream.Job, err error) {
	p := &pass{Worker: w, job: job, progress: map[upstream.Resource]upstream.Progress{}}
	if job.IsWriting || job.StartedAt.Before(job.ClaimedAt) {
		for _, of := range job.Upstream.Progress {
			p.progress[of.Resource] = of
		}
	}
	if err == nil {
		err = p.run(ctx)
	}
	result := p.end(ctx, err)
	w.Ended(result)
	if result == Failed {
		w.Log.Warn("upstreams: a pass failed, or edits could not be sent", "company", job.Company.CompanyID, "upstream", job.Upstream.UpstreamID, "sweep", job.IsSweep, "attempts", job.Attempts, "error", err)
	}
}

// run does the pass while its lease lasts.
func (p *pass) run(ctx context.Context) error {
	client, err := NewClient(Config{
		BaseURL: p.job.Upstream.BaseURL, Key: p.job.Key, Transport: p.Transport, Timeout: p.Timeout, Patience: p.Patience, MaxAnswer: answerOfPass, Now: p.Now,
	})
	if err != nil {
		return err
	}
	of := p.job.Upstream
	p.mover = &Mover{
		From: client, Stores: p.Stores, Company: p.job.Company, By: p.By, Source: of.SourceName, Currency: of.Currency, Days: p.job.Days(), AtOnce: ofPass,
		WithRecipients: of.IsCopyingRecipients, WithoutAlerts: !of.IsCopyingAlerts, Job: p.job, Now: p.Now, Refused: p.refuse, Progress: p.note,
	}
	ctx, end := context.WithTimeoutCause(ctx, upstream.PassTime, errTooLong)
	defer end()
	ctx, stop := context.WithCancelCause(ctx)
	var beside sync.WaitGroup
	beside.Go(func() { p.renew(ctx, stop) })
	if p.job.IsWriting {
		err = p.write(ctx, mostWrites)
	} else {
		beside.Go(func() { p.keepWriting(ctx) })
		err = p.mover.Pass(ctx)
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	stop(nil)
	beside.Wait()
	return err
}

// renew renews the lease until ctx ends, and stops the pass where that is refused, or was not
// possible for as long as the lease.
func (p *pass) renew(ctx context.Context, stop context.CancelCauseFunc) {
	tick := time.NewTicker(p.Lease / 6)
	defer tick.Stop()
	renewed := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		began := time.Now()
		within, cancel := context.WithTimeout(ctx, p.Lease/2)
		isOurs, err := p.Queue.Renew(within, p.job, p.Lease, p.reached())
		cancel()
		switch {
		case err == nil && isOurs:
			renewed = began
		case err == nil, time.Since(renewed) > p.Lease*5/6:
			stop(errStopped)
			return
		}
	}
}

// note is Mover.Progress.
func (p *pass) note(what string, done int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	of := upstream.Progress{Resource: upstream.Resource(what), Done: int64(done)}
	if of.Resource == upstream.DaysCompared {
		of.Total = new(int64(p.mover.Days))
	}
	p.progress[of.Resource] = of
}

// reached is the progress in the order of a sweep.
func (p *pass) reached() []upstream.Progress {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.SortedFunc(maps.Values(p.progress), func(a, b upstream.Progress) int {
		return slices.Index(upstream.Resources, a.Resource) - slices.Index(upstream.Resources, b.Resource)
	})
}

// refuse is Mover.Refused.
func (p *pass) refuse(what string, why error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refused++
	if len(p.refusals) < upstream.MaxRefusals {
		p.refusals = append(p.refusals, clip(what+": "+reasonOf(why)))
	}
}

// reasonOf is an error as the owners of an upstream are shown it.
func reasonOf(err error) string {
	var fault *Fault
	if errors.As(err, &fault) {
		return clip(webhook.Reason(err))
	}
	if public, is := domain.AsError(err); is {
		return clip(public.Message)
	}
	return "this server could not store it; its log says more"
}

// end stores how the pass ended. One that ends with the worker is given back, and goes on
// from where it stands.
func (p *pass) end(ctx context.Context, err error) Result {
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	outcome := upstream.Outcome{Every: p.Every, Progress: p.reached(), Refused: p.refused, Refusals: p.refusals}
	if p.mover != nil {
		outcome.Records, outcome.Lowered, outcome.Held = int64(p.mover.copied), int64(p.mover.lowered), p.mover.held
	}
	switch {
	case p.job.IsWriting:
		return p.endWriting(ctx, err)
	case errors.Is(err, errStopped):
		_ = p.Queue.Release(last, p.job, outcome.Records) // where it is another's, that changes nothing
		return Stopped
	case err != nil && ctx.Err() != nil:
		if err := p.Queue.Release(last, p.job, outcome.Records); err != nil { // the lease ends
			p.Log.Warn("upstreams: a pass could not be given back", "upstream", p.job.Upstream.UpstreamID, "error", err)
		}
		return Stopped
	}
	result := Synced
	if p.job.IsSweep {
		result = Swept
	}
	if err != nil {
		outcome.Err, result = reasonOf(err), Failed
	}
	isOurs, unstored := retry.WhileUnavailable(last, attempts, firstRetry, func() (bool, error) { return p.Queue.Finish(last, p.job, outcome) })
	switch {
	case unstored != nil: // the lease ends, and the pass goes on
		p.Log.Error("upstreams: the end of a pass could not be stored", "upstream", p.job.Upstream.UpstreamID, "error", unstored)
		return Failed
	case !isOurs:
		return Stopped
	}
	return result
}
