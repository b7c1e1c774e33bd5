package signin

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"simgraph/domain"
	"simgraph/domain/signin"
)

// checkTime bounds the check of a session. Checks that have begun are finished: a
// refresh token that was used must be replaced by the new one.
const checkTime = 30 * time.Second

// CheckSessions asks the providers about the sessions whose time has come. One of which
// the provider does not know the person any more, or no rule gives the person rights,
// ends. A provider that does not answer ends none.
func (h *Handler) CheckSessions(ctx context.Context) error {
	if len(h.Providers) == 0 {
		return nil
	}
	for ctx.Err() == nil {
		due, err := h.Logins.Due(ctx)
		if err != nil || len(due) == 0 {
			return err
		}
		var running errgroup.Group
		for _, check := range due {
			running.Go(func() error {
				begun, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkTime)
				defer cancel()
				return h.check(begun, check)
			})
		}
		if err := running.Wait(); err != nil {
			return err
		}
	}
	return nil
}

func (h *Handler) check(ctx context.Context, check *signin.Check) error {
	p := h.providerOf(check)
	if p == nil || check.RefreshToken == "" {
		return h.endChecked(ctx, check, signin.RefusedSetup, false)
	}
	person, err := p.Client.Refresh(ctx, check.RefreshToken, check.Subject)
	switch fault, is := domain.AsError(err); {
	case is && fault.Kind == domain.KindInvalidToken:
		return h.endChecked(ctx, check, signin.RefusedByProvider, false)
	case err != nil:
		h.Log.WarnContext(ctx, "a provider could not be asked about a session, which goes on", "provider", p.Name, "error", err, "because", errors.Unwrap(err))
		return nil
	}
	var rights []signin.Rights
	if person.Claims != nil {
		rights, err = p.RightsOf(person.Values)
	}
	if err == nil {
		err = h.Logins.Confirm(ctx, check, rights, person.RefreshToken, h.Now().Add(h.CheckEvery))
	}
	if refusal, is := errors.AsType[*signin.Refusal](err); is {
		return h.endChecked(ctx, check, refusal.Why, true)
	}
	return err
}

func (h *Handler) endChecked(ctx context.Context, check *signin.Check, why signin.RefusalReason, allOfPerson bool) error {
	h.Log.InfoContext(ctx, "a session was ended by its provider", "provider", check.Provider, "subject", check.Subject, "why", why)
	return h.Logins.EndChecked(ctx, check, why, allOfPerson)
}

// providerOf returns the provider of a session; nil where it is not configured any more.
func (h *Handler) providerOf(check *signin.Check) *Provider {
	for _, p := range h.Providers {
		if p.Name == check.Provider && p.Issuer == check.Issuer {
			return p
		}
	}
	return nil
}
