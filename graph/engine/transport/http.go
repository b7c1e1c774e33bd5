package transport

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"simgraph/domain"
	"simgraph/domain/ascii"
	"simgraph/internal/held"
	"simgraph/internal/problem"
)

// ServeHTTP answers one operation by POST or GET, as JSON or as server-sent
// events, or takes over the connection for a WebSocket.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e := &exchange{Server: s, w: w, r: r, accept: accepted(r.Header)}
	defer e.recover()
	if r.Method == http.MethodGet && headerHas(r.Header, "Upgrade", "websocket") {
		s.serveWebSocket(w, r)
		return
	}
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Add("Vary", "Accept")
	h.Set("Cache-Control", "no-store")
	e.serve()
}

func headerHas(h http.Header, name, token string) bool {
	for _, value := range h.Values(name) {
		for part := range strings.SplitSeq(value, ",") {
			if ascii.EqualFold(strings.TrimSpace(part), token) {
				return true
			}
		}
	}
	return false
}

// exchange is one HTTP request and its answer.
type exchange struct {
	*Server
	w      http.ResponseWriter
	r      *http.Request
	accept acceptance
	// body is held until the answer is sent: clients that take no answers hold no room.
	body *held.Reader
}

func (e *exchange) recover() {
	r := recover()
	if r == nil {
		return
	}
	if r == http.ErrAbortHandler {
		panic(r)
	}
	ctx := e.r.Context()
	e.refuse(e.presented(ctx, e.recovered(ctx, r)))
}

func (e *exchange) serve() {
	get := isGet(e.r.Method)
	switch {
	case !Serves(e.r.Method):
		e.w.Header().Set("Allow", "GET, HEAD, POST")
		e.refuse(coded(CodeMethodNotAllowed, "use POST or GET"))
	case get && e.cfg.Explorer != nil && e.accept.page():
		e.cfg.Explorer.ServeHTTP(e.w, e.r)
	case e.accept.none():
		e.refuse(coded(CodeNotAcceptable, "answers are %s, %s or %s", typeGraphQL, typeJSON, typeStream))
	case get:
		e.get()
	default:
		e.post()
	}
}

func (e *exchange) get() {
	request, err := queryRequest(e.r.URL.RawQuery)
	if err != nil {
		e.refuse(coded(CodeInvalidParameter, "%s", err))
		return
	}
	e.answer(request)
}

func (e *exchange) post() {
	if !e.isJSON() {
		e.refuse(coded(CodeMediaType, "the body must be JSON in UTF-8, not compressed, with the header Content-Type: application/json"))
		return
	}
	body := buffer()
	defer release(body)
	e.body = held.NewReader(http.MaxBytesReader(e.w, e.r.Body, e.cfg.Limits.Body), owner(e.r.Context()), e.cfg.Limits.Body)
	defer e.body.Release()
	if _, err := io.Copy(body, e.body); err != nil {
		e.unreadable(err)
		return
	}
	request, err := decodeRequest(body.Bytes())
	if err != nil {
		e.refuse(coded(CodeInvalidBody, "%s", err))
		return
	}
	request.body = e.body
	e.answer(request)
}

func (e *exchange) isJSON() bool {
	media, params, err := mime.ParseMediaType(e.r.Header.Get("Content-Type"))
	encoding := e.r.Header.Get("Content-Encoding")
	return err == nil && media == typeJSON && isUTF8(params["charset"]) &&
		(encoding == "" || ascii.EqualFold(encoding, "identity"))
}

func (e *exchange) unreadable(err error) {
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		e.refuse(coded(CodePayloadTooLarge, "the body has more than %d bytes", large.Limit))
		return
	}
	if errors.Is(err, held.ErrFull) {
		full := problem.New(string(domain.KindUnavailable), "", err.Error())
		full.SetHeader(e.w.Header())
		e.refuse(coded(full.Code, "%s", full.Message))
		return
	}
	e.refuse(coded(CodeInvalidBody, "the body could not be read"))
}

// owner is the company that bodies and messages are counted for, "" before a caller is known.
func owner(ctx context.Context) string {
	caller, err := domain.CallerOf(ctx)
	if err != nil {
		return ""
	}
	return caller.Company.ExternalID
}

// answer finds the operation and sends its result the way it may go out.
func (e *exchange) answer(request *request) {
	request.headers = e.r.Header
	op, errs := e.find(e.r.Context(), request)
	subscription := len(errs) == 0 && op.def.Operation == ast.Subscription
	mutation := len(errs) == 0 && op.def.Operation == ast.Mutation
	streams := e.accept.streams(subscription)
	switch {
	case mutation && isGet(e.r.Method):
		e.w.Header().Set("Allow", "POST")
		e.refuse(coded(CodeMethodNotAllowed, "a mutation needs POST"))
	case subscription && (!streams || e.r.Method == http.MethodHead):
		e.request(nil, gqlerror.List{coded(CodeNeedsStream,
			"a subscription needs a stream: use Accept: %s, or WebSocket with graphql-transport-ws", typeStream)})
	case streams:
		e.stream(op, request, errs)
	case len(errs) > 0:
		e.request(nil, errs)
	default:
		e.request(e.admit(e.r.Context(), op, request, e.cfg.Limits.Cost))
	}
}

// request executes what was admitted, or reports why it was not.
func (e *exchange) request(c *call, errs gqlerror.List) {
	ctx := e.r.Context()
	if len(errs) > 0 {
		e.send(e.refusedStatus(errs), e.refused(ctx, errs), nil)
		return
	}
	e.send(http.StatusOK, e.run(ctx, c), c)
}

// refusedStatus is the status of a well-formed request whose operation was not
// run: 200 for application/json, as it always was there, except for one that
// came too early or to a server that is busy.
func (e *exchange) refusedStatus(errs gqlerror.List) int {
	if p := early(errs[0]); p != nil {
		p.SetHeader(e.w.Header())
		return p.Status()
	}
	if e.accept.single() == typeGraphQL {
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// refuse answers a request that is none of GraphQL over HTTP.
func (e *exchange) refuse(err *gqlerror.Error) {
	code, _ := err.Extensions["code"].(string)
	e.send(problem.Status(code), e.refused(e.r.Context(), gqlerror.List{err}), nil)
}

// send writes a response. HTTP/2 may go on to read what it was given after it has
// refused it, so that memory is not used again then.
func (e *exchange) send(status int, resp *graphql.Response, c *call) {
	e.body.Release()
	media := e.accept.single()
	if media == "" {
		media = typeJSON
	}
	begin, end := buffer(), buffer()
	defer release(end)
	encodeBeforeData(begin, resp)
	encodeAfterData(end, resp, c)
	// What comes last goes behind the data, whose memory is the response's: the
	// data itself is not copied, nor the end sent by itself.
	resp.Data = append(resp.Data, end.Bytes()...)
	h := e.w.Header()
	h.Set("Content-Type", media+"; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(begin.Len()+len(resp.Data)))
	e.w.WriteHeader(status)
	if _, err := e.w.Write(begin.Bytes()); err != nil {
		return // the client is gone
	}
	release(begin)
	_, _ = e.w.Write(resp.Data)
}

// valid reports whether a stream may go on.
func (s *Server) valid(ctx context.Context) error {
	if s.cfg.StillValid == nil {
		return nil
	}
	return s.cfg.StillValid(ctx)
}
