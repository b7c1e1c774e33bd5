package signin

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"simgraph/domain"
	"simgraph/domain/signin"
	"simgraph/internal/issuer"
)

const (
	// providerPath is where people are sent to a provider, with its name behind; they
	// come back to callbackPath behind that.
	providerPath = "/signin/"
	callbackPath = "/callback"
	// companyPath, behind that too, takes which of several companies a person wants.
	companyPath = "/company"
	// signInTime is how long people may take at the provider.
	signInTime = 10 * time.Minute
	// maxPlace bounds the place of the page that people come back to.
	maxPlace = 2000
)

// The names of the cookie of a sign-in that has begun, see those of the session.
const (
	secureFlow = "__Host-simgraph-signin"
	plainFlow  = "simgraph-signin"
)

// Provider is an identity provider that people sign in at.
type Provider struct {
	signin.Provider
	Client *issuer.Client
}

// path is where a provider's sign-in begins.
func (p *Provider) path() string { return providerPath + p.Name }

// flow is what the cookie of a sign-in holds, sealed.
type flow struct {
	issuer.Attempt
	BegunAt time.Time `json:"begunAt"`
	// Former is the session that the new one replaces: browsers do not send its
	// cookie with what another site leads to.
	Former domain.Secret `json:"former"`
	// Place is the fragment of the page that people come back to.
	Place string `json:"place"`
}

// sealedFor keeps the cookie of one provider from counting for another.
func (p *Provider) sealedFor() []byte { return []byte("sign-in " + p.Name + " " + p.Issuer) }

// start sends the browser to the provider.
func (h *Handler) start(p *Provider) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			h.refuseMethod(w, r, "GET")
			return
		}
		begun := flow{Attempt: issuer.NewAttempt(), BegunAt: h.Now(), Former: h.Sessions.Of(r), Place: placeOf(r.URL.Query().Get("to"))}
		address, err := p.Client.Begin(r.Context(), begun.Attempt)
		if err == nil {
			err = h.keep(w, r, p, begun)
		}
		if err != nil {
			h.turnAway(w, r, p, err, "")
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		http.Redirect(w, r, address, http.StatusSeeOther)
	}
}

// placeOf is a place of the page, such as #/subscribers. It stands behind the path of
// the page, so that it leads nowhere else.
func placeOf(to string) string {
	if !strings.HasPrefix(to, "#/") || len(to) > maxPlace || strings.ContainsFunc(to, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return ""
	}
	return to
}

// callback signs in who comes back from the provider.
func (h *Handler) callback(p *Provider) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			h.refuseMethod(w, r, "GET")
			return
		}
		begun, err := h.kept(r, p)
		h.setFlow(w, r, "", -1)
		if err != nil {
			h.turnAway(w, r, p, err, "")
			return
		}
		login, offers, err := h.recognize(r, p, begun)
		switch {
		case err != nil:
			h.turnAway(w, r, p, err, login.Subject)
		case len(offers) > 1:
			h.ask(w, r, p, newChoice(login, offers, begun))
		default:
			login.Rights = offers[0].Rights
			h.enter(w, r, p, login, begun.Former, begun.Place)
		}
	}
}

// recognize returns who has signed in at the provider, without rights yet, and the
// companies that the person may sign in to, at least one. The login has the subject also
// with an error, where the provider has said who it is.
func (h *Handler) recognize(r *http.Request, p *Provider, begun *flow) (*signin.Login, []signin.Offer, error) {
	login := &signin.Login{Provider: p.Name, Create: p.CreateUsers, Link: p.LinkUsers, State: domain.Secret(begun.State)}
	person, err := p.Client.Finish(r.Context(), begun.Attempt, r.URL.Query())
	if err != nil {
		return login, nil, err
	}
	login.Identity = signin.Identity{Issuer: p.Issuer, Subject: person.Subject}
	login.Email, login.RefreshToken = p.EmailOf(person.Values), person.RefreshToken
	rights, err := p.RightsOf(person.Values)
	if err != nil {
		return login, nil, err
	}
	if len(rights) == 1 {
		return login, []signin.Offer{{Rights: rights[0]}}, nil
	}
	offers, err := h.Logins.Offers(r.Context(), login, rights)
	return login, offers, err
}

