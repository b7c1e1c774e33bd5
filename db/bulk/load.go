package bulk

import (
	"context"
	"slices"

	"github.com/lib/pq"

	"simgraph/db/catalogue"
	"simgraph/db/pg"
	"simgraph/db/subscriber"
	"simgraph/db/tag"
	"simgraph/domain"
	"simgraph/domain/bulk"
)

const accountOfOperation = `
SELECT u.permissions, u.disabled,
  ARRAY(SELECT ug.group_id FROM user_groups ug WHERE ug.company_id = $1 AND ug.user_id = $2 ORDER BY 1) AS groups
FROM users u
WHERE u.company_id = $1 AND u.user_id = $2`

const hidingGroups = `SELECT g.group_id FROM groups g WHERE g.company_id = $1 AND g.hide_tariff_details AND g.group_id = ANY($2)`

// rights returns what the user who started the operation may see by now, or why the
// user may not make the change any more.
func (c *chunk) rights(ctx context.Context) (scope domain.Scope, refused *domain.Error, err error) {
	o := c.of
	scope = o.by(c.company)
	scope.Groups = o.Groups
	if o.UserID != 0 {
		type account struct {
			Permissions pg.TextList[domain.Permission]
			Disabled    bool
			Groups      pq.Int64Array
		}
		a, err := pg.GetOne[account](ctx, c.tx, nil, accountOfOperation, c.company, o.UserID)
		if err != nil {
			return scope, nil, err
		}
		lacks := func(p domain.Permission) bool { return !slices.Contains(a.Permissions, p) }
		if a == nil || a.Disabled || slices.ContainsFunc(o.Permissions, lacks) {
			return scope, domain.Forbidden("the user who started the operation may not make this change any more"), nil
		}
		switch {
		case len(a.Groups) == 0:
		case scope.Groups == nil:
			scope.Groups = a.Groups
		default:
			scope.Groups = slices.DeleteFunc(slices.Clone(scope.Groups), func(id int64) bool { return !slices.Contains(a.Groups, id) })
		}
	}
	if scope.Restricted() {
		scope.Masked, err = pg.SelectValues[int64](ctx, c.tx, hidingGroups, c.company, pq.Int64Array(scope.Groups))
	}
	return scope, nil, err
}

const (
	knownGroups  = `SELECT g.group_id FROM groups g WHERE g.company_id = $1 AND g.group_id = ANY($2)`
	knownTariffs = `SELECT t.name FROM tariffs t WHERE t.company_id = $1 AND t.name = ANY($2)`
)

// load reads the subscribers of the rows, and what the changes name.
func (c *chunk) load(ctx context.Context) error {
	ids := pg.Pluck(c.rows, func(r *chunkRow) string { return r.PhysicalID })
	found, err := subscriber.Read(ctx, c.tx, c.scope, ids, c.writes)
	if err != nil {
		return err
	}
	keys := make([]int64, 0, len(found))
	var made []int64
	for _, r := range c.rows {
		if r.before = found[r.PhysicalID]; r.before == nil {
			continue
		}
		keys = append(keys, r.before.Key)
		if c.of.UndoOf != nil && readCreated(r.Wanted) != nil {
			made = append(made, r.before.Key)
		}
	}
	named := c.named()
	if c.carried, err = tag.Carried(ctx, c.tx, c.company, keys, named.tags); err != nil {
		return err
	}
	if err := c.loadAllTags(ctx, made); err != nil {
		return err
	}
	groups, err := pg.SelectValues[int64](ctx, c.tx, knownGroups, c.company, pq.Int64Array(named.groups))
	if err != nil {
		return err
	}
	c.known = bulk.Known{Groups: setOf(groups), Tariffs: map[string]bool{}}
	return c.loadTariffs(ctx, named.tariffs)
}

const allTags = `
SELECT st.subscriber_key, st.tag_name
FROM subscriber_tags st
WHERE st.company_id = $1 AND st.subscriber_key = ANY($2)
ORDER BY st.subscriber_key, st.tag_name`

// loadAllTags reads every tag of the subscribers, not only those that the changes name.
func (c *chunk) loadAllTags(ctx context.Context, keys []int64) error {
	type row struct {
		SubscriberKey int64
		TagName       domain.TagName
	}
	if len(keys) == 0 {
		return nil
	}
	for _, key := range keys {
		c.carried[key] = nil
	}
	return pg.EachRow(ctx, c.tx, allTags, []any{c.company, pq.Int64Array(keys)}, func(r row) error {
		c.carried[r.SubscriberKey] = append(c.carried[r.SubscriberKey], r.TagName)
		return nil
	})
}

// loadTariffs finds which of the tariffs the scope shows.
func (c *chunk) loadTariffs(ctx context.Context, names []string) error {
	if !c.scope.Restricted() {
		known, err := pg.SelectValues[string](ctx, c.tx, knownTariffs, c.company, pq.StringArray(names))
		c.known.Tariffs = setOf(known)
		return err
	}
	for _, name := range names {
		shown, err := catalogue.TariffShown(ctx, c.tx, c.scope, name)
		if err != nil {
			return err
		}
		c.known.Tariffs[name] = shown
	}
	return nil
}

// named is what the changes of the rows name, each once.
type named struct {
	tags    []domain.TagName
	groups  []int64
	tariffs []string
}

func (c *chunk) named() (n named) {
	changes := []bulk.Change{readChange(c.of.Change)}
	for _, r := range c.rows {
		switch {
		case c.of.UndoOf != nil:
			undone := readChanges(r.Wanted)
			n.tags = append(n.tags, bulk.TagsOf(undone)...)
			changes = append(changes, bulk.Named(undone))
		case r.Wanted != "":
			changes = append(changes, readChange(r.Wanted))
		}
	}
	for _, change := range changes {
		n.tags = append(n.tags, change.Tags()...)
		if change.Move != nil && change.Move.GroupID != nil {
			n.groups = append(n.groups, *change.Move.GroupID)
		}
		if change.TariffName != nil {
			n.tariffs = append(n.tariffs, *change.TariffName)
		}
	}
	n.tags, n.groups, n.tariffs = once(n.tags), once(n.groups), once(n.tariffs)
	return n
}

func once[T interface{ ~string | ~int64 }](items []T) []T {
	slices.Sort(items)
	return slices.Compact(items)
}

func setOf[T comparable](items []T) map[T]bool {
	set := make(map[T]bool, len(items))
	for _, item := range items {
		set[item] = true
	}
	return set
}
