package radius_test

import (
	"context"
	"net/netip"
	"slices"
	"testing"

	"simgraph/domain"
)

// overlapping is a feed with clients whose networks contain each other.
type overlapping struct {
	*ledger
	order [][]string
}

func (o *overlapping) Clients(context.Context) ([]*domain.RADIUSClient, error) {
	client := func(name, network string) *domain.RADIUSClient {
		return &domain.RADIUSClient{CompanyID: 1, Name: name, Network: netip.MustParsePrefix(network), Secret: secret}
	}
	return []*domain.RADIUSClient{client("all", "127.0.0.0/8"), client("host", "127.0.0.1/32"), client("other", "127.9.0.0/16"), client("site", "127.0.0.0/16")}, nil
}

func (o *overlapping) Account(ctx context.Context, clients []*domain.RADIUSClient, a domain.Accounting) (domain.AccountingResult, error) {
	names := make([]string, len(clients))
	for i, c := range clients {
		names[i] = c.Name
	}
	o.mu.Lock()
	o.order = append(o.order, names)
	o.mu.Unlock()
	return o.ledger.Account(ctx, clients, a)
}

func TestTheClientOfTheSmallestNetworkComesFirst(t *testing.T) {
	t.Parallel()
	feed := &overlapping{ledger: new(ledger)}
	conn := listeningOn(t, feed, feed.ledger)
	answered(t, conn, encoded(t, report().Packet(secret)))
	feed.mu.Lock()
	defer feed.mu.Unlock()
	if len(feed.order) != 1 || !slices.Equal(feed.order[0], []string{"host", "site", "all"}) {
		t.Errorf("the clients are %v", feed.order)
	}
}
