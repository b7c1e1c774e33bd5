package dashboard_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"simgraph/db/audit"
	store "simgraph/db/dashboard"
	"simgraph/db/fleettest"
	"simgraph/domain"
	"simgraph/domain/dashboard"
	"simgraph/domain/query"
	"simgraph/internal/fatal"
)

var (
	owner = &domain.Actor{UserID: 1, Name: "a@acme.example"}
	other = &domain.Actor{UserID: 2, Name: "b@acme.example"}
)

func open(pool *sqlx.DB) *store.Store { return store.New(pool, store.Options{Now: time.Now}) }

// about is a tile about a group, or about the company for 0.
func about(id int, group int64) dashboard.Tile {
	d := domain.QuestionDefinition{
		Version: domain.QuestionVersion, Measure: domain.MeasureTotal, Interval: domain.Daily, Chart: domain.ChartLine, Span: domain.SpanLastMonth,
	}
	if group != 0 {
		d.GroupID = &group
	}
	return dashboard.Tile{TileID: id, Place: dashboard.Place{Width: 6, Height: 4}, Definition: &d}
}

func named(name string, isShared bool, common dashboard.Common, tiles ...dashboard.Tile) dashboard.Dashboard {
	return dashboard.Dashboard{Name: name, IsShared: isShared, Version: 1, Common: common, Tiles: tiles}
}

func TestDashboardsAreSeenByTheirOwnerAndSharedOnesByThoseWhoSeeTheirSubject(t *testing.T) {
	t.Parallel()
	pool := fleettest.NewInventory(t)
	s, ctx := open(pool), t.Context()
	var hidden string
	fatal.If(t, pool.Get(&hidden, `SELECT physical_id FROM subscribers WHERE company_id = $1 AND group_id = 13 ORDER BY physical_id LIMIT 1`, fleettest.Acme))
	for _, d := range []dashboard.Dashboard{
		named("a", false, dashboard.Common{}), named("b", true, dashboard.Common{GroupID: new(int64(12))}), named("c", true, dashboard.Common{GroupID: new(int64(13))}),
		named("d", true, dashboard.Common{PhysicalID: &hidden}), named("e", true, dashboard.Common{Span: new(domain.SpanToday)}, about(1, 0)),
	} {
		created := fleettest.Must[*dashboard.Dashboard](t)(s.Create(ctx, fleettest.All.By(owner), d))
		found := fleettest.Must[map[string]*dashboard.Dashboard](t)(s.FindMany(ctx, fleettest.All.By(owner), []string{created.DashboardID, "none"}))
		if of := found[created.DashboardID]; of.TilesText() != created.TilesText() || of.Common.Text() != created.Common.Text() || of.Name != created.Name || len(found) != 1 {
			t.Errorf("%+v, not %+v", of, created)
		}
	}
	// A private one that nobody owns is not that of callers who are no user.
	fleettest.Must[*dashboard.Dashboard](t)(s.Create(ctx, fleettest.All.By(owner), named("f", false, dashboard.Common{})))
	pool.MustExec(`UPDATE dashboards SET owner_id = 0 WHERE name = 'f'`)
	for _, c := range []struct {
		scope domain.Scope
		want  string
	}{
		{fleettest.All.By(owner), "a b c d e"}, {fleettest.All.By(other), "b c d e"}, {fleettest.All, "b c d e"},
		{fleettest.VansOnly.By(other), "b e"}, {fleettest.VansOnly.By(owner), "a b c d e"}, {domain.Whole(fleettest.Rival).By(owner), ""},
	} {
		slice := fleettest.Must[domain.Slice[*dashboard.Dashboard]](t)(s.List(ctx, c.scope, domain.Listing{Page: domain.Page{Limit: 10}}))
		var names []string
		for _, d := range slice.Items {
			names = append(names, d.Name)
		}
		n := fleettest.Must[int](t)(s.Count(ctx, c.scope, domain.Listing{}))
		if strings.Join(names, " ") != c.want || n != len(names) {
			t.Errorf("%+v by %+v sees %q, counted %d", c.scope, c.scope.Actor, names, n)
		}
	}
	// None of them stands in a folder.
	folder, _ := dashboard.Fields.Find("folder")
	none := query.Comparison{Field: folder, Op: query.Eq, Values: []query.Value{{Null: true}}}
	if n := fleettest.Must[int](t)(s.Count(ctx, fleettest.All.By(owner), domain.Listing{Filter: none})); n != 5 {
		t.Errorf("%d of 5 have no folder", n)
	}
	by := domain.Listing{Order: []query.Order{{Field: folder}}, Page: domain.Page{Limit: 2}}
	first := fleettest.Must[domain.Slice[*dashboard.Dashboard]](t)(s.List(ctx, fleettest.All.By(owner), by))
	by.Page.Cursor = first.Cursor(1)
	if rest := fleettest.Must[domain.Slice[*dashboard.Dashboard]](t)(s.List(ctx, fleettest.All.By(owner), by)); len(rest.Items) != 2 {
		t.Errorf("after two of five without a folder there are %d", len(rest.Items))
	}
}

