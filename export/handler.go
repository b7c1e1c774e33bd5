package export

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"simgraph/domain"
	"simgraph/domain/ascii"
	"simgraph/internal/problem"
)

// Prefix is what the paths of exports begin with: /export/usage.
const Prefix = "/export/"

// The trailers of a whole answer.
const (
	RowsTrailer   = "X-Export-Rows"
	BytesTrailer  = "X-Export-Bytes"
	SHA256Trailer = "X-Export-Sha256"
	AfterTrailer  = "X-Export-After"
	// UntilHeader is up to when usage is known.
	UntilHeader = "X-Export-Complete-Until"
)

var trailers = strings.Join([]string{RowsTrailer, BytesTrailer, SHA256Trailer, AfterTrailer}, ", ")

// Handler answers GET /export/….
type Handler struct {
	Exporter *Exporter
	// Authenticate returns the context of a request with its domain.Caller.
	Authenticate func(r *http.Request) (context.Context, error)
	// Enter counts an export of the caller, until leave, or refuses it.
	Enter func(ctx context.Context) (leave func(), err error)
	// RequestID returns the id of the request that errors name.
	RequestID func(ctx context.Context) string
	// Challenge is the answer to refused credentials.
	Challenge problem.Challenge
	// Patience is how long a client may take nothing.
	Patience time.Duration
}

// ServeHTTP answers with a file. One that fails after its begin is cut, and so is the answer.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		h.Refuse(w, r, problem.New(problem.WrongMethod, "", "use GET").With("Allow", "GET"))
		return
	}
	ctx, err := h.Authenticate(r)
	if err != nil {
		h.Refuse(w, r, err)
		return
	}
	request, err := read(r)
	if err != nil {
		h.Refuse(w, r, err)
		return
	}
	leave, err := h.Enter(ctx)
	if err != nil {
		h.Refuse(w, r, err)
		return
	}
	defer leave()
	running, err := h.Exporter.Begin(ctx, request)
	if err != nil {
		h.Refuse(w, r, err)
		return
	}
	defer running.Close()
	h.send(ctx, w, running)
}

func (h *Handler) send(ctx context.Context, w http.ResponseWriter, running *Running) {
	header := w.Header()
	header.Set("Content-Type", MediaTypes[running.request.Format])
	header.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": running.FileName()}))
	header.Set("Trailer", trailers)
	if until := running.header.CompleteUntil; until != nil {
		header.Set(UntilHeader, until.UTC().Format(time.RFC3339))
	}
	summary, err := running.WriteTo(ctx, &patient{w, http.NewResponseController(w), h.Patience})
	if err != nil {
		if ctx.Err() == nil && !isGone(err) {
			h.Exporter.Log.ErrorContext(ctx, "an export was cut", "requestId", h.RequestID(ctx), "rows", summary.Rows, "error", err)
		}
		panic(http.ErrAbortHandler) // the answer must not look whole
	}
	header.Set(RowsTrailer, strconv.FormatInt(summary.Rows, 10))
	header.Set(BytesTrailer, strconv.FormatInt(summary.Bytes, 10))
	header.Set(SHA256Trailer, summary.SHA256)
	header.Set(AfterTrailer, summary.After)
}

// FileName is what the file is called: usage-acme-2026-11-01.csv.
func (r *Running) FileName() string {
	day := r.header.MadeAt
	if zone, err := time.LoadLocation(r.header.TimeZone); err == nil {
		day = day.In(zone)
	}
	return fmt.Sprintf("%s-%s-%s.%s", r.request.Export, r.header.Company, day.Format(time.DateOnly), r.request.Format)
}

// patient gives up a client that takes nothing for a while.
type patient struct {
	w        io.Writer
	control  *http.ResponseController
	patience time.Duration
}

// errGone is of a client that does not read on.
type errGone struct{ error }

func isGone(err error) bool {
	_, is := errors.AsType[errGone](err)
	return is
}

// Write implements io.Writer.
func (p *patient) Write(b []byte) (int, error) {
	_ = p.control.SetWriteDeadline(time.Now().Add(p.patience)) // servers without deadlines have none to move
	n, err := p.w.Write(b)
	if err != nil {
		err = errGone{err}
	}
	return n, err
}

// Refuse answers a request that is not served, such as one beyond a limit.
func (h *Handler) Refuse(w http.ResponseWriter, r *http.Request, err error) {
	p := h.Challenge.Of(problem.Of(err))
	if p.Code == problem.Internal {
		h.Exporter.Log.ErrorContext(r.Context(), "an export could not begin", "requestId", h.RequestID(r.Context()), "error", err)
	}
	p.Write(w, r, h.RequestID(r.Context()))
}

