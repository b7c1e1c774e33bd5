package bulk

import (
	"cmp"
	"context"

	"github.com/lib/pq"

	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/bulk"
)

// decide finds out what becomes of each row.
func (c *chunk) decide(ctx context.Context) error {
	if err := c.load(ctx); err != nil {
		return err
	}
	created, err := c.createdParents(ctx)
	if err != nil {
		return err
	}
	common := readChange(c.of.Change)
	for _, r := range c.rows {
		if fault := faultOf(r.Wanted); fault != nil {
			r.fail(fault)
			continue
		}
		row := bulk.Row{PhysicalID: r.PhysicalID, Change: readChange(r.Wanted).Over(common), Stated: readStated(r.Wanted)}
		switch {
		case r.before == nil:
			c.create(r, row, created)
		case c.of.UndoOf != nil:
			c.undo(r, c.record(r))
		default:
			c.edit(r, c.record(r), row)
		}
		r.keepToShown()
	}
	return nil
}

// record is the subscriber of a row as it is.
func (c *chunk) record(r *chunkRow) bulk.Record {
	return bulk.Record{Subscriber: *r.before, Tags: c.carried[r.before.Key]}
}

const createdByOperation = `
SELECT r.physical_id FROM operation_rows r
WHERE r.company_id = $1 AND r.operation_id = $2 AND r.physical_id = ANY($3) AND r.outcome = 'CREATED'`

// createdParents are the parents of new profiles that earlier chunks have created. To a dry
// run, which takes each chunk back, they are not there; so they are not to a run.
func (c *chunk) createdParents(ctx context.Context) (map[string]bool, error) {
	var parents []string
	for _, r := range c.rows {
		if r.before != nil {
			continue
		}
		if parent := readStated(r.Wanted).ParentPhysicalID; parent != nil {
			parents = append(parents, *parent)
		}
	}
	if len(parents) == 0 {
		return nil, nil
	}
	found, err := pg.SelectValues[string](ctx, c.tx, createdByOperation, c.company, c.of.id, pq.StringArray(parents))
	return setOf(found), err
}

// create makes the subscriber of a row that is not there.
func (c *chunk) create(r *chunkRow, row bulk.Row, created map[string]bool) {
	edited, err := row.Create(c.scope, r.Position, c.of.Creates)
	if parent := row.ParentPhysicalID; err == nil && parent != nil && created[*parent] {
		err = domain.NotFound("parent", "subscriber", *parent)
	}
	if err == nil {
		err = bulk.Change{AddTags: row.AddTags}.Allowed(c.of.Permissions)
	}
	if err != nil {
		r.fail(asFault(err))
		return
	}
	r.edited, r.outcome = edited, bulk.Created
}

func (c *chunk) edit(r *chunkRow, record bulk.Record, row bulk.Row) {
	if err := cmp.Or(row.Allowed(c.of.Permissions), row.Agrees(c.scope, r.before)); err != nil {
		r.fail(asFault(err))
		return
	}
	r.edited = row.Edit(c.scope, record, r.Position, c.known)
	faults := r.edited.Faults
	switch {
	case len(faults) > 0 && (c.of.ErrorPolicy != bulk.IgnoreFailed || len(r.edited.Changes) == 0):
		r.fail(asFault(faults[0]))
		return
	case len(faults) > 0:
		r.fault = asFault(faults[0])
	}
	r.decided()
}

// keepToShown fails a row of which something else would become than a dry run showed.
func (r *chunkRow) keepToShown() {
	if r.Shown == "" || r.outcome == bulk.Failed {
		return
	}
	if err := readShown(r.Shown).Check(r.outcome, r.edited.Changes); err != nil {
		r.fail(asFault(err))
	}
}

func (c *chunk) undo(r *chunkRow, record bulk.Record) {
	if made := readCreated(r.Wanted); made != nil {
		changes, changedSince, err := bulk.Removal(c.scope, record, made)
		if err != nil {
			r.undoFails(err, changedSince)
			return
		}
		r.edited, r.outcome = bulk.Edited{Record: record, Changes: changes}, bulk.Removed
		return
	}
	edited, changedSince, err := bulk.Undo(c.scope, record, readChanges(r.Wanted), c.known)
	if err != nil {
		r.undoFails(err, changedSince)
		return
	}
	r.edited = edited
	r.decided()
}

func (r *chunkRow) undoFails(err error, changedSince bool) {
	if changedSince {
		r.skip(asFault(err))
		return
	}
	r.fail(asFault(err))
}

func (r *chunkRow) decided() {
	if r.outcome = bulk.Unchanged; len(r.edited.Changes) > 0 {
		r.outcome = bulk.Changed
	}
}

// asFault is an error for the owner of a row. The rules return no others.
func asFault(err error) *domain.Error {
	if fault, is := domain.AsError(err); is {
		return fault
	}
	return domain.Unavailable(err)
}
