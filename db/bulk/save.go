package bulk

import (
	"context"
	"slices"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/carrier"
	"simgraph/db/pg"
	"simgraph/db/subscriber"
	"simgraph/db/tag"
	"simgraph/db/volume"
	"simgraph/domain"
	"simgraph/domain/bulk"
)

// tried is where a dry run goes back to.
const (
	tried  = `SAVEPOINT tried`
	goBack = `ROLLBACK TO SAVEPOINT tried`
)

// run stores what the chunk changes. A dry run does the same, notifies as the end of a run
// would, and takes it all back: so what it says is set off is what the run sets off. A check
// before a run takes it back, and sets nothing off.
func (c *chunk) run(ctx context.Context) error {
	if c.of.State == bulk.Running {
		commands, err := c.store(ctx)
		if err != nil || commands == 0 {
			return err
		}
		return c.of.sets(ctx, c.tx, c.company, volume.Notified{}, commands)
	}
	if _, err := c.tx.ExecContext(ctx, tried); err != nil {
		return err
	}
	commands, err := c.store(ctx)
	if err != nil {
		return err
	}
	if !c.of.IsDryRun {
		_, err := c.tx.ExecContext(ctx, goBack)
		return err
	}
	notified, err := volume.NotifyFired(ctx, c.tx, c.company, c.of.id, c.moment())
	if err != nil {
		return err
	}
	if _, err := c.tx.ExecContext(ctx, goBack); err != nil || notified.Alerts+commands == 0 {
		return err
	}
	return c.of.sets(ctx, c.tx, c.company, notified, commands)
}

const writeEffects = `
UPDATE operations SET fired = $3, mailed = $4, messages = $5, commands = $6
WHERE company_id = $1 AND operation_id = $2`

// sets notes what the operation sets off beside what it has by now.
func (o *locked) sets(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID, n volume.Notified, commands int) error {
	o.Fired, o.Messages, o.Commands, o.Mailed = o.Fired+n.Alerts, o.Messages+n.Messages, o.Commands+commands, once(append(o.Mailed, n.Recipients...))
	_, err := pg.Affected(ctx, tx, writeEffects, company, o.id, o.Fired, o.Mailed, o.Messages, o.Commands)
	return err
}

// store writes the subscribers that are created or change, and their tags, and removes those
// of which the creation is undone. It returns how many commands that is for carriers.
func (c *chunk) store(ctx context.Context) (commands int, err error) {
	var changed []*domain.Subscriber
	for _, r := range c.rows {
		isEdited := r.outcome == bulk.Changed && slices.ContainsFunc(r.edited.Changes, func(a domain.AuditChange) bool { return a.Field != bulk.TagsField })
		if r.outcome == bulk.Created || isEdited {
			changed = append(changed, &r.edited.Subscriber)
		}
	}
	refused, err := subscriber.SaveAll(ctx, c.tx, c.scope, changed, c.moment(), c.of.id)
	if err != nil {
		return 0, err
	}
	for _, r := range c.rows {
		if fault := refused[r.PhysicalID]; fault != nil {
			r.fail(fault)
		}
	}
	if err := c.storeTags(ctx); err != nil {
		return 0, err
	}
	if err := c.remove(ctx); err != nil {
		return 0, err
	}
	return c.command(ctx)
}

const keysOf = `SELECT s.physical_id, s.key FROM subscribers s WHERE s.company_id = $1 AND s.physical_id = ANY($2)`

// storeTags writes the tags that subscribers get or lose. Those that are removed lose all at
// once.
func (c *chunk) storeTags(ctx context.Context) error {
	type row struct {
		PhysicalID string
		Key        int64
	}
	keys := map[string]int64{}
	var created []string
	for _, r := range c.rows {
		switch {
		case r.outcome == bulk.Created && len(r.edited.Tags) > 0:
			created = append(created, r.PhysicalID)
		case r.outcome == bulk.Changed:
			keys[r.PhysicalID] = r.before.Key
		}
	}
	if len(created) > 0 {
		found, err := pg.SelectAll[row](ctx, c.tx, keysOf, c.company, pq.StringArray(created))
		if err != nil {
			return err
		}
		for _, r := range found {
			keys[r.PhysicalID] = r.Key
		}
	}
	var tags []tag.Change
	for _, r := range c.rows {
		if r.outcome == bulk.Removed {
			continue
		}
		for _, change := range r.edited.Changes {
			if change.Field == bulk.TagsField {
				tags = append(tags, tag.Change{Key: keys[r.PhysicalID], PhysicalID: r.PhysicalID, Tag: bulk.TagOf(change), Attach: change.After != nil})
			}
		}
	}
	return tag.Save(ctx, c.tx, c.company, tags)
}

// command asks the carriers for what the changes mean to them, and returns how often.
func (c *chunk) command(ctx context.Context) (int, error) {
	var changes []carrier.Change
	for _, r := range c.rows {
		if r.outcome == bulk.Changed {
			changes = append(changes, carrier.Change{Before: r.before, After: &r.edited.Subscriber})
		}
	}
	queued, err := carrier.Queue(ctx, c.tx, c.company, changes, new(c.of.id.String()), c.moment())
	return len(queued.CommandIDs), err
}
