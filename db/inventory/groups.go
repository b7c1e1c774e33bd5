package inventory

import (
	"cmp"
	"context"
	"math"
	"strconv"

	"github.com/jmoiron/sqlx"

	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/inventory"
)

const (
	highestGroup = `SELECT COALESCE(max(g.group_id), 0) FROM groups g WHERE g.company_id = $1`
	createGroup  = `
INSERT INTO groups (company_id, group_id, name, hide_tariff_details)
VALUES ($1, $2, $3, $4)
ON CONFLICT DO NOTHING
RETURNING 1`
)

// CreateGroup implements inventory.Inventory.
func (s *Store) CreateGroup(ctx context.Context, scope domain.Scope, g domain.Group) (*domain.Group, error) {
	if err := inventory.WholeCompany(scope, "new groups"); err != nil {
		return nil, err
	}
	numbered := g.GroupID == 0
	err := s.write(ctx, scope, func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
		if numbered {
			highest, err := pg.Count(ctx, tx, highestGroup, scope.Company)
			if err != nil {
				return nil, err
			}
			if highest == math.MaxInt32 {
				return nil, domain.Invalid("groupId", "the group %d is the highest that there can be: give a groupId below it", highest)
			}
			g.GroupID = int64(highest) + 1
		}
		if err := g.Check(); err != nil {
			return nil, err
		}
		n, err := pg.Returned(ctx, tx, createGroup, scope.Company, g.GroupID, g.Name, g.HideTariffDetails)
		if err == nil && n == 0 {
			err = domain.Invalid("groupId", "the company has a group %d already", g.GroupID)
		}
		return groupEntry(domain.AuditGroupCreate, g.GroupID, domain.Became("name", g.Name),
			domain.Became("hideTariffDetails", strconv.FormatBool(g.HideTariffDetails))), err
	})
	return &g, err
}

func groupEntry(action string, id int64, changes ...domain.AuditChange) *domain.AuditEntry {
	return &domain.AuditEntry{Action: action, SubjectType: "Group", SubjectID: pg.FormatInt(id), Changes: changes}
}

const (
	lockWholeGroup = `
SELECT g.group_id, g.name, g.hide_tariff_details
FROM groups g
WHERE g.company_id = $1 AND g.group_id = $2
FOR UPDATE`
	writeGroup = `UPDATE groups SET name = $3, hide_tariff_details = $4 WHERE company_id = $1 AND group_id = $2`
)

func (s *Store) lockGroup(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, id int64) (*domain.Group, error) {
	return pg.GetOne[domain.Group](ctx, tx, domain.NotFound("groupId", "group", pg.FormatInt(id)), lockWholeGroup, scope.Company, id)
}

// EditGroup implements inventory.Inventory.
func (s *Store) EditGroup(ctx context.Context, scope domain.Scope, id int64, edit func(*domain.Group) error) (edited *domain.Group, err error) {
	if err := inventory.WholeCompany(scope, "what groups hide, and their names,"); err != nil {
		return nil, err
	}
	err = s.write(ctx, scope, func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
		edited, err = s.lockGroup(ctx, tx, scope, id)
		if err != nil {
			return nil, err
		}
		before := *edited
		if err := cmp.Or(scope.CheckVersion(before.Version()), edit(edited)); err != nil {
			return nil, err
		}
		if edited.Name != before.Name { // one that stays may be older than the rules of names
			err = edited.Check()
		}
		if err != nil || *edited == before {
			return nil, err
		}
		changes := append(domain.Changed("name", before.Name, edited.Name),
			domain.Changed("hideTariffDetails", strconv.FormatBool(before.HideTariffDetails), strconv.FormatBool(edited.HideTariffDetails))...)
		_, err := pg.Affected(ctx, tx, writeGroup, scope.Company, id, edited.Name, edited.HideTariffDetails)
		return groupEntry(domain.AuditGroupEdit, id, changes...), err
	})
	return edited, err
}

const (
	// groupUses returns what still names the group, in words.
	groupUses = `
SELECT named.what FROM (VALUES
  ('subscribers', EXISTS (SELECT FROM subscribers s WHERE s.company_id = $1 AND s.group_id = $2)),
  ('users', EXISTS (SELECT FROM user_groups u WHERE u.company_id = $1 AND u.group_id = $2)),
  ('alerts', EXISTS (SELECT FROM alerts a WHERE a.company_id = $1 AND a.group_id = $2)),
  ('alerts', EXISTS (SELECT FROM condition_alerts c WHERE c.company_id = $1 AND c.group_id = $2)),
  ('former subscribers, whose usage of that time counts for it', EXISTS (SELECT FROM group_memberships m WHERE m.company_id = $1 AND m.group_id = $2))
) AS named(what, found)
WHERE named.found
LIMIT 1`
	removeGroup = `DELETE FROM groups WHERE company_id = $1 AND group_id = $2`
)

// RemoveGroup implements inventory.Inventory.
func (s *Store) RemoveGroup(ctx context.Context, scope domain.Scope, id int64) (removed *domain.Group, err error) {
	if err := inventory.WholeCompany(scope, "groups"); err != nil {
		return nil, err
	}
	err = s.write(ctx, scope, func(tx *sqlx.Tx) (*domain.AuditEntry, error) {
		if removed, err = s.lockGroup(ctx, tx, scope, id); err != nil {
			return nil, err
		}
		var uses []string
		if err := tx.SelectContext(ctx, &uses, groupUses, scope.Company, id); err != nil {
			return nil, err
		}
		if len(uses) > 0 {
			return nil, domain.Invalid("groupId", "the group %d has %s, and is not removed", id, uses[0])
		}
		_, err := pg.Affected(ctx, tx, removeGroup, scope.Company, id)
		return groupEntry(domain.AuditGroupRemove, id, domain.Was("name", removed.Name)), err
	})
	return removed, err
}
