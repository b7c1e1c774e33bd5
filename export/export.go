package export

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"simgraph/domain"
	"simgraph/graph/engine/input"
	"simgraph/internal/problem"
)

//go:embed operations/*.graphql
var documents embed.FS

// Usage is the export of usage; the others are lists of the graph.
const Usage = "usage"

// Exports are all, by the names of their paths.
var Exports = []string{"subscribers", Usage, "sessions", "alert-log", "audit"}

// Run executes a prepared operation in process.
type Run = func(ctx context.Context, variables map[string]any) *graphql.Response

// Snapshot is the database as it is at one moment.
type Snapshot interface {
	// Within returns a context in which operations read the snapshot.
	Within(ctx context.Context) context.Context
	// Usage reads the usage of the snapshot.
	Usage() domain.UsageExports
	Close() error
}

// Config describes how exports meet the rest of the program. All but Log must be given.
type Config struct {
	// Schema is that of the graph.
	Schema *ast.Schema
	// Prepare reads a document with one operation.
	Prepare func(document string) (Run, error)
	// Open begins a snapshot, which is closed when its export ends.
	Open func(ctx context.Context) (Snapshot, error)
	// Audit takes an entry before the first byte of an export, and one when it has ended.
	Audit domain.AuditLog
	// StillValid returns an error when what admitted the context would no longer do so.
	StillValid func(ctx context.Context) error
	// Now is the clock.
	Now func() time.Time
	// Log takes what goes wrong behind the caller's back; nil means slog.Default.
	Log *slog.Logger
}

// Exporter makes exports.
type Exporter struct {
	Config
	company, known, usage Run
	lists                 map[string]*list
}

// list is an export of a list of the graph.
type list struct {
	*layout
	run Run
}

// New prepares the operations.
func New(cfg Config) (*Exporter, error) {
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	e := &Exporter{Config: cfg, lists: map[string]*list{}}
	for name, run := range map[string]*Run{"company": &e.company, "known": &e.known, Usage: &e.usage} {
		if _, err := e.prepare(name, run); err != nil {
			return nil, err
		}
	}
	for _, name := range Exports {
		if name == Usage {
			continue
		}
		l := &list{}
		document, err := e.prepare(name, &l.run)
		if err == nil {
			l.layout, err = layoutOf(cfg.Schema, document)
		}
		if err != nil {
			return nil, fmt.Errorf("export: %s: %w", name, err)
		}
		e.lists[name] = l
	}
	return e, nil
}

func (e *Exporter) prepare(name string, into *Run) (document string, err error) {
	text, err := documents.ReadFile("operations/" + name + ".graphql")
	if err == nil {
		*into, err = e.Prepare(string(text))
	}
	if err != nil {
		return "", fmt.Errorf("export: %s: %w", name, err)
	}
	return string(text), nil
}

// Request asks for an export. The fields after Spreadsheet are for usage.
type Request struct {
	// Export is one of Exports, Format one of Formats.
	Export, Format string
	// Filter is that of the list in the graph, and for usage that of subscribers.
	Filter map[string]any
	// After is where to go on, as the last whole row says.
	After string
	// Spreadsheet makes CSV for spreadsheets.
	Spreadsheet bool

	// From and To are dates or times of RFC 3339; "" for those of the billing period.
	From, To string
	Interval domain.Unit
	// Split is "" for none.
	Split domain.Dimension
	// TimeZone is "" for the company's.
	TimeZone string
	// Group is 0 for all.
	Group int64
}

// Running is an export that has begun.
type Running struct {
	*Exporter
	request  Request
	snapshot Snapshot
	header   header
	columns  []column
	// first is the first page of a list.
	first *page
	// asked is what an export of usage asks for, and scope for whom.
	asked domain.UsageExport
	scope domain.Scope
	// checked is when the rights were checked last.
	checked time.Time
	summary Summary
}

