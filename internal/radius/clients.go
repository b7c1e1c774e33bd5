package radius

import (
	"cmp"
	"context"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"simgraph/domain"
)

// clients are those that may send, as last read.
type clients struct {
	known atomic.Pointer[[]*domain.RADIUSClient]
}

// areRead reports whether they were ever read.
func (c *clients) areRead() bool { return c.known.Load() != nil }

// at returns the clients whose network has the address, the narrowest first.
func (c *clients) at(address netip.Addr) []*domain.RADIUSClient {
	known := c.known.Load()
	if known == nil {
		return nil
	}
	var found []*domain.RADIUSClient
	for _, client := range *known {
		if client.Network.Contains(address) {
			found = append(found, client)
		}
	}
	return found
}

func (c *clients) set(all []*domain.RADIUSClient) {
	slices.SortStableFunc(all, func(x, y *domain.RADIUSClient) int {
		return cmp.Or(cmp.Compare(y.Network.Bits(), x.Network.Bits()), cmp.Compare(x.CompanyID, y.CompanyID), cmp.Compare(x.Name, y.Name))
	})
	c.known.Store(&all)
}

// refresh reads the clients. Those that cannot be read are as before.
func (l *Listener) refresh(ctx context.Context) {
	all, err := l.cfg.Feed.Clients(ctx)
	if err == nil || all != nil {
		l.clients.set(all)
	}
	if err != nil && ctx.Err() == nil {
		l.cfg.Log.Warn("the RADIUS clients cannot be read", "error", err)
	}
}

// follow refreshes the clients from time to time.
func (l *Listener) follow(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(RefreshClients):
			l.refresh(ctx)
		}
	}
}
