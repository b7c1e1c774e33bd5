package changes

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"simgraph/domain"
	"simgraph/domain/ascii"
	"simgraph/domain/bulk"
	"simgraph/internal/problem"
)

const (
	// Path is where the handler belongs.
	Path = "/operations"
	// TemplatePath is where the header of files is served.
	TemplatePath = "/operations/template.csv"
)

const (
	// MaxBytes bounds a file of changes, in bytes.
	MaxBytes = 64 << 20
	// maxUploads bounds the files that are read and started at a time: of each a line and
	// the digests of all subscribers are in memory, some 15 MB.
	maxUploads = 4
	// uploadTime bounds how long a client may take to send a file.
	uploadTime = 5 * time.Minute
	// maxListed bounds the lines at fault of an answer.
	maxListed = 1_000
)

// Config is what the handler needs.
type Config struct {
	// Operations starts what a file says.
	Operations interface {
		Start(ctx context.Context, caller *domain.Caller, start bulk.Start) (*bulk.Operation, error)
	}
	// Admit returns the context of a request with its caller.
	Admit func(r *http.Request) (context.Context, error)
	// Challenge is the answer to refused credentials.
	Challenge problem.Challenge
	Log       *slog.Logger
	Now       func() time.Time
}

// Handler answers POST /operations.
type Handler struct {
	Config
	uploads chan struct{}
}

// New returns the handler.
func New(cfg Config) *Handler { return &Handler{cfg, make(chan struct{}, maxUploads)} }

