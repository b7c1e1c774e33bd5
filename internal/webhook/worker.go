package webhook

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"simgraph/domain"
	"simgraph/domain/webhook"
)

// Config are the settings of a Worker. Durations and numbers that are zero get the
// defaults that stand beside them.
type Config struct {
	Outbox webhook.Outbox
	Rules  webhook.Rules
	Log    *slog.Logger
	// Tried, unless nil, is called with the result of every attempt.
	Tried func(webhook.Result)
	// Now returns the time: time.Now.
	Now func() time.Time
	// Every is the longest time between two looks into the outbox: 1 s.
	Every time.Duration
	// After begins a pause between two looks: time.After.
	After func(time.Duration) <-chan time.Time
	// Timeout bounds one request: 20 s.
	Timeout time.Duration
	// AtOnce is how many requests run at the same time, of all companies: 128.
	AtOnce int
}

// Worker sends messages. Any number of workers, in any number of processes, may share
// an outbox.
type Worker struct {
	Config
	sender *Sender
	// slots holds a value for each request that runs; freed has one when some ended.
	slots chan struct{}
	freed chan struct{}

	mu sync.Mutex
	// running counts the requests that run, by company.
	running map[domain.CompanyID]int
}

const (
	// ofCompany bounds the requests of one company that run in a process.
	ofCompany = 32
	// pause keeps a worker with much to do from asking without end.
	pause = 5 * time.Millisecond
	// noteEvery is the time between two attempts to record an answer.
	noteEvery = 200 * time.Millisecond
	// noteFor bounds how long an answer may take to be recorded.
	noteFor = 10 * time.Second
)

// New returns a worker.
func New(cfg Config) *Worker {
	orDefault(&cfg.Every, time.Second)
	orDefault(&cfg.Timeout, 20*time.Second)
	if cfg.After == nil {
		cfg.After = time.After
	}
	orDefault(&cfg.AtOnce, 128)
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if cfg.Tried == nil {
		cfg.Tried = func(webhook.Result) {}
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Worker{
		Config: cfg, sender: NewSender(cfg.Rules, cfg.Timeout, cfg.Now),
		slots: make(chan struct{}, cfg.AtOnce), freed: make(chan struct{}, 1), running: map[domain.CompanyID]int{},
	}
}

func orDefault[T comparable](value *T, otherwise T) {
	var zero T
	if *value == zero {
		*value = otherwise
	}
}

// Run sends messages until ctx ends; what is being sent then is finished. Failures are
// logged, and tried again.
func (w *Worker) Run(ctx context.Context) error {
	var sending sync.WaitGroup
	defer sending.Wait()
	for ctx.Err() == nil {
		if err := w.round(ctx, &sending); err != nil && ctx.Err() == nil {
			w.Log.Error("webhooks: the outbox could not be worked on", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-w.After(w.Every):
		case <-w.freed:
			wait(ctx, pause)
		}
	}
	return nil
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// round looks at each company once, and begins to send what is due while there are
// slots. It does not wait for answers: an endpoint that hangs holds up no other. The
// order of companies is random, so that none is always last.
func (w *Worker) round(ctx context.Context, sending *sync.WaitGroup) error {
	companies, lost := w.Outbox.Pending(ctx)
	rand.Shuffle(len(companies), func(i, j int) { companies[i], companies[j] = companies[j], companies[i] })
	return errors.Join(lost, domain.TryCompanies(ctx, companies, func(company domain.CompanyID) error {
		free := min(cap(w.slots)-len(w.slots), ofCompany-w.count(company, 0))
		if free <= 0 {
			return nil
		}
		until := time.Now().Add(w.lease())
		attempts, err := w.Outbox.Claim(ctx, company, free, w.lease())
		for _, of := range attempts {
			w.slots <- struct{}{} // this is the only place that takes one
			w.count(company, 1)
			sending.Go(func() {
				w.deliver(context.WithoutCancel(ctx), of, until)
				w.count(company, -1)
				<-w.slots
				select {
				case w.freed <- struct{}{}:
				default:
				}
			})
		}
		return err
	}))
}

// count adds n to the requests that run of the company, and returns their number.
func (w *Worker) count(company domain.CompanyID, n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running[company] += n
	now := w.running[company]
	if now == 0 {
		delete(w.running, company)
	}
	return now
}

// lease is how long a message is the worker's: the request, and to record the answer.
func (w *Worker) lease() time.Duration { return w.Timeout + noteFor }

// deliver makes one attempt and records the answer, until the lease ends, which may be
// over where the process was frozen.
func (w *Worker) deliver(ctx context.Context, of *webhook.Attempt, until time.Time) {
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	if ctx.Err() != nil {
		return
	}
	answer := w.sender.Send(ctx, of)
	result, disabled, err := w.note(ctx, of, answer)
	if err != nil { // the lease ends, and another attempt is made
		w.Log.Error("webhooks: an answer could not be recorded", "delivery", of.DeliveryID, "error", err)
		return
	}
	w.Tried(result)
	if disabled != "" {
		w.Log.Warn("webhooks: an endpoint was disabled", "company", of.CompanyID, "webhook", of.WebhookID, "reason", disabled)
	}
	if result != webhook.ResultDelivered {
		w.Log.Info("webhooks: an attempt failed", "delivery", of.DeliveryID, "webhook", of.WebhookID, "attempts", of.Attempts,
			"status", answer.Status, "result", result)
	}
}

// note records the answer while the lease lasts: were the database away just now,
// the message would be sent once more.
func (w *Worker) note(ctx context.Context, of *webhook.Attempt, answer webhook.Answer) (webhook.Result, webhook.DisabledReason, error) {
	for {
		result, disabled, err := w.Outbox.Finish(ctx, of, answer)
		if fault, is := domain.AsError(err); !is || fault.Kind != domain.KindUnavailable {
			return result, disabled, err
		}
		select {
		case <-ctx.Done():
			return result, disabled, err
		case <-time.After(noteEvery):
		}
	}
}
