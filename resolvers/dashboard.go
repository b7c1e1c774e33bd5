package resolvers

import (
	"context"

	"simgraph/domain"
	"simgraph/domain/dashboard"
	"simgraph/graph/generated/input"
	"simgraph/graph/model"
)

func (q queryResolver) Dashboard(ctx context.Context, by input.DashboardKey) (*dashboard.Dashboard, error) {
	return lookUp[dashboard.Dashboard](ctx, q, "Dashboard", by.ID, by.DashboardID)
}

func (c companyResolver) Dashboards(ctx context.Context, of *domain.Company, first *int32, after *string, last *int32, before *string, filter map[string]any, orderBy []map[string]any) (*model.DashboardConnection, error) {
	return companyPage(ctx, of, dashboardsOfCompany, dashboard.Fields, first, after, last, before, filter, orderBy)
}

func (m mutationResolver) CreateDashboard(ctx context.Context, in input.CreateDashboardInput) (*model.CreateDashboardPayload, error) {
	scope, err := scopeOf(ctx)
	if err != nil {
		return nil, err
	}
	made, err := dashboard.New(dashboard.Dashboard{
		Name: in.Name, Description: noneIfEmpty(in.Description.Value()), Folder: noneIfEmpty(in.Folder.Value()), IsShared: in.IsShared,
		Common: commonOf(in.Common.Value()), RefreshMinutes: int(in.RefreshMinutes),
	}, tilesOf(in.Tiles))
	if err != nil {
		return nil, err
	}
	if err := m.mustShowTiles(ctx, scope, &made.Common, tilesOf(in.Tiles)); err != nil {
		return nil, err
	}
	created, err := m.Ports.Dashboards.Create(ctx, scope, made)
	return &model.CreateDashboardPayload{Dashboard: created}, err
}

func (m mutationResolver) EditDashboard(ctx context.Context, in input.EditDashboardInput) (*model.EditDashboardPayload, error) {
	scope, err := scopeOfEdit(ctx, in.ExpectedVersion)
	if err != nil {
		return nil, err
	}
	edit := dashboard.Edit{
		KeptEdit:       domain.KeptEdit{Name: in.Name.Value(), Description: in.Description.Value(), Folder: in.Folder.Value(), IsShared: in.IsShared.Value()},
		RefreshMinutes: toInt(in.RefreshMinutes.Value()),
	}
	if wanted := in.Common.Value(); wanted != nil {
		edit.Common = new(commonOf(wanted))
		if err := edit.Common.Check(); err != nil {
			return nil, domain.Within("common", err)
		}
	}
	var tiles []dashboard.TileEdit
	if wanted := in.Tiles.Value(); wanted != nil {
		tiles = tilesOf(wanted)
		edit.Tiles = &tiles
	}
	if err := m.mustShowTiles(ctx, scope, edit.Common, tiles); err != nil {
		return nil, err
	}
	edited, err := m.Ports.Dashboards.Edit(ctx, scope, in.DashboardID, edit)
	return &model.EditDashboardPayload{Dashboard: edited}, err
}

func (m mutationResolver) DeleteDashboard(ctx context.Context, in input.DeleteDashboardInput) (*model.DeleteDashboardPayload, error) {
	removed, err := within(ctx, m.Ports.Dashboards.Remove, in.DashboardID)
	return &model.DeleteDashboardPayload{Dashboard: removed}, err
}

// toInt is the number, or nil for one that is not there.
func toInt(n *int32) *int {
	if n == nil {
		return nil
	}
	return new(int(*n))
}

// commonOf reads what tiles are to have in common; nil is nothing.
func commonOf(in *input.DashboardCommonInput) dashboard.Common {
	if in == nil {
		return dashboard.Common{}
	}
	c := dashboard.Common{
		Span: in.Span.Value(), FirstDay: in.FirstDay.Value(), LastDay: in.LastDay.Value(), TagName: in.TagName.Value(), PhysicalID: in.PhysicalID.Value(),
	}
	if group := in.GroupID.Value(); group != nil {
		c.GroupID = new(int64(*group))
	}
	return c
}

func tilesOf(in []*input.DashboardTileInput) []dashboard.TileEdit {
	tiles := make([]dashboard.TileEdit, len(in))
	for i, t := range in {
		tiles[i] = dashboard.TileEdit{
			TileID: toInt(t.TileID.Value()), QuestionID: t.QuestionID.Value(),
			Place: dashboard.Place{Column: int(t.Column), Row: int(t.Row), Width: int(t.Width), Height: int(t.Height)},
		}
		if wanted := t.Definition.Value(); wanted != nil {
			tiles[i].Definition = new(definitionOf(wanted))
		}
	}
	return tiles
}

// mustShowTiles returns NotFound for a question, a group or a subscriber of what is written
// that the scope does not show. Tiles that are only moved are not looked at.
func (g *Graph) mustShowTiles(ctx context.Context, scope domain.Scope, common *dashboard.Common, tiles []dashboard.TileEdit) error {
	if common != nil {
		if err := g.mustShowSubject(ctx, scope, common.Subject()); err != nil {
			return domain.Within("common", err)
		}
	}
	if len(tiles) > dashboard.MaxTiles {
		return domain.Invalid("tiles", "a dashboard has at most %d tiles", dashboard.MaxTiles)
	}
	var ids []string
	for _, t := range tiles {
		if t.QuestionID != nil {
			ids = append(ids, *t.QuestionID)
		}
	}
	found, err := g.Ports.Questions.FindMany(ctx, scope, ids)
	if err != nil {
		return err
	}
	for i, t := range tiles {
		if t.QuestionID != nil && found[*t.QuestionID] == nil {
			return domain.Within(domain.Item("tiles", i), domain.NotFound("questionId", "question", *t.QuestionID))
		}
		if t.Definition != nil {
			if err := g.mustShowSubject(ctx, scope, t.Definition); err != nil {
				return domain.Within(domain.Item("tiles", i), domain.Within("definition", err))
			}
		}
	}
	return nil
}

func (d dashboardResolver) ID(_ context.Context, of *dashboard.Dashboard) (string, error) {
	return globalID("Dashboard", of.DashboardID), nil
}

func (d dashboardResolver) Version(_ context.Context, of *dashboard.Dashboard) (string, error) {
	return of.VersionText(), nil
}

func (d dashboardResolver) IsEditable(ctx context.Context, of *dashboard.Dashboard) (bool, error) {
	scope, err := scopeOf(ctx)
	return of.IsEditable(scope), err
}

func (d dashboardTileResolver) Question(ctx context.Context, of *dashboard.Tile) (*domain.Question, error) {
	return questionOfTile.of(ctx, of)
}

var _ = nodesByText("Dashboard", func(g *Graph) finding[string, *dashboard.Dashboard] { return g.Ports.Dashboards.FindMany })
