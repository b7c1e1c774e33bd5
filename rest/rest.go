package rest

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"simgraph/domain"
	"simgraph/internal/problem"
)

// Config describes how the paths meet the rest of the program. All but Log, Routed,
// RequestID and Challenge must be given.
type Config struct {
	// Schema is that of the graph: it types parameters and has the permissions.
	Schema *ast.Schema
	// Prepare reads a document with one operation.
	Prepare func(document string) (Run, error)
	// Authenticate returns the context of a request with its domain.Caller. Its
	// errors are of the domain: Unauthorized, InvalidToken or Unavailable.
	Authenticate func(r *http.Request) (context.Context, error)
	// RequestID returns the id of the request that errors name; "" for none.
	RequestID func(ctx context.Context) string
	// Challenge is the answer to refused credentials.
	Challenge problem.Challenge
	// Routed, unless nil, is called with the path that a request is for, as the contract
	// writes it: GET /subscribers/{physicalId}.
	Routed func(ctx context.Context, path string)
	// Log takes internal errors; nil means slog.Default.
	Log *slog.Logger
	// PublicURL is where clients reach the service, for the contract; "" stands for where
	// they got that.
	PublicURL string
}

// Run executes a prepared operation in process, with variables of the kinds
// string, int, int64 and nil.
type Run = func(ctx context.Context, variables map[string]any) *graphql.Response

// maxWalk bounds how often the operation of one request is run.
const maxWalk = 100

// Handler answers the documented paths (spec §4). Any other path gets a 404 in
// JSON, so it may stand at the root behind all other handlers.
type Handler struct {
	Config
	router   router
	contract []byte
}

// New prepares the operations of all paths.
func New(cfg Config) (*Handler, error) {
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if cfg.RequestID == nil {
		cfg.RequestID = func(context.Context) string { return "" }
	}
	operations, err := newLibrary(documents)
	if err != nil {
		return nil, err
	}
	all, err := compile(cfg, operations)
	if err != nil {
		return nil, err
	}
	contract, err := all.contract(cfg.Schema, cfg.PublicURL)
	if err != nil {
		return nil, err
	}
	return &Handler{Config: cfg, router: all, contract: contract}, nil
}

// ServeHTTP answers a request for a documented path.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := h.serve(w, r); err != nil {
		h.Refuse(w, r, err)
	}
}

// ServeContract answers with the OpenAPI 3.1 document of all paths.
func (h *Handler) ServeContract(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Refuse(w, r, wrongMethod(r.Method, []string{http.MethodGet, http.MethodHead}))
		return
	}
	respond(w, r, http.StatusOK, h.contract)
}

// serve checks in the documented order: path, method, token, permission, body,
// parameters; then it runs the operation.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request) error {
	segments, err := split(r.URL.EscapedPath())
	if err != nil {
		return err
	}
	e, err := h.router.find(r.Method, segments)
	if err != nil {
		return err
	}
	if h.Routed != nil {
		h.Routed(r.Context(), e.method+" "+e.path)
	}
	ctx, err := h.admit(r, e)
	if err != nil {
		return err
	}
	c, err := e.gather(ctx, w, r, segments)
	if err != nil {
		return err
	}
	return h.answer(ctx, w, r, e, c)
}

// admit authenticates the caller and checks its permissions.
func (h *Handler) admit(r *http.Request, e *endpoint) (context.Context, error) {
	ctx, err := h.Authenticate(r)
	if err != nil {
		p := problem.Of(err)
		if p.Code == problem.Internal {
			h.logInternal(r.Context(), "a caller could not be authenticated", err)
		}
		return nil, h.Challenge.Of(p)
	}
	if _, err := domain.CallerWith(ctx, e.permissions...); err != nil {
		return nil, h.Challenge.Of(problem.Of(err), e.permissions...)
	}
	return ctx, nil
}

func (h *Handler) logInternal(ctx context.Context, message string, err error) {
	h.Log.LogAttrs(ctx, slog.LevelError, message,
		slog.String("requestId", h.RequestID(ctx)), slog.String("error", err.Error()))
}

func (h *Handler) answer(ctx context.Context, w http.ResponseWriter, r *http.Request, e *endpoint, c *call) error {
	content, total, err := h.collect(ctx, e, c)
	if err != nil {
		return err
	}
	switch {
	case e.paged:
		c.page.announce(w.Header(), c.pairs, total)
	case total >= 0:
		w.Header().Set("X-Total-Count", strconv.Itoa(total))
	}
	if e.wrapper == "" {
		respond(w, r, http.StatusNoContent, nil)
		return nil
	}
	respond(w, r, http.StatusOK, wrap(e.wrapper, content))
	return nil
}

// collect runs the operation, again and again where it walks a list, and puts
// the parts of that list together.
func (h *Handler) collect(ctx context.Context, e *endpoint, c *call) (content []byte, total int, err error) {
	for range maxWalk {
		part, err := h.execute(ctx, e, c)
		if err != nil {
			return nil, 0, err
		}
		content, total = join(content, part.body), part.total
		if !part.more {
			break
		}
		c.variables["after"] = part.next
	}
	return content, total, nil
}

// join appends the list more to list.
func join(list, more []byte) []byte {
	switch {
	case list == nil, string(list) == "[]":
		return more
	case string(more) == "[]":
		return list
	default:
		return append(append(list[:len(list)-1], ','), more[1:]...)
	}
}

func (h *Handler) execute(ctx context.Context, e *endpoint, c *call) (answer, error) {
	response := e.run(ctx, c.variables)
	if len(response.Errors) > 0 {
		return answer{}, e.refusal(c, problem.OfGraph(response.Errors[0]))
	}
	part, err := e.outline.shape(response.Data)
	if part.missing != nil {
		return answer{}, e.notFound(c, part.missing)
	}
	if err == nil && (part.body == nil) != (e.wrapper == "") {
		err = errShape
	}
	if err != nil {
		h.logInternal(ctx, "an answer could not be shaped", err)
		return answer{}, err
	}
	return part, nil
}
