package bulk

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/announce"
	"simgraph/db/audit"
	"simgraph/db/pg"
	"simgraph/db/silence"
	"simgraph/db/subscriber"
	"simgraph/domain"
	"simgraph/domain/bulk"
	rules "simgraph/domain/silence"
)

const (
	// activeOperations counts uploads too, which become operations.
	activeOperations = `
SELECT count(*) FROM (
  SELECT o.operation_id FROM operations o WHERE o.company_id = $1 AND o.ended_at IS NULL
  UNION ALL
  SELECT u.operation_id FROM operation_uploads u WHERE u.company_id = $1 AND u.written_at > now() - ` + uploadLasts + `) active`
	// addOperation takes the digest of the rows, which are written before it. Its due
	// time leaves the check to the request for a while, where there is one.
	addOperation = `
INSERT INTO operations (company_id, operation_id, state, is_dry_run, error_policy, undo_of, change, permissions, groups, digest, total,
  started_at, due_at, user_id, actor, access_key_id, door, address, request_id, silence_id, dry_run_of, creates, fired, mailed, messages, commands, reason)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, now() + make_interval(secs => $13), $14, $15, $16, $17, $18, $19, $20, $21, $22, 0, '{}', 0, 0, $23)`
	digestRows = `
SELECT encode(sha256(convert_to($3::text || chr(10) || string_agg(r.physical_id || ' ' || COALESCE(r.wanted::text, ''), chr(10) ORDER BY r.position), 'UTF8')), 'hex')
FROM operation_rows r
WHERE r.company_id = $1 AND r.operation_id = $2`
)

// checkSeconds is for how long workers leave a check to the request that started it.
const checkSeconds = 30

// newOperation is an operation before it is stored.
type newOperation struct {
	id          uuid.UUID
	state       bulk.State
	isDryRun    bool
	policy      bulk.Policy
	undoOf      *uuid.UUID
	dryRunOf    *uuid.UUID
	change      bulk.Change
	creates     bool
	permissions []domain.Permission
	total       int
	digest      string
	silenceID   *int64
}

func newID() uuid.UUID { return uuid.Must(uuid.NewV7()) }

// Start implements bulk.Operations.
func (s *Store) Start(ctx context.Context, caller *domain.Caller, start bulk.Start) (*bulk.Operation, error) {
	start.Change.TerminateDate = stored(start.Change.TerminateDate)
	for i := range start.Rows {
		storeTimes(&start.Rows[i])
	}
	if err := start.Check(s.Now()); err != nil {
		return nil, err
	}
	o := newOperation{id: newID(), state: start.First(), isDryRun: start.ValidateOnly, policy: start.ErrorPolicy, change: start.Change, creates: start.Create,
		permissions: append([]domain.Permission{}, start.Permissions(caller)...)}
	if start.Create {
		if err := bulk.MayCreate(caller); err != nil {
			return nil, err
		}
	}
	if err := s.begin(ctx, caller, &start, &o); err != nil {
		if start.Lines != nil {
			s.abandon(ctx, caller.Scope, o.id)
		}
		return nil, err
	}
	if o.state == bulk.Checking && o.total <= bulk.AtOnce {
		// The operation is stored: its worker goes on with a check that is broken off.
		if err := s.checkNow(ctx, caller.Scope.Company, o.id, o.total); err != nil {
			s.Log.WarnContext(ctx, "operations: a check goes on in the background", "operation", o.id, "error", err)
		}
	}
	return s.Find(context.WithoutCancel(ctx), caller.Scope, o.id.String())
}

// begin stores an operation with its rows.
func (s *Store) begin(ctx context.Context, caller *domain.Caller, start *bulk.Start, o *newOperation) (err error) {
	if start.DryRunOf != "" && caller.Scope.Actor != nil && caller.Scope.Actor.IsAgent() {
		return domain.Forbidden("a person starts a dry run, on its page")
	}
	if start.Lines != nil {
		if o.permissions, err = s.upload(ctx, caller, start, o.id, o.permissions); err != nil {
			return err
		}
	}
	needed := o.permissions
	if start.Silence {
		needed = append(slices.Clone(needed), domain.AddMonitoringAlerts)
	}
	if err := caller.Need(needed...); err != nil {
		return err
	}
	return pg.InTx(ctx, s.pool, func(tx *sqlx.Tx) (err error) {
		if o.total, err = s.rowsOf(ctx, tx, caller, start, o); err != nil {
			return err
		}
		if err := errors.Join(bulk.CheckTotal(o.total, s.Rows), start.CheckExpected(o.total)); err != nil {
			return err
		}
		if o.digest, err = digest(ctx, tx, caller.Scope, *o); err != nil {
			return err
		}
		if start.Digest != "" && start.Digest != o.digest {
			return domain.Invalid("digest", "the subscribers or their changes are not those of that dry run any more")
		}
		if start.Silence && !start.ValidateOnly {
			if err := s.silence(ctx, tx, caller.Scope, o); err != nil {
				return err
			}
		}
		changes := []domain.AuditChange{domain.Became("change", bulk.Describe(o.change, o.creates))}
		if o.dryRunOf != nil {
			changes = append(changes, domain.Became("dryRunOf", start.DryRunOf))
		}
		return s.add(ctx, tx, caller.Scope, *o, domain.AuditOperationStart, changes...)
	})
}

