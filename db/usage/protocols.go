package usage

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/pg"
	"simgraph/domain"
)

const (
	knownProtocols = `SELECT protocol_id, name FROM usage_protocols WHERE company_id = $1`
	// addProtocols counts on from the highest number. Two writers that do so at
	// once collide on a key, and the one that lost looks again.
	addProtocols = `
INSERT INTO usage_protocols (company_id, protocol_id, name)
SELECT own.company_id, (SELECT coalesce(max(p.protocol_id), 0) FROM usage_protocols p WHERE p.company_id = $1) + n.ordinality, n.name
FROM companies own
CROSS JOIN unnest($2::text[]) WITH ORDINALITY AS n(name, ordinality)
WHERE own.company_id = $1
ON CONFLICT DO NOTHING`
)

// protocolCache has the numbers of the protocols of companies. They are never given
// to others, so what was read once stays true, but for a database that was restored to
// an earlier moment under the running process.
type protocolCache struct {
	mu        sync.Mutex
	byCompany map[domain.CompanyID]map[string]int16
}

func (c *protocolCache) numbers(company domain.CompanyID) map[string]int16 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.byCompany[company]
}

func (c *protocolCache) load(ctx context.Context, pool *sqlx.DB, company domain.CompanyID) (map[string]int16, error) {
	numbers, err := protocolNumbers(ctx, pool, company)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byCompany == nil {
		c.byCompany = map[domain.CompanyID]map[string]int16{}
	}
	c.byCompany[company] = numbers
	return numbers, nil
}

// numberProtocols gives every protocol of the batch its number, and rejects the
// records of protocols that would be too many. The database is read only for
// protocols that were not known before.
func (u *Store) numberProtocols(ctx context.Context, company domain.CompanyID, b *usageBatch) (err error) {
	b.protocols = u.protocols.numbers(company)
	for attempt := range pg.TxAttempts {
		missing := b.missingProtocols()
		if len(missing) == 0 {
			return nil
		}
		if attempt > 0 {
			if err := u.addProtocols(ctx, company, b, missing); err != nil {
				return err
			}
		}
		if b.protocols, err = u.protocols.load(ctx, u.pool, company); err != nil {
			return err
		}
	}
	return domain.Unavailable(errors.New("the protocols of the company keep changing"))
}

// addProtocols numbers protocols that the database does not have.
func (u *Store) addProtocols(ctx context.Context, company domain.CompanyID, b *usageBatch, missing []string) error {
	if room := max(0, domain.MaxProtocols-len(b.protocols)); len(missing) > room {
		b.rejectProtocols(missing[room:])
		missing = missing[:room]
	}
	if len(missing) == 0 {
		return nil
	}
	_, err := pg.Affected(ctx, u.pool, addProtocols, company, pq.StringArray(missing))
	return err
}

func protocolNumbers(ctx context.Context, in sqlx.QueryerContext, company domain.CompanyID) (map[string]int16, error) {
	type row struct {
		ProtocolID int16
		Name       string
	}
	rows, err := pg.SelectAll[row](ctx, in, knownProtocols, company)
	numbers := make(map[string]int16, len(rows))
	for _, r := range rows {
		numbers[r.Name] = r.ProtocolID
	}
	return numbers, err
}

func (b *usageBatch) missingProtocols() []string {
	missing := map[string]bool{}
	for _, record := range b.records() {
		if _, known := b.protocols[record.Protocol]; !known {
			missing[record.Protocol] = true
		}
	}
	return slices.Sorted(maps.Keys(missing))
}

func (b *usageBatch) rejectProtocols(names []string) {
	tooMany := domain.Rejected(domain.Invalid("protocol", "the company has %d network protocols already", domain.MaxProtocols))
	b.entries = slices.DeleteFunc(b.entries, func(e *usageEntry) bool {
		if !slices.Contains(names, e.Protocol) {
			return false
		}
		for _, c := range e.claims {
			b.results[c.place] = tooMany
		}
		return true
	})
	b.readings = slices.DeleteFunc(b.readings, func(r *reading) bool {
		if !slices.Contains(names, r.Protocol) {
			return false
		}
		b.results[r.place] = tooMany
		return true
	})
}
