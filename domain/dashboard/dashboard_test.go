package dashboard_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"simgraph/domain"
	"simgraph/domain/dashboard"
	"simgraph/internal/fatal"
)

// asks is a question that can be asked.
func asks() *domain.QuestionDefinition {
	return &domain.QuestionDefinition{Version: domain.QuestionVersion, Measure: domain.MeasureTotal, Interval: domain.Daily, Chart: domain.ChartLine, Span: domain.SpanToday}
}

func owner() domain.Scope { return domain.Whole(1).By(&domain.Actor{UserID: 7}) }

// board is a dashboard of user 7 that breaks no rule: tile 3 shows a question that is kept, tile 5 has its own.
func board() dashboard.Dashboard {
	return dashboard.Dashboard{
		Name: "Fleet", OwnerID: 7, RefreshMinutes: 5,
		Tiles: []dashboard.Tile{
			{TileID: 3, Place: dashboard.Place{Width: 6, Height: 4}, QuestionID: new("q1")},
			{TileID: 5, Place: dashboard.Place{Column: 6, Row: 1, Width: 6, Height: 4}, Definition: asks()},
		},
	}
}

func placeOf(err error) string {
	if fault, is := domain.AsError(err); is && fault.Kind == domain.KindInvalid {
		return fault.Place()
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func TestADashboardThatBreaksARuleIsRefusedAtItsPlace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(d *dashboard.Dashboard)
		want   string
	}{
		{"nothing", func(*dashboard.Dashboard) {}, ""},
		{"no name", func(d *dashboard.Dashboard) { d.Name = "" }, "name"},
		{"a folder of blanks", func(d *dashboard.Dashboard) { d.Folder = new(" ") }, "folder"},
		{"an empty description", func(d *dashboard.Dashboard) { d.Description = new("") }, "description"},
		{"less than no minutes", func(d *dashboard.Dashboard) { d.RefreshMinutes = -1 }, "refreshMinutes"},
		{"never read again", func(d *dashboard.Dashboard) { d.RefreshMinutes = 0 }, ""},
		{"a day", func(d *dashboard.Dashboard) { d.RefreshMinutes = 1440 }, ""},
		{"more than a day", func(d *dashboard.Dashboard) { d.RefreshMinutes = 1441 }, "refreshMinutes"},
		{"two subjects", func(d *dashboard.Dashboard) {
			d.Common = dashboard.Common{GroupID: new(int64(1)), TagName: new("fleet")}
		}, "common.groupId"},
		{"days without the last", func(d *dashboard.Dashboard) {
			d.Common = dashboard.Common{Span: new(domain.SpanDays), FirstDay: new("2026-11-01")}
		}, "common.lastDay"},
		{"days of another span", func(d *dashboard.Dashboard) { d.Common.FirstDay = new("2026-11-01") }, "common.firstDay"},
		{"no tiles", func(d *dashboard.Dashboard) { d.Tiles = nil }, ""},
		{"tile 0", func(d *dashboard.Dashboard) { d.Tiles[1].TileID = 0 }, "tiles[1].tileId"},
		{"the highest number", func(d *dashboard.Dashboard) { d.Tiles[1].TileID = 1_000_000 }, ""},
		{"a number above it", func(d *dashboard.Dashboard) { d.Tiles[1].TileID = 1_000_001 }, "tiles[1].tileId"},
		{"a tile twice", func(d *dashboard.Dashboard) { d.Tiles[1].TileID = 3 }, "tiles[1].tileId"},
		{"a tile that asks nothing", func(d *dashboard.Dashboard) { d.Tiles[0].QuestionID = nil }, "tiles[0].questionId"},
		{"a tile that asks twice", func(d *dashboard.Dashboard) { d.Tiles[0].Definition = asks() }, "tiles[0].definition"},
		{"a tile that asks what cannot be asked", func(d *dashboard.Dashboard) { d.Tiles[1].Definition.Chart = "PIE" }, "tiles[1].definition.chart"},
		{"a tile beside the grid", func(d *dashboard.Dashboard) { d.Tiles[0].Column = 7 }, "tiles[0].width"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := board()
			c.change(&d)
			if got := placeOf(d.Check()); got != c.want {
				t.Fatalf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestADashboardHas24TilesAtMost(t *testing.T) {
	t.Parallel()
	d := dashboard.Dashboard{Name: "Fleet"}
	for n := range dashboard.MaxTiles {
		d.Tiles = append(d.Tiles, dashboard.Tile{TileID: n + 1, Place: dashboard.Place{Row: n, Width: 1, Height: 1}, QuestionID: new("q")})
	}
	fatal.If(t, d.Check())
	d.Tiles = append(d.Tiles, dashboard.Tile{TileID: 25, Place: dashboard.Place{Width: 1, Height: 1}, QuestionID: new("q")})
	if got := placeOf(d.Check()); got != "tiles" || len(d.Tiles) != 25 {
		t.Fatalf("%d tiles: %q", len(d.Tiles), got)
	}
}

// A tile is accepted where it lies within 12 columns and rows 0 to 1,000, and nowhere else.
func TestATileLiesOnTheGrid(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		of := func(name string, edges ...int) int {
			return rapid.OneOf(rapid.SampledFrom(edges), rapid.IntRange(-2, 1_002)).Draw(t, name)
		}
		p := dashboard.Place{Column: of("column", 0, 6, 11, 12), Row: of("row", 0, 1_000, 1_001), Width: of("width", 0, 1, 6, 12, 13), Height: of("height", 0, 1, 24, 25)}
		d := board()
		d.Tiles[0].Place = p
		fits := p.Column >= 0 && p.Width >= 1 && p.Column+p.Width <= 12 && p.Row >= 0 && p.Row <= 1_000 && p.Height >= 1 && p.Height <= 24
		if err := d.Check(); (err == nil) != fits {
			t.Fatalf("%+v: %v", p, err)
		}
	})
}

func TestWhatIsCommonTakesThePlaceOfWhatATileAsks(t *testing.T) {
	t.Parallel()
	group := func(d *domain.QuestionDefinition) { d.GroupID = new(int64(12)) }
	for _, c := range []struct {
		name       string
		common     dashboard.Common
		tile, want func(d *domain.QuestionDefinition)
	}{
		{"nothing", dashboard.Common{}, group, group},
		{"a span alone", dashboard.Common{Span: new(domain.SpanLastWeek)}, group, func(d *domain.QuestionDefinition) {
			group(d)
			d.Span = domain.SpanLastWeek
		}},
		{"a span without days", dashboard.Common{Span: new(domain.SpanToday)}, func(d *domain.QuestionDefinition) {
			d.Span, d.FirstDay, d.LastDay = domain.SpanDays, new("2026-11-01"), new("2026-11-02")
		}, func(*domain.QuestionDefinition) {}},
		{"days", dashboard.Common{Span: new(domain.SpanDays), FirstDay: new("2026-11-03"), LastDay: new("2026-11-04")}, group, func(d *domain.QuestionDefinition) {
			group(d)
			d.Span, d.FirstDay, d.LastDay = domain.SpanDays, new("2026-11-03"), new("2026-11-04")
		}},
		{"a tag for a group", dashboard.Common{TagName: new("fleet")}, group, func(d *domain.QuestionDefinition) { d.TagName = new("fleet") }},
		{"a group for a tag", dashboard.Common{GroupID: new(int64(12))}, func(d *domain.QuestionDefinition) { d.TagName = new("fleet") }, group},
		{"a subscriber, of a ranking of subscribers", dashboard.Common{PhysicalID: new("p1")}, func(d *domain.QuestionDefinition) {
			d.Split, d.Chart = new(domain.SplitSubscriber), domain.ChartTop
		}, func(d *domain.QuestionDefinition) { d.PhysicalID, d.Chart = new("p1"), domain.ChartBars }},
		{"a subscriber, of risers", dashboard.Common{PhysicalID: new("p1")}, func(d *domain.QuestionDefinition) {
			d.Split, d.Chart, d.Compare = new(domain.SplitSubscriber), domain.ChartRisers, new(domain.CompareBefore)
		}, func(d *domain.QuestionDefinition) {
			d.PhysicalID, d.Chart, d.Compare = new("p1"), domain.ChartBars, new(domain.CompareBefore)
		}},
		{"a subscriber, of a table of subscribers", dashboard.Common{PhysicalID: new("p1")}, func(d *domain.QuestionDefinition) {
			d.Split, d.Chart = new(domain.SplitSubscriber), domain.ChartTable
		}, func(d *domain.QuestionDefinition) { d.PhysicalID, d.Chart = new("p1"), domain.ChartTable }},
		{"a subscriber, of a ranking of tags", dashboard.Common{PhysicalID: new("p1")}, func(d *domain.QuestionDefinition) {
			d.Split, d.Chart = new(domain.SplitTag), domain.ChartTop
		}, func(d *domain.QuestionDefinition) {
			d.PhysicalID, d.Split, d.Chart = new("p1"), new(domain.SplitTag), domain.ChartTop
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tile, want := asks(), asks()
			c.tile(tile)
			c.want(want)
			if got := c.common.Of(*tile); got.String() != want.String() {
				t.Fatalf("got %s, want %s", &got, want)
			}
		})
	}
}

var (
	days   = []*string{nil, new("2026-11-01"), new("2026-11-09")}
	tags   = []*string{nil, new("fleet")}
	phones = []*string{nil, new("p1")}
	groups = []*int64{nil, new(int64(12))}
)

// What can be asked can be asked under every common subject and span, unless the span is too long for it. To
// apply the same again changes nothing.
func TestWhatIsCommonLeavesAQuestionThatCanBeAsked(t *testing.T) {
	t.Parallel()
	spans := []domain.QuestionSpan{domain.SpanToday, domain.SpanLastWeek, domain.SpanThisYear, domain.SpanDays}
	rapid.Check(t, func(t *rapid.T) {
		d := domain.QuestionDefinition{
			Version:  domain.QuestionVersion,
			Measure:  rapid.SampledFrom([]domain.QuestionMeasure{domain.MeasureTotal, domain.MeasureSessions}).Draw(t, "measure"),
			Interval: rapid.SampledFrom([]domain.Unit{domain.Hourly, domain.Daily, domain.Monthly}).Draw(t, "interval"),
			Split:    rapid.SampledFrom([]*domain.QuestionSplit{nil, new(domain.SplitSubscriber), new(domain.SplitTag), new(domain.SplitSource)}).Draw(t, "split"),
			Chart:    rapid.SampledFrom([]domain.QuestionChart{domain.ChartLine, domain.ChartTop, domain.ChartRisers, domain.ChartTable, domain.ChartBars, domain.ChartHeatMap}).Draw(t, "chart"),
			Span:     rapid.SampledFrom(spans).Draw(t, "span"),
			FirstDay: rapid.SampledFrom(days).Draw(t, "first"), LastDay: rapid.SampledFrom(days).Draw(t, "last"),
			Compare: rapid.SampledFrom([]*domain.QuestionComparison{nil, new(domain.CompareBefore)}).Draw(t, "compare"),
			TagName: rapid.SampledFrom(tags).Draw(t, "tag"), GroupID: rapid.SampledFrom(groups).Draw(t, "group"),
		}
		if d.Span != domain.SpanDays {
			d.FirstDay, d.LastDay = nil, nil
		}
		common := dashboard.Common{TagName: rapid.SampledFrom(tags).Draw(t, "common tag"), PhysicalID: rapid.SampledFrom(phones).Draw(t, "common subscriber")}
		if span := rapid.SampledFrom(spans).Draw(t, "common span"); rapid.Bool().Draw(t, "has span") {
			common.Span = &span
			if span == domain.SpanDays {
				common.FirstDay, common.LastDay = days[1], days[2]
			}
		}
		if d.Check() != nil || common.Check() != nil {
			t.Skip("cannot be asked")
		}
		got := common.Of(d)
		if again := common.Of(got); again.String() != got.String() {
			t.Fatalf("%s, and again %s", &got, &again)
		}
		if place := placeOf(got.Check()); place != "" && place != "interval" && place != "span" {
			t.Fatalf("%s under %+v is %s: %s", &d, common, &got, place)
		}
	})
}

func TestTilesGetNumbersThatNoOtherHas(t *testing.T) {
	t.Parallel()
	place := dashboard.Place{Width: 1, Height: 1}
	d, err := dashboard.New(dashboard.Dashboard{Name: "Fleet", OwnerID: 7}, []dashboard.TileEdit{{Place: place, QuestionID: new("q1")}, {Place: place, Definition: asks()}})
	fatal.If(t, err)
	if d.Version != 1 || d.Tiles[0].TileID != 1 || d.Tiles[1].TileID != 2 {
		t.Fatalf("%+v", d)
	}
	rapid.Check(t, func(t *rapid.T) {
		before := board()
		var edits []dashboard.TileEdit
		for _, id := range rapid.Permutation([]int{3, 5, 0, 0, 0}).Draw(t, "tiles")[:rapid.IntRange(0, 5).Draw(t, "n")] {
			edit := dashboard.TileEdit{Place: place, QuestionID: new("new")}
			if id > 0 {
				edit = dashboard.TileEdit{Place: place, TileID: &id}
			}
			edits = append(edits, edit)
		}
		after, err := dashboard.Edit{Tiles: &edits}.Apply(owner(), before)
		fatal.If(t, err)
		var seen []int
		for i, tile := range after.Tiles {
			switch {
			case slices.Contains(seen, tile.TileID):
				t.Fatalf("%d is there twice", tile.TileID)
			case edits[i].TileID == nil && (tile.TileID <= 5 || *tile.QuestionID != "new"):
				t.Fatalf("a new tile is %+v", tile)
			case edits[i].TileID != nil && tile.TileID != *edits[i].TileID:
				t.Fatalf("tile %d became %d", *edits[i].TileID, tile.TileID)
			case tile.TileID == 3 && (tile.QuestionID == nil || *tile.QuestionID != "q1" || tile.Definition != nil):
				t.Fatalf("tile 3 shows something else: %+v", tile)
			case tile.TileID == 5 && (tile.QuestionID != nil || tile.Definition == nil):
				t.Fatalf("tile 5 shows something else: %+v", tile)
			case tile.Place != place:
				t.Fatalf("tile %d stands at %+v", tile.TileID, tile.Place)
			}
			seen = append(seen, tile.TileID)
		}
		if len(seen) != len(edits) {
			t.Fatalf("%d of %d tiles", len(seen), len(edits))
		}
	})
}

func TestAnEditOfADashboard(t *testing.T) {
	t.Parallel()
	other, groupsOnly := domain.Whole(1).By(&domain.Actor{UserID: 8}), domain.Scope{Company: 1, Groups: []int64{12}}.By(&domain.Actor{UserID: 8})
	place := dashboard.Place{Width: 2, Height: 2}
	one := func(e dashboard.TileEdit) dashboard.Edit {
		e.Place = place
		return dashboard.Edit{Tiles: &[]dashboard.TileEdit{e}}
	}
	rename := dashboard.Edit{KeptEdit: domain.KeptEdit{Name: new("Boats")}}
	private := dashboard.Edit{KeptEdit: domain.KeptEdit{IsShared: new(false)}}
	for _, c := range []struct {
		name     string
		scope    domain.Scope
		isShared bool
		edit     dashboard.Edit
		want     string
	}{
		{"nothing", owner(), false, dashboard.Edit{}, "Fleet, 5 min, , 3 at 0/0, 6×4: question q1; 5 at 6/1, 6×4: " + asks().String()},
		{"its name", owner(), false, rename, "Boats, 5 min, , 3 at 0/0, 6×4: question q1; 5 at 6/1, 6×4: " + asks().String()},
		{"by another user", other, false, rename, "FORBIDDEN"},
		{"a shared one by another user", other, true, rename, "Boats, 5 min, , 3 at 0/0, 6×4: question q1; 5 at 6/1, 6×4: " + asks().String()},
		{"a shared one by a user of groups", groupsOnly, true, rename, "FORBIDDEN"},
		{"private by another user", other, true, private, "FORBIDDEN"},
		{"how often it is read", owner(), false, dashboard.Edit{RefreshMinutes: new(0), Tiles: &[]dashboard.TileEdit{}}, "Fleet, 0 min, , "},
		{"too often", owner(), false, dashboard.Edit{RefreshMinutes: new(-1)}, "refreshMinutes"},
		{"what is common", owner(), false, dashboard.Edit{Common: &dashboard.Common{TagName: new("fleet")}, Tiles: &[]dashboard.TileEdit{}}, "Fleet, 5 min, of tag fleet, "},
		{"a tile that moves", owner(), false, one(dashboard.TileEdit{TileID: new(3)}), "Fleet, 5 min, , 3 at 0/0, 2×2: question q1"},
		{"a tile that shows another question", owner(), false, one(dashboard.TileEdit{TileID: new(5), QuestionID: new("q2")}), "Fleet, 5 min, , 5 at 0/0, 2×2: question q2"},
		{"a tile that is not there", owner(), false, one(dashboard.TileEdit{TileID: new(4), QuestionID: new("q2")}), "tiles[0].tileId"},
		{"a new tile that asks nothing", owner(), false, one(dashboard.TileEdit{}), "tiles[0].questionId"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			before := board()
			before.IsShared = c.isShared
			after, err := c.edit.Apply(c.scope, before)
			got := placeOf(err)
			if fault, _ := domain.AsError(err); fault != nil && fault.Kind == domain.KindForbidden {
				got = string(fault.Kind)
			}
			if err == nil {
				got = strings.Join([]string{after.Name, strconv.Itoa(after.RefreshMinutes) + " min", after.Common.Text(), after.TilesText()}, ", ")
			}
			if got != c.want {
				t.Fatalf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestTheAuditLogHasWhatIsCommon(t *testing.T) {
	t.Parallel()
	for want, common := range map[string]dashboard.Common{
		"":                       {},
		"LAST_WEEK":              {Span: new(domain.SpanLastWeek)},
		"LAST_WEEK, of group 12": {Span: new(domain.SpanLastWeek), GroupID: new(int64(12))},
		"of subscriber p1":       {PhysicalID: new("p1")},
		"DAYS, from 2026-11-01, to 2026-11-02, of tag fleet": {Span: new(domain.SpanDays), FirstDay: new("2026-11-01"), LastDay: new("2026-11-02"), TagName: new("fleet")},
	} {
		if got := common.Text(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
