// Package dashboard keeps dashboards in PostgreSQL: see domain/dashboard.
package dashboard

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/kept"
	"simgraph/db/keyset"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/dashboard"
	"simgraph/domain/query"
)

// Options are what a Store needs beside its pool.
type Options struct {
	// Now is the clock.
	Now func() time.Time
	// Most is how many dashboards a user keeps; dashboard.MaxDashboards when 0.
	Most int
}

// Store keeps dashboards in PostgreSQL.
type Store struct {
	kept.Owned[Row, dashboard.Dashboard, *Row]
	most int
}

var _ dashboard.Dashboards = (*Store)(nil)

// New returns the store on the pool.
func New(pool *sqlx.DB, options Options) *Store {
	s := &Store{kept.Owned[Row, dashboard.Dashboard, *Row]{
		Store: kept.New(pool, options.Now, kind), Made: made, RemoveSQL: removeDashboard,
		MayChange: func(scope domain.Scope, d dashboard.Dashboard) error {
			_, err := dashboard.Edit{}.Apply(scope, d)
			return err
		},
	}, cmp.Or(options.Most, dashboard.MaxDashboards)}
	s.Complete = s.hide
	return s
}

// kind is how dashboards are kept.
var kind = kept.Kind[string, Row, dashboard.Dashboard]{
	Type: "Dashboard", Name: "dashboard", Table: table, Shown: visibleTo, Lock: ` FOR UPDATE OF d`, Read: (*Row).Dashboard,
	ID: func(d *dashboard.Dashboard) *string { return &d.DashboardID }, Version: (*dashboard.Dashboard).VersionText, Audited: audited,
}

func made(d *dashboard.Dashboard) kept.Made {
	return kept.Made{OwnerID: &d.OwnerID, Owner: &d.Owner, CreatedAt: &d.CreatedAt, ChangedAt: &d.ChangedAt}
}

const (
	dashboardColumns = `d.dashboard_id, d.name, d.description, d.folder, d.owner_id, d.owner, d.is_shared, d.version, d.created_at, d.changed_at,
  d.span, d.first_day, d.last_day, d.group_id, d.tag_name, d.physical_id, d.refresh_minutes, d.tiles AS placed`
	// visibleDashboards is the condition that a scope ($1, $2) of a user ($3) shows the dashboard d.
	visibleDashboards = `d.company_id = $1 AND (d.owner_id = $3 AND $3 <> 0 OR d.is_shared AND ($2::bigint[] IS NULL OR
  (d.group_id IS NULL OR d.group_id = ANY($2::bigint[])) AND (d.physical_id IS NULL OR EXISTS (
    SELECT FROM subscribers s WHERE s.company_id = $1 AND s.physical_id = d.physical_id AND s.group_id = ANY($2::bigint[])))))`
	fromDashboards = `
FROM dashboards d
WHERE ` + visibleDashboards
	removeDashboard = `DELETE FROM dashboards WHERE company_id = $1 AND dashboard_id = $2::uuid`
)

// visibleTo are the parameters of visibleDashboards after the company.
func visibleTo(scope domain.Scope) []any { return []any{pg.GroupsOf(scope), scope.UserID()} }

// Row is a dashboard as its table has it.
type Row struct {
	DashboardID, Name    string
	Description, Folder  *string
	OwnerID              int64
	Owner                string
	IsShared             bool
	Version              int
	CreatedAt, ChangedAt time.Time
	RefreshMinutes       int
	Placed               []byte
	dashboard.Common
	keyset.Keyed
}

// Dashboard reads the row.
func (r *Row) Dashboard() (*dashboard.Dashboard, error) {
	d := &dashboard.Dashboard{
		DashboardID: r.DashboardID, Name: r.Name, Description: r.Description, Folder: r.Folder, IsShared: r.IsShared, Version: r.Version, Common: r.Common,
		RefreshMinutes: r.RefreshMinutes, OwnerID: r.OwnerID, Owner: r.Owner, CreatedAt: r.CreatedAt.UTC(), ChangedAt: r.ChangedAt.UTC(),
	}
	return d, json.Unmarshal(r.Placed, &d.Tiles)
}

// table is the list of dashboard.Fields.
var table = keyset.Table{
	Key: query.Field{Name: "dashboardId", Type: query.Text}, Order: []query.Order{{Field: query.Field{Name: "name", Type: query.Text}}},
	Select: dashboardColumns, From: fromDashboards,
	Columns: map[string]keyset.Column{
		"dashboardId": {SQL: "d.dashboard_id", UUID: true}, "name": {SQL: "d.name"}, "folder": {SQL: "d.folder", Nullable: true}, "owner": {SQL: "d.owner"},
		"isShared": {SQL: "d.is_shared"}, "createdAt": {SQL: "d.created_at"}, "changedAt": {SQL: "d.changed_at"},
	},
}

const visibleSubscribers = `SELECT physical_id FROM subscribers WHERE company_id = $1 AND group_id = ANY($2::bigint[]) AND physical_id = ANY($3)`