const (
	silencedRows = `SELECT r.physical_id FROM operation_rows r WHERE r.company_id = $1 AND r.operation_id = $2 ORDER BY r.position`
	// silencedGroups are those that rows move into, or the group $3 of the change of all.
	silencedGroups = `
SELECT DISTINCT m.group_id
FROM (
  SELECT CASE WHEN r.wanted::jsonb ? 'Move' THEN (r.wanted::jsonb -> 'Move' ->> 'GroupID')::bigint ELSE $3::bigint END AS group_id
  FROM operation_rows r
  WHERE r.company_id = $1 AND r.operation_id = $2
) m
WHERE m.group_id IS NOT NULL
ORDER BY 1
LIMIT 101`
)

// silence makes the silence of an operation: of its subscribers, or where they are too many
// to be named of the groups that they move into.
func (s *Store) silence(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, o *newOperation) (err error) {
	at := s.moment()
	spec := rules.Spec{Reason: "The operation " + o.id.String() + " runs", StartsAt: at, EndsAt: at.Add(bulk.Silenced)}
	if o.total <= rules.MaxMatches {
		spec.PhysicalIDs, err = pg.SelectValues[string](ctx, tx, silencedRows, scope.Company, o.id)
	} else {
		var common *int64
		if o.change.Move != nil {
			common = o.change.Move.GroupID
		}
		spec.GroupIDs, err = pg.SelectValues[int64](ctx, tx, silencedGroups, scope.Company, o.id, common)
		if n := len(spec.GroupIDs); err == nil && (n == 0 || n > rules.MaxMatches) {
			err = domain.Invalid("silence", "what moves more than %d subscribers can be silenced where it moves them into 1 to %d groups", rules.MaxMatches, rules.MaxMatches)
		}
	}
	if err != nil {
		return err
	}
	created, entry, err := silence.Create(ctx, tx, scope, spec, at)
	if err != nil {
		return err
	}
	o.silenceID = &created.SilenceID
	return audit.Record(ctx, tx, scope, *entry)
}

// rowsOf writes the rows of an operation, unless an upload has, and returns how many they
// are.
func (s *Store) rowsOf(ctx context.Context, tx *sqlx.Tx, caller *domain.Caller, start *bulk.Start, o *newOperation) (int, error) {
	if start.Lines != nil {
		return endUpload(ctx, tx, caller.Scope, o.id)
	}
	if err := checkRoom(ctx, tx, caller.Scope); err != nil {
		return 0, err
	}
	if start.DryRunOf != "" {
		return s.takeDryRun(ctx, tx, caller, start, o)
	}
	return s.freeze(ctx, tx, caller.Scope, start, o.id)
}

// copyDryRun makes the rows of an operation those of a dry run, with what it showed of them.
const copyDryRun = `
INSERT INTO operation_rows (company_id, operation_id, position, physical_id, wanted, line, shown)
SELECT r.company_id, $2::uuid, r.position, r.physical_id, r.wanted, r.line, json_build_object('Outcome', r.outcome, 'Message', r.message, 'Changes', r.changes)
FROM operation_rows r
WHERE r.company_id = $1 AND r.operation_id = $3`

// takeDryRun copies the rows, the change and the permissions of a dry run into the operation,
// and announces that the dry run changed. The dry run is locked until the transaction ends.
func (s *Store) takeDryRun(ctx context.Context, tx *sqlx.Tx, caller *domain.Caller, start *bulk.Start, o *newOperation) (int, error) {
	company := caller.Scope.Company
	of, dry, err := seen(ctx, tx, caller, start.DryRunOf)
	if err != nil {
		return 0, domain.At("dryRunOf", err)
	}
	if err := of.CheckStart(start.Digest, s.Now()); err != nil {
		return 0, err
	}
	if dry.Creates {
		if err := bulk.MayCreate(caller); err != nil {
			return 0, err
		}
	}
	start.ErrorPolicy = of.ErrorPolicy
	o.creates = dry.Creates
	o.dryRunOf, o.change, o.permissions, o.policy, o.state = &dry.id, readChange(dry.Change), dry.Permissions, of.ErrorPolicy, start.First()
	if err := announce.Operation(ctx, tx, company, dry.id); err != nil {
		return 0, err
	}
	return pg.Affected(ctx, tx, copyDryRun, company, o.id, dry.id)
}

// stored is a time as the database keeps it.
func stored(at *time.Time) *time.Time {
	if at == nil {
		return nil
	}
	return new(pg.Moment(*at))
}

// storeTimes makes the times of a row as the database keeps them.
func storeTimes(row *bulk.Row) {
	for _, at := range []**time.Time{&row.TerminateDate, &row.ConnectionDate, &row.ExpiryDate} {
		*at = stored(*at)
	}
}

