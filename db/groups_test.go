package db_test

import (
	"fmt"
	"testing"

	"simgraph/db"
	"simgraph/domain"
)

func TestOnlyVisibleGroupsExist(t *testing.T) {
	t.Parallel()
	groups := db.NewGroups(newInventory(t))
	ctx := t.Context()
	for _, id := range []int64{13, 99, -1} {
		_, err := groups.Find(ctx, vansOnly, id)
		wantKind(t, err, domain.KindNotFound)
		_, err = groups.Rename(ctx, vansOnly, id, "mine")
		wantKind(t, err, domain.KindNotFound)
	}
	slice := must[domain.Slice[*domain.Group]](t)(groups.List(ctx, vansOnly, domain.Page{Limit: 25}))
	if len(slice.Items) != 1 || slice.Items[0].Name != "Vans" {
		t.Fatalf("got %v", slice.Items)
	}
	if n := must[int](t)(groups.Count(ctx, vansOnly)); n != 1 {
		t.Fatalf("counted %d", n)
	}
	counts := must[map[int64]domain.GroupCounts](t)(groups.CountsOf(ctx, all, []int64{12, 13, 99}))
	if fmt.Sprint(counts) != "map[12:{1 6} 13:{0 2}]" {
		t.Fatalf("got %v", counts)
	}
}

func TestARenameChangesOneGroupOfOneCompany(t *testing.T) {
	t.Parallel()
	groups := db.NewGroups(newInventory(t))
	renamed := must[*domain.Group](t)(groups.Rename(t.Context(), vansOnly, 12, "Lorries"))
	other := must[*domain.Group](t)(groups.Find(t.Context(), domain.Whole(rival), 12))
	if renamed.Name != "Lorries" || !renamed.HideTariffDetails || other.Name != "Vans" {
		t.Fatalf("got %+v and %+v", renamed, other)
	}
}

func TestTheCatalogueShowsWhatTheScopeMaySee(t *testing.T) {
	t.Parallel()
	catalogue := db.NewCatalogue(newInventory(t))
	ctx := t.Context()
	page := domain.Page{Limit: 25}
	boats := domain.Scope{Company: acme, Groups: []int64{13}}
	for _, c := range []struct {
		scope domain.Scope
		want  int
	}{{all, 2}, {vansOnly, 0}, {boats, 1}} {
		tariffs := must[domain.Slice[*domain.Tariff]](t)(catalogue.Tariffs(ctx, c.scope, page))
		if len(tariffs.Items) != c.want {
			t.Errorf("%+v sees %d tariffs, want %d", c.scope, len(tariffs.Items), c.want)
		}
	}
	operators := must[domain.Slice[*domain.Operator]](t)(catalogue.Operators(ctx, boats, domain.Page{Limit: 1}))
	if len(operators.Items) != 1 || operators.Items[0].Code != "23410" || !operators.HasNext {
		t.Fatalf("got %+v", operators)
	}
}
