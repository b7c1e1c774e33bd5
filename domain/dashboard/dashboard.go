// Package dashboard is about dashboards: questions about usage on a grid.
package dashboard

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"simgraph/domain"
	"simgraph/domain/query"
)

const (
	// MaxDashboards bounds the dashboards that a user keeps.
	MaxDashboards = 100
	// MaxTiles bounds the tiles of a dashboard.
	MaxTiles = 24
	// Columns is how wide the grid is.
	Columns = 12
	// maxRow and maxHeight bound where a tile begins, and how high it is, in rows of the grid.
	maxRow    = 1_000
	maxHeight = 24
	// maxRefreshMinutes bounds the time between two readings by the page: a day.
	maxRefreshMinutes = 24 * 60
	// maxTileID bounds the numbers of tiles.
	maxTileID = 1_000_000
)

// Place is where a tile stands on the grid. Column and Row begin with 0.
type Place struct{ Column, Row, Width, Height int }

func (p Place) check() error {
	for _, one := range []struct {
		field              string
		value, least, most int
	}{
		{"column", p.Column, 0, Columns - 1}, {"row", p.Row, 0, maxRow}, {"width", p.Width, 1, Columns - p.Column}, {"height", p.Height, 1, maxHeight},
	} {
		if one.value < one.least || one.value > one.most {
			return domain.Invalid(one.field, "%s must be %d to %d, not %d", one.field, one.least, one.most, one.value)
		}
	}
	return nil
}

// Tile is a question on a dashboard.
type Tile struct {
	// TileID is unique in the dashboard.
	TileID int
	Place
	// QuestionID names a question that is kept, which may be gone. Definition is that of a
	// tile with a question of its own. One of them is nil; both are where the scope does not
	// see what a tile asks.
	QuestionID *string
	Definition *domain.QuestionDefinition
}

func (t *Tile) check() error {
	if t.TileID < 1 || t.TileID > maxTileID {
		return domain.Invalid("tileId", "the number of a tile is 1 to %d, not %d", maxTileID, t.TileID)
	}
	if err := t.Place.check(); err != nil {
		return err
	}
	switch {
	case t.QuestionID == nil && t.Definition == nil:
		return domain.Invalid("questionId", "a tile shows a question that is kept, or has a definition")
	case t.QuestionID != nil && t.Definition != nil:
		return domain.Invalid("definition", "a tile shows a question that is kept, or has a definition: not both")
	case t.Definition != nil:
		return domain.Within("definition", t.Definition.Check())
	}
	return nil
}

// Common is what takes the place of the span and the subject of every tile; what is nil does
// not.
type Common struct {
	Span              *domain.QuestionSpan
	FirstDay, LastDay *string
	// At most one of these is there.
	GroupID    *int64
	TagName    *string
	PhysicalID *string
}

// definition is a question about what is common.
func (c Common) definition() domain.QuestionDefinition {
	d := domain.QuestionDefinition{
		Version: domain.QuestionVersion, Measure: domain.MeasureTotal, Interval: domain.Daily, Chart: domain.ChartLine, Span: domain.SpanToday,
		FirstDay: c.FirstDay, LastDay: c.LastDay, GroupID: c.GroupID, TagName: c.TagName, PhysicalID: c.PhysicalID,
	}
	if c.Span != nil {
		d.Span = *c.Span
	}
	return d
}

// Of is what a tile asks under what is common, fitted so that it can be asked. The page has the
// same rule in web/app/dashboards/board.ts.
func (c Common) Of(d domain.QuestionDefinition) domain.QuestionDefinition {
	if c.Span != nil {
		d.Span, d.FirstDay, d.LastDay = *c.Span, c.FirstDay, c.LastDay
	}
	if c.GroupID != nil || c.TagName != nil || c.PhysicalID != nil {
		d.GroupID, d.TagName, d.PhysicalID = c.GroupID, c.TagName, c.PhysicalID
	}
	if d.PhysicalID != nil && d.Split != nil && *d.Split == domain.SplitSubscriber {
		d.Split = nil
		if d.Chart == domain.ChartTop || d.Chart == domain.ChartRisers {
			d.Chart = domain.ChartBars
		}
	}
	return d
}

