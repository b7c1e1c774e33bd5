package changes

import (
	"context"
	"time"

	"simgraph/domain"
	"simgraph/domain/bulk"
	"simgraph/domain/query"
)

// pollEvery is how often an operation is looked at that a server works on.
const pollEvery = 200 * time.Millisecond

// resultsAtOnce bounds the results of one read.
const resultsAtOnce = 1_000

// Runner runs operations to their end, as a worker of its own.
type Runner struct {
	Operations interface {
		Start(ctx context.Context, caller *domain.Caller, start bulk.Start) (*bulk.Operation, error)
		Round(ctx context.Context) (more bool, err error)
		Find(ctx context.Context, scope domain.Scope, operationID string) (*bulk.Operation, error)
		ResultsOf(ctx context.Context, scope domain.Scope, operationIDs []string, listing domain.Listing) (map[string]domain.Slice[*bulk.Result], error)
	}
	Caller *domain.Caller
	// Progress is called with the operation while it goes on.
	Progress func(of *bulk.Operation)
}

// Run starts an operation and returns it when it has ended. One that ctx breaks off goes
// on where a server runs.
func (r *Runner) Run(ctx context.Context, start bulk.Start) (*bulk.Operation, error) {
	of, err := r.Operations.Start(ctx, r.Caller, start)
	for err == nil && of.EndedAt == nil {
		r.Progress(of)
		more, failed := r.Operations.Round(ctx)
		if failed != nil {
			return of, failed
		}
		if of, err = r.Operations.Find(ctx, r.Caller.Scope, of.OperationID); err != nil || more || of.EndedAt != nil {
			continue
		}
		select {
		case <-ctx.Done():
			return of, ctx.Err()
		case <-time.After(pollEvery):
		}
	}
	return of, err
}

// Failures calls visit with each row of an operation that failed, in their order.
func (r *Runner) Failures(ctx context.Context, operationID string, visit func(*bulk.Result)) error {
	failed, err := query.Compare(bulk.ResultFields, "outcome", query.Eq, string(bulk.Failed))
	if err != nil {
		return err
	}
	listing := domain.Listing{Filter: failed, Page: domain.Page{Limit: resultsAtOnce}}
	for {
		found, err := r.Operations.ResultsOf(ctx, r.Caller.Scope, []string{operationID}, listing)
		if err != nil {
			return err
		}
		page := found[operationID]
		for _, result := range page.Items {
			visit(result)
		}
		if !page.HasNext || len(page.Items) == 0 {
			return nil
		}
		listing.Page.Cursor = page.Cursor(len(page.Items) - 1)
	}
}