// Begin opens the snapshot, checks the request as the graph does, and notes the export in the
// audit log. The caller is in the context. Close must be called.
func (e *Exporter) Begin(ctx context.Context, request Request) (r *Running, err error) {
	r = &Running{Exporter: e, request: request, checked: e.Now()}
	if r.snapshot, err = e.Open(ctx); err != nil {
		return nil, err
	}
	if err = r.prepare(ctx); err == nil {
		err = r.note(ctx, domain.AuditExport+request.Export, r.described())
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// Close ends the snapshot.
func (r *Running) Close() {
	if err := r.snapshot.Close(); err != nil {
		r.Log.Warn("a snapshot was not closed", "error", err)
	}
}

func (r *Running) prepare(ctx context.Context) error {
	if err := r.read(ctx); err != nil {
		return err
	}
	if r.request.Export == Usage {
		return r.prepareUsage(ctx)
	}
	of := r.lists[r.request.Export]
	r.columns = of.columns
	if r.request.Format != Parquet { // one that was cut cannot be read at all
		r.columns = append(r.columns[:len(r.columns):len(r.columns)], column{name: "cursor"})
	}
	var err error
	r.first, err = r.page(ctx, r.request.After)
	return err
}

// read reads the header.
func (r *Running) read(ctx context.Context) error {
	var of struct {
		Company struct{ Name, ExternalID, TimeZone string }
	}
	if err := r.ask(ctx, r.company, nil, &of); err != nil {
		return err
	}
	r.header = header{Export: r.request.Export, Company: of.Company.ExternalID, Name: of.Company.Name, TimeZone: of.Company.TimeZone, MadeAt: r.Now()}
	var known struct {
		Company struct {
			Usage struct{ DataCompleteUntil *time.Time }
		}
	}
	err := r.ask(ctx, r.known, nil, &known)
	if refused, is := errors.AsType[*problem.Problem](err); is && refused.Code == string(domain.KindForbidden) {
		return nil
	}
	r.header.CompleteUntil = known.Company.Usage.DataCompleteUntil
	return err
}

// ask runs an operation in the snapshot, and reads its data into a value.
func (r *Running) ask(ctx context.Context, run Run, variables map[string]any, into any) error {
	response := run(r.snapshot.Within(ctx), variables)
	if len(response.Errors) > 0 {
		return refusal(response.Errors[0])
	}
	return json.Unmarshal(response.Data, into)
}

// refusal is an error of the graph for callers. Of the variables only the filter comes from
// them as it is.
func refusal(err *gqlerror.Error) error {
	if err.Extensions["code"] == input.Code {
		return domain.Invalid("filter", "filter: %s", err.Message)
	}
	return problem.OfGraph(err)
}

// page reads the page of the list after a cursor.
func (r *Running) page(ctx context.Context, after string) (*page, error) {
	variables := map[string]any{}
	if r.request.Filter != nil {
		variables["filter"] = r.request.Filter
	}
	if after != "" {
		variables["after"] = after
	}
	of := r.lists[r.request.Export]
	response := of.run(r.snapshot.Within(ctx), variables)
	if len(response.Errors) > 0 {
		return nil, refusal(response.Errors[0])
	}
	return of.page(response.Data)
}

// WriteTo writes the file, and notes in the audit log how that ended. ctx is that of Begin.
func (r *Running) WriteTo(ctx context.Context, to io.Writer) (Summary, error) {
	err := r.write(ctx, to)
	outcome := "complete"
	if err != nil {
		outcome = "cut"
	}
	noting, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTime)
	defer cancel()
	noted := r.note(noting, domain.AuditExportEnd, []domain.AuditChange{
		domain.Became("export", r.request.Export), domain.Became("rows", strconv.FormatInt(r.summary.Rows, 10)), domain.Became("outcome", outcome),
	})
	if noted != nil {
		r.Log.Error("the end of an export was not noted in the audit log", "error", noted)
	}
	return r.summary, err
}

// noteTime bounds how long the audit log is waited for when an export has ended.
const noteTime = 10 * time.Second

func (r *Running) write(ctx context.Context, to io.Writer) error {
	out := newEncoder(r.request.Format, to, r.columns, r.request.Spreadsheet)
	r.summary.After = r.request.After
	if err := out.begin(r.header); err != nil {
		return err
	}
	rows := r.listRows
	if r.request.Export == Usage {
		rows = r.usageRows
	}
	err := rows(ctx, out)
	if err != nil {
		return err
	}
	if r.summary.Bytes, r.summary.SHA256, err = out.sum(); err != nil {
		return err
	}
	return out.end(r.summary)
}

func (r *Running) listRows(ctx context.Context, out encoder) error {
	for page := r.first; ; {
		for i, row := range page.rows {
			r.summary.After = page.cursors[i]
			if err := r.row(ctx, out, append(row, cell{text: page.cursors[i]})); err != nil {
				return err
			}
		}
		if !page.more {
			return nil
		}
		var err error
		if page, err = r.page(ctx, r.summary.After); err != nil {
			return err
		}
	}
}

// row writes a row. A stream ends when the rights that it began with do.
func (r *Running) row(ctx context.Context, out encoder, cells []cell) error {
	if r.summary.Rows%checkRows == 0 {
		if err := r.check(ctx); err != nil {
			return err
		}
	}
	r.summary.Rows++
	return out.row(cells)
}

const (
	checkRows  = 1000
	checkEvery = 5 * time.Second
)

func (r *Running) check(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if now := r.Now(); now.Sub(r.checked) >= checkEvery {
		r.checked = now
		return r.StillValid(ctx)
	}
	return nil
}

// described is what the audit log says of a request.
func (r *Running) described() []domain.AuditChange {
	all := []domain.AuditChange{domain.Became("format", r.request.Format)}
	add := func(name, value string) {
		if value != "" {
			all = append(all, domain.Became(name, value))
		}
	}
	if r.request.Filter != nil {
		filter, _ := json.Marshal(r.request.Filter) // it was read from JSON
		add("filter", string(filter))
	}
	add("after", r.request.After)
	if r.request.Export == Usage {
		add("from", r.asked.Span.Start.Format(time.RFC3339))
		add("to", r.asked.Span.End.Format(time.RFC3339))
		add("interval", string(r.asked.By.Unit))
		add("by", strings.TrimPrefix(string(r.asked.Split), "IP_"))
		if r.asked.Group != 0 {
			add("group", strconv.FormatInt(r.asked.Group, 10))
		}
	}
	return all
}

func (r *Running) note(ctx context.Context, action string, changes []domain.AuditChange) error {
	caller, err := domain.CallerOf(ctx)
	if err != nil {
		return err
	}
	return r.Audit.Note(ctx, caller.Scope, domain.AuditEntry{Action: action, SubjectType: "Company", Changes: changes})
}
