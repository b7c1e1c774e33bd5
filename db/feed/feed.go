// Package feed keeps what the network reports: accounting requests, the sessions
// that they are about, and the clients that may send them.
package feed

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/usage"
	"simgraph/domain"
)

// Store stores accounting requests in PostgreSQL.
type Store struct {
	pool    *sqlx.DB
	usage   *usage.Store
	clients *Clients
	rejects rejects
	shared  *shared

	mu sync.Mutex
	// tally has the packets since the last Flush.
	tally map[tallyKey]domain.FeedPackets
	// refusals are those since then, too.
	refusals map[refusalKey]refusal
}

var _ domain.Feed = (*Store)(nil)

// New returns the store on the pool, which books by the ledger. Both should have a
// pool of their own: what senders send is not bounded.
func New(pool *sqlx.DB, ledger *usage.Store, clients *Clients) *Store {
	return &Store{
		pool: pool, usage: ledger, clients: clients, tally: map[tallyKey]domain.FeedPackets{}, refusals: map[refusalKey]refusal{},
		rejects: rejects{pool: pool, waiting: map[domain.CompanyID]*rejectBatch{}}, shared: newShared(pool, ledger),
	}
}

// Clients implements domain.Feed.
func (f *Store) Clients(ctx context.Context) ([]*domain.RADIUSClient, error) {
	return f.clients.All(ctx)
}

// Account implements domain.Feed.
func (f *Store) Account(ctx context.Context, clients []*domain.RADIUSClient, a domain.Accounting) (domain.AccountingResult, error) {
	client, err := f.owner(ctx, clients, &a)
	if err != nil {
		return "", err
	}
	result, err := f.store(ctx, client, clients, a.In(client.CountryCode))
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
		return f.reject(ctx, client, a, a.Unusable, exampleOf(a))
	}
	if a.Restarted {
		var failures []error
		for _, client := range clients {
			restart := usage.Restart{Source: client.Name, NAS: a.NAS, At: a.At}
			_, err := f.shared.restarts.Do(ctx, client.CompanyID, restart)
			failures = append(failures, err)
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

// exampleOf describes a request that cannot be used: when it was made, and what was found.
func exampleOf(a domain.Accounting) string {
	at := "at " + a.At.UTC().Format(time.RFC3339)
	if a.Found == "" {
		return at
	}
	return at + ": " + a.Found
}

// owner returns the first of the clients whose company has the subscriber, or else
// the first. Where a company cannot be looked at, the others are; none has it then
// only if all were.
func (f *Store) owner(ctx context.Context, clients []*domain.RADIUSClient, a *domain.Accounting) (*domain.RADIUSClient, error) {
	if len(a.FixedAddresses) > 0 && a.Unusable == "" {
		return f.ownerOfAddress(ctx, clients, a)
	}
	if len(clients) == 1 || a.Unusable != "" || a.Restarted {
		return clients[0], nil
	}
	var failures []error
	for _, client := range clients {
		here := a.In(client.CountryCode)
		found, err := f.shared.owners.Do(ctx, client.CompanyID, &here.Record)
		if found {
			return client, nil
		}
		failures = append(failures, err)
	}
	return clients[0], errors.Join(failures...)
}

// ownerOfAddress is owner of a request that names its subscriber by its address alone: it
// gets the other names, as the requests of the session that have them. Without such a
// subscriber it is unusable.
func (f *Store) ownerOfAddress(ctx context.Context, clients []*domain.RADIUSClient, a *domain.Accounting) (*domain.RADIUSClient, error) {
	var failures []error
	for _, client := range clients {
		of, err := f.shared.addressed.Do(ctx, client.CompanyID, a.FixedAddresses)
		if of != nil {
			a.Record.PhysicalID, a.Record.IMSI, a.Record.MSISDN = of.PhysicalID, of.IMSI, of.SubscriberID
			return client, nil
		}
		failures = append(failures, err)
	}
	a.Unusable = domain.NoFixedAddress
	return clients[0], errors.Join(failures...)
}

// reject keeps the reason for which a request cannot be used.
func (f *Store) reject(ctx context.Context, client *domain.RADIUSClient, a domain.Accounting, reason, example string) (domain.AccountingResult, error) {
	key := reasonKey{domain.FeedKey{Source: client.Name, NAS: a.NAS}, reason}
	return domain.AccountingUnusable, f.rejects.add(ctx, client.CompanyID, key, example)
}

// Listen records that the clients are listened to. Call it every 20 s.
func (f *Store) Listen(ctx context.Context) error {
	clients, err := f.clients.All(ctx)
	sources := map[domain.CompanyID][]string{}
	for _, client := range clients {
		sources[client.CompanyID] = append(sources[client.CompanyID], client.Name)
	}
	failures := []error{err}
	for company, names := range sources {
		failures = append(failures, f.usage.Listen(ctx, company, names))
	}
	return errors.Join(failures...)
}

// Writable implements domain.Feed.
func (f *Store) Writable(ctx context.Context) error {
	_, err := f.shared.writable.Do(ctx, struct{}{}, struct{}{})
	return err
}
