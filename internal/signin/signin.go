// Package signin answers what the page signs in and out with.
package signin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"mime"
	"net/http"
	"time"

	"simgraph/domain"
	"simgraph/domain/signin"
	"simgraph/internal/access"
	"simgraph/internal/problem"
	"simgraph/internal/seal"
)

// SessionPath is where the page begins, reads and ends its session.
const SessionPath = "/session"

// maxBody bounds what the page sends.
const maxBody = 16 << 10

// Config are the parts of a Handler.
type Config struct {
	Store    signin.Sessions
	Sessions *access.Sessions
	Links    signin.Links
	// TryLink returns an error where the address of the request has tried too many
	// links; nil for no limit.
	TryLink func(context.Context) error
	// MailsLinks is whether people may ask for links by mail, which MailLinks works on.
	MailsLinks bool
	// TryRequest returns an error where the address of the request has asked for too many
	// links; nil for no limit.
	TryRequest func(context.Context) error
	Logins     signin.Logins
	Log        *slog.Logger

	// Providers are those that people sign in at. What follows is not needed without
	// them. Only has the page offer no sign-in by key.
	Providers []*Provider
	Only      bool
	// Key seals the cookie of a sign-in that has begun.
	Key seal.Key
	// CheckEvery is how often providers are asked about sessions.
	CheckEvery time.Duration
	// Now is the clock; time.Now when nil.
	Now func() time.Time
}

// Handler answers the paths of the sign-in page.
type Handler struct {
	Config
	requests chan linkRequest
}

// New returns the handler.
func New(cfg Config) *Handler {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.TryLink == nil {
		cfg.TryLink = func(context.Context) error { return nil }
	}
	if cfg.TryRequest == nil {
		cfg.TryRequest = func(context.Context) error { return nil }
	}
	return &Handler{cfg, make(chan linkRequest, mostRequests)}
}

// Handlers are those of the sign-in page by their exact paths.
func (h *Handler) Handlers() map[string]http.Handler {
	handlers := map[string]http.Handler{SessionPath: http.HandlerFunc(h.session), LinkPath: http.HandlerFunc(h.link)}
	if h.MailsLinks {
		handlers[RequestPath] = http.HandlerFunc(h.requestLink)
	}
	for _, p := range h.Providers {
		handlers[p.path()], handlers[p.path()+callbackPath], handlers[p.path()+companyPath] = h.start(p), h.callback(p), h.choose(p)
	}
	return handlers
}

// session answers GET with the session, POST by beginning one, DELETE by ending it.
func (h *Handler) session(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		h.read(w, r)
	case http.MethodPost:
		h.begin(w, r)
	case http.MethodDelete:
		h.end(w, r)
	default:
		h.refuseMethod(w, r, "GET, HEAD, POST, DELETE")
	}
}

// current is the session as the page reads it.
type current struct {
	ID        string    `json:"id"`
	Email     string    `json:"email"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// ways are how people can sign in, beside links and tokens of the operator.
type ways struct {
	// Keys is whether access keys sign in.
	Keys bool `json:"keys"`
	// Links is whether people may ask for links by mail.
	Links     bool  `json:"links"`
	Providers []way `json:"providers"`
}

// way is a provider on the page.
type way struct {
	Title string `json:"title"`
	Path  string `json:"path"`
}

// reading is the answer to GET.
type reading struct {
	Session *current `json:"session"`
	Ways    ways     `json:"ways"`
}

func (h *Handler) ways() ways {
	all := ways{Keys: !h.Only, Links: h.MailsLinks, Providers: []way{}}
	for _, p := range h.Providers {
		all.Providers = append(all.Providers, way{p.Title, p.path()})
	}
	return all
}

// read answers with null where nobody is signed in: that is no error. It is no use
// of the session.
func (h *Handler) read(w http.ResponseWriter, r *http.Request) {
	var found *current
	if session := h.Sessions.Of(r); session != "" {
		caller, err := h.Sessions.Caller(r.Context(), session)
		if fault, is := domain.AsError(err); err != nil && (!is || fault.Kind != domain.KindInvalidToken) {
			h.refuse(w, r, err)
			return
		}
		if err == nil {
			found = &current{caller.Credential, caller.Email, caller.ExpiresAt}
		}
	}
	h.answer(w, reading{found, h.ways()})
}

// credentials is what the page signs in with: a key with its secret, a token, or the
// code of a link.
type credentials struct {
	AccessKeyID string `json:"accessKeyId"`
	Secret      string `json:"secret"`
	Token       string `json:"token"`
	Link        string `json:"link"`
}

func (h *Handler) begin(w http.ResponseWriter, r *http.Request) {
	var given credentials
	if err := h.body(w, r, &given); err != nil {
		h.refuse(w, r, err)
		return
	}
	begun, err := h.beginBy(r, given)
	if err == nil {
		err = h.Sessions.Give(w, r, begun, h.Sessions.Of(r))
	}
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	h.answer(w, map[string]*current{"session": {begun.ID, begun.Email, begun.ExpiresAt}})
}

func (h *Handler) beginBy(r *http.Request, given credentials) (*signin.Begun, error) {
	ctx, from := r.Context(), domain.OriginOf(r.Context())
	switch {
	case given.AccessKeyID != "":
		return h.Store.ByKey(ctx, from, given.AccessKeyID, domain.Secret(given.Secret))
	case given.Token != "":
		return h.Store.ByToken(ctx, from, domain.Secret(given.Token))
	case given.Link != "":
		return h.byLink(r, domain.Secret(given.Link))
	}
	return nil, domain.Invalid("accessKeyId", "an access key, a token or a link is needed")
}

func (h *Handler) end(w http.ResponseWriter, r *http.Request) {
	err := h.fromPage(r)
	if err == nil {
		err = h.Sessions.End(w, r)
	}
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	h.answer(w, map[string]*current{"session": nil})
}

// fromPage returns an error when no page of this server makes the request: pages of
// other sites must neither sign anybody in nor out.
func (h *Handler) fromPage(r *http.Request) error {
	if !h.Sessions.IsPage(r) {
		return domain.Forbidden("this is for the page of this server; programs use access tokens")
	}
	return nil
}

// body reads what the page sends.
func (h *Handler) body(w http.ResponseWriter, r *http.Request, into any) error {
	if err := h.fromPage(r); err != nil {
		return err
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return domain.Invalid("", "the body must be application/json")
	}
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	if err := decoder.Decode(into); err != nil {
		if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
			return domain.Invalid("", "the body is larger than 16 kB")
		}
		return domain.Invalid("", "the body is not the JSON that the page sends")
	}
	return nil
}

func (h *Handler) answer(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(body) // the browser may be gone
}

func (h *Handler) refuse(w http.ResponseWriter, r *http.Request, err error) {
	p := problem.Of(err)
	if p.Code == problem.Internal {
		h.Log.ErrorContext(r.Context(), "a sign-in failed", "requestId", domain.OriginOf(r.Context()).RequestID, "error", err)
	}
	p.Write(w, r, domain.OriginOf(r.Context()).RequestID)
}

func (h *Handler) refuseMethod(w http.ResponseWriter, r *http.Request, allowed string) {
	message := fmt.Sprintf("this path does not serve %.20q; it serves %s", r.Method, allowed)
	h.refuse(w, r, problem.New(problem.WrongMethod, "", message).With("Allow", allowed))
}
