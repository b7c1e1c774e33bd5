package bulk

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"

	"simgraph/db/announce"
	"simgraph/db/audit"
	"simgraph/db/carrier"
	"simgraph/db/catalogue"
	"simgraph/db/companies"
	"simgraph/db/pg"
	"simgraph/db/subscriber"
	"simgraph/db/tag"
	"simgraph/db/volume"
	"simgraph/domain"
	"simgraph/domain/bulk"
)

const (
	// stateOf also returns whether a chunk stores what it decides. A run does. A dry run does
	// where it has the permission $3, and rolls back; so does the check of what creates, since
	// only the store finds what a new subscriber names.
	stateOf = `
SELECT o.state, o.state = 'RUNNING' OR o.creates OR o.is_dry_run AND $3 = ANY(o.permissions) AS writes
FROM operations o
WHERE o.company_id = $1 AND o.operation_id = $2`
	rowsOfChunk = `
SELECT r.position, r.physical_id, COALESCE(r.wanted::text, '') AS wanted, COALESCE(r.shown::text, '') AS shown
FROM operation_rows r
WHERE r.company_id = $1 AND r.operation_id = $2 AND r.position > $3 AND r.position <= $4
ORDER BY r.position`
	writeResults = `
UPDATE operation_rows r SET outcome = l.outcome, code = nullif(l.code, ''), message = nullif(l.message, ''), changes = nullif(l.changes, '')::json
FROM unnest($3::integer[], $4::text[], $5::text[], $6::text[], $7::text[]) AS l(position, outcome, code, message, changes)
WHERE r.company_id = $1 AND r.operation_id = $2 AND r.position = l.position`
	writeProgress = `
UPDATE operations SET state = $3, position = $4, done = $5, changed = $6, failed = $7, skipped = $8, created = $9, removed = $10, attempts = 0, due_at = now()
WHERE company_id = $1 AND operation_id = $2`
)

// chunkRow is a row of a chunk, and what became of it.
type chunkRow struct {
	Position   int
	PhysicalID string
	Wanted     string
	// Shown is what the dry run showed that was started as the operation; "" for none.
	Shown string

	before  *domain.Subscriber
	edited  bulk.Edited
	outcome bulk.Outcome
	fault   *domain.Error
}

func (r *chunkRow) fail(err *domain.Error) {
	r.outcome, r.fault, r.edited.Changes = bulk.Failed, err, nil
}

// skip leaves a row that is not undone.
func (r *chunkRow) skip(err *domain.Error) {
	r.fail(err)
	r.outcome = bulk.Skipped
}

// chunk checks or changes the next rows of an operation, all or none of them, and
// returns the state after. What it does stands and falls with the note of it: so each
// row changes once, whatever is killed. A failure that is given makes the rows fail.
func (s *Store) chunk(ctx context.Context, company domain.CompanyID, id uuid.UUID, failure *domain.Error) (state bulk.State, err error) {
	err = pg.Retry(ctx, func() error {
		return pg.InTx(ctx, s.pool, func(tx *sqlx.Tx) error {
			type begun struct {
				State  bulk.State
				Writes bool
			}
			before, err := pg.GetOne[begun](ctx, tx, bulk.NotFound(id.String()), stateOf, company, id, domain.ManageInventory)
			if err != nil {
				return err
			}
			// Changes take the lock of the company first, as all others do.
			if before.Writes {
				if err := lockCompany(ctx, tx, company); err != nil {
					return err
				}
			}
			o, err := lock(ctx, tx, company, id)
			if err != nil {
				return err
			}
			if state = o.State; state != before.State || o.EndedAt != nil {
				return nil // others went on meanwhile
			}
			c := &chunk{Store: s, tx: tx, company: company, of: o, writes: before.Writes}
			err = c.work(ctx, failure)
			state = o.State
			return err
		})
	})
	return state, err
}

const (
	lockPatience = `SET LOCAL lock_timeout = '2s'`
	lockAsEver   = `SET LOCAL lock_timeout = DEFAULT`
)

// errBusy is that others, such as an import, hold the lock of the company.
var errBusy = errors.New("the company is being changed by others")

// lockCompany takes the lock of the company, or returns errBusy after some seconds.
func lockCompany(ctx context.Context, tx *sqlx.Tx, company domain.CompanyID) error {
	if _, err := tx.ExecContext(ctx, lockPatience); err != nil {
		return err
	}
	if _, err := companies.Lock(ctx, tx, company); pq.As(err, pqerror.LockNotAvailable) != nil {
		return errBusy
	} else if err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, lockAsEver)
	return err
}

// chunk is the work on some rows of an operation in a transaction.
type chunk struct {
	*Store
	tx      *sqlx.Tx
	company domain.CompanyID
	of      *locked
	// writes is whether it stores what it decides, under the lock of the company.
	writes bool
	scope  domain.Scope
	rows   []*chunkRow
	known  bulk.Known
	// carried are the tags that the changes name, by key.
	carried map[int64][]domain.TagName
}

func (c *chunk) work(ctx context.Context, failure *domain.Error) (err error) {
	o := c.of
	if c.rows, err = pg.SelectAll[chunkRow](ctx, c.tx, rowsOfChunk, c.company, o.id, o.Position, o.Position+c.Chunk); err != nil {
		return err
	}
	if failure == nil {
		if c.scope, failure, err = c.rights(ctx); err != nil {
			return err
		}
	}
	if failure == nil {
		err = c.decide(ctx)
	} else {
		for _, r := range c.rows {
			r.fail(failure)
		}
	}
	if err != nil {
		return err
	}
	if c.writes && failure == nil {
		if err := c.run(ctx); err != nil {
			return err
		}
	}
	done, err := c.note(ctx)
	if err != nil {
		return err
	}
	if err := announce.Operation(ctx, c.tx, c.company, o.id); err != nil || len(done.names) == 0 {
		return err
	}
	return audit.Record(ctx, c.tx, o.by(c.company), operationEntry(domain.AuditOperationRun, o.id, done.changes(description(o))...))
}

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
