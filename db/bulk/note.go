package bulk

import (
	"context"
	"strings"

	"github.com/lib/pq"

	"simgraph/db/audit"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/bulk"
)

func description(o *locked) string {
	if o.UndoOf != nil {
		return "undo " + *o.UndoOf
	}
	return bulk.Describe(readChange(o.Change), o.Creates)
}

// decided are the subscribers that a chunk changed, and how.
type decided struct {
	names []string
	of    map[bulk.Outcome]int
}

// changes are those of the entry of the audit log.
func (d *decided) changes(description string) []domain.AuditChange {
	all := []domain.AuditChange{domain.Became("change", description)}
	for _, of := range []struct {
		field   string
		outcome bulk.Outcome
	}{{"created", bulk.Created}, {"changed", bulk.Changed}, {"removed", bulk.Removed}} {
		if n := d.of[of.outcome]; n > 0 {
			all = append(all, domain.Became(of.field, pg.FormatInt(int64(n))))
		}
	}
	return append(all, audit.Names("physicalIds", d.names))
}

const (
	writeResults = `
UPDATE operation_rows r SET outcome = l.outcome, code = nullif(l.code, ''), message = nullif(l.message, ''), changes = nullif(l.changes, '')::json
FROM unnest($3::integer[], $4::text[], $5::text[], $6::text[], $7::text[]) AS l(position, outcome, code, message, changes)
WHERE r.company_id = $1 AND r.operation_id = $2 AND r.position = l.position`
	writeProgress = `
UPDATE operations SET state = $3, position = $4, done = $5, changed = $6, failed = $7, skipped = $8, created = $9, removed = $10, attempts = 0, due_at = now()
WHERE company_id = $1 AND operation_id = $2`
)

// note writes the results, and how far the operation is. It returns the subscribers
// that changed.
func (c *chunk) note(ctx context.Context) (*decided, error) {
	o, done := c.of, &decided{of: map[bulk.Outcome]int{}}
	var results resultArrays
	for _, r := range c.rows {
		o.Done, o.Position = o.Done+1, r.Position
		if counter, changes := o.counter(r.outcome); counter != nil {
			if *counter++; changes {
				done.of[r.outcome]++
				done.names = append(done.names, r.PhysicalID)
			}
		}
		// A check before a run notes only what fails.
		if o.State == bulk.Running || o.IsDryRun || r.outcome == bulk.Failed {
			results.add(r)
		}
	}
	if o.State == bulk.Checking {
		done = &decided{}
	}
	if _, err := pg.Affected(ctx, c.tx, writeResults, c.company, o.id, results.positions, results.outcomes, results.codes, results.messages, results.changes); err != nil {
		return nil, err
	}
	ends := o.Position >= o.Total
	if ends && o.State == bulk.Checking && !o.IsDryRun && o.Failed == 0 {
		o.State, o.Position, o.Done, o.Created, o.Changed, ends = bulk.Running, 0, 0, 0, 0, false
	}
	if _, err := pg.Affected(ctx, c.tx, writeProgress, c.company, o.id, string(o.State), o.Position, o.Done, o.Changed, o.Failed, o.Skipped, o.Created, o.Removed); err != nil {
		return nil, err
	}
	if ends {
		return done, c.end(ctx, c.tx, c.company, o, c.last())
	}
	return done, nil
}

// counter is the count of an outcome, nil for none, and whether a subscriber of it is another
// than before.
func (o *locked) counter(outcome bulk.Outcome) (counter *int, changes bool) {
	switch outcome {
	case bulk.Created:
		return &o.Created, true
	case bulk.Changed:
		return &o.Changed, true
	case bulk.Removed:
		return &o.Removed, true
	case bulk.Failed:
		return &o.Failed, false
	case bulk.Skipped:
		return &o.Skipped, false
	}
	return nil, false
}

// last is the state in which the operation ends after its last row.
func (c *chunk) last() bulk.State {
	switch {
	case c.of.State == bulk.Running:
		return bulk.Done
	case c.of.IsDryRun:
		return bulk.Checked
	}
	return bulk.Rejected
}

type resultArrays struct {
	positions                          pq.Int64Array
	outcomes, codes, messages, changes pq.StringArray
}

func (a *resultArrays) add(r *chunkRow) {
	code, message, changes := "", "", ""
	if r.fault != nil {
		code, message = string(r.fault.Kind), strings.ToValidUTF8(r.fault.Message, "")
	}
	if len(r.edited.Changes) > 0 {
		changes = asText(r.edited.Changes)
	}
	a.positions = append(a.positions, int64(r.Position))
	a.outcomes, a.codes = append(a.outcomes, string(r.outcome)), append(a.codes, code)
	a.messages, a.changes = append(a.messages, message), append(a.changes, changes)
}