// enter begins the session and leads to the place of the page.
func (h *Handler) enter(w http.ResponseWriter, r *http.Request, p *Provider, login *signin.Login, former domain.Secret, place string) {
	if login.RefreshToken != "" {
		login.CheckAt = h.Now().Add(h.CheckEvery)
	}
	session, err := h.Logins.ByProvider(r.Context(), domain.OriginOf(r.Context()), login)
	if err == nil {
		err = h.Sessions.Give(w, r, session, former)
	}
	if err != nil {
		h.turnAway(w, r, p, err, login.Subject)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Location", "/"+place) // http.Redirect would change the fragment
	w.WriteHeader(http.StatusSeeOther)
}

// keep sets the cookie of a sign-in that has begun.
func (h *Handler) keep(w http.ResponseWriter, r *http.Request, p *Provider, begun flow) error {
	sealed, err := h.seal(begun, p.sealedFor())
	if err == nil {
		h.setFlow(w, r, sealed, int(signInTime.Seconds()))
	}
	return err
}

// kept reads the cookie.
func (h *Handler) kept(r *http.Request, p *Provider) (*flow, error) {
	unknown := &signin.Refusal{Why: signin.RefusedAnswer, Message: "This browser has begun no sign-in at " + p.Title + ", or began it too long ago. Sign in again."}
	begun := &flow{}
	if !h.open(h.flowOf(r), p.sealedFor(), begun) || h.Now().After(begun.BegunAt.Add(signInTime)) {
		return nil, unknown
	}
	return begun, nil
}

// flowOf is what the cookie holds. Two of them count as none, as another host of the
// domain may have set one.
func (h *Handler) flowOf(r *http.Request) string {
	cookies := r.CookiesNamed(h.flowName(r))
	if len(cookies) != 1 {
		return ""
	}
	return cookies[0].Value
}

func (h *Handler) flowName(r *http.Request) string {
	if h.Sessions.Secure(r) {
		return secureFlow
	}
	return plainFlow
}

// setFlow sends the cookie. Lax has browsers send it when the provider leads back.
func (h *Handler) setFlow(w http.ResponseWriter, r *http.Request, value string, age int) {
	http.SetCookie(w, &http.Cookie{
		Name: h.flowName(r), Value: value, Path: "/", MaxAge: age, HttpOnly: true, Secure: h.Sessions.Secure(r), SameSite: http.SameSiteLaxMode,
	})
}

// turnAway answers people who are not signed in with a page that says why, and counts it
// for the audit log.
func (h *Handler) turnAway(w http.ResponseWriter, r *http.Request, p *Provider, err error, subject string) {
	requestID := domain.OriginOf(r.Context()).RequestID
	refusal, is := errors.AsType[*signin.Refusal](err)
	if !is {
		refusal = h.refusalOf(p, err)
	}
	if refusal == nil {
		status, text := http.StatusInternalServerError, "The service failed. Try again later."
		if fault, is := domain.AsError(err); is && fault.Kind == domain.KindUnavailable {
			status, text = http.StatusServiceUnavailable, capital(fault.Message)+"."
			w.Header().Set("Retry-After", "5")
		}
		h.Log.WarnContext(r.Context(), "a sign-in at a provider failed", "provider", p.Name, "requestId", requestID, "error", err, "because", errors.Unwrap(err))
		show(w, status, refusalTemplate, refusalPage{p.Title, text, requestID, p.path()})
		return
	}
	h.Logins.Refused(domain.OriginOf(r.Context()), signin.Attempt{Company: refusal.Company, Way: p.Name, Why: refusal.Why, Subject: subject})
	h.Log.InfoContext(r.Context(), "a sign-in was refused", "provider", p.Name, "why", refusal.Why, "subject", subject, "requestId", requestID, "error", err)
	show(w, http.StatusForbidden, refusalTemplate, refusalPage{p.Title, refusal.Message, requestID, p.path()})
}

// refusalOf is a refusal of what the provider has answered; nil for other errors.
func (h *Handler) refusalOf(p *Provider, err error) *signin.Refusal {
	fault, is := domain.AsError(err)
	switch {
	case is && fault.Kind == domain.KindInvalidToken:
		return &signin.Refusal{Why: signin.RefusedToken, Message: "The answer of " + p.Title + " is not accepted: " + fault.Message + "."}
	case is && fault.Kind == domain.KindForbidden:
		return &signin.Refusal{Why: signin.RefusedByProvider, Message: p.Title + " has not signed you in: " + fault.Message + "."}
	}
	return nil
}

// seal returns what a browser keeps for the server and can neither read nor change.
func (h *Handler) seal(of any, sealedFor []byte) (string, error) {
	text, err := json.Marshal(of)
	if err != nil {
		return "", err
	}
	sealed, err := h.Key.Seal(text, sealedFor)
	return base64.RawURLEncoding.EncodeToString(sealed), err
}

// open reads into what was sealed, and reports whether it was.
func (h *Handler) open(sealed string, sealedFor []byte, into any) bool {
	bytes, err := base64.RawURLEncoding.Strict().DecodeString(sealed)
	if err != nil {
		return false
	}
	text, err := h.Key.Open(bytes, sealedFor)
	return err == nil && json.Unmarshal(text, into) == nil
}
