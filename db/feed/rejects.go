package feed

import (
	"context"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/pg"
	"simgraph/domain"
)

const (
	// maxRejects bounds the reasons that are kept of a company. What comes beyond is
	// counted as otherReason, for no network element in particular.
	maxRejects  = 1000
	otherReason = "another reason, beyond the first 1,000"
	// rejectPause is between two writes of rejects of a company while many come.
	rejectPause = 50 * time.Millisecond
	// rejectTime bounds a write, which no single request can end.
	rejectTime = 20 * time.Second
)

const addRejects = `
INSERT INTO feed_rejects AS r (company_id, source, nas, reason, requests, first_at, last_at, example)
SELECT own.company_id, n.source, n.nas, n.reason, sum(n.requests), now(), now(), max(n.example)
FROM companies own
CROSS JOIN (
  SELECT k.source, CASE WHEN kept.fits THEN k.nas ELSE '' END AS nas, CASE WHEN kept.fits THEN k.reason ELSE $7 END AS reason, k.requests, k.example
  FROM unnest($2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[]) WITH ORDINALITY AS k(source, nas, reason, requests, example, place)
  CROSS JOIN LATERAL (
    SELECT (SELECT count(*) FROM feed_rejects WHERE company_id = $1) + k.place <= $8
      OR EXISTS (SELECT FROM feed_rejects o WHERE o.company_id = $1 AND o.source = k.source AND o.nas = k.nas AND o.reason = k.reason) AS fits
  ) kept
) n
WHERE own.company_id = $1
GROUP BY own.company_id, n.source, n.nas, n.reason
ORDER BY n.source, n.nas, n.reason
ON CONFLICT (company_id, source, nas, reason) DO UPDATE
SET requests = r.requests + excluded.requests, last_at = excluded.last_at, example = excluded.example`

// reasonKey is what rejects of a company are counted by.
type reasonKey struct {
	domain.FeedKey
	reason string
}

// rejected is how often a reason came, with the last example.
type rejected struct {
	requests int64
	example  string
}

// rejectBatch has the rejects of a company since its last write.
type rejectBatch struct {
	counted  map[reasonKey]rejected
	requests int
	// done is closed once the batch is committed, or err is set.
	done chan struct{}
	err  error
}

// rejects counts requests that cannot be used, and writes the counts of a company in
// one statement at a time: however many come, a company has one connection, and a
// request costs no statement of its own.
type rejects struct {
	pool *sqlx.DB
	mu   sync.Mutex
	// waiting has the next batch of each company, nil while only the one before it
	// is written.
	waiting map[domain.CompanyID]*rejectBatch
}

// add counts a request and waits until that is committed.
func (r *rejects) add(ctx context.Context, company domain.CompanyID, key reasonKey, example string) error {
	batch := r.join(ctx, company, key, example)
	select {
	case <-batch.done:
		return batch.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *rejects) join(ctx context.Context, company domain.CompanyID, key reasonKey, example string) *rejectBatch {
	r.mu.Lock()
	defer r.mu.Unlock()
	batch, writing := r.waiting[company]
	if batch == nil {
		batch = &rejectBatch{counted: map[reasonKey]rejected{}, done: make(chan struct{})}
		r.waiting[company] = batch
	}
	batch.counted[key] = rejected{batch.counted[key].requests + 1, example}
	batch.requests++
	if !writing {
		go r.write(context.WithoutCancel(ctx), company)
	}
	return batch
}

// write writes the batches of a company until none waits.
func (r *rejects) write(ctx context.Context, company domain.CompanyID) {
	for {
		batch := r.next(company)
		if batch == nil {
			return
		}
		batch.err = r.store(ctx, company, batch, maxRejects)
		close(batch.done)
		if batch.requests > 1 {
			time.Sleep(rejectPause)
		}
	}
}

func (r *rejects) next(company domain.CompanyID) *rejectBatch {
	r.mu.Lock()
	defer r.mu.Unlock()
	batch := r.waiting[company]
	if batch == nil {
		delete(r.waiting, company)
	} else {
		r.waiting[company] = nil
	}
	return batch
}

func (r *rejects) store(ctx context.Context, company domain.CompanyID, batch *rejectBatch, most int) error {
	ctx, cancel := context.WithTimeout(ctx, rejectTime)
	defer cancel()
	keys := make([]reasonKey, 0, len(batch.counted))
	for key := range batch.counted {
		keys = append(keys, key)
	}
	sources, elements := namesOf(pg.Pluck(keys, func(k reasonKey) domain.FeedKey { return k.FeedKey }))
	_, err := pg.Affected(ctx, r.pool, addRejects, company, sources, elements,
		pq.StringArray(pg.Pluck(keys, func(k reasonKey) string { return k.reason })),
		pq.Int64Array(pg.Pluck(keys, func(k reasonKey) int64 { return batch.counted[k].requests })),
		pq.StringArray(pg.Pluck(keys, func(k reasonKey) string { return batch.counted[k].example })), otherReason, most)
	return err
}