// hide takes away what tiles ask about groups and subscribers that the scope does not show.
func (s *Store) hide(ctx context.Context, scope domain.Scope, all ...*dashboard.Dashboard) error {
	if !scope.Restricted() {
		return nil
	}
	var asked pq.StringArray
	for _, d := range all {
		for _, t := range d.Tiles {
			if t.Definition != nil && t.Definition.PhysicalID != nil {
				asked = append(asked, *t.Definition.PhysicalID)
			}
		}
	}
	shown := map[string]bool{}
	if len(asked) > 0 {
		found, err := pg.SelectValues[string](ctx, s.Pool, visibleSubscribers, scope.Company, pg.GroupsOf(scope), asked)
		if err != nil {
			return err
		}
		for _, id := range found {
			shown[id] = true
		}
	}
	for _, d := range all {
		for i, t := range d.Tiles {
			if t.Definition == nil {
				continue
			}
			if group, device := t.Definition.GroupID, t.Definition.PhysicalID; group != nil && !slices.Contains(scope.Groups, *group) || device != nil && !shown[*device] {
				d.Tiles[i].Definition = nil
			}
		}
	}
	return nil
}

const (
	countOwnDashboards = `SELECT count(*) FROM dashboards WHERE company_id = $1 AND owner_id = $2`
	insertDashboard    = `
INSERT INTO dashboards (company_id, dashboard_id, name, description, folder, is_shared, version, span, first_day, last_day, group_id, tag_name, physical_id,
  refresh_minutes, tiles, changed_at, created_at, owner_id, owner)
VALUES ($1, $2::uuid, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $16, $17, $18)`
	writeDashboard = `
UPDATE dashboards SET name = $3, description = $4, folder = $5, is_shared = $6, version = $7, span = $8, first_day = $9, last_day = $10, group_id = $11, tag_name = $12,
  physical_id = $13, refresh_minutes = $14, tiles = $15, changed_at = $16, owner_id = $17, owner = $18
WHERE company_id = $1 AND dashboard_id = $2::uuid`
)

// write runs insertDashboard or writeDashboard.
func write(ctx context.Context, tx *sqlx.Tx, sql string, scope domain.Scope, d *dashboard.Dashboard) error {
	tiles, err := json.Marshal(append([]dashboard.Tile{}, d.Tiles...))
	if err != nil {
		return err
	}
	c := d.Common
	_, err = pg.Affected(ctx, tx, sql, scope.Company, d.DashboardID, d.Name, d.Description, d.Folder, d.IsShared, d.Version, c.Span, c.FirstDay, c.LastDay, c.GroupID, c.TagName, c.PhysicalID,
		d.RefreshMinutes, string(tiles), d.ChangedAt, d.OwnerID, d.Owner)
	return err
}

// audited are the fields of dashboards that the audit log keeps.
var audited = []domain.AuditField[dashboard.Dashboard]{
	{Name: "name", Text: func(d *dashboard.Dashboard) string { return d.Name }},
	{Name: "description", Text: func(d *dashboard.Dashboard) string { return domain.OrEmpty(d.Description) }},
	{Name: "folder", Text: func(d *dashboard.Dashboard) string { return domain.OrEmpty(d.Folder) }},
	{Name: "isShared", Text: func(d *dashboard.Dashboard) string { return strconv.FormatBool(d.IsShared) }},
	{Name: "common", Text: func(d *dashboard.Dashboard) string { return d.Common.Text() }},
	{Name: "refreshMinutes", Text: func(d *dashboard.Dashboard) string { return strconv.Itoa(d.RefreshMinutes) }},
	{Name: "tiles", Text: func(d *dashboard.Dashboard) string { return d.TilesText() }},
}

// Create implements dashboard.Dashboards.
func (s *Store) Create(ctx context.Context, scope domain.Scope, d dashboard.Dashboard) (*dashboard.Dashboard, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	return s.Owned.Create(ctx, scope, &d, func(tx *sqlx.Tx) error {
		n, err := pg.Count(ctx, tx, countOwnDashboards, scope.Company, d.OwnerID)
		if err != nil {
			return err
		}
		if n >= s.most {
			return domain.Invalid("name", "a user keeps at most %d dashboards: delete some", s.most)
		}
		return write(ctx, tx, insertDashboard, scope, &d)
	})
}

// Edit implements dashboard.Dashboards.
func (s *Store) Edit(ctx context.Context, scope domain.Scope, id string, edit dashboard.Edit) (*dashboard.Dashboard, error) {
	return s.Owned.Edit(ctx, scope, id, func(d dashboard.Dashboard) (dashboard.Dashboard, error) { return edit.Apply(scope, d) },
		func(tx *sqlx.Tx, before, after *dashboard.Dashboard) error {
			after.Version = before.Version + 1
			return write(ctx, tx, writeDashboard, scope, after)
		})
}
