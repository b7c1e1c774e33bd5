// Package bulk has the rules of operations: changes of many subscribers at once,
// which are tried, run in chunks, cancelled and undone.
package bulk

import (
	"context"
	"iter"
	"strconv"
	"strings"
	"time"

	"simgraph/domain"
	"simgraph/domain/query"
)

const (
	// MaxRows bounds the subscribers of an operation.
	MaxRows = 200_000
	// Expected is how many subscribers an operation may have without Start.Expect.
	Expected = 1_000
	// AtOnce is how many subscribers are checked before Start answers; more are
	// checked in the background.
	AtOnce = 10_000
	// Chunk is how many subscribers change in one transaction.
	Chunk = 1_000
	// MaxActive bounds the operations of a company that have not ended.
	MaxActive = 20
	// Undoable is for how long an operation that ended can be undone.
	Undoable = 7 * 24 * time.Hour
	// Startable is for how long a dry run that ended can be started.
	Startable = 24 * time.Hour
	// Silenced is how long the silence of an operation lasts at most.
	Silenced = 4 * time.Hour
)

// State is how far an operation is.
type State string

// The states. Checking and Running are those of operations that have not ended.
const (
	// Checking: the rows are checked, and nothing changes.
	Checking State = "CHECKING"
	// Checked: a dry run has ended.
	Checked State = "CHECKED"
	// Rejected: rows failed the check of RejectEverything; nothing changed.
	Rejected State = "REJECTED"
	// Running: rows are changed, chunk by chunk.
	Running State = "RUNNING"
	// Done: every row was decided.
	Done State = "DONE"
	// Cancelled: the rows that were not decided by then stay as they are.
	Cancelled State = "CANCELLED"
)

// Policy is what becomes of the others when rows fail.
type Policy string

// The policies.
const (
	// RejectEverything checks all rows first, and changes none when one fails.
	RejectEverything Policy = "REJECT_EVERYTHING"
	// RejectFailedRows changes the rows that do not fail.
	RejectFailedRows Policy = "REJECT_FAILED_ROWS"
	// IgnoreFailed also makes those changes of a failed row that are possible.
	IgnoreFailed Policy = "IGNORE_FAILED"
)

// Outcome is what became of a row; after a check, what would become of it.
type Outcome string

// The outcomes.
const (
	Pending Outcome = "PENDING"
	// Created: the subscriber did not exist.
	Created   Outcome = "CREATED"
	Changed   Outcome = "CHANGED"
	Unchanged Outcome = "UNCHANGED"
	// Removed: the operation that is undone had created it.
	Removed Outcome = "REMOVED"
	Failed  Outcome = "FAILED"
	// Skipped: the row was changed by others since, and is not undone.
	Skipped Outcome = "SKIPPED"
)

// Outcomes are all of them.
var Outcomes = []Outcome{Pending, Created, Changed, Unchanged, Removed, Failed, Skipped}

// Operation is a change of many subscribers.
type Operation struct {
	// OperationID is a UUID; later operations have greater ones.
	OperationID string
	State       State
	IsDryRun    bool
	ErrorPolicy Policy
	// UndoOf is the operation that this one undoes; nil for a change.
	UndoOf *string
	// StartedBy is the e-mail address of the user, or the account that ran a command.
	StartedBy string
	// Description is what changes, in words.
	Description string
	// Reason is why, in the words of who started it; "" where none was given.
	Reason string
	// Digest identifies the subscribers and their changes, in hexadecimal.
	Digest string
	// Total is the number of rows, Done of those that were decided or checked: it is
	// the sum of Created, Changed, Removed, Failed, Skipped and the unchanged ones.
	Total, Done, Created, Changed, Removed, Failed, Skipped int
	StartedAt                                               time.Time
	// EndedAt is nil while it is Checking or Running.
	EndedAt *time.Time
	// UndoableUntil is nil for what cannot be undone, or was.
	UndoableUntil *time.Time
	// StartableUntil is nil for what is no dry run, would change nothing, or was started.
	StartableUntil *time.Time
	// DryRunID is the dry run that was started as this operation, StartedID the operation
	// that this dry run was started as; nil for none.
	DryRunID, StartedID *string
	// Effects are nil for what began before they were noted.
	Effects *Effects
	// SilenceID is the silence that ends with it; nil for none.
	SilenceID *int64
}

