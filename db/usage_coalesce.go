package db

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"simgraph/domain"
)

const (
	// coalescedCall is the largest call that shares a transaction with others.
	coalescedCall = 100
	// coalescedBatch bounds the records of a shared transaction.
	coalescedBatch = 2_000
	// waitingRecords bounds those of a company that wait for one.
	waitingRecords = 50_000
	// sharedTimeout bounds a shared transaction, which no single caller can end.
	sharedTimeout = 30 * time.Second
)

// coalescer books small calls of the same company together: while one
// transaction runs, the calls that come make up the next. Nobody waits for a
// batch to fill.
type coalescer struct {
	book func(context.Context, domain.CompanyID, []domain.UsageRecord) ([]domain.Recorded, error)

	mu     sync.Mutex
	queues map[domain.CompanyID]*callQueue
}

type callQueue struct {
	calls   []*recordCall
	records int
}

type recordCall struct {
	ctx     context.Context
	records []domain.UsageRecord
	results []domain.Recorded
	err     error
	done    chan struct{}
}

// record waits until the records are committed. When ctx ends earlier nothing
// is known of them; to record them again is safe.
func (c *coalescer) record(ctx context.Context, company domain.CompanyID, records []domain.UsageRecord) ([]domain.Recorded, error) {
	call := &recordCall{ctx: ctx, records: records, done: make(chan struct{})}
	if err := c.join(company, call); err != nil {
		return nil, err
	}
	select {
	case <-call.done:
		return call.results, call.err
	case <-ctx.Done():
		return nil, Translate(ctx.Err())
	}
}

// join queues the call and sees to it that the company's queue is worked off.
func (c *coalescer) join(company domain.CompanyID, call *recordCall) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	queue, running := c.queues[company]
	switch {
	case !running:
		queue = &callQueue{}
		if c.queues == nil {
			c.queues = map[domain.CompanyID]*callQueue{}
		}
		c.queues[company] = queue
		go c.work(company)
	case queue.records+len(call.records) > waitingRecords:
		return &domain.Error{Kind: domain.KindRateLimited, Message: "too much usage waits to be recorded, try again later"}
	}
	queue.calls = append(queue.calls, call)
	queue.records += len(call.records)
	return nil
}

func (c *coalescer) work(company domain.CompanyID) {
	for {
		calls := c.next(company)
		if len(calls) == 0 {
			return
		}
		c.bookTogether(company, calls)
	}
}

// next takes calls off the queue, which ends when there are none.
func (c *coalescer) next(company domain.CompanyID) []*recordCall {
	c.mu.Lock()
	defer c.mu.Unlock()
	queue := c.queues[company]
	n, records := 0, 0
	for n < len(queue.calls) && (n == 0 || records+len(queue.calls[n].records) <= coalescedBatch) {
		records += len(queue.calls[n].records)
		n++
	}
	if n == 0 {
		delete(c.queues, company)
	}
	calls := slices.Clone(queue.calls[:n])
	queue.calls = slices.Delete(queue.calls, 0, n)
	queue.records -= records
	return calls
}

// bookTogether books the calls in one transaction, or each by itself when that
// failed for another reason than a database out of reach: one may be to blame.
func (c *coalescer) bookTogether(company domain.CompanyID, calls []*recordCall) {
	defer func() {
		for _, call := range calls {
			close(call.done)
		}
	}()
	var records []domain.UsageRecord
	for _, call := range calls {
		records = append(records, call.records...)
	}
	results, err := c.bookOnce(company, records, calls...)
	public, isPublic := domain.AsError(err)
	if err == nil || len(calls) == 1 || isPublic && public.Kind == domain.KindUnavailable {
		share(calls, results, err)
		return
	}
	for _, call := range calls {
		call.results, call.err = c.bookOnce(company, call.records, call)
	}
}

// bookOnce gives up when none of the callers waits any longer.
func (c *coalescer) bookOnce(company domain.CompanyID, records []domain.UsageRecord, callers ...*recordCall) ([]domain.Recorded, error) {
	ctx, cancel := context.WithTimeout(context.Background(), sharedTimeout)
	defer cancel()
	var waiting atomic.Int64
	waiting.Store(int64(len(callers)))
	for _, caller := range callers {
		stop := context.AfterFunc(caller.ctx, func() {
			if waiting.Add(-1) == 0 {
				cancel()
			}
		})
		defer stop()
	}
	return c.book(ctx, company, records)
}

func share(calls []*recordCall, results []domain.Recorded, err error) {
	for _, call := range calls {
		if call.err = err; err == nil {
			call.results, results = results[:len(call.records):len(call.records)], results[len(call.records):]
		}
	}
}
