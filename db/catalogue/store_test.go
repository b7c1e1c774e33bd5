package catalogue_test

import (
	"fmt"
	"testing"

	"simgraph/db/catalogue"
	"simgraph/db/fleettest"
	"simgraph/domain"
)

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
