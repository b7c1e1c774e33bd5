// Package bulk keeps operations in PostgreSQL and runs them, a chunk of subscribers
// in each transaction.
package bulk

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"simgraph/db/keyset"
	"simgraph/db/pg"
	"simgraph/domain"
	"simgraph/domain/bulk"
	"simgraph/domain/query"
)

// Options are the settings of a Store. What is zero gets the default beside it.
type Options struct {
	// Now is the clock: time.Now.
	Now func() time.Time
	Log *slog.Logger
	// Every is the time between two looks for work: 1 s.
	Every time.Duration
	// After begins a pause between two looks: time.After.
	After func(time.Duration) <-chan time.Time
	// Backoff is the wait after the first failure of a chunk, doubled with each
	// further one: 1 s.
	Backoff time.Duration
	// Chunk is how many subscribers change in one transaction: bulk.Chunk.
	Chunk int
	// Rows is how many subscribers an operation has at most: bulk.MaxRows. RowsAtOnce is how
	// many of them one statement writes or removes: 10,000.
	Rows, RowsAtOnce int
}

// Store keeps operations. Any number of stores, in any number of processes, may run
// them.
type Store struct {
	pool *sqlx.DB
	Options
}

var _ bulk.Operations = (*Store)(nil)

// New returns the store on the pool.
func New(pool *sqlx.DB, options Options) *Store {
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Log == nil {
		options.Log = slog.Default()
	}
	if options.Every == 0 {
		options.Every = time.Second
	}
	if options.After == nil {
		options.After = time.After
	}
	if options.Backoff == 0 {
		options.Backoff = time.Second
	}
	if options.Chunk == 0 {
		options.Chunk = bulk.Chunk
	}
	if options.Rows == 0 {
		options.Rows = bulk.MaxRows
	}
	if options.RowsAtOnce == 0 {
		options.RowsAtOnce = 10_000
	}
	return &Store{pool, options}
}

// moment is the time of a change; the database keeps microseconds.
func (s *Store) moment() time.Time { return pg.Moment(s.Now()) }

// operationColumns are those of an operation o of the company $1.
const operationColumns = `o.operation_id::text AS operation_id, o.state, o.is_dry_run, o.error_policy, o.undo_of::text AS undo_of,
  o.actor AS started_by, o.reason, o.change::text AS change_text, o.creates, o.digest, o.total, o.done, o.created, o.changed, o.removed, o.failed, o.skipped, o.started_at, o.ended_at,
  CASE WHEN o.state IN ('DONE', 'CANCELLED') AND o.undo_of IS NULL AND NOT o.is_dry_run AND o.created + o.changed > 0 AND NOT EXISTS (
    SELECT FROM operations u WHERE u.company_id = $1 AND u.undo_of = o.operation_id AND u.state <> 'CANCELLED')
  THEN o.ended_at + interval '168 hours' END AS undoable_until,
  CASE WHEN o.state = 'CHECKED' AND o.created + o.changed > 0 AND (o.failed = 0 OR o.error_policy <> 'REJECT_EVERYTHING') AND NOT EXISTS (
    SELECT FROM operations d WHERE d.company_id = $1 AND d.dry_run_of = o.operation_id)
  THEN o.ended_at + interval '24 hours' END AS startable_until,
  o.dry_run_of::text AS dry_run_id, (SELECT d.operation_id::text FROM operations d WHERE d.company_id = $1 AND d.dry_run_of = o.operation_id) AS started_id,
  o.fired, cardinality(o.mailed) AS recipients, o.messages, o.commands, o.silence_id`

// visibleOperations is the condition that the scope shows the operation o: to users of
// groups ($2) those of the user ($3) in groups that the user still has.
const visibleOperations = `o.company_id = $1 AND ($2::bigint[] IS NULL OR o.user_id = $3 AND o.groups <@ $2::bigint[])`

// scoped are the first parameters of statements with visibleOperations.
func scoped(scope domain.Scope) []any {
	return []any{scope.Company, pg.GroupsOf(scope), scope.UserID()}
}

type operationRow struct {
	bulk.Operation
	ChangeText                            string
	Creates                               bool
	Fired, Recipients, Messages, Commands *int
	keyset.Keyed
}

