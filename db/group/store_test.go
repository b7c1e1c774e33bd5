package group_test

import (
	"fmt"
	"testing"

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