// A user of groups neither reads what a tile asks about another group, nor loses it by an edit.
func TestTilesAboutWhatIsNotSeenAreEmptyAndStayWhenTheyAreMoved(t *testing.T) {
	t.Parallel()
	pool := fleettest.NewInventory(t)
	s, ctx := open(pool), t.Context()
	var ids []string
	fatal.If(t, pool.Select(&ids, `SELECT min(physical_id) FROM subscribers WHERE company_id = $1 AND group_id IN (12, 13) GROUP BY group_id ORDER BY group_id`, fleettest.Acme))
	device := func(id int, physical string) dashboard.Tile {
		tile := about(id, 0)
		tile.Definition.PhysicalID = &physical
		return tile
	}
	made := fleettest.Must[*dashboard.Dashboard](t)(s.Create(ctx, fleettest.All.By(owner), named("a", true, dashboard.Common{}, about(1, 12), about(2, 13), device(3, ids[0]), device(4, ids[1]), about(5, 0))))
	shown := func(d *dashboard.Dashboard) (seen string) {
		for _, tile := range d.Tiles {
			if tile.Definition != nil {
				seen += fmt.Sprint(tile.TileID)
			}
		}
		return seen
	}
	read := func(scope domain.Scope) *dashboard.Dashboard {
		return fleettest.Must[map[string]*dashboard.Dashboard](t)(s.FindMany(ctx, scope, []string{made.DashboardID}))[made.DashboardID]
	}
	listed := fleettest.Must[domain.Slice[*dashboard.Dashboard]](t)(s.List(ctx, fleettest.VansOnly.By(owner), domain.Listing{Page: domain.Page{Limit: 10}})).Items[0]
	var moved []dashboard.TileEdit
	for _, tile := range made.Tiles {
		tile.Row += 4
		moved = append(moved, dashboard.TileEdit{TileID: &tile.TileID, Place: tile.Place})
	}
	edited := fleettest.Must[*dashboard.Dashboard](t)(s.Edit(ctx, fleettest.VansOnly.By(owner), made.DashboardID, dashboard.Edit{Tiles: &moved}))
	for place, got := range map[string]string{"found": shown(read(fleettest.VansOnly.By(owner))), "listed": shown(listed), "edited": shown(edited)} {
		if got != "135" {
			t.Errorf("%s shows %s", place, got)
		}
	}
	if whole := read(fleettest.All.By(other)); shown(whole) != "12345" || whole.Tiles[1].Row != 4 {
		t.Errorf("%+v", whole)
	}
	if removed := fleettest.Must[*dashboard.Dashboard](t)(s.Remove(ctx, fleettest.VansOnly.By(owner), made.DashboardID)); shown(removed) != "135" {
		t.Errorf("the removed one shows %s", shown(removed))
	}
}