func (r *operationRow) operation() *bulk.Operation {
	of := &r.Operation
	of.StartedAt = of.StartedAt.UTC()
	of.EndedAt, of.UndoableUntil, of.StartableUntil = inUTC(of.EndedAt), inUTC(of.UndoableUntil), inUTC(of.StartableUntil)
	if r.Fired != nil {
		of.Effects = &bulk.Effects{Alerts: *r.Fired, Recipients: *r.Recipients, Messages: *r.Messages, Commands: *r.Commands}
	}
	if of.UndoOf != nil {
		of.Description = "undo"
	} else {
		of.Description = bulk.Describe(readChange(r.ChangeText), r.Creates)
	}
	return of
}

func inUTC(at *time.Time) *time.Time {
	if at == nil {
		return nil
	}
	return new(at.UTC())
}

// storedChange is a bulk.Change as it is stored.
type storedChange struct {
	AddTags, RemoveTags       []domain.TagName `json:",omitempty"`
	Move                      *bulk.Move       `json:",omitempty"`
	Nickname, NicknamePattern *string          `json:",omitempty"`
	IsBarred                  *bool            `json:",omitempty"`
	TerminateDate             *time.Time       `json:",omitempty"`
	TariffName                *string          `json:",omitempty"`
}

func textOf(change bulk.Change) string { return asText(storedChange(change)) }

func asText(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // texts, numbers and times
	}
	return string(text)
}

// storedStated is a bulk.Stated as it is stored, beside the change of its row.
type storedStated struct {
	Kind                                *domain.Kind           `json:",omitempty"`
	SubscriberID, DataNumber, IMSI      *string                `json:",omitempty"`
	FixedIPAddress                      *string                `json:",omitempty"`
	OperatorCode                        *string                `json:",omitempty"`
	ContractLength                      *int                   `json:",omitempty"`
	ConnectionDate, ExpiryDate          *time.Time             `json:",omitempty"`
	IsActive                            *bool                  `json:",omitempty"`
	SubscriberType                      *domain.SubscriberType `json:",omitempty"`
	EID, SMDPProvider, ParentPhysicalID *string                `json:",omitempty"`
	IsEnabledOnParent                   *bool                  `json:",omitempty"`
}

type storedRow struct {
	storedChange
	storedStated
}

// readStated returns what a row says beside its change.
func readStated(text string) bulk.Stated {
	var stated storedStated
	_ = json.Unmarshal([]byte(text), &stated) // wantedOf wrote it
	return bulk.Stated(stated)
}

// readCreated returns the changes that made the subscriber of a row that removes it; nil for
// another row.
func readCreated(text string) []domain.AuditChange {
	if !strings.HasPrefix(text, `{"Created":`) {
		return nil
	}
	var row struct{ Created []domain.AuditChange }
	_ = json.Unmarshal([]byte(text), &row) // copyChanged wrote it
	return row.Created
}

func readChange(text string) bulk.Change {
	var change storedChange
	_ = json.Unmarshal([]byte(text), &change) // textOf wrote it
	return bulk.Change(change)
}

const findOperations = `SELECT ` + operationColumns + ` FROM operations o WHERE ` + visibleOperations + ` AND o.operation_id = ANY($4::uuid[])`

// Find implements bulk.Operations.
func (s *Store) Find(ctx context.Context, scope domain.Scope, operationID string) (*bulk.Operation, error) {
	return find(ctx, s.pool, scope, operationID)
}

func find(ctx context.Context, in sqlx.QueryerContext, scope domain.Scope, operationID string) (*bulk.Operation, error) {
	found, err := findMany(ctx, in, scope, []string{operationID})
	if err == nil && found[operationID] == nil {
		err = bulk.NotFound(operationID)
	}
	return found[operationID], err
}

// FindMany implements bulk.Operations.
func (s *Store) FindMany(ctx context.Context, scope domain.Scope, operationIDs []string) (map[string]*bulk.Operation, error) {
	return findMany(ctx, s.pool, scope, operationIDs)
}

func findMany(ctx context.Context, in sqlx.QueryerContext, scope domain.Scope, operationIDs []string) (map[string]*bulk.Operation, error) {
	ids := pg.UUIDs(operationIDs)
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := pg.SelectAll[operationRow](ctx, in, findOperations, append(scoped(scope), ids)...)
	if err != nil {
		return nil, err
	}
	return pg.Keyed(pg.Pluck(rows, (*operationRow).operation), func(of *bulk.Operation) string { return of.OperationID }), nil
}