// Subject is a question about whom the dashboard is about.
func (c Common) Subject() *domain.QuestionDefinition {
	return &domain.QuestionDefinition{GroupID: c.GroupID, PhysicalID: c.PhysicalID}
}

// Check refuses what no question could have.
func (c Common) Check() error { return new(c.definition()).Check() }

// Dashboard is questions about usage on a grid.
type Dashboard struct {
	// DashboardID is a UUID, which bundles keep.
	DashboardID string
	Name        string
	// Description and Folder are nil for none, never "".
	Description, Folder *string
	IsShared            bool
	// Version is one more with each change.
	Version int
	Common  Common
	// RefreshMinutes is how often the page reads it again; 0 is never.
	RefreshMinutes int
	Tiles          []Tile
	// OwnerID is 0 for a user who is not known here. Owner is the e-mail address.
	OwnerID   int64
	Owner     string
	CreatedAt time.Time
	ChangedAt time.Time
}

// VersionText is the version that an edit names.
func (d *Dashboard) VersionText() string { return strconv.Itoa(d.Version) }

// Check refuses a dashboard that breaks a rule of its fields.
func (d *Dashboard) Check() error {
	if err := domain.CheckKept(d.Name, d.Description, d.Folder); err != nil {
		return err
	}
	if err := d.Common.Check(); err != nil {
		return domain.Within("common", err)
	}
	if d.RefreshMinutes < 0 || d.RefreshMinutes > maxRefreshMinutes {
		return domain.Invalid("refreshMinutes", "refreshMinutes must be 0 to %d, not %d", maxRefreshMinutes, d.RefreshMinutes)
	}
	if len(d.Tiles) > MaxTiles {
		return domain.Invalid("tiles", "a dashboard has at most %d tiles", MaxTiles)
	}
	seen := map[int]bool{}
	for i := range d.Tiles {
		err := d.Tiles[i].check()
		if err == nil && seen[d.Tiles[i].TileID] {
			err = domain.Invalid("tileId", "the tile %d is there twice", d.Tiles[i].TileID)
		}
		if err != nil {
			return atTile(i, err)
		}
		seen[d.Tiles[i].TileID] = true
	}
	return nil
}

func atTile(i int, err error) error { return domain.Within(domain.Item("tiles", i), err) }

// IsEditable reports whether the scope, which sees the dashboard, may change it, as with
// questions.
func (d *Dashboard) IsEditable(scope domain.Scope) bool {
	return scope.MayEditKept(d.OwnerID, d.IsShared)
}

// TilesText is what the tiles show, as the audit log has it.
func (d *Dashboard) TilesText() string {
	texts := make([]string, len(d.Tiles))
	for i, t := range d.Tiles {
		shows := ""
		if t.QuestionID != nil {
			shows = "question " + *t.QuestionID
		} else if t.Definition != nil {
			shows = t.Definition.String()
		}
		texts[i] = fmt.Sprintf("%d at %d/%d, %d×%d: %s", t.TileID, t.Column, t.Row, t.Width, t.Height, shows)
	}
	return strings.Join(texts, "; ")
}

// Text is what is common, as the audit log has it; "" for nothing.
func (c Common) Text() string {
	if c == (Common{}) {
		return ""
	}
	d := c.definition()
	words := strings.Split(d.String(), ", ")
	if c.Span == nil {
		return strings.Join(words[4:], ", ")
	}
	return strings.Join(append([]string{words[2]}, words[4:]...), ", ")
}

// TileEdit says where a tile is to stand, and what it shows. One that names a tile and
// nothing to show goes on to show what it does.
type TileEdit struct {
	TileID *int
	Place
	QuestionID *string
	Definition *domain.QuestionDefinition
}

