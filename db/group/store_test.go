package group_test

import (
	"fmt"
	"testing"

	"simgraph/db/catalogue"
	"simgraph/db/fleettest"
	"simgraph/db/group"
	"simgraph/domain"
)

func TestOnlyVisibleGroupsExist(t *testing.T) {
	t.Parallel()
	groups := group.New(fleettest.NewInventory(t))
	ctx := t.Context()
	for _, id := range []int64{13, 99, -1} {
		_, err := groups.Find(ctx, fleettest.VansOnly, id)
		fleettest.WantKind(t, err, domain.KindNotFound)
		_, err = groups.Rename(ctx, fleettest.VansOnly, id, "mine")
		fleettest.WantKind(t, err, domain.KindNotFound)
	}
	slice := fleettest.Must[domain.Slice[*domain.Group]](t)(groups.List(ctx, fleettest.VansOnly, domain.Listing{Page: domain.Page{Limit: 25}}))
	if len(slice.Items) != 1 || slice.Items[0].Name != "Vans" {
		t.Fatalf("got %v", slice.Items)
	}
	if n := fleettest.Must[int](t)(groups.Count(ctx, fleettest.VansOnly, domain.Listing{})); n != 1 {
		t.Fatalf("counted %d", n)
	}
	counts := fleettest.Must[map[int64]domain.GroupCounts](t)(groups.CountsOf(ctx, fleettest.All, []int64{12, 13, 99}))
	if fmt.Sprint(counts) != "map[12:{1 6} 13:{0 2}]" {
		t.Fatalf("got %v", counts)
	}
}

func TestARenameChangesOneGroupOfOneCompany(t *testing.T) {
	t.Parallel()
	groups := group.New(fleettest.NewInventory(t))
	renamed := fleettest.Must[*domain.Group](t)(groups.Rename(t.Context(), fleettest.VansOnly, 12, "Lorries"))
	other := fleettest.Must[*domain.Group](t)(groups.Find(t.Context(), domain.Whole(fleettest.Rival), 12))
	if renamed.Name != "Lorries" || !renamed.HideTariffDetails || other.Name != "Vans" {
		t.Fatalf("got %+v and %+v", renamed, other)
	}
}

func TestTheCatalogueShowsWhatTheScopeMaySee(t *testing.T) {
	t.Parallel()
	catalogue := catalogue.New(fleettest.NewInventory(t))
	ctx := t.Context()
	page := domain.Page{Limit: 25}
	boats := domain.Scope{Company: fleettest.Acme, Groups: []int64{13}}
	for _, c := range []struct {
		scope domain.Scope
		want  int
	}{{fleettest.All, 2}, {fleettest.VansOnly, 0}, {boats, 1}} {
		tariffs := fleettest.Must[domain.Slice[*domain.Tariff]](t)(catalogue.Tariffs(ctx, c.scope, domain.Listing{Page: page}))
		if len(tariffs.Items) != c.want {
			t.Errorf("%+v sees %d tariffs, want %d", c.scope, len(tariffs.Items), c.want)
		}
	}
	operators := fleettest.Must[domain.Slice[*domain.Operator]](t)(catalogue.Operators(ctx, boats, domain.Listing{Page: domain.Page{Limit: 1}}))
	if len(operators.Items) != 1 || operators.Items[0].Code != "23410" || !operators.HasNext {
		t.Fatalf("got %+v", operators)
	}
}

func TestSubscribersAreCountedByTariff(t *testing.T) {
	t.Parallel()
	pool := fleettest.NewInventory(t)
	catalogue := catalogue.New(pool)
	pool.MustExec(`INSERT INTO tariffs (company_id, name, line_rental, currency) VALUES ($1, 'Unused', 1, 'GBP')`, fleettest.Acme)
	both := domain.Scope{Company: fleettest.Acme, Groups: []int64{12, 13}, Masked: []int64{12}}
	for name, c := range map[string]struct {
		scope domain.Scope
		limit int
		want  string
	}{
		"the whole company":          {fleettest.All, 10, "[{IoT 50 6} {IoT 900 3} {Unused 0}]"},
		"the first":                  {fleettest.All, 1, "[{IoT 50 6}]"},
		"a group that hides tariffs": {fleettest.VansOnly, 10, "[{ 6}]"},
		"a group that hides them, and one that does not": {both, 10, "[{ 6} {IoT 50 2}]"},
		"a group":  {domain.Scope{Company: fleettest.Acme, Groups: []int64{13}}, 10, "[{IoT 50 2}]"},
		"no group": {domain.Scope{Company: fleettest.Acme, Groups: []int64{}}, 10, "[]"},
	} {
		if got := fmt.Sprint(fleettest.Must[[]domain.TariffCount](t)(catalogue.SubscribersByTariff(t.Context(), c.scope, c.limit))); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}