// operationsTable is the list of bulk.Fields.
var operationsTable = keyset.Table{
	Key: operationKey, Order: []query.Order{{Field: operationKey, Desc: true}}, Select: operationColumns, From: ` FROM operations o WHERE ` + visibleOperations,
	Columns: map[string]keyset.Column{
		operationKey.Name: {SQL: "o.operation_id", UUID: true}, "state": {SQL: "o.state"}, "isDryRun": {SQL: "o.is_dry_run"}, "errorPolicy": {SQL: "o.error_policy"},
		"undoOf": {SQL: "o.undo_of", UUID: true, Nullable: true}, "startedBy": {SQL: "o.actor"}, "reason": {SQL: "o.reason"}, "total": {SQL: "o.total"}, "created": {SQL: "o.created"}, "changed": {SQL: "o.changed"}, "removed": {SQL: "o.removed"},
		"failed": {SQL: "o.failed"}, "startedAt": {SQL: "o.started_at"}, "endedAt": {SQL: "o.ended_at", Nullable: true},
	},
}

var operationKey = query.Field{Name: "operationId"}

// List implements bulk.Operations.
func (s *Store) List(ctx context.Context, scope domain.Scope, listing domain.Listing) (domain.Slice[*bulk.Operation], error) {
	return keyset.Page(ctx, s.pool, operationsTable, scope, listing, (*operationRow).operation, scoped(scope)[1:]...)
}

// Count implements bulk.Operations.
func (s *Store) Count(ctx context.Context, scope domain.Scope, listing domain.Listing) (int, error) {
	return operationsTable.Count(ctx, s.pool, scope, listing, scoped(scope)[1:]...)
}

// resultColumns are where the fields of bulk.ResultFields live.
var resultColumns = map[string]keyset.Column{
	operationKey.Name: {SQL: "r.operation_id", UUID: true}, "position": {SQL: "r.position"}, "physicalId": {SQL: "r.physical_id"},
	"line": {SQL: "r.line", Nullable: true}, "outcome": {SQL: "r.outcome"}, "code": {SQL: "r.code", Nullable: true}, "message": {SQL: "r.message", Nullable: true},
}

type resultRow struct {
	bulk.Result
	ChangesText string
	// HidesTariff is set where the group of the subscriber hides it from the scope.
	HidesTariff bool
	keyset.Keyed
}

func (r *resultRow) result() *bulk.Result {
	for _, c := range readChanges(r.ChangesText) {
		if !r.HidesTariff || c.Field != "tariffName" {
			r.Changes = append(r.Changes, c)
		}
	}
	return &r.Result
}

func readChanges(text string) (changes []domain.AuditChange) {
	_ = json.Unmarshal([]byte(text), &changes) // asText wrote it
	return changes
}

func readShown(text string) (shown bulk.Shown) {
	_ = json.Unmarshal([]byte(text), &shown) // copyDryRun wrote it
	return shown
}

func newResultList(scope domain.Scope, operationIDs []string) *keyset.List {
	position, _ := bulk.ResultFields.Find("position")
	return newRowList(position, append(scoped(scope), pg.UUIDs(operationIDs), pq.Int64Array(scope.Masked))...)
}

func newRowList(key query.Field, args ...any) *keyset.List {
	return keyset.New(func(field string) keyset.Column { return resultColumns[field] }, key, args...)
}

const (
	resultSelect = `r.operation_id::text AS operation_id, r.position, r.physical_id, r.line, s.key AS subscriber_key, r.outcome, r.code, r.message,
  COALESCE(r.changes::text, '') AS changes_text, COALESCE(s.group_id = ANY($5::bigint[]), false) AS hides_tariff`
	fromResults = `
FROM operation_rows r
LEFT JOIN subscribers s ON s.company_id = $1 AND s.physical_id = r.physical_id`
	findResults = `SELECT ` + resultSelect + fromResults + `
JOIN operations o ON o.company_id = $1 AND o.operation_id = r.operation_id
JOIN unnest($4::uuid[], $6::integer[]) AS l(operation_id, position) ON l.operation_id = r.operation_id AND l.position = r.position
WHERE r.company_id = $1 AND ` + visibleOperations
)

