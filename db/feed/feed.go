// Package feed keeps what the network reports: accounting requests, the sessions
// that they are about, and the clients that may send them.
package feed

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/pg"
	"simgraph/db/usage"
	"simgraph/domain"
)

// Store stores accounting requests in PostgreSQL.
type Store struct {
	pool    *sqlx.DB
	usage   *usage.Store
	clients *Clients

	mu sync.Mutex
	// tally has the packets since the last Flush.
	tally map[tallyKey]domain.FeedPackets
}

var _ domain.Feed = (*Store)(nil)

// New returns the store on the pool, which books by the ledger.
func New(pool *sqlx.DB, ledger *usage.Store, clients *Clients) *Store {
	return &Store{pool: pool, usage: ledger, clients: clients, tally: map[tallyKey]domain.FeedPackets{}}
}

// Clients implements domain.Feed.
func (f *Store) Clients(ctx context.Context) ([]*domain.RADIUSClient, error) {
	return f.clients.All(ctx)
}

// Account implements domain.Feed.
func (f *Store) Account(ctx context.Context, clients []*domain.RADIUSClient, a domain.Accounting) (domain.AccountingResult, error) {
	client, err := f.owner(ctx, clients, a)
	if err != nil {
		return "", err
	}
	result, err := f.store(ctx, client, clients, a)
	if err != nil {
		return result, err
	}
	if !a.Restarted || a.Unusable != "" {
		clients = []*domain.RADIUSClient{client}
	}
	for _, client := range clients {
		f.count(client.CompanyID, domain.FeedKey{Source: client.Name, NAS: a.NAS}, result)
	}
	return result, nil
}

func (f *Store) store(ctx context.Context, client *domain.RADIUSClient, clients []*domain.RADIUSClient, a domain.Accounting) (domain.AccountingResult, error) {
	if a.Unusable != "" {
		return f.reject(ctx, client, a, a.Unusable, fmt.Sprintf("at %s", a.At.UTC().Format(time.RFC3339)))
	}
	if a.Restarted {
		var failures []error
		for _, client := range clients {
			failures = append(failures, f.usage.EndRestarted(ctx, client.CompanyID, client.Name, a.NAS, a.At))
		}
		return domain.AccountingRestarted, errors.Join(failures...)
	}
	a.Record.Source = client.Name
	results, err := f.usage.Record(ctx, domain.Whole(client.CompanyID), []domain.UsageRecord{a.Record})
	if err != nil {
		return "", err
	}
	switch result := results[0]; result.Status {
	case domain.UsageAccepted:
		return domain.AccountingBooked, nil
	case domain.UsageDuplicate:
		return domain.AccountingNothingNew, nil
	case domain.UsageQuarantined:
		return domain.AccountingQuarantined, nil
	default:
		return f.reject(ctx, client, a, "the ledger rejects "+result.Err.Field, result.Err.Message)
	}
}

// owner returns the first of the clients whose company has the subscriber, or else
// the first. Where a company cannot be looked at, the others are; none has it then
// only if all were.
func (f *Store) owner(ctx context.Context, clients []*domain.RADIUSClient, a domain.Accounting) (*domain.RADIUSClient, error) {
	if len(clients) == 1 || a.Unusable != "" || a.Restarted {
		return clients[0], nil
	}
	var failures []error
	for _, client := range clients {
		found, err := f.usage.HasSubscriber(ctx, client.CompanyID, &a.Record)
		if found {
			return client, nil
		}
		failures = append(failures, err)
	}
	return clients[0], errors.Join(failures...)
}

// maxRejects bounds the reasons that are kept of a company. What comes beyond is
// counted for no network element in particular.
const maxRejects = 1000

const addReject = `
INSERT INTO feed_rejects AS r (company_id, source, nas, reason, requests, first_at, last_at, example)
SELECT own.company_id, $2, CASE WHEN (SELECT count(*) FROM feed_rejects WHERE company_id = $1) < $6
    OR EXISTS (SELECT FROM feed_rejects WHERE company_id = $1 AND source = $2 AND nas = $3 AND reason = $4) THEN $3 ELSE '' END,
  $4, 1, now(), now(), $5
FROM companies own
WHERE own.company_id = $1
ON CONFLICT (company_id, source, nas, reason) DO UPDATE
SET requests = r.requests + 1, last_at = excluded.last_at, example = excluded.example`

// reject keeps the reason for which a request cannot be used.
func (f *Store) reject(ctx context.Context, client *domain.RADIUSClient, a domain.Accounting, reason, example string) (domain.AccountingResult, error) {
	_, err := pg.Affected(ctx, f.pool, addReject, client.CompanyID, client.Name, a.NAS, reason, example, maxRejects)
	return domain.AccountingUnusable, err
}

// Writable implements domain.Feed.
func (f *Store) Writable(ctx context.Context) error {
	reason, err := pg.ReadOnly(ctx, f.pool)
	if err == nil && reason != "" {
		err = domain.Unavailable(errors.New(reason))
	}
	return err
}