// checkNow checks the rows of an operation. The worker goes on with what it leaves.
func (s *Store) checkNow(ctx context.Context, company domain.CompanyID, id uuid.UUID, total int) error {
	for done := bulk.Chunk; ; done += bulk.Chunk {
		state, err := s.chunk(ctx, company, id, nil)
		bulk.Progress(ctx, min(done, total), total)
		if err != nil || state != bulk.Checking {
			return err
		}
	}
}

func digest(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, o newOperation) (string, error) {
	common := textOf(o.change)
	if o.creates {
		common += " create"
	}
	text, err := pg.GetOne[string](ctx, tx, errors.New("an operation without rows"), digestRows, scope.Company, o.id, common)
	if err != nil {
		return "", err
	}
	return *text, nil
}

// checkRoom rejects another operation of a company that has MaxActive of them.
func checkRoom(ctx context.Context, in sqlx.QueryerContext, scope domain.Scope) error {
	active, err := pg.Count(ctx, in, activeOperations, scope.Company)
	if err == nil && active >= bulk.MaxActive {
		err = &domain.Error{Kind: domain.KindRateLimited, Message: "too many operations of the company have not ended yet"}
	}
	return err
}

// add stores an operation whose rows are there, and notes who started it and why.
func (s *Store) add(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, o newOperation, action string, changes ...domain.AuditChange) error {
	var by domain.Actor
	if scope.Actor != nil {
		by = *scope.Actor
	}
	wait := 0
	if o.state == bulk.Checking && o.total <= bulk.AtOnce {
		wait = checkSeconds
	}
	if _, err := pg.Affected(ctx, tx, addOperation, scope.Company, o.id, string(o.state), o.isDryRun, string(o.policy), o.undoOf, textOf(o.change),
		pq.Array(o.permissions), pg.GroupsOf(scope), o.digest, o.total, s.moment(), wait,
		by.UserID, by.Name, by.AccessKeyID, by.Door, by.Address, by.RequestID, o.silenceID, o.dryRunOf, o.creates, scope.Reason); err != nil {
		return err
	}
	if err := announce.Operation(ctx, tx, scope.Company, o.id); err != nil {
		return err
	}
	changes = append(changes, domain.Became("total", pg.FormatInt(int64(o.total))))
	if o.isDryRun {
		changes = append(changes, domain.Became("isDryRun", "true"))
	}
	return audit.Record(ctx, tx, scope, operationEntry(action, o.id, changes...))
}

func operationEntry(action string, id uuid.UUID, changes ...domain.AuditChange) domain.AuditEntry {
	return domain.AuditEntry{Action: action, SubjectType: "Operation", SubjectID: id.String(), Changes: changes}
}

const addRows = `
INSERT INTO operation_rows (company_id, operation_id, position, physical_id, wanted, line)
SELECT own.company_id, $2::uuid, $3::integer + l.n, l.physical_id, nullif(l.wanted, '')::json, nullif(l.line, 0)
FROM companies own
CROSS JOIN unnest($4::text[], $5::text[], $6::integer[]) WITH ORDINALITY AS l(physical_id, wanted, line, n)
WHERE own.company_id = $1`

// freeze writes the rows of an operation and returns how many they are.
func (s *Store) freeze(ctx context.Context, tx *sqlx.Tx, scope domain.Scope, start *bulk.Start, id uuid.UUID) (int, error) {
	if start.ByFilter {
		return subscriber.Freeze(ctx, tx, scope, start.Filter, start.PeriodStart, id, s.Rows)
	}
	rows := start.Rows
	for _, physicalID := range start.PhysicalIDs {
		rows = append(rows, bulk.Row{PhysicalID: physicalID})
	}
	written := 0
	for part := range slices.Chunk(rows, s.RowsAtOnce) {
		ids := pq.StringArray(pg.Pluck(part, func(r bulk.Row) string { return r.PhysicalID }))
		wanted := pq.StringArray(pg.Pluck(part, wantedOf))
		lines := pq.Int64Array(pg.Pluck(part, func(r bulk.Row) int64 { return int64(r.Line) }))
		if _, err := pg.Affected(ctx, tx, addRows, scope.Company, id, written, ids, wanted, lines); err != nil {
			return 0, err
		}
		written += len(part)
	}
	return written, nil
}

// wantedOf is what is stored of a row beside its subscriber; "" for the change of all.
func wantedOf(r bulk.Row) string {
	switch {
	case r.Fault != nil:
		return asText(storedFault{Fault: r.Fault.Message, Field: r.Fault.Field})
	case r.IsEmpty():
		return ""
	}
	return asText(storedRow{storedChange(r.Change), storedStated(r.Stated)})
}

// storedFault is a row that cannot be read.
type storedFault struct {
	Fault string
	Field string `json:",omitempty"`
}

// faultOf returns why a row cannot be read; nil for one that can.
func faultOf(wanted string) *domain.Error {
	if !strings.HasPrefix(wanted, `{"Fault":`) {
		return nil
	}
	var stored storedFault
	_ = json.Unmarshal([]byte(wanted), &stored) // wantedOf wrote it
	return &domain.Error{Kind: domain.KindInvalid, Field: stored.Field, Message: stored.Fault}
}