// FindResults implements bulk.Operations.
func (s *Store) FindResults(ctx context.Context, scope domain.Scope, ids []string) (map[string]*bulk.Result, error) {
	var operations pq.StringArray
	var positions pq.Int64Array
	for _, id := range ids {
		operation, position, ok := bulk.ParseResultID(id)
		if ok && len(pg.UUIDs([]string{operation})) == 1 {
			operations, positions = append(operations, operation), append(positions, int64(position))
		}
	}
	if len(operations) == 0 {
		return nil, nil
	}
	rows, err := pg.SelectAll[resultRow](ctx, s.pool, findResults, append(scoped(scope), operations, pq.Int64Array(scope.Masked), positions)...)
	if err != nil {
		return nil, err
	}
	return pg.Keyed(pg.Pluck(rows, (*resultRow).result), (*bulk.Result).ID), nil
}

// ResultsOf implements bulk.Operations.
func (s *Store) ResultsOf(ctx context.Context, scope domain.Scope, operationIDs []string, listing domain.Listing) (map[string]domain.Slice[*bulk.Result], error) {
	l := newResultList(scope, operationIDs)
	from := `(SELECT o.operation_id AS of_operation FROM operations o WHERE ` + visibleOperations + ` AND o.operation_id = ANY($4::uuid[])) wanted`
	sql := `SELECT ` + resultSelect + `, {cursor} AS cursor_keys` + fromResults + `
WHERE r.company_id = $1 AND r.operation_id = wanted.of_operation`
	return keyset.RowsEach(ctx, s.pool, l, from, sql, listing, operationIDs,
		func(r *resultRow) string { return r.OperationID }, (*resultRow).result)
}

// changedResults are the rows of operations that created or changed a subscriber.
const changedResults = `r.company_id = $1 AND o.company_id = $1 AND r.physical_id = wanted.of_physical_id AND r.outcome IN ('CREATED', 'CHANGED') AND NOT o.is_dry_run AND ` + visibleOperations

const wantedSubscribers = `(SELECT s.key AS of_subscriber, s.physical_id AS of_physical_id FROM subscribers s WHERE s.company_id = $1 AND s.key = ANY($4::bigint[])) wanted`

// ChangesOf implements bulk.Operations.
func (s *Store) ChangesOf(ctx context.Context, scope domain.Scope, subscriberKeys []int64, listing domain.Listing) (map[int64]domain.Slice[*bulk.Result], error) {
	// An operation names a subscriber once.
	l := newRowList(operationKey, append(scoped(scope), pq.Int64Array(subscriberKeys), pq.Int64Array(scope.Masked))...)
	listing = listing.InOrder(operationsTable.Order)
	sql := `SELECT ` + resultSelect + `, {cursor} AS cursor_keys` + fromResults + `
JOIN operations o ON o.company_id = $1 AND o.operation_id = r.operation_id
WHERE ` + changedResults
	return keyset.RowsEach(ctx, s.pool, l, wantedSubscribers, sql, listing, subscriberKeys,
		func(r *resultRow) int64 { return *r.SubscriberKey }, (*resultRow).result)
}

// CountChangesOf implements bulk.Operations.
func (s *Store) CountChangesOf(ctx context.Context, scope domain.Scope, subscriberKeys []int64, listing domain.Listing) (map[int64]int, error) {
	l := newRowList(operationKey, append(scoped(scope), pq.Int64Array(subscriberKeys))...)
	where := l.Filter(listing.Filter)
	return pg.CountEach[int64](ctx, s.pool, `SELECT wanted.of_subscriber AS parent, count(*) AS number
FROM `+wantedSubscribers+`
CROSS JOIN operation_rows r
JOIN operations o ON o.operation_id = r.operation_id
WHERE `+changedResults+` AND `+where+`
GROUP BY wanted.of_subscriber`, l.Args)
}

// CountResultsOf implements bulk.Operations.
func (s *Store) CountResultsOf(ctx context.Context, scope domain.Scope, operationIDs []string, listing domain.Listing) (map[string]int, error) {
	l := newResultList(scope, operationIDs)
	l.Args = l.Args[:4]
	where := l.Filter(listing.Filter)
	return pg.CountEach[string](ctx, s.pool, `SELECT r.operation_id::text AS parent, count(*) AS number
FROM operations o
JOIN operation_rows r ON r.company_id = o.company_id AND r.operation_id = o.operation_id
WHERE `+visibleOperations+` AND o.operation_id = ANY($4::uuid[]) AND `+where+`
GROUP BY r.operation_id`, l.Args)
}