// Edit is what changes on a dashboard; nil stays as it is. Common and Tiles are replaced as a
// whole.
type Edit struct {
	domain.KeptEdit
	Common         *Common
	RefreshMinutes *int
	Tiles          *[]TileEdit
}

// Apply changes the dashboard for the scope, and refuses what it may not change.
func (e Edit) Apply(scope domain.Scope, d Dashboard) (Dashboard, error) {
	if err := e.KeptEdit.Apply(scope, "dashboard", d.OwnerID, &d.Name, &d.Description, &d.Folder, &d.IsShared); err != nil {
		return d, err
	}
	if e.Common != nil {
		d.Common = *e.Common
	}
	if e.RefreshMinutes != nil {
		d.RefreshMinutes = *e.RefreshMinutes
	}
	if e.Tiles != nil {
		tiles, err := placed(*e.Tiles, d.Tiles)
		if err != nil {
			return d, err
		}
		d.Tiles = tiles
	}
	return d, d.Check()
}

// New returns a dashboard with the tiles, which are numbered.
func New(d Dashboard, tiles []TileEdit) (Dashboard, error) {
	var err error
	if d.Tiles, err = placed(tiles, nil); err != nil {
		return d, err
	}
	d.Version = 1
	return d, d.Check()
}

// placed are the tiles that an edit makes of those before.
func placed(edits []TileEdit, before []Tile) ([]Tile, error) {
	last := 0
	for _, t := range before {
		last = max(last, t.TileID)
	}
	tiles := make([]Tile, len(edits))
	for i, e := range edits {
		t := Tile{Place: e.Place, QuestionID: e.QuestionID, Definition: e.Definition}
		if e.TileID == nil {
			last++
			t.TileID = last
		} else {
			at := slices.IndexFunc(before, func(t Tile) bool { return t.TileID == *e.TileID })
			if at < 0 {
				return nil, atTile(i, domain.Invalid("tileId", "the dashboard has no tile %d", *e.TileID))
			}
			t.TileID = *e.TileID
			if t.QuestionID == nil && t.Definition == nil {
				t.QuestionID, t.Definition = before[at].QuestionID, before[at].Definition
			}
		}
		tiles[i] = t
	}
	return tiles, nil
}

// Dashboards keeps dashboards. A scope sees those of its user and those that are shared, but
// of those none about a group or a subscriber that it does not see. What a tile asks about
// such a group or subscriber is left out.
type Dashboards interface {
	// List returns the dashboards, ordered by name unless the listing has another order.
	List(ctx context.Context, scope domain.Scope, listing domain.Listing) (domain.Slice[*Dashboard], error)
	Count(ctx context.Context, scope domain.Scope, listing domain.Listing) (int, error)
	// FindMany answers for a batch at once, keyed by id. What is no UUID names none.
	FindMany(ctx context.Context, scope domain.Scope, ids []string) (map[string]*Dashboard, error)
	// Create keeps a dashboard of the user of the scope.
	Create(ctx context.Context, scope domain.Scope, dashboard Dashboard) (*Dashboard, error)
	Edit(ctx context.Context, scope domain.Scope, id string, edit Edit) (*Dashboard, error)
	// Remove returns the dashboard as it was.
	Remove(ctx context.Context, scope domain.Scope, id string) (*Dashboard, error)
}

// Fields are what dashboards can be filtered and ordered by.
var Fields = query.NewFields(
	query.Field{Name: "dashboardId", Type: query.Text},
	query.Field{Name: "name", Type: query.Text},
	query.Field{Name: "folder", Type: query.Text},
	query.Field{Name: "owner", Type: query.Text},
	query.Field{Name: "isShared", Type: query.Boolean},
	query.Field{Name: "createdAt", Type: query.Time},
	query.Field{Name: "changedAt", Type: query.Time},
)