func TestDashboardsAreChangedWithAnEntryForEachChange(t *testing.T) {
	t.Parallel()
	pool := fleettest.NewInventory(t)
	s, log, ctx := open(pool), audit.NewLog(pool), t.Context()
	by, restricted := fleettest.All.By(owner), fleettest.VansOnly.By(&domain.Actor{UserID: 9})
	start := len(fleettest.AuditOf(t, log, fleettest.Acme))
	made := fleettest.Must[*dashboard.Dashboard](t)(s.Create(ctx, by, named("a", true, dashboard.Common{GroupID: new(int64(12))}, about(1, 0))))
	for range 2 { // the second time nothing changes
		edited := fleettest.Must[*dashboard.Dashboard](t)(s.Edit(ctx, by, made.DashboardID, dashboard.Edit{Common: &dashboard.Common{Span: new(domain.SpanToday)}}))
		if edited.Version != 2 {
			t.Errorf("the version is %d", edited.Version)
		}
	}
	from := by
	from.ExpectedVersion = new("1")
	_, err := s.Edit(ctx, from, made.DashboardID, dashboard.Edit{RefreshMinutes: new(5)})
	fleettest.WantKind(t, err, domain.KindStale)
	from.ExpectedVersion = new("2")
	fleettest.Must[*dashboard.Dashboard](t)(s.Edit(ctx, from, made.DashboardID, dashboard.Edit{Tiles: &[]dashboard.TileEdit{}}))
	_, err = s.Edit(ctx, restricted, made.DashboardID, dashboard.Edit{RefreshMinutes: new(5)})
	fleettest.WantKind(t, err, domain.KindForbidden)
	_, err = s.Remove(ctx, restricted, made.DashboardID)
	fleettest.WantKind(t, err, domain.KindForbidden)
	_, err = s.Remove(ctx, domain.Whole(fleettest.Rival).By(owner), made.DashboardID)
	fleettest.WantKind(t, err, domain.KindNotFound)
	fleettest.Must[*dashboard.Dashboard](t)(s.Remove(ctx, by, made.DashboardID))
	_, err = s.Remove(ctx, by, made.DashboardID)
	fleettest.WantKind(t, err, domain.KindNotFound)
	var got []string
	for _, e := range fleettest.AuditOf(t, log, fleettest.Acme)[start:] {
		line := e.Action
		for _, c := range e.Changes {
			line += fmt.Sprintf(" %s: %s → %s", c.Field, fleettest.Text(c.Before), fleettest.Text(c.After))
		}
		got = append(got, line)
	}
	const tile = "1 at 0/0, 6×4: TOTAL, by DAY, LAST_MONTH, as LINE"
	want := []string{
		"dashboard.create name: nothing → a description: nothing →  folder: nothing →  isShared: nothing → true common: nothing → of group 12 refreshMinutes: nothing → 0 tiles: nothing → " + tile,
		"dashboard.edit common: of group 12 → TODAY",
		"dashboard.edit tiles: " + tile + " → ",
		"dashboard.delete name: a → nothing description:  → nothing folder:  → nothing isShared: true → nothing common: TODAY → nothing refreshMinutes: 0 → nothing tiles:  → nothing",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestAUserKeepsABoundedNumberOfDashboardsHoweverManyAreMadeAtOnce(t *testing.T) {
	t.Parallel()
	s := store.New(fleettest.NewInventory(t), store.Options{Now: time.Now, Most: 3})
	var makers sync.WaitGroup
	for i := range 8 {
		makers.Go(func() {
			_, _ = s.Create(t.Context(), fleettest.All.By(owner), named(fmt.Sprint(i), false, dashboard.Common{}))
		})
	}
	makers.Wait()
	if n := fleettest.Must[int](t)(s.Count(t.Context(), fleettest.All.By(owner), domain.Listing{})); n != 3 {
		t.Errorf("%d dashboards", n)
	}
	_, err := s.Create(t.Context(), fleettest.All.By(owner), named("one more", false, dashboard.Common{}))
	fleettest.WantKind(t, err, domain.KindInvalid)
	fleettest.Must[*dashboard.Dashboard](t)(s.Create(t.Context(), fleettest.All.By(other), named("another's", false, dashboard.Common{})))
}

// A dashboard that was imported is found by its id again: the second import changes it.
func TestImportedDashboardsAreSharedAndKeepTheirIDs(t *testing.T) {
	t.Parallel()
	pool := fleettest.NewInventory(t)
	s, ctx := open(pool), t.Context()
	d := named("a", true, dashboard.Common{}, about(4, 12))
	d.DashboardID, d.Owner = "01900000-0000-7000-8000-000000000001", "gone@acme.example"
	keep := func() domain.Imported {
		return fleettest.Must[[]domain.Imported](t)(s.Keep(ctx, fleettest.All, []*dashboard.Dashboard{&d}))[0]
	}
	for _, want := range []domain.Outcome{domain.Created, domain.Unchanged} {
		if kept := keep(); kept.Outcome != want {
			t.Errorf("%+v, not %d", kept, want)
		}
	}
	d.Name = "b"
	if kept := keep(); kept.Outcome != domain.Updated {
		t.Errorf("%+v", kept)
	}
	pool.MustExec(`UPDATE dashboards SET is_shared = false, owner_id = 7`)
	if kept := keep(); kept.Err == nil {
		t.Errorf("a private dashboard is shared by an import: %+v", kept)
	}
	found := fleettest.Must[map[string]*dashboard.Dashboard](t)(s.FindMany(ctx, fleettest.All.By(&domain.Actor{UserID: 7}), []string{d.DashboardID}))
	if of := found[d.DashboardID]; of == nil || of.Name != "b" || of.Owner != "gone@acme.example" || of.Version != 2 || of.TilesText() != d.TilesText() {
		t.Errorf("%+v", found)
	}
}
