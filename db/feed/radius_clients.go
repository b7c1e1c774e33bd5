package feed

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/audit"
	"simgraph/db/companies"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/internal/seal"
)

// Clients keeps the clients of companies in PostgreSQL, their secrets sealed
// by AES-256-GCM for the company and name.
type Clients struct {
	pool *sqlx.DB
	key  seal.Key

	mu sync.Mutex
	// known are those that All returned last.
	known []*domain.RADIUSClient
}

var _ domain.RADIUSClients = (*Clients)(nil)

// NewClients returns the store on the pool. The key seals
// secrets; List and Remove need none.
func NewClients(pool *sqlx.DB, key seal.Key) *Clients { return &Clients{pool: pool, key: key} }

const createRADIUSClient = `
INSERT INTO radius_clients (company_id, name, network, secret, created_at)
SELECT own.company_id, $2, $3::cidr, $4, $5
FROM companies own
WHERE own.company_id = $1 AND (SELECT count(*) FROM radius_clients WHERE company_id = $1) < $6
ON CONFLICT DO NOTHING
RETURNING 1`

// Create implements domain.RADIUSClients.
func (c *Clients) Create(ctx context.Context, scope domain.Scope, client domain.RADIUSClient) error {
	if err := client.Check(); err != nil {
		return err
	}
	client.CompanyID = scope.Company
	sealed, err := c.key.Seal(client.Secret, sealedFor(&client))
	if err != nil {
		return err
	}
	return pg.InTx(ctx, c.pool, func(tx *sqlx.Tx) error {
		n, err := pg.Returned(ctx, tx, createRADIUSClient, scope.Company, client.Name, client.Network.String(), sealed, time.Now(), domain.MaxRADIUSClients)
		if err != nil {
			return err
		}
		if n == 0 {
			return domain.Invalid("name", "the company has a client %q already, or %d clients", client.Name, domain.MaxRADIUSClients)
		}
		return audit.Record(ctx, tx, scope, domain.AuditEntry{
			Action: domain.AuditRADIUSCreate, SubjectType: "RADIUSClient", SubjectID: client.Name,
			Changes: []domain.AuditChange{domain.Became("network", client.Network.String())},
		})
	})
}

const removeRADIUSClient = `DELETE FROM radius_clients WHERE company_id = $1 AND name = $2`

// Remove implements domain.RADIUSClients.
func (c *Clients) Remove(ctx context.Context, scope domain.Scope, name string) error {
	return pg.InTx(ctx, c.pool, func(tx *sqlx.Tx) error {
		n, err := pg.Affected(ctx, tx, removeRADIUSClient, scope.Company, name)
		if err != nil {
			return err
		}
		if n == 0 {
			return domain.NotFound("name", "RADIUS client", name)
		}
		return audit.Record(ctx, tx, scope, domain.AuditEntry{Action: domain.AuditRADIUSRemove, SubjectType: "RADIUSClient", SubjectID: name})
	})
}

type radiusClientRow struct {
	Prefix string
	domain.RADIUSClient
}

func (r *radiusClientRow) client() *domain.RADIUSClient {
	r.Network, _ = netip.ParsePrefix(r.Prefix)
	return &r.RADIUSClient
}

const listRADIUSClients = `
SELECT c.company_id, c.name, text(c.network) AS prefix, c.created_at
FROM radius_clients c
WHERE c.company_id = $1
ORDER BY c.name`

// List implements domain.RADIUSClients.
func (c *Clients) List(ctx context.Context, scope domain.Scope) ([]*domain.RADIUSClient, error) {
	rows, err := pg.SelectAll[radiusClientRow](ctx, c.pool, listRADIUSClients, scope.Company)
	return pg.Pluck(rows, (*radiusClientRow).client), err
}

const allRADIUSClients = `
SELECT c.company_id, p.external_id AS company, c.name, text(c.network) AS prefix, c.secret, c.created_at, p.country_code
FROM radius_clients c
JOIN companies p ON p.company_id = c.company_id
WHERE $1::bigint[] IS NULL OR c.company_id = ANY($1) AND p.company_id = ANY($1)
ORDER BY c.company_id, c.name`

// All returns the clients of all companies with their secrets. Of a node that fails
// it returns those of before, beside the error; none where nothing could be read.
func (c *Clients) All(ctx context.Context) ([]*domain.RADIUSClient, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var clients []*domain.RADIUSClient
	answered := false
	err := companies.EachNode(ctx, c.pool, func(of pq.Int64Array) error {
		here, err := c.ofCompanies(ctx, of)
		if err != nil {
			here = c.knownOf(of)
		}
		answered = answered || err == nil
		clients = append(clients, here...)
		return err
	})
	if !answered {
		return nil, err
	}
	c.known = clients
	return slices.Clone(clients), err
}

// ofCompanies reads the clients of the companies of a node; nil stands for all.
func (c *Clients) ofCompanies(ctx context.Context, of pq.Int64Array) ([]*domain.RADIUSClient, error) {
	rows, err := pg.SelectAll[radiusClientRow](ctx, c.pool, allRADIUSClients, of)
	if err != nil {
		return nil, err
	}
	clients := pg.Pluck(rows, (*radiusClientRow).client)
	for _, client := range clients {
		if client.Secret, err = c.key.Open(client.Secret, sealedFor(client)); err != nil {
			return nil, fmt.Errorf("the secret of the RADIUS client %q of %q: %w", client.Name, client.Company, err)
		}
	}
	return clients, nil
}

func (c *Clients) knownOf(of pq.Int64Array) (known []*domain.RADIUSClient) {
	for _, client := range c.known {
		if slices.Contains(of, int64(client.CompanyID)) {
			known = append(known, client)
		}
	}
	return known
}

// sealedFor binds a secret to its client.
func sealedFor(client *domain.RADIUSClient) []byte {
	return fmt.Appendf(nil, "radius %d %s", client.CompanyID, client.Name)
}

// Sealed returns how many clients there are, and the names of those whose secrets the key
// does not open.
func (c *Clients) Sealed(ctx context.Context) (all int, unopened []string, err error) {
	err = companies.EachNode(ctx, c.pool, func(of pq.Int64Array) error {
		rows, err := pg.SelectAll[radiusClientRow](ctx, c.pool, allRADIUSClients, of)
		all += len(rows)
		for _, row := range rows {
			client := row.client()
			if _, err := c.key.Open(client.Secret, sealedFor(client)); err != nil {
				unopened = append(unopened, client.Name)
			}
		}
		return err
	})
	return all, unopened, err
}