// Effects are what an operation sets off beside its changes, and undoing it does not take
// back. Those of a dry run are what a run would.
type Effects struct {
	// Alerts fire, Recipients are mailed about them, and Messages go to webhooks. What is
	// silenced fires, and notifies nobody.
	Alerts, Recipients, Messages int
	// Commands go to carriers.
	Commands int
}

// Result is what became of one row of an operation.
type Result struct {
	OperationID string
	// Position counts the rows of an operation from 1.
	Position   int
	PhysicalID string
	// Line is where the row begins in the file that it came from, from 1; nil where it
	// came from none.
	Line *int
	// SubscriberKey is the internal number; nil where there is no such subscriber.
	SubscriberKey *int64
	Outcome       Outcome
	// Code is the kind of the error, Message its text; nil where nothing failed.
	// A row that changed has them where a part of it failed.
	Code, Message *string
	// Changes are what changed, a tag each on its own.
	Changes []domain.AuditChange
}

// ID identifies the row among those of all operations.
func (r *Result) ID() string { return r.OperationID + ":" + strconv.Itoa(r.Position) }

// ParseResultID reads what ID wrote; false for anything else.
func ParseResultID(id string) (operationID string, position int, ok bool) {
	operationID, number, _ := strings.Cut(id, ":")
	n, err := strconv.ParseInt(number, 10, 32)
	return operationID, int(n), err == nil && strconv.FormatInt(n, 10) == number
}

// Start is what an operation begins with. Filter, PhysicalIDs, Rows, Lines and DryRunOf
// exclude each other.
type Start struct {
	// Filter selects the subscribers, with the billing period of its field dataUsage;
	// nil unless ByFilter, and then all that the scope shows.
	Filter      query.Expr
	PeriodStart time.Time
	ByFilter    bool
	PhysicalIDs []string
	Rows        []Row
	// Lines are rows that come one at a time, such as those of an upload, and are stored
	// as they come. They were checked, and those without a fault name each subscriber once.
	// An error among them is that of the start, which stores nothing then.
	Lines iter.Seq2[Row, error]
	// DryRunOf is a dry run whose subscribers, Change and ErrorPolicy these are; "" for none.
	DryRunOf string
	// Change is made to each subscriber, unless its row has another value.
	Change      Change
	ErrorPolicy Policy
	// ValidateOnly checks and changes nothing.
	ValidateOnly bool
	// Expect is how many subscribers there must be; nil for any number up to Expected.
	Expect *int
	// Digest is that of a dry run that this must be equal to; "" for none.
	Digest string
	// Silence notifies nobody of the alerts on its subscribers while it runs.
	Silence bool
	// Create creates the subscribers of rows that do not exist: see MayCreate.
	Create bool
}

// Row is a subscriber with changes of its own.
type Row struct {
	PhysicalID string
	Change
	Stated
	// Line is where the row begins in the file that it came from; 0 for none.
	Line int
	// Fault is why the row cannot be read: it fails, whatever else it has.
	Fault *domain.Error
}

// IsEmpty reports whether the row says nothing beside its subscriber.
func (r Row) IsEmpty() bool { return r.Change.IsEmpty() && r.Stated.IsEmpty() }

// Check rejects values that no subscriber can have, at a time.
func (r Row) Check(now time.Time) error {
	if err := r.Change.Check(now); err != nil || r.Stated.IsEmpty() {
		return err
	}
	return r.check(r.PhysicalID)
}