// The parameters of all exports, and those of usage.
var (
	parameters      = []string{"format", "filter", "after", "spreadsheet"}
	usageParameters = []string{"from", "to", "interval", "by", "timeZone", "group"}
)

// read reads a request.
func read(r *http.Request) (request Request, err error) {
	request.Export = strings.TrimPrefix(r.URL.Path, Prefix)
	if !slices.Contains(Exports, request.Export) {
		return request, problem.New(problem.NoRoute, "", "there is "+Prefix+strings.Join(Exports, ", "+Prefix))
	}
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return request, domain.Invalid("", "the parameters cannot be read")
	}
	for name, given := range values {
		isOwn := slices.Contains(parameters, name) || request.Export == Usage && slices.Contains(usageParameters, name)
		switch {
		case !isOwn:
			return request, domain.Invalid(name, "%s has no parameter %.40q", r.URL.Path, name)
		case len(given) > 1:
			return request, domain.Invalid(name, "%s is given twice", name)
		}
	}
	if request.Format, err = formatOf(values, r.Header.Values("Accept")); err != nil {
		return request, err
	}
	return request, request.Read(values.Get)
}

// Read reads the parameters other than format.
func (q *Request) Read(value func(name string) string) (err error) {
	q.After, q.From, q.To, q.TimeZone = value("after"), value("from"), value("to"), value("timeZone")
	if text := value("filter"); text != "" {
		decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
		decoder.UseNumber()
		if decoder.Decode(&q.Filter) != nil || decoder.More() {
			return domain.Invalid("filter", `filter must be the JSON of a filter of the graph, such as {"isActive": {"eq": true}}`)
		}
	}
	switch value("spreadsheet") {
	case "", "false":
	case "true":
		q.Spreadsheet = true
	default:
		return domain.Invalid("spreadsheet", "spreadsheet must be true or false")
	}
	if q.Spreadsheet && q.Format != CSV {
		return domain.Invalid("spreadsheet", "spreadsheet goes with CSV alone")
	}
	q.Interval = domain.Unit(value("interval"))
	if q.Interval == "" {
		q.Interval = domain.Daily
	}
	if !slices.Contains([]domain.Unit{domain.Hourly, domain.Daily, domain.Weekly, domain.Monthly}, q.Interval) {
		return domain.Invalid("interval", "interval must be HOUR, DAY, WEEK or MONTH")
	}
	if text := value("group"); text != "" {
		if q.Group, err = strconv.ParseInt(text, 10, 32); err != nil || q.Group <= 0 {
			return domain.Invalid("group", "group must be a groupId")
		}
	}
	return q.readSplit(value("by"))
}

// splits are what usage is split by, in words.
const splits = "PROTOCOL, ADDRESS, GROUP, TAG, OPERATOR, TARIFF, KIND and COUNTRY"

// readSplit reads by: SUBSCRIBER, of which there is a row in any case, and one dimension.
func (q *Request) readSplit(by string) error {
	for part := range strings.SplitSeq(by, ",") {
		switch dimension := domain.Dimension(part); {
		case part == "" && by == "", part == "SUBSCRIBER":
		case q.Split != "":
			return domain.Invalid("by", "by has SUBSCRIBER and at most one of %s", splits)
		case part == "ADDRESS":
			q.Split = domain.ByIPAddress
		case dimension != domain.ByIPAddress && slices.Contains(domain.ExportSplits, dimension):
			q.Split = dimension
		default:
			return domain.Invalid("by", "by has SUBSCRIBER and at most one of %s, with a comma between them", splits)
		}
	}
	return nil
}

// formatOf is the format that is named or, without a name, the first that is accepted.
func formatOf(values url.Values, accept []string) (string, error) {
	if values.Has("format") {
		if format := values.Get("format"); slices.Contains(Formats, format) {
			return format, nil
		}
		return "", domain.Invalid("format", "format must be %s", strings.Join(Formats, ", "))
	}
	accepted := strings.Join(accept, ",")
	for part := range strings.SplitSeq(accepted, ",") {
		media, _, _ := strings.Cut(part, ";")
		media = ascii.Lower(strings.TrimSpace(media))
		for _, format := range Formats {
			if of, _, _ := strings.Cut(MediaTypes[format], ";"); of == media {
				return format, nil
			}
		}
	}
	if strings.TrimSpace(accepted) == "" || strings.Contains(accepted, "*/*") || strings.Contains(accepted, "text/*") {
		return CSV, nil
	}
	return "", problem.New(problem.NotAcceptable, "", "exports are "+strings.Join(Formats, ", ")+": name one by format")
}
