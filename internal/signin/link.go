package signin

import (
	"errors"
	"net/http"
	"time"

	"simgraph/domain"
	"simgraph/domain/signin"
)

// LinkPath is where the page reads what a link is for, before it is used.
const LinkPath = SessionPath + "/link"

// linkTarget is what a link is for, as the page reads it.
type linkTarget struct {
	Email     string    `json:"email"`
	Company   string    `json:"company"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// link answers POST with whom a link signs in. It does not use the link up, so that
// programs that open the links of mails leave it to people.
func (h *Handler) link(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		h.refuseMethod(w, r, http.MethodPost)
		return
	}
	var given credentials
	err := h.body(w, r, &given)
	if err == nil && given.Link == "" {
		err = domain.Invalid("link", "the code of a link is needed")
	}
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	if err := h.TryLink(r.Context()); err != nil {
		h.refuse(w, r, err)
		return
	}
	found, err := h.Links.FindLink(r.Context(), domain.Secret(given.Link))
	if err != nil {
		h.refuse(w, r, h.refusedLink(r, err))
		return
	}
	h.answer(w, linkTarget{found.Email, found.Company, found.ExpiresAt})
}

func (h *Handler) byLink(r *http.Request, code domain.Secret) (*signin.Begun, error) {
	if err := h.TryLink(r.Context()); err != nil {
		return nil, err
	}
	begun, err := h.Links.ByLink(r.Context(), domain.OriginOf(r.Context()), code)
	return begun, h.refusedLink(r, err)
}

// refusedLink counts a refusal for the audit log, and returns it as the page reads it.
func (h *Handler) refusedLink(r *http.Request, err error) error {
	refusal, is := errors.AsType[*signin.Refusal](err)
	if !is {
		return err
	}
	from := domain.OriginOf(r.Context())
	h.Logins.Refused(from, signin.Attempt{Company: refusal.Company, Way: signin.ByLink, Why: refusal.Why})
	h.Log.InfoContext(r.Context(), "a sign-in by a link was refused", "why", refusal.Why, "requestId", from.RequestID)
	return domain.Forbidden("%s", refusal.Message)
}
