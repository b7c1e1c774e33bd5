package signin

import (
	"context"
	"net/http"
	"time"

	"simgraph/domain"
	"simgraph/domain/signin"
)

// RequestPath is where people ask for a link by mail.
const RequestPath = LinkPath + "/mail"

const (
	// mostRequests bounds the requests for links that wait, and requestTime how long one of
	// them may take.
	mostRequests = 100
	requestTime  = 10 * time.Second
	// busyFor is when to ask again while as many wait as may.
	busyFor = 10 * time.Second
)

// linkRequest is an address that somebody wants a link to be mailed to.
type linkRequest struct {
	from  domain.Origin
	email domain.Email
}

// requested is the answer to each request. It is the same for addresses that no user has.
type requested struct {
	ValidMinutes int `json:"validMinutes"`
}

// requestLink takes the request for a link and answers before anything is looked up: neither
// the answer nor its time say whether there is a user of the address.
func (h *Handler) requestLink(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		h.refuseMethod(w, r, http.MethodPost)
		return
	}
	request, err := h.readRequest(w, r)
	if err == nil {
		err = h.enqueue(request)
	}
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	h.answer(w, requested{int(signin.RequestedLifetime.Minutes())})
}

func (h *Handler) readRequest(w http.ResponseWriter, r *http.Request) (request linkRequest, err error) {
	var given struct {
		Email string `json:"email"`
	}
	if err := h.body(w, r, &given); err != nil {
		return request, err
	}
	if err := h.TryRequest(r.Context()); err != nil {
		return request, err
	}
	request.from = domain.OriginOf(r.Context())
	request.email, err = domain.ParseEmail("email", given.Email)
	return request, err
}

func (h *Handler) enqueue(request linkRequest) error {
	select {
	case h.requests <- request:
		return nil
	default:
		return &domain.Error{Kind: domain.KindUnavailable, Message: "many people ask for links now, try again later", RetryAfter: busyFor}
	}
}

// MailLinks works on the requests for links, one after the other, until ctx ends and none
// waits. One that fails is lost with the error: people ask again.
func (h *Handler) MailLinks(ctx context.Context) error {
	for ctx.Err() == nil || len(h.requests) > 0 {
		select {
		case request := <-h.requests:
			if err := h.mailLink(context.WithoutCancel(ctx), request); err != nil {
				return err
			}
		case <-ctx.Done():
		}
	}
	return nil
}

func (h *Handler) mailLink(ctx context.Context, request linkRequest) error {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	return h.Links.Request(ctx, request.from, request.email)
}
