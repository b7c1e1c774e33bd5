package bundle

import (
	"github.com/google/uuid"

	"simgraph/domain"
	"simgraph/domain/dashboard"
)

type dashboardRecord struct {
	Type           Type         `json:"type"`
	Company        *string      `json:"company"`
	ID             *string      `json:"id"`
	Name           *string      `json:"name"`
	Description    *string      `json:"description"`
	Folder         *string      `json:"folder"`
	Owner          *string      `json:"owner"`
	Span           *string      `json:"span"`
	FirstDay       *string      `json:"firstDay"`
	LastDay        *string      `json:"lastDay"`
	GroupID        *int64       `json:"groupId"`
	TagName        *string      `json:"tagName"`
	PhysicalID     *string      `json:"physicalId"`
	RefreshMinutes *int         `json:"refreshMinutes"`
	Tiles          []tileRecord `json:"tiles"`
}

type tileRecord struct {
	ID         *int              `json:"id"`
	Column     *int              `json:"column"`
	Row        *int              `json:"row"`
	Width      *int              `json:"width"`
	Height     *int              `json:"height"`
	QuestionID *string           `json:"questionId"`
	Definition *definitionRecord `json:"definition"`
}

func newDashboardRecord(company string, d *dashboard.Dashboard) *dashboardRecord {
	tiles := make([]tileRecord, len(d.Tiles))
	for i := range d.Tiles {
		t := &d.Tiles[i]
		tiles[i] = tileRecord{ID: &t.TileID, Column: &t.Column, Row: &t.Row, Width: &t.Width, Height: &t.Height, QuestionID: t.QuestionID}
		if t.Definition != nil {
			tiles[i].Definition = new(newDefinitionRecord(t.Definition))
		}
	}
	c := d.Common
	return &dashboardRecord{
		Dashboard, &company, &d.DashboardID, &d.Name, d.Description, d.Folder, unlessEmpty(d.Owner), (*string)(c.Span), c.FirstDay, c.LastDay,
		c.GroupID, c.TagName, c.PhysicalID, &d.RefreshMinutes, tiles,
	}
}

func (r *dashboardRecord) item() (Item, error) {
	var f fields
	company := need(&f, "company", r.Company)
	d := &dashboard.Dashboard{
		DashboardID: need(&f, "id", r.ID), Name: need(&f, "name", r.Name), Description: r.Description, Folder: r.Folder, Owner: either(r.Owner, ""), IsShared: true,
		Common: dashboard.Common{
			Span: (*domain.QuestionSpan)(r.Span), FirstDay: r.FirstDay, LastDay: r.LastDay, GroupID: r.GroupID, TagName: r.TagName, PhysicalID: r.PhysicalID,
		},
		RefreshMinutes: either(r.RefreshMinutes, 0), Tiles: make([]dashboard.Tile, len(r.Tiles)),
	}
	for i := range r.Tiles {
		d.Tiles[i] = r.Tiles[i].tile(&f)
	}
	return Item{Company: company, Value: d}, f.check(func() error {
		if err := checkKept(&d.DashboardID, d.Owner); err != nil {
			return err
		}
		for i := range d.Tiles {
			if id := d.Tiles[i].QuestionID; id != nil && uuid.Validate(*id) != nil {
				return domain.At(domain.Item("tiles", i)+".questionId", domain.Invalid("", "questionId must be a UUID, not %.40q", *id))
			}
		}
		return d.Check()
	})
}

func (r *tileRecord) tile(f *fields) dashboard.Tile {
	t := dashboard.Tile{
		TileID: need(f, "tiles.id", r.ID), QuestionID: r.QuestionID,
		Place: dashboard.Place{Column: need(f, "tiles.column", r.Column), Row: need(f, "tiles.row", r.Row), Width: need(f, "tiles.width", r.Width), Height: need(f, "tiles.height", r.Height)},
	}
	if r.Definition != nil {
		t.Definition = new(r.Definition.definition(f))
	}
	return t
}
