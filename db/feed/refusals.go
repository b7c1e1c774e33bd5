package feed

import (
	"context"
	"errors"
	"maps"
	"net/netip"
	"slices"

	"github.com/lib/pq"

	"simgraph/db/companies"
	"simgraph/db/pg"
	"simgraph/domain"
)

// maxRefusals bounds the refusals that are counted between two flushes, since anybody
// can send them.
const maxRefusals = 200

// refusalKey is what refusals are counted by; client is zero for an unknown address.
type refusalKey struct {
	address netip.Addr
	nas     string
	client  clientKey
}

type clientKey struct {
	company domain.CompanyID
	name    string
}

// refusal is how often a packet came, and the client of the address.
type refusal struct {
	packets int64
	client  *domain.RADIUSClient
}

// Refuse implements domain.Feed.
func (f *Store) Refuse(of domain.FeedRefusal) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(of.Clients) == 0 {
		f.refuse(refusalKey{address: of.Address, nas: of.NAS}, nil)
	}
	for _, client := range of.Clients {
		f.refuse(refusalKey{of.Address, of.NAS, clientKey{client.CompanyID, client.Name}}, client)
	}
}

func (f *Store) refuse(key refusalKey, client *domain.RADIUSClient) {
	counted, known := f.refusals[key]
	if known || len(f.refusals) < maxRefusals {
		f.refusals[key] = refusal{counted.packets + 1, client}
	}
}

const pruneRefusals = `
DELETE FROM feed_rejects
WHERE company_id = $1 AND reason = ANY($2::text[]) AND (source, nas, reason) NOT IN (
  SELECT r.source, r.nas, r.reason FROM feed_rejects r
  WHERE r.company_id = $1 AND r.reason = ANY($2::text[])
  ORDER BY r.last_at DESC, r.source, r.nas, r.reason
  LIMIT $3)`

// flushRefusals adds the refusals to the rejects of their companies. An address that no
// client has is shown where there is one company: of several it is nobody's business.
func (f *Store) flushRefusals(ctx context.Context) error {
	f.mu.Lock()
	counted := f.refusals
	f.refusals = map[refusalKey]refusal{}
	f.mu.Unlock()
	if len(counted) == 0 {
		return nil
	}
	all, err := companies.New(f.pool).List(ctx)
	if err != nil {
		return err
	}
	batches := map[domain.CompanyID]*rejectBatch{}
	for key, of := range counted {
		company, reject := key.client.company, rejectOf(key)
		var command string
		switch {
		case of.client != nil:
			command = domain.AdmittingSecret(of.client)
		case len(all) == 1:
			company, command = all[0].CompanyID, domain.AdmittingAddress(key.address, key.nas, all[0].ExternalID)
		default:
			continue
		}
		if batches[company] == nil {
			batches[company] = &rejectBatch{counted: map[reasonKey]rejected{}}
		}
		batches[company].counted[reject] = rejected{batches[company].counted[reject].requests + of.packets, command}
	}
	var failures []error
	for _, company := range slices.Sorted(maps.Keys(batches)) {
		failures = append(failures, f.storeRefusals(ctx, company, batches[company]))
	}
	return errors.Join(failures...)
}

func rejectOf(key refusalKey) reasonKey {
	reason := domain.UnknownAddress
	if key.client != (clientKey{}) {
		reason = domain.WrongSecret
	}
	return reasonKey{domain.FeedKey{Source: key.address.String(), NAS: key.nas}, reason}
}

func (f *Store) storeRefusals(ctx context.Context, company domain.CompanyID, batch *rejectBatch) error {
	// They have a bound of their own, which strangers cannot fill for others.
	if err := f.rejects.store(ctx, company, batch, 10*maxRejects); err != nil {
		return err
	}
	_, err := pg.Affected(ctx, f.pool, pruneRefusals, company, pq.StringArray{domain.UnknownAddress, domain.WrongSecret}, domain.MaxFeedRefusals)
	return err
}
