package feed_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"simgraph/db/feed"
	"simgraph/db/fleettest"
	"simgraph/domain"
	"simgraph/internal/fatal"
)

func (f *feedFixture) refusals() (found []string) {
	f.Helper()
	fatal.If(f, f.feed.Flush(f.Context()))
	page := fleettest.Must[domain.Slice[*domain.FeedReject]](f.T)(feed.NewState(f.Pool).Rejects(f.Context(), f.Scope, domain.Listing{Page: domain.Page{Limit: 100}}))
	for _, r := range page.Items {
		found = append(found, fmt.Sprintf("%s %s %s %d: %s", r.Source, r.NAS, r.Reason, r.Requests, r.Example))
	}
	return found
}

// On the first day a gateway has no client, or another secret: both are listed with
// what would admit them, the newest 20.
func TestRefusedPacketsAreListedWithTheCommandThatAdmitsThem(t *testing.T) {
	t.Parallel()
	f := newFeed(t, 1)
	clients := fleettest.Must[[]*domain.RADIUSClient](t)(f.feed.Clients(t.Context()))
	address := netip.MustParseAddr("10.1.0.9")
	for range 3 {
		f.feed.Refuse(domain.FeedRefusal{Address: address, NAS: "pgw1"})
	}
	f.feed.Refuse(domain.FeedRefusal{Address: address, NAS: "pgw1", Clients: clients})
	got := strings.Join(f.refusals(), "\n")
	for _, want := range []string{
		"10.1.0.9 pgw1 no client has this address 3: simgraph radius client add pgw1 --network 10.1.0.9 --company acme",
		"10.1.0.9 pgw1 the secret is not that of the client 1: simgraph radius client remove pgw --company acme && simgraph radius client add pgw --network 10.1.0.0/16 --company acme",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nis not in\n%s", want, got)
		}
	}
	for n := range 500 {
		f.feed.Refuse(domain.FeedRefusal{Address: netip.AddrFrom4([4]byte{10, 2, byte(n >> 8), byte(n)})})
	}
	f.account(domain.Accounting{NAS: "nas", At: f.now, Unusable: "no reason"})
	if got := f.refusals(); len(got) != domain.MaxFeedRefusals+1 {
		t.Errorf("%d are kept:\n%s", len(got), strings.Join(got, "\n"))
	}
	if got := f.refusals(); len(got) != domain.MaxFeedRefusals+1 {
		t.Errorf("%d are kept after another flush", len(got))
	}
}

// The addresses of strangers may be those of other customers.
func TestAnUnknownAddressIsShownToNoneOfSeveralCompanies(t *testing.T) {
	t.Parallel()
	f := newFeed(t, 1)
	other := fleettest.NewUsageFleetOn(t, f.Pool, "zenith", 1)
	clients := fleettest.Must[[]*domain.RADIUSClient](t)(f.feed.Clients(t.Context()))
	f.feed.Refuse(domain.FeedRefusal{Address: netip.MustParseAddr("10.1.0.9")})
	f.feed.Refuse(domain.FeedRefusal{Address: netip.MustParseAddr("10.1.0.9"), Clients: clients})
	if got := f.refusals(); len(got) != 1 || !strings.Contains(got[0], domain.WrongSecret) {
		t.Errorf("listed are %q", got)
	}
	if n := other.Int(`SELECT count(*) FROM feed_rejects WHERE company_id = $1`); n != 0 {
		t.Errorf("another company sees %d", n)
	}
}
