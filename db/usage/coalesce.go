package usage

import (
	"context"
	"errors"
	"time"

	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/internal/flight"
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

// bookRecords books records of a company in one transaction.
type bookRecords func(context.Context, domain.CompanyID, []domain.UsageRecord) ([]domain.Recorded, error)

// coalescer books small calls of the same company together: while one
// transaction runs, the calls that come make up the next. Nobody waits for a
// batch to fill.
type coalescer struct {
	flights flight.Group[domain.CompanyID, []domain.UsageRecord, []domain.Recorded]
}

func newCoalescer(book bookRecords) *coalescer {
	return &coalescer{flight.Group[domain.CompanyID, []domain.UsageRecord, []domain.Recorded]{
		Run:   book.together,
		Weigh: func(records []domain.UsageRecord) int { return len(records) }, MaxFlight: coalescedBatch, MaxWaiting: waitingRecords,
	}}
}

// record waits until the records are committed. When ctx ends earlier nothing
// is known of them; to record them again is safe.
func (c *coalescer) record(ctx context.Context, company domain.CompanyID, records []domain.UsageRecord) ([]domain.Recorded, error) {
	results, err := c.flights.Do(ctx, company, records)
	if errors.Is(err, flight.ErrFull) {
		return nil, &domain.Error{Kind: domain.KindRateLimited, Message: "too much usage waits to be recorded, try again later"}
	}
	return results, pg.Translate(err)
}

// together books the calls in one transaction, or each by itself when that failed
// for another reason than a database out of reach: one may be to blame.
func (book bookRecords) together(ctx context.Context, company domain.CompanyID, calls [][]domain.UsageRecord) []flight.Result[[]domain.Recorded] {
	var records []domain.UsageRecord
	for _, call := range calls {
		records = append(records, call...)
	}
	recorded, err := book.once(ctx, company, records)
	public, isPublic := domain.AsError(err)
	if err != nil && (len(calls) == 1 || isPublic && public.Kind == domain.KindUnavailable) {
		return flight.Same[[]domain.Recorded](len(calls), nil, err)
	}
	results := make([]flight.Result[[]domain.Recorded], len(calls))
	for i, call := range calls {
		if err != nil {
			results[i].Value, results[i].Err = book.once(ctx, company, call)
			continue
		}
		results[i].Value, recorded = recorded[:len(call):len(call)], recorded[len(call):]
	}
	return results
}

func (book bookRecords) once(ctx context.Context, company domain.CompanyID, records []domain.UsageRecord) ([]domain.Recorded, error) {
	ctx, cancel := context.WithTimeout(ctx, sharedTimeout)
	defer cancel()
	return book(ctx, company, records)
}
