package bundle_test

import (
	"fmt"
	"testing"

	"simgraph/db/bundle"
	"simgraph/db/fleettest"
	"simgraph/db/subscriber"
	"simgraph/domain"
)

// A fixed address is that of one subscriber of its company: in one import, in several, and
// where an import is so large that two connections write it.
func TestAFixedAddressIsUniqueInItsCompany(t *testing.T) {
	t.Parallel()
	f := fleettest.NewUsageFleet(t, 1)
	importer, store := bundle.NewImporter(f.Pool), subscriber.New(f.Pool)
	like := fleettest.Must[*domain.Subscriber](t)(store.Find(t.Context(), f.Scope, "s0", domain.Projection{Fields: domain.AllFields}))
	with := func(id, address string) *domain.Subscriber {
		s := *like
		if s.PhysicalID, s.FixedIPAddress = id, &address; address == "" {
			s.FixedIPAddress = nil
		}
		return &s
	}
	stored := func(refused string, items ...*domain.Subscriber) {
		t.Helper()
		for i, a := range fleettest.Must[[]domain.Imported](t)(importer.Subscribers(t.Context(), f.Scope, items)) {
			if e, _ := domain.AsError(a.Err); (items[i].PhysicalID == refused) != (a.Err != nil) || a.Err != nil && e.Field != "fixedIpAddress" {
				t.Errorf("%s: %v", items[i].PhysicalID, a.Err)
			}
		}
	}
	stored("b", with("a", "10.1.2.3"), with("b", "10.1.2.3"), with("c", "10.1.2.4"))
	stored("b", with("b", "10.1.2.4"), with("c", "10.1.2.4"))
	stored("", with("c", ""))
	stored("", with("b", "10.1.2.4"), with("c", "2001:db8:0:1::/64"))
	var many []*domain.Subscriber
	for n := range 2_000 {
		many = append(many, with(fmt.Sprintf("m%04d", n), fmt.Sprintf("10.9.%d.%d", n/200, n%200)))
	}
	many[1_999] = with("m1999", "10.9.0.7")
	stored("m1999", many...)
	if n := f.Int(`SELECT count(*) FROM subscribers WHERE company_id = $1 AND fixed_ip_address IS NOT NULL`); n != 2_002 {
		t.Errorf("%d have an address", n)
	}
	found := fleettest.Must[domain.Slice[*domain.Subscriber]](t)(store.List(t.Context(), f.Scope, fleettest.Listing(t, "fixedIpAddress eq 2001:db8:0:1::/64", "", 9)))
	fleettest.WantIDs(t, found.Items, "c")
}