var (
	errMethod = problem.New(problem.WrongMethod, "", "this path serves POST").With("Allow", http.MethodPost)
	errMedia  = problem.New(problem.MediaType, "", "the body must be CSV, not compressed, with the header Content-Type: text/csv")
	errLarge  = problem.New(problem.TooLarge, "", "the file has more than "+strconv.Itoa(MaxBytes>>20)+" MB: cut it")
	errBusy   = &domain.Error{Kind: domain.KindRateLimited, Message: "too many files are being read, try again later"}
)

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	started, err := h.start(w, r)
	if err != nil {
		h.Refuse(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	_ = json.NewEncoder(w).Encode(started) // a client that went away reads the operation from the graph
}

// Refuse answers a request that starts nothing.
func (h *Handler) Refuse(w http.ResponseWriter, r *http.Request, err error) {
	id := w.Header().Get("X-Request-Id")
	p := problem.Of(err)
	if p.Code == problem.Internal {
		h.Log.Error("an operation was not started", slog.String("requestId", id), slog.Any("error", err))
	}
	h.Challenge.Of(p, domain.ViewSubscriber).Write(w, r, id)
}

func (h *Handler) start(w http.ResponseWriter, r *http.Request) (*answer, error) {
	if r.Method != http.MethodPost {
		return nil, errMethod
	}
	ctx, err := h.Admit(r)
	if err != nil {
		return nil, err
	}
	caller, err := domain.CallerWith(ctx, domain.ViewSubscriber)
	if err != nil {
		return nil, err
	}
	if !isCSV(r.Header) {
		return nil, errMedia
	}
	start, mapping, reason, err := options(r.URL)
	if err != nil {
		return nil, err
	}
	select {
	case h.uploads <- struct{}{}:
		defer func() { <-h.uploads }()
	default:
		return nil, errBusy
	}
	a := &answer{Unreadable: []badLine{}}
	start.Lines = h.read(w, r, mapping, a)
	operation, err := h.Operations.Start(ctx, caller.WithReason(reason), start)
	if err != nil {
		return nil, err
	}
	a.describe(operation)
	return a, nil
}

// read yields the rows of the file, and notes in a which of them cannot be read.
func (h *Handler) read(w http.ResponseWriter, r *http.Request, mapping Mapping, a *answer) iter.Seq2[bulk.Row, error] {
	return func(yield func(bulk.Row, error) bool) {
		_ = http.NewResponseController(w).SetReadDeadline(h.Now().Add(uploadTime)) // servers without deadlines have none to move
		for row, err := range Read(http.MaxBytesReader(w, r.Body, MaxBytes), mapping, h.Now()) {
			if _, large := errors.AsType[*http.MaxBytesError](err); large {
				err = errLarge
			} else if _, known := domain.AsError(err); err != nil && !known {
				err = domain.Invalid("file", "the file ends before it is complete")
			}
			a.note(row)
			if !yield(row, err) {
				return
			}
		}
	}
}

func isCSV(header http.Header) bool {
	media, params, err := mime.ParseMediaType(header.Get("Content-Type"))
	charset := ascii.Lower(params["charset"])
	return err == nil && media == "text/csv" && (charset == "" || charset == "utf-8") && header.Get("Content-Encoding") == ""
}

// options reads the query of a request: what it starts, what its columns are, and why.
func options(from *url.URL) (start bulk.Start, mapping Mapping, reason string, err error) {
	start = bulk.Start{ErrorPolicy: bulk.RejectEverything}
	given, err := parseQuery(from.RawQuery)
	if err != nil {
		return start, nil, "", err
	}
	for name, values := range given {
		if name != "map" && len(values) > 1 {
			return start, nil, "", domain.Invalid(name, "%s is there twice", name)
		}
		if err := setOption(&start, name, values[0]); err != nil {
			return start, nil, "", err
		}
	}
	if reason, err = domain.NewReason(given.Get("reason")); err != nil {
		return start, nil, "", err
	}
	mapping, err = ParseMapping(given["map"])
	return start, mapping, reason, err
}

func parseQuery(raw string) (url.Values, error) {
	given, err := url.ParseQuery(raw)
	if err != nil {
		return nil, domain.Invalid("query", "the query of the address is malformed")
	}
	return given, nil
}

func setOption(start *bulk.Start, name, value string) (err error) {
	switch name {
	case "map", "reason":
	case "digest":
		start.Digest = value
	case "expect":
		expected, err := strconv.Atoi(value)
		if err != nil {
			return domain.Invalid(name, "expect is a whole number, not %q", clip(value))
		}
		start.Expect = &expected
	case "validateOnly":
		start.ValidateOnly, err = parseBool(name, value)
	case "silence":
		start.Silence, err = parseBool(name, value)
	case "create":
		start.Create, err = parseBool(name, value)
	case "errorPolicy":
		start.ErrorPolicy, err = ParsePolicy(value)
	default:
		return domain.Invalid(clip(name), "the parameter %q is none of map, validateOnly, errorPolicy, create, expect, digest, silence, reason", clip(name))
	}
	return err
}

func parseBool(name, value string) (bool, error) {
	if value != "true" && value != "false" {
		return false, domain.Invalid(name, "%s is true or false, not %q", name, clip(value))
	}
	return value == "true", nil
}

// ParsePolicy reads the name of a policy.
func ParsePolicy(name string) (bulk.Policy, error) {
	all := []bulk.Policy{bulk.RejectEverything, bulk.RejectFailedRows, bulk.IgnoreFailed}
	if !slices.Contains(all, bulk.Policy(name)) {
		return "", domain.Invalid("errorPolicy", "errorPolicy is one of %s, %s and %s, not %q", all[0], all[1], all[2], clip(name))
	}
	return bulk.Policy(name), nil
}

// answer is the operation that a file started.
type answer struct {
	OperationID string     `json:"operationId"`
	State       bulk.State `json:"state"`
	IsDryRun    bool       `json:"isDryRun"`
	Digest      string     `json:"digest"`
	Total       int        `json:"total"`
	Done        int        `json:"done"`
	Created     int        `json:"created"`
	Changed     int        `json:"changed"`
	Failed      int        `json:"failed"`
	// Unreadable are the first lines that cannot be read, UnreadableTotal is how many
	// there are.
	Unreadable      []badLine `json:"unreadable"`
	UnreadableTotal int       `json:"unreadableTotal"`
}

type badLine struct {
	Line    int    `json:"line"`
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
}

// note counts a row that cannot be read, and lists the first ones.
func (a *answer) note(row bulk.Row) {
	if row.Fault == nil {
		return
	}
	a.UnreadableTotal++
	if len(a.Unreadable) < maxListed {
		a.Unreadable = append(a.Unreadable, badLine{row.Line, row.Fault.Field, row.Fault.Message})
	}
}

func (a *answer) describe(o *bulk.Operation) {
	a.OperationID, a.State, a.IsDryRun, a.Digest = o.OperationID, o.State, o.IsDryRun, o.Digest
	a.Total, a.Done, a.Created, a.Changed, a.Failed = o.Total, o.Done, o.Created, o.Changed, o.Failed
}

// ServeTemplate answers with a file that has a header alone.
func ServeTemplate(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="simgraph-changes.csv"`)
	_, _ = w.Write([]byte(Template)) // a client that went away needs none
}