// Operations keeps operations and runs them. Users of groups see those that they
// started themselves in groups that they still have. Methods that name an operation
// return NotFound where the scope shows none such.
type Operations interface {
	// Start freezes which subscribers change and begins. It answers when up to
	// AtOnce subscribers were checked, where a check is due. For a company that has
	// MaxActive operations it takes none of the Lines. A row of a dry run that is started
	// fails where something else would become of it than the dry run showed.
	Start(ctx context.Context, caller *domain.Caller, start Start) (*Operation, error)
	// Cancel ends an operation before its next chunk.
	Cancel(ctx context.Context, caller *domain.Caller, operationID string) (*Operation, error)
	// Undo starts the operation that takes back what another changed.
	Undo(ctx context.Context, caller *domain.Caller, operationID string) (*Operation, error)

	Find(ctx context.Context, scope domain.Scope, operationID string) (*Operation, error)
	// FindMany returns operations by id; what the scope does not show is missing.
	FindMany(ctx context.Context, scope domain.Scope, operationIDs []string) (map[string]*Operation, error)
	// List lists operations, the newest first unless the listing has another order.
	List(ctx context.Context, scope domain.Scope, listing domain.Listing) (domain.Slice[*Operation], error)
	Count(ctx context.Context, scope domain.Scope, listing domain.Listing) (int, error)
	// ResultsOf lists the same part of the rows of each operation, in their order unless the
	// listing has another, by ResultFields.
	ResultsOf(ctx context.Context, scope domain.Scope, operationIDs []string, listing domain.Listing) (map[string]domain.Slice[*Result], error)
	// FindResults returns rows by Result.ID; what the scope does not show is missing.
	FindResults(ctx context.Context, scope domain.Scope, ids []string) (map[string]*Result, error)
	// ChangesOf lists the rows of operations that changed a subscriber, by its key, the
	// newest first unless the listing has another order, by ResultFields.
	ChangesOf(ctx context.Context, scope domain.Scope, subscriberKeys []int64, listing domain.Listing) (map[int64]domain.Slice[*Result], error)
	CountChangesOf(ctx context.Context, scope domain.Scope, subscriberKeys []int64, listing domain.Listing) (map[int64]int, error)
	CountResultsOf(ctx context.Context, scope domain.Scope, operationIDs []string, listing domain.Listing) (map[string]int, error)
}

// Live follows operations of every process, as domain.Live follows subscribers.
type Live interface {
	// OperationChanged follows one operation, or all that the scope shows where the
	// id is "". One that is named comes first as it is.
	OperationChanged(ctx context.Context, scope domain.Scope, operationID string) (*domain.Stream[*Operation], error)
}

// Fields are what operations can be filtered and ordered by.
var Fields = query.NewFields(
	query.Field{Name: "operationId", Type: query.Text},
	query.Enumerated("state", []State{Checking, Checked, Rejected, Running, Done, Cancelled}).Unordered(),
	query.Field{Name: "isDryRun", Type: query.Boolean}.Unordered(),
	query.Enumerated("errorPolicy", []Policy{RejectEverything, RejectFailedRows, IgnoreFailed}).Unordered(),
	query.Field{Name: "undoOf", Type: query.Text}.Unordered(),
	query.Field{Name: "startedBy", Type: query.Text}.Unordered(),
	query.Field{Name: "reason", Type: query.Text}.Unordered(),
	query.Field{Name: "total", Type: query.Integer}.Unordered(),
	query.Field{Name: "created", Type: query.Integer}.Unordered(),
	query.Field{Name: "changed", Type: query.Integer}.Unordered(),
	query.Field{Name: "removed", Type: query.Integer}.Unordered(),
	query.Field{Name: "failed", Type: query.Integer}.Unordered(),
	query.Field{Name: "startedAt", Type: query.Time}.Unordered(),
	query.Field{Name: "endedAt", Type: query.Time}.Unordered(),
)

// ResultFields are what results can be filtered and ordered by.
var ResultFields = query.NewFields(
	query.Field{Name: "operationId", Type: query.Text, Doc: "The id of the operation."},
	query.Field{Name: "position", Type: query.Integer},
	query.Field{Name: "physicalId", Type: query.Text}.Unordered(),
	query.Field{Name: "line", Type: query.Integer}.Unordered(),
	query.Enumerated("outcome", Outcomes).Unordered(),
	query.Field{Name: "code", Type: query.Text}.Unordered(),
	query.Field{Name: "message", Type: query.Text}.Unordered(),
)

// NotFound is the error for an operation that the scope does not show.
func NotFound(operationID string) error {
	return domain.NotFound("operationId", "operation", operationID)
}
